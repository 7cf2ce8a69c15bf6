/**
 * The options of programs that only read. Each program has a closed list: a command with an option that is not in the list
 * is not proven to only read.
 */
import {NotProven, type ShellWord} from './shell-words.ts';

/** What a program reads. Paths are as its words name them: absolute, relative, or with `~/` for the home directory. */
export interface Reading {
  readonly paths: string[];
  /** Patterns of file names: all files that match are read. */
  readonly globs: string[];
}

/** What one command reads. */
export interface ProgramReading extends Reading {
  /** Directories from which git looks for its repository, whose settings may name programs to run. */
  readonly repositories: string[];
  /** It looks into files below the folders among `paths`. */
  readonly searches?: boolean;
}

export function createReading(): ProgramReading {
  return {paths: [], globs: [], repositories: []};
}

/** @param words without the program's name. @throws NotProven when the program may do more than read */
export type Reader = (words: readonly ShellWord[]) => ProgramReading;

/** The words of a command, sorted into options, values and operands. */
export interface Sorted {
  /** As written, without values; `-ab` is `-a` and `-b`. */
  readonly options: ReadonlySet<string>;
  readonly operands: readonly ShellWord[];
  /** The values of options that take a text, also those attached as in `--since=yesterday`. */
  readonly values: readonly string[];
  /** The values of options that take a path. */
  readonly reading: Reading;
}

interface FoundOptions {
  readonly options: Set<string>;
  readonly values: string[];
  readonly reading: Reading;
}

/** What an option takes: nothing, a text, a path, two texts, a text and a path, or a text that only `=` attaches. */
type Value = '' | ':' | '@' | '::' | ':@' | '?';

const TOKEN = /^(--?)([^:@?]+?)(::|:@|:|@|\?)?$/;

/** The options of a program, e.g. `-abc -n: -f@ --all --lines: --color? -#`. `-#` is a number, as in `head -5`. */
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

  /** @throws NotProven for an option that is not in the list, and for words that may expand to an option */
  sort(words: readonly ShellWord[]): Sorted {
    const found: FoundOptions = {options: new Set(), values: [], reading: {paths: [], globs: []}};
    const operands: ShellWord[] = [];
    let onlyOperands = false;
    for (let at = 0; at < words.length; at++) {
      const word = words[at]!;
      if (word.kind === 'unknown') throw new NotProven('one of its words is known only when it runs');
      const text = word.kind === 'stream' ? '' : word.text;
      if (word.kind === 'glob' && !onlyOperands && this.#isTextOption(text)) continue;
      // Files that match a pattern and are named like an option are found when the pattern is expanded.
      if (word.kind === 'glob' && !onlyOperands && text.startsWith('-')) {
        throw new NotProven(`${text} is an option with a pattern`);
      }
      if (onlyOperands || word.kind !== 'text' || text === '-' || !text.startsWith('-')) {
        operands.push(word);
      } else if (text === '--') {
        onlyOperands = true;
      } else {
        at += this.#addOption(text, words.slice(at + 1), found);
      }
    }
    return {...found, operands};
  }

  /** `--include=*.ts` remains that option: a file that matches is named `--include=…`, too. */
  #isTextOption(text: string): boolean {
    const value = this.#values.get(/^--[a-z-]+(?==)/.exec(text)?.[0] ?? '');
    return value === ':' || value === '?';
  }

  /** @returns how many of the words behind the option are its values */
  #addOption(text: string, next: readonly ShellWord[], found: FoundOptions): number {
    if (this.#numbers && /^-\d+$/.test(text)) return 0;
    if (text.startsWith('--')) {
      const [, name = '', attached] = /^(--[^=]+)(?:=([\s\S]*))?$/.exec(text) ?? [];
      return this.#addNamed(name, attached, next, found);
    }
    for (let at = 1; at < text.length; at++) {
      const name = `-${text[at]}`;
      const rest = text.slice(at + 1);
      const value = this.#values.get(name);
      if (value === '' || value === undefined) {
        this.#addNamed(name, undefined, next, found);
        continue;
      }
      return this.#addNamed(name, rest === '' ? undefined : rest, next, found);
    }
    return 0;
  }

  #addNamed(name: string, attached: string | undefined, next: readonly ShellWord[], found: FoundOptions): number {
    const value = this.#values.get(name);
    if (value === undefined) throw new NotProven(`its option ${name} is not known to only read`);
    found.options.add(name);
    if (value === '') {
      if (attached !== undefined) throw new NotProven(`its option ${name} takes no value`);
      return 0;
    }
    if (value === '?') return 0;
    const kinds = [...value];
    // Bash does not expand an attached value: its `~` is an ordinary character.
    const given = attached === undefined ? [] : [{text: attached, home: false}];
    const taken = kinds.slice(given.length).map((_, index) => requireText(next[index], name));
    for (const [index, word] of [...given, ...taken].entries()) {
      if (kinds[index] !== '@') found.values.push(word.text);
      else if (word.text !== '-') found.reading.paths.push(toPath(word));
    }
    return taken.length;
  }
}

function requireText(word: ShellWord | undefined, option: string) {
  if (word?.kind !== 'text') throw new NotProven(`what its option ${option} is given is not known`);
  return word;
}

/** The path that a word names. Where bash takes `~` for an ordinary character, the path begins with `./`. */
export function toPath({text, home}: {readonly text: string; readonly home: boolean}): string {
  return !home && text.startsWith('~') ? `./${text}` : text;
}

/** Adds words to the paths that are read; `-` is standard input. */
export function addPaths(words: readonly ShellWord[], reading: Reading): void {
  for (const word of words) {
    if (word.kind === 'text' && word.text !== '-') reading.paths.push(toPath(word));
    if (word.kind === 'glob') reading.globs.push(toPath(word));
  }
}

/** @throws NotProven for words that are patterns or known only when they run */
export function getTexts(words: readonly ShellWord[]): string[] {
  return words.map((word) => {
    if (word.kind === 'text') return word.text;
    throw new NotProven('one of its words is known only when it runs');
  });
}
