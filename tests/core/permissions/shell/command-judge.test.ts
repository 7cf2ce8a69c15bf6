/** What passes without a question, where it runs, and what is asked about: with a sandbox and without one. */
import {chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {execa} from 'execa';
import {beforeAll, describe, expect, it} from 'vitest';
import type {Workspace} from '../../../../src/core/contract/permission.ts';
import {type DecideOptions, permissionFixture} from '../fixture.ts';
import {HOSTILE_PROGRAMS, HOSTILE_SYNTAX} from './hostile-commands.ts';
import {LITERAL_COMMANDS, READING_COMMANDS} from './reading-commands.ts';

const {base, outside, root, run, workspace} = permissionFixture();

const READ_ONLY = {launch: 'read-only', checkpoint: false};
const PLAIN = {launch: 'plain', checkpoint: false};
const CHECKPOINTED = {launch: 'plain', checkpoint: true};
const GUARDED = {launch: 'guarded', checkpoint: true};
const confined: Workspace = {...workspace, confinement: 'read-only'};
const worktree: Workspace = {...workspace, confinement: 'worktree'};
const workspaceWrite: Workspace = {...workspace, confinement: 'workspace-write'};

const repository = path.join(root, 'repository');
const inside: Workspace = {...workspace, cwd: repository};
const git = (...args: string[]) =>
  execa('git', ['-C', repository, '-c', 'user.name=a', '-c', 'user.email=a@b', ...args], {
    env: {GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1'},
  });

/** The command is asked about, and is not tried in the sandbox. */
async function expectOutside(command: string, at: Workspace): Promise<void> {
  const decided = await run(command, {in: at});
  expect(decided.verdict, command).toBe('ask');
  expect('attempts' in decided && decided.attempts, command).toMatchObject([{launch: 'plain'}]);
}

beforeAll(async () => {
  mkdirSync(path.join(root, 'src'), {recursive: true});
  mkdirSync(repository);
  for (const file of ['a', 'b', 'src/a.ts', 'repository/a']) writeFileSync(path.join(root, file), 'x\n');
  await git('init', '-q', '-b', 'main');
  await git('add', '.');
  await git('commit', '-q', '-m', 'one');
  rmSync(path.join(repository, '.git/hooks'), {recursive: true, force: true});
});

describe('where a sandbox works, a command of an agent that may write', () => {
  it.each(READING_COMMANDS)('runs in the read-only sandbox without a question: %j', async (command) => {
    expect(await run(command, {in: inside})).toMatchObject({verdict: 'allow', attempts: [READ_ONLY]});
    expect(await run(command, {in: {...inside, confinement: 'worktree'}})).toMatchObject({
      verdict: 'allow',
      attempts: [READ_ONLY],
    });
  });

  it.each([
    ...['ps', 'ps aux', 'ss -ltn', 'lsof -i', 'df -h', 'mount', 'env', 'printenv', 'docker ps', 'systemctl status'],
    // Other worktrees are not shown, so that it calls them prunable.
    'git worktree list',
    ...[
      'top -b -n 1',
      'id',
      'who',
      'w',
      'ls; id',
      'git log | env',
      'cat /proc/self/environ',
      'ls /proc',
      'cat /dev/sda',
    ],
  ])('is asked about where the sandbox would change its answer: %j', async (command) => {
    await expectOutside(command, workspace);
  });

  it.each([
    ...['rm x', 'ls > x', 'ls >> x', 'ls | tee x', 'sed -i s/a/b/ a', 'find . -delete', 'find . -exec rm {} +', 'make'],
    ...['npm test', 'ls &', 'f() { ls; }; f', 'git push', 'git branch x', 'git tag x', 'git stash', 'git commit -m x'],
    ...['git config a.b c', 'git -c core.pager=x', 'curl example.com', 'node x.js', 'tsc', 'sort -o a a', 'xargs rm'],
    ...['./ls', 'tar xf a', 'date -s x', 'git diff --output=x', 'coproc ls', 'tree -o x', 'bash x', 'python3 x.py'],
    ...[
      'find . -exec cat {} + -delete',
      'find . -exec cat {} + -exec rm {} +',
      'PATH=. ls',
      'node',
      'tsc -p .',
      'tsc --noEmit --watch',
    ],
  ])('is asked about when it does more than read: %j', async (command) => {
    expect(await run(command)).toMatchObject({verdict: 'ask', attempts: [CHECKPOINTED]});
  });

  it('is asked about when it names a place that the sandbox hides, by each of its names', async () => {
    const secret = path.join(outside, 'secret');
    const env = {...workspace.env, OUT: outside};
    for (const command of [
      ...[`cat ${secret}`, 'cat ../outside/secret', 'cat link/secret', 'cat link/../outside/secret', 'ls link'],
      ...['cat l*/secret', 'cat link*', 'cd link && cat secret', `cat < ${secret}`, `grep --file=${secret} x a`],
      ...[`cat "$OUT/secret"`, `cat "\${OUT}"/s*`, `for f in a b; do cat "$OUT/$f"; done`, `head -c5 ${outside}/*`],
      ...[
        `echo ${outside}/*`,
        `echo $(cat ${secret})`,
        `dd if=${secret}`,
        `git -C ${outside} log`,
        `diff <(cat ${secret}) a`,
      ],
    ]) {
      await expectOutside(command, {...workspace, env});
    }
    const home = {...workspace, env: {...workspace.env, HOME: outside}};
    for (const command of ['cat "$PWD/link/secret"', 'cat ${PWD}/link/sec$f', 'cat "$HOME/sec$f"']) {
      await expectOutside(command, home);
    }
    expect(await run(`cat ${secret}`)).toMatchObject({
      because: `runs a command that reads outside the workspace: ${secret}`,
      rules: [`bash(cat ${secret})`],
    });
    expect(await run(`cat "${secret}" a*`)).toMatchObject({
      because: `runs a command that reads ${secret}, which the sandbox hides`,
      rules: [`bash(cat "${secret}" a\\*)`],
    });
    // What does not exist is not there inside of the sandbox either.
    for (const command of [`ls ${outside}/no`, 'grep -rn "/api/users" src', 'cat /etc/passwd', 'ls /usr/lib']) {
      expect((await run(command)).verdict, command).toBe('allow');
    }
  });

  it('is asked about when it uses a variable that the sandbox does not keep', async () => {
    const at = {...workspace, env: {...workspace.env, KEY_FILE: 'x'}};
    expect(await run('echo $KEY_FILE', {in: at})).toMatchObject({verdict: 'ask', because: /KEY_FILE/});
    for (const command of ['echo $HOME $?', 'for f in a; do echo $f; done', "awk '{print $1}' a", 'echo $NOT_SET']) {
      expect((await run(command, {in: at})).verdict, command).toBe('allow');
    }
  });

  it('is asked about when it names hidden places, also those that a rule lets read_file read', async () => {
    const options = {rules: {allow: [`read_file(/${outside}/**)`]}};
    expect((await run(`cat ${outside}/secret`, options)).verdict).toBe('ask');
    expect((await run(`cat ${outside}/s*`, options)).verdict).toBe('ask');
    // What is hidden in the workspace is no place of the workspace.
    const hidden = {secretPaths: [path.join(root, 'a')]};
    expect(await run('cat a', hidden)).toMatchObject({verdict: 'ask', onlyPerson: true});
  });

  it('is asked about when it names a place that this user may not look at, as the root of another process', async () => {
    for (const sandbox of [true, false]) {
      expect((await run('ls /proc/1/root/tmp', {sandbox})).verdict).toBe('ask');
    }
  });

  it('is asked about when it names a place of keys, unless a rule or an answer names that place too', async () => {
    const keys = path.join(outside, 'keys');
    mkdirSync(keys, {recursive: true});
    writeFileSync(path.join(keys, 'id'), 'x');
    const [secretPaths, env] = [[keys], {...workspace.env, OUT: outside}];
    const at = (allow: readonly string[], sandbox: boolean) => ({
      secretPaths,
      sandbox,
      in: {...workspace, env},
      rules: {allow},
    });
    for (const sandbox of [true, false]) {
      for (const command of [
        `cat ${keys}/id`,
        `cat ${keys}/i*`,
        'cat $OUT/keys/id',
        'cat link/keys/id',
        `cp ${keys}/id x`,
      ]) {
        for (const broad of ['bash', 'bash(c* *)', `bash(${command.split(' ')[0]}:*)`]) {
          const decided = await run(command, at([broad], sandbox));
          expect(decided, `${command} ${broad}`).toMatchObject({
            verdict: 'ask',
            onlyPerson: true,
            rules: [expect.anything()],
          });
          const {rules = []} = decided as {readonly rules?: readonly string[]};
          // The refusal names this rule as the way to allow the command.
          expect((await run(command, at(rules, sandbox))).verdict, command).toBe('allow');
          expect((await run(command, at([broad, ...rules], sandbox))).verdict, command).toBe('allow');
        }
      }
      for (const rule of [`bash(cat ${keys}/id:*)`, `bash(cat ${keys}/*)`]) {
        expect((await run(`cat ${keys}/id`, at([rule], sandbox))).verdict, rule).toBe('allow');
        expect((await run(`cp ${keys}/id x`, at([rule, 'bash(cp:*)'], sandbox))).verdict, rule).toBe('ask');
      }
      for (const command of [
        `echo ${keys}`,
        `git commit -m 'hide ${keys}/id'`,
        `cat ${keys}/none`,
        'cat ../outside/secret',
      ]) {
        expect((await run(command, at(['bash'], sandbox))).verdict, command).toBe('allow');
      }
    }
    const bypass = {...at([], true), mode: 'bypassPermissions'} as const;
    expect((await run(`cat ${keys}/id`, bypass)).verdict).toBe('allow');
  });

  it('that is allowed anyway runs plainly when it is literal, else in the sandbox first when it looks like reading', async () => {
    const cases: readonly (readonly [string, readonly object[]])[] = [
      ['git log --oneline -5', [PLAIN]],
      ['cat a | wc -l', [PLAIN]],
      ['cat a*', [READ_ONLY, CHECKPOINTED]],
      ['git log HEAD~1', [READ_ONLY, CHECKPOINTED]],
      ['tsc --noEmit', [READ_ONLY, CHECKPOINTED]],
      [`cat ${outside}/s*`, [CHECKPOINTED]],
      ['ps aux', [CHECKPOINTED]],
      ['make', [CHECKPOINTED]],
    ];
    for (const [command, attempts] of cases) {
      const at = {in: inside};
      for (const options of [
        {...at, mode: 'bypassPermissions'},
        {...at, rules: {allow: ['bash']}},
      ] as const) {
        const decided = await run(command, options);
        expect(decided, command).toMatchObject({verdict: 'allow'});
        const guarded = 'mode' in options ? attempts : attempts.map((each) => (each === CHECKPOINTED ? GUARDED : each));
        expect('attempts' in decided && decided.attempts, command).toEqual(guarded);
      }
    }
    for (const command of ['cat a*', 'ls', 'git status --short']) {
      expect(await run(command, {in: workspaceWrite})).toMatchObject({
        attempts: [READ_ONLY, {launch: 'workspace-write', checkpoint: true}],
      });
    }
  });

  it.each([
    'sort -uo.git/hooks/z04 a',
    'sort -uo .git/hooks/z04 a',
    'git worktree add .git/hooks/x',
    'git -C . worktree add .mini-cc/x',
    'tar -xC.git/hooks -f a.tar',
    'curl -sSo.git/config https://x',
  ])('asks about a protected place behind bundled options, whatever rule allows the program: %s', async (command) => {
    for (const sandbox of [true, false]) {
      const decided = await run(command, {in: inside, rules: {allow: ['bash(* *)', 'bash(*:*)']}, sandbox});
      expect(decided, command).toMatchObject({verdict: 'ask', onlyPerson: true});
    }
  });

  it('unpacks into a folder with protected places guarded, and asks where no sandbox can guard them', async () => {
    const rules = {allow: ['bash(tar:*)']};
    expect(await run('tar xf a.tar', {in: inside, rules})).toMatchObject({verdict: 'allow', attempts: [GUARDED]});
    expect(await run('tar xf a.tar', {in: inside, rules, sandbox: false})).toMatchObject({verdict: 'ask'});
    const elsewhere = {...inside, cwd: path.join(root, 'src')};
    expect(await run('tar xf a.tar', {in: elsewhere, rules, sandbox: false})).toMatchObject({verdict: 'allow'});
  });

  it('is always asked about outside of the sandbox, and runs there at once', async () => {
    for (const at of [workspace, workspaceWrite]) {
      const decided = await run('cat a*', {in: at, unconfined: true, rules: {allow: ['bash']}});
      expect(decided).toMatchObject({verdict: 'ask', onlyOnce: true, onlyPerson: true, attempts: [CHECKPOINTED]});
    }
    expect(await run('ls *', {in: confined, unconfined: true})).toMatchObject({attempts: [READ_ONLY]});
  });
});

describe('a command in the writable sandbox that removes the repository', () => {
  const at = {...inside, confinement: 'workspace-write' as const};

  it.each([
    'rm -rf .git',
    'rm -rf src .git/ && ls',
    `cd .. && rm -rf ${path.basename(repository)}`,
    'rm -r .git/objects',
    `sh -c 'rm -rf "$PWD/.git"'`,
    'sudo rm -rf .',
    'D=.git; rm -rf $D',
  ])('is asked about each time: %s', async (command) => {
    expect(await run(command, {in: at})).toMatchObject({verdict: 'ask', onlyOnce: true, onlyPerson: true});
    expect(await run(command, {in: at, mode: 'bypassPermissions'})).toMatchObject({verdict: 'allow'});
  });

  it.each(['rm -rf build', 'rm -f .git/index.lock', 'git rm -rq .', 'rm a', 'cp a .', 'find . -name a -exec rm {} +'])(
    'is not asked about where the repository stays: %s',
    async (command) => {
      expect(await run(command, {in: at})).toMatchObject({verdict: 'allow'});
    },
  );
});

describe('of an agent of a fan-out, a command', () => {
  const files = ['a', 'b'].map((name) => path.join(root, name));
  const at = (allowed: readonly string[]): DecideOptions => ({
    in: {...workspace, confinement: 'files', scope: {files, allowed}},
  });

  it('passes where the agent may write all its files without a question, and is asked about otherwise', async () => {
    expect(await run('make', at(files))).toMatchObject({verdict: 'allow', attempts: [{launch: 'workspace-write'}]});
    expect((await run('make', at(files.slice(1)))).verdict).toBe('ask');
    expect((await run('make', {...at([]), mode: 'acceptEdits'})).verdict).toBe('allow');
    expect((await run('make', {mode: 'acceptEdits'})).verdict).toBe('ask');
  });

  it('runs in its sandbox also where it asks to run outside, and only literally where there is none', async () => {
    const decided = await run('make', {...at(files), unconfined: true});
    expect(decided).toMatchObject({verdict: 'allow', attempts: [{launch: 'workspace-write'}]});
    expect((await run('ls', {...at(files), sandbox: false})).verdict).toBe('allow');
    expect(await run('make', {...at(files), sandbox: false})).toMatchObject({
      ...{verdict: 'deny', because: expect.stringContaining('an agent of a fan-out runs only')},
    });
  });
});

describe('of a read-only agent, a command', () => {
  it('runs in the read-only sandbox, reading or not', async () => {
    expect(await run('make', {in: confined})).toMatchObject({verdict: 'allow', attempts: [READ_ONLY]});
  });

  it('passes without a sandbox when it is literal, and is refused otherwise', async () => {
    expect(await run('ls', {in: confined, sandbox: false})).toMatchObject({verdict: 'allow', attempts: [PLAIN]});
    for (const command of ['ls > x', 'cat /etc/passwd', 'ls *', 'cat link/secret']) {
      expect((await run(command, {in: confined, sandbox: false})).verdict, command).toBe('deny');
    }
    expect(await run('make', {in: confined, sandbox: false})).toMatchObject({
      because: expect.stringMatching(/^make is not one of the plain programs; without a sandbox .* \(mini-cc doctor/),
    });
  });
});

describe('where no sandbox works', () => {
  const bare: DecideOptions = {sandbox: false, in: inside};

  it.each(LITERAL_COMMANDS)('a literal command passes: %j', async (command) => {
    expect(await run(command, bare)).toMatchObject({verdict: 'allow', attempts: [PLAIN]});
  });

  it.each([...HOSTILE_SYNTAX, ...HOSTILE_PROGRAMS])('another one is asked about: %j', async (command) => {
    expect((await run(command, bare)).verdict).toBe('ask');
    expect((await run(command, {...bare, in: {...inside, confinement: 'read-only'}})).verdict).toBe('deny');
  });

  it.each([
    ...[
      'ls *.ts',
      'ls a?',
      'cat $x',
      'cat "$HOME"',
      'echo `ls`',
      'echo $(ls)',
      'cat ~',
      'cat a=~/x',
      'cat @x',
      "cat '@x'",
    ],
    ...[
      "cat '~/x'",
      'ls {a,b}',
      'ls > x',
      'cat < a',
      'ls &',
      '(ls)',
      '{ ls; }',
      'if ls; then ls; fi',
      'ls\nls',
      'ls # x',
    ],
    ...[
      'cd / && ls',
      'cd ../.. && ls',
      'cd src; ls',
      'cd src || ls',
      'cd - && ls',
      'cd a b && ls',
      'ls && cd src',
      'cd ../link',
    ],
    ...[
      'ls --colour',
      'ls -lL',
      'head --lines',
      'sort -no a',
      'sort -ora a',
      'rg --pre=x a',
      'rg -z a',
      'uniq a b',
      'uniq a',
    ],
    ...[
      "sed -n '1w x' a",
      'sed 1p a',
      "sed -n 1p -e 'w x' a",
      'sed -n -i 1p a',
      'tail -f a',
      'grep -R x a',
      'xxd -r a b',
    ],
    ...[
      'git -C src log',
      'git log --output=x',
      'git diff --ext-diff',
      'git diff --textconv',
      'git grep x',
      'git branch x',
    ],
    ...['git stash', 'git tag v1', 'git remote show x', 'git -c a=b log', 'git show --format=%G?', 'git config a.b'],
    ...['strings a', 'od -w a', 'xxd a', 'tree', 'find -L .', 'find . -files0-from a', 'ls 2>x', 'ls 2>&2', 'ls 1>&2'],
    ...[
      "ls 'a",
      'ls "a',
      'ls "a\\"b"',
      'ls a\\ b',
      'ls |',
      '| ls',
      'ls ;; ls',
      'ls | | ls',
      '! ls',
      'time ls',
      'ls 2>&1x',
    ],
  ])('an unusual one is asked about: %j', async (command) => {
    expect((await run(command, bare)).verdict).toBe('ask');
  });

  it('each word is judged as a path, with its links', async () => {
    symlinkSync('/', path.join(root, 'a='));
    for (const command of [
      ...[
        'cat /etc/passwd',
        'cat link/secret',
        'cat a=/etc/passwd',
        'ls link',
        'cd link && ls',
        'head -n /etc/passwd a',
      ],
      ...['grep -f /etc/passwd a', 'find /etc -name x', 'grep -rn x ../outside', 'cat circle', 'test -f /etc/shadow'],
    ]) {
      expect((await run(command, {sandbox: false}).catch(() => ({verdict: 'ask'}))).verdict, command).toBe('ask');
    }
    rmSync(path.join(root, 'a='));
  });

  it('a search through a folder with keys in it is asked about', async () => {
    mkdirSync(path.join(root, '.keys'));
    const options = {secretPaths: [path.join(root, '.keys')], sandbox: false};
    expect((await run('grep -r x .', options)).verdict).toBe('ask');
    expect((await run('cat a', options)).verdict).toBe('allow');
    expect((await run('grep -r x .', {...options, in: confined})).verdict).toBe('deny');
    for (const at of [
      {in: {...workspace, cwd: path.join(root, 'src')}},
      {in: worktree, mode: 'bypassPermissions'},
    ] as const)
      expect((await run('grep -r x .', {...options, ...at})).verdict).toBe('allow');
    rmSync(path.join(root, '.keys'), {recursive: true});
  });

  it('a folder is where `cd` leads only without CDPATH', async () => {
    const env = {...workspace.env, CDPATH: '/'};
    expect((await run('cd src && ls', {sandbox: false})).verdict).toBe('allow');
    expect((await run('cd src && ls', {sandbox: false, in: {...workspace, env}})).verdict).toBe('ask');
  });

  it('a program passes only where PATH finds one of the system, outside of the workspace', async () => {
    const bin = path.join(root, 'bin');
    mkdirSync(bin);
    const at = (PATH: string): DecideOptions => ({sandbox: false, in: {...workspace, env: {...workspace.env, PATH}}});
    expect((await run('cat a', at(`${bin}:/usr/bin:/bin`))).verdict).toBe('allow');
    writeFileSync(path.join(bin, 'cat'), '');
    expect((await run('cat a', at(`${bin}:/usr/bin:/bin`))).verdict).toBe('allow');
    chmodSync(path.join(bin, 'cat'), 0o755);
    for (const PATH of [`${bin}:/usr/bin`, 'bin:/usr/bin', `/nonexistent:${base}/work/bin`, '']) {
      expect((await run('cat a', at(PATH))).verdict, PATH).toBe('ask');
    }
    // A shim in the home may run what the project names.
    writeFileSync(path.join(outside, 'cat'), '', {mode: 0o755});
    expect((await run('cat a', at(`${outside}:/usr/bin`))).verdict).toBe('ask');
    rmSync(path.join(outside, 'cat'));
    symlinkSync(path.join(bin, 'cat'), path.join(outside, 'cat'));
    expect((await run('cat a', at(`${outside}:/usr/bin`))).verdict).toBe('ask');
    expect((await run('cd bin && cat a', at(':/usr/bin'))).verdict).toBe('ask');
    rmSync(bin, {recursive: true});
  });

  it('in a worktree, it passes when it is literal, and is refused otherwise', async () => {
    expect((await run('ls', {in: worktree, sandbox: false})).verdict).toBe('allow');
    expect((await run('make', {in: worktree, sandbox: false})).verdict).toBe('deny');
    const asked = {rules: {ask: ['bash(ls:*)']}, in: worktree, sandbox: false};
    expect(await run('ls', asked)).toMatchObject({verdict: 'ask', onlyOnce: true, attempts: [PLAIN]});
    expect((await run('ls', {...asked, mode: 'bypassPermissions'})).verdict).toBe('allow');
  });

  it('in a container that is the wall, what looks like reading passes plainly, and agents confined to the workspace run', async () => {
    const options = {sandbox: false, container: true};
    expect(await run('ls *', options)).toMatchObject({verdict: 'allow', attempts: [PLAIN]});
    expect(await run('ls *', {...options, in: confined})).toMatchObject({verdict: 'allow', attempts: [PLAIN]});
    expect((await run('make', {...options, in: confined})).verdict).toBe('deny');
    expect((await run('make', options)).verdict).toBe('ask');
    expect(await run('make', {...options, in: workspaceWrite})).toMatchObject({
      verdict: 'allow',
      attempts: [CHECKPOINTED],
    });
    expect((await run('make', {sandbox: false, in: workspaceWrite})).verdict).toBe('deny');
  });
});
