// A vitest reporter that writes a line when a test file begins and when it ends, for the process that may end the run.
import {appendFileSync, readFileSync} from 'node:fs';

/**
 * @typedef {{type: 'start' | 'end' | 'done', at: number, file: string, failed?: string}} TestEvent
 *   `at`: milliseconds; `failed`: what failed first
 * @typedef {import('vitest/node').TestModule} TestModule
 */
export default class EventReporter {
  /** @type {string} */
  #output = JSON.parse(readFileSync(process.env.MINI_CC_MUTANTS, 'utf8')).events;

  /** @param {TestModule} module */
  onTestModuleQueued({relativeModuleId}) {
    this.#write({type: 'start', file: relativeModuleId});
  }

  /** @param {TestModule} module */
  onTestModuleEnd(module) {
    this.#write({type: 'end', file: module.relativeModuleId, ...(module.ok() ? {} : {failed: nameFailure(module)})});
  }

  /** @param {readonly TestModule[]} _ @param {readonly {message: string}[]} unhandled */
  onTestRunEnd(_, unhandled) {
    this.#write({type: 'done', file: '', ...(unhandled[0] && {failed: unhandled[0].message.split('\n')[0]})});
  }

  /** @param {Omit<TestEvent, 'at'>} event */
  #write(event) {
    appendFileSync(this.#output, `${JSON.stringify({...event, at: Date.now()})}\n`);
  }
}

/** @param {TestModule} module */
function nameFailure(module) {
  for (const test of module.children.allTests('failed')) return test.fullName;
  return module.errors()[0]?.message.split('\n')[0] ?? 'a hook';
}
