// Runs before each test file of a run with probes, and records which mutants the file reaches.
import {appendFileSync, readFileSync} from 'node:fs';
import path from 'node:path';
import {afterAll, expect} from 'vitest';

/** @type {import('./plugin.mjs').Plan} */
const {root, probes} = JSON.parse(readFileSync(process.env.MINI_CC_MUTANTS, 'utf8'));
const reached = new Uint8Array(probes.count);
globalThis.__miniCcReached = (/** @type {number[]} */ ...numbers) => {
  for (const number of numbers) reached[number] = 1;
};

afterAll(() => {
  const file = path.relative(root, expect.getState().testPath ?? '');
  const numbers = [...reached.keys()].filter((number) => reached[number] === 1);
  appendFileSync(probes.reached, `${JSON.stringify({file, numbers})}\n`);
});
