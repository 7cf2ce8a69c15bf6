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
  ['Go', {'go.mod': 'module x\n'}, ['go vet ./...'], ['go test ./...']],
  ['Rust', {'Cargo.toml': '[package]\n'}, ['cargo check --all-targets'], ['cargo test']],
  ['a Makefile', {Makefile: 'CC := gcc\nlint:\n\ttrue\ntest: lint\n\ttrue\ncheck:\n'}, ['make lint'], ['make test']],
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
  expect(get('thorough', {thorough: ['b']})).toEqual(['npm run lint', 'b']);
});

test('a failure names a file by its path, not by a part of a longer name', () => {
  const files = ['src/a.ts', 'src/b.ts', 'a.ts'];
  expect(findNamedFiles(['/w/src/a.ts:3:1 error', 'src/b.tsx: x'], files)).toEqual(['src/a.ts', 'a.ts']);
  expect(findNamedFiles(['xa.ts', 'lib/src/b.ts(1)'], files)).toEqual(['src/b.ts']);
});
