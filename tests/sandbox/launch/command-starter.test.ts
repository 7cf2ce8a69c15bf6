/** The same commands, started by Node and by the helper shell. */
import {mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {afterAll, afterEach, beforeAll, beforeEach, describe, expect, it} from 'vitest';
import {CommandStarter} from '../../../src/sandbox/launch/command-starter.ts';
import {listProcesses, ProcessGroups, withMark} from '../../../src/sandbox/launch/process-groups.ts';
import {getShellArguments, runShell, type ShellRun} from '../../../src/sandbox/launch/run-shell.ts';
import {SessionFolder} from '../../../src/sandbox/view/session-folder.ts';

const base = realpathSync(mkdtempSync(path.join(tmpdir(), 'mini-cc-starter-')));
const odd = path.join(base, "it's a\n\\folder $HOME é");
let processes: ProcessGroups;
let folder: SessionFolder;
let starter: CommandStarter;
const ENV = {
  PATH: process.env.PATH ?? '',
  HOME: '/nowhere',
  PWD: '/elsewhere',
  OLDPWD: '/before',
  SHLVL: '3',
  LANG: 'C.UTF-8',
  QUOTED: `'a' "b" \\ $x \`y\``,
  LINES_IN: 'a\nb\n',
  EMPTY: '',
  name: 'n',
  file: 'f',
  PS4: '$(touch owned)',
};

/** @param by undefined: Node starts it, with a pipe for its output all the same */
async function run(command: string, by: CommandStarter | undefined, more: Partial<ShellRun> = {}) {
  let output = '';
  const [file = '', ...args] = getShellArguments(command);
  const end = await runShell({
    file,
    args,
    cwd: odd,
    env: ENV,
    timeoutMs: undefined,
    signal: new AbortController().signal,
    processes,
    starter: by ?? {pipes: starter.pipes, start: async () => undefined},
    onText: (text) => {
      output += text;
    },
    ...more,
  });
  return {...end, output};
}

describe.runIf(process.platform === 'linux')('a command that the helper shell starts', () => {
  beforeAll(() => void mkdirSync(odd));
  afterAll(() => rmSync(base, {recursive: true, force: true}));
  beforeEach(() => {
    folder = new SessionFolder('/nonexistent');
    processes = new ProcessGroups();
    starter = new CommandStarter(processes.helper, folder);
  });
  afterEach(() => folder.close());

  it.each([
    ['environment', 'env -0 | grep -zv ^MINI_CC_COMMAND= | sort -z | tr "\\0" "\\n"'],
    [
      'variables that are its own',
      'set | grep -vE "^(BASHPID|EPOCH|PPID|RANDOM|SECONDS|SRANDOM|_|BASH_ARG|MINI_CC_COMMAND)"',
    ],
    ['options', 'echo $- $SHELLOPTS $BASHOPTS; shopt; umask; ulimit -a'],
    ['folder', 'pwd; pwd -P; cd /tmp; cd -'],
    ['open files', 'cd /proc/self/fd; for each in *; do echo $each; done; [ -p /dev/fd/9 ] || cat; cd /'],
    ['process group', '[ $(ps -o pgid= -p $$) = $$ ] && echo leader; jobs; trap'],
    ['signals', "grep -E '^Sig(Blk|Ign|Cgt)' /proc/self/status"],
    ['arguments', `printf '<%s>\\n' "$0" "$@" 'it'"'"'s' "\\\\" '日本'; echo $BASH_EXECUTION_STRING`],
    ['exit code', 'echo a; echo b >&2; exit 3'],
    ['exit code above 128', 'exit 137'],
    ['exit code of a trap', 'trap "exit 5" EXIT; exit 130'],
    ['death by a signal', 'echo before; kill -9 $$'],
    ['death by SIGTERM', 'kill $$'],
    ['pause', '(sleep 0.2; kill -CONT $$) & kill -STOP $$; echo after'],
    ['long output', 'head -c 3000000 /dev/zero | tr "\\0" x | cksum; seq 100000'],
    ['syntax error', 'if then'],
  ])('has the same %s as one that Node starts', async (_, command) => {
    expect(await run(command, starter)).toEqual(await run(command, undefined));
  });

  it('reads its input from descriptor 4', async () => {
    const input = Buffer.from([0, 1, 255, 10]);
    const both = [starter, undefined].map((by) => run('od -c <&4; echo $PPID', by, {input}));
    const [byShell, byNode] = await Promise.all(both);
    expect(byShell!.output.split('\n').slice(0, -2)).toEqual(byNode!.output.split('\n').slice(0, -2));
    expect(byShell!.output).not.toContain(`\n${process.pid}\n`);
  });

  it('says as Node why it cannot be started', async () => {
    const failures = [starter, undefined].flatMap((by) => [
      run('true', by, {cwd: path.join(base, 'missing')}),
      run('true', by, {file: 'no-such-program'}),
      run(`: ${'x'.repeat(3_000_000)}`, by),
    ]);
    const texts = (await Promise.allSettled(failures)).map((each) => String((each as PromiseRejectedResult).reason));
    expect(texts.slice(0, 3)).toEqual(texts.slice(3));
    expect(texts.join()).not.toContain('undefined');
  });

  it('is refused as by Node where it has a NUL, which bash would leave out', async () => {
    await expect(run('echo a\0b', starter)).rejects.toThrow('null bytes');
  });

  it('is not started by Node when it was ended before the shell had started it', async () => {
    const ended = run('true', starter, {file: 'no-such-program', signal: AbortSignal.abort()});
    await expect(ended).resolves.toMatchObject({ended: 'abort'});
  });

  it('ends whole at an abort and at its time limit', async () => {
    for (const more of [{signal: AbortSignal.timeout(300)}, {timeoutMs: 300}]) {
      const {output, ended} = await run('sleep 100 & echo $$ $!; trap "" TERM; sleep 100', starter, more);
      expect(ended).toBe('signal' in more ? 'abort' : 'timeout');
      const running = listProcesses().flatMap(({pid, isRunning}) => (isRunning ? pid : []));
      expect(
        output
          .trim()
          .split(' ')
          .filter((pid) => running.includes(Number(pid))),
      ).toEqual([]);
    }
  });

  it('gets no output of others that run at the same time', async () => {
    const many = await Promise.all(
      Array.from({length: 40}, (_, n) => run(`sleep 0.0$((RANDOM % 9)); echo ${n}; exit ${n}`, starter)),
    );
    expect(many.map(({output, exitCode}) => [output, exitCode])).toEqual(many.map((_, n) => [`${n}\n`, n]));
  });

  it('is not started there where a variable of its environment could not be passed on', async () => {
    for (const name of ['BASH_ENV', 'BASH_FUNC_x%%', 'a.b', 'SHELLOPTS', 'UID', 'POSIXLY_CORRECT']) {
      const {output} = await run('echo $PPID', starter, {env: {...ENV, [name]: ''}});
      expect([name, output.trim()]).toEqual([name, String(process.pid)]);
    }
  });

  it('gets its own arguments and input where another launcher uses the same folder at the same time', async () => {
    const others = new ProcessGroups();
    const other = new CommandStarter(others.helper, folder);
    const ends = await Promise.all(
      ['a', 'b', 'c', 'd'].flatMap((word) => [
        run(`echo ${word}; cat <&4`, starter, {input: Buffer.from('one')}),
        run(`echo ${word}${word}; cat <&4`, other, {input: Buffer.from('two'), processes: others}),
      ]),
    );
    const expected = ['a', 'b', 'c', 'd'].flatMap((word) => [`${word}\none`, `${word}${word}\ntwo`]);
    expect(ends.map(({output}) => output)).toEqual(expected);
  });

  it('leaves no files of its start behind', async () => {
    await run('true', starter);
    expect(readdirSync(folder.getFile('starts')).filter((name) => name.includes('-start-'))).toEqual([]);
  });

  it('is started by Node where a cleaner of temporary files removed what the shell needs', async () => {
    await run('true', starter);
    rmSync(folder.path, {recursive: true});
    expect((await run('echo on', starter)).output).toBe('on\n');
  });

  it('ends with its own exit code although it killed its parent, which waits for it', async () => {
    const runs = Array.from({length: 20}, () => run('kill -KILL $PPID; echo on; sleep 0.7; (exit 3)', starter));
    const ends = (await Promise.all(runs)).map(({output, exitCode}) => [output, exitCode]);
    expect(ends).toEqual(runs.map(() => ['on\n', 3]));
    expect((await run('kill -KILL $PPID; kill -KILL $$', starter)).killedBy).toBe('SIGKILL');
  });

  it('ends with the helper shell also before its group was named', async () => {
    const started = Array.from({length: 10}, async () => {
      const args = ['-c', "trap '' TERM; sleep 100"];
      return (await starter.start({file: 'bash', args, cwd: odd, env: withMark(ENV)}, false))!.pid;
    });
    const pids = await Promise.all(started);
    const count = () => listProcesses().filter(({group, isRunning}) => isRunning && pids.includes(group)).length;
    expect(count()).toBeGreaterThanOrEqual(pids.length);
    processes.helper.close();
    await expect.poll(count).toBe(0);
  });

  it('whose shell was killed ends, and Node starts the next one', async () => {
    const shell = await findShell();
    let output = '';
    const running = run('echo $$; sleep 100', starter, {
      onText(text) {
        output += text;
      },
    });
    await expect.poll(() => output).not.toBe('');
    process.kill(-shell, 'SIGKILL');
    const {killedBy} = await running;
    expect(killedBy).toBe('SIGKILL');
    expect(listProcesses().some(({pid, isRunning}) => isRunning && pid === Number(output))).toBe(false);
    expect((await run('echo $PPID', starter)).output.trim()).toBe(String(process.pid));
  });
});

/** A fork of the helper shell waits for each command. */
async function findShell(): Promise<number> {
  return Number((await run('ps -o ppid= -p $PPID', starter)).output);
}
