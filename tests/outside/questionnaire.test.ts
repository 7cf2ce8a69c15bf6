/**
 * The offline model answers 312 questions in people's own words about thirteen projects. The half that was held out while it
 * was worked on has the figures that docs/offline-model.md names. `npm run test:outside`; it needs the network.
 */
import {mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync} from 'node:fs';
import path from 'node:path';
import {afterAll, expect, test} from 'vitest';
import {askQuestions, countVerdicts, type Half, readQuestions} from './questionnaire.ts';

const MINUTES = 60_000;
const base = realpathSync(mkdtempSync('/var/tmp/mini-cc-people-'));
const downloads = process.env.MINI_CC_DOWNLOADS ?? path.join(base, 'downloads');
const page = readFileSync(path.resolve(import.meta.dirname, '../../docs/offline-model.md'), 'utf8');

mkdirSync(downloads, {recursive: true});
afterAll(() => rmSync(base, {recursive: true, force: true}));

const ask = async (half: Half) => {
  const judged = await askQuestions(
    readQuestions().filter((one) => one.half === half),
    downloads,
    base,
  );
  return {number: judged.length, ...countVerdicts(judged)};
};

test(
  'of the questions that were held out, as many are right as the documentation says, and no more are wrong',
  async () => {
    const [, number, right, , , wrong] =
      /\| (\d+) held out \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|/.exec(page)?.map(Number) ?? [];
    const found = await ask('held-out');
    expect(found.number).toBe(number);
    expect(found.right).toBeGreaterThanOrEqual(right!);
    expect(found.wrong).toBeLessThanOrEqual(wrong!);
  },
  40 * MINUTES,
);

test(
  'of the other questions, at least eight in ten are right',
  async () => {
    const {number, right} = await ask('open');
    expect(right / number).toBeGreaterThanOrEqual(0.8);
  },
  40 * MINUTES,
);
