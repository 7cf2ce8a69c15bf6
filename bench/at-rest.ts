/** What a session takes that waits for its user. */
import {setTimeout as sleep} from 'node:timers/promises';
import {startCli} from '../tests/support/run-cli.ts';
import {takenBy} from './process-tree.ts';
import type {Bench} from './start-up.ts';

export interface AtRest {
  readonly residentMb: number;
  /** Clock ticks (10 ms) of CPU in three seconds. */
  readonly ticks: number;
  readonly processes: number;
}

/** After one prompt was answered, so that the engine, the SDK and the markdown are loaded. */
export async function measureAtRest(bench: Bench): Promise<AtRest> {
  const terminal = await startCli([], {...bench});
  try {
    await terminal.waitFor(/^\W*[>❯›]/m);
    terminal.type('hello');
    await terminal.waitFor('> hello');
    terminal.press('enter');
    await terminal.waitFor('The answer is here.');
    await sleep(2000);
    const before = takenBy(terminal.pid);
    await sleep(3000);
    const after = takenBy(terminal.pid);
    return {residentMb: after.residentMb, ticks: after.ticks - before.ticks, processes: after.processes};
  } finally {
    await terminal.close();
  }
}
