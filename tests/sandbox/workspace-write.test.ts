/** Real commands of an agent that may write its workspace, in the real sandbox. */
import {execFileSync} from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test, vi} from 'vitest';
import {createSandbox} from '../../src/sandbox/index.ts';
import {ProcessGroups} from '../../src/sandbox/launch/process-groups.ts';
import {SessionFolder} from '../../src/sandbox/view/session-folder.ts';
import {createBash} from '../../src/tools/bash/bash.ts';
import {hasSandbox} from '../support/sandbox.ts';
import {until} from '../support/wait.ts';
import {fixture, isRunning} from '../tools/fixture.ts';

const usable = await hasSandbox();

interface Place {
  readonly root?: (base: string) => string;
  readonly extraRoots?: (base: string) => string[];
}

function createWorkspace(place: Place = {}) {
  const outer = fixture();
  const base = realpathSync(join(outer.root, '..'));
  const home = join(base, 'home');
  const sandbox = createSandbox({home, miniCcHome: join(home, '.mini-cc')});
  onTestFinished(() => sandbox.folder.close());
  const root = place.root?.(base) ?? outer.root;
  const workspace = {
    ...outer.workspace,
    ...{root, cwd: root, confinement: 'workspace-write' as const, extraRoots: place.extraRoots?.(base) ?? []},
  };
  const bash = createBash(sandbox, new ProcessGroups());
  const run = (command: string, more: {unconfined?: boolean; signal?: AbortSignal} = {}) => {
    const {signal = new AbortController().signal, ...input} = more;
    // As a decision has it: a call that asks for it, and was allowed, runs outside.
    const outside = more.unconfined ? {attempt: {launch: 'plain', checkpoint: true} as const} : {};
    return outer.call(bash, {command, timeout_seconds: 20, ...input}, {workspace, signal, ...outside});
  };
  return {...outer, root, base, workspace, home, run, sandbox};
}

function repository(folder: string) {
  mkdirSync(folder, {recursive: true});
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=A', '-c', 'user.email=a@b', ...args], {cwd: folder, encoding: 'utf8'});
  git('init', '--quiet', '--initial-branch', 'main');
  writeFileSync(join(folder, 'a.txt'), 'one\n');
  git('add', '.');
  git('commit', '--quiet', '--message', 'One');
  return git;
}

