import {execa} from 'execa';
import {expect, it, onTestFinished} from 'vitest';
import {startProcess} from '../../../src/core/util/processes.ts';
import {listProcesses, ProcessGroups} from '../../../src/sandbox/launch/process-groups.ts';

/** No other test run on this machine has it. */
const SLEEP = `sleep ${700_000 + process.pid}`;
/** Each process that it starts leaves the group at once, as a confined command does while its sandbox is set up. */
const RESTLESS = `for i in $(seq 2000); do setsid ${SLEEP} & done; wait`;

it('ends what leaves the group while it is being ended', {timeout: 120_000}, async () => {
  const groups = new ProcessGroups();
  for (let round = 0; round < 10; round += 1) {
    const {pid} = await startProcess('bash', ['-c', RESTLESS], {detached: true, stdio: ['ignore', 'ignore', 'ignore']});
    groups.add(pid!);
    while (listProcesses().filter(({parent}) => parent === pid).length < 3) await new Promise(setImmediate);
    await groups.end(pid!);
  }
  onTestFinished(async () => void (await execa('pkill', ['-KILL', '-f', `^${SLEEP}$`], {reject: false})));
  // On a busy machine what was killed takes a moment to end.
  const count = async () => Number((await execa('pgrep', ['-cf', `^${SLEEP}$`], {reject: false})).stdout);
  await expect.poll(count).toBe(0);
});
