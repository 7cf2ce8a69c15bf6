/** What a session hears of its jobs. The server and the queue are scripts; real ones are in tests/outside/workers. */
import type {Queue} from 'bullmq';
import type {Redis} from 'ioredis';
import {expect, it, onTestFinished} from 'vitest';
import {Keys} from '../../../src/workers/queue/address.ts';
import type {JobEvent} from '../../../src/workers/queue/messages.ts';
import {Signatures} from '../../../src/workers/queue/signatures.ts';
import {SessionEvents} from '../../../src/workers/session/session-events.ts';
import {until} from '../../support/wait.ts';

type Reply = [key: string, entries: [id: string, fields: string[]][]][] | null;

const keys = new Keys('p');
const signatures = new Signatures('secret');

function createEvents(ends: Record<string, readonly string[]>) {
  const asked: {readonly from: unknown[]; readonly answer: (reply: Reply) => void}[] = [];
  const calls: unknown[][] = [];
  const score = (key: string, ids: string[]) => ids.map((id) => (ends[key]?.includes(id) ? '1' : null));
  const isThere = (key: string) => (ends.gone?.includes(key) ? 0 : 1);
  const connection = {
    set: async (...args: unknown[]) => void calls.push(['set', ...args]),
    xtrim: async (...args: unknown[]) => void calls.push(['xtrim', ...args]),
    unlink: async (...args: unknown[]) => void calls.push(['unlink', ...args]),
    pipeline: () => {
      const answers: [null, unknown][] = [];
      return {
        exists: (key: string) => void answers.push([null, isThere(key)]),
        zmscore: (key: string, ...ids: string[]) => void answers.push([null, score(key, ids)]),
        exec: async () => answers,
      };
    },
  } as unknown as Redis;
  const reader = {
    xread: (...args: unknown[]) =>
      new Promise<Reply>((answer) => void asked.push({from: args.slice(args.indexOf('STREAMS') + 1), answer})),
    disconnect: () => {
      calls.push(['disconnect']);
      asked.at(-1)?.answer(null);
    },
  } as unknown as Redis;
  const events = new SessionEvents({
    connection,
    reader,
    signatures,
    keys,
    queue: {toKey: (key: string) => key} as Queue,
  });
  onTestFinished(() => events.close());
  return {events, asked, calls};
}

function seal(jobId: string, what: JobEvent['what'], by = signatures): string[] {
  return ['m', JSON.stringify(by.sign('event', {jobId, attempt: 1, worker: 'build', what}, 1_000))];
}

it('events of a job reach who follows it, in order and once, and what is not signed reaches nobody', async () => {
  const {events, asked, calls} = createEvents({});
  const heard: unknown[] = [];
  const {close} = events.follow('a', ({what}) => void heard.push(what));
  events.start('s');
  expect(asked[0]!.from).toEqual([keys.events('s'), '0']);
  const delivered = (id: string) => ({type: 'delivered', id}) as const;
  asked[0]!.answer([
    [
      keys.events('s'),
      [
        ...([
          ['1-0', seal('a', {type: 'begun'})],
          ['2-0', seal('b', {type: 'begun'})],
        ] as [string, string[]][]),
        ...([
          ['3-0', seal('a', delivered('x'), new Signatures('wrong'))],
          ['4-0', ['m', '{']],
        ] as [string, string[]][]),
        ['4-7', seal('a', delivered('y'))],
      ],
    ],
  ]);
  await until(() => asked.length === 2, 'the next question');
  expect(heard).toEqual([{type: 'begun'}, delivered('y')]);
  expect([asked[1]!.from, calls]).toEqual([[keys.events('s'), '4-7'], [['xtrim', keys.events('s'), 'MINID', '4-8']]]);
  close();
  asked[1]!.answer([[keys.events('s'), [['5-0', seal('a', delivered('z'))]]]]);
  await until(() => asked.length === 3, 'the next question');
  expect(heard).toHaveLength(2);
});

it('a job has ended as the queue says, when its worker says that it has', async () => {
  const {events, asked} = createEvents({completed: ['a'], failed: ['b'], gone: ['c']});
  const ends = ['a', 'b', 'c'].map((id) => events.follow(id, () => expect.unreachable()).ended);
  let isOpen = true;
  void events
    .follow('open', () => undefined)
    .ended.then(() => {
      isOpen = false;
    });
  events.start('s');
  const ended = ['a', 'b', 'open', 'c'].map((id, n): [string, string[]] => [`${n + 1}-0`, seal(id, {type: 'ended'})]);
  asked[0]!.answer([[keys.events('s'), ended]]);
  expect([await Promise.all(ends), isOpen]).toEqual([['completed', 'failed', 'missing'], true]);
});

it('a session shows that it is there for 10 s, at most each 2 s, and not any more when it closes', async () => {
  const {events, calls} = createEvents({});
  await events.showPresence('s');
  await events.showPresence('s');
  expect(calls).toEqual([['set', keys.presence('s'), '1', 'PX', 10_000, 'GET']]);
  await events.showPresence('after-clear');
  expect(calls.slice(1).map((call) => call[1])).toEqual([keys.presence('s'), keys.presence('after-clear')]);
  events.close();
  expect(calls.slice(3)).toEqual([['disconnect'], ['unlink', keys.presence('s'), keys.presence('after-clear')]]);
});