describe.runIf(usable)('a command that may write the workspace', () => {
  test('writes in the workspace and in further roots, and nowhere else', async () => {
    const {run, root, base, home} = createWorkspace({extraRoots: (folder) => [join(folder, 'outside')]});
    const {text} = await run(`mkdir -p src && echo hi > src/a.txt && touch ${base}/outside/b.txt && echo done`);
    expect(text).toBe('done');
    expect(readFileSync(join(root, 'src/a.txt'), 'utf8')).toBe('hi\n');
    expect(readdirSync(join(base, 'outside'))).toEqual(['b.txt']);
    const failed = await run(`touch ${home}/made; touch /var/tmp/made-by-mini-cc`);
    expect(failed.text).toContain('only the workspace can be written');
    expect(failed.text).toContain('unconfined: true asks the user');
    expect(readdirSync(home)).toEqual([]);
  });

  test('does not reach the files of mini-cc where the workspace has the folder of temporary files in it', async () => {
    onTestFinished(() => void vi.unstubAllEnvs());
    const {run, root, sandbox, call, workspace} = createWorkspace();
    vi.stubEnv('TMPDIR', join(root, 'a/b'));
    mkdirSync(join(root, 'a/b'), {recursive: true});
    const own = sandbox.folder.path;
    expect(own.startsWith(`${root}/a/b/`)).toBe(true);
    writeFileSync(join(own, 'secret'), 'key');
    const other = new SessionFolder('/nonexistent');
    expect(other.list()).toEqual([]);
    onTestFinished(() => other.close());
    const reach = `cat ${own}/secret; mkdir ${own}/commands; mv ${own} ${root}/c; mv ${root}/a/b ${root}/d; mv ${root}/a ${root}/e`;
    const {text} = await run(
      `${reach}; touch ${other.path}/made; echo 1 > $TMPDIR/x && cat $TMPDIR/x && touch a/made && echo done`,
    );
    expect(text).not.toContain('key\n');
    expect(text).toMatch(/\n1\ndone/);
    expect([readdirSync(own).sort(), readdirSync(other.path)]).toEqual([
      ['owner.json', 'pipes', 'secret', 'starts', 'tmp'],
      ['owner.json', 'tmp'],
    ]);
    expect(readdirSync(join(root, 'a')).sort()).toEqual(['b', 'made']);
    const only = {workspace: {...workspace, confinement: 'read-only' as const}};
    const command = `cat ${own}/secret; echo 2 > $TMPDIR/y && cat $TMPDIR/[xy]`;
    expect((await call(createBash(sandbox, new ProcessGroups()), {command}, only)).text).toMatch(
      /^cat: .*\n1\n2\n\(this agent is read-only: .* is hidden\)$/,
    );
  });

  test('leaves nothing in the workspace but its own files', async () => {
    const {run, root} = createWorkspace();
    const {text} = await run('ls -A; ls -A .git .claude .mini-cc');
    expect(text.split('\n').slice(0, 3)).toEqual(['.claude', '.git', '.mini-cc']);
    expect(text).not.toContain('held-by');
    expect(readdirSync(root)).toEqual([]);
    await Promise.all([run('sleep 0.2; touch a'), run('touch b'), run('exit 3')]);
    expect(readdirSync(root)).toEqual(['a', 'b']);
  });

  test.each([
    ['settings of mini-cc', 'mkdir -p .mini-cc; echo "{}" > .mini-cc/settings.json'],
    ['agents of other programs', 'mkdir -p .claude/agents; touch .claude/agents/a.md'],
    ['a repository', 'git init'],
    ['a file that names one', 'echo "gitdir: /tmp/x" > .git'],
    [
      'a name that is taken, by another',
      'mkdir new; touch new/x; mv -T new .mini-cc; rmdir .mini-cc; ln -s /etc .claude',
    ],
  ])('cannot make: %s', async (_name, command) => {
    const {run, root} = createWorkspace();
    const {isError} = await run(command);
    expect(isError).toBe(true);
    expect(readdirSync(root).filter((name) => name.startsWith('.'))).toEqual([]);
  });

  test('commits, switches and stashes in a repository', async () => {
    const {run, root} = createWorkspace();
    const git = repository(root);
    const before = readdirSync(join(root, '.git')).sort();
    const commit = 'git -c user.name=A -c user.email=a@b commit --quiet --all --message Two';
    const {text} = await run(`echo two > a.txt && ${commit} && git switch --quiet --create next && git log --oneline`);
    expect(text.split('\n')).toHaveLength(2);
    expect(git('status', '--short', '--branch')).toBe('## next\n');
    expect(readdirSync(join(root, '.git')).sort()).toEqual(before);
    expect(readFileSync(join(root, '.git/config'), 'utf8')).not.toContain('user');
  });

  test.each([
    ['a hook', 'echo x > .git/hooks/pre-commit'],
    ['a hook of another name', 'chmod +x .git/hooks/*; mv .git/hooks .git/old; mkdir .git/hooks; touch .git/hooks/x'],
    ['the configuration', 'git config core.fsmonitor "touch /tmp/x"'],
    ['the configuration in place', 'echo "[core]" >> .git/config; sed -i s/core/x/ .git/config; rm -f .git/config'],
    ['another folder in place of it', 'mv .git old; mkdir .git; cp -r old/. .git'],
    ['a file in place of it', 'rm -rf .git; echo "gitdir: ../x" > .git'],
    ['where its configuration lies', 'echo ../../evil > .git/commondir; rm -f .git/commondir'],
    ['by a link', 'ln .git/config c; echo x >> c; ln -s $PWD/.git/hooks h; touch h/x; cp /dev/null .git/config'],
    ['settings', 'rm -rf .mini-cc; mkdir .mini-cc; echo "{}" > .mini-cc/settings.json; touch .mini-cc/agents/x'],
  ])('cannot change what has power over git and mini-cc: %s', async (_name, command) => {
    const {run, root} = createWorkspace();
    repository(root);
    mkdirSync(join(root, '.mini-cc/agents'), {recursive: true});
    writeFileSync(join(root, '.git/hooks/post-commit'), 'mine');
    const config = readFileSync(join(root, '.git/config'), 'utf8');
    const {isError} = await run(command);
    expect(isError).toBe(true);
    expect(readFileSync(join(root, '.git/config'), 'utf8')).toBe(config);
    expect(readFileSync(join(root, '.git/hooks/post-commit'), 'utf8')).toBe('mine');
    expect(readdirSync(join(root, '.git/hooks')).filter((name) => !name.endsWith('.sample'))).toEqual(['post-commit']);
    expect(readdirSync(join(root, '.mini-cc'))).toEqual(['agents']);
    expect(readdirSync(join(root, '.mini-cc/agents'))).toEqual([]);
  });

  test('cannot create hooks in a repository that has none', async () => {
    const {run, root} = createWorkspace();
    repository(root);
    execFileSync('rm', ['-r', join(root, '.git/hooks')]);
    expect((await run('mkdir -p .git/hooks && echo x > .git/hooks/pre-commit')).isError).toBe(true);
    expect(existsSync(join(root, '.git/hooks'))).toBe(false);
  });

  test('cannot change hooks in another folder of the workspace that the configuration names', async () => {
    const {run, root} = createWorkspace();
    const git = repository(root);
    git('config', 'core.hooksPath', '.husky/_');
    mkdirSync(join(root, '.husky/_'), {recursive: true});
    expect((await run('echo evil > .husky/pre-commit')).isError).toBe(true);
    expect(readdirSync(join(root, '.husky'))).toEqual(['_']);
  });

  test('cannot change nested repositories or the file that names one', async () => {
    const {run, root} = createWorkspace();
    repository(root);
    repository(join(root, 'packages/inner'));
    mkdirSync(join(root, 'tree'));
    writeFileSync(join(root, 'tree/.git'), 'gitdir: /elsewhere\n');
    const command =
      'echo x > packages/inner/.git/hooks/a; rm tree/.git; echo "gitdir: /tmp/x" > tree/.git; mv packages/inner/.git x';
    expect((await run(command)).isError).toBe(true);
    expect(existsSync(join(root, 'packages/inner/.git/hooks/a'))).toBe(false);
    expect(readFileSync(join(root, 'tree/.git'), 'utf8')).toBe('gitdir: /elsewhere\n');
  });

  test('is refused when a protected place is a link, which could be replaced', async () => {
    const {run, root, outside} = createWorkspace();
    symlinkSync(outside, join(root, '.claude'));
    const {text, isError} = await run('touch made');
    expect(isError).toBe(true);
    expect(text).toMatch(/cannot keep .*\.claude from being replaced, because it is a link: make it a real one/);
    expect(readdirSync(root)).toEqual(['.claude']);
  });

  test('cannot write files that the shell reads at start when the workspace is the home', async () => {
    const {run, home} = createWorkspace({root: (base) => join(base, 'home')});
    writeFileSync(join(home, '.bashrc'), 'mine');
    mkdirSync(join(home, '.ssh'));
    writeFileSync(join(home, '.ssh/id'), 'SECRET');
    const {text} = await run(
      'echo evil >> .bashrc; echo evil > .profile; mkdir -p .config/git; cat .ssh/id; touch code.ts',
    );
    expect(text).not.toContain('SECRET');
    expect(readFileSync(join(home, '.bashrc'), 'utf8')).toBe('mine');
    expect(readdirSync(home).sort()).toEqual(['.bashrc', '.ssh', 'code.ts']);
  });

  test('does not disturb git and shells of the user meanwhile when the workspace is the home', async () => {
    const {run, home} = createWorkspace({root: (base) => join(base, 'home')});
    writeFileSync(join(home, '.profile'), 'echo mine');
    writeFileSync(join(home, '.zshrc'), '');
    const running = run('touch begun; until [ -e seen ]; do sleep 0.05; done; git config --global user.name');
    await until(() => existsSync(join(home, 'begun')));
    const env = {...process.env, HOME: home};
    expect(execFileSync('git', ['config', '--global', '--list'], {env, encoding: 'utf8'})).toBe('');
    expect(execFileSync('bash', ['-lc', 'true'], {env, encoding: 'utf8'})).toBe('mine\n');
    writeFileSync(join(home, 'seen'), '');
    expect((await running).text).not.toContain('fatal');
    expect(readdirSync(home).sort()).toEqual(['.profile', '.zshrc', 'begun', 'seen']);
  });

  test('does not follow links out of the workspace', async () => {
    const {run, root, outside} = createWorkspace();
    writeFileSync(join(outside, 'a.txt'), 'mine');
    symlinkSync(outside, join(root, 'out'));
    symlinkSync(process.env.HOME ?? '/root', join(root, 'home'));
    await run('echo x > out/a.txt; touch home/made-by-mini-cc; ln out/a.txt a; rm -f out/a.txt');
    expect(readFileSync(join(outside, 'a.txt'), 'utf8')).toBe('mine');
    expect(existsSync(join(process.env.HOME ?? '/root', 'made-by-mini-cc'))).toBe(false);
  });

  test('has a home and no keys in its environment', async () => {
    const {run, workspace, home, sandbox} = createWorkspace();
    Object.assign(workspace.env, {
      GITHUB_TOKEN: 'abcdefgh',
      AWS_SECRET_ACCESS_KEY: 'x',
      SSH_AUTH_SOCK: '/x',
      LANG: 'de',
    });
    expect((await run('echo "$GITHUB_TOKEN$AWS_SECRET_ACCESS_KEY$SSH_AUTH_SOCK|$LANG|$HOME|$TMPDIR"')).text).toBe(
      `|de|${home}|${sandbox.folder.temporary}`,
    );
  });

  test('runs outside the sandbox when the decision says so', async () => {
    const {run, home} = createWorkspace();
    expect((await run(`touch ${home}/made`, {unconfined: true})).text).toBe('(no output)');
    expect(readdirSync(home)).toEqual(['made']);
  });

  test('is reported when git outside replaced a protected file meanwhile', async () => {
    const {run, root} = createWorkspace();
    const git = repository(root);
    const running = run('touch begun; while [ ! -e go ]; do sleep 0.02; done');
    await until(() => existsSync(join(root, 'begun')));
    git('config', 'user.nick', 'ann');
    writeFileSync(join(root, 'go'), '');
    expect((await running).text).toContain(`${join(root, '.git/config')} was replaced from outside while this`);
    expect((await run('true')).text).toBe('(no output)');
  });

  test('ends at an abort, and leaves no placeholders', async () => {
    const {run, root} = createWorkspace();
    const abort = new AbortController();
    const running = run(`trap '' TERM; touch begun; sleep 600 & sleep 600`, {signal: abort.signal});
    await until(() => existsSync(join(root, 'begun')));
    abort.abort();
    expect((await running).text).toBe('interrupted');
    expect(readdirSync(root)).toEqual(['begun']);
  });
});

