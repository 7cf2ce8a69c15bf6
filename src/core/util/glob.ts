/**
 * Matches patterns of file names in time linear in the name. Patterns come from models and from the settings of
 * projects, and a backtracking RegExp takes minutes for some of them. A pattern becomes a set of states, and names are
 * read character by character.
 */

interface GlobOptions {
  /** Makes `{a,b}` match a or b. Default: braces are plain characters. */
  readonly braces?: boolean;
  /** Makes `[id]` also match exactly that text, because a folder may have such a name. */
  readonly plainBrackets?: boolean;
  /** Makes `**` cross folders even if it is only the beginning of a segment: `**.ts`. */
  readonly openStars?: boolean;
  readonly ignoreCase?: boolean;
}

/** A state. With `test` it reads one character; without it, the next states are reached without reading. */
interface State {
  readonly test?: (character: string) => boolean;
  readonly next: number[];
}

type Reached = {readonly states: readonly number[]; readonly isEnd: boolean; readonly after: Map<string, Reached>};

/** Number of sets of states that are remembered before all are dropped. */
const MAX_REMEMBERED = 2000;

export class Glob {
  readonly #states: State[] = [];
  readonly #ignoreCase: boolean;
  readonly #end: number;
  #remembered = new Map<string, Reached>();
  #start: Reached;

  /**
   * `*` and `?` do not match `/`. `**` matches it when it is a whole segment. `[a-z]` and `[!a]` are sets, and `\`
   * makes the next character plain. Brackets and braces that are not closed are plain characters.
   */
  constructor(pattern: string, options: GlobOptions = {}) {
    this.#ignoreCase = options.ignoreCase ?? false;
    const parser = new GlobParser(this.#ignoreCase ? pattern.toLowerCase() : pattern, options, this.#states);
    const first = this.#states.push({next: []}) - 1;
    this.#end = parser.parse(first);
    this.#start = this.#reach([first]);
  }

  matches(path: string): boolean {
    return this.#read(path, false) === 'end';
  }

  /** Whether a folder above the path matches. */
  matchesAbove(path: string): boolean {
    return this.#read(path, true) === 'above';
  }

  #read(path: string, stopsAbove: boolean): 'end' | 'above' | 'no' {
    let at = this.#start;
    for (const character of this.#ignoreCase ? path.toLowerCase() : path) {
      if (character === '/' && at.isEnd && stopsAbove) return 'above';
      let next = at.after.get(character);
      if (next === undefined) {
        next = this.#reach(
          at.states.flatMap((state) => (this.#states[state]!.test?.(character) ? this.#states[state]!.next : [])),
        );
        at.after.set(character, next);
      }
      if (next.states.length === 0) return 'no';
      at = next;
    }
    return at.isEnd ? 'end' : 'no';
  }

  /** Returns the set of all states that can be reached from these without reading. */
  #reach(from: readonly number[]): Reached {
    const found = new Set(from);
    for (const state of found) {
      if (this.#states[state]!.test === undefined) for (const next of this.#states[state]!.next) found.add(next);
    }
    const states = [...found].sort((a, b) => a - b);
    const key = states.join(' ');
    const known = this.#remembered.get(key);
    if (known) return known;
    if (this.#remembered.size >= MAX_REMEMBERED) this.#forget();
    const reached = {states, isEnd: found.has(this.#end), after: new Map<string, Reached>()};
    this.#remembered.set(key, reached);
    return reached;
  }

  #forget(): void {
    this.#remembered.clear();
    this.#start?.after.clear();
  }
}

/** Reads a pattern from left to right, and adds its states one after another. */
class GlobParser {
  readonly #characters: readonly string[];
  #at = 0;

  constructor(
    pattern: string,
    private readonly options: GlobOptions,
    private readonly states: State[],
  ) {
    this.#characters = [...pattern];
  }

  /** @returns the last state */
  parse(first: number): number {
    return this.#sequence(first, false);
  }

  /** Parses up to the end, or in braces up to `,` or `}`. */
  #sequence(first: number, inBraces: boolean): number {
    let last = first;
    while (this.#at < this.#characters.length) {
      const character = this.#characters[this.#at]!;
      if (inBraces && (character === ',' || character === '}')) break;
      last = this.#item(character, last);
    }
    return last;
  }

  #item(character: string, from: number): number {
    switch (character) {
      case '*':
        return this.#stars(from);
      case '?':
        this.#at += 1;
        return this.#add(from, isNotSlash);
      case '[':
        return this.#brackets(from);
      case '{':
        if (this.options.braces && this.#hasClosingBrace()) return this.#braces(from);
        break;
      case '\\':
        if (this.#at + 1 < this.#characters.length) this.#at += 1;
        break;
    }
    return this.#literal(from);
  }

  #literal(from: number): number {
    const wanted = this.#characters[this.#at];
    this.#at += 1;
    return this.#add(from, (character) => character === wanted);
  }

  #stars(from: number): number {
    const start = this.#at;
    while (this.#characters[this.#at] === '*') this.#at += 1;
    const isFirst = start === 0 || (this.options.braces ? '/{,' : '/').includes(this.#characters[start - 1]!);
    const isDouble = isFirst && this.#at - start >= 2;
    const next = this.#characters[this.#at];
    if (!isDouble) return this.#loop(from, isNotSlash);
    if (next === '/') {
      this.#at += 1;
      // This matches no folder or several, each with its slash.
      const head = this.#empty(from);
      const slash = this.#add(this.#loop(head, isNotSlash), isSlash);
      this.states[slash]!.next.push(head);
      return this.#empty(head);
    }
    const isWhole = next === undefined || (this.options.braces === true && (next === ',' || next === '}'));
    return this.#loop(from, isWhole || this.options.openStars ? () => true : isNotSlash);
  }

  #brackets(from: number): number {
    const text = this.#characters.slice(this.#at).join('');
    const [whole, negation, body] = /^\[([!^]?)(\]?(?:\\.|[^\]\\])*)\]/su.exec(text) ?? [];
    if (whole === undefined) return this.#literal(from);
    const isMember = createSet(body!, this.options.ignoreCase ?? false);
    const isNegated = negation !== '';
    const end = this.#add(from, (character) => character !== '/' && isMember(character) !== isNegated);
    const characters = [...whole];
    if (this.options.plainBrackets) {
      let last = this.#empty(from);
      for (const wanted of characters) last = this.#add(last, (character) => character === wanted);
      this.states[last]!.next.push(end);
    }
    this.#at += characters.length;
    return end;
  }

