import {spawn} from 'node:child_process';
import {existsSync, mkdirSync, readFileSync, rmSync, statSync} from 'node:fs';
import {join, resolve} from 'node:path';
import {describe, expect, test} from 'vitest';
import {CutOff} from '../../src/core/run-result.ts';
import {createSandbox} from '../../src/sandbox/index.ts';
import {createBash} from '../../src/tools/bash.ts';
import {ProcessGroups} from '../../src/tools/process-groups.ts';
import {fixture, isRunning, until} from './fixture.ts';

const nowhere = createSandbox({home: '/nonexistent', miniCcHome: '/nonexistent', searchPath: ''});
const processes = new ProcessGroups();
const newBash = () => createBash(nowhere, processes);

/** Runs a command that writes process ids to `pids`, cuts it off once they are there, and gives both. */
async function cutOff(command: string, ids: number, reason?: unknown) {
  const {call, root} = fixture();
  const abort = new AbortController();
  const running = call(newBash(), {command}, {signal: abort.signal});
  const file = join(root, 'pids');
  await until(() => existsSync(file) && readFileSync(file, 'utf8').trim().split('\n').length === ids);
  const pids = readFileSync(file, 'utf8').trim().split('\n').map(Number);
  expect(pids.every(isRunning)).toBe(true);
  const start = performance.now();
  abort.abort(reason ?? new CutOff('user'));
  return {result: await running, took: performance.now() - start, pids};
}

describe('output', () => {
  test('holds standard output and standard error in the order they were written', async () => {
    const {call} = fixture();
    const {text, isError, facts} = await call(newBash(), {command: 'echo a; echo b >&2; echo c; echo d >&2'});
    expect(text).toBe('a\nb\nc\nd');
    expect(isError).toBeUndefined();
    expect(facts).toEqual({exitCode: 0});
  });

  test('says when there is none', async () => {
    const {call} = fixture();
    expect((await call(newBash(), {command: 'true'})).text).toBe('(no output)');
  });

  test('loses its escape sequences and NULs, also where a chunk ends within one', async () => {
    const {call} = fixture();
    const command = String.raw`printf '\033[1;3'; sleep 0.05; printf '1mred\033[0m \033]0;a title\007x\0y\n'`;
    expect((await call(newBash(), {command})).text).toBe('red xy');
  });

  test('keeps characters whole where a chunk ends within one', async () => {
    const {call} = fixture();
    const command = String.raw`printf '\xe6\x97'; sleep 0.05; printf '\xa5\xf0\x9f'; sleep 0.05; printf '\x98\x80'`;
    expect((await call(newBash(), {command})).text).toBe('日😀');
  });

  test('past 30,000 characters keeps head and tail, says how much is cut, and keeps the whole in a file', async () => {
    const {call} = fixture();
    const {text} = await call(newBash(), {command: 'seq 1 20000'});
    expect(text.startsWith('1\n2\n3\n')).toBe(true);
    expect(text.endsWith('\n19999\n20000')).toBe(true);
    const [, cut, path] = /\[\.\.\. ([\d,]+) characters cut; the whole output: (\S+) \.\.\.\]/.exec(text) ?? [];
    expect(cut).toBe('78,894');
    const whole = Array.from({length: 20_000}, (_, index) => `${index + 1}\n`).join('');
    expect(readFileSync(path as string, 'utf8')).toBe(whole);
  });

  test('up to 30,000 characters is whole, without a file', async () => {
    const {call, context} = fixture();
    let opened = 0;
    const output = {
      open(id: string) {
        opened += 1;
        return context().output.open(id);
      },
    };
    const {text} = await call(newBash(), {command: `printf 'x%.0s' $(seq 1 30000)`}, {output});
    expect(text).toBe('x'.repeat(30_000));
    expect(opened).toBe(0);
  });

  test('of hundreds of megabytes stays bounded in memory and on disk', async () => {
    const {call} = fixture();
    const before = process.memoryUsage().heapUsed;
    const {text} = await call(newBash(), {command: 'yes 0123456789 | head -c 300000000; echo END'});
    expect(text.endsWith('END')).toBe(true);
    const [, path] = /whole output: (\S+) \(only its first 64 MB\)/.exec(text) ?? [];
    expect(statSync(path as string).size).toBe(64 * 1024 * 1024);
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(100_000_000);
  });

  test('that cannot be kept on disk does not end the command', async () => {
    const {call} = fixture();
    const write = () => {
      throw new Error('ENOSPC: no space left on device');
    };
    const output = {open: () => ({path: '/full/disk', write, close: () => undefined})};
    const {text} = await call(newBash(), {command: 'seq 1 20000'}, {output});
    expect(text).toContain('/full/disk (incomplete: ENOSPC: no space left on device)');
    expect(text.endsWith('20000')).toBe(true);
  });

  test('is told while the command runs, its last lines, at most ten times a second', async () => {
    const {call, events} = fixture();
    await call(newBash(), {command: 'for i in $(seq 1 40); do echo line $i; sleep 0.01; done'});
    const told = events.filter((event) => event.type === 'tool_progress');
    expect(told.length).toBeGreaterThan(1);
    expect(told.length).toBeLessThan(12);
    expect(told.at(-1)?.text).toMatch(/^line \d+\nline \d+\nline \d+$/);
    expect(told[0]).toMatchObject({callId: 'call-1'});
  });

  test('tells nothing of a command that ends at once', async () => {
    const {call, events} = fixture();
    await call(newBash(), {command: 'echo hi'});
    await new Promise((resolve) => setTimeout(resolve, 150));
    expect(events).toEqual([]);
  });
});

