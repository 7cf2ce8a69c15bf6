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

/** The grammar's file name without `tree-sitter-`, and the rules, by language. The grammar of C++ also reads C. */
const PARSED: Readonly<Record<Language, {readonly grammar: string; readonly rules: LanguageRules}>> = {
  typescript: {grammar: 'typescript', rules: javascript},
  tsx: {grammar: 'tsx', rules: javascript},
  javascript: {grammar: 'javascript', rules: javascript},
  python: {grammar: 'python', rules: python},
  go: {grammar: 'go', rules: go},
  rust: {grammar: 'rust', rules: rust},
  java: {grammar: 'java', rules: java},
  c: {grammar: 'cpp', rules: cpp},
  cpp: {grammar: 'cpp', rules: cpp},
  ruby: {grammar: 'ruby', rules: ruby},
  php: {grammar: 'php', rules: php},
  csharp: {grammar: 'c-sharp', rules: csharp},
};
/** Languages whose names differ from the names in `Language` in more than case. */
const NAMES: Readonly<Record<string, Language>> = {'C++': 'cpp', 'C#': 'csharp'};
/** Extensions of further programming languages, without a grammar. */
const UNPARSED: ReadonlySet<string> = new Set(
  `astro fish m mm fs fsx vb groovy gradle nim cr d pas f90 f95 coffee elm tcl proto thrift ps1 hx v sv vhd asm s cu`.split(
    ' ',
  ),
);

export function getGrammar(language: Language): string {
  return PARSED[language].grammar;
}

export function getRules(language: Language): LanguageRules {
  return PARSED[language].rules;
}

export function getLanguage(path: string): Language | undefined {
  const name = getLanguageName(path) ?? '';
  const language = /\.tsx$/i.test(path) ? 'tsx' : (NAMES[name] ?? name.toLowerCase());
  return Object.hasOwn(PARSED, language) ? (language as Language) : undefined;
}

/** Returns the extension of a program file whose language has no grammar. Answers say that it was not searched. */
export function getUnparsedExtension(path: string): string | undefined {
  const extension = getExtension(path);
  return UNPARSED.has(extension) || (isCodeExtension(extension) && !getLanguage(path)) ? extension : undefined;
}
