/**
 * Finds the commands by which a project checks itself in its manifests: package.json, pyproject.toml, go.mod,
 * Cargo.toml, Makefile. The settings can name them instead.
 */
import {existsSync, readFileSync} from 'node:fs';
import path from 'node:path';
import {type Manifest, parseManifest} from '../util/manifests.ts';

const VERIFY_LEVELS = ['off', 'fast', 'thorough'] as const;
type VerifyLevel = (typeof VERIFY_LEVELS)[number];

export interface VerifySettings {
  readonly level: VerifyLevel;
  /** How many times failures go back to an agent. */
  readonly rounds: number;
  /** Commands that replace the found ones. */
  readonly fast?: readonly string[] | undefined;
  readonly thorough?: readonly string[] | undefined;
}

interface Checks {
  /** Lint and type checks. */
  readonly fast: readonly string[];
  /** Tests, which run after the fast checks. */
  readonly thorough: readonly string[];
}

/** @param root folder of the manifests @returns the commands in the order in which they run */
export function getChecks(settings: VerifySettings, root: string): readonly string[] {
  if (settings.level === 'off') return [];
  const found = settings.fast && settings.thorough ? {fast: [], thorough: []} : findChecks(root);
  const fast = settings.fast ?? found.fast;
  return settings.level === 'fast' ? fast : [...fast, ...(settings.thorough ?? found.thorough)];
}

export function findChecks(root: string): Checks {
  const read = (name: string): string | undefined => {
    try {
      return readFileSync(path.join(root, name), 'utf8');
    } catch {
      // The file does not exist, or is not a file.
      return undefined;
    }
  };
  const has = (name: string) => existsSync(path.join(root, name));
  const parse = (name: string, text = read(name)) => (text === undefined ? undefined : parseManifest(name, text));
  const found = [
    inPackageJson(parse('package.json'), has),
    inPyproject([read('pyproject.toml'), read('setup.cfg')], has),
    read('go.mod') === undefined ? NONE : {fast: ['go vet ./...'], thorough: ['go test ./...']},
    read('Cargo.toml') === undefined ? NONE : {fast: ['cargo check --all-targets'], thorough: ['cargo test']},
  ];
  const manifests = {fast: found.flatMap(({fast}) => fast), thorough: found.flatMap(({thorough}) => thorough)};
  // A Makefile mostly calls the same programs, so it counts only when no other manifest has checks.
  const makefile = inMakefile(parse('Makefile') ?? parse('makefile') ?? parse('Makefile', read('GNUmakefile')));
  return {
    fast: manifests.fast.length > 0 ? manifests.fast : makefile.fast,
    thorough: manifests.thorough.length > 0 ? manifests.thorough : makefile.thorough,
  };
}

const NONE: Checks = {fast: [], thorough: []};
type Has = (name: string) => boolean;

const LINT_SCRIPTS = ['lint', 'lint:check', 'eslint', 'biome'];
const TYPE_SCRIPTS = ['typecheck', 'type-check', 'check-types', 'types', 'check:types', 'tsc', 'typescript'];

function inPackageJson(manifest: Manifest | undefined, has: Has): Checks {
  if (!manifest) return NONE;
  const {scripts, dependencies} = manifest;
  const run = `${findPackageManager(has)} run`;
  const first = (names: readonly string[]) =>
    names.filter((name) => scripts.some((script) => script.name === name)).slice(0, 1);
  const types = first(TYPE_SCRIPTS);
  const hasCompiler = dependencies.some(({name, use}) => name === 'typescript' && use !== 'peer');
  const bare = types.length === 0 && has('tsconfig.json') && hasCompiler ? ['npx --no-install tsc --noEmit'] : [];
  const test = scripts.find(({name}) => name === 'test');
  return {
    fast: [...[...first(LINT_SCRIPTS), ...types].map((name) => `${run} ${name}`), ...bare],
    thorough: test && !/no test specified/.test(test.value) ? [`${run} test`] : [],
  };
}

function findPackageManager(has: Has): string {
  if (has('pnpm-lock.yaml')) return 'pnpm';
  if (has('yarn.lock')) return 'yarn';
  return has('bun.lock') || has('bun.lockb') ? 'bun' : 'npm';
}

/** @param texts contents of pyproject.toml and setup.cfg */
function inPyproject(texts: readonly (string | undefined)[], has: Has): Checks {
  if (texts.every((text) => text === undefined)) return NONE;
  const text = texts.join('\n');
  const names = (tool: string) => new RegExp(`^\\[(?:tool[.:])?${tool}(?:[.:\\]])|["']${tool}\\b`, 'm').test(text);
  return {
    fast: [
      ...(names('ruff') ? ['ruff check .'] : names('flake8') ? ['flake8'] : []),
      ...(names('mypy') ? ['mypy .'] : names('pyright') ? ['pyright'] : []),
    ],
    thorough: names('pytest') || has('pytest.ini') || has('conftest.py') ? ['python3 -m pytest -q'] : [],
  };
}

function inMakefile(manifest: Manifest | undefined): Checks {
  const targets = new Set(manifest?.scripts.map(({name}) => name));
  const pick = (names: readonly string[]) =>
    names.map((name) => `make ${name}`).filter((target) => targets.has(target));
  const types = pick(['typecheck', 'type-check', 'types', 'mypy', 'vet']).slice(0, 1);
  return {fast: [...pick(['lint']), ...types], thorough: pick(['test', 'tests', 'check']).slice(0, 1)};
}
