/** Which language a file is of, and its grammar and rules. */
import type {Language} from '../contract.ts';
import type {LanguageRules} from '../syntax/facts-reader.ts';
import {cpp} from './cpp.ts';
import {csharp} from './csharp.ts';
import {go} from './go.ts';
import {java} from './java.ts';
import {javascript} from './javascript.ts';
import {php} from './php.ts';
import {python} from './python.ts';
import {ruby} from './ruby.ts';
import {rust} from './rust.ts';

/** By the end of a file's name. */
const EXTENSIONS: Readonly<Record<string, Language>> = {
  ts: 'typescript',
  mts: 'typescript',
  cts: 'typescript',
  tsx: 'tsx',
  js: 'javascript',
  mjs: 'javascript',
  cjs: 'javascript',
  jsx: 'javascript',

  py: 'python',
  pyi: 'python',
  go: 'go',
  rs: 'rust',
  java: 'java',
  rb: 'ruby',
  rake: 'ruby',
  php: 'php',
  cs: 'csharp',
  c: 'c',
  h: 'c',
  cc: 'cpp',
  cpp: 'cpp',
  cxx: 'cpp',
  hh: 'cpp',
  hpp: 'cpp',
  hxx: 'cpp',
  inl: 'cpp',
  ipp: 'cpp',
};

/** Other languages of programs: files of them are counted, so that an answer can say what it does not know. */
const UNPARSED: ReadonlySet<string> = new Set(
  `vue svelte astro swift kt kts scala sh bash zsh fish lua pl pm dart ex exs erl hs ml mli zig sql r jl clj cljs m mm fs fsx
  vb groovy gradle nim cr d pas f90 f95 coffee elm tcl proto thrift ps1 hx v sv vhd asm s cu`.split(/\s+/),
);

/** The grammar's file, without `tree-sitter-`. The C++ one reads C. */
export const GRAMMARS: Readonly<Record<Language, string>> = {
  typescript: 'typescript',
  tsx: 'tsx',
  javascript: 'javascript',
  python: 'python',
  go: 'go',
  rust: 'rust',
  java: 'java',
  c: 'cpp',
  cpp: 'cpp',
  ruby: 'ruby',
  php: 'php',
  csharp: 'c-sharp',
};

export const RULES: Readonly<Record<Language, LanguageRules>> = {
  typescript: javascript,
  tsx: javascript,
  javascript,
  python,
  go,
  rust,
  java,
  c: cpp,
  cpp,
  ruby,
  php,
  csharp,
};

function getExtension(path: string): string {
  return /\.([A-Za-z0-9]+)$/.exec(path)?.[1]?.toLowerCase() ?? '';
}

export function getLanguage(path: string): Language | undefined {
  const extension = getExtension(path);
  return Object.hasOwn(EXTENSIONS, extension) ? EXTENSIONS[extension] : undefined;
}

/** The extension of a program file whose language has no grammar here. */
export function getUnparsedExtension(path: string): string | undefined {
  const extension = getExtension(path);
  return UNPARSED.has(extension) ? extension : undefined;
}
