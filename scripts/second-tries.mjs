// A reporter of vitest: names each test that failed and then passed when it was tried again (`retry` in vitest.config.ts).

/** @typedef {import('vitest/node').TestCase} TestCase */

export default class SecondTries {
  /** @type {string[]} */
  #names = [];

  /** @param {TestCase} test */
  onTestCaseResult(test) {
    if (test.diagnostic()?.flaky) this.#names.push(`${test.module.relativeModuleId} > ${test.fullName}`);
  }

  onTestRunEnd() {
    for (const name of this.#names) process.stdout.write(`passed at the second try: ${name}\n`);
  }
}
