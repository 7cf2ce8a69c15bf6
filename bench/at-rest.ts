/** Memory and CPU time of a session that waits for its user. */
import {setTimeout as sleep} from 'node:timers/promises';
import {startCli} from '../tests/support/run-cli.ts';
import {readUsage} from './process-tree.ts';
import type {Bench} from './start-up.ts';

interface AtRest {
  readonly residentMb: number;
  /** Clock ticks (10 ms) of CPU in three seconds. */
  readonly ticks: number;
  readonly processes: number;
}

/** Measures after one prompt was answered: by then the engine, the SDK and the markdown parser are loaded. */
export async function measureAtRest(bench: Bench): Promise<AtRest> {
  const terminal = await startCli([], {...bench});
  try {
    await terminal.waitFor(/^\W*[>❯›]/m);
    terminal.type('hello');
    await terminal.waitFor('> hello');
    terminal.press('enter');
    await terminal.waitFor('The answer is here.');
    await sleep(2000);
    const before = readUsage(terminal.pid);
    await sleep(3000);
    const after = readUsage(terminal.pid);
    return {residentMb: after.residentMb, ticks: after.ticks - before.ticks, processes: after.processes};
  } finally {
    await terminal.close();
  }
}
