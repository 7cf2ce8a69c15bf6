/** The options of programs that only read: a closed list for each, so that one which is not known is never let through. */
import {NotProven, type ShellWord} from './shell-words.ts';

/** What a program reads, as it names it. Paths are those of the words: relative, or with `~/` for the home directory. */
export interface Reading {
  readonly paths: string[];
  /** Patterns: every file that matches is read. */
  readonly globs: string[];
}

/** What one command reads. */
export interface ProgramReading extends Reading {
  /** Git looks for its repository from there: its settings may name programs to run. */
  readonly repositories: string[];
  /** It shows what lies in files below the folders that it is given. */
  readonly searches?: boolean;
}

/** @param words without the program's name. @throws NotProven when it may do more than read. */
export type Reader = (words: readonly ShellWord[]) => ProgramReading;

/** The words of a command, sorted. */
export interface Sorted {
  /** Options as written, without values; `-ab` is `-a` and `-b`. */
  readonly options: ReadonlySet<string>;
  readonly operands: readonly ShellWord[];
  /** The texts that options were given, also attached ones. */
  readonly values: readonly string[];
  readonly reading: Reading;
}

interface Found {
  readonly options: Set<string>;
  readonly values: string[];
  readonly reading: Reading;
}

/** What follows an option: nothing, a text, a path, two texts, a text and a path, or a text only behind `=`. */
type Value = '' | ':' | '@' | '::' | ':@' | '?';

const TOKEN = /^(--?)([^:@?]+?)(::|:@|:|@|\?)?$/;

/** Options of a program, e.g. `-abc -n: -f@ --all --lines: --color? -#`. `-#` is a number, as in `head -5`. */
export class Options {
  readonly #values = new Map<string, Value>();
  readonly #numbers: boolean;

  constructor(list: string) {
    const tokens = list.split(/\s+/).filter((token) => token !== '');
    this.#numbers = tokens.includes('-#');
    for (const token of tokens.filter((each) => each !== '-#')) {
      const [, dashes, name = '', value = ''] = TOKEN.exec(token) ?? [];
      const names = dashes === '--' ? [`--${name}`] : [...name].map((letter) => `-${letter}`);
      for (const each of names) this.#values.set(each, value as Value);
    }
  }

  /** @throws NotProven for an option that is not in the list, and for words that could turn into one. */
  sort(words: readonly ShellWord[]): Sorted {
    const found: Found = {options: new Set(), values: [], reading: {paths: [], globs: []}};
    const operands: ShellWord[] = [];
    let onlyOperands = false;
    for (let at = 0; at < words.length; at++) {
      const word = words[at]!;
      if (word.kind === 'unknown') throw new NotProven('one of its words is known only when it runs');
      const text = word.kind === 'stream' ? '' : word.text;
      if (word.kind === 'glob' && !onlyOperands && this.#isTextOption(text)) continue;
      // A file that is named like an option is found where the pattern is judged.
      if (word.kind === 'glob' && !onlyOperands && text.startsWith('-')) {
        throw new NotProven(`${text} is an option with a pattern`);
      }
      if (onlyOperands || word.kind !== 'text' || text === '-' || !text.startsWith('-')) {
        operands.push(word);
      } else if (text === '--') {
        onlyOperands = true;
      } else {
        at += this.#take(text, words.slice(at + 1), found);
      }
    }
    return {...found, operands};
  }

  /** `--include=*.ts` stays that option, whatever files are named like it. */
  #isTextOption(text: string): boolean {
    const value = this.#values.get(/^--[a-z-]+(?==)/.exec(text)?.[0] ?? '');
    return value === ':' || value === '?';
  }

  /** @returns how many of the words that follow belong to the option. */
  #take(text: string, next: readonly ShellWord[], found: Found): number {
    if (this.#numbers && /^-\d+$/.test(text)) return 0;
    if (text.startsWith('--')) {
      const [, name = '', attached] = /^(--[^=]+)(?:=([\s\S]*))?$/.exec(text) ?? [];
      return this.#note(name, attached, next, found);
    }
    for (let at = 1; at < text.length; at++) {
      const name = `-${text[at]}`;
      const rest = text.slice(at + 1);
      const value = this.#values.get(name);
      if (value === '' || value === undefined) {
        this.#note(name, undefined, next, found);
        continue;
      }
      return this.#note(name, rest === '' ? undefined : rest, next, found);
    }
    return 0;
  }

  #note(name: string, attached: string | undefined, next: readonly ShellWord[], found: Found): number {
    const value = this.#values.get(name);
    if (value === undefined) throw new NotProven(`its option ${name} is not known to only read`);
    found.options.add(name);
    if (value === '') {
      if (attached !== undefined) throw new NotProven(`its option ${name} takes no value`);
      return 0;
    }
    if (value === '?') return 0;
    const kinds = [...value];
    // An attached value is never expanded: its `~` is a letter.
    const given = attached === undefined ? [] : [{text: attached, home: false}];
    const taken = kinds.slice(given.length).map((_, index) => textOf(next[index], name));
    for (const [index, value] of [...given, ...taken].entries()) {
      if (kinds[index] !== '@') found.values.push(value.text);
      else if (value.text !== '-') found.reading.paths.push(pathOf(value));
    }
    return taken.length;
  }
}

function textOf(word: ShellWord | undefined, option: string) {
  if (word?.kind !== 'text') throw new NotProven(`what its option ${option} is given is not known`);
  return word;
}

/** The path that a word names, so that a `~` means what it means to bash. */
export function pathOf({text, home}: {readonly text: string; readonly home: boolean}): string {
  return !home && text.startsWith('~') ? `./${text}` : text;
}

/** Counts words as paths that are read; `-` is standard input. */
export function readAll(words: readonly ShellWord[], reading: Reading): void {
  for (const word of words) {
    if (word.kind === 'text' && word.text !== '-') reading.paths.push(pathOf(word));
    if (word.kind === 'glob') reading.globs.push(pathOf(word));
  }
}

/** @throws NotProven unless all words are known before they run, and no pattern. */
export function textsOf(words: readonly ShellWord[]): string[] {
  return words.map((word) => {
    if (word.kind === 'text') return word.text;
    throw new NotProven('one of its words is known only when it runs');
  });
}
