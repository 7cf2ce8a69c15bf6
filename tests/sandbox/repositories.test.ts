/** What commands in the real sandbox leave behind for git, which later runs outside of it. */
import {execFileSync} from 'node:child_process';
import {existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, statSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {createSandbox} from '../../src/sandbox/index.ts';
import {ProcessGroups} from '../../src/sandbox/launch/process-groups.ts';
import {createBash} from '../../src/tools/bash/bash.ts';
import {hasSandbox} from '../support/sandbox.ts';
import {fixture} from '../tools/fixture.ts';

const usable = await hasSandbox();

const COMMIT = '-c user.name=A -c user.email=a@b commit --quiet';

/** A workspace with one commit, below which commands run confined or, as a control, as they are. */
function createWorkspace() {
  const outer = fixture();
  const {root} = outer;
  const base = realpathSync(join(root, '..'));
  const home = join(base, 'home');
  const marks = join(base, 'marks');
  mkdirSync(marks);
  const env = {PATH: process.env.PATH ?? '', HOME: home, GIT_CONFIG_NOSYSTEM: '1'};
  writeFileSync(join(home, '.gitconfig'), '[user]\n\tname = A\n\temail = a@b\n[protocol "file"]\n\tallow = always\n');
  const git = (...args: string[]) => execFileSync('git', args, {cwd: root, env, encoding: 'utf8', stdio: 'pipe'});
  git('init', '--quiet', '--initial-branch', 'main');
  writeFileSync(join(root, 'a.txt'), 'one\n');
  git('add', '.');
  git('commit', '--quiet', '--message', 'One');
  const workspace = {...outer.workspace, cwd: root, confinement: 'workspace-write' as const, env};
  const bash = createBash(createSandbox({home, miniCcHome: join(home, '.mini-cc')}), new ProcessGroups());
  const run = async (command: string) =>
    (await outer.call(bash, {command: fill(command), timeout_seconds: 20}, {workspace})).text;
  const words = [
    ...[
      ['@EVIL', `touch ${marks}/ran`],
      ['@OUT', outer.outside],
      ['@COMMIT', COMMIT],
    ],
  ] as const;
  const fill = (command: string) => words.reduce((text, [word, value]) => text.replaceAll(word, value), command);
  /** A person works on: whether a program of the repository ran. */
  const attempt = (command: string) => {
    try {
      execFileSync('bash', ['-c', fill(command)], {cwd: root, env, stdio: 'pipe'});
    } catch {
      // Git fails where a program of its settings does.
    }
    return existsSync(join(marks, 'ran'));
  };
  return {root, outside: outer.outside, git, run, attempt, fill, env};
}

/** What a command does, what the person does afterwards, and what of it is named. */
const HOSTILE: readonly (readonly [what: string, command: string, later: string, named: RegExp])[] = [
  [
    'a repository with a file watcher, as gitlink in the index',
    'git init -q sub; git -C sub @COMMIT --allow-empty -m x; git add sub; git -C sub config core.fsmonitor "@EVIL; false"',
    'git status',
    /\/sub\/\.git, .*\(core\.fsmonitor\)/,
  ],
  [
    'a hook',
    'git init -q sub; printf "#!/bin/sh\\n@EVIL" > sub/.git/hooks/pre-commit; chmod +x sub/.git/hooks/pre-commit',
    'cd sub && git commit --allow-empty -m x',
    /\(hooks\/pre-commit\)/,
  ],
  [
    'a folder of hooks elsewhere',
    'git init -q sub; mkdir sub/h; printf "#!/bin/sh\\n@EVIL" > sub/h/pre-commit; chmod +x sub/h/*; git -C sub config core.hooksPath h',
    'cd sub && git commit --allow-empty -m x',
    /\(core\.hookspath\)/,
  ],
  ['an alias', 'git init -q sub; git -C sub config alias.x "!@EVIL"', 'cd sub && git x', /\(alias\.x\)/],
  [
    'an included file of settings',
    'git init -q sub; printf "[alias]\\n\\tx = !@EVIL" > sub/more; git -C sub config include.path ../more',
    'cd sub && git x',
    /\(include\.path\)/,
  ],
  [
    'a filter',
    'git init -q sub; echo "* filter=f" > sub/.gitattributes; git -C sub config filter.f.clean "@EVIL"; touch sub/b',
    'cd sub && git add b',
    /\(filter\.f\.clean\)/,
  ],
  [
    'a text converter, after a line break that hides it from a simple reader',
    'git init -q sub; cd sub; echo "* diff=x" > .gitattributes; echo 1 > b; git add .; git @COMMIT -m x; echo 2 > b; printf "[diff \\"x\\"]\\n\\r\\ttextconv = @EVIL;" >> .git/config',
    'cd sub && git diff',
    /\(diff\.x\.textconv\)/,
  ],
  [
    'a bare repository',
    'git init -q --bare store; git -C store config alias.x "!@EVIL"',
    'cd store && git x',
    /\/store, .*\(alias\.x\)/,
  ],
  [
    'a gitlink to a folder that looks like another thing',
    'git init -q --separate-git-dir=data sub; git -C sub config alias.x "!@EVIL"',
    'cd sub && git x',
    /\/sub\/\.git, .*alias\.x/,
  ],
  [
    'a linked worktree with settings of its own',
    'git init -q sub; cd sub; git @COMMIT --allow-empty -m x; git config extensions.worktreeConfig true; git worktree add -q ../tree; git -C ../tree config --worktree core.fsmonitor "@EVIL; false"',
    'cd tree && git status',
    /\/tree\/\.git, .*core\.fsmonitor/,
  ],
  [
    'a submodule of a new repository',
    'git init -q part; git -C part @COMMIT --allow-empty -m x; git init -q sub; cd sub; git -c protocol.file.allow=always submodule --quiet add ../part; git -C part config alias.x "!@EVIL"',
    'cd sub/part && git x',
    /alias\.x/,
  ],
  [
    'a repository deep in node_modules',
    'mkdir -p node_modules/a/b/c/d; git init -q node_modules/a/b/c/d; git -C node_modules/a/b/c/d config alias.x "!@EVIL"',
    'cd node_modules/a/b/c/d && git x',
    /\(alias\.x\)/,
  ],
  [
    'a link as .git',
    'git init -q hidden; mv hidden/.git hidden/data; mkdir sub; ln -s ../hidden/data sub/.git; git -C sub config alias.x "!@EVIL"',
    'cd sub && git x',
    /\/sub\/\.git, .*alias\.x/,
  ],
];

describe.runIf(usable)('a repository that a confined command made', () => {
  test.each(HOSTILE)('is set aside when it names a program: %s', async (_what, command, later, named) => {
    const {run, attempt, root} = createWorkspace();
    const text = await run(command);
    expect(text).toMatch(named);
    const [, aside, place] = /set aside as (\S+), .* mv \S+ (\S+)\)/.exec(text)!;
    expect(existsSync(place!)).toBe(false);
    expect(readdirSync(root).length).toBeGreaterThan(1);
    expect(statSync(aside!)).toBeTruthy();
    expect(attempt(later)).toBe(false);
  });

  test.each(HOSTILE)('does run the program where nothing confines the command: %s', (_what, command, later) => {
    const {attempt} = createWorkspace();
    attempt(command);
    expect(attempt(later)).toBe(true);
  });

  test('is as it was when a person puts it back with the command that the result names', async () => {
    const {run, attempt, root} = createWorkspace();
    const text = await run(HOSTILE[0]![1]);
    const config = readFileSync(join(root, 'sub/.git.set-aside-1/config'), 'utf8');
    expect(config).toContain('fsmonitor');
    execFileSync('bash', ['-c', /To put it back[^:]*: (mv .*)\)/.exec(text)![1]!]);
    expect(readFileSync(join(root, 'sub/.git/config'), 'utf8')).toBe(config);
    expect(attempt('git status')).toBe(true);
    // It is the user's own from then on, and a command cannot change it.
    expect(await run('git -C sub config user.nick x; echo x > b')).not.toContain('set aside');
    expect(existsSync(join(root, 'sub/.git'))).toBe(true);
  });

  test('is reported in one line and stays when it names none, and the next command commits in it', async () => {
    const {run, root} = createWorkspace();
    const text = await run(
      'git init -q x; git clone -q . y; git init -q --bare z; git init -q w/v --separate-git-dir=gd; git worktree add -q wt',
    );
    expect(text).toMatch(/\(this command made 6 git repositories: .*\)$/);
    expect(text.split('\n')).toHaveLength(1);
    expect(await run('cd x && echo 1 > a && git add a && git @COMMIT -m one && git log --oneline | wc -l')).toBe('1');
    expect(readdirSync(join(root, 'x')).sort()).toEqual(['.git', 'a']);
    expect(await run('git config alias.x "!true"')).toContain('Device or resource busy');
  });

  test('is found in a further root, and when the workspace itself became one', async () => {
    const {run, root} = createWorkspace();
    execFileSync('rm', ['-rf', join(root, '.git')]);
    const text = await run('git init -q --bare .; git config alias.x "!true"');
    expect(text).toContain(`mv ${root}/HEAD.set-aside-1 ${root}/HEAD`);
    expect(existsSync(join(root, 'HEAD'))).toBe(false);
  });

  test('is not confused with one that moved along with its folder', async () => {
    const {run, root} = createWorkspace();
    execFileSync('bash', ['-c', 'git init -q p/q; git -C p/q config alias.x "!true"'], {cwd: root});
    expect(await run('mv p r && ls r')).toBe('q');
    expect(existsSync(join(root, 'r/q/.git/config'))).toBe(true);
  });
});

