// A reporter of vitest: writes what `run-tests.mjs` counts and names to the file of `--outputFile`.
import {writeFileSync} from 'node:fs';

/** @typedef {import('vitest/node').TestModule} TestModule */
/** @typedef {{message: string, VITEST_TEST_PATH?: string}} ReportedError */
/** @typedef {{name: string, state: 'passed' | 'failed' | 'skipped', reason?: string}} TestReport */
/**
 * `errors`: why it could not be loaded, why a hook failed, and what was thrown outside of its tests.
 * @typedef {{file: string, tests: TestReport[], errors: string[]}} FileReport
 */

export default class TestReporter {
  #output = '';

  /** @param {import('vitest/node').Vitest} vitest */
  onInit(vitest) {
    this.#output = String(vitest.config.outputFile);
  }

  /** @param {readonly TestModule[]} modules @param {readonly ReportedError[]} unhandled */
  onTestRunEnd(modules, unhandled) {
    const files = modules.map((module) => reportFile(module, unhandled));
    const paths = new Set(modules.map(({moduleId}) => moduleId));
    const elsewhere = unhandled.filter((error) => !paths.has(error.VITEST_TEST_PATH ?? ''));
    writeFileSync(this.#output, JSON.stringify({files, errors: elsewhere.map(firstLine)}));
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
  return {file: module.relativeModuleId, tests, errors: [...module.errors(), ...ofHooks, ...outside].map(firstLine)};
}

/** @param {{message: string} | undefined} error */
function firstLine(error) {
  return error?.message.split('\n')[0] ?? 'for no reason that is known';
}