describe.runIf(usable)('placeholders', () => {
  test('are not created where neither mini-cc nor the command can create files', async () => {
    // Not even root can write there.
    const {run} = createWorkspace({root: () => '/sys/kernel/mm'});
    const {text} = await run('mkdir .mini-cc; echo ran');
    expect(text).toMatch(/cannot create directory .*\nran\n\(the sandbox confined/);
  });

  test('of another process stay, and those that a crash left are removed', async () => {
    const {run, root} = createWorkspace();
    mkdirSync(join(root, `.claude/.held-by-${process.ppid}`), {recursive: true});
    const gone = 2 ** 22 + 1;
    expect(isRunning(gone)).toBe(false);
    mkdirSync(join(root, `.mini-cc/.held-by-${gone}`), {recursive: true});
    expect((await run('touch .claude/x || touch .mini-cc/x')).isError).toBe(true);
    expect(readdirSync(root)).toEqual(['.claude']);
    expect(readdirSync(join(root, '.claude'))).toEqual([`.held-by-${process.ppid}`]);
  });

  test('do not remove what the user put there meanwhile', async () => {
    const {run, root} = createWorkspace();
    const running = run('while [ ! -e go ]; do sleep 0.02; done');
    await until(() => existsSync(join(root, '.mini-cc')));
    writeFileSync(join(root, '.mini-cc/settings.json'), '{}');
    writeFileSync(join(root, 'go'), '');
    await running;
    expect(readdirSync(join(root, '.mini-cc'))).toEqual(['settings.json']);
    expect(statSync(join(root, '.mini-cc')).isDirectory()).toBe(true);
  });

  test('do not remove a file that a program of the user wrote in place of the placeholder meanwhile', async () => {
    const {run, root} = createWorkspace();
    repository(root);
    const file = join(root, '.git/config.worktree');
    const running = run('while [ ! -e go ]; do sleep 0.02; done');
    await until(() => existsSync(file));
    writeFileSync(file, '[core]\n\tsparseCheckout = true\n');
    writeFileSync(join(root, 'go'), '');
    await running;
    expect(readFileSync(file, 'utf8')).toContain('sparseCheckout');
  });
});

describe.runIf(usable)('a command that runs guarded', () => {
  const guarded = (place?: Place) => {
    const {call, sandbox, workspace, root, base, home} = createWorkspace(place);
    const git = repository(root);
    const bash = createBash(sandbox, new ProcessGroups());
    const own = {...workspace, confinement: 'none' as const};
    const run = async (command: string) => {
      const attempt = {launch: 'guarded', checkpoint: true} as const;
      return (await call(bash, {command, timeout_seconds: 20}, {workspace: own, attempt})).text;
    };
    return {run, git, root, base, home};
  };

  test('writes no protected place by any way, and keeps what was there', async () => {
    const {run, root, home} = guarded();
    writeFileSync(join(home, '.gitconfig'), '# mine\n');
    mkdirSync(join(root, 'evil/.git/hooks'), {recursive: true});
    writeFileSync(join(root, 'evil/.git/hooks/pre-commit'), 'evil');
    writeFileSync(join(root, 'evil/.gitconfig'), 'evil');
    const before = readFileSync(join(root, '.git/config'), 'utf8');
    const isRoot = process.getuid?.() === 0;
    const attempts = [
      'sort -uo.git/hooks/z04 a.txt',
      'tar cf e.tar -C evil .git .gitconfig; tar xf e.tar',
      `tar xf e.tar -C ${home}`,
      'cp -r evil/. .',
      'mv .git/hooks .git/h; mkdir -p .git/hooks; touch .git/hooks/x',
      'git config core.pager evil',
      'mkdir .mini-cc; touch .mini-cc/settings.json',
      `echo evil > ${home}/.gitconfig`,
      // Root reaches the places through the sandbox's own process, see docs/security.md.
      ...(isRoot
        ? []
        : [
            'p=$(cut -d" " -f4 /proc/self/stat); for q in $p $PPID 1; do cp a.txt /proc/$q/root$PWD/.git/hooks/p; done',
          ]),
      'umount .git/hooks; mount -o remount,rw .git/hooks; touch .git/hooks/u',
    ];
    for (const command of attempts) {
      await run(command);
      expect(
        readdirSync(join(root, '.git/hooks')).filter((name) => !name.endsWith('.sample')),
        command,
      ).toEqual([]);
      expect(existsSync(join(root, '.mini-cc')), command).toBe(false);
      expect(readFileSync(join(home, '.gitconfig'), 'utf8'), command).toBe('# mine\n');
      expect(readFileSync(join(root, '.git/config'), 'utf8'), command).toBe(before);
    }
  });

  test('does not write settings of mini-cc and Claude Code in the home, but temporary files and a workspace there', async () => {
    const {run, home} = guarded();
    for (const name of ['.mini-cc', '.claude']) {
      mkdirSync(join(home, name), {recursive: true});
      expect(await run(`touch ${home}/${name}/settings.json`), name).toMatch(/Read-only file system/);
      expect(existsSync(join(home, name, 'settings.json')), name).toBe(false);
    }
    expect(await run('touch "$TMPDIR/a" && ls "$TMPDIR"')).toBe('a');
    const inside = guarded({root: (base) => join(base, 'home/.claude/skills/x')});
    expect(await inside.run('touch made .git/hooks/x; ls')).toMatch(/Read-only file system.*made/s);
  });

  test('is as a plain one otherwise: files elsewhere, commits, worktrees, processes and the network', async () => {
    const {run, git, root, base} = guarded();
    expect(await run(`echo hi > ${base}/made && cat ${base}/made`)).toBe('hi');
    await run('git -c user.name=a -c user.email=a@b commit -qam two --allow-empty && git worktree add -q ../tree');
    expect(git('log', '--format=%s').split('\n')[0]).toBe('two');
    expect(readFileSync(join(base, 'tree/a.txt'), 'utf8')).toBe('one\n');
    expect(await run(`kill -0 ${process.pid} && readlink /proc/self/ns/net`)).toBe(
      execFileSync('readlink', ['/proc/self/ns/net'], {encoding: 'utf8'}).trim(),
    );
    expect(existsSync(join(root, '.claude'))).toBe(false);
  });
});