describe.runIf(usable)('the search for repositories', () => {
  test('takes another spelling of .git for one only where the file system does', async () => {
    const {run, root} = createWorkspace();
    const text = await run('git init -q x; git -C x config alias.x "!true"; mv x/.git x/.GIT; ls -A x');
    const isOne = existsSync(join(root, 'x/.git')) || text.includes('set aside');
    expect(text === '.GIT').toBe(!isOne);
    expect(readdirSync(join(root, 'x'))).toEqual([isOne ? '.GIT.set-aside-1' : '.GIT']);
  });

  test('says where the command closed a folder, or chose a name that cannot be opened', async () => {
    const {run} = createWorkspace();
    const text = await run(String.raw`mkdir $'\xff' n; git init -q $'\xff/x'`);
    expect(text).toContain('could not look for git repositories in the workspace itself');
    expect(await run('true')).toBe('(no output)');
  });

  test('sees what two commands at the same time make, each once', async () => {
    const {run, root} = createWorkspace();
    const make = (name: string) => `git init -q ${name}; git -C ${name} config alias.x "!true"; sleep 0.1`;
    const texts = await Promise.all(['a', 'b', 'c'].map((name) => run(make(name))));
    for (const name of ['a', 'b', 'c']) {
      expect(texts.join('\n').split(`${root}/${name}/.git, a git`)).toHaveLength(2);
      expect(existsSync(join(root, name, '.git'))).toBe(false);
    }
  });

  test('does not follow a link, and leaves what another program put there before the command', async () => {
    const {run, root, outside} = createWorkspace();
    execFileSync('bash', ['-c', `git init -q ${outside}/o; git -C ${outside}/o config alias.x "!true"`]);
    expect(await run('ln -s @OUT out')).toBe('(no output)');
    execFileSync('bash', ['-c', 'git init -q own; git -C own config alias.x "!true"'], {cwd: root});
    expect(await run('touch own/x')).toBe('(no output)');
    expect(existsSync(join(root, 'own/.git'))).toBe(true);
    expect(existsSync(join(outside, 'o/.git'))).toBe(true);
  });

  test('compares what it cannot mount, where there are very many repositories', async () => {
    const {run, root} = createWorkspace();
    const make = 'for i in $(seq 120); do git init -q r$i; git -C r$i config alias.x "!mine"; done';
    execFileSync('bash', ['-c', make], {cwd: root});
    const text = await run('for i in $(seq 120); do git -C r$i config alias.y "!evil"; done 2>/dev/null; true');
    const count = text.split('is set aside as').length - 1;
    const changed = execFileSync('bash', ['-c', 'grep -l evil r*/.git*/config | wc -l'], {cwd: root, encoding: 'utf8'});
    expect(count).toBeGreaterThan(0);
    expect(Number(changed)).toBe(count);
    expect(readdirSync(root).filter((name) => existsSync(join(root, name, '.git/config'))).length).toBe(120 - count);
  });
});

