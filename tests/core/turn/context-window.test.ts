import {describe, expect, it} from 'vitest';
import type {Message} from '../../../src/core/contract/model.ts';
import {
  ContextWindow,
  cutMiddle,
  describeCall,
  getResultText,
  getWindowSize,
} from '../../../src/core/turn/context-window.ts';
import {NO_USAGE} from '../../../src/core/util/messages.ts';
import {ScriptedModel} from '../scripted-model.ts';

const SIZE = {window: 1_250, reserve: 250, limit: 1_000};
/** A message of so many tokens by the estimate, its own four counted. */
const said = (tokens: number): Message => ({role: 'user', content: 'abcd'.repeat(tokens - 4)});
const contentOf = (...messages: Message[]) => ({system: '', tools: [], messages});
const use = (id: string) => ({type: 'tool_use', id, name: 'look', input: {path: `${id}.ts`}});
const result = (id: string, content: unknown) => ({type: 'tool_result', tool_use_id: id, content});
/** A call, and its result of so many tokens. */
const step = (id: string, tokens: number): Message[] => [
  {role: 'assistant', content: [use(id)]} as Message,
  {role: 'user', content: [result(id, 'abcd'.repeat(tokens - 8))]} as Message,
];
/** Without tools and a system prompt a request has the tokens of `[]`. */
const NO_TOOLS = 1;

describe('the window of a model', () => {
  it('sets a part aside for the reply: what the reply may have, at most a quarter', async () => {
    const size = (window: number, contextTokens?: number) =>
      getWindowSize(new ScriptedModel([], window), contextTokens);
    expect(await size(200_000)).toEqual({window: 200_000, reserve: 16_384, limit: 183_616});
    expect(await size(8_000)).toEqual({window: 8_000, reserve: 2_000, limit: 6_000});
    expect(await size(200_000, 8_000)).toMatchObject({window: 8_000});
    expect(await size(8_000, 200_000)).toMatchObject({window: 8_000});
  });

  it('is asked for once the request is larger than any small window, and may stay unknown', async () => {
    const asked: boolean[] = [];
    const model = Object.assign(new ScriptedModel([]), {
      contextWindow: async (mayAsk: boolean) => {
        asked.push(mayAsk);
        return undefined;
      },
    });
    expect(await getWindowSize(model, undefined, 4_500)).toBeUndefined();
    expect(await getWindowSize(model, undefined, 4_501)).toBeUndefined();
    expect(await getWindowSize(model, 1_000)).toMatchObject({window: 1_000});
    expect(asked).toEqual([false, true, true]);
  });
});

describe('the tokens of a conversation', () => {
  it('are estimated, and set right by what the server counted', () => {
    const window = new ContextWindow();
    const content = contentOf(said(100), said(99));
    expect([window.count(content), window.isEstimate]).toEqual([199 + NO_TOOLS, true]);
    window.record(NO_USAGE, content);
    expect(window.isEstimate).toBe(true);
    const usage = {...NO_USAGE, input_tokens: 100, cache_read_input_tokens: 200, cache_creation_input_tokens: 100};
    window.record({...usage, output_tokens: 1_000}, content);
    expect([window.count(content), window.countMessages([said(50)]), window.isEstimate]).toEqual([400, 100, false]);
    expect([window.toBytes(100), window.toBytes(-5)]).toEqual([160, 0]);
  });

  it('are at least 5 % above the limit after the server said that they are too many, or what it named', () => {
    const window = new ContextWindow();
    const content = contentOf(said(499));
    window.recordOverflow(content, SIZE);
    expect(window.count(content)).toBe(1_050);
    window.recordOverflow(content, SIZE, 2_000);
    expect(window.count(content)).toBe(2_000);
    window.recordOverflow(content, SIZE);
    expect(window.count(content)).toBe(2_000);
  });

  it('of all kinds of blocks are counted', () => {
    const window = new ContextWindow();
    const count = (...content: object[]) => window.countMessages([{role: 'user', content} as unknown as Message]) - 4;
    const image = {type: 'image', source: {}};
    expect(count({type: 'text', text: 'abcde'})).toBe(2);
    expect(count({type: 'thinking', thinking: 'abcdefgh', signature: 'x'.repeat(400)})).toBe(2);
    expect(count(image)).toBe(1_600);
    expect(count(result('a', 'abcd'))).toBe(9);
    expect(count(result('a', [{type: 'text', text: 'abcd'}, image]))).toBe(1_609);
    expect(count(result('a', undefined))).toBe(8);
    expect(count({type: 'redacted_thinking', data: 'x'.repeat(359)})).toBe(100);
  });

  it.each([
    [799, 'none'],
    [800, 'clear'],
    [899, 'clear'],
    [900, 'compact'],
  ])('at %d of 1,000: %s', (tokens, due) => {
    expect(new ContextWindow().getDueStep(contentOf(said(tokens - NO_TOOLS)), SIZE)).toBe(due);
  });

  it('are so many after a reply that filled the window that room is made', () => {
    const window = new ContextWindow();
    const content = contentOf(said(849));
    window.recordFull();
    expect(window.getDueStep(content, SIZE)).toBe('compact');
  });
});

