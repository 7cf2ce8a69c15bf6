/** Real commands in the real sandbox. Each of these tests was a way out of a weaker sandbox. */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import {createServer} from 'node:http';
import type {AddressInfo} from 'node:net';
import {homedir} from 'node:os';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import {createSandbox} from '../../src/sandbox/index.ts';
import {ProcessGroups} from '../../src/sandbox/launch/process-groups.ts';
import {createBash} from '../../src/tools/bash/bash.ts';
import {hasSandbox} from '../support/sandbox.ts';
import {until} from '../support/wait.ts';
import {type Fixture, fixture, isRunning} from '../tools/fixture.ts';

const usable = await hasSandbox();

/** A read-only agent with its own home, and a function that runs its commands. */
function createReadOnlyAgent(
  more: {hide?: string[]; extraRoots?: (base: string) => string[]; root?: (f: Fixture) => string} = {},
) {
  const outer = fixture();
  const base = join(outer.root, '..');
  const home = join(base, 'home');
  const sandbox = createSandbox({home, miniCcHome: join(home, '.mini-cc'), hide: more.hide ?? []});
  onTestFinished(() => sandbox.folder.close());
  const root = more.root?.(outer) ?? outer.root;
  const workspace = {
    ...outer.workspace,
    ...{root, cwd: root, confinement: 'read-only' as const, extraRoots: more.extraRoots?.(base) ?? []},
  };
  const bash = createBash(sandbox, new ProcessGroups());
  const run = (command: string, signal = new AbortController().signal) =>
    outer.call(bash, {command, timeout_seconds: 20}, {workspace, signal});
  return {...outer, workspace, home, sandbox, run};
}

