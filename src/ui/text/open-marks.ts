/**
 * Prepares incomplete markdown for the screen. Open marks are closed. Text that cannot be parsed yet (half a mark, the
 * beginning of a link) is left out until more of it has arrived. The text itself is not changed.
 */

interface OpenText {
  /** The text with the closing marks added. */
  readonly shown: string;
  /** Offsets of white space at which no mark is open. Text before such a place does not change. */
  readonly closedAt: readonly number[];
}

interface OpenMark {
  readonly at: number;
  readonly mark: string;
  readonly count: number;
}

/** Characters for which the beginning of a link is left out. */
const MAX_LABEL = 60;
/** Characters. A bracket that is open for longer is not a link. */
const MAX_BRACKET = 500;
const MAX_TAG = 200;

/** Matches ends that the next character may turn into a mark. They are left out. */
const HALF = /(?:\\|!|&#?[a-zA-Z0-9]{0,8}|\n[ \t]*)$/;

/**
 * Finds the marks that are open at the end of inline text.
 * @param isCut true when no more text will come, so that nothing is left out
 */
export function closeOpenMarks(text: string, isCut = false): OpenText {
  const scan = new InlineScan(text, isCut);
  scan.run();
  return {shown: scan.shown(), closedAt: scan.closedAt};
}

/** Scans inline text once, by CommonMark's rules for delimiters. It is mutable and used for one scan only. */
class InlineScan {
  readonly closedAt: number[] = [];
  readonly #text: string;
  readonly #isCut: boolean;
  #open: OpenMark[] = [];
  /** Ranges of marks without a partner, which are left out. */
  readonly #dropped: {readonly start: number; readonly end: number}[] = [];
  /** Up to this offset a bracket may still become a link. */
  #bracket = 0;
  /** Closing mark of a code span, added before the other closing marks. */
  #code = '';
  /** The text from this offset on is left out. */
  #end: number;

  constructor(text: string, isCut: boolean) {
    this.#text = text;
    this.#isCut = isCut;
    this.#end = text.length;
  }

  run(): void {
    let at = 0;
    while (at < this.#end) at = this.#step(at);
  }

  #step(at: number): number {
    const char = this.#text[at]!;
    switch (char) {
      case '\\':
        return at + 2;
      case '`':
        return this.#codeSpan(at);
      case '*':
      case '_':
      case '~':
        return this.#delimiter(at, char);
      case '[':
        return this.#link(at);
      case '<':
        return this.#tag(at);
      default:
        if (/\s/.test(char) && this.#open.length === 0 && at >= this.#bracket) this.closedAt.push(at);
        return at + 1;
    }
  }

  #codeSpan(at: number): number {
    const run = runLength(this.#text, at);
    const ticks = '`'.repeat(run);
    for (let from = at + run; ; ) {
      const close = this.#text.indexOf(ticks, from);
      if (close < 0) break;
      const length = runLength(this.#text, close);
      if (length === run) return close + run;
      from = close + length;
    }
    const rest = this.#text.slice(at + run);
    const content = rest.replace(/`+$/, '');
    if (content.trim() === '') this.#end = at;
    else {
      this.#end = at + run + content.length;
      this.#code = `${content.endsWith('`') ? ' ' : ''}${ticks}`;
    }
    return this.#text.length;
  }

  #delimiter(at: number, mark: string): number {
    const text = this.#text;
    let count = runLength(text, at);
    const end = at + count;
    if (mark === '~' && count !== 2) return this.#skipRun(at, end);
    const [before, after] = [charBefore(text, at), text[end] ?? ' '];
    const [spaceBefore, spaceAfter] = [/\s/.test(before), /\s/.test(after)];
    const [signBefore, signAfter] = [isPunctuation(before), isPunctuation(after)];
    const isLeft = !spaceAfter && (!signAfter || spaceBefore || signBefore);
    const isRight = !spaceBefore && (!signBefore || spaceAfter || signAfter);
    const canClose = isRight && (mark !== '_' || !isLeft || signAfter);
    const canOpen = isLeft && !isInWord(mark, before, after) && (mark !== '_' || !isRight || signBefore);
    if (canClose) count -= this.#close(mark, count);
    if (count === 0) return end;
    // The run may continue, so its end is left out until it is complete.
    if (end === text.length) this.#end = end - count;
    else if (canOpen) this.#open.push({at: end - count, mark, count});
    return end;
  }

  #skipRun(at: number, end: number): number {
    if (end === this.#text.length) this.#end = at;
    return end;
  }

  /** Closes marks with up to `count` characters. @returns the number of characters that were used */
  #close(mark: string, count: number): number {
    let left = count;
    while (left > 0) {
      const index = this.#open.findLastIndex((open) => open.mark === mark);
      const open = this.#open[index];
      if (!open) break;
      const used = Math.min(left, open.count, 2);
      this.#open = this.#open.slice(0, index);
      if (open.count > used) this.#open.push({...open, count: open.count - used});
      left -= used;
    }
    return count - left;
  }

  #link(at: number): number {
    const text = this.#text;
    const label = matchBracket(text, at, '[', ']');
    const isImage = text[at - 1] === '!';
    const start = isImage ? at - 1 : at;
    if (this.#isCut && (label < 0 || text[label + 1] === undefined)) return at + 1;
    if (label < 0) {
      if (text.length - at <= MAX_LABEL) this.#end = start;
      else this.#dropped.push({start, end: at + 1});
      this.#bracket = Math.max(this.#bracket, at + MAX_BRACKET);
      return at + 1;
    }
    const next = text[label + 1];
    if (next === undefined) {
      this.#end = start;
      return text.length;
    }
    if (next !== '(' && next !== '[') return label + 1;
    const target = matchBracket(text, label + 1, next, next === '(' ? ')' : ']');
    if (target >= 0) return target + 1;
    if (/\n\s*\n/.test(text.slice(label))) return label + 1;
    if (next === '[') {
      this.#end = start;
      return text.length;
    }
    // The address is incomplete, so the label is shown without it.
    this.#dropped.push({start, end: at + 1});
    this.#end = label;
    return at + 1;
  }

  #tag(at: number): number {
    if (this.#isCut) return at + 1;
    const text = this.#text;
    const tag = /^<[A-Za-z/!][^\s<>]*>?/.exec(text.slice(at, at + MAX_TAG))?.[0];
    if (tag === undefined) {
      if (at === text.length - 1) this.#end = at;
      return at + 1;
    }
    if (!tag.endsWith('>') && at + tag.length === text.length) this.#end = at;
    return at + tag.length;
  }

  /** Returns the text without its half marks, with closing marks for the open ones. */
  shown(): string {
    const text = this.#text;
    let end = this.#end;
    if (this.#code === '' && !this.#isCut) end = text.slice(0, end).replace(HALF, '').length;
    let shown = '';
    let from = 0;
    for (const {start, end: to} of this.#dropped.filter((one) => one.start < end)) {
      shown += text.slice(from, start);
      from = to;
    }
    shown += text.slice(from, Math.max(from, end)) + this.#code;
    for (const {mark, count, at} of this.#open.toReversed()) {
      if (at >= end) continue;
      // A closing mark cannot follow a space. A mark without text inside is left out.
      shown = shown.trimEnd();
      if (text.slice(at + count, end).trim() === '') shown = shown.slice(0, -count);
      else shown += mark.repeat(count);
    }
    return shown;
  }
}

/**
 * Tells whether a star is between letters or digits, as in `2*3`. There it is no mark, because people mean the star
 * itself.
 */
export function isInWord(mark: string, before: string, after: string): boolean {
  return mark === '*' && /\w/.test(before) && /\w/.test(after);
}

function runLength(text: string, at: number): number {
  let end = at + 1;
  while (text[end] === text[at]) end += 1;
  return end - at;
}

function charBefore(text: string, at: number): string {
  return at === 0 ? ' ' : text[at - 1]!;
}

function isPunctuation(char: string): boolean {
  return /[\p{P}\p{S}]/u.test(char);
}

/** Returns the offset of the closing bracket, or -1. Brackets in code and escaped ones do not count. */
function matchBracket(text: string, at: number, open: string, close: string): number {
  let depth = 0;
  for (let place = at; place < text.length; place++) {
    const char = text[place]!;
    if (char === '\\') place += 1;
    else if (char === '`' && open === '[') {
      const run = runLength(text, place);
      const end = text.indexOf('`'.repeat(run), place + run);
      if (end < 0) return -1;
      place = end + run - 1;
    } else if (char === open) depth += 1;
    else if (char === close && --depth === 0) return place;
    else if (char === '\n' && text[place + 1] === '\n') return -1;
  }
  return -1;
}

/** Matches lines of marks only. The next character may turn them into a list, a rule, a fence or a heading. */
const MARKS_ONLY = /^(?:[\s>*+\-_=~`|:#]|\d{1,9}[.)]?(?=\s|$)|\[[ xX]?\]?(?=\s|$))*$/;

/** Leaves out a last line that has only marks so far. */
export function holdMarks(source: string): string {
  const start = source.lastIndexOf('\n') + 1;
  return start < source.length && MARKS_ONLY.test(source.slice(start)) ? source.slice(0, start) : source;
}

/** Characters up to which a line without a pipe at its start is left out as the possible head of a table. */
const MAX_TABLE_HEAD = 200;

/** Leaves out the last lines of a paragraph when they may become the head of a table. */
export function holdTableHead(text: string): string {
  const lines = text.split('\n');
  const isRule = lines.length > 1 && /^[ \t]*[|:-][\s|:-]*$/.test(lines.at(-1)!);
  const head = lines.at(isRule ? -2 : -1)!;
  const isHead =
    /^ *\|/.test(head) || (head.length <= MAX_TABLE_HEAD && head.replace(/`[^`]*`?|\\\|/g, '').includes('|'));
  return isHead ? lines.slice(0, isRule ? -2 : -1).join('\n') : text;
}
