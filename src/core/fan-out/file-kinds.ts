/** Kinds of files by their names: source code in which languages, tests, what is generated. */
import path from 'node:path';

/** By the names that people write, in lower case. */
const EXTENSIONS: Readonly<Record<string, string>> = {
  typescript: 'ts tsx mts cts',
  ts: 'ts tsx mts cts',
  tsx: 'tsx',
  javascript: 'js jsx mjs cjs',
  js: 'js jsx mjs cjs',
  jsx: 'jsx',
  python: 'py pyi',
  py: 'py pyi',
  go: 'go',
  golang: 'go',
  rust: 'rs',
  java: 'java',
  kotlin: 'kt kts',
  scala: 'scala sc',
  c: 'c h',
  'c++': 'cpp cc cxx hpp hh hxx h',
  cpp: 'cpp cc cxx hpp hh hxx h',
  'c#': 'cs',
  csharp: 'cs',
  ruby: 'rb rake',
  php: 'php',
  swift: 'swift',
  dart: 'dart',
  lua: 'lua',
  perl: 'pl pm',
  elixir: 'ex exs',
  erlang: 'erl hrl',
  haskell: 'hs',
  clojure: 'clj cljs cljc',
  r: 'r',
  julia: 'jl',
  zig: 'zig',
  ocaml: 'ml mli',
  shell: 'sh bash zsh',
  bash: 'sh bash',
  sql: 'sql',
  css: 'css scss sass less',
  scss: 'scss sass',
  html: 'html htm',
  vue: 'vue',
  svelte: 'svelte',
  markdown: 'md mdx markdown',
  json: 'json jsonc json5',
  yaml: 'yml yaml',
  toml: 'toml',
  xml: 'xml',
  text: 'txt',
};
/** Data and text: no source, unless they are named. */
const NO_SOURCE = new Set(['markdown', 'json', 'yaml', 'toml', 'xml', 'text']);
const SOURCE = new Set(
  Object.entries(EXTENSIONS)
    .filter(([name]) => !NO_SOURCE.has(name))
    .flatMap(([, extensions]) => extensions.split(' ')),
);
const GENERATED = /\.min\.\w+$|(?:^|\/)(?:node_modules|vendor|third_party|\.git)\//;
const TEST = /(?:^|\/)(?:tests?|__tests__|specs?)\/|[._-](?:test|spec)s?\.\w+$|(?:^|\/)test_[^/]*$/;
const LOCK = /(?:^|\/)(?:package-lock\.json|npm-shrinkwrap\.json|[^/]*\.lock|go\.sum|pnpm-lock\.yaml|[^/]*\.lockb)$/;
const BINARY =
  /\.(?:png|jpe?g|gif|webp|ico|bmp|svgz|pdf|zip|gz|tgz|xz|bz2|7z|jar|class|so|o|a|dll|exe|wasm|woff2?|ttf|otf|eot|mp[34]|mov|avi|bin|dat|db|sqlite3?)$/i;

export type FileTest = (file: string) => boolean;

export const isSource: FileTest = (file) => SOURCE.has(getExtension(file)) && !GENERATED.test(file);

/** What agents can edit at all. */
export const isText: FileTest = (file) => !LOCK.test(file) && !BINARY.test(file) && !GENERATED.test(file);

/** The files of this kind, as a prompt names it: `TypeScript`, `.ts`, `test`. Undefined for a word that names none. */
export function findKind(name: string): FileTest | undefined {
  const folded = name.toLowerCase();
  if (/^(?:tests?|specs?|тестовы\p{L}+|测试)$/u.test(folded)) return (file) => TEST.test(file) && isSource(file);
  const dotted = /^\.([\w+]{1,8})$/.exec(folded)?.[1];
  const extensions = Object.hasOwn(EXTENSIONS, folded) ? EXTENSIONS[folded]!.split(' ') : dotted ? [dotted] : undefined;
  return extensions && ((file) => extensions.includes(getExtension(file)) && isText(file));
}

function getExtension(file: string): string {
  return path.extname(file).slice(1).toLowerCase();
}
