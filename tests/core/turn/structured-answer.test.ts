/** Runs whose answer is data: how the model gives it, and what happens where it does not match. */
import {describe, expect, it} from 'vitest';
import {type AgentRun, runAgent} from '../../../src/core/agent-loop.ts';
import type {ModelRequest} from '../../../src/core/contract/model.ts';
import {Inbox} from '../../../src/core/turn/inbox.ts';
import {compileAnswerSchema} from '../../../src/core/turn/structured-answer.ts';
import {resultsIn, runFixture, tool} from '../run-fixture.ts';
import {call, calls, ScriptedModel, type ScriptedReply, say, text} from '../scripted-model.ts';

const NUMBER = {type: 'object', properties: {n: {type: 'number'}}, required: ['n']};
const answer = (input: unknown, id = 'answer') => calls(call('StructuredOutput', input, id));

async function ask(
  script: readonly ScriptedReply[] | ((request: ModelRequest, index: number) => ScriptedReply),
  {schema = NUMBER, ...change}: Partial<AgentRun> & {readonly schema?: object} = {},
) {
  const model = new ScriptedModel(script);
  const answerSchema = await compileAnswerSchema(schema, 'the schema');
  const {run, events} = runFixture(model, [tool('look')], {answerSchema, ...change});
  const result = await runAgent(run);
  const last = (request: number) => model.requests[request]?.messages.at(-1);
  return {result, model, events, last, messages: run.history.messages};
}

describe('the answer of a run as data', () => {
  it('is the input of a tool of its own, beside the others; its text repeats it', async () => {
    const {result, model, messages, events} = await ask([answer({n: 1})]);
    expect(result).toMatchObject({outcome: 'success', structured: {n: 1}, text: '{"n":1}', turns: 1});
    expect(model.requests[0]?.tools.map(({name}) => name)).toEqual(['look', 'StructuredOutput']);
    expect(model.requests[0]?.tools[1]?.input_schema).toEqual(NUMBER);
    expect(messages.at(-1)?.content).toEqual([{type: 'tool_result', tool_use_id: 'answer', content: 'Taken.'}]);
    expect(events.at(-1)).toMatchObject({type: 'message', role: 'user'});
  });

  it.each(['{"n": 1}', '```json\n{"n": 1}\n```', '```\n{"n": 1}```'])('may be the text %j', async (given) => {
    expect((await ask([say(given)])).result).toMatchObject({outcome: 'success', structured: {n: 1}});
  });

  it('is no text that was cut off, or stands beside a call', async () => {
    const script = [{content: [text('{"n": ')], stop: 'max_tokens' as const}, answer({n: 2})];
    expect((await ask(script)).result).toMatchObject({outcome: 'success', structured: {n: 2}});
    const beside = [calls(text('{"n": 1}'), call('look', {})), answer({n: 3})];
    expect((await ask(beside)).result).toMatchObject({structured: {n: 3}, turns: 2});
  });

  it('is not beside other calls: these are not run', async () => {
    const {result, messages} = await ask([calls(call('look', {}, 'a'), call('StructuredOutput', {n: 1}, 'b'))]);
    expect(result).toMatchObject({outcome: 'success', structured: {n: 1}, tools: []});
    expect(resultsIn(messages.at(-1))).toMatchObject([
      {tool_use_id: 'a', content: 'Not run: StructuredOutput was called in the same reply.', is_error: true},
      {tool_use_id: 'b', content: 'Taken.'},
    ]);
  });

  it('is asked for three times more where it does not match, with what is wrong', async () => {
    const {result, model, last} = await ask(() => answer({n: 'x'}));
    const problem = 'The answer does not match the schema: /n must be number.';
    expect(resultsIn(last(1))).toMatchObject([
      {content: `${problem} Call StructuredOutput with an input that matches.`, is_error: true},
    ]);
    expect(model.requests).toHaveLength(4);
    expect(result).toMatchObject({
      ...{outcome: 'error', code: 'STRUCTURED_OUTPUT', turns: 4},
      error: 'no answer matched the schema, after 3 more asks: /n must be number',
    });
    expect(result).not.toHaveProperty('structured');
  });

  it('that is text without a match is asked for again, and so is an input that cannot be read', async () => {
    const script = [say('done'), say('{"m": 1}'), {...answer({}), garbled: {answer: '{'}}, answer({n: 1})];
    const {result, last} = await ask(script);
    expect(last(1)?.content).toContain('does not match the schema: it is no JSON. Call');
    expect(last(2)?.content).toContain("does not match the schema: the answer must have required property 'n'. Call");
    expect(resultsIn(last(3))[0]?.content).toContain('does not match the schema: the input is no valid JSON: "{"');
    expect(result).toMatchObject({outcome: 'success', structured: {n: 1}});
  });

  it('is given again after a message that came meanwhile', async () => {
    const inbox = new Inbox();
    const {result, last} = await ask(
      (_, index) => {
        if (index === 0) inbox.put({id: '1', content: 'and this?', kind: 'prompt', startsTurn: true});
        return answer({n: index}, `answer${index}`);
      },
      {inbox},
    );
    expect(last(1)?.content).toBe('and this?');
    expect(result).toMatchObject({structured: {n: 1}, turns: 2});
  });

  it('may be put off by a hook, except where it failed', async () => {
    const seen: string[] = [];
    const hooks = {
      started: async () => [],
      beforeEnd: async (given: string) => {
        seen.push(given);
        return seen.length === 1 ? 'not yet' : undefined;
      },
    } as unknown as AgentRun['hooks'];
    const {result, last} = await ask((_, index) => answer({n: index}, `answer${index}`), {hooks});
    expect([seen, last(1)?.content]).toEqual([['{"n":0}', '{"n":1}'], 'not yet']);
    expect(result).toMatchObject({structured: {n: 1}, turns: 2});
    await ask(() => answer({n: 'x'}), {hooks});
    expect(seen).toHaveLength(2);
  });

  it('is reported as JSON at the limit of a run, and no more asked for there', async () => {
    const limits = {maxTurns: 2, timeoutSeconds: 0};
    const {result, last} = await ask([calls(call('look', {})), say('{"n": 1}')], {limits});
    expect(JSON.stringify(last(1))).toContain('Report as JSON that matches the schema of StructuredOutput');
    expect(result).toMatchObject({outcome: 'limit', limit: '2 turns', structured: {n: 1}});
    const failed = await ask([calls(call('look', {})), say('no')], {limits});
    expect(failed.result).toMatchObject({outcome: 'limit', limit: '2 turns', turns: 2});
    const once = await ask([answer({})], {limits: {maxTurns: 1, timeoutSeconds: 0}});
    expect(once.result).toMatchObject({outcome: 'limit', limit: '1 turn'});
  });

  it('comes from no offline model', async () => {
    const offline = Object.assign(new ScriptedModel([]), {offline: true});
    const answerSchema = await compileAnswerSchema(NUMBER, 'the schema');
    expect(await runAgent(runFixture(offline, [], {answerSchema}).run)).toMatchObject({
      ...{outcome: 'error', code: 'UNABLE', turns: 0},
    });
    const spoken = Object.assign(new ScriptedModel([say('hello')]), {offline: true});
    expect(await runAgent(runFixture(spoken).run)).toMatchObject({outcome: 'success', text: 'hello'});
  });
});

