// A vitest reporter that writes the results for `run-tests.mjs` to the file of `--outputFile`.
import {writeFileSync} from 'node:fs';
import path from 'node:path';

/** Maximum number of characters of a reason. */
const MAX_REASON = 300;

/** @typedef {import('vitest/node').TestModule} TestModule */
/** @typedef {{message: string, VITEST_TEST_PATH?: string}} ReportedError */
/** @typedef {{name: string, state: 'passed' | 'failed' | 'skipped', reason?: string}} TestReport */
/**
 * The results of one file. `errors`: why it could not be loaded, why a hook failed, and errors outside of its tests.
 * `wasLost`: its process ended before the file had run.
 * @typedef {{file: string, tests: TestReport[], errors: string[], wasLost: boolean}} FileReport
 */

export default class TestReporter {
  #output = '';
  #root = '';
  /** @type {string[]} */
  #planned = [];

  /** @param {import('vitest/node').Vitest} vitest */
  onInit(vitest) {
    this.#output = String(vitest.config.outputFile);
    this.#root = vitest.config.root;
  }

  /** @param {readonly import('vitest/node').TestSpecification[]} specifications */
  onTestRunStart(specifications) {
    this.#planned = specifications.map(({moduleId}) => moduleId);
  }

  /** @param {readonly TestModule[]} modules @param {readonly ReportedError[]} unhandled */
  onTestRunEnd(modules, unhandled) {
    const paths = new Set(modules.map(({moduleId}) => moduleId));
    const elsewhere = unhandled.filter((error) => !paths.has(error.VITEST_TEST_PATH ?? '')).map(firstLine);
    const notBegun = this.#planned
      .filter((planned) => !paths.has(planned))
      .map((planned) => ({file: path.relative(this.#root, planned), tests: [], errors: [], wasLost: true}));
    /** @type {FileReport[]} */
    const files = [...modules.map((module) => reportFile(module, unhandled)), ...notBegun];
    const lost = files.filter(({wasLost}) => wasLost);
    // Vitest reports the end of a process as an error outside of files.
    for (const {errors} of lost) errors.push(elsewhere[0] ?? 'it did not run');
    writeFileSync(this.#output, JSON.stringify({files, errors: lost.length > 0 ? [] : elsewhere}));
  }
}

/** @param {TestModule} module @param {readonly ReportedError[]} unhandled @returns {FileReport} */
function reportFile(module, unhandled) {
  const tests = [...module.children.allTests()].map((test) => {
    const {state, errors} = test.result();
    if (state === 'failed') return {name: test.fullName, state, reason: firstLine(errors[0])};
    return {name: test.fullName, state: state === 'passed' ? state : 'skipped'};
  });
  const ofHooks = [...module.children.allSuites()].flatMap((suite) => suite.errors());
  const outside = unhandled.filter((error) => error.VITEST_TEST_PATH === module.moduleId);
  return {
    file: module.relativeModuleId,
    tests,
    errors: [...module.errors(), ...ofHooks, ...outside].map(firstLine),
    wasLost: ['queued', 'pending'].includes(module.state()),
  };
}

/** @param {{message: string, cause?: unknown} | undefined} error */
function firstLine(error) {
  const cause = error?.cause instanceof Object && 'message' in error.cause ? [error.cause.message] : [];
  const lines = [error?.message ?? 'for no reason that is known', ...cause].map((text) => String(text).split('\n')[0]);
  return lines.join(': ').slice(0, MAX_REASON);
}
