/**
 * Cuts a streaming markdown text into finished blocks, which are printed once, and a tail that still grows. A fence, a
 * list or a paragraph that gets too long is cut at a newline; the state says how the next piece goes on.
 */

export interface Block {
  readonly text: string;
  /** By how many columns the block is indented: it continues something nested. */
  readonly indent: number;
  /** The block continues the block before: there is no blank line between them. */
  readonly continued: boolean;
}

export interface StreamState {
  /** The unfinished text, unchanged. */
  readonly tail: string;
  /** The fence around the tail, when its opening line was in a block that was cut off. */
  readonly fence: Fence | undefined;
  /** A list was cut: indented lines still belong to it. */
  readonly nested: boolean;
  readonly continued: boolean;
}

interface Fence {
  /** The opening line, e.g. ```` ```ts ````, without its indentation. */
  readonly open: string;
  readonly marker: string;
  readonly indent: number;
}

export const EMPTY_STREAM: StreamState = {tail: '', fence: undefined, nested: false, continued: false};

const MAX_FENCE_LINES = 20;
const MAX_LIST_LINES = 12;
const MAX_LINES = 40;
/** A longer line is cut at a space, or here when it has none. Characters. */
const MAX_LINE = 2000;

const FENCE = /^( *)(`{3,}|~{3,})([^`]*)$/;
const LIST_ITEM = /^ *(?:[-*+]|\d{1,9}[.)])(?: |$)/;
const TABLE_RULE = /^\s*\|?[\s:|-]*-[\s:|-]*\|[\s:|-]*$/;
const HEADING = /^#{1,6} /;

/** Adds text. @returns the new state, and the blocks that are finished now */
export function feedStream(state: StreamState, text: string): {state: StreamState; blocks: Block[]} {
  const scan = new Scan({...state, tail: state.tail + text});
  scan.run();
  return {state: scan.rest(), blocks: scan.blocks};
}

/** The text has ended: the tail becomes the last block. */
export function finishStream(state: StreamState): Block[] {
  const scan = new Scan({...state, tail: `${state.tail}\n`});
  scan.run();
  scan.cut(false);
  return scan.blocks;
}

/** One pass over the tail, line by line. It is mutable, and used only for this pass. */
class Scan {
  readonly blocks: Block[] = [];
  private lines: string[] = [];
  private fence: Fence | undefined;
  /** The opening line of the fence was in an earlier block. */
  private reopened: boolean;
  private nested: boolean;
  private continued: boolean;
  private remaining: string;

  constructor(state: StreamState) {
    this.remaining = state.tail;
    this.fence = state.fence;
    this.reopened = state.fence !== undefined;
    this.nested = state.nested;
    this.continued = state.continued;
  }

  run(): void {
    for (;;) {
      const end = this.remaining.indexOf('\n');
      if (end < 0) {
        if (this.remaining.length <= MAX_LINE) return;
        this.cutLongLine();
        continue;
      }
      const line = this.remaining.slice(0, end);
      if (line.length > MAX_LINE) {
        this.cutLongLine();
        continue;
      }
      const next = this.remaining.slice(end + 1);
      if (!this.take(line, next)) return;
      this.remaining = next;
    }
  }

  /** The state with the unfinished text. */
  rest(): StreamState {
    return {
      tail: [...this.lines, this.remaining].join('\n'),
      fence: this.reopened ? this.fence : undefined,
      nested: this.nested,
      continued: this.continued,
    };
  }

  /** @returns false when the next line must be known first. */
  private take(line: string, next: string): boolean {
    if (this.fence) {
      this.takeFenced(line);
      return true;
    }
    if (line.trim() === '') return this.takeBlank(next);
    const opening = FENCE.exec(line);
    if (opening) {
      if (this.lines.length > 0 && !(this.isList() && opening[1]!.length >= 2)) this.cut(false);
      this.fence = {open: line.trim(), marker: opening[2]!, indent: opening[1]!.length};
      this.reopened = false;
    } else if (HEADING.test(line)) {
      this.cut(false);
      this.lines.push(line);
      this.cut(false);
      return true;
    } else if (this.isTooLongFor(line)) {
      this.nested ||= this.isList();
      const head = TABLE_RULE.test(this.lines[1] ?? '') ? this.lines.slice(0, 2) : [];
      this.cut(true);
      this.lines.push(...head);
    }
    this.lines.push(line);
    return true;
  }

