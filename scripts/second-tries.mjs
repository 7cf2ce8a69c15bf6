// A reporter of vitest: names each test that failed and then passed when it was tried again (`retry` in vitest.config.ts), with
// what failed.

/** @typedef {import('vitest/node').TestCase} TestCase */

export default class SecondTries {
  /** @type {string[]} */
  #lines = [];

  /** @param {TestCase} test */
  onTestCaseResult(test) {
    if (!test.diagnostic()?.flaky) return;
    const [error] = test.result().errors ?? [];
    const why = error?.message.split('\n')[0] ?? 'for no reason that is known';
    this.#lines.push(`${test.module.relativeModuleId} > ${test.fullName} (first: ${why})`);
  }

  onTestRunEnd() {
    for (const line of this.#lines) process.stdout.write(`passed at the second try: ${line}\n`);
  }
}
