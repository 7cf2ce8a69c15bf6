/** Finds the language of a file, and the grammar and rules of a language. */
import {getExtension, getLanguage as getLanguageName, isCodeExtension} from '../../core/util/file-kinds.ts';
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

/** The rules of C++ also read C. */
const RULES: Readonly<Record<Language, LanguageRules>> = {
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
/** Names of the files of grammars, without `tree-sitter-`, that are not the name of the language. */
const GRAMMARS: Readonly<Partial<Record<Language, string>>> = {c: 'cpp', csharp: 'c-sharp'};
/** Languages whose names differ from the names in `Language` in more than case. */
const NAMES: Readonly<Record<string, Language>> = {'C++': 'cpp', 'C#': 'csharp'};
/** Extensions of further programming languages, without a grammar. */
const UNPARSED: ReadonlySet<string> = new Set(
  `astro fish m mm fs fsx vb groovy gradle nim cr d pas f90 f95 coffee elm tcl proto thrift ps1 hx v sv vhd asm s cu`.split(
    ' ',
  ),
);

export function getGrammar(language: Language): string {
  return GRAMMARS[language] ?? language;
}

export function getRules(language: Language): LanguageRules {
  return RULES[language];
}

export function getLanguage(path: string): Language | undefined {
  const name = getLanguageName(path) ?? '';
  const language = /\.tsx$/i.test(path) ? 'tsx' : (NAMES[name] ?? name.toLowerCase());
  return Object.hasOwn(RULES, language) ? (language as Language) : undefined;
}

/** Returns the extension of a program file whose language has no grammar. Answers say that it was not searched. */
export function getUnparsedExtension(path: string): string | undefined {
  const extension = getExtension(path);
  return UNPARSED.has(extension) || (isCodeExtension(extension) && !getLanguage(path)) ? extension : undefined;
}
