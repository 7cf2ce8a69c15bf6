import {spawn} from 'node:child_process';
import {existsSync, readFileSync} from 'node:fs';
import {join, resolve} from 'node:path';
import {describe, expect, test} from 'vitest';
import type {Tool} from '../../../src/core/contract/tool.ts';
import {RunAborted} from '../../../src/core/turn/run-ending.ts';
import {ProcessGroups} from '../../../src/sandbox/launch/process-groups.ts';
import {getShellArguments} from '../../../src/sandbox/launch/run-shell.ts';
import type {BashInput} from '../../../src/tools/bash/bash.ts';
import {stopTimers} from '../../support/fake-time.ts';
import {until} from '../../support/wait.ts';
import {fixture, isRunning} from '../fixture.ts';
import {createPlainBash} from './plain-bash.ts';

const processes = new ProcessGroups();
let bash: Tool<BashInput> | undefined;
const newBash = () => {
  bash ??= createPlainBash(processes);
  return bash;
};

/** Runs a command that writes process ids to the file `pids`, aborts it then, and returns result and ids. */
async function cutOff(command: string, ids: number, reason?: unknown) {
  const {call, root} = fixture();
  const abort = new AbortController();
  const running = call(newBash(), {command}, {signal: abort.signal});
  const file = join(root, 'pids');
  await until(() => existsSync(file) && readFileSync(file, 'utf8').trim().split('\n').length === ids);
  const pids = readFileSync(file, 'utf8').trim().split('\n').map(Number);
  expect(pids.every(isRunning)).toBe(true);
  abort.abort(reason ?? new RunAborted('user'));
  return {result: await running, pids};
}

describe('ending', () => {
  test('a time limit ends the command and returns what it had printed', async () => {
    const {call} = fixture();
    const {text, isError} = await call(newBash(), {command: 'echo before; sleep 600', timeout_seconds: 0.3});
    expect(text).toBe('before\ntimed out after 0.3 s');
    expect(isError).toBe(true);
  });

  test('an abort ends a whole tree that ignores SIGTERM', async () => {
    const tree = `trap '' TERM; sleep 600 & echo $! > p; sleep 600 >/dev/null 2>&1 & echo $! >> p; echo $$ >> p; echo partial; mv p pids; wait`;
    const {result, pids} = await cutOff(tree, 3);
    expect(result).toMatchObject({text: 'partial\ninterrupted', isError: true});
    expect(pids.filter(isRunning)).toEqual([]);
  });

  test('an abort ends a child that ignores SIGTERM after its shell has died of it', async () => {
    const tree = `(trap '' TERM; exec sleep 600) >/dev/null 2>&1 & echo $! > p; mv p pids; sleep 600`;
    const {pids} = await cutOff(tree, 1);
    expect(pids.filter(isRunning)).toEqual([]);
  });

  test('an abort ends children that left the process group', async () => {
    const {pids} = await cutOff('setsid sleep 600 & echo $! > p; mv p pids; sleep 600', 1);
    expect(pids.filter(isRunning)).toEqual([]);
  });

  test('an abort lets a command that obeys SIGTERM clean up', async () => {
    const {result} = await cutOff(`trap 'echo cleaned; exit 0' TERM; echo $$ > p; mv p pids; sleep 600 & wait`, 1);
    expect(result.text).toBe('cleaned\ninterrupted');
  });

  test('a limit of the run is named', async () => {
    const {result} = await cutOff(
      'echo $$ > p; mv p pids; sleep 600',
      1,
      new RunAborted('timeout', 'timed out after 300 s'),
    );
    expect(result.text).toBe('interrupted (timed out after 300 s)');
  });

  test('nothing runs when the call was aborted before', async () => {
    const {call, root} = fixture();
    const {text, isError} = await call(newBash(), {command: 'touch ran'}, {signal: AbortSignal.abort()});
    expect({text, isError}).toEqual({text: 'interrupted before it began. Nothing was run.', isError: true});
    expect(existsSync(join(root, 'ran'))).toBe(false);
  });

  test('the call removes its listeners from the signal', async () => {
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
    const bash = createPlainBash(new ProcessGroups());
    // The session's folder listens as long as the session lasts.
    await call(bash, {command: 'true'});
    const exitListeners = process.listenerCount('exit');
    for (let index = 0; index < 5; index += 1) await call(bash, {command: 'true'}, {signal});
    expect(listeners).toBe(0);
    expect(process.listenerCount('exit')).toBe(exitListeners);
  });
});

