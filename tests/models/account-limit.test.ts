/** The headers by which servers say when the limit of an account ends. */
import {afterEach, beforeEach, describe, expect, it, vi} from 'vitest';
import {toModelError} from '../../src/models/model-errors.ts';

class ServerAnswer extends Error {
  readonly status = 429;
  readonly error = {error: {type: 'rate_limit_error', message: 'limited'}};
  constructor(readonly headers: Headers) {
    super('limited');
  }
}
const client = {APIConnectionError: RangeError, APIConnectionTimeoutError: RangeError, APIError: ServerAnswer} as never;
const words = {host: 'h', key: 'K', address: 'A', redactor: {text: (text: string) => text}} as never;

/** Seconds until the limit ends. */
function readEnd(headers: Record<string, string>): number | undefined {
  const {limitEndsAt} = toModelError(new ServerAnswer(new Headers(headers)), client, words).details;
  return limitEndsAt === undefined ? undefined : (limitEndsAt - Date.now()) / 1000;
}

const NOW = 1_790_000_000_000;
beforeEach(() => void vi.useFakeTimers({toFake: ['Date'], now: NOW}));
afterEach(() => void vi.useRealTimers());
const at = (seconds: number) => new Date(NOW + seconds * 1000).toISOString();
const epoch = (seconds: number) => String(NOW / 1000 + seconds);

describe('the end of a limit', () => {
  it.each([
    ['of a subscription, in seconds since the epoch', {'anthropic-ratelimit-unified-reset': epoch(3600)}, 3600],
    ['of a subscription, as a date', {'anthropic-ratelimit-unified-reset': at(60), 'retry-after': '5'}, 60],
    [
      'is the latest of those that are used up',
      {
        'anthropic-ratelimit-requests-reset': at(500),
        'anthropic-ratelimit-requests-remaining': '7',
        'anthropic-ratelimit-tokens-reset': at(90),
        'anthropic-ratelimit-tokens-remaining': '0',
        'anthropic-ratelimit-input-tokens-reset': at(30),
        'anthropic-ratelimit-input-tokens-remaining': '0',
      },
      90,
    ],
    ['as a duration', {'x-ratelimit-reset-tokens': '6m0s', 'x-ratelimit-remaining-tokens': '0'}, 360],
    ['in seconds', {'x-ratelimit-reset-requests': '20'}, 20],
    [
      'is not known where another limit holds',
      {'x-ratelimit-reset-tokens': '6m0s', 'x-ratelimit-remaining-tokens': '4'},
      undefined,
    ],
    [
      'is a retry where the server says when to ask again',
      {'x-ratelimit-reset-tokens': '6m0s', 'retry-after': '3'},
      undefined,
    ],
    [
      'is the latest date where it is after all dates',
      {'anthropic-ratelimit-unified-reset': '99999999999999'},
      (8.64e15 - NOW) / 1000,
    ],
    ['is ignored in the past', {'anthropic-ratelimit-unified-reset': '1700000000'}, undefined],
    ['is ignored where it is no time', {'anthropic-ratelimit-unified-reset': 'soon'}, undefined],
  ])('%s', (_, headers, seconds) => {
    expect(readEnd(headers as Record<string, string>)).toBe(seconds);
  });
});
