/** Answers as data by a JSON Schema: `--json-schema`, and `outputSchema` of an agent. */
import {mkdirSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {describe, expect, it} from 'vitest';
import {type MessagesBody, type Script, say} from '../support/messages-server.ts';
import {countReplies, getToolResults} from '../support/request-facts.ts';
import {runCli} from '../support/run-cli.ts';
import {callTool, callTools} from '../support/scripted-replies.ts';
import {isSubagent, project, serve} from './fixture.ts';

const PERSON = {
  type: 'object',
  properties: {name: {type: 'string'}, age: {type: 'integer', minimum: 0}},
  required: ['name', 'age'],
  additionalProperties: false,
};
const ADA = {name: 'Ada', age: 36};
const answer = (input: unknown) => callTool('StructuredOutput', input);

async function run(script: Script, args: readonly string[] = ['--json-schema', JSON.stringify(PERSON)]) {
  const server = await serve(script);
  const {path: cwd} = await project();
  const ended = await runCli(['-p', 'who?', '--output-format', 'json', ...args], {server, cwd});
  return {...ended, server, result: ended.stdout.startsWith('{') ? JSON.parse(ended.stdout) : undefined};
}

const offered = (body: MessagesBody) => body.tools?.find(({name}) => name === 'StructuredOutput');

describe('--json-schema', () => {
  it('offers a tool with the schema, and its input is structured_output', async () => {
    const {code, result, server} = await run([callTool('glob', {pattern: '*'}), answer(ADA)]);
    expect(code).toBe(0);
    expect(result).toMatchObject({
      subtype: 'success',
      structured_output: ADA,
      result: JSON.stringify(ADA),
      num_turns: 2,
    });
    expect(offered(server.requests[0]!.body)?.input_schema).toEqual(PERSON);
    // Some models refuse a forced tool.
    expect(server.requests[0]!.body.tool_choice).toBeUndefined();
  });

  it('takes JSON in the text of the answer too, in a fence or not', async () => {
    const bare = await run([say(JSON.stringify(ADA))]);
    expect(bare.result).toMatchObject({subtype: 'success', structured_output: ADA});
    const fenced = await run([say(`\`\`\`json\n${JSON.stringify(ADA, null, 2)}\n\`\`\``)]);
    expect(fenced.result).toMatchObject({subtype: 'success', structured_output: ADA});
  });

  it('asks again at most three times, and says what is wrong', async () => {
    const wrong = [answer({name: 'Ada'}), say('She is 36.'), answer({...ADA, age: -1}), answer(ADA)];
    const {code, result, server} = await run(wrong);
    expect(code).toBe(0);
    expect(result).toMatchObject({structured_output: ADA});
    const told = JSON.stringify(server.requests.at(-1)!.body.messages);
    expect(told).toContain("must have required property 'age'");
    expect(told).toContain('it is no JSON');
    expect(told).toContain('/age must be >= 0');
  });

  it('ends with exit 1 when none matched, and has no structured_output', async () => {
    const {code, result, stderr, server} = await run(() => say('She is 36.'));
    expect(code).toBe(1);
    expect(server.requests).toHaveLength(4);
    expect(result).toMatchObject({subtype: 'error_max_structured_output_retries', is_error: true});
    expect(result).not.toHaveProperty('structured_output');
    expect(stderr).toContain('no answer matched the schema, after 3 more asks: it is no JSON');
  });

  it('takes a file, and a schema whose answer is no object', async () => {
    const server = await serve([answer({value: [1, 2]})]);
    const {path: cwd} = await project();
    const schema = {$schema: 'http://json-schema.org/draft-07/schema#', type: 'array', items: {type: 'number'}};
    writeFileSync(path.join(cwd, 'list.json'), JSON.stringify(schema));
    const ended = await runCli(['-p', 'count', '--json-schema', 'list.json'], {server, cwd});
    expect(ended).toMatchObject({code: 0, stdout: '[1,2]\n'});
    expect(offered(server.requests[0]!.body)?.input_schema).toMatchObject({
      ...{type: 'object', required: ['value']},
      properties: {value: {type: 'array', items: {type: 'number'}}},
    });
  });

  it('ends at the turn limit as without a schema', async () => {
    const {code, result, server} = await run(() => say('no'), ['--json-schema', '{}', '--max-turns', '1']);
    expect(code).toBe(3);
    expect(server.requests).toHaveLength(1);
    expect(result).toMatchObject({subtype: 'error_max_turns'});
  });

  it.each([
    ['text that is no JSON', '{"type":', /--json-schema is no JSON: /],
    ['a list', '[1]', /--json-schema: a JSON Schema is an object/],
    ['a type that there is not', '{"type":"strnig"}', /--json-schema is no JSON Schema: .*type/],
    ['a reference to elsewhere', '{"$ref":"https://example.com/x.json"}', /--json-schema is no JSON Schema: .*resolve/],
    ['a file that is not there', 'nowhere.json', /nowhere\.json does not exist/],
    ['a folder', '/', /must be a file of at most 1 MB/],
  ])('that is none, %s, is one line and exit 2, before any call', async (_, schema, line) => {
    const {code, stdout, stderr, server} = await run([], ['--json-schema', schema]);
    expect({code, stdout}).toEqual({code: 2, stdout: ''});
    expect(stderr).toMatch(line);
    expect(stderr.trim().split('\n')).toHaveLength(1);
    expect(server.requests).toHaveLength(0);
  });

  it('is for print mode', async () => {
    const {code, stderr} = await runCli(['--json-schema', '{}']);
    expect(code).toBe(2);
    expect(stderr).toContain('--json-schema goes with -p');
  });

  it('the offline model says that it cannot', async () => {
    const ended = await runCli(['-p', 'who?', '--offline', '--output-format', 'json', '--json-schema', '{}']);
    expect(ended.code).toBe(1);
    expect(JSON.parse(ended.stdout).result).toContain('the offline model cannot answer by a JSON Schema');
  });
});

describe('the output schema of an agent', () => {
  const define = (cwd: string, outputSchema: unknown) => {
    mkdirSync(path.join(cwd, '.mini-cc/agents'), {recursive: true});
    const agent = {name: 'counter', description: 'counts', tools: ['glob'], prompt: 'Count.', outputSchema};
    writeFileSync(path.join(cwd, '.mini-cc/agents/counter.json'), JSON.stringify(agent));
  };
  const task = callTools([{name: 'Task', input: {description: 'count', prompt: 'count', agent_type: 'counter'}}]);

  it('makes the result of its Task call JSON that matches, whole', async () => {
    const {path: cwd} = await project();
    define(cwd, {type: 'object', properties: {files: {type: 'array', items: {type: 'string'}}}, required: ['files']});
    const files = Array.from({length: 400}, (_, index) => `src/file-${index}.ts`);
    const server = await serve((body) => {
      if (isSubagent(body)) return countReplies(body) === 0 ? answer({files: 1}) : answer({files});
      return countReplies(body) === 0 ? task : say('done');
    });
    expect(await runCli(['-p', 'count'], {server, cwd})).toMatchObject({code: 0, stdout: 'done\n'});
    const [result] = getToolResults(server.requests.at(-1)!.body);
    expect(JSON.parse(result!.text.split('\n\n')[0]!)).toEqual({files});
  });

  it('that is none fails its run, before any call', async () => {
    const {path: cwd} = await project();
    define(cwd, {type: 'strnig'});
    const server = await serve((body) => (countReplies(body) === 0 ? task : say('done')));
    await runCli(['-p', 'count'], {server, cwd});
    expect(server.requests).toHaveLength(2);
    expect(JSON.stringify(server.requests[1]!.body.messages)).toContain('outputSchema of counter is no JSON Schema');
  });
});
