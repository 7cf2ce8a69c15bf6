import {mkdtempSync, readdirSync, realpathSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {beforeEach, describe, expect, it, onTestFinished, vi} from 'vitest';
import {runProgram} from '../../../src/core/util/processes.ts';
import {CommandStarter} from '../../../src/sandbox/launch/command-starter.ts';
import {ProcessGroups} from '../../../src/sandbox/launch/process-groups.ts';
import {getShellArguments, runShell, type ShellRun} from '../../../src/sandbox/launch/run-shell.ts';
import {settle} from '../../support/wait.ts';

const processes = new ProcessGroups();
let folder: string;
let starter: CommandStarter;

async function run(command: string, more: Partial<ShellRun> = {}) {
  let output = '';
  const [file = '', ...args] = getShellArguments(command);
  const end = await runShell({
    file,
    args,
    cwd: '/',
    env: {PATH: process.env.PATH ?? ''},
    timeoutMs: undefined,
    signal: new AbortController().signal,
    processes,
    starter,
    onText: (text) => {
      output += text;
    },
    ...more,
  });
  return {...end, output};
}

const listDescriptors = () => readdirSync('/proc/self/fd').length;

describe.runIf(process.platform === 'linux')('the pipe for the output of a command', () => {
  beforeEach(() => {
    folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'mini-cc-pipes-')));
    onTestFinished(() => rmSync(folder, {recursive: true, force: true}));
    starter = new CommandStarter(processes.helper, {getFile: (name) => path.join(folder, name)});
  });

  it('is a pipe, for standard output and standard error alike', async () => {
    const {output} = await run('[ -p /dev/stdout ] && [ /dev/stdout -ef /dev/stderr ] && echo one pipe');
    expect(output).toBe('one pipe\n');
  });

  it('is not watched any more once the exit of the command is known', async () => {
    const started = vi.spyOn(globalThis, 'setTimeout');
    const cleared = vi.spyOn(globalThis, 'clearTimeout');
    onTestFinished(() => void vi.restoreAllMocks());
    await run('exit 3');
    await settle();
    const watches = started.mock.results.filter((_, index) => started.mock.calls[index]?.[1] === 500);
    const ended = cleared.mock.calls.map(([timer]) => timer);
    expect(watches.filter(({value}) => !ended.includes(value))).toEqual([]);
  });

  it('is of one command alone, also where more run at once than pipes are made at once', async () => {
    const many = await Promise.all(
      Array.from({length: 40}, (_, n) => run(`sleep 0.0$((RANDOM % 9)); echo ${n}; exit ${n}`)),
    );
    expect(many.map(({output, exitCode}) => [output, exitCode])).toEqual(many.map((_, n) => [`${n}\n`, n]));
  });

  it('is made beside those of another launcher of the session', async () => {
    const other = new CommandStarter(processes.helper, {getFile: (name) => path.join(folder, name)});
    const outputs = [await run('echo a'), await run('echo b', {starter: other})].map(({output}) => output);
    expect(outputs).toEqual(['a\n', 'b\n']);
  });

  it('has no name any more once the command runs, nor has the one for what it reports', async () => {
    await run('true');
    const before = readdirSync(path.join(folder, 'pipes')).length;
    await run('true');
    expect(readdirSync(path.join(folder, 'pipes'))).toHaveLength(before - 2);
  });

  it('is made anew when a cleaner of temporary files has removed the ones made ahead', async () => {
    await run('true');
    rmSync(folder, {recursive: true});
    expect((await run('echo on')).output).toBe('on\n');
  });

  it('says what to do where mini-cc has no descriptors left', async () => {
    const program = `
      import {openSync} from 'node:fs';
      import {HelperShell} from ${JSON.stringify(path.resolve('src/sandbox/launch/helper-shell.ts'))};
      import {NamedPipes} from ${JSON.stringify(path.resolve('src/sandbox/launch/named-pipes.ts'))};
      const pipes = new NamedPipes({getFile: () => ${JSON.stringify(path.join(folder, 'pipes'))}}, new HelperShell());
      await pipes.take(1);
      try { for (;;) openSync('/dev/null') } catch {}
      process.stdout.write(await pipes.take(1).catch((error) => error.message));
    `;
    const node = ['--experimental-transform-types', '--no-warnings', '--input-type=module', '-e', program];
    const limited = await runProgram('bash', ['-c', 'ulimit -n 100; exec "$@"', 'bash', process.execPath, ...node]);
    expect(limited.stderr).toBe('');
    expect(limited.stdout.toString()).toContain('no file descriptors left (start it with a higher limit');
  });

  it('is closed when the program cannot be started', async () => {
    await run('true');
    const before = listDescriptors();
    for (let tries = 0; tries < 3; tries += 1) {
      await expect(run('true', {file: 'no-such-program'})).rejects.toThrow('Could not start no-such-program');
      await expect(run('echo a\0b')).rejects.toThrow('null bytes');
    }
    await expect.poll(listDescriptors).toBeLessThanOrEqual(before);
  });
});
