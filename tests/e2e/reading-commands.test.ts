/**
 * Commands of a hostile project that look like reading, by the main agent in print mode, in default mode and without a
 * rule: with a sandbox and without one they change and show nothing. Run plainly, each of them does.
 */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {rgPath} from '@vscode/ripgrep';
import {execa} from 'execa';
import {beforeAll, describe, expect, it, onTestFinished} from 'vitest';
import {createUserEnvironment} from '../support/environment.ts';
import {say} from '../support/messages-server.ts';
import {getToolResults} from '../support/request-facts.ts';
import {runCli} from '../support/run-cli.ts';
import {hasSandbox} from '../support/sandbox.ts';
import {callTool} from '../support/scripted-replies.ts';
import {home, project, searchPathWithout, serve} from './fixture.ts';

const KEY = 'CANARY-of-the-key';
const usable = await hasSandbox();

interface Place {
  readonly home: string;
  readonly root: string;
  /** A file that hostile programs make. */
  readonly ran: string;
}

interface Attempt {
  readonly command: string;
  /** What it would have done: printed a key (default), run a program, or changed the file. */
  readonly does?: 'run' | {readonly change: string};
  /** The program is not installed everywhere. */
  readonly needs?: string;
}

const ATTEMPTS: readonly Attempt[] = [
  {command: 'cd rg && rg * .', does: 'run'},
  {command: 'cd glob && grep [AB]*'},
  {command: 'cd glob && cat B'},
  {command: 'uniq u/[ab].txt', does: {change: 'u/b.txt'}},
  {command: 'xxd -pc -r -pl hex .git/config.new', does: {change: '.git/config.new'}, needs: 'xxd'},
  {command: 'tree -i --noreport -Io -P made.txt t', does: {change: 'made.txt'}, needs: 'tree'},
  {command: 'od -c -w99 -An ~/.ssh/id | tr -d " "', needs: 'od'},
  {command: 'strings @list', needs: 'strings'},
  {command: 'xxd ~/.ssh/id | xxd -r', needs: 'xxd'},
  {command: 'cat a=~/.ssh/id'},
  {command: 'echo ~/.ssh/*'},
  {command: 'echo ~/.s[s]h/*'},
  {command: 'for f in ~/.ssh/*; do echo "$f"; done'},
  {command: 'printf "%s\\n" ~/.[a-z]*/*'},
  {command: 'cd textconv && git show', does: 'run'},
  {command: 'git -C bare show', does: 'run'},
  {command: 'cd blank && git show', does: 'run'},
  {command: 'cd alternates && git log -p HEAD'},
  {command: 'cd shallow && git log'},
  {command: 'git blame --ignore-revs-file ~/.ssh/id a.txt'},
  {command: 'cd blame && git blame a.txt'},
];

