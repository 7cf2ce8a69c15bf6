// Runs before each test file of a run with probes: records which mutants the file reaches, itself and by programs that it starts.
import {appendFileSync, readFileSync, renameSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {afterAll, expect} from 'vitest';

/** @type {import('./plugin.mjs').Plan} */
const {root, probes} = JSON.parse(readFileSync(process.env.MINI_CC_MUTANTS, 'utf8'));
const {count, programs, reached} = probes;
const own = new Uint8Array(count);
globalThis.__miniCcReached = (/** @type {number[]} */ ...numbers) => {
  for (const number of numbers) own[number] = 1;
};
// A new file: what programs of the test file before still write goes to the old one.
writeFileSync(`${programs}.new`, new Uint8Array(count));
renameSync(`${programs}.new`, programs);

afterAll(() => {
  const file = path.relative(root, expect.getState().testPath ?? '');
  const numbers = (/** @type {Uint8Array} */ bytes) => [...bytes.keys()].filter((number) => bytes[number] !== 0);
  appendFileSync(reached, `${JSON.stringify({file, own: numbers(own), programs: numbers(readFileSync(programs))})}\n`);
});
