/**
 * Draws a frame faster than Ink does. Ink puts each character into a cell of its own and writes the cells back as text,
 * which is a fifth of the work of an answer that streams. Nearly all our rows have one text, so that text is the row. What
 * is more than that is left to Ink. `scripts/bundle.mjs` puts this in the place of Ink's own class.
 */

/** A text at a place of the frame, as Ink's `Output` has it. */
interface Write {
  readonly type: 'write';
  readonly x: number;
  readonly y: number;
  readonly text: string;
  readonly transformers: readonly ((line: string, index: number) => string)[];
}

/** Ink's `Output`, as far as it is used here. */
export interface InkOutput {
  readonly operations: readonly (Write | {readonly type: 'clip' | 'unclip'})[];
  readonly width: number;
  readonly height: number;
  get(): {output: string; height: number};
}

type InkOutputClass = new (size: {width: number; height: number}) => InkOutput;

/** @returns a class that writes the same text as Ink's, or text that looks the same */
export function createFrameOutput<T extends InkOutputClass>(Output: T): T {
  // A class that extends one of a type parameter must take any arguments.
  // biome-ignore lint/suspicious/noExplicitAny: TypeScript asks for it
  return class extends (Output as new (...given: any[]) => InkOutput) {
    override get() {
      const rows = drawRows(this.operations, this.height);
      return rows ? {output: rows.join('\n'), height: rows.length} : super.get();
    }
  } as unknown as T;
}

/** Characters without a width of their own, which Ink leaves out, and tabs. */
const UNUSUAL = /[\t\p{Default_Ignorable_Code_Point}]/u;

/** @returns undefined where two texts share a row, or the codes of a text may go on in its next row */
function drawRows(operations: InkOutput['operations'], height: number): string[] | undefined {
  const rows: string[] = new Array(height).fill('');
  const isTaken: boolean[] = new Array(height).fill(false);
  for (const operation of operations) {
    if (operation.type !== 'write') return undefined;
    const {x, y, text, transformers} = operation;
    const lines = text.split('\n');
    if (x < 0 || (lines.length > 1 && text.includes('\x1b'))) return undefined;
    const space = ' '.repeat(x);
    for (const [index, line] of lines.entries()) {
      const at = y + index;
      if (!(at >= 0 && at < height) || isTaken[at]) return undefined;
      isTaken[at] = true;
      let drawn = line;
      for (const transform of transformers) drawn = transform(drawn, index);
      if (UNUSUAL.test(drawn)) return undefined;
      rows[at] = (space + drawn).trimEnd();
    }
  }
  return rows;
}
