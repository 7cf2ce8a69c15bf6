/**
 * The commands by which a project checks itself, found in its manifests: package.json, pyproject.toml, go.mod, Cargo.toml,
 * Makefile. The settings can name them instead.
 */
import {existsSync, readFileSync} from 'node:fs';
import path from 'node:path';

const VERIFY_LEVELS = ['off', 'fast', 'thorough'] as const;
type VerifyLevel = (typeof VERIFY_LEVELS)[number];

export interface VerifySettings {
  readonly level: VerifyLevel;
  /** Times that what fails goes back to an agent. */
  readonly rounds: number;
  /** Commands in place of those that are found. */
  readonly fast?: readonly string[] | undefined;
  readonly thorough?: readonly string[] | undefined;
}

interface Checks {
  /** Lint and types. */
  readonly fast: readonly string[];
  /** Tests, after those. */
  readonly thorough: readonly string[];
}

/** @param root the folder of the manifests. @returns the commands in the order in which they are run */
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
      // It is not there, or no file.
      return undefined;
    }
  };
  const has = (name: string) => existsSync(path.join(root, name));
  const found = [
    inPackageJson(read('package.json'), has),
    inPyproject(read('pyproject.toml'), read('setup.cfg'), has),
    inGoMod(read('go.mod')),
    inCargo(read('Cargo.toml')),
  ];
  const manifests = {fast: found.flatMap(({fast}) => fast), thorough: found.flatMap(({thorough}) => thorough)};
  // A Makefile mostly calls the same programs: it counts where nothing else says how.
  const makefile = inMakefile(read('Makefile') ?? read('makefile') ?? read('GNUmakefile'));
  return {
    fast: manifests.fast.length > 0 ? manifests.fast : makefile.fast,
    thorough: manifests.thorough.length > 0 ? manifests.thorough : makefile.thorough,
  };
}

const NONE: Checks = {fast: [], thorough: []};
type Has = (name: string) => boolean;

const LINT_SCRIPTS = ['lint', 'lint:check', 'eslint', 'biome'];
const TYPE_SCRIPTS = ['typecheck', 'type-check', 'check-types', 'types', 'check:types', 'tsc', 'typescript'];

function inPackageJson(text: string | undefined, has: Has): Checks {
  const {scripts, devDependencies, dependencies} = parseJson(text);
  if (text === undefined) return NONE;
  const own = isObject(scripts) ? scripts : {};
  const run = `${findPackageManager(has)} run`;
  const first = (names: readonly string[]) => names.filter((name) => typeof own[name] === 'string').slice(0, 1);
  const uses = (name: string) => [devDependencies, dependencies].some((each) => isObject(each) && name in each);
  const types = first(TYPE_SCRIPTS);
  const bare =
    types.length === 0 && has('tsconfig.json') && uses('typescript') ? ['npx --no-install tsc --noEmit'] : [];
  const test = own.test;
  const isTest = typeof test === 'string' && !/no test specified/.test(test);
  return {
    fast: [...[...first(LINT_SCRIPTS), ...types].map((name) => `${run} ${name}`), ...bare],
    thorough: isTest ? [`${run} test`] : [],
  };
}

function findPackageManager(has: Has): string {
  if (has('pnpm-lock.yaml')) return 'pnpm';
  if (has('yarn.lock')) return 'yarn';
  return has('bun.lock') || has('bun.lockb') ? 'bun' : 'npm';
}

function inPyproject(text: string | undefined, setup: string | undefined, has: Has): Checks {
  if (text === undefined && setup === undefined) return NONE;
  const all = `${text ?? ''}\n${setup ?? ''}`;
  const names = (tool: string) => new RegExp(`^\\[(?:tool[.:])?${tool}(?:[.:\\]])|["']${tool}\\b`, 'm').test(all);
  return {
    fast: [
      ...(names('ruff') ? ['ruff check .'] : names('flake8') ? ['flake8'] : []),
      ...(names('mypy') ? ['mypy .'] : names('pyright') ? ['pyright'] : []),
    ],
    thorough: names('pytest') || has('pytest.ini') || has('conftest.py') ? ['python3 -m pytest -q'] : [],
  };
}

function inGoMod(text: string | undefined): Checks {
  return text === undefined ? NONE : {fast: ['go vet ./...'], thorough: ['go test ./...']};
}

function inCargo(text: string | undefined): Checks {
  return text === undefined ? NONE : {fast: ['cargo check --all-targets'], thorough: ['cargo test']};
}

function inMakefile(text: string | undefined): Checks {
  const targets = new Set([...(text ?? '').matchAll(/^([\w.-]+)\s*:(?!=)/gm)].map((match) => match[1]!));
  const pick = (names: readonly string[]) => names.filter((name) => targets.has(name)).map((name) => `make ${name}`);
  const types = pick(['typecheck', 'type-check', 'types', 'mypy', 'vet']).slice(0, 1);
  return {fast: [...pick(['lint']), ...types], thorough: pick(['test', 'tests', 'check']).slice(0, 1)};
}

function parseJson(text: string | undefined): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse((text ?? '{}').replace(/^\uFEFF/, ''));
    return isObject(value) ? value : {};
  } catch {
    // A package.json that is being edited: npm cannot run its scripts either.
    return {};
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
