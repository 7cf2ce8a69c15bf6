/** Ordinary commands print the same in the read-only sandbox as outside, wherever the workspace lies. */
import {afterAll, describe, expect, test} from 'vitest';
import {hasSandbox} from '../../support/sandbox.ts';
import {type ConfinedPlace, ViewFixture} from './fixture.ts';

const usable = await hasSandbox();
const f = new ViewFixture();
afterAll(() => f.close());

const repository = f.makeRepository('home/work/repo');
f.git('home/work/repo', 'worktree', 'add', '--quiet', '../tree', '-b', 'other');
f.git('home/work', 'clone', '--quiet', '--shared', repository, 'shared');
f.makeRepository('home/work/super');
f.git('home/work/super', 'submodule', '--quiet', 'add', repository, 'libs/sub');
f.commit('home/work/super', 'with a submodule');
f.put('home/work/tree/a.txt', 'changed\n');
f.put('home/work/super/libs/sub/a.txt', 'changed\n');
f.put('home/work/repo/node_modules/left/package.json', '{"name": "left", "version": "2.0.0"}');
f.put('home/work/repo/package.json', '{"name": "repo", "dependencies": {"left": "2.0.0"}}');

const PLACES: Readonly<Record<string, ConfinedPlace>> = {
  'the top of a repository': {root: repository},
  'a subfolder of a monorepo': {root: f.at('home/work/repo/packages/one')},
  'a linked worktree': {root: f.at('home/work/tree')},
  'a submodule': {root: f.at('home/work/super/libs/sub')},
  'a --shared clone that is trusted': {root: f.at('home/work/shared')},
  'a project in the home, which is the workspace': {root: f.home, cwd: repository},
};
const COMMANDS = [
  ...['git status --short --branch', 'git log --oneline --all', 'git diff', 'git show --stat HEAD', 'git branch -vv'],
  ...[
    'cd "$(git rev-parse --show-toplevel)" && git blame HEAD -- a.txt',
    'git config user.email; git rev-parse --git-dir',
  ],
  ...['ls -lA', 'find . -name "*.json" | sort', 'grep -rn name . | sort | head', 'wc -l $(git ls-files | head -3)'],
  ...[
    'node -p "require(\'node:os\').homedir()"',
    'python3 -c "import json, os; print(os.getcwd())"',
    'npm ls --no-update-notifier',
  ],
];

/** One after the other in one shell, each with a line before and after it. */
const LINES = COMMANDS.map((command) => `echo '== ${command.replaceAll("'", '')}'; (${command}); echo "exit $?"`);
const ALL = ['export GIT_OPTIONAL_LOCKS=0', ...LINES].join('\n');

describe.runIf(usable)('the same as outside is printed', () => {
  test.each(Object.entries(PLACES))('in %s', async (_name, place) => {
    const confined = await f.run(ALL, place, {trusts: () => true});
    expect(confined.text).toBe(f.runPlainly(ALL, place).text);
    expect(confined.text.match(/^exit 0$/gm)).toHaveLength(COMMANDS.length);
  });
});

