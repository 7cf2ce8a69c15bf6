/** The kernel holds the limits of commands that run without a question, and the result names them. */
import {spawn} from 'node:child_process';
import {expect, it} from 'vitest';
import {explainBounds, type LaunchPlan} from '../../../src/sandbox/launch/launch.ts';
import {getShellArguments} from '../../../src/sandbox/launch/run-shell.ts';
import {killGroup} from '../../support/run-cli.ts';
import {until} from '../../support/wait.ts';

/** For root the kernel counts no processes. */
const AS_USER = process.getuid?.() === 0 ? ['setpriv', '--reuid', '64123', '--regid', '64123', '--clear-groups'] : [];

it('a command that starts processes without an end gets no more of them', async () => {
  const shell = getShellArguments('for i in {1..1100}; do sleep 300 & done', {bounds: 'memory and processes'});
  const [file = '', ...args] = [...AS_USER, ...shell];
  const child = spawn(file, args, {cwd: '/', stdio: ['ignore', 'pipe', 'pipe', 'pipe'], detached: true});
  let output = '';
  child.stdout!.on('data', (text) => {
    output += text;
  });
  try {
    await until(() => output.includes('fork: retry: Resource temporarily unavailable'), 'the limit');
  } finally {
    killGroup(child);
  }
  // Bash tries again for a while, and may end well with fewer processes.
  const plan = {isBounded: true} as LaunchPlan;
  for (const exitCode of [0, 254]) {
    expect(explainBounds({output, exitCode, plan})).toMatch(
      /^\(a command that runs without a question .* 1000 processes/,
    );
  }
  expect(explainBounds({output: 'a.txt: out of memory\n', exitCode: 0, plan})).toBeUndefined();
});
