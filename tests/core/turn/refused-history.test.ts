/** What is left out. With a server: `valid-requests.test.ts`. */
import {describe, expect, it} from 'vitest';
import type {Message} from '../../../src/core/contract/model.ts';
import {History} from '../../../src/core/turn/history.ts';
import {isHistoryRefused, RefusedHistory} from '../../../src/core/turn/refused-history.ts';
import {ModelError} from '../../../src/core/util/errors.ts';

const refusal = (message: string, status = 400) => new ModelError('bad_request', message, {retryable: false, status});
/** A PNG of one pixel. */
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const said = (text: string) => ({role: 'assistant', content: [{type: 'text', text, citations: null}]}) as Message;

function setUp(...before: Message[]) {
  const history = new History({append: () => undefined});
  for (const message of before) history.append(message);
  history.appendPrompt('the prompt');
  const refused = new RefusedHistory(history);
  /** What a request has now; `-` for what was left out. */
  const sent = () =>
    refused.messages.map((message) => {
      const text = JSON.stringify(message.content);
      return text.includes('mini-cc left out') ? '-' : /(?:the prompt|old \d+|look|result of it)/.exec(text)?.[0];
    });
  return {history, refused, sent};
}

const OLD = Array.from({length: 6}, (_, index) => [
  {role: 'user', content: `old ${2 * index}`} as Message,
  said(`old ${2 * index + 1}`),
]).flat();
const look = (id: string): Message[] => [
  {role: 'assistant', content: [{type: 'tool_use', id, name: 'look', input: {}}]} as unknown as Message,
  {role: 'user', content: [{type: 'tool_result', tool_use_id: id, content: 'result of it'}]},
];
const getResult = (message: Message | undefined) => JSON.stringify(message?.content);

