/** The checks of a project, by its manifests. */
import {mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {expect, onTestFinished, test} from 'vitest';
import {findNamedFiles} from '../../../src/core/verification/check-run.ts';
import {findChecks, getChecks} from '../../../src/core/verification/find-checks.ts';

function folder(files: Readonly<Record<string, string>>): string {
  const root = mkdtempSync(path.join(tmpdir(), 'mini-cc-checks-'));
  onTestFinished(() => rmSync(root, {recursive: true}));
  for (const [name, text] of Object.entries(files)) writeFileSync(path.join(root, name), text);
  return root;
}

const scripts = (each: Record<string, string>, more = {}) => JSON.stringify({scripts: each, ...more});
const CASES: readonly [string, Readonly<Record<string, string>>, readonly string[], readonly string[]][] = [
  ['nothing', {}, [], []],
  [
    'npm scripts',
    {'package.json': scripts({lint: 'x', typecheck: 'x', test: 'x'})},
    ['npm run lint', 'npm run typecheck'],
    ['npm run test'],
  ],
  ['pnpm', {'package.json': scripts({lint: 'x'}), 'pnpm-lock.yaml': ''}, ['pnpm run lint'], []],
  ['yarn', {'package.json': scripts({test: 'x'}), 'yarn.lock': ''}, [], ['yarn run test']],
  [
    'the placeholder of npm init',
    {'package.json': scripts({test: 'echo "Error: no test specified" && exit 1'})},
    [],
    [],
  ],
  [
    'TypeScript without a script',
    {'package.json': scripts({}, {devDependencies: {typescript: '5'}}), 'tsconfig.json': '{}'},
    ['npx --no-install tsc --noEmit'],
    [],
  ],
  ['bun', {'package.json': scripts({lint: 'x'}), 'bun.lock': ''}, ['bun run lint'], []],
  ['bun with its older lock file', {'package.json': scripts({lint: 'x'}), 'bun.lockb': ''}, ['bun run lint'], []],
  [
    'one script to lint and one for types, where there are several, and no compiler beside them',
    {
      'package.json': scripts({tsc: 'x', types: 'x', biome: 'x', eslint: 'x'}, {dependencies: {typescript: '5'}}),
      'tsconfig.json': '{}',
    },
    ['npm run eslint', 'npm run types'],
    [],
  ],
  [
    'TypeScript that is not installed',
    {'package.json': scripts({}, {dependencies: {}}), 'tsconfig.json': '{}'},
    [],
    [],
  ],
  ['scripts that are no texts', {'package.json': '{"scripts": {"lint": 1, "test": {}}}'}, [], []],
  ['a package.json without any script', {'package.json': '\uFEFF{"scripts": null}', 'tsconfig.json': '{}'}, [], []],
  ['a package.json that is null', {'package.json': 'null'}, [], []],
  ['a package.json that is no JSON', {'package.json': '{'}, [], []],
  [
    'Python',
    {'pyproject.toml': '[tool.ruff]\n[tool.mypy]\n[tool.pytest.ini_options]\n'},
    ['ruff check .', 'mypy .'],
    ['python3 -m pytest -q'],
  ],
  [
    'Python by its dependencies',
    {'pyproject.toml': 'dev = ["flake8", "pytest>=7"]\n'},
    ['flake8'],
    ['python3 -m pytest -q'],
  ],
  [
    'Python of setup.cfg',
    {'setup.cfg': '[flake8]\n[mypy]\n[tool:pytest]\n'},
    ['flake8', 'mypy .'],
    ['python3 -m pytest -q'],
  ],
  [
    'Python with two linters and two type checkers, and tests by a file',
    {'pyproject.toml': '[tool.ruff]\n[tool.pyright]\n', 'setup.cfg': '[flake8]\n', 'pytest.ini': ''},
    ['ruff check .', 'pyright'],
    ['python3 -m pytest -q'],
  ],
  ['Python with conftest.py', {'pyproject.toml': '', 'conftest.py': ''}, [], ['python3 -m pytest -q']],
  ['Python without tests', {'pyproject.toml': '[project]\n'}, [], []],
  ['Go', {'go.mod': 'module x\n'}, ['go vet ./...'], ['go test ./...']],
  ['Rust', {'Cargo.toml': '[package]\n'}, ['cargo check --all-targets'], ['cargo test']],
  ['a Makefile', {Makefile: 'CC := gcc\nlint:\n\ttrue\ntest: lint\n\ttrue\ncheck:\n'}, ['make lint'], ['make test']],
  ['a makefile', {makefile: 'types:\nvet:\ntest:\ncheck:\n'}, ['make types'], ['make test']],
  ['a GNUmakefile', {GNUmakefile: 'lint:\nvet:\ncheck:\n'}, ['make lint', 'make vet'], ['make check']],
  [
    'a Makefile beside package.json',
    {Makefile: 'lint:\ntest:\n', 'package.json': scripts({lint: 'x'})},
    ['npm run lint'],
    ['make test'],
  ],
];

test.each(CASES)('%s', (_, files, fast, thorough) => {
  expect(findChecks(folder(files))).toEqual({fast, thorough});
});

test('the settings name commands in place of those that are found, level by level', () => {
  const root = folder({'package.json': scripts({lint: 'x', test: 'x'})});
  const get = (level: 'off' | 'fast' | 'thorough', more = {}) => getChecks({level, rounds: 2, ...more}, root);
  expect(get('off')).toEqual([]);
  expect(get('fast')).toEqual(['npm run lint']);
  expect(get('thorough', {fast: ['a']})).toEqual(['a', 'npm run test']);
  expect(get('thorough', {fast: ['a'], thorough: []})).toEqual(['a']);
  expect(get('thorough', {fast: [], thorough: ['b']})).toEqual(['b']);
  expect(get('thorough', {thorough: ['b']})).toEqual(['npm run lint', 'b']);
});

test('a failure names a file by its path, not by a part of a longer name', () => {
  const files = ['src/a.ts', 'src/b.ts', 'a.ts'];
  expect(findNamedFiles(['/w/src/a.ts:3:1 error', 'src/b.tsx: x'], files)).toEqual(['src/a.ts', 'a.ts']);
  expect(findNamedFiles(['xa.ts', 'lib/src/b.ts(1)'], files)).toEqual(['src/b.ts']);
});
