/** Determines kinds of files by their names: the language, and whether a file is a test, generated, or binary. */

/** `style`: source that is not a program. `data`: no source. `plain`: data that does not count as a language. */
type FileType = 'code' | 'style' | 'data' | 'plain';

/** Name of each language as it is shown, and the extensions of its files. */
const LANGUAGES: readonly (readonly [FileType, string, string])[] = [
  ['code', 'TypeScript', 'ts tsx mts cts'],
  ['code', 'JavaScript', 'js jsx mjs cjs'],
  ['code', 'Python', 'py pyi'],
  ['code', 'Rust', 'rs'],
  ['code', 'Go', 'go'],
  ['code', 'Java', 'java'],
  ['code', 'Kotlin', 'kt kts'],
  ['code', 'Swift', 'swift'],
  ['code', 'C', 'c h'],
  ['code', 'C++', 'cc cpp cxx hpp hh hxx inl ipp'],
  ['code', 'C#', 'cs'],
  ['code', 'Ruby', 'rb rake'],
  ['code', 'PHP', 'php'],
  ['code', 'Shell', 'sh bash zsh'],
  ['code', 'Lua', 'lua'],
  ['code', 'Scala', 'scala sc'],
  ['code', 'Elixir', 'ex exs'],
  ['code', 'Erlang', 'erl hrl'],
  ['code', 'Haskell', 'hs'],
  ['code', 'OCaml', 'ml mli'],
  ['code', 'Dart', 'dart'],
  ['code', 'Zig', 'zig'],
  ['code', 'Perl', 'pl pm t'],
  ['code', 'R', 'r'],
  ['code', 'Julia', 'jl'],
  ['code', 'Clojure', 'clj cljs cljc'],
  ['code', 'Vue', 'vue'],
  ['code', 'Svelte', 'svelte'],
  ['code', 'SQL', 'sql'],
  ['style', 'HTML', 'html htm'],
  ['style', 'CSS', 'css scss sass less'],
  ['data', 'Markdown', 'md mdx markdown'],
  ['data', 'JSON', 'json jsonc json5'],
  ['data', 'YAML', 'yaml yml'],
  ['data', 'TOML', 'toml'],
  ['plain', 'XML', 'xml'],
  ['plain', 'text', 'txt'],
];

interface FileKind {
  readonly type: FileType;
  readonly language: string;
}

const BY_EXTENSION: ReadonlyMap<string, FileKind> = new Map(
  LANGUAGES.flatMap(([type, language, extensions]) => extensions.split(' ').map((end) => [end, {type, language}])),
);
const BY_NAME: ReadonlyMap<string, readonly string[]> = new Map(
  LANGUAGES.map(([, language, extensions]) => [language.toLowerCase(), extensions.split(' ')]),
);
/** Other names that people use, in lower case. */
const OTHER_NAMES: ReadonlyMap<string, string> = new Map([
  ['ts', 'typescript'],
  ['js', 'javascript'],
  ['py', 'python'],
  ['golang', 'go'],
  ['cpp', 'c++'],
  ['csharp', 'c#'],
]);
/** Names for some of a language's files. */
const PARTS: ReadonlyMap<string, readonly string[]> = new Map([
  ['tsx', ['tsx']],
  ['jsx', ['jsx']],
  ['bash', ['sh', 'bash']],
  ['scss', ['scss', 'sass']],
]);

const INSTALLED = /\.min\.\w+$|(?:^|\/)(?:node_modules|vendor|third_party|\.git)\//;
const BUILT = /(?:^|\/)(?:dist|build|out|target|coverage)\/|\.map$/;
const LOCK = /(?:^|\/)(?:package-lock\.json|npm-shrinkwrap\.json|[^/]*\.lockb?|go\.sum|pnpm-lock\.yaml)$/;
const BINARY =
  /\.(?:png|jpe?g|gif|webp|ico|bmp|svgz|pdf|zip|gz|tgz|xz|bz2|7z|jar|class|so|o|a|dll|exe|wasm|woff2?|ttf|otf|eot|mp[34]|mov|avi|bin|dat|db|sqlite3?)$/i;
const TEST_FOLDER = /(?:^|\/)(?:tests?|specs?|__tests__|testdata|t)\//i;
const TEST_NAME =
  /[._-](?:test|spec)s?\.[A-Za-z]+$|(?:^|\/)test_[^/]*\.\w+$|(?:^|\/)conftest\.py$|(?:^|\/)(?!latest|contest)\w*tests?\.(?:c|cc|cpp|cxx)$|(?:Test|Tests|IT)\.(?:java|cs|php)$/;