describe.runIf(usable)('a repository that was there before', () => {
  test.each([
    ['its modules', 'mkdir -p .git/modules/m2 && cp -r .git/HEAD .git/modules/m2/'],
    ['its attributes', 'echo "* filter=x" > .git/info/attributes'],
    ['its borrowed objects', 'echo @OUT > .git/objects/info/alternates'],
    ['its borrowed objects by other folders', 'mv .git/objects/info .git/objects/i || mv .git/objects .git/o'],
    ['where its settings lie', 'echo ../x > .git/commondir'],
    ['settings of a repository far below', 'git -C a/b/c/d/e/f config alias.x "!true"'],
    ['hooks of a bare one below', 'touch a/store/hooks/post-update'],
    ['settings in node_modules', 'git -C node_modules/m/n/o config alias.x "!true"'],
  ])('keeps %s', async (_what, command) => {
    const {run, root, env} = createWorkspace();
    const make =
      'git init -q a/b/c/d/e/f; git init -q --bare a/store; git init -q node_modules/m/n/o; rm -rf .git/info; mkdir .git/info';
    execFileSync('bash', ['-c', make], {cwd: root, env});
    const list = () => execFileSync('find', ['.', '-type', 'f'], {cwd: root, encoding: 'utf8'});
    const before = list();
    const settings = (name: string) => readFileSync(join(root, name, 'config'), 'utf8');
    const configs = ['a/b/c/d/e/f/.git', 'a/store', 'node_modules/m/n/o/.git', '.git'].map(settings);
    expect(await run(command)).toMatch(/read-only|busy|could not lock/i);
    expect(list()).toBe(before);
    expect(['a/b/c/d/e/f/.git', 'a/store', 'node_modules/m/n/o/.git', '.git'].map(settings)).toEqual(configs);
  });

  test('can be changed where no mount confines the command', () => {
    const {attempt, root} = createWorkspace();
    attempt('mkdir -p .git/modules/m2; echo @OUT > .git/objects/info/alternates; git config alias.x "!true"');
    expect(existsSync(join(root, '.git/modules/m2'))).toBe(true);
    expect(readFileSync(join(root, '.git/config'), 'utf8')).toContain('!true');
  });
});