describe('a refused history', () => {
  it('is sent as it is until a server refuses it, and nothing is told then', () => {
    const {refused, history} = setUp(...OLD);
    expect([refused.messages, refused.commit()]).toEqual([history.messages, undefined]);
  });

  it('has one line in the place of a message that is named, once in a run', () => {
    const {refused, sent, history} = setUp(...OLD);
    expect(refused.repair(refusal('messages.3: no'))).toBe(true);
    expect(sent()).toEqual([...OLD.map((_, index) => (index === 3 ? '-' : `old ${index}`)), 'the prompt']);
    expect(refused.repair(refusal('messages.4: no'))).toBe(false);
    expect(refused.commit()).toMatch(/Left out: 1 message\. .*\/rewind/);
    expect(history.messages.map(({role}) => role)).toEqual([...OLD, {role: 'user'}].map(({role}) => role));
    // The second refusal of a run ends it, also later.
    expect(refused.repair(refusal('messages.4: no'))).toBe(false);
  });

  it('keeps a call that ran, with a line for its result, whichever of them is named, or none', () => {
    for (const words of ['messages[1]: no', 'messages.2.content.0: no', 'content: no']) {
      const {refused, history} = setUp();
      for (const message of look('a')) history.append(message);
      expect(refused.repair(refusal(words))).toBe(true);
      expect(getResult(refused.messages[1])).toContain('"tool_use"');
      expect(getResult(refused.messages[2])).toMatch(/"tool_use_id":"a".*left out.*The call ran/);
      expect(refused.commit()).toMatch(/Left out: the results of 1 call\./);
      expect(history.messages).toHaveLength(3);
    }
  });

  it('loses of several results only the one that is named', () => {
    const {refused, history} = setUp();
    const blocks = ['a', 'b'].map((id) => ({type: 'tool_use', id, name: 'look', input: {}}));
    history.append({role: 'assistant', content: blocks} as unknown as Message);
    const results = ['a', 'b'].map((id) => ({type: 'tool_result' as const, tool_use_id: id, content: `of ${id}`}));
    history.append({role: 'user', content: results});
    refused.repair(refusal('messages.2.content.1: no'));
    expect(getResult(refused.messages[2])).toMatch(/"of a".*left out/);
    expect(getResult(refused.messages[2])).not.toContain('"of b"');
  });

  it('that is refused without a name loses the results that no server has accepted', () => {
    const {refused, history} = setUp(...OLD.slice(0, 2));
    for (const message of look('a')) history.append(message);
    history.markAccepted();
    for (const message of look('b')) history.append(message);
    expect(refused.repair(refusal('messages: no'))).toBe(true);
    expect(getResult(refused.messages[4])).toContain('result of it');
    expect(getResult(refused.messages[6])).toContain('left out');
  });

  it('that is refused without a name at a new prompt loses what was before, but not that calls ran', () => {
    const {refused, sent, history} = setUp(...OLD.slice(0, 1), ...look('a'), said('old 2'));
    expect(refused.repair(refusal('messages: no'))).toBe(true);
    expect(sent()).toEqual(['-', 'the prompt']);
    expect(getResult(refused.messages[0])).toMatch(/What its tools did stays done: look/);
    refused.commit();
    expect(history.messages).toHaveLength(2);
  });

  it('counts notes of the runtime as no prompts', () => {
    const {refused, sent, history} = setUp();
    history.append(said('old 1'));
    history.appendNote('Go on exactly where it stopped.');
    expect(history.lastPrompt).toBe(0);
    expect(refused.repair(refusal('messages.0: no'))).toBe(true);
    expect(sent()).toEqual(['the prompt', 'old 1', '-']);
  });

  it('names the messages of a request, in which adjacent announcements are one', () => {
    const {refused, history} = setUp();
    history.append(said('old 1'));
    const ended = {runId: 'r', round: 1, agent: 'explore', outcome: 'success', reason: '', text: ''} as const;
    for (const round of [1, 2]) history.appendAnnouncement({role: 'user', content: `end ${round}`}, {...ended, round});
    for (const message of look('a')) history.append(message);
    refused.repair(refusal('messages.4: no'));
    expect(getResult(refused.messages.at(-1))).toContain('left out');
  });

  it('ends with a note where a server takes none that ends with a reply', () => {
    const {refused, history} = setUp();
    history.append(said('old 1'));
    expect(refused.repair(refusal('messages: the conversation must end with a user message'))).toBe(true);
    expect(refused.messages.at(-1)).toEqual({role: 'user', content: 'Go on.'});
    refused.commit();
    expect(history.messages).toHaveLength(3);
  });

  it('keeps the text of a prompt, and loses its image', () => {
    const {refused, history} = setUp();
    const source = {type: 'base64', media_type: 'image/png', data: PIXEL} as const;
    history.appendPrompt([
      {type: 'text', text: 'see'},
      {type: 'image', source},
    ]);
    expect(refused.repair(refusal('messages.1.content.1.image: no'))).toBe(true);
    expect(getResult(refused.messages[1])).toMatch(/"see".*left out/);
    refused.commit();
    expect(history.lastPrompt).toBe(1);
  });

  it('is to blame for nothing where the prompt alone is refused, or its words', () => {
    const {refused, sent} = setUp();
    expect([refused.repair(refusal('messages: no')), sent()]).toEqual([false, ['the prompt']]);
    const filtered = setUp(...OLD);
    filtered.history.markAccepted();
    filtered.history.appendPrompt('the prompt');
    expect(filtered.refused.repair(refusal('Output blocked by content filtering policy'))).toBe(false);
  });
});

it.each([
  [refusal('messages.1: no'), true],
  [refusal('tool_use ids were found without tool_result blocks'), true],
  [refusal('image: no'), true],
  [refusal('messages: prompt is too long'), false],
  [refusal('max_tokens: no'), false],
  [refusal('messages.1: no', 422), false],
  [new ModelError('server', 'messages.1: no', {retryable: false, status: 400}), false],
  [new Error('messages.1: no'), false],
])('%s blames the history: %s', (error, does) => {
  expect(isHistoryRefused(error, {messages: []})).toBe(does);
});

it.each([
  ['Bad Request', true],
  ['invalid parameters', true],
  ['max_tokens: 9000000 is above the maximum', false],
  ['tools.0.name: no', false],
  ['model: no such model', false],
])('a refusal that says %j may be about a history with more than the prompt: %s', (message, does) => {
  const error = refusal(`the model server refused the request (400): ${message}`);
  const messages = [{role: 'user', content: 'a'}] as const;
  const longer = [...messages, {role: 'assistant', content: 'b'}] as const;
  expect([isHistoryRefused(error, {messages}), isHistoryRefused(error, {messages: longer})]).toEqual([false, does]);
});
