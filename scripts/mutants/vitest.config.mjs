// The project's own configuration of vitest, with mutants or with probes added.
import {readFileSync} from 'node:fs';
import path from 'node:path';
import {pathToFileURL} from 'node:url';
import {BaseSequencer} from 'vitest/node';
import {withMutants} from './plugin.mjs';

/** @type {import('./plugin.mjs').Plan} */
const plan = JSON.parse(readFileSync(process.env.MINI_CC_MUTANTS, 'utf8'));
const {default: own} = await import(pathToFileURL(path.join(plan.root, 'vitest.config.ts')).href);
const place = (/** @type {import('vitest/node').TestSpecification} */ {moduleId}) =>
  plan.order.indexOf(path.relative(plan.root, moduleId));

class InOrder extends BaseSequencer {
  /** @param {import('vitest/node').TestSpecification[]} files */
  async sort(files) {
    return files.toSorted((a, b) => place(a) - place(b));
  }
}

export default {
  ...own,
  plugins: [withMutants(plan), ...(own.plugins ?? [])],
  test: {
    ...own.test,
    setupFiles: [
      ...(plan.probes ? [path.join(import.meta.dirname, 'record.mjs')] : []),
      ...[own.test.setupFiles ?? []].flat(),
    ],
    sequence: {...own.test.sequence, sequencer: InOrder},
    // Test files run one after the other, because a file that fails ends the run and must not stop another one halfway.
    maxWorkers: 1,
  },
};