/** Tools as they are installed below a home; each prints a line of a file beside it. */
const {home} = f;
const TOOLS = {
  pipx: () => {
    f.put('home/.local/share/pipx/venvs/black/pyvenv.cfg', 'home = /usr/bin\n');
    f.link('home/.local/share/pipx/venvs/black/bin/python', '/usr/bin/python3');
    f.put('home/.local/share/pipx/venvs/black/lib/data.txt', 'black 1\n');
    const code =
      'import pathlib; print(pathlib.Path(__file__).resolve().parent.parent.joinpath("lib/data.txt").read_text())';
    const file = 'home/.local/share/pipx/venvs/black/bin/black';
    f.put(file, `#!${home}/.local/share/pipx/venvs/black/bin/python\n${code}\n`, 0o755);
    f.link('home/.local/bin/black', '../share/pipx/venvs/black/bin/black');
    return {PATH: `${home}/.local/bin:/usr/bin:/bin`, command: 'black'};
  },
  nvm: () => {
    const node = 'home/.nvm/versions/node/v20.1.0';
    f.link(`${node}/bin/node`, process.execPath);
    f.put(`${node}/lib/node_modules/tool/text.txt`, 'tool 2\n');
    f.put(
      `${node}/lib/node_modules/tool/cli.js`,
      "#!/usr/bin/env node\nprocess.stdout.write(require('node:fs').readFileSync(__dirname + '/text.txt'))\n",
      0o755,
    );
    f.link(`${node}/bin/tool`, '../lib/node_modules/tool/cli.js');
    return {PATH: `${f.at(node)}/bin:/usr/bin:/bin`, command: 'tool && node --version'};
  },
  asdf: () => {
    f.put(
      'home/.asdf/bin/asdf',
      '#!/bin/sh\nshift; exec "$HOME/.asdf/installs/$(cut -d" " -f2 ~/.tool-versions)/$1"\n',
      0o755,
    );
    f.put('home/.asdf/installs/3/thing', '#!/bin/sh\necho thing 3\n', 0o755);
    f.put('home/.asdf/shims/thing', '#!/bin/sh\nexec asdf exec thing\n', 0o755);
    f.put('home/.tool-versions', 'thing 3\n');
    return {PATH: `${home}/.asdf/shims:${home}/.asdf/bin:/usr/bin:/bin`, command: 'thing'};
  },
  fnm: () => {
    // A folder of PATH that is a link, in a place that is otherwise empty in the sandbox.
    f.put('home/.local/share/fnm/node-versions/v20/installation/bin/hello', '#!/bin/sh\necho hello 4\n', 0o755);
    f.link('multishells/1', `${home}/.local/share/fnm/node-versions/v20/installation`);
    return {PATH: `${f.at('multishells')}/1/bin:/usr/bin:/bin`, command: 'hello'};
  },
  npm: () => {
    f.put('home/.npm-global/lib/node_modules/a/cli.js', "#!/usr/bin/env node\nconsole.log(require('b'))\n", 0o755);
    f.put('home/.npm-global/lib/node_modules/b/index.js', "module.exports = 'b 5'\n");
    f.link('home/.npm-global/bin/a', '../lib/node_modules/a/cli.js');
    return {PATH: `${home}/.npm-global/bin:/usr/bin:/bin`, command: 'a'};
  },
  uv: () => {
    f.link('home/.local/share/uv/python/cpython-3/bin/python3', '/usr/bin/python3');
    f.put('home/work/repo/.venv/pyvenv.cfg', `home = ${home}/.local/share/uv/python/cpython-3/bin\n`);
    f.link('home/work/repo/.venv/bin/python', `${home}/.local/share/uv/python/cpython-3/bin/python3`);
    return {PATH: '/usr/bin:/bin', command: '.venv/bin/python -c "print(6)"'};
  },
  rustup: () => {
    f.put('home/.rustup/settings.toml', 'default = "7"\n');
    f.put('home/.cargo/bin/rustup', '#!/bin/sh\ncat ~/.rustup/settings.toml\n', 0o755);
    f.link('home/.cargo/bin/cargo', 'rustup');
    f.put('home/.cargo/credentials.toml', 'CANARY');
    return {PATH: `${home}/.cargo/bin:/usr/bin:/bin`, command: 'cargo'};
  },
};

describe.runIf(usable)('a tool on PATH works', () => {
  test.each(Object.keys(TOOLS) as (keyof typeof TOOLS)[])(
    'of %s, and the home around it stays hidden',
    async (name) => {
      const {PATH, command} = TOOLS[name]();
      for (const root of [repository, home]) {
        const place = {root, cwd: repository, env: {PATH}};
        const plain = f.runPlainly(command, place);
        expect(plain.exitCode).toBe(0);
        expect(await f.run(command, place)).toEqual(plain);
      }
      const look = 'cat ~/private/key ~/.vault-token ~/.cargo/credentials.toml ~/.gitconfig; ls -A ~';
      const {text} = await f.run(look, {root: repository, env: {PATH}});
      expect(text).not.toContain('CANARY');
      expect(text).not.toContain('private\n');
    },
  );
});

test.runIf(usable)('in the home, names that begin with a dot are hidden, and others are not', async () => {
  const {text} = await f.run('cat private/key .vault-token .gitconfig; ls -A .local .nvm', {root: home});
  expect(text).toMatch(/^CANARY/);
  expect(text.match(/CANARY/g)).toHaveLength(1);
  expect(text).not.toContain('name = Ada');
});