describe.runIf(usable)('a confined command', () => {
  test('reads the workspace and has its environment', async () => {
    const {run, put} = createReadOnlyAgent();
    put({'a.txt': 'hello'});
    expect((await run('cat a.txt')).text).toBe('hello');
    expect((await run('echo $HOME; exit 3')).text).toMatch(/\/home\nexit code 3$/);
  });

  test('writes its output also by name', async () => {
    const {run} = createReadOnlyAgent();
    expect((await run('echo a > /dev/stdout; echo b > /dev/stderr')).text).toBe('a\nb');
  });

  test.each([
    ['the workspace', 'touch made'],
    ['an existing file', 'echo x >> a.txt'],
    ['its mode', 'chmod 777 a.txt'],
    ['by deleting', 'rm -f a.txt'],
    ['after a remount', 'mount -o remount,rw / ; mount -o remount,rw,bind "$PWD"; touch made'],
    ['in a namespace of its own', 'unshare -Urm sh -c "mount -o remount,rw,bind $PWD; touch $PWD/made"'],
    ['through /proc/1/root', 'touch "/proc/1/root$PWD/made"'],
    ['/run', 'touch /run/made'],
    ['/usr', 'touch /usr/made'],
    ['/var/tmp', 'touch /var/tmp/made-by-mini-cc'],
    ['the root', 'touch /made; mkdir /home/made'],
    ['settings of the kernel', 'echo x > /proc/sys/kernel/core_pattern'],
  ])('cannot write: %s', async (_name, command) => {
    const {run, put, root, home} = createReadOnlyAgent();
    put({'a.txt': 'hello'});
    mkdirSync(join(home, '.ssh'));
    const {isError, text} = await run(command);
    expect(isError).toBe(true);
    expect(text).toMatch(/\(this agent is read-only: .*the file system cannot be written and there is no network\)/);
    expect(readdirSync(root)).toEqual(['a.txt']);
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('hello');
    expect(readdirSync(home)).toEqual(['.ssh']);
  });

  test('cannot write to the home of the user who runs mini-cc', async () => {
    const {run} = createReadOnlyAgent();
    const made = join(homedir(), 'made-by-mini-cc-test');
    onTestFinished(() => rmSync(made, {force: true}));
    await run(`touch ${made}`);
    expect(existsSync(made)).toBe(false);
  });

  test('has its own /tmp and TMPDIR, in which nothing stays that it writes', async () => {
    const {run, workspace, sandbox} = createReadOnlyAgent();
    const {text} = await run(
      'echo secret > /tmp/made && cat /tmp/made && cat "$(mktemp -p "$TMPDIR")" && echo $TMPDIR',
    );
    expect(text).toBe(`secret\n${sandbox.folder.temporary}`);
    expect(readdirSync(sandbox.folder.temporary)).toEqual([]);
    expect(existsSync('/tmp/made')).toBe(false);
    expect((await run('ls /tmp/made')).isError).toBe(true);
    expect(workspace.root.startsWith('/tmp/')).toBe(true);
  });

  test('sees no processes but its own', async () => {
    const {run} = createReadOnlyAgent();
    const {text} = await run(`ls /proc | grep -c "^[0-9]"; ls /proc | grep -x ${process.pid}; kill -0 ${process.pid}`);
    expect(Number(text.split('\n')[0])).toBeLessThan(8);
    expect(text).toMatch(/No such process/);
  });

  test('cannot reach a server on this machine', async () => {
    const server = createServer((_request, response) => response.end('reached'));
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    onTestFinished(() => void server.close());
    const {port} = server.address() as AddressInfo;
    const command = `exec 5<>/dev/tcp/127.0.0.1/${port} && printf 'GET / HTTP/1.0\\r\\n\\r\\n' >&5 && cat <&5`;
    const open = fixture();
    const bash = createBash(createSandbox({home: '/x', miniCcHome: '/x'}), new ProcessGroups());
    expect((await open.call(bash, {command})).text).toContain('reached');
    const {text, isError} = await createReadOnlyAgent().run(command);
    expect(isError).toBe(true);
    expect(text).not.toContain('reached');
    expect(text).toContain('there is no network');
  });

  test('gets a line about the network also when its program fails without a message', async () => {
    const {text} = await createReadOnlyAgent().run('curl() { return 6; }; curl -s http://example.com');
    expect(text).toMatch(/^exit code 6\n\(.*there is no network\)$/);
    expect((await createReadOnlyAgent().run('false')).text).toBe('exit code 1');
  });

  test('cannot reach a socket in /tmp', async () => {
    const {run, outside} = createReadOnlyAgent();
    const server = createServer((_request, response) => response.end('reached'));
    const socket = join(outside, 'socket');
    await new Promise<void>((listening) => server.listen(socket, listening));
    onTestFinished(() => void server.close());
    const {text} = await run(`ls ${socket}; ls ${outside}`);
    expect(text).toMatch(/No such file or directory/);
  });

  test('does not see keys', async () => {
    // The home is one of its roots, so that it is visible although it lies in /tmp.
    const {run, home} = createReadOnlyAgent({
      hide: ['own-keys', '~/own-file'],
      extraRoots: (base) => [realpathSync(join(base, 'home'))],
    });
    const keys = ['.ssh', '.gnupg', '.aws', '.config/gcloud', '.azure', '.kube', '.docker', '.mini-cc', 'own-keys'];
    const directories = [...keys, '.mozilla', '.config/google-chrome', '.config/chromium'];
    const files = ['.netrc', '.git-credentials', '.npmrc', 'own-file'];
    for (const directory of directories) {
      mkdirSync(join(home, directory), {recursive: true});
      writeFileSync(join(home, directory, 'key'), 'SECRET');
    }
    for (const file of [...files, 'notes']) writeFileSync(join(home, file), 'SECRET');
    const {text} = await run(`cd ${home} && grep -rls SECRET .; ls -A ${directories.join(' ')}`);
    expect(text.split('\n\n')[0]).toMatch(/^\.\/notes\n/);
    expect(text).not.toContain('key\n');
  });

  test('gets a line that keys are hidden when it looks for one', async () => {
    const {run, home} = createReadOnlyAgent({extraRoots: (base) => [realpathSync(join(base, 'home'))]});
    mkdirSync(join(home, '.ssh'));
    writeFileSync(join(home, '.ssh/id_rsa'), 'SECRET');
    const {text} = await run('cat ~/.ssh/id_rsa');
    expect(text).toMatch(/exit code 1\n\(this agent is read-only: .*\/\.ssh\/id_rsa is hidden\)$/);
    mkdirSync(join(home, '.mini-cc/projects/p/s/output'), {recursive: true});
    writeFileSync(join(home, '.mini-cc/projects/p/s/output/t.txt'), 'SECRET');
    expect((await run('tail ~/.mini-cc/projects/p/s/output/t.txt')).text).toContain(
      'is hidden; outputs and transcripts there: use read_file',
    );
    writeFileSync(join(home, '.npmrc'), 'SECRET');
    expect((await run('cat ~/.npmrc')).text).toContain(`${home}/.npmrc is hidden`);
  });

  test('does not see keys inside its own workspace', async () => {
    const {run, home} = createReadOnlyAgent({
      root: ({root}) => realpathSync(join(root, '../home')),
      hide: ['own-file'],
    });
    mkdirSync(join(home, '.ssh'));
    for (const file of ['.ssh/id', '.netrc', '.npmrc', 'own-file', 'code.ts'])
      writeFileSync(join(home, file), 'SECRET');
    const {text} = await run('grep -rs SECRET .; ls -A .ssh; ls');
    expect(text).toBe('./code.ts:SECRET\ncode.ts\nown-file');
  });

  test('does not see keys behind a link', async () => {
    const {run, home} = createReadOnlyAgent({root: ({root}) => realpathSync(join(root, '..'))});
    mkdirSync(join(home, '../real-keys'));
    writeFileSync(join(home, '../real-keys/id'), 'SECRET');
    symlinkSync(join(home, '../real-keys'), join(home, '.ssh'));
    const {text} = await run('cat home/.ssh/id real-keys/id; ls real-keys');
    expect(text).not.toContain('SECRET');
  });

  test('sees its workspace inside a hidden directory, but not the rest of that directory', async () => {
    const {run, home} = createReadOnlyAgent({
      root({root}) {
        const tree = join(realpathSync(join(root, '../home')), '.mini-cc/worktrees/run');
        mkdirSync(tree, {recursive: true});
        return tree;
      },
    });
    writeFileSync(join(home, '.mini-cc/settings.json'), 'SECRET');
    writeFileSync(join(home, '.mini-cc/worktrees/run/a.txt'), 'mine\n');
    expect((await run('cat a.txt; ls -A ../..')).text).toBe('mine\nworktrees');
    expect((await run('touch b.txt')).isError).toBe(true);
  });

  test('sees a further directory that it must read, and cannot write it', async () => {
    const {workspace, outside, call, sandbox} = createReadOnlyAgent();
    mkdirSync(join(outside, 'objects'));
    writeFileSync(join(outside, 'objects', 'a.txt'), 'lent\n');
    writeFileSync(join(outside, 'b.txt'), 'not lent');
    const seeing = {...workspace, seen: [join(outside, 'objects'), join(outside, 'missing')]};
    const bash = createBash(sandbox, new ProcessGroups());
    const command = `cat ${outside}/objects/a.txt; ls ${outside}; touch ${outside}/objects/made`;
    const {text} = await call(bash, {command}, {workspace: seeing});
    expect(text).toContain('lent\nobjects\n');
    expect(readdirSync(join(outside, 'objects'))).toEqual(['a.txt']);
  });

  test('sees further roots', async () => {
    const {run, outside} = createReadOnlyAgent({extraRoots: (base) => [join(base, 'outside'), join(base, 'missing')]});
    writeFileSync(join(outside, 'b.txt'), 'further');
    expect((await run(`cat ${outside}/b.txt`)).text).toBe('further');
    expect((await run(`touch ${outside}/made`)).isError).toBe(true);
  });

  test('keeps its working directory between calls', async () => {
    const {run, put, root} = createReadOnlyAgent();
    put({'sub/a.txt': 'hello'});
    await run('cd sub; exit 3');
    expect((await run('pwd; cat a.txt')).text).toBe(`${root}/sub\nhello`);
    await run('cd /usr');
    expect((await run('pwd')).text).toBe('/usr');
  });

  test('goes back to the root when its directory was private to the command, and says so', async () => {
    const {run, root} = createReadOnlyAgent();
    const {text} = await run('mkdir /tmp/mine; cd /tmp/mine');
    expect(text).toBe(`(/tmp/mine was private to this command; cwd is back at ${root})`);
    expect((await run('cd /tmp')).text).toBe('(no output)');
    expect((await run('pwd')).text).toBe('/tmp');
  });

  test('ends at an abort, with processes that left its group or ignore signals', async () => {
    const {run} = createReadOnlyAgent();
    const abort = new AbortController();
    const mark = `6${process.pid}${Math.floor(performance.now())}`;
    const running = run(
      `trap '' TERM; setsid sleep ${mark} & nohup setsid sleep ${mark} >/dev/null 2>&1 & echo started; wait`,
      abort.signal,
    );
    const ours = () => readdirSync('/proc').filter((name) => /^\d+$/.test(name) && getCommand(name).includes(mark));
    await until(() => ours().filter((name) => getCommand(name).startsWith('sleep')).length === 2);
    const pids = ours().map(Number);
    abort.abort();
    expect((await running).text).toBe('started\ninterrupted');
    await until(() => !pids.some(isRunning));
  });

  test('leaves nothing behind when it ends by itself', async () => {
    const {run} = createReadOnlyAgent();
    const mark = `7${process.pid}${Math.floor(performance.now())}`;
    await run(`setsid nohup sleep ${mark} >/dev/null 2>&1 & sleep 0.1`);
    const left = () => readdirSync('/proc').filter((name) => /^\d+$/.test(name) && getCommand(name).includes(mark));
    await until(() => left().length === 0);
  });

  test('returns all of its output', async () => {
    const {run} = createReadOnlyAgent();
    expect((await run('seq 1 5000')).text.split('\n')).toHaveLength(5000);
  });
});

test.runIf(usable)('confining a command takes a small part of a second', async () => {
  const {run, call, workspace, root} = createReadOnlyAgent();
  const plain = createBash(createSandbox({home: '/x', miniCcHome: '/x'}), new ProcessGroups());
  const fastest = async (once: () => Promise<unknown>) => {
    const times: number[] = [];
    for (let index = 0; index < 15; index += 1) {
      const start = performance.now();
      await once();
      times.push(performance.now() - start);
    }
    return Math.min(...times);
  };
  const confinedMs = await fastest(() => run('true'));
  const plainMs = await fastest(() =>
    call(plain, {command: 'true'}, {workspace: {...workspace, cwd: root, confinement: 'none'}}),
  );
  expect(confinedMs - plainMs).toBeLessThan(300);
  if (process.env.MINI_CC_FIGURES)
    console.log(`bash true: confined ${confinedMs.toFixed(2)} ms, plain ${plainMs.toFixed(2)} ms`);
});

function getCommand(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return '';
  }
}
