/** Colours code with highlight.js, without a DOM. It is loaded with the markdown renderer, when there is something to show. */
import hljs from 'highlight.js/lib/core';
import {CODE_LANGUAGES} from './highlight-languages.ts';

/** A piece of code with its kind, e.g. `keyword`; an empty scope is plain text. */
interface CodeSpan {
  readonly text: string;
  readonly scope: string;
}

/** Characters. Longer code is not coloured, because it takes too long. */
const MAX_CODE = 20_000;

const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  nbsp: ' ',
  '#39': "'",
  '#x27': "'",
};

/** Decodes the few entities that models write. None of them becomes a control character, and all others stay. */
export function decodeEntities(text: string): string {
  return text.replace(/&(amp|lt|gt|quot|nbsp|#39|#x27);/g, (_, name: string) => ENTITIES[name]!);
}

/** Returns undefined for a language that is not known, and for code that is too long. */
function run(code: string, language: string) {
  if (code.length > MAX_CODE) return undefined;
  // The languages are registered with the first code, because most answers have none.
  if (hljs.listLanguages().length === 0)
    for (const [name, grammar] of Object.entries(CODE_LANGUAGES)) hljs.registerLanguage(name, grammar);
  return hljs.getLanguage(language) && hljs.highlight(code, {language, ignoreIllegals: true});
}

export type Highlight = (code: string, language: string) => readonly CodeSpan[];

export const highlight: Highlight = (code, language) => {
  const result = run(code, language);
  // When highlight.js fails, its result has only the beginning of the code.
  if (!result || result.errorRaised) return [{text: code, scope: ''}];
  return toSpans((result._emitter as unknown as {readonly rootNode: TokenNode}).rootNode);
};

/** Tells whether the code ends outside of comments, long strings and the like, so that the next code can be coloured alone. */
export function endsOutside(code: string, language: string): boolean {
  // The mode in which the code ends. Only the mode of the language itself has no parent.
  const mode = run(code, language)?._top as {parent?: unknown} | undefined;
  return mode?.parent === undefined;
}

/** A node of the tree that highlight.js makes before its HTML. HTML would have to be parsed again. */
interface TokenNode {
  readonly scope?: string;
  readonly children: readonly (TokenNode | string)[];
}

/** Returns the pieces of the tree, each with its innermost scope. */
function toSpans({scope = '', children}: TokenNode): CodeSpan[] {
  return children.flatMap((child) => (typeof child === 'string' ? [{text: child, scope}] : toSpans(child)));
}
