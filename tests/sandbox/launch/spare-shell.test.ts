/** A shell that was started ahead runs a command as one that was started for it, and only in the sandbox of that command. */
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import {homedir, tmpdir} from 'node:os';
import path from 'node:path';
import {expect, it, onTestFinished, vi} from 'vitest';
import type {Attempt, Workspace} from '../../../src/core/contract/permission.ts';
import {tryOr} from '../../../src/core/util/errors.ts';
import {createSandbox} from '../../../src/sandbox/index.ts';
import {Launcher} from '../../../src/sandbox/launch/launch.ts';
import {listProcesses, ProcessGroups} from '../../../src/sandbox/launch/process-groups.ts';
import {COMMAND} from '../../../src/sandbox/launch/shell-process.ts';
import {until} from '../../support/wait.ts';
import {listStartedShells} from './started-shells.ts';

const SECRET = '.env';

function start() {
  const base = realpathSync(mkdtempSync(path.join(tmpdir(), 'mini-cc-spare-')));
  for (const pid of listSandboxes()) former.add(pid);
  onTestFinished(() => rmSync(base, {recursive: true, force: true}));
  const root = path.join(base, 'work');
  mkdirSync(path.join(root, 'sub'), {recursive: true});
  writeFileSync(path.join(root, SECRET), 'first secret\n');
  const env = {PATH: `${path.dirname(process.execPath)}:/usr/bin:/bin`, HOME: homedir()};
  const workspace = {root, cwd: root, extraRoots: [], confinement: 'read-only', env} as unknown as Workspace;
  const processes = new ProcessGroups();
  const launcher = new Launcher(createSandbox({home: homedir(), miniCcHome: path.join(base, 'home')}), processes);
  const run = async (
    command: string,
    {
      cwd = root,
      env: more = {},
      masked = [SECRET],
      signal = new AbortController().signal,
      onText = (): unknown => undefined,
    } = {},
  ) => {
    let text = '';
    const paths = masked.map((name) => path.join(root, name));
    const {
      exitCode,
      killedBy,
      ended,
      cwd: after,
    } = await launcher.run({
      command,
      attempt: {launch: 'read-only', checkpoint: false, masked: {paths}},
      workspace: {...workspace, cwd, env: {...env, ...more}},
      signal,
      timeoutMs: 60_000,
      onText: (piece) => {
        text += piece;
        onText();
      },
    });
    return {text, exitCode, ended, killedBy, cwd: after};
  };
  return {
    root,
    run,
    processes,
    prepare: (unasked?: Attempt['launch']) => launcher.prepare({...workspace, cwd: root}, unasked),
    place: (name: string) => path.join(root, name),
  };
}

/** Shells that earlier tests left behind. They end half a minute later. */
const former = new Set<number>();

/** @returns the processes of bubblewrap that this test started */
function listSandboxes(): number[] {
  const isSandbox = (pid: number) => tryOr(() => readFileSync(`/proc/${pid}/comm`, 'utf8'), '') === 'bwrap\n';
  return listStartedShells().flatMap(({pid}) => (isSandbox(pid) && !former.has(pid) ? [pid] : []));
}

/** Says whether a shell in it has the descriptor open from which it reads its command. One with a command has closed it. */
function waits(sandbox: number, table: ReturnType<typeof listProcesses>): boolean {
  const children = (parent: number) => table.filter((each) => each.parent === parent).map(({pid}) => pid);
  const isShell = (pid: number) => tryOr(() => readFileSync(`/proc/${pid}/comm`, 'utf8'), '') === 'bash\n';
  const inner = children(sandbox).flatMap((pid) => [pid, ...children(pid)]);
  return inner.some((pid) => isShell(pid) && tryOr(() => readlinkSync(`/proc/${pid}/fd/${COMMAND}`), '') !== '');
}

/** Waits until a shell of this process waits for its command. @returns its process and the namespace of its sandbox */
async function untilWaiting(): Promise<{readonly pid: number; readonly namespace: string}> {
  const find = () => {
    const table = listProcesses();
    const pid = listSandboxes().find((each) => waits(each, table));
    const inner = table.find(({parent}) => parent === pid);
    return pid && inner ? {pid, namespace: tryOr(() => readlinkSync(`/proc/${inner.pid}/ns/pid`), '')} : undefined;
  };
  await until(() => Boolean(find()?.namespace), 'the next shell');
  return find()!;
}

it('runs the next command that reads, of the same sandbox', async () => {
  const {run} = start();
  const find = 'readlink /proc/self/ns/pid';
  const first = await run(find);
  const {namespace} = await untilWaiting();
  expect(first.text).not.toBe(`${namespace}\n`);
  expect((await run(find)).text).toBe(`${namespace}\n`);
});

it('runs the first command, where it was prepared while the model wrote the call', async () => {
  const {run, prepare} = start();
  await prepare();
  const {namespace} = await untilWaiting();
  expect((await run('readlink /proc/self/ns/pid', {masked: []})).text).toBe(`${namespace}\n`);
  await untilWaiting();
  await prepare();
  expect(listSandboxes()).toHaveLength(1);
});

it('is prepared again where none waits any more', async () => {
  const {prepare} = start();
  await prepare('plain');
  const now = performance.now();
  const clock = vi.spyOn(performance, 'now').mockReturnValue(now + 31_000);
  onTestFinished(() => clock.mockRestore());
  await prepare();
  await untilWaiting();
});