  #braces(from: number): number {
    const end = this.states.push({next: []}) - 1;
    do {
      this.#at += 1;
      const last = this.#sequence(this.#empty(from), true);
      this.states[last]!.next.push(end);
    } while (this.#characters[this.#at] === ',');
    this.#at += 1;
    return end;
  }

  #hasClosingBrace(): boolean {
    let open = 0;
    for (let at = this.#at; at < this.#characters.length; at += 1) {
      if (this.#characters[at] === '\\') at += 1;
      else if (this.#characters[at] === '{') open += 1;
      else if (this.#characters[at] === '}') open -= 1;
      if (open === 0) return true;
    }
    return false;
  }

  /** @returns the state after one character */
  #add(from: number, test: (character: string) => boolean): number {
    const after = this.states.push({next: []}) - 1;
    const reader = this.states.push({test, next: [after]}) - 1;
    this.states[from]!.next.push(reader);
    return after;
  }

  /** @returns the state after any number of characters */
  #loop(from: number, test: (character: string) => boolean): number {
    const end = this.#empty(from);
    this.states[end]!.next.push(this.states.push({test, next: [end]}) - 1);
    return end;
  }

  #empty(from: number): number {
    const state = this.states.push({next: []}) - 1;
    this.states[from]!.next.push(state);
    return state;
  }
}

const isSlash = (character: string): boolean => character === '/';
const isNotSlash = (character: string): boolean => character !== '/';

/** Parses the inside of brackets: `a-z0-9_`. A range whose end comes first is empty. */
function createSet(body: string, ignoreCase: boolean): (character: string) => boolean {
  const characters = [...body.matchAll(/\\(.)|(.)/gsu)].map(([, escaped, plain]) => ({
    text: (escaped ?? plain)!,
    isDash: plain === '-',
  }));
  const ranges: [number, number][] = [];
  for (let at = 0; at < characters.length; at += 1) {
    const from = characters[at]!.text.codePointAt(0)!;
    const isRange = characters[at + 1]?.isDash === true && at + 2 < characters.length;
    ranges.push([from, isRange ? characters[at + 2]!.text.codePointAt(0)! : from]);
    if (isRange) at += 2;
  }
  const isIn = (character: string): boolean => {
    const code = character.codePointAt(0)!;
    return ranges.some(([from, to]) => from <= code && code <= to);
  };
  return (character) => isIn(character) || (ignoreCase && isIn(character.toUpperCase()));
}

/**
 * Whether a text consists of the pieces, with any characters between them: `a*b` has the pieces `a` and `b`. This also
 * takes linear time, and serves texts that are no paths.
 */
export function matchesPieces(pieces: readonly string[], text: string): boolean {
  const [first = '', ...others] = pieces;
  const last = others.pop();
  if (last === undefined) return text === first;
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (const piece of others) {
    const found = text.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return text.endsWith(last) && text.length - last.length >= at;
}