describe('background processes', () => {
  test.each(['sleep 600 &', 'sleep 600 >/dev/null 2>&1 &', 'nohup sleep 600 &'])(
    '%s does not delay the call',
    async (command) => {
      const {call} = fixture();
      const {text} = await call(newBash(), {command: `${command} echo $!`});
      const pid = Number(text.split('\n').at(-1));
      expect(isRunning(pid)).toBe(true);
      process.kill(pid, 'SIGKILL');
    },
  );

  test('with redirected output do not slow the call down', async () => {
    const {call} = fixture();
    // A pipe that stays open is waited for by a timer.
    stopTimers();
    const {text} = await call(newBash(), {command: 'sleep 600 >/dev/null 2>&1 & echo $!'});
    process.kill(Number(text), 'SIGKILL');
  });

  test('run on after the call, also when they print', async () => {
    const {call, root} = fixture();
    await call(newBash(), {command: '(sleep 0.4; echo late; echo late; touch done) &'});
    await until(() => existsSync(join(root, 'done')));
  });

  test('end with the run that left them', async () => {
    const {call} = fixture();
    const run = new AbortController();
    const {text} = await call(newBash(), {command: 'sleep 600 & echo $!'}, {signal: run.signal});
    run.abort();
    await until(() => !isRunning(Number(text)), 'the end of the process');
  });

  test('of the main agent go on when a later call of the same turn is interrupted', async () => {
    const {call, root} = fixture();
    const turn = new AbortController();
    const more = {signal: turn.signal, outlivesTurn: true};
    const bash = newBash();
    const {text} = await call(bash, {command: 'sleep 600 & echo $!'}, more);
    const later = call(bash, {command: 'echo $$ >&2; touch begun; sleep 600'}, more);
    await until(() => existsSync(join(root, 'begun')), 'the later call');
    turn.abort(new RunAborted('user'));
    const interrupted = Number((await later).text.split('\n')[0]);
    expect(isRunning(interrupted)).toBe(false);
    expect(isRunning(Number(text))).toBe(true);
    process.kill(Number(text), 'SIGKILL');
  });

  test.each([
    ['exits', 'process.exit(0)', ['a', 'b', 'c']],
    // What left the session of the command is not found then.
    ['is killed', "process.kill(process.pid, 'SIGKILL')", ['a', 'b']],
  ])('and running commands end when mini-cc %s', async (_, end, files) => {
    const {root} = fixture();
    const program = `
      import {existsSync, readFileSync} from 'node:fs';
      import {runShell, getShellArguments} from ${JSON.stringify(resolve('src/sandbox/launch/run-shell.ts'))};
      import {CommandStarter} from ${JSON.stringify(resolve('src/sandbox/launch/command-starter.ts'))};
      import {ProcessGroups} from ${JSON.stringify(resolve('src/sandbox/launch/process-groups.ts'))};
      import {SessionFolder} from ${JSON.stringify(resolve('src/sandbox/view/session-folder.ts'))};
      const processes = new ProcessGroups();
      const starter =
        process.platform === 'linux' ? new CommandStarter(processes.helper, new SessionFolder('/nonexistent')) : undefined;
      const run = (command) => runShell({file: 'bash', args: getShellArguments(command).slice(1), cwd: process.cwd(), env: {...process.env},
        timeoutMs: 60000, signal: new AbortController().signal, processes, starter, onText: () => undefined});
      await run("sleep 600 >/dev/null 2>&1 & echo $! > a");
      run("trap '' TERM; echo $$ > b; setsid sleep 600 & echo $! > c; sleep 600");
      setInterval(() => existsSync('c') && readFileSync('c', 'utf8').endsWith('\\n') && ${end}, 10);
    `;
    const child = spawn(
      process.execPath,
      ['--experimental-transform-types', '--no-warnings', '--input-type=module', '-e', program],
      {cwd: root, stdio: 'inherit'},
    );
    await new Promise((done) => child.once('exit', done));
    const pids = files.map((file) => Number(readFileSync(join(root, file), 'utf8')));
    expect(pids.every((pid) => pid > 1)).toBe(true);
    await until(() => !pids.some(isRunning), 'the end of the processes');
    const left = Number(readFileSync(join(root, 'c'), 'utf8'));
    if (isRunning(left)) process.kill(left, 'SIGKILL');
  });

  test('a command does not begin when mini-cc was killed before', async () => {
    const {root} = fixture();
    // The reader of the cwd's pipe ends first, as it does when mini-cc is killed.
    const script = '{ while (echo) 2>/dev/null; do :; done; exec "$@" 3>&1 >/dev/null; } | true';
    const child = spawn('bash', ['-c', script, 'bash', ...getShellArguments('echo begun > begun')], {cwd: root});
    await new Promise((resolve) => child.once('exit', resolve));
    expect(existsSync(join(root, 'begun'))).toBe(false);
  });
});
