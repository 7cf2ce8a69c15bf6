// A reporter of vitest. At the end, where a long log is read first, it names each test that failed, and each that passed only
// when it was tried again (`retry` in vitest.config.ts), with the first line of what failed.

/** @typedef {import('vitest/node').TestCase} TestCase */
/** @typedef {import('vitest/node').TestModule} TestModule */

export default class TestSummary {
  /** @type {string[]} */
  #lines = [];

  /** @param {TestCase} test */
  onTestCaseResult(test) {
    const {state, errors = []} = test.result();
    const name = `${test.module.relativeModuleId} > ${test.fullName}`;
    if (state === 'failed') this.#lines.push(`failed: ${name} (${firstLine(errors)})`);
    else if (test.diagnostic()?.flaky)
      this.#lines.push(`passed at the second try: ${name} (first: ${firstLine(errors)})`);
  }

  /** @param {TestModule} module */
  onTestModuleEnd(module) {
    const errors = module.errors();
    if (errors.length > 0) this.#lines.push(`failed: ${module.relativeModuleId} (${firstLine(errors)})`);
  }

  /** @param {readonly TestModule[]} _modules @param {readonly {message: string}[]} unhandledErrors */
  onTestRunEnd(_modules, unhandledErrors) {
    for (const error of unhandledErrors) this.#lines.push(`failed: outside of a test (${firstLine([error])})`);
    for (const line of this.#lines) process.stdout.write(`${line}\n`);
  }
}

/** @param {readonly {message: string}[]} errors */
function firstLine(errors) {
  return errors[0]?.message.split('\n')[0] ?? 'for no reason that is known';
}
