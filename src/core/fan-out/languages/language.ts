/** What the words of one language say about a prompt. All patterns are for whole words; `word` makes them so. */

export interface PromptLanguage {
  /** `all the`, `every`, with what may stand between it and its unit. */
  readonly quantified: {readonly files: RegExp; readonly code: RegExp};
  /** It tells to change something. */
  readonly changes: RegExp;
  /** It tells to look through the files one by one: work that can be split, too. */
  readonly checks: RegExp;
  /** At the beginning of the sentence: it asks to find or tell something, which is one answer for all files together. */
  readonly reads: RegExp;
  /** After one that reads: a change is asked for as well. */
  readonly thenChanges: RegExp;
  /** The files themselves are moved, deleted, listed: one command, and no work on each of them. */
  readonly handles: RegExp;
  /** A question. */
  readonly asks: RegExp;
  /** A question by its form that asks for work: "can you …?" */
  readonly requests: RegExp;
  /** It wishes for a state ("make all tests pass"), and does not say what to do. */
  readonly wishes: RegExp;
  /** It is about the one file at hand, or speaks of all files in passing: "a function that reads all files". */
  readonly aside: RegExp;
}

/** Stands for a path or a pattern in the prompt, and for what was quoted. */
export const PATH = '\uE000';
export const QUOTED = '\uE001';

/** No letter, digit or underscore beside the word. */
export function word(alternatives: string, flags = 'iu'): RegExp {
  return new RegExp(`(?<![\\p{L}\\p{N}_-])(?:${alternatives})(?![\\p{L}\\p{N}_])`, flags);
}