describe('older results', () => {
  it('are cleared, the oldest first, down to 60 %, but not the last two nor short ones', () => {
    const window = new ContextWindow();
    const messages = [...step('a', 200), ...step('short', 59), ...step('b', 200), ...step('c', 200), ...step('d', 200)];
    const cleared = window.chooseCleared(contentOf(said(50), ...messages), SIZE);
    expect([...cleared.keys()]).toEqual(['a', 'b']);
    expect(cleared.get('a')).toMatch(/^\(The result of look a\.ts was cleared to save space\. Make the call again/);
    // Only the last two are there.
    expect(window.chooseCleared(contentOf(...step('a', 500), ...step('b', 500)), SIZE).size).toBe(0);
  });

  it('stay where clearing them would free less than a tenth, or than what is asked for', () => {
    const window = new ContextWindow();
    const content = contentOf(said(600), ...step('a', 110), ...step('b', 60), ...step('c', 60));
    expect(window.chooseCleared(content, SIZE).size).toBe(0);
    expect([...window.chooseCleared(content, SIZE, 0).keys()]).toEqual(['a']);
    expect(window.chooseCleared(content, SIZE, 100).size).toBe(0);
  });

  it('are cut to one share, so that the messages fit; short ones and those with images are not', () => {
    const window = new ContextWindow();
    const messages = [...step('a', 408), ...step('b', 208), ...step('short', 100)];
    const fits = window.countMessages(messages);
    expect(window.chooseCut(messages, fits).size).toBe(0);
    const cut = window.chooseCut(messages, fits - 354);
    expect([...cut.keys()]).toEqual(['a', 'b']);
    const missing = (id: string) => Number(/(\d+) characters cut/.exec(cut.get(id) ?? '')?.[1]);
    expect(missing('a') / missing('b')).toBeCloseTo(2, 1);
    expect(missing('a')).toBeGreaterThan(700);
    expect(missing('a')).toBeLessThan(900);
    const image = [{role: 'user', content: [result('i', [{type: 'image', source: {}}])]} as unknown as Message];
    expect(window.chooseCut(image, 0).size).toBe(0);
  });
});

it.each([
  ['a path', {path: 'a.ts', more: 'b'}, 'look a.ts'],
  ['the first line', {command: 'one\ntwo'}, 'look one'],
  ['120 characters', {command: 'x'.repeat(120)}, `look ${'x'.repeat(120)}`],
  ['fewer than there are', {command: 'x'.repeat(121)}, `look ${'x'.repeat(119)}…`],
  ['nothing', {flag: true, empty: ''}, 'look'],
  ['no input', null, 'look'],
])('a call is described by its name and %s', (_, input, text) => {
  expect(describeCall({type: 'tool_use', id: 'a', name: 'look', input} as never)).toBe(text);
});

it('a text is cut in its middle', () => {
  expect(cutMiddle('1234567890', 10)).toBe('1234567890');
  expect(cutMiddle('1234567890', 5)).toBe(
    '123\n(… 5 characters cut to fit the context window: ask for a smaller part …)\n90',
  );
});

it('the text of a result is that of all its blocks, or none where one has no text', () => {
  const textOf = (content: unknown) => getResultText(result('a', content) as never);
  const block = {type: 'text', text: 'a'};
  expect([textOf('a'), textOf([block, block]), textOf(undefined), textOf([block, {type: 'image'}])]).toEqual([
    ...['a', 'a\na', '', undefined],
  ]);
});
