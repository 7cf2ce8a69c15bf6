import {execa} from 'execa';
import {expect, it, onTestFinished} from 'vitest';
import {startProcess} from '../../../src/core/util/processes.ts';
import {listProcesses, ProcessGroups, withMark} from '../../../src/sandbox/launch/process-groups.ts';

/** No other test run on this machine has it. */
const SLEEP = `sleep ${700_000 + process.pid}`;
/** Each process that it starts leaves the group at once, as a confined command does while its sandbox is set up. */
const RESTLESS = `for i in $(seq 2000); do setsid ${SLEEP} & done; wait`;

it('ends what leaves the group while it is being ended', async () => {
  const groups = new ProcessGroups();
  for (let round = 0; round < 10; round += 1) {
    const env = withMark({PATH: process.env.PATH!});
    const stdio = ['ignore', 'ignore', 'ignore'] as const;
    const {pid} = await startProcess('bash', ['-c', RESTLESS], {detached: true, stdio, env});
    groups.add(pid!, env);
    while (listProcesses().filter(({parent}) => parent === pid).length < 3) await new Promise(setImmediate);
    await groups.end(pid!);
  }
  onTestFinished(async () => void (await execa('pkill', ['-KILL', '-f', `^${SLEEP}$`], {reject: false})));
  // On a busy machine what was killed takes a moment to end.
  const count = async () => Number((await execa('pgrep', ['-cf', `^${SLEEP}$`], {reject: false})).stdout);
  await expect.poll(count).toBe(0);
});

it('ends what a command starts when it is asked to end, though that has another parent and group', async () => {
  const sleep = `sleep ${800_000 + process.pid}`;
  const count = async () => Number((await execa('pgrep', ['-cf', `^${sleep}$`], {reject: false})).stdout);
  onTestFinished(async () => void (await execa('pkill', ['-KILL', '-f', `^${sleep}$`], {reject: false})));
  const env = withMark({PATH: process.env.PATH!});
  const command = `trap 'setsid ${sleep} & exit' TERM; echo ready; sleep 1000 & wait`;
  const {pid, child} = await startProcess('bash', ['-c', command], {
    ...{detached: true, env},
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  await new Promise((resolve) => child.stdout!.once('data', resolve));
  const groups = new ProcessGroups();
  groups.add(pid!, env);
  await groups.end(pid!);
  expect(await count()).toBe(0);
});
