/** Faults of a model server, and what is to be seen of each, wherever it meets mini-cc. */
import {
  cut,
  drip,
  emptyStream,
  endEarly,
  errorEvent,
  garbledEvent,
  pings,
  type Reply,
  refuse,
  resetConnection,
  say,
  stall,
  status,
  thinkOnly,
} from '../../support/messages-server.ts';

export interface Fault {
  readonly name: string;
  /** The answer to each request. The last one answers all further requests. `refused`: nothing listens. */
  readonly replies: readonly Reply[] | 'refused';
  /** What is said of it; absent: nothing, since mini-cc takes the reply as it is. */
  readonly words?: RegExp;
  readonly ends: 'answered' | 'failed' | 'timed out' | 'at its limit';
  /** At least and at most so many requests. */
  readonly requests: readonly [number, number];
  /** For the documentation: what mini-cc does. */
  readonly does: string;
}

export const ANSWER = 'At last, the answer.';
const answer = say(ANSWER);
export const HANG = 'hang in the reply';
const AGAIN = 'asks again';
const FAILS = 'fails at once';
const TAKES = 'takes the reply';
const whole = Number.POSITIVE_INFINITY;

function refusedFor(name: string, reply: Reply, words: RegExp): Fault {
  return {name, replies: [reply], words, ends: 'failed', requests: [1, 1], does: FAILS};
}

function recovers(name: string, reply: Reply, words: RegExp): Fault {
  return {name, replies: [reply, answer], words, ends: 'answered', requests: [2, 2], does: AGAIN};
}

function isTaken(name: string, reply: Reply): Fault {
  return {name, replies: [reply], ends: 'answered', requests: [1, 1], does: TAKES};
}

const retrying = (why: string) => new RegExp(`retrying in \\d+s \\(${why}.*\\), attempt 2`);

export const FAULTS: readonly Fault[] = [
  refusedFor('400', status(400), /refused the request \(400\)/),
  refusedFor('401', status(401), /refused the key: check ANTHROPIC_API_KEY \(401\)/),
  refusedFor('403', status(403), /refused the key: check ANTHROPIC_API_KEY \(403\)/),
  refusedFor('404', status(404), /does not know this model or address: check --model .*\(404\)/),
  refusedFor('413', status(413), /refused the request \(413\)/),
  refusedFor('402', status(402), /asks for payment: check the billing of this key \(402\)/),
  refusedFor(
    '400, credit balance',
    status(400, {message: 'Your credit balance is too low to access the API.'}),
    /asks for payment: .*\(400\): Your credit balance is too low/,
  ),
  refusedFor('429, insufficient_quota', status(429, {errorType: 'insufficient_quota'}), /asks for payment: .*\(429\)/),
  refusedFor(
    '503, Retry-After 600',
    status(503, {retryAfter: 600}),
    /server failed \(503\).*; the server asks to wait 600 s/,
  ),
  recovers('429, Retry-After 2', status(429, {retryAfter: 2}), /retrying in 2s \(429\), attempt 2/),
  recovers('429', status(429), retrying('429')),
  recovers('408', status(408), retrying('408')),
  recovers('409', status(409), retrying('409')),
  recovers('500', status(500), retrying('500')),
  recovers('529', status(529), retrying('529')),
  {
    ...{
      name: '503 without an end',
      replies: [status(503)],
      words: /retrying in .*attempt 3[\s\S]*server failed \(503\)/,
    },
    ...{ends: 'failed', requests: [3, 20], does: `${AGAIN}, then fails`},
  },
  {
    ...{
      name: 'connection refused',
      replies: 'refused',
      words: /retrying in [\s\S]*cannot reach 127.* \(ECONNREFUSED\)/,
    },
    ...{ends: 'failed', requests: [0, 0], does: `${AGAIN}, then fails`},
  },
  recovers('connection reset before the reply', resetConnection(), retrying('cannot reach')),
  recovers('connection reset in the reply', cut(5), retrying('the stream broke off')),
  recovers('end before the reply is whole', endEarly(5), retrying('the stream ended in the middle')),
  recovers('empty stream', emptyStream(), retrying('the server sent an empty stream')),
  recovers('garbled event', garbledEvent(4), retrying('the stream is garbled')),
  recovers('error event', errorEvent('overloaded_error', 4), retrying('the model server is overloaded')),
  recovers('a byte a second', drip(150), retrying('the stream brought less than 120 bytes in 120 s')),
  {
    ...{name: HANG, replies: [stall(5)], words: /timed out: no byte from the model for \d+ s/},
    ...{ends: 'timed out', requests: [1, 1], does: 'ends the run'},
  },
  isTaken('hang after the reply', stall(whole, answer)),
  isTaken('break after the reply', cut(whole, answer)),
  isTaken('pings after the reply', pings(whole, 50, answer)),
  isTaken('plain JSON', {...answer, format: 'json'}),
  isTaken('events without event lines', {...answer, format: 'data lines'}),
  {
    ...{name: 'thinking without an answer', replies: [thinkOnly(), answer], ends: 'answered'},
    ...{requests: [2, 2], does: 'asks for the answer'},
  },
  {
    ...{
      name: 'thinking without an answer, always',
      replies: [thinkOnly()],
      words: /no progress: an empty reply 8 times/,
    },
    ...{ends: 'at its limit', requests: [8, 8], does: 'asks for the answer, eight times'},
  },
  refusedFor(
    'refusal',
    refuse('', {category: 'cyber', explanation: 'It could do harm.'}),
    /the model refused to answer \(cyber\): It could do harm\./,
  ),
];

/** A fault that needs two minutes: with the real clock no test waits for it. */
export const SLOW_FAULT = 'a byte a second';

/** With a fallback, the next model answers after these. The others end as without one. */
export const FALLS_BACK: ReadonlySet<string> = new Set([
  ...['401', '403', '404', '503, Retry-After 600', '503 without an end', 'connection refused', HANG],
]);
