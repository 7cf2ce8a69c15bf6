/** Kinds of files by their names: of which language they are, and which are tests, generated, or binary. */

/** `style`: source, but no program. `data`: no source. `plain`: data that is not counted as a language. */
type FileType = 'code' | 'style' | 'data' | 'plain';

/** The name of a language as it is shown, and the ends of its files' names. */
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
  ['code', 'Perl', 'pl pm'],
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
/** What people also call them, in lower case. */
const OTHER_NAMES: ReadonlyMap<string, string> = new Map([
  ['ts', 'typescript'],
  ['js', 'javascript'],
  ['py', 'python'],
  ['golang', 'go'],
  ['cpp', 'c++'],
  ['csharp', 'c#'],
]);
/** Names for a part of a language's files. */
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
const TEST_FOLDER = /(?:^|\/)(?:tests?|specs?|__tests__|testdata)\//i;
const TEST_NAME =
  /[._-](?:test|spec)s?\.[A-Za-z]+$|(?:^|\/)test_[^/]*\.\w+$|(?:^|\/)conftest\.py$|(?:^|\/)(?!latest|contest)\w*tests?\.(?:c|cc|cpp|cxx)$|(?:Test|Tests|IT)\.(?:java|cs|php)$/;

/** A glob for tests. It may find some files that are none: `isTest` decides. */
export const TEST_FILES = `**/{${[
  `{test,tests,spec,specs,__tests__,testdata,Test,Tests}/**/*.{${[...BY_EXTENSION.keys()].filter(isCodeExtension).join(',')}}`,
  '*{.,_,-}{test,tests,spec,specs}.*',
  'test_*.*',
  'conftest.py',
  '*{test,tests}.{c,cc,cpp,cxx}',
  '*{Test,Tests,IT}.{java,cs,php}',
].join(',')}}`;

export type FileTest = (file: string) => boolean;

/** In lower case, without the dot; empty where there is none. */
export function getExtension(file: string): string {
  return /\.([A-Za-z0-9]+)$/.exec(file)?.[1]?.toLowerCase() ?? '';
}

export function getLanguage(file: string): string | undefined {
  return getLanguageByExtension(getExtension(file));
}

/** The language for an extension without its dot. */
export function getLanguageByExtension(extension: string): string | undefined {
  const kind = BY_EXTENSION.get(extension.toLowerCase());
  return kind?.type === 'plain' ? undefined : kind?.language;
}

/** The extensions of a language, by its name in any case. */
export function getExtensions(language: string): readonly string[] {
  const extensions = BY_NAME.get(language.toLowerCase()) ?? [];
  return extensions.some((each) => getLanguageByExtension(each)) ? extensions : [];
}

/** @param extension in lower case */
export function isCodeExtension(extension: string): boolean {
  return BY_EXTENSION.get(extension)?.type === 'code';
}

export function isCodeLanguage(language: string): boolean {
  return LANGUAGES.some(([type, name]) => type === 'code' && name === language);
}

export const isCode: FileTest = (file) => isCodeExtension(getExtension(file));

/** Programs and what they look like, as the project has written them. */
export const isSource: FileTest = (file) =>
  /code|style/.test(BY_EXTENSION.get(getExtension(file))?.type ?? '') && !INSTALLED.test(file);

/** What agents can edit at all. */
export const isText: FileTest = (file) => !LOCK.test(file) && !BINARY.test(file) && !INSTALLED.test(file);

/** It is installed, generated or a lock file: not the project's own source. */
export const isGenerated: FileTest = (file) => INSTALLED.test(file) || BUILT.test(file) || LOCK.test(file);

/** A test by its name or its folders, of any language. */
export const isTestPath: FileTest = (file) => TEST_FOLDER.test(file) || TEST_NAME.test(file);

export const isTest: FileTest = (file) => isTestPath(file) && isCode(file);

/** The files of this kind, as a prompt names it: `TypeScript`, `.ts`, `test`. Undefined for a word that names none. */
export function findKind(name: string): FileTest | undefined {
  const folded = name.toLowerCase();
  if (/^(?:tests?|specs?|тестовы\p{L}+|测试)$/u.test(folded)) return (file) => isTestPath(file) && isSource(file);
  const dotted = /^\.([\w+]{1,8})$/.exec(folded)?.[1];
  const language = OTHER_NAMES.get(folded) ?? folded;
  const extensions = PARTS.get(folded) ?? BY_NAME.get(language) ?? (dotted ? [dotted] : undefined);
  // Headers of C++ may be named as those of C.
  const also = language === 'c++' ? 'h' : undefined;
  return extensions && ((file) => [...extensions, also].includes(getExtension(file)) && isText(file));
}