describe('exit code', () => {
  test.each([
    ['exit 3', 3, 'exit code 3'],
    ['echo partial; false', 1, 'partial\nexit code 1'],
    ['set -e; false; echo not reached', 1, 'exit code 1'],
    ['(exit 7)', 7, 'exit code 7'],
    ['trap "echo bye" EXIT; exit 4', 4, 'bye\nexit code 4'],
    ['cd /nonexistent-directory 2>/dev/null', 1, 'exit code 1'],
  ])('of %j is %i', async (command, exitCode, text) => {
    const {call} = fixture();
    expect(await call(newBash(), {command})).toMatchObject({text, isError: true, facts: {exitCode}});
  });

  test('of a syntax error is 2, with the line as the model wrote it', async () => {
    const {call} = fixture();
    const {text, facts} = await call(newBash(), {command: 'true\nif then'});
    expect(text).toContain("line 2: syntax error near unexpected token `then'");
    expect(facts).toEqual({exitCode: 2});
  });

  test('of a shell that a signal ended names the signal', async () => {
    const {call} = fixture();
    const {text, facts, isError} = await call(newBash(), {command: 'echo a; kill -KILL $$'});
    expect(text).toBe('a\nended by SIGKILL (exit code 137)');
    expect({facts, isError}).toEqual({facts: {exitCode: 137}, isError: true});
  });
});

describe('the shell', () => {
  test('sees no arguments, no standard input, and only the environment of the workspace', async () => {
    const {call} = fixture();
    process.env.MINI_CC_TEST_SECRET = 'leaked';
    const {text} = await call(newBash(), {command: 'echo "$#:$1"; cat; env | grep -c SECRET; echo "$HOME"'});
    delete process.env.MINI_CC_TEST_SECRET;
    expect(text).toMatch(/^0:\n0\n.*\/home$/);
  });

  test('takes here-documents, comments at the end and tracing', async () => {
    const {call} = fixture();
    expect((await call(newBash(), {command: 'cat <<X\nhello\nX'})).text).toBe('hello');
    expect((await call(newBash(), {command: 'echo a # b'})).text).toBe('a');
    expect((await call(newBash(), {command: 'set -x; echo a'})).text).toMatch(/^\++ echo a\na$/);
  });

  test('lets commands use low file descriptors', async () => {
    const {call, root, workspace} = fixture();
    await call(newBash(), {command: 'mkdir sub; cd sub; exec 3>../three; echo hi >&3'});
    expect(readFileSync(join(root, 'three'), 'utf8')).toBe('hi\n');
    expect(workspace.cwd).toBe(join(root, 'sub'));
  });

  test('explains why /dev/stderr does not work', async () => {
    const {call} = fixture();
    const {text} = await call(newBash(), {command: 'echo a > /dev/stderr'});
    expect(text).toContain('write >&1 or >&2');
  });

  test('refuses a command that the system takes for too long', async () => {
    const {call} = fixture();
    const {text, isError} = await call(newBash(), {command: `: ${'x'.repeat(3_000_000)}`});
    expect(isError).toBe(true);
    expect(text).toContain('the command is too long');
  });
});

