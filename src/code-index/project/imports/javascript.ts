/**
 * Finds the files that an import of TypeScript or JavaScript names: relative paths, packages of a monorepo, and aliases
 * of tsconfig.json.
 */
import {posix} from 'node:path';
import type {ProjectFiles} from '../project-files.ts';
import {findFirst, type ImportResolver} from './resolver.ts';

const SCRIPT_ENDINGS = ['.ts', '.tsx', '.d.ts', '.mts', '.cts', '.js', '.jsx', '.mjs', '.cjs', '.json'];

export function createJavaScriptResolver(files: ProjectFiles): ImportResolver {
  const packages = readPackages(files);
  const has = (file: string) => files.entries.has(file);
  const findScript = (place: string): string | undefined => {
    const stem = place.replace(/\.([mc]?)jsx?$/, '');
    const kind = /\.([mc])js$/.exec(place)?.[1] ?? '';
    const sources = stem === place ? [] : [`${stem}.${kind}ts`, `${stem}.tsx`, `${stem}.d.${kind}ts`];
    const candidates = [
      place,
      ...sources,
      ...SCRIPT_ENDINGS.map((ending) => `${place}${ending}`),
      ...SCRIPT_ENDINGS.map((ending) => posix.join(place, `index${ending}`)),
    ];
    return candidates.find(has);
  };
  return (from, {specifier}) => {
    const found = /^\.\.?(?:\/|$)/.test(specifier)
      ? findScript(posix.join(posix.dirname(from.path), specifier))
      : findInPackages(specifier, from.path, packages, findScript);
    return [found];
  };
}

interface PackageFolder {
  readonly folder: string;
  readonly manifest: Readonly<Record<string, unknown>>;
  /** Entries of `compilerOptions.paths` in the tsconfig.json: patterns and their targets, relative to `base`. */
  readonly aliases: readonly (readonly [string, readonly string[]])[];
  readonly base: string | undefined;
}

function readPackages(files: ProjectFiles): PackageFolder[] {
  const folders = new Set<string>();
  for (const file of files.paths)
    if (/(?:^|\/)(?:package|[jt]sconfig)\.json$/.test(file)) folders.add(posix.dirname(file));
  return [...folders]
    .sort((a, b) => b.length - a.length)
    .map((folder) => {
      const config = ['tsconfig.json', 'jsconfig.json'].map((name) => readJson(files, posix.join(folder, name)));
      const options = (config.find(Boolean)?.compilerOptions ?? {}) as {
        baseUrl?: string;
        paths?: Record<string, string[]>;
      };
      return {
        folder,
        manifest: readJson(files, posix.join(folder, 'package.json')) ?? {},
        aliases: Object.entries(options.paths ?? {}),
        base: options.baseUrl,
      };
    });
}

function readJson(files: ProjectFiles, file: string): Record<string, unknown> | undefined {
  if (!files.paths.has(file)) return undefined;
  try {
    const text = files.readText(file);
    // This removes comments and trailing commas, which tsconfig.json allows. Strings are kept.
    const plain = text.replace(/("(?:\\.|[^"\\])*")|\/\/[^\n]*|\/\*[\s\S]*?\*\//g, '$1').replace(/,(\s*[}\]])/g, '$1');
    const value: unknown = JSON.parse(plain);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    // A broken manifest names no files.
    return undefined;
  }
}

function findInPackages(
  specifier: string,
  from: string,
  packages: readonly PackageFolder[],
  find: (place: string) => string | undefined,
): string | undefined {
  for (const {folder, aliases, base, manifest} of packages) {
    if (folder !== '.' && !from.startsWith(`${folder}/`)) continue;
    const own = specifier.startsWith('#') ? getTargets(manifest.imports, specifier) : [];
    const mapped = aliases.flatMap(([pattern, targets]) => applyPattern(pattern, targets, specifier));
    const bare = base === undefined ? [] : [specifier];
    const places = [...own, ...[...mapped, ...bare].map((place) => posix.join(base ?? '.', place))];
    const found = findFirst(places, (place) => find(posix.join(folder, place)));
    if (found !== undefined) return found;
  }
  const owner = packages.find(({manifest: {name}}) => specifier === name || specifier.startsWith(`${name}/`));
  if (owner === undefined || typeof owner.manifest.name !== 'string') return undefined;
  const rest = specifier.slice(owner.manifest.name.length + 1);
  const {exports, main, module, source, types} = owner.manifest;
  const entries = rest === '' ? [source, types, module, main].filter((entry) => typeof entry === 'string') : [rest];
  const named = [
    ...getTargets(exports, rest === '' ? '.' : `./${rest}`),
    ...entries,
    ...(rest === '' ? ['index'] : []),
  ];
  // Built files are elsewhere than their sources: `dist/x.js` is built from `src/x.ts`.
  const places = named.flatMap((place) => [
    place.replace(/^(?:\.\/)?(?:dist|lib|build|out|esm|cjs)\//, 'src/').replace(/\.d\.([mc]?)ts$/, '.$1js'),
    place,
    posix.join('src', place),
  ]);
  return findFirst(places, (place) => find(posix.join(owner.folder, place)));
}

/** Applies an alias: `@/*` with `['src/*']` turns `@/a/b` into `src/a/b`. */
function applyPattern(pattern: string, targets: readonly string[], specifier: string): string[] {
  const [before, after] = pattern.split('*') as [string, string | undefined];
  if (after === undefined) return specifier === pattern ? [...targets] : [];
  const fits = specifier.startsWith(before) && specifier.endsWith(after);
  const middle = specifier.slice(before.length, specifier.length - after.length);
  return fits ? targets.map((target) => target.replace('*', () => middle)) : [];
}

/** Finds the files that `exports` or `imports` of package.json name for a specifier, under any condition. */
function getTargets(map: unknown, specifier: string): string[] {
  const collect = (value: unknown): string[] => {
    if (typeof value === 'string') return [value];
    return typeof value === 'object' && value !== null ? Object.values(value).flatMap(collect) : [];
  };
  if (typeof map === 'string') return specifier === '.' ? [map] : [];
  if (typeof map !== 'object' || map === null) return [];
  const entries = Object.entries(map);
  if (!entries.some(([key]) => /^[.#]/.test(key))) return specifier === '.' ? collect(map) : [];
  return entries.flatMap(([pattern, value]) => applyPattern(pattern, collect(value), specifier));
}
