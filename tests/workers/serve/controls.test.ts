/** How a worker hears what sessions say to its runs. The server is a script of replies; a real one is in tests/outside/workers. */
import type {Redis} from 'ioredis';
import {expect, it} from 'vitest';
import {Keys} from '../../../src/workers/queue/address.ts';
import {Controls} from '../../../src/workers/serve/controls.ts';

type Reply = [key: string, entries: [id: string, fields: string[]][]][] | null;

it('a job that comes back to its worker while the server is asked hears all messages, from the first', async () => {
  const keys = new Keys('p');
  const asked: {readonly from: unknown[]; readonly answer: (reply: Reply) => void}[] = [];
  const xread = (_streams: string, ...from: unknown[]) =>
    new Promise<Reply>((answer) => void asked.push({from, answer}));
  const controls = new Controls({xread} as unknown as Redis, keys);
  const [first, second]: [string[], string[]] = [[], []];
  const key = keys.control('job');
  const endFirst = controls.follow('job', (text) => void first.push(text));
  await expect.poll(() => asked.length).toBe(1);
  asked[0]!.answer([[key, [['1-0', ['m', 'stop']]]]]);
  await expect.poll(() => asked.length).toBe(2);
  expect(asked[1]!.from).toEqual([key, '1-0']);
  const endSecond = controls.follow('job', (text) => void second.push(text));
  endFirst();
  asked[1]!.answer([[key, [['2-0', ['m', 'later']]]]]);
  await expect.poll(() => asked.length).toBe(3);
  expect(asked[2]!.from).toEqual([key, '0']);
  asked[2]!.answer([
    [
      key,
      [
        ['1-0', ['m', 'stop']],
        ['2-0', ['m', 'later']],
      ],
    ],
  ]);
  await expect.poll(() => second.length).toBe(2);
  expect([first, second]).toEqual([['stop'], ['stop', 'later']]);
  endSecond();
});
