/** A command that reads ends with its shell. The end of its sandbox, which takes longer, is not waited for. */
import {mkdirSync, mkdtempSync, realpathSync, rmSync} from 'node:fs';
import {homedir, tmpdir} from 'node:os';
import path from 'node:path';
import {describe, expect, it, onTestFinished} from 'vitest';
import type {Workspace} from '../../../src/core/contract/permission.ts';
import {createSandbox} from '../../../src/sandbox/index.ts';
import {Launcher} from '../../../src/sandbox/launch/launch.ts';
import {ProcessGroups} from '../../../src/sandbox/launch/process-groups.ts';
import {hasSandbox} from '../../support/sandbox.ts';
import {until} from '../../support/wait.ts';
import {listStartedShells} from './started-shells.ts';

const usable = await hasSandbox();

function start() {
  const base = realpathSync(mkdtempSync(path.join(tmpdir(), 'mini-cc-end-')));
  onTestFinished(() => rmSync(base, {recursive: true, force: true}));
  const root = path.join(base, 'work');
  mkdirSync(path.join(root, 'sub'), {recursive: true});
  const env = {PATH: '/usr/bin:/bin', HOME: homedir()};
  const workspace = {root, cwd: root, extraRoots: [], confinement: 'read-only', env} as unknown as Workspace;
  const sandbox = createSandbox({home: homedir(), miniCcHome: path.join(base, 'home')});
  const launcher = new Launcher(sandbox, new ProcessGroups());
  return async (command: string) => {
    let text = '';
    const {exitCode, ended, killedBy, cwd} = await launcher.run({
      command,
      attempt: {launch: 'read-only', checkpoint: false},
      workspace,
      signal: new AbortController().signal,
      timeoutMs: 60_000,
      onText: (piece) => {
        text += piece;
      },
    });
    return {text, exitCode, ended, killedBy, cwd: cwd && path.relative(root, cwd)};
  };
}

describe.skipIf(!usable || process.platform !== 'linux')('a command that reads', () => {
  it('has given all of its output, however long it is', async () => {
    const run = start();
    const lines = (count: number) => Array.from({length: count}, (_, index) => `${index + 1}\n`).join('');
    for (const count of [1, 10_000, 13_000, 100_000, 10_000, 20_000]) {
      expect((await run(`seq ${count}`)).text === lines(count)).toBe(true);
    }
    expect((await run('head -c 65536 /dev/zero | tr "\\0" x')).text).toHaveLength(65_536);
  });

  it.each([
    ['(exit 7)', {exitCode: 7, cwd: ''}],
    ['cd sub; false', {exitCode: 1, cwd: 'sub'}],
    ['cd sub; exit 4', {exitCode: 4, cwd: 'sub'}],
    ['trap "echo bye; exit 5" EXIT; true', {exitCode: 5, text: 'bye\n'}],
    ['kill -TERM $$', {exitCode: 143, killedBy: 'SIGTERM'}],
    ['kill -HUP $$', {exitCode: 129, killedBy: 'SIGHUP'}],
    ['set -eu; false', {exitCode: 1}],
    ['exec true', {exitCode: 0}],
  ])('ends as it did: %s', async (command, end) => {
    const run = start();
    await run('true');
    expect(await run(command)).toMatchObject({ended: 'itself', ...end});
  });

  it('leaves nothing that goes on, also when it reports an end that is none', async () => {
    const run = start();
    const before = new Set(listStartedShells().map(({pid}) => pid));
    await run('sleep 100 &');
    expect((await run('printf "/\\n\\0=0\\0" >&29; sleep 100')).exitCode).toBe(0);
    // One shell waits for the next command.
    await until(() => listStartedShells().filter(({pid}) => !before.has(pid)).length <= 1, 'the end of the sandboxes');
  });
});