describe('the working directory', () => {
  test.each(['cd sub', 'cd sub && false', 'cd sub; exit 3', 'cd sub; set -e; false', 'trap "echo bye" EXIT; cd sub'])(
    'persists after %j',
    async (command) => {
      const {call, root, workspace} = fixture();
      mkdirSync(join(root, 'sub'));
      const bash = newBash();
      await call(bash, {command});
      expect(workspace.cwd).toBe(join(root, 'sub'));
      expect((await call(bash, {command: 'pwd'})).text).toBe(join(root, 'sub'));
    },
  );

  test('stays where it was when a subshell moved', async () => {
    const {call, root, workspace} = fixture();
    await call(newBash(), {command: '(cd /); exec echo done'});
    expect(workspace.cwd).toBe(root);
  });

  test('goes back to the root when the command removed its own, and says so', async () => {
    const {call, root, workspace} = fixture();
    const {text} = await call(newBash(), {command: 'mkdir a; cd a; rmdir ../a'});
    expect(text).toBe(`(the command's directory no longer exists; cwd is back at ${root})`);
    expect(workspace.cwd).toBe(root);
  });

  test('goes back to the root when it was removed between two calls, and says so', async () => {
    const {call, root, workspace} = fixture();
    const bash = newBash();
    await call(bash, {command: 'mkdir a; cd a'});
    rmSync(join(root, 'a'), {recursive: true});
    const {text} = await call(bash, {command: 'pwd'});
    expect(text).toBe(`${root}\n(${root}/a no longer exists; cwd is back at ${root})`);
    expect(workspace.cwd).toBe(root);
  });

  test('keeps odd names', async () => {
    const {call, root, workspace} = fixture();
    await call(newBash(), {command: `mkdir "a 'b' \\$c é" && cd "a 'b' \\$c é"`});
    expect(workspace.cwd).toBe(join(root, "a 'b' $c é"));
  });
});

describe('ending', () => {
  test('a time limit ends the command and returns what it had printed', async () => {
    const {call} = fixture();
    const start = performance.now();
    const {text, isError} = await call(newBash(), {command: 'echo before; sleep 60', timeout_seconds: 0.3});
    expect(text).toBe('before\ntimed out after 0.3 s');
    expect(isError).toBe(true);
    expect(performance.now() - start).toBeLessThan(2500);
  });

  test('an abort ends a whole tree that ignores SIGTERM within a second', async () => {
    const tree = `trap '' TERM; sleep 60 & echo $! > p; sleep 60 >/dev/null 2>&1 & echo $! >> p; echo $$ >> p; echo partial; mv p pids; wait`;
    const {result, took, pids} = await cutOff(tree, 3);
    expect(result).toMatchObject({text: 'partial\ninterrupted', isError: true});
    expect(took).toBeLessThan(1000);
    expect(pids.filter(isRunning)).toEqual([]);
  });

  test('an abort ends a child that ignores SIGTERM after its shell has died of it', async () => {
    const tree = `(trap '' TERM; exec sleep 60) >/dev/null 2>&1 & echo $! > p; mv p pids; sleep 60`;
    const {took, pids} = await cutOff(tree, 1);
    expect(took).toBeLessThan(1000);
    expect(pids.filter(isRunning)).toEqual([]);
  });

  test('an abort ends children that left the process group', async () => {
    const {took, pids} = await cutOff('setsid sleep 60 & echo $! > p; mv p pids; sleep 60', 1);
    expect(took).toBeLessThan(1000);
    expect(pids.filter(isRunning)).toEqual([]);
  });

  test('an abort lets a command that obeys SIGTERM clean up', async () => {
    const {result} = await cutOff(`trap 'echo cleaned; exit 0' TERM; echo $$ > p; mv p pids; sleep 60 & wait`, 1);
    expect(result.text).toBe('cleaned\ninterrupted');
  });

  test('a limit of the run is named', async () => {
    const {result} = await cutOff('echo $$ > p; mv p pids; sleep 60', 1, new CutOff('timeout', 300));
    expect(result.text).toBe('interrupted (timed out after 300 s)');
  });

  test('nothing runs when the call was aborted before', async () => {
    const {call, root} = fixture();
    const {text, isError} = await call(newBash(), {command: 'touch ran'}, {signal: AbortSignal.abort()});
    expect({text, isError}).toEqual({text: 'interrupted before it began. Nothing was run.', isError: true});
    expect(existsSync(join(root, 'ran'))).toBe(false);
  });

  test('listeners on the signal do not pile up', async () => {
    const {call} = fixture();
    const {signal} = new AbortController();
    let listeners = 0;
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    signal.addEventListener = (...given: Parameters<typeof add>) => {
      listeners += 1;
      add(...given);
    };
    signal.removeEventListener = (...given: Parameters<typeof remove>) => {
      listeners -= 1;
      remove(...given);
    };
    const bash = createBash(nowhere, new ProcessGroups());
    const exitListeners = process.listenerCount('exit');
    for (let index = 0; index < 5; index += 1) await call(bash, {command: 'true'}, {signal});
    expect(listeners).toBe(0);
    expect(process.listenerCount('exit')).toBe(exitListeners);
  });
});

