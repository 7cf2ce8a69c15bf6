/** Describes what the words of one language say about a prompt. The patterns match whole words, except in Chinese. */

export interface PromptLanguage {
  /** Words such as `all the` and `every`, with the words up to their unit. */
  readonly quantified: {readonly files: RegExp; readonly code: RegExp};
  /** The prompt asks for a change. */
  readonly changes: RegExp;
  /** The prompt asks to look through the files one by one. Such work can be split too. */
  readonly checks: RegExp;
  /** The sentence begins with a request to find or explain something, which has one answer for all files together. */
  readonly reads: RegExp;
  /** After a request to read, the sentence also asks for a change. */
  readonly thenChanges: RegExp;
  /** The files themselves are moved, deleted or listed, which is one command and no work on each file. */
  readonly handles: RegExp;
  /** The sentence is a question. */
  readonly asks: RegExp;
  /** The sentence has the form of a question but asks for work: "can you …?" */
  readonly requests: RegExp;
  /** The sentence wishes for a state ("make all tests pass"), and does not say what to do. */
  readonly wishes: RegExp;
  /** The sentence is about the current file, or mentions all files in passing: "a function that reads all files". */
  readonly aside: RegExp;
}

/** Placeholders in the prompt: `PATH` for a pattern of paths, `QUOTED` for a quoted text or a plain path. */
export const PATH = '\uE000';
export const QUOTED = '\uE001';

/** Matches the alternatives only if no letter, digit or underscore is next to them. */
export function word(alternatives: string): RegExp {
  return new RegExp(`(?<![\\p{L}\\p{N}_-])(?:${alternatives})(?![\\p{L}\\p{N}_])`, 'iu');
}
