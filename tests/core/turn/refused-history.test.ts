/** What is left out, step by step. With a server: `valid-requests.test.ts`. */
import {describe, expect, it} from 'vitest';
import type {Message} from '../../../src/core/contract/model.ts';
import {History} from '../../../src/core/turn/history.ts';
import {isHistoryRefused, RefusedHistory} from '../../../src/core/turn/refused-history.ts';
import {ModelError} from '../../../src/core/util/errors.ts';

const refusal = (message: string, status = 400) => new ModelError('bad_request', message, {retryable: false, status});
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
const STEP: Message[] = [
  {role: 'assistant', content: [{type: 'tool_use', id: 'a', name: 'look', input: {}}]} as unknown as Message,
  {role: 'user', content: [{type: 'tool_result', tool_use_id: 'a', content: 'result of it'}]},
];

describe('a refused history', () => {
  it('is sent as it is until a server refuses it, and nothing is told then', () => {
    const {refused, history} = setUp(...OLD);
    expect([refused.messages, refused.commit()]).toEqual([history.messages, undefined]);
  });

  it('is sent without the messages that are named, ten times at most, then with the prompt alone', () => {
    const {refused, sent, history} = setUp(...OLD);
    for (let at = 0; at < 10; at += 1) {
      expect(refused.reduce(refusal(`messages.${at}: no`))).toBe(true);
      expect(sent()).toEqual([...OLD.map((_, index) => (index <= at ? '-' : `old ${index}`)), 'the prompt']);
    }
    expect(refused.reduce(refusal('messages.10: no'))).toBe(true);
    expect(sent()).toEqual(['-', 'the prompt']);
    expect(refused.reduce(refusal('messages.0: no'))).toBe(false);
    expect(refused.commit()).toMatch(/Left out: 12 messages\./);
    expect(history.messages).toHaveLength(2);
  });

  it('loses a call with its result, whichever of them is named', () => {
    for (const named of [1, 2]) {
      const {refused, sent, history} = setUp();
      for (const message of STEP) history.append(message);
      refused.reduce(refusal(`messages[${named}]: no`));
      expect(sent()).toEqual(['the prompt', '-']);
      expect(refused.commit()).toMatch(/Left out: 2 messages\./);
    }
  });

  it('that is refused without a name first loses what is new, then all but the prompt', () => {
    const {refused, sent, history} = setUp(...OLD.slice(0, 2));
    for (const message of STEP) history.append(message);
    history.markAccepted();
    history.append(said('old 9'));
    expect(refused.reduce(refusal('messages: no'))).toBe(true);
    expect(sent()).toEqual(['old 0', 'old 1', 'the prompt', 'look', 'result of it', '-']);
    expect(refused.reduce(refusal('messages: no'))).toBe(true);
    expect(sent()).toEqual(['-', 'the prompt', '-']);
    expect(refused.reduce(refusal('messages: no'))).toBe(false);
  });

  it('is to blame for nothing where the prompt alone is refused', () => {
    const {refused, sent} = setUp();
    expect([refused.reduce(refusal('messages: no')), sent()]).toEqual([false, ['the prompt']]);
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
  expect(isHistoryRefused(error)).toBe(does);
});