describe('a schema', () => {
  it.each([
    ['that is no object', {type: 'array', items: {type: 'number'}}, [1]],
    ['with a choice at the top', {anyOf: [{type: 'object'}, {type: 'null'}]}, null],
    ['of an object with a choice', {type: 'object', enum: [{n: 1}]}, {n: 1}],
  ])('%s is offered within one', async (_, schema, value) => {
    const {result, model} = await ask([answer({value})], {schema});
    expect(model.requests[0]?.tools[1]?.input_schema).toEqual({
      ...{type: 'object', properties: {value: schema}, required: ['value']},
    });
    expect(result).toMatchObject({outcome: 'success', structured: value});
  });

  it('is offered without its dialect, and its definitions stay at the top', async () => {
    const head = {$schema: 'http://json-schema.org/draft-07/schema#', $id: 'x:y'};
    const plain = await ask([answer({n: 1})], {schema: {...head, ...NUMBER}});
    expect(plain.model.requests[0]?.tools[1]?.input_schema).toEqual(NUMBER);
    const [$defs, definitions] = [{a: {type: 'number'}}, {b: {type: 'number'}}];
    const parts = {anyOf: [{$ref: '#/$defs/a'}, {$ref: '#/definitions/b'}]};
    const wrapped = await ask([answer({value: 1})], {schema: {...head, ...parts, $defs, definitions}});
    expect(wrapped.model.requests[0]?.tools[1]?.input_schema).toEqual({
      ...{type: 'object', properties: {value: parts}, required: ['value'], $defs, definitions},
    });
    expect(wrapped.result).toMatchObject({structured: 1});
  });

  it.each([null, [], 'x'])('is an object, and not %j', async (schema) => {
    await expect(compileAnswerSchema(schema, '--json-schema')).rejects.toThrow('--json-schema: a JSON Schema is an');
  });

  it('that is none is refused in one line', async () => {
    const types = 'a type is one of string, number, integer, boolean, object, array, null';
    for (const [wrong, why] of [
      [{name: 'greeter', type: 'module'}, `type cannot be "module"; ${types}`],
      [{properties: {age: {type: 'int'}}}, `properties.age.type cannot be "int"; ${types}`],
      [{type: 'object', required: 'name'}, 'required cannot be "name"'],
      [{name: 'Ada', age: 3}, 'it has name, age, and no type, properties or the like'],
    ] as const) {
      await expect(compileAnswerSchema(wrong, 'x')).rejects.toThrow(`x is no JSON Schema: ${why}`);
    }
    await expect(compileAnswerSchema({type: 'numb'}, '--json-schema')).rejects.toMatchObject({
      message: expect.stringMatching(/^--json-schema is no JSON Schema: .+$/),
    });
  });

  it('is of draft 7 where it says so: a list of items has a meaning there alone', async () => {
    const items = {type: 'array', items: [{type: 'number'}]};
    const draft = await compileAnswerSchema({$schema: 'http://json-schema.org/draft-07/schema#', ...items}, 'x');
    expect(draft.findProblem(['a'])).toBe('/0 must be number');
    await expect(compileAnswerSchema(items, 'x')).rejects.toThrow('no JSON Schema');
  });

  it('names up to ten problems, each once, with the key or the values that they are about', async () => {
    const {findProblem} = await compileAnswerSchema(
      {type: 'object', properties: {a: {enum: [1, 2]}}, additionalProperties: false},
      'x',
    );
    expect(findProblem({a: 1})).toBeUndefined();
    expect(findProblem({a: 3, b: 4})).toBe(
      'the answer must NOT have additional properties: b; /a must be equal to one of the allowed values: [1,2]',
    );
    const numbers = await compileAnswerSchema({type: 'array', items: {type: 'number'}}, 'x');
    expect(numbers.findProblem(Array(10).fill('x'))).toMatch(/^(\/\d must be number(; )?){10}$/);
    expect(numbers.findProblem(Array(12).fill('x'))).toMatch(/\/9 must be number; and 2 more$/);
  });
});
