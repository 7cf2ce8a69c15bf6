/** One compaction at a time, with a model that makes the summary. How long conversations go on: `compaction.test.ts`. */
import {describe, expect, it} from 'vitest';
import type {Message, Model} from '../../../src/core/contract/model.ts';
import {createBudget} from '../../../src/core/turn/budget.ts';
import {compact, isTooLong, makeRoom, recoverFromOverflow} from '../../../src/core/turn/compaction.ts';
import {ModelError} from '../../../src/core/util/errors.ts';
import {runFixture} from '../run-fixture.ts';
import {call, ScriptedModel, type ScriptedReply, say} from '../scripted-model.ts';

const SIZE = {window: 12_000, reserve: 3_000, limit: 9_000};
const refusal = (message: string, status = 400) => new ModelError('bad_request', message, {retryable: false, status});

/** A conversation of so many turns of 1,000 tokens, in a window of 12,000. */
function setUp(turns: number, script: readonly ScriptedReply[], summaryModel?: Model) {
  const model = new ScriptedModel(script, SIZE.window);
  const {run, events} = runFixture(model, [], {summaryModel});
  const {history} = run;
  for (let turn = 1; turn <= turns; turn += 1) {
    history.append({role: 'assistant', content: [call('look', {path: `${turn}.ts`}, `c${turn}`)]} as Message);
    history.append({
      role: 'user',
      content: [{type: 'tool_result', tool_use_id: `c${turn}`, content: 'word'.repeat(980)}],
    });
  }
  const notices = () => events.flatMap((event) => (event.type === 'notice' ? [`${event.level}: ${event.text}`] : []));
  return {run, history, model, events, notices};
}

const account = {budget: createBudget(), onUsage: () => undefined};
const asked = {trigger: 'manual', size: SIZE, account} as const;

describe('a compaction', () => {
  it('puts a summary in the place of the older part, and keeps the prompt', async () => {
    const {run, history, events, notices, model} = setUp(8, [say('## Task\nlook')]);
    // A person who asked gets the line as the answer.
    expect(await compact(run, [], {...asked, focus: 'the names'})).toMatch(
      /^Compacted the conversation: 8\.\dk → .* tokens\. \/rewind.*before it\.$/,
    );
    const text = JSON.stringify(history.messages);
    expect(text).toContain('## Task');
    expect(text).toContain('the task');
    expect(JSON.stringify(model.requests[0]?.messages)).toContain('the names');
    expect(model.requests[0]?.maxOutputTokens).toBe(1_800);
    const [compacted] = events.filter((event) => event.type === 'compacted');
    expect(compacted).toMatchObject({trigger: 'manual'});
    expect(notices()).toEqual([
      expect.stringMatching(/^info: Compacting the conversation \(9\d % of the context window used\)/),
    ]);
  });

  it.each([
    ['fails', {fail: new ModelError('server', 'it is down', {retryable: false})}, 'it is down'],
    ['is empty', say(' \n'), 'the model gave no text'],
  ])('goes on with what mini-cc knows where the summary %s, and warns of it', async (_, reply, why) => {
    const {run, notices} = setUp(8, [reply]);
    const done = await compact(run, [], {...asked, trigger: 'auto'});
    expect(notices().at(-1)).toBe(`warning: ${done}`);
    expect(notices().at(-1)).toMatch(new RegExp(`^warning: .*No summary could be made \\(${why}\\)`));
  });

  it('asks the model for summaries where there is one', async () => {
    const summaryModel = new ScriptedModel([say('short')]);
    const {run, model} = setUp(8, [], summaryModel);
    expect(await compact(run, [], asked)).toMatch(/^Compacted the conversation: \S+ → /);
    expect([model.requests.length, summaryModel.requests.length]).toEqual([0, 1]);
  });

  it('of 20,000 turns counts each message once', async () => {
    const {run, history} = setUp(20_000, [say('summary')]);
    expect(await compact(run, [], {...asked, trigger: 'auto'})).toMatch(/^Compacted the conversation: \S+ → /);
    expect(history.window.countMessages(history.messages)).toBeLessThan(SIZE.limit / 2);
  });

  it.each([
    ['a single turn is not made by a person, since no summary would be', 0, [], 0],
    ['a longer one neither, when its summary is not', 8, [say('a long summary '.repeat(5_000))], 1],
  ])('of %s shorter', async (_, turns, replies, asks) => {
    const {run, history, events, model} = setUp(turns, replies);
    history.append({role: 'assistant', content: [{type: 'text', text: 'words '.repeat(200), citations: null}]});
    const before = history.messages;
    expect(await compact(run, [], asked)).toBeUndefined();
    expect([history.messages, model.requests.length]).toEqual([before, asks]);
    expect(events.filter(({type}) => type === 'compacted')).toEqual([]);
  });

  it('is not made where there is nothing older', async () => {
    const {run, events, model} = setUp(0, []);
    expect(await compact(run, [], {...asked, trigger: 'auto'})).toBeUndefined();
    expect([events, model.requests]).toEqual([[], []]);
  });
});

describe('room before a request', () => {
  it('is there as long as less than 80 % is used', async () => {
    const {run, history, events} = setUp(6, []);
    const before = history.messages;
    expect(await makeRoom(run, [], account)).toEqual(SIZE);
    expect([history.messages, events]).toEqual([before, []]);
  });

  it('is made first by clearing older results', async () => {
    const {run, history, model} = setUp(9, []);
    await makeRoom(run, [], account);
    const cleared = history.messages.filter((message) => JSON.stringify(message).includes('was cleared to save space'));
    expect([cleared.length, model.requests.length]).toEqual([4, 0]);
  });

  it('is made after a server said that the request is too long', async () => {
    const {run, history} = setUp(4, [say('summary')]);
    const before = history.window.countMessages(history.messages);
    expect(await recoverFromOverflow(run, [], refusal('prompt is too long: 22,000 tokens > 12500'), account)).toBe(
      true,
    );
    expect(history.window.countMessages(history.messages)).toBeLessThan(4 * before);
    const small = setUp(1, []);
    expect(await recoverFromOverflow(small.run, [], refusal('request_too_large', 413), account)).toBe(false);
    expect([small.events, small.model.requests]).toEqual([[], []]);
    const named = setUp(1, []);
    await recoverFromOverflow(named.run, [], refusal('limit of 6000 tokens a minute', 413), account);
    expect(named.events).not.toEqual([]);
    const large = setUp(8, [say('summary')]);
    expect(await recoverFromOverflow(large.run, [], refusal('request_too_large', 413), account)).toBe(true);
    const nothing = setUp(0, []);
    expect(await recoverFromOverflow(nothing.run, [], refusal('too long'), account)).toBe(false);
  });
});

it.each([
  [refusal('anything', 413), true],
  [refusal('prompt is too long: 5 tokens > 4'), true],
  [refusal('Request too large'), true],
  [refusal("This model's maximum context length is 8192"), true],
  [refusal('it exceeds 8192 tokens'), true],
  [refusal('messages.0: no'), false],
  [new ModelError('server', 'prompt is too long', {retryable: false, status: 413}), false],
  [new Error('prompt is too long'), false],
])('%s means that the request is too long: %s', (error, isIt) => {
  expect(isTooLong(error)).toBe(isIt);
});