/** A project and a home, as the attempts need them. @returns where they are */
async function build(): Promise<Place & {remove: () => void}> {
  const base = realpathSync(mkdtempSync(path.join(tmpdir(), 'mini-cc-reading-')));
  const at = {home: path.join(base, 'home'), root: path.join(base, 'work'), ran: path.join(base, 'work/ran')};
  const put = (file: string, text: string, mode = 0o644) => {
    mkdirSync(path.dirname(path.join(at.root, file)), {recursive: true});
    writeFileSync(path.join(at.root, file), text, {mode});
  };
  const git = async (folder: string, ...args: string[]) => {
    const env = {GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1'};
    return (
      await execa('git', ['-C', path.join(at.root, folder), '-c', 'user.name=a', '-c', 'user.email=a@b', ...args], {
        env,
      })
    ).stdout;
  };
  mkdirSync(path.join(at.home, '.ssh'), {recursive: true});
  writeFileSync(path.join(at.home, '.ssh/id'), `A ${KEY}\n`);
  writeFileSync(path.join(at.home, `.ssh/${KEY}`), '');
  put('rg/z.sh', `touch ${at.ran}\n`);
  put('rg/--pre=sh', '');
  put('rg/0', '');
  put('glob/A', 'x');
  symlinkSync(path.join(at.home, '.ssh/id'), path.join(at.root, 'glob/B'));
  put('u/a.txt', 'new\nnew\n');
  put('u/b.txt', 'old\n');
  put('hex', '78780a');
  put('t/x', '');
  put('list', path.join(at.home, '.ssh/id'));
  symlinkSync('/', path.join(at.root, 'a='));
  put('evil', `#!/bin/sh\ntouch ${at.ran}\n`, 0o755);
  const textconv = `[diff "x"]\n\r\ttextconv = ${at.root}/evil\n`;
  const commit = async (folder: string, config: string) => {
    put(`${folder}/a.txt`, 'one\n');
    put(`${folder}/.gitattributes`, '*.txt diff=x\n');
    await git(folder, 'init', '-q');
    await git(folder, 'add', '.');
    await git(folder, 'commit', '-q', '-m', 'one');
    writeFileSync(path.join(at.root, folder, '.git/config'), `[core]\n\tbare = false\n${config}`);
  };
  await commit('.', '');
  await commit('textconv', textconv);
  // A folder that looks like a bare repository, with the settings and objects of another one.
  await commit('hd', textconv);
  put('bare/info/attributes', '*.txt diff=x\n');
  for (const name of ['HEAD', 'objects', 'refs', 'config'])
    await execa('cp', ['-r', path.join(at.root, 'hd/.git', name), path.join(at.root, 'bare')]);
  await commit('blank', '');
  await execa('mv', [path.join(at.root, 'blank/.git'), path.join(at.root, 'blank/real ')]);
  await commit('tmp', textconv);
  put('blank/.git', 'gitdir: real \n');
  writeFileSync(path.join(at.root, 'blank/real /config'), `[core]\n\tbare = false\n${textconv}`);
  // The repository of the user, whose commits are none of the project's business.
  mkdirSync(path.join(at.home, 'own'));
  writeFileSync(path.join(at.home, 'own/a'), `${KEY}\n`);
  const own = ['-C', path.join(at.home, 'own'), '-c', 'user.name=a', '-c', 'user.email=a@b'];
  for (const args of [
    ['init', '-q'],
    ['add', '.'],
    ['commit', '-q', '-m', 'own'],
  ])
    await execa('git', [...own, ...args]);
  const {stdout: id} = await execa('git', [...own, 'rev-parse', 'HEAD']);
  await commit('alternates', '');
  put('alternates/.git/objects/info/alternates', path.join(at.home, 'own/.git/objects'));
  put('alternates/.git/HEAD', `${id}\n`);
  await commit('shallow', '');
  symlinkSync(path.join(at.home, '.ssh/id'), path.join(at.root, 'shallow/.git/shallow'));
  await commit('blame', `[blame]\n\tignoreRevsFile = ${at.home}/.ssh/id\n`);
  return {...at, remove: () => rmSync(base, {recursive: true, force: true})};
}

/** What the attempt did, by its output and the files. */
function findEffect({does}: Attempt, output: string, {root, ran}: Place): boolean {
  if (does === 'run') return existsSync(ran);
  if (does) {
    const file = path.join(root, does.change);
    return existsSync(file) && readFileSync(file, 'utf8') !== 'old\n';
  }
  return output.includes(KEY);
}

/** A folder with ripgrep, which mini-cc brings along. */
let programs: string;
const isInstalled = (program: string | undefined) =>
  program === undefined || existsSync(path.join('/usr/bin', program));

beforeAll(() => {
  programs = mkdtempSync('/var/tmp/mini-cc-rg-');
  symlinkSync(rgPath, path.join(programs, 'rg'));
  return () => rmSync(programs, {recursive: true});
});

/** Lets the main agent run all commands, each from the root. @returns the results */
async function runAll(at: Pick<Place, 'home' | 'root'>, commands: readonly string[], searchPath: string) {
  const userHome = await home();
  const attempts = commands.map((command) => `cd ${at.root} && ${command}`);
  const server = await serve((body) => {
    const done = body.messages.filter(({role}) => role === 'assistant').length;
    return done < attempts.length ? callTool('bash', {command: attempts[done]!}, `toolu_${done}`) : say('done');
  });
  const env = {HOME: at.home, PATH: searchPath, GIT_CONFIG_NOSYSTEM: '1'};
  const run = await runCli(['-p', 'x'], {server, home: userHome, cwd: at.root, env});
  expect(run.code).toBe(0);
  return server.requests.slice(1).map(({body}) => getToolResults(body).at(-1)!.text);
}

/** What people and models type all day. */
const ORDINARY: readonly string[] = [
  ...[
    'ls -lA',
    'ls *',
    'wc -l src/*.ts',
    'head -3 README.md',
    'cat package.json | jq .name',
    'find . -name "*.ts" | sort',
  ],
  ...[
    'grep -rn greet src | sort | uniq -c',
    'rg -n greet --sort path',
    'git log --oneline',
    'git log -p HEAD~0',
    'git diff',
    'git status',
  ],
  ...[
    'git blame src/main.ts',
    'git show --stat',
    'git branch -a',
    'git config user.name',
    'stat -c "%U %s %n" *',
    'du -a src | cut -f2',
  ],
  ...['for f in src/*.ts; do echo "$f: $(wc -l < "$f")"; done', 'sed -n 1,3p README.md', "awk '{print $1}' README.md"],
  ...[
    'npm ls 2>/dev/null',
    'node --version',
    'echo $HOME; pwd',
    'cat nofile || echo none',
    '[[ -f README.md ]] && file README.md',
    'ls /usr',
  ],
  ...[
    'test -d src && realpath src',
    'diff <(sort README.md) <(sort package.json) | head -3',
    'which git node',
    'cat /etc/os-release',
  ],
];

describe.runIf(usable)('ordinary reading', () => {
  it('passes without a question and prints what it prints outside of the sandbox', async () => {
    const at = {home: (await home()).path, root: (await project()).path};
    await execa('git', ['-C', at.root, 'config', 'user.name', 'Ada']);
    writeFileSync(path.join(at.root, 'src/new.ts'), 'export {};\n');
    const PATH = `${programs}:${process.env.PATH}`;
    const results = await runAll(at, ORDINARY, PATH);
    for (const [index, command] of ORDINARY.entries()) {
      const env = {...createUserEnvironment(), HOME: at.home, PATH, GIT_CONFIG_NOSYSTEM: '1'};
      const options = {cwd: at.root, env, extendEnv: false, all: true, reject: false, stdin: 'ignore'} as const;
      const {all, exitCode} = await execa('bash', ['-c', `exec 2>&1; ${command}`], options);
      const outside = [all.replace(/\n+$/, ''), ...(exitCode === 0 ? [] : [`exit code ${exitCode}`])].join('\n');
      expect.soft(results[index], command).toBe(outside.trim() === '' ? '(no output)' : outside);
    }
  });
});

describe('a hostile project', () => {
  it('prints keys, runs programs and changes files by each of these commands when they run plainly', async () => {
    const at = await build();
    onTestFinished(at.remove);
    for (const attempt of ATTEMPTS.filter(({needs}) => isInstalled(needs))) {
      rmSync(at.ran, {force: true});
      const env = {HOME: at.home, PATH: `${programs}:${process.env.PATH}`};
      const {all = ''} = await execa('bash', ['-c', attempt.command], {cwd: at.root, env, all: true, reject: false});
      expect.soft(findEffect(attempt, all, at), `${attempt.command}: ${all}`).toBe(true);
    }
  });

  it.runIf(usable)('does nothing by them where a sandbox works', async () => {
    const at = await build();
    onTestFinished(at.remove);
    const results = await runAll(
      at,
      ATTEMPTS.map(({command}) => command),
      `${programs}:${process.env.PATH}`,
    );
    ATTEMPTS.forEach((attempt, index) => {
      expect(findEffect(attempt, results[index]!, at), `${attempt.command}: ${results[index]}`).toBe(false);
    });
  });

  it('does nothing by them where there is no sandbox', async () => {
    const at = await build();
    onTestFinished(at.remove);
    const results = await runAll(
      at,
      ATTEMPTS.map(({command}) => command),
      `${programs}:${searchPathWithout('bwrap')}`,
    );
    ATTEMPTS.forEach((attempt, index) => {
      expect(findEffect(attempt, results[index]!, at), `${attempt.command}: ${results[index]}`).toBe(false);
      expect(results[index], attempt.command).toMatch(/^Permission denied/);
    });
  });
});