/** Files in a folder of tests that hold none. */
const TEST_SUPPORT =
  /(?:^|\/)(?:conftest\.py|__init__\.py|\w*helpers?\.(?:rb|exs)|(?:[\w.-]*[.-])?setup(?:Tests)?\.[cm]?[jt]sx?)$|(?:^|\/)t\/.*\.p[lm]$/i;

/** Glob for tests. It may match some files that are no tests: `isTest` decides. */
export const TEST_FILES = `**/{${[
  `{test,tests,spec,specs,__tests__,testdata,Test,Tests,t}/**/*.{${[...BY_EXTENSION.keys()].filter(isCodeExtension).join(',')}}`,
  '*{.,_,-}{test,tests,spec,specs}.*',
  'test_*.*',
  'conftest.py',
  '*{test,tests}.{c,cc,cpp,cxx}',
  '*{Test,Tests,IT}.{java,cs,php}',
].join(',')}}`;

export type FileTest = (file: string) => boolean;

/** Returns the extension in lower case, without the dot; empty if there is none. */
export function getExtension(file: string): string {
  return /\.([A-Za-z0-9]+)$/.exec(file)?.[1]?.toLowerCase() ?? '';
}

export function getLanguage(file: string): string | undefined {
  return getLanguageByExtension(getExtension(file));
}

/** @param extension extension without its dot */
export function getLanguageByExtension(extension: string): string | undefined {
  const kind = BY_EXTENSION.get(extension.toLowerCase());
  return kind?.type === 'plain' ? undefined : kind?.language;
}

/** Returns the extensions of a language. @param language name in any case */
export function getExtensions(language: string): readonly string[] {
  const extensions = BY_NAME.get(language.toLowerCase()) ?? [];
  return extensions.some((each) => getLanguageByExtension(each)) ? extensions : [];
}

/** @param extension extension in lower case */
export function isCodeExtension(extension: string): boolean {
  return BY_EXTENSION.get(extension)?.type === 'code';
}

export function isCodeLanguage(language: string): boolean {
  return LANGUAGES.some(([type, name]) => type === 'code' && name === language);
}

export const isCode: FileTest = (file) => isCodeExtension(getExtension(file));

/** Accepts programs and style files that the project has written itself. */
export const isSource: FileTest = (file) =>
  /code|style/.test(BY_EXTENSION.get(getExtension(file))?.type ?? '') && !INSTALLED.test(file);

/** Accepts the files that agents can edit. */
export const isText: FileTest = (file) => !LOCK.test(file) && !BINARY.test(file) && !INSTALLED.test(file);

/** Accepts files that are installed, generated or lock files, and so not the project's own source. */
export const isGenerated: FileTest = (file) => INSTALLED.test(file) || BUILT.test(file) || LOCK.test(file);

/** Accepts tests by their names or folders, in any language. */
export const isTestPath: FileTest = (file) => TEST_FOLDER.test(file) || TEST_NAME.test(file);

/** Accepts tests and the code that only they use. */
export const isTest: FileTest = (file) => isTestPath(file) && isCode(file);

/** Accepts files with tests of their own: `spec_helper.rb`, `conftest.py` and set-up files have none. */
export const hasTests: FileTest = (file) => isTest(file) && !TEST_SUPPORT.test(file);

/**
 * Returns a test for the kind of files that a prompt names: `TypeScript`, `.ts`, `test`. Undefined for a word that
 * names no kind.
 */
export function findKind(name: string): FileTest | undefined {
  const folded = name.toLowerCase();
  if (/^(?:tests?|specs?|тестовы\p{L}+|测试)$/u.test(folded)) return (file) => isTestPath(file) && isSource(file);
  const dotted = /^\.([\w+]{1,8})$/.exec(folded)?.[1];
  const language = OTHER_NAMES.get(folded) ?? folded;
  const extensions = PARTS.get(folded) ?? BY_NAME.get(language) ?? (dotted ? [dotted] : undefined);
  // Headers of C++ may have the extension of C headers.
  const also = language === 'c++' ? 'h' : undefined;
  return extensions && ((file) => [...extensions, also].includes(getExtension(file)) && isText(file));
}