  private takeFenced(line: string): void {
    const fence = this.fence!;
    this.lines.push(line);
    if (line.trim().startsWith(fence.marker) && /^(`+|~+)$/.test(line.trim())) {
      const isPiece = this.reopened;
      if (isPiece) this.lines.pop();
      if (isPiece || !this.isList()) this.cutFence(false);
      this.fence = undefined;
      this.reopened = false;
      if (isPiece) this.continued = false;
    } else if (this.lines.length >= MAX_FENCE_LINES) {
      this.cutFence(true);
    }
  }

  private takeBlank(next: string): boolean {
    if (this.lines.length === 0) {
      this.continued = false;
      return true;
    }
    if (this.isList()) {
      const following = next.trimStart();
      if (following === '') return false;
      const indent = /^ */.exec(next.replace(/^\s*\n/, ''))![0].length;
      if (indent >= 2) {
        this.lines.push('');
        return true;
      }
    }
    this.cut(false);
    return true;
  }

  private isList(): boolean {
    return LIST_ITEM.test(this.lines[0] ?? '') || (this.nested && /^ /.test(this.lines[0] ?? ''));
  }

  private isTooLongFor(line: string): boolean {
    if (this.isList()) return this.lines.length >= MAX_LIST_LINES && LIST_ITEM.test(line);
    return this.lines.length >= MAX_LINES;
  }

  /** The collected lines become a block. @param goesOn the next block continues it */
  cut(goesOn: boolean): void {
    if (this.fence) {
      this.cutFence(goesOn);
      return;
    }
    if (this.lines.some((line) => line.trim() !== '')) {
      const first = this.lines[0]!;
      const indent = this.nested ? first.length - first.trimStart().length : 0;
      if (indent === 0 && !goesOn) this.nested = false;
      this.blocks.push({text: dedent(this.lines, indent), indent, continued: this.continued});
    }
    this.lines = [];
    this.continued = goesOn;
  }

  /** Closes the fence at the end of the block; the next block opens it again. */
  private cutFence(goesOn: boolean): void {
    const fence = this.fence!;
    const indent = this.reopened ? fence.indent : 0;
    const before = this.reopened ? [fence.open] : [];
    const isClosed = !this.reopened && !goesOn && /^\s*(`+|~+)$/.test(this.lines.at(-1) ?? '') && this.lines.length > 1;
    const after = isClosed ? [] : [' '.repeat(this.reopened ? 0 : fence.indent) + fence.marker];
    if (!this.reopened || this.lines.length > 0) {
      const text = [...before, dedent(this.lines, indent), ...after].join('\n');
      this.blocks.push({text, indent, continued: this.continued});
    }
    this.nested ||= fence.indent > 0;
    this.lines = [];
    this.continued = goesOn;
    this.reopened = goesOn;
  }

  private cutLongLine(): void {
    const space = this.fence ? -1 : this.remaining.lastIndexOf(' ', MAX_LINE);
    // Do not cut between the halves of a surrogate pair.
    const hard = /[\ud800-\udbff]/.test(this.remaining[MAX_LINE - 1]!) ? MAX_LINE - 1 : MAX_LINE;
    const end = space > 0 ? space : hard;
    this.lines.push(this.remaining.slice(0, end));
    this.remaining = this.remaining.slice(space > 0 ? end + 1 : end);
    this.cut(true);
  }
}

function dedent(lines: readonly string[], columns: number): string {
  const spaces = new RegExp(`^ {0,${columns}}`);
  return lines.map((line) => line.replace(spaces, '')).join('\n');
}
