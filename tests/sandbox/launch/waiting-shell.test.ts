/** A command that may not begin yet has its shell started, and nothing of it runs before it may begin. */
import {existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {describe, expect, it, onTestFinished} from 'vitest';
import type {Attempt, Workspace} from '../../../src/core/contract/permission.ts';
import {tryOr} from '../../../src/core/util/errors.ts';
import {createSandbox} from '../../../src/sandbox/index.ts';
import {Launcher} from '../../../src/sandbox/launch/launch.ts';
import {ProcessGroups} from '../../../src/sandbox/launch/process-groups.ts';
import {hasSandbox} from '../../support/sandbox.ts';
import {until} from '../../support/wait.ts';
import {listStartedShells} from './started-shells.ts';

const usable = await hasSandbox();

/** A launcher whose one command waits until the test says whether it may begin. */
function given(launch: Attempt['launch'], {homeInside = false} = {}) {
  const base = realpathSync(mkdtempSync(path.join(tmpdir(), 'mini-cc-waiting-')));
  onTestFinished(() => rmSync(base, {recursive: true, force: true}));
  const root = path.join(base, 'work');
  const home = path.join(homeInside ? root : base, 'home');
  mkdirSync(path.join(root, 'sub'), {recursive: true});
  mkdirSync(home);
  const env = {PATH: '/usr/bin:/bin', HOME: home};
  const workspace = {root, cwd: root, extraRoots: [], confinement: 'none', env} as unknown as Workspace;
  const processes = new ProcessGroups();
  const sandbox = createSandbox({home, miniCcHome: path.join(base, 'mini-cc')});
  const launcher = new Launcher(sandbox, processes);
  const former = new Set(listStartedShells().map(({pid}) => pid));
  const {promise: mayBegin, resolve: allow} = Promise.withResolvers<boolean>();
  const run = async (command: string) => {
    let text = '';
    const end = await launcher.run({
      ...{command, workspace, mayBegin, timeoutMs: 60_000, signal: new AbortController().signal},
      attempt: {launch, checkpoint: true},
      onText: (piece) => {
        text += piece;
      },
    });
    return {...end, text};
  };
  const place = (name: string) => path.join(root, name);
  const listStarted = () => listStartedShells().filter(({pid}) => !former.has(pid));
  const listPipes = () => tryOr(() => readdirSync(sandbox.folder.getFile('pipes')), []);
  const expectNothing = () => launcher.expectNothing(workspace);
  const expectCommand = (attempt: Attempt = {launch, checkpoint: true}) => launcher.expect(workspace, attempt);
  return {run, allow, place, processes, sandbox, listStarted, listPipes, expectCommand, expectNothing};
}

describe.skipIf(!usable)('a command that may not begin yet', () => {
  it.each(['plain', 'workspace-write', 'guarded'] as const)('has a shell that waits (%s)', async (launch) => {
    const {run, allow, place, listStarted} = given(launch);
    writeFileSync(place('old'), 'before\n');
    const running = run('cat old; echo "$BASH_EXECUTION_STRING" | wc -l; touch new; exit 3');
    await until(() => listStarted().length > 0, 'the shell');
    writeFileSync(place('old'), 'after\n');
    expect(existsSync(place('new'))).toBe(false);
    allow(true);
    expect(await running).toMatchObject({text: 'after\n1\n', exitCode: 3, ended: 'itself', hasBegun: true});
    expect(existsSync(place('new'))).toBe(true);
  });

  it.each(['touch new', `touch new; : ${'x'.repeat(5000)}`])(
    'never begins when it must not any more',
    async (command) => {
      const {run, allow, place, processes, listStarted} = given('workspace-write');
      const running = run(command);
      if (command.length < 100) await until(() => listStarted().length > 0, 'the shell');
      allow(false);
      expect(await running).toMatchObject({text: '', ended: 'abort', hasBegun: false});
      await until(() => listStarted().length === 0, 'the end of the shell');
      expect(existsSync(place('new'))).toBe(false);
      // Work that no command may disturb can run again.
      expect(await processes.withoutWriters(async () => 'alone')).toBe('alone');
    },
  );

  it('is replaced when its shell was killed', async () => {
    const {run, allow, listStarted} = given('plain');
    const running = run('echo done');
    await until(() => listStarted().length > 0, 'the shell');
    for (const {pid} of listStarted()) process.kill(pid, 'SIGKILL');
    await until(() => listStarted().length === 0, 'the end of the shell');
    allow(true);
    expect(await running).toMatchObject({text: 'done\n', exitCode: 0});
  });

  it('gets its sandbox later where this puts files into the workspace that a checkpoint would see', async () => {
    const {run, allow, place, listPipes, sandbox} = given('workspace-write', {homeInside: true});
    await sandbox.status();
    const running = run('echo x > home/.bashrc');
    // The helper shell makes the pipes, while the launcher goes on.
    await until(() => listPipes().length > 0, 'the pipes');
    expect(existsSync(place('home/.bashrc'))).toBe(false);
    allow(true);
    const {text, exitCode} = await running;
    expect([exitCode, text]).toEqual([1, expect.stringContaining('Read-only file system')]);
    expect(existsSync(place('home/.bashrc'))).toBe(false);
  });
});

describe.skipIf(!usable)('a shell that is started while the model writes the command', () => {
  const OWN = ['.mini-cc', '.claude'];

  it.each(['plain', 'workspace-write', 'guarded'] as const)('runs it, and no other is started (%s)', async (launch) => {
    const {run, allow, place, listStarted, expectCommand} = given(launch);
    writeFileSync(place('old'), 'before\n');
    await expectCommand();
    await until(() => listStarted().length > 0, 'the shell');
    const [{pid} = {pid: 0}] = listStarted();
    writeFileSync(place('old'), 'after\n');
    allow(true);
    const running = run('cat old; touch new; sleep 0.3; exit 3');
    await until(() => existsSync(place('new')), 'the command');
    expect(listStarted().map((each) => each.pid)).toContain(pid);
    expect(await running).toMatchObject({text: 'after\n', exitCode: 3, ended: 'itself', hasBegun: true});
    expect(OWN.map(place).filter((each) => existsSync(each))).toEqual([]);
    expect(listStarted().filter((each) => each.pid === pid)).toEqual([]);
  });

  it('is not used when a place was made meanwhile that the command must not write', async () => {
    const {run, allow, place, expectCommand, listStarted} = given('workspace-write');
    await expectCommand();
    await until(() => listStarted().length > 0, 'the shell');
    mkdirSync(place('sub/.git/hooks'), {recursive: true});
    for (const name of ['objects', 'refs']) mkdirSync(place(`sub/.git/${name}`));
    writeFileSync(place('sub/.git/HEAD'), 'ref: refs/heads/main\n');
    writeFileSync(place('sub/.git/config'), '');
    allow(true);
    const {text} = await run('echo x > sub/.git/hooks/pre-commit; echo y > sub/.git/config; echo done');
    expect(text).toMatch(/Read-only file system[\s\S]*Read-only file system[\s\S]*done/);
  });

  it('runs a command that begins with the path of its program', async () => {
    const {run, allow, expectCommand, listStarted} = given('workspace-write');
    await expectCommand();
    await until(() => listStarted().length > 0, 'the shell');
    const [{pid} = {pid: 0}] = listStarted();
    allow(true);
    const long = 'x'.repeat(300);
    const running = run(`/bin/echo ${long}; sleep 0.3`);
    await until(() => listStarted().length > 0, 'the command');
    expect(listStarted().map((each) => each.pid)).toContain(pid);
    expect(await running).toMatchObject({text: `${long}\n`, exitCode: 0});
  });

  it('does not set aside what another program made while it waited', async () => {
    const {place, processes, expectCommand, listStarted} = given('workspace-write');
    await expectCommand();
    await until(() => listStarted().length > 0, 'the shell');
    for (const name of ['objects', 'refs', 'hooks']) mkdirSync(place(`sub/.git/${name}`), {recursive: true});
    writeFileSync(place('sub/.git/HEAD'), 'ref: refs/heads/main\n');
    writeFileSync(place('sub/.git/config'), '[core]\n\tfsmonitor = ./run\n');
    processes.close();
    await until(() => !OWN.map(place).some((each) => existsSync(each)), 'the end of the placeholders');
    expect(readdirSync(place('sub'))).toEqual(['.git']);
  });

  it('ends when another command comes, or none, and leaves nothing in the workspace', async () => {
    const {processes, place, expectCommand, listStarted} = given('workspace-write');
    await expectCommand();
    await until(() => OWN.map(place).every((each) => existsSync(each)), 'the placeholders');
    processes.close();
    await until(() => listStarted().length === 0, 'its end');
    await until(() => !OWN.map(place).some((each) => existsSync(each)), 'the end of the placeholders');
  });

  it('is gone with its placeholders when the calls of the reply have ended, also where it starts late', async () => {
    const {place, expectCommand, expectNothing, listStarted} = given('workspace-write');
    const left = () => [...OWN.map(place).filter((each) => existsSync(each)), ...listStarted()];
    await expectCommand();
    await until(() => left().length === 3, 'the shell');
    await expectNothing();
    expect(OWN.map(place).filter((each) => existsSync(each))).toEqual([]);
    const starting = expectCommand();
    await expectNothing();
    await starting;
    expect(OWN.map(place).filter((each) => existsSync(each))).toEqual([]);
  });

  it('is not started where its sandbox would put files into the workspace', async () => {
    const {expectCommand, listStarted, place} = given('workspace-write', {homeInside: true});
    await expectCommand();
    expect([listStarted(), existsSync(place('.mini-cc'))]).toEqual([[], false]);
  });
});
