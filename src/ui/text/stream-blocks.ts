/**
 * Cuts a streaming markdown text into blocks that are finished and can be printed for good, and a tail that is not.
 * What grows too long (a fence, a list, a paragraph) is cut at a newline; the next piece carries its state.
 */

export interface Block {
  readonly text: string;
  /** Columns that the whole block is moved to the right: it continues something nested. */
  readonly indent: number;
  /** True when it goes on from the block before: no blank line between them. */
  readonly continued: boolean;
}

export interface StreamState {
  /** Not yet finished, as it came. */
  readonly tail: string;
  /** The fence that the tail is within, when it was opened in a block already cut off. */
  readonly fence: Fence | undefined;
  /** True after a cut within a list: indented lines still belong to it. */
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
/** A line without an end is cut here, at a space if there is one. */
const MAX_LINE = 2000;

const FENCE = /^( *)(`{3,}|~{3,})([^`]*)$/;
const LIST_ITEM = /^ *(?:[-*+]|\d{1,9}[.)])(?: |$)/;
const TABLE_RULE = /^\s*\|?[\s:|-]*-[\s:|-]*\|[\s:|-]*$/;
const HEADING = /^#{1,6} /;

/** Adds text; gives back the blocks that it finished. */
export function feedStream(state: StreamState, text: string): {state: StreamState; blocks: Block[]} {
  const scan = new Scan({...state, tail: state.tail + text});
  scan.run();
  return {state: scan.rest(), blocks: scan.blocks};
}

/** The text has ended: what is left is the last block. */
export function finishStream(state: StreamState): Block[] {
  const scan = new Scan({...state, tail: `${state.tail}\n`});
  scan.run();
  scan.cut(false);
  return scan.blocks;
}

/** One walk over the tail, line by line. Mutable while it lasts, and no longer. */
class Scan {
  readonly blocks: Block[] = [];
  private lines: string[] = [];
  private fence: Fence | undefined;
  /** The fence was opened in a block before this one. */
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

  /** What is not finished, with the state that it needs to go on. */
  rest(): StreamState {
    return {
      tail: [...this.lines, this.remaining].join('\n'),
      fence: this.reopened ? this.fence : undefined,
      nested: this.nested,
      continued: this.continued,
    };
  }

  /** @returns false when what follows must be seen first. */
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

  /** What was gathered becomes a block. `goesOn`: the next one continues it. */
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

  /** A piece of a fence is closed for the block, and opened again for what follows. */
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
    // Never between the halves of a surrogate pair.
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
