import {spawn, spawnSync} from 'node:child_process';
import {appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, statSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test, vi} from 'vitest';
import type {Tool} from '../../../src/core/contract/tool.ts';
import {ProcessGroups} from '../../../src/sandbox/launch/process-groups.ts';
import {getShellArguments} from '../../../src/sandbox/launch/run-shell.ts';
import type {BashInput} from '../../../src/tools/bash/bash.ts';
import {stopTimers} from '../../support/fake-time.ts';
import {fixture} from '../fixture.ts';
import {createPlainBash} from './plain-bash.ts';

const processes = new ProcessGroups();
let bash: Tool<BashInput> | undefined;
const newBash = () => {
  bash ??= createPlainBash(processes);
  return bash;
};

describe('output', () => {
  test('has standard output and standard error in the order in which they were written', async () => {
    const {call} = fixture();
    const {text, isError, facts} = await call(newBash(), {command: 'echo a; echo b >&2; echo c; echo d >&2'});
    expect(text).toBe('a\nb\nc\nd');
    expect(isError).toBeUndefined();
    expect(facts).toEqual({exitCode: 0});
  });

  test('of nothing is reported as (no output)', async () => {
    const {call} = fixture();
    expect((await call(newBash(), {command: 'true'})).text).toBe('(no output)');
  });

  test('has no escape sequences and NULs, also when a chunk ends inside a sequence', async () => {
    const {call} = fixture();
    const command = String.raw`printf '\033[1;3'; sleep 0.05; printf '1mred\033[0m \033]0;a title\007x\0y\n'`;
    expect((await call(newBash(), {command})).text).toBe('red xy');
  });

  test('has whole characters, also when a chunk ends inside one', async () => {
    const {call} = fixture();
    const command = String.raw`printf '\xe6\x97'; sleep 0.05; printf '\xa5\xf0\x9f'; sleep 0.05; printf '\x98\x80'`;
    expect((await call(newBash(), {command})).text).toBe('日😀');
  });

  test('longer than 30,000 characters is cut to head and tail, with a line that says how much is cut and names a file with all', async () => {
    const {call} = fixture();
    const {text} = await call(newBash(), {command: 'seq 1 20000'});
    expect(text.startsWith('1\n2\n3\n')).toBe(true);
    expect(text.endsWith('\n19999\n20000')).toBe(true);
    const [, cut, path] = /\[\.\.\. ([\d,]+) characters cut; the whole output: (\S+) \.\.\.\]/.exec(text) ?? [];
    expect(cut).toBe('78,894');
    const whole = Array.from({length: 20_000}, (_, index) => `${index + 1}\n`).join('');
    expect(readFileSync(path as string, 'utf8')).toBe(whole);
  });

  test('of up to 30,000 characters is complete, without a file', async () => {
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

  test('of a command that goes to the background is whole in the file of the call, which then has no limit of time', async () => {
    const {call, root} = fixture();
    let path = '';
    const output = {open: (id: string) => opened(join(root, id))};
    const opened = (file: string) => {
      path = file;
      return {path, write: (text: string) => appendFileSync(file, text), close: () => undefined};
    };
    let send = (): void => undefined;
    const onBackground = (listener: () => void) => {
      send = listener;
    };
    const emit = (event: {type: string}) => event.type === 'tool_progress' && send();
    const command = 'echo one; until [ -s call-1 ]; do sleep 0.01; done; echo two';
    const {text} = await call(newBash(), {command}, {output, onBackground, emit});
    expect([text, readFileSync(path, 'utf8')]).toEqual(['one\ntwo', 'one\ntwo\n']);
    const lifted = await call(
      newBash(),
      {command: 'sleep 0.3; echo done', timeout_seconds: 0.1},
      {onBackground: (go) => go()},
    );
    expect(lifted.text).toBe('done');
  });

  test('of hundreds of megabytes takes limited memory and disk space', async () => {
    const {call} = fixture();
    const before = process.memoryUsage().heapUsed;
    const {text} = await call(newBash(), {command: 'yes 0123456789 | head -c 300000000; echo END'});
    expect(text.endsWith('END')).toBe(true);
    const [, path] = /whole output: (\S+) \(only its first 64 MB\)/.exec(text) ?? [];
    expect(statSync(path as string).size).toBe(64 * 1024 * 1024);
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(100_000_000);
  });

  test('that cannot be written to disk does not end the command', async () => {
    const {call} = fixture();
    const write = () => {
      throw new Error('ENOSPC: no space left on device');
    };
    const output = {open: () => ({path: '/full/disk', write, close: () => undefined})};
    const {text} = await call(newBash(), {command: 'seq 1 20000'}, {output});
    expect(text).toContain('/full/disk (incomplete: ENOSPC: no space left on device)');
    expect(text.endsWith('20000')).toBe(true);
  });

  test('is published while the command runs: its last lines, at most ten times a second', async () => {
    const {call, events} = fixture();
    const began = performance.now();
    await call(newBash(), {command: 'for i in $(seq 1 40); do echo line $i; sleep 0.01; done'});
    const ms = performance.now() - began;
    const published = events.filter((event) => event.type === 'tool_progress');
    expect(published.length).toBeGreaterThan(1);
    // A timer may come a little early.
    expect(published.length).toBeLessThanOrEqual(ms / 95);
    expect(published.at(-1)?.text).toMatch(/^line \d+\nline \d+\nline \d+$/);
    expect(published[0]).toMatchObject({callId: 'call-1'});
  });

  test.each([
    [String.raw`printf 'a\n 10%%\r 50%%\r100%%\n'`, 'a\n100%'],
    [String.raw`printf 'downloading\r\033[Kdone\n'`, 'done'],
    [String.raw`printf 'long text\rlo'`, 'long text'],
    [String.raw`printf 'one\ntwo\nthree\n\033[3A\033[2K1\n\033[2K2\n'`, '1\n2\nthree'],
    [String.raw`printf 'a\033[31mb\033[0mc\033]0;a title\007\bd'`, 'abd'],
    ["printf 'x%.0s' $(seq 1 500)", `${'x'.repeat(199)}…`],
    [String.raw`yes | head -n 100000; printf 'last\n'`, 'y\ny\nlast'],
  ])('published of %s is what a terminal would show', async (command, shown) => {
    const {call, events} = fixture();
    await call(newBash(), {command: `${command}; sleep 0.25`});
    expect(events.at(-1)).toEqual({type: 'tool_progress', callId: 'call-1', text: shown});
  });

  test('of a command that ends at once is not published as progress', async () => {
    stopTimers();
    const {call, events} = fixture();
    await call(newBash(), {command: 'echo hi'});
    await vi.advanceTimersByTimeAsync(1_000);
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

  test.each([
    ['true\necho "a', 2, 'bash: eval: line 2: unexpected EOF while looking for matching `"\''],
    ['echo ${a', 2, "bash: eval: line 1: unexpected EOF while looking for matching `}'"],
    ['echo $(echo', 2, "bash: eval: line 2: unexpected EOF while looking for matching `)'"],
    ['for x in 1; do', 2, 'bash: eval: line 2: syntax error: unexpected end of file'],
    ['echo a \\', 0, 'a \\'],
    ['echo a\\\n', 0, 'a'],
    ['true\nnosuchprogram', 127, 'bash: line 2: nosuchprogram: command not found'],
    [
      'true\ncat <<EOF\nfoo',
      0,
      "bash: line 3: warning: here-document at line 2 delimited by end-of-file (wanted `EOF')\nfoo",
    ],
    ['set -v\necho a', 0, 'echo a\na'],
    ['declare -p BASH_EXECUTION_STRING', 0, 'declare -- BASH_EXECUTION_STRING="declare -p BASH_EXECUTION_STRING"'],
    ['exec nosuchprogram', 127, 'bash: line 1: exec: nosuchprogram: not found'],
    ['pwd() { echo no; }; set() { echo no; }; exit() { echo no; }; printf() { echo no; }; false', 1, ''],
  ])('of %j is as in bash, with nothing of how mini-cc starts it', async (command, exitCode, text) => {
    const {call} = fixture();
    const result = await call(newBash(), {command});
    const shown = [text, ...(exitCode === 0 ? [] : [`exit code ${exitCode}`])].filter((line) => line !== '');
    expect({text: result.text, facts: result.facts}).toEqual({text: shown.join('\n'), facts: {exitCode}});
  });

  test('of a shell that was killed by a signal names the signal', async () => {
    const {call} = fixture();
    const {text, facts, isError} = await call(newBash(), {command: 'echo a; kill -KILL $$'});
    expect(text).toBe('a\nended by SIGKILL (exit code 137)');
    expect({facts, isError}).toEqual({facts: {exitCode: 137}, isError: true});
  });
});

describe('the shell', () => {
  test('sees no arguments, no standard input, and only the environment of the workspace', async () => {
    const {call} = fixture();
    vi.stubEnv('MINI_CC_TEST_SECRET', 'leaked');
    onTestFinished(() => void vi.unstubAllEnvs());
    const {text} = await call(newBash(), {command: 'echo "$#:$1"; cat; env | grep -c SECRET; echo "$HOME"'});
    expect(text).toMatch(/^0:\n0\n.*\/home$/);
  });

  test('accepts here-documents, comments at the end and tracing', async () => {
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

  test('works with few file descriptors', async () => {
    const {call, root, workspace} = fixture();
    const limited = await call(newBash(), {
      command: 'ulimit -n 12; mkdir -p sub; cd sub; echo a >/dev/null; cat <(echo b)',
    });
    expect(limited.text).toBe('b');
    expect(workspace.cwd).toBe(join(root, 'sub'));
    const script = 'ulimit -n 32; exec "$@" 3>&1';
    const {stdout} = spawnSync('bash', ['-c', script, 'bash', ...getShellArguments('echo a; cd /')], {
      encoding: 'utf8',
    });
    expect(stdout).toBe(' a\n/\n\0/\n\0=0\0');
  });

  test('can be written by name, in the first command of a session and in the third', async () => {
    const bash = createPlainBash(processes);
    for (const file of ['/dev/stdout', '/dev/stderr', '/dev/fd/1', '/proc/self/fd/2']) {
      const {call} = fixture();
      const {text} = await call(bash, {command: `echo before; echo x > ${file}; echo after`});
      expect([file, text]).toEqual([file, 'before\nx\nafter']);
    }
  });

  test('runs without a pipe while no folder can be made for it', async () => {
    const bash = createPlainBash(processes);
    const {call} = fixture();
    const {text: folder} = await call(bash, {command: 'd=$(dirname "$TMPDIR"); rm -r "$d"; touch "$d"; echo "$d"'});
    expect((await call(bash, {command: 'echo run all the same'})).text).toBe('run all the same');
    rmSync(folder, {recursive: true, force: true});
    expect((await call(bash, {command: 'echo run'})).text).toBe('run');
  });

  test('refuses a command that is too long for the system', async () => {
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

  test('does not change with a subshell', async () => {
    const {call, root, workspace} = fixture();
    await call(newBash(), {command: '(cd /); exec echo done'});
    expect(workspace.cwd).toBe(root);
  });

  test('goes back to the root when the command removed it, and says so', async () => {
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

  test.each(["a 'b' $c é", 'two\nlines', '\n', 'ends\n\n', ' ', '-P'])('may be called %j', async (name) => {
    const {call, root, workspace} = fixture();
    mkdirSync(join(root, name));
    const bash = newBash();
    await call(bash, {command: `cd -- $'${name.replaceAll("'", "\\'").replaceAll('\n', '\\n')}'; exit 3`});
    expect(workspace.cwd).toBe(join(root, name));
    await call(bash, {command: 'touch here'});
    expect(existsSync(join(root, name, 'here'))).toBe(true);
  });

  test('goes back to the root when its name is not UTF-8, and says so', async () => {
    const {call, root, workspace} = fixture();
    const {text} = await call(newBash(), {command: "mkdir $'\\xff' && cd $'\\xff'"});
    expect(text).toBe(`(the name of the command's directory is not UTF-8; cwd is back at ${root})`);
    expect(workspace.cwd).toBe(root);
  });
});

describe('input', () => {
  test.each([{background: true}, {background: 'true'}])(
    '%j of a subagent is refused, and nothing runs',
    async (more) => {
      const {call, root} = fixture();
      const {text, isError} = await call(newBash(), {command: 'touch ran', ...more});
      expect(text).toBe('Only the main agent can run a command in the background. Nothing was run.');
      expect(isError).toBe(true);
      expect(existsSync(join(root, 'ran'))).toBe(false);
    },
  );

  test('background may be false', async () => {
    const {call} = fixture();
    expect((await call(newBash(), {command: 'echo a', background: false})).text).toBe('a');
  });

  test('a time limit over an hour is refused by the schema', () => {
    expect(newBash().input.safeParse({command: 'a', timeout_seconds: 3601}).success).toBe(false);
  });

  test('the title is the first line, cut to 80 characters', () => {
    const bash = newBash();
    const {workspace} = fixture();
    expect(bash.title({command: 'ls -la'}, workspace)).toBe('ls -la');
    expect(bash.title({command: 'a\nb'}, workspace)).toBe('a …');
    expect(bash.title({command: 'x'.repeat(100)}, workspace)).toBe(`${'x'.repeat(79)}…`);
  });

  test('the access is the whole command', () => {
    const {workspace} = fixture();
    expect(newBash().access({command: 'a\nb'}, workspace)).toEqual([{kind: 'run', command: 'a\nb'}]);
  });
});

test('a call takes little longer than the process itself', async () => {
  const {call, root, workspace} = fixture();
  const bash = newBash();
  const fastest = async (once: () => Promise<unknown>) => {
    const times: number[] = [];
    for (let index = 0; index < 21; index += 1) {
      const start = performance.now();
      await once();
      times.push(performance.now() - start);
    }
    return Math.min(...times);
  };
  const bare = await fastest(
    () => new Promise((done) => spawn('bash', ['-c', 'true'], {cwd: root, env: workspace.env}).once('exit', done)),
  );
  const ours = await fastest(() => call(bash, {command: 'true'}));
  expect(ours - bare).toBeLessThan(100);
  if (process.env.MINI_CC_FIGURES) console.log(`bash true: ${ours.toFixed(2)} ms, bare ${bare.toFixed(2)} ms`);
});
