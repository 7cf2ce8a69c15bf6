/**
 * The live part as it was drawn last. Most terminals wrap its rows again when the window becomes narrower, and Ink then
 * erases too few of them: its rows would stay above as copies. So it is erased here, before Ink draws it for the new width.
 */

import {stripVTControlCharacters} from 'node:util';
import type {DOMElement} from 'ink';
import {rowWidth} from './text/wrap.ts';

/** A text that was drawn. */
interface Drawn {
  readonly x: number;
  readonly y: number;
  readonly lines: readonly string[];
}

export class LiveFrame {
  #box: DOMElement | null = null;
  #texts: readonly Drawn[] = [];
  #cursor: {readonly x: number; readonly y: number} | undefined;
  /** Of the window, when it was drawn. */
  #columns = 0;
  #drawnCursor: {readonly x: number; readonly y: number} | undefined;

  /** For Ink: the box around the live part. */
  readonly setBox = (box: DOMElement | null): void => {
    this.#box = box;
  };

  /** @param cursor where the next frame has it; undefined: it is hidden */
  setCursor(cursor: {readonly x: number; readonly y: number} | undefined): void {
    this.#cursor = cursor;
  }

  /** Ink has drawn. @param columns of the window */
  record(columns: number): void {
    this.#columns = columns;
    const texts: Drawn[] = [];
    if (this.#box) collectTexts(this.#box, 0, 0, texts);
    this.#texts = texts;
    this.#drawnCursor = this.#cursor;
  }

  /**
   * Erases the live part, from its first row on, as a terminal shows it that has wrapped its rows again.
   * @param columns of the window now. @returns undefined where it is not known where the cursor is
   */
  erase(columns: number): string | undefined {
    const cursor = this.#drawnCursor;
    if (!cursor) return undefined;
    const widths: number[] = Array.from({length: cursor.y}, () => 0);
    for (const {x, y, lines} of this.#texts) {
      for (const [index, line] of lines.entries()) {
        const row = y + index;
        if (row >= cursor.y) continue;
        const drawn = stripVTControlCharacters(line).trimEnd();
        widths[row] = Math.max(widths[row]!, Math.min(this.#columns, x + rowWidth(drawn)));
      }
    }
    const up = widths.reduce((sum, width) => sum + Math.max(1, Math.ceil(width / columns)), 0);
    const rows = up + Math.floor(cursor.x / columns);
    return `${rows > 0 ? `\x1b[${rows}A` : ''}\r\x1b[J`;
  }
}

function collectTexts(node: DOMElement, left: number, top: number, texts: Drawn[]): void {
  const {yogaNode} = node;
  if (!yogaNode || node.internal_static) return;
  const x = left + yogaNode.getComputedLeft();
  const y = top + yogaNode.getComputedTop();
  if (node.nodeName === 'ink-text') {
    const {internal_transform: transform = (line: string) => line} = node;
    texts.push({x, y, lines: getText(node).split('\n').map(transform)});
    return;
  }
  for (const child of node.childNodes) {
    if (child.nodeName !== '#text') collectTexts(child, x, y, texts);
  }
}

function getText(node: DOMElement): string {
  return node.childNodes.map((child) => (child.nodeName === '#text' ? child.nodeValue : getText(child))).join('');
}