/** What a command plants in the workspace's own `.git`, and what the person does afterwards. */
const PLANTED: readonly (readonly [what: string, command: string, later: string])[] = [
  [
    'a link as the log of HEAD',
    'rm -f .git/logs/HEAD; ln -s @OUT/written .git/logs/HEAD',
    'touch @OUT/written; git commit --allow-empty -m "x"',
  ],
  ['a link as the folder of logs', 'rm -r .git/logs; ln -s @OUT .git/logs', 'git commit --allow-empty -m x'],
  [
    'a link as the message of the next commit',
    'ln -sf @OUT/written .git/COMMIT_EDITMSG',
    'touch @OUT/written; git commit --allow-empty -m x',
  ],
  ['a link as the folder of tags', 'rm -r .git/refs/tags; ln -s @OUT .git/refs/tags', 'git tag v1'],
  [
    'programs in the steps of a rebase',
    'git branch other; git @COMMIT --allow-empty -m two; GIT_SEQUENCE_EDITOR=true git -c user.name=A -c user.email=a@b rebase --quiet --keep-empty -x false HEAD~1; printf "exec @EVIL\\n" > .git/rebase-merge/git-rebase-todo',
    'git rebase --continue',
  ],
];

describe.runIf(usable)('what a confined command plants in the git folder of the workspace', () => {
  test.each(PLANTED)(
    '%s works no longer when the command has ended, and the result names it',
    async (_, command, later) => {
      const {run, attempt, outside} = createWorkspace();
      const text = await run(command);
      expect(text).toMatch(/it was removed\)|the steps are set aside as/);
      expect(attempt(later)).toBe(false);
      expect(isWritten(outside)).toBe(false);
    },
  );

  test.each(PLANTED)('%s does work where nothing confines the command', (_, command, later) => {
    const {attempt, outside} = createWorkspace();
    attempt(command);
    expect(attempt(later) || isWritten(outside)).toBe(true);
  });
});

test.runIf(usable)('the command that puts the steps of a rebase back works where a folder has a blank', async () => {
  const {run, root, env} = createWorkspace();
  const folder = join(root, 'a b');
  const make = `git init -q "${folder}" && cd "${folder}" && git ${COMMIT} --allow-empty -m one && git ${COMMIT} --allow-empty -m two && GIT_SEQUENCE_EDITOR=true git rebase --quiet --keep-empty -x false HEAD~1 || test -d .git/rebase-merge`;
  execFileSync('bash', ['-c', make], {cwd: root, env, stdio: 'pipe'});
  const text = await run('printf "exec true\\n" > "a b/.git/rebase-merge/git-rebase-todo"');
  const file = join(folder, '.git/rebase-merge/git-rebase-todo');
  expect(existsSync(file)).toBe(false);
  const [, back = ''] = /once you have looked at them: (mv .*)\)/.exec(text) ?? [];
  execFileSync('bash', ['-c', back]);
  expect(readFileSync(file, 'utf8')).toBe('exec true\n');
});

function isWritten(folder: string): boolean {
  return readdirSync(folder).some(
    (name) => statSync(join(folder, name)).isDirectory() || readFileSync(join(folder, name)).length > 0,
  );
}