it('ends with its session, after which no other one waits', async () => {
  const {run, processes} = start();
  await run('true');
  await untilWaiting();
  processes.close();
  await until(() => listSandboxes().length === 0, 'its end');
});

it('is used although a file was made in a folder that it does not show', async () => {
  const {run} = start();
  await run('true');
  const {namespace} = await untilWaiting();
  rmSync(mkdtempSync('/tmp/mini-cc-spare-'), {recursive: true});
  expect((await run('readlink /proc/self/ns/pid')).text).toBe(`${namespace}\n`);
});

it.each([
  [
    'its output, arguments and variables',
    'echo "$# $0 $LINENO ${BASH_EXECUTION_STRING:0:4} ${IFS@Q} $-"; printf x >&2; read -r line; echo "$? $line"',
  ],
  ['its exit code', 'exit 3'],
  ['an error under set -e', 'set -e; cd sub; false; echo not here'],
  ['a folder that it changes to', 'cd sub'],
  ['a trap of its own', 'trap "echo bye" EXIT; cd sub; exit 4'],
  ['a syntax error', 'echo one\nif; then'],
  ['several lines with a here-document', 'cat <<X\n$PWD é ψ 字\nX\necho "$LINENO"'],
  ['a kill', 'kill -9 $$'],
  ['exec', 'exec ls -d /proc/self/fd/[0-9]'],
  ['open descriptors', 'ls /proc/self/fd'],
  ['limits', 'ulimit -d -u'],
  ['a command that is longer than a waiting shell takes', `echo ${'x'.repeat(5000)} | wc -c`],
])('gives the same as a shell that was started for the command: %s', async (_, command) => {
  const {run} = start();
  const first = await run(command);
  await untilWaiting();
  expect(await run(command)).toEqual(first);
});

it('sees files as they are when the command comes', async () => {
  const {run, place} = start();
  await run('true');
  await untilWaiting();
  writeFileSync(place('new'), 'new\n');
  symlinkSync('new', place('link'));
  expect((await run('cat new link')).text).toBe('new\nnew\n');
});

it.each<[string, (place: (name: string) => string) => void]>([
  [
    'replaced',
    (place) => {
      writeFileSync(place('x'), 'second secret\n');
      renameSync(place('x'), place(SECRET));
    },
  ],
  [
    'removed and made anew',
    (place) => {
      rmSync(place(SECRET));
      writeFileSync(place(SECRET), 'second secret\n');
    },
  ],
  [
    'made into a folder',
    (place) => {
      rmSync(place(SECRET));
      mkdirSync(place(SECRET));
      writeFileSync(place(`${SECRET}/x`), 'second secret\n');
    },
  ],
])('shows no file that rules hide and that was %s meanwhile', async (_, change) => {
  const {run, place} = start();
  const read = `cat ${SECRET} ${SECRET}/* 2>/dev/null; ls -d sub`;
  expect((await run(read)).text).toBe('sub\n');
  await untilWaiting();
  change(place);
  expect((await run(read)).text).toBe('sub\n');
});

it('is not used where rules hide more, the environment differs, or the folder is another one', async () => {
  const {run, place} = start();
  writeFileSync(place('key'), 'key\n');
  const read = 'cat key 2>/dev/null; echo "$LANG"; pwd';
  const at = async (given: Parameters<typeof run>[1]) => {
    await untilWaiting();
    return (await run(read, given)).text.split('\n').slice(0, -1);
  };
  await run('true', {env: {LANG: 'C'}});
  expect(await at({masked: [SECRET, 'key'], env: {LANG: 'C'}})).toEqual(
    ['C', place('')].map((each) => each.replace(/\/$/, '')),
  );
  expect(await at({env: {LANG: 'C.UTF-8'}})).toEqual(['key', 'C.UTF-8', place('').replace(/\/$/, '')]);
  rmSync(place('sub'), {recursive: true});
  mkdirSync(place('sub'));
  writeFileSync(place('sub/key'), 'inner\n');
  expect(await at({cwd: place('sub')})).toEqual(['inner', '', place('sub')]);
  // It starts in the folder that is removed then.
  await untilWaiting();
  rmSync(place('sub'), {recursive: true});
  mkdirSync(place('sub'));
  writeFileSync(place('sub/key'), 'newer\n');
  expect(await at({cwd: place('sub')})).toEqual(['newer', '', place('sub')]);
});

it('runs commands at the same time, each in a shell of its own', async () => {
  const {run} = start();
  await run('true');
  const ends = await Promise.all([1, 2, 3, 4].map((each) => run(`echo ${each}; sleep 0.1; echo ${each}`)));
  expect(ends.map(({text}) => text)).toEqual([1, 2, 3, 4].map((each) => `${each}\n${each}\n`));
});

it('starts a command anew when its waiting shell was killed, and ends at an abort as others do', async () => {
  const {run} = start();
  await run('true');
  process.kill(-(await untilWaiting()).pid, 'SIGKILL');
  await until(() => listSandboxes().length === 0, 'its end');
  await new Promise((resolve) => setImmediate(resolve));
  expect((await run('echo here')).text).toBe('here\n');
  await untilWaiting();
  const stop = new AbortController();
  const ended = run('echo on; sleep 1000', {signal: stop.signal, onText: () => stop.abort()});
  expect(await ended).toMatchObject({ended: 'abort'});
});