describe('background processes', () => {
  test.each(['sleep 60 &', 'sleep 60 >/dev/null 2>&1 &', 'nohup sleep 60 &'])(
    '%s does not hold the call',
    async (command) => {
      const {call} = fixture();
      const start = performance.now();
      const {text} = await call(newBash(), {command: `${command} echo $!`});
      expect(performance.now() - start).toBeLessThan(1500);
      const pid = Number(text.split('\n').at(-1));
      expect(isRunning(pid)).toBe(true);
      process.kill(pid, 'SIGKILL');
    },
  );

  test('whose output goes elsewhere do not slow the call down', async () => {
    const {call} = fixture();
    const times: number[] = [];
    for (let index = 0; index < 5; index += 1) {
      const start = performance.now();
      const {text} = await call(newBash(), {command: 'sleep 60 >/dev/null 2>&1 & echo $!'});
      times.push(performance.now() - start);
      process.kill(Number(text), 'SIGKILL');
    }
    expect(Math.min(...times)).toBeLessThan(100);
  });

  test('go on after the call, also when they print', async () => {
    const {call, root} = fixture();
    await call(newBash(), {command: '(sleep 0.4; echo late; echo late; touch done) &'});
    await until(() => existsSync(join(root, 'done')));
  });

  test('end with the run that left them', async () => {
    const {call} = fixture();
    const run = new AbortController();
    const {text} = await call(newBash(), {command: 'sleep 60 & echo $!'}, {signal: run.signal});
    run.abort();
    await until(() => !isRunning(Number(text)), 1000);
  });

  test('and commands under way end when mini-cc exits', async () => {
    const {root} = fixture();
    const program = `
      import {runShell, shellArguments} from ${JSON.stringify(resolve('src/tools/run-shell.ts'))};
      import {ProcessGroups} from ${JSON.stringify(resolve('src/tools/process-groups.ts'))};
      const processes = new ProcessGroups();
      const run = (command) => runShell({file: 'bash', args: shellArguments(command).slice(1), cwd: process.cwd(),
        env: process.env, timeoutMs: 60000, signal: new AbortController().signal, processes, onText() {}});
      await run("sleep 60 >/dev/null 2>&1 & echo $! > a");
      run("trap '' TERM; echo $$ > b; setsid sleep 60 & echo $! > c; sleep 60");
      setTimeout(() => process.exit(0), 500);
    `;
    const child = spawn(
      process.execPath,
      ['--experimental-transform-types', '--no-warnings', '--input-type=module', '-e', program],
      {cwd: root, stdio: 'inherit'},
    );
    await new Promise((done) => child.once('exit', done));
    const pids = ['a', 'b', 'c'].map((file) => Number(readFileSync(join(root, file), 'utf8')));
    expect(pids.every((pid) => pid > 1)).toBe(true);
    await until(() => !pids.some(isRunning), 1000);
  });
});

describe('input', () => {
  test.each([{background: true}, {unconfined: true}, {background: 'true'}])(
    '%j is refused, and nothing runs',
    async (more) => {
      const {call, root} = fixture();
      const {text, isError} = await call(newBash(), {command: 'touch ran', ...more});
      expect(text).toContain(`${Object.keys(more)[0]} is not yet available`);
      expect(isError).toBe(true);
      expect(existsSync(join(root, 'ran'))).toBe(false);
    },
  );

  test('false for what is not yet available runs as usual', async () => {
    const {call} = fixture();
    expect((await call(newBash(), {command: 'echo a', background: false})).text).toBe('a');
  });

  test('a time limit over an hour is refused by the schema', () => {
    expect(newBash().input.safeParse({command: 'a', timeout_seconds: 3601}).success).toBe(false);
  });

  test('the title is the first line, cut to 80 characters', () => {
    const bash = newBash();
    expect(bash.title({command: 'ls -la'})).toBe('ls -la');
    expect(bash.title({command: 'a\nb'})).toBe('a …');
    expect(bash.title({command: 'x'.repeat(100)})).toBe(`${'x'.repeat(79)}…`);
  });

  test('the access is the whole command', () => {
    const {workspace} = fixture();
    expect(newBash().access({command: 'a\nb'}, workspace)).toEqual([{kind: 'run', command: 'a\nb'}]);
  });
});

test('a call costs little beside the process itself', async () => {
  const {call, root, workspace} = fixture();
  const bash = newBash();
  const median = async (once: () => Promise<unknown>) => {
    const times: number[] = [];
    for (let index = 0; index < 21; index += 1) {
      const start = performance.now();
      await once();
      times.push(performance.now() - start);
    }
    return times.sort((a, b) => a - b)[10] as number;
  };
  const bare = await median(
    () => new Promise((done) => spawn('bash', ['-c', 'true'], {cwd: root, env: workspace.env}).once('exit', done)),
  );
  const ours = await median(() => call(bash, {command: 'true'}));
  expect(ours - bare).toBeLessThan(40);
  if (process.env.MINI_CC_FIGURES) console.log(`bash true: ${ours.toFixed(2)} ms, bare ${bare.toFixed(2)} ms`);
});
