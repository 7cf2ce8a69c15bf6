import {readFileSync} from 'node:fs';
import {expect, test} from 'vitest';
import {becomesTrue, pause, until, within} from './wait.ts';

const NEVER = new Promise<never>(() => undefined);

test('a condition is looked at until it is true', async () => {
  let looks = 0;
  await until(async () => ++looks === 3);
  expect(looks).toBe(3);
});

test('a file that is gone while a condition reads it is looked for again', async () => {
  let looks = 0;
  await until(() => ++looks === 3 || readFileSync('/nowhere/at/all', 'utf8') === '');
  expect(looks).toBe(3);
  const late = until(() => readFileSync('/nowhere/at/all', 'utf8') === '', 'the text', 20);
  await expect(late).rejects.toMatchObject({message: 'the text did not come within 20 ms', cause: {code: 'ENOENT'}});
  await expect(until(() => JSON.parse('{'))).rejects.toThrow(SyntaxError);
});

test('a condition that stays false is named by the error', async () => {
  await expect(until(() => false, 'the file', 20)).rejects.toThrow('the file did not come within 20 ms');
});

test('a condition that may stay false is told from one that became true', async () => {
  expect(await Promise.all([becomesTrue(() => false, 20), becomesTrue(() => true, 0)])).toEqual([false, true]);
});

test('a wait for time needs a reason', async () => {
  await expect(pause(0, '')).rejects.toThrow('say why no event can be waited for');
});

test('an event that comes in time gives its value or its error', async () => {
  expect(await within(Promise.resolve('here'), 1_000, 'it')).toBe('here');
  await expect(within(Promise.reject(new Error('broken')), 1_000, 'it')).rejects.toThrow('broken');
});

test('an event that does not come is named by the error, or described at that time', async () => {
  await expect(within(NEVER, 20, 'the reply')).rejects.toThrow('the reply did not come within 20 ms');
  let seen = 'nothing';
  const late = within(NEVER, 20, () => `only ${seen}`);
  seen = 'a part';
  await expect(late).rejects.toThrow('only a part');
});
