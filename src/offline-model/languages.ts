/** The language and the kind of a file, by its path; tests inside code files, by their lines. */
import {isTestPath} from '../code-index/test-path.ts';
import type {Hit} from './results.ts';
import type {Search} from './toolbox.ts';

const BY_EXTENSION: ReadonlyMap<string, string> = new Map(
  Object.entries({
    TypeScript: 'ts tsx mts cts',
    JavaScript: 'js jsx mjs cjs',
    Python: 'py pyi',
    Rust: 'rs',
    Go: 'go',
    Java: 'java',
    Kotlin: 'kt kts',
    Swift: 'swift',
    C: 'c h',
    'C++': 'cc cpp cxx hpp hh hxx',
    'C#': 'cs',
    Ruby: 'rb',
    PHP: 'php',
    Shell: 'sh bash zsh',
    Lua: 'lua',
    Scala: 'scala',
    Elixir: 'ex exs',
    Erlang: 'erl',
    Haskell: 'hs',
    OCaml: 'ml mli',
    Dart: 'dart',
    Zig: 'zig',
    Perl: 'pl pm',
    R: 'r',
    Julia: 'jl',
    Clojure: 'clj cljs',
    Vue: 'vue',
    Svelte: 'svelte',
    SQL: 'sql',
    HTML: 'html htm',
    CSS: 'css scss sass less',
    Markdown: 'md mdx',
    JSON: 'json jsonc',
    YAML: 'yaml yml',
    TOML: 'toml',
  }).flatMap(([language, extensions]) => extensions.split(' ').map((one) => [one, language] as const)),
);

const NOT_CODE = new Set(['Markdown', 'JSON', 'YAML', 'TOML', 'HTML', 'CSS']);

/** Rust's `#[test]`, Python's doctests and `def test_…`, Vitest's in-source tests. */
const INLINE_TESTS: Readonly<Record<string, RegExp>> = {
  Rust: /^\s*#\[(?:\w+::)*(?:test|rstest)\b/,
  Python: /^\s*(?:async\s+)?def test_|^\s*>>> /,
  TypeScript: /\bif\s*\(import\.meta\.vitest/,
  JavaScript: /\bif\s*\(import\.meta\.vitest/,
};

export function getExtension(path: string): string {
  return /\.([A-Za-z0-9]+)$/.exec(path)?.[1]?.toLowerCase() ?? '';
}

export function getLanguage(path: string): string | undefined {
  return BY_EXTENSION.get(getExtension(path));
}

/** The language for an extension without its dot. */
export function getLanguageByExtension(extension: string): string | undefined {
  return BY_EXTENSION.get(extension.toLowerCase());
}

/** The extensions of a language, by its name in any case. */
export function getExtensions(language: string): readonly string[] {
  const wanted = language.toLowerCase();
  return [...BY_EXTENSION].filter(([, name]) => name.toLowerCase() === wanted).map(([extension]) => extension);
}

export function isCodeLanguage(language: string): boolean {
  return !NOT_CODE.has(language);
}

export function isCode(path: string): boolean {
  const language = getLanguage(path);
  return language !== undefined && isCodeLanguage(language);
}

/** Code files that the index takes for tests, by name or folder. `TEST_FILES` finds the same. */
export function isTest(path: string): boolean {
  return isTestPath(path) && isCode(path);
}

const TEST_EXTENSIONS = [...BY_EXTENSION].filter(([, language]) => isCodeLanguage(language)).map(([one]) => one);
/** A glob for tests, by folders and names. It may find some files that are none: `isTest` decides. */
export const TEST_FILES = `**/{${[
  `{test,tests,spec,specs,__tests__,testdata,Test,Tests}/**/*.{${TEST_EXTENSIONS.join(',')}}`,
  '*{.,_,-}{test,tests,spec}.*',
  '{test_*,conftest}.py',
  '*{test,tests}.{c,cc,cpp,cxx}',
  '*{Test,Tests,IT}.{java,cs,php}',
].join(',')}}`;

/** Whether the file is installed, generated or a lock file: not the project's own source. */
export function isGenerated(path: string): boolean {
  return /(^|\/)(node_modules|dist|build|out|target|vendor|third_party|coverage|\.git)\/|\.min\.(js|css)$|(^|\/)(package-lock\.json|yarn\.lock|pnpm-lock\.yaml|Cargo\.lock|poetry\.lock|go\.sum)$|\.map$/.test(
    path,
  );
}

/** 0 source, 1 tests, 2 documents and data, 3 generated files: the order in which results are shown. */
export function getPathRank(path: string): number {
  if (isGenerated(path)) return 3;
  if (!isCode(path)) return 2;
  return isTest(path) ? 1 : 0;
}

/** By rank, then by path and line. */
export function compareByLocation(a: Hit, b: Hit): number {
  return getPathRank(a.path) - getPathRank(b.path) || (a.path === b.path ? a.line - b.line : a.path < b.path ? -1 : 1);
}

/** The folder of a file, with a slash at its end. */
export function getFolder(path: string): string {
  return path.includes('/') ? path.replace(/\/[^/]*$/, '/') : './';
}

export interface InlineTests {
  readonly path: string;
  /** Line of the first test. */
  readonly line: number;
  readonly tests: number;
}

/** A search that finds the first lines of tests inside code files. */
export function inlineTestSearch(path: string | undefined): Search {
  const pattern =
    '^\\s*#\\[([A-Za-z_]+::)*(test|rstest)\\b|^\\s*(async\\s+)?def test_|^\\s*>>> |\\bif\\s*\\(import\\.meta\\.vitest';
  return {pattern, path, glob: '*.{rs,py,ts,tsx,mts,js,jsx,mjs}', limit: 300};
}

/** The tests inside code files, by file, in the order found. Test files are left out. */
export function inlineTests(hits: readonly Hit[]): readonly InlineTests[] {
  const files = new Map<string, InlineTests>();
  for (const {path, line, text} of hits) {
    const form = INLINE_TESTS[getLanguage(path) ?? ''];
    if (isTest(path) || isGenerated(path) || !form?.test(text)) continue;
    const known = files.get(path);
    files.set(path, known ? {...known, tests: known.tests + 1} : {path, line, tests: 1});
  }
  return [...files.values()];
}
