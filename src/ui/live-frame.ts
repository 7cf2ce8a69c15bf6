/**
 * Remembers the live part as it was drawn last. Most terminals wrap its rows again when the window becomes narrower.
 * Ink then erases too few rows, and the others would stay above as copies. So `erase` removes them before Ink draws for
 * the new width.
 */

import {stripVTControlCharacters} from 'node:util';
import type {DOMElement} from 'ink';
import {rowWidth} from './text/wrap.ts';

/** A text, with the place where Ink drew it. */
interface Drawn {
  readonly x: number;
  readonly y: number;
  readonly lines: readonly string[];
}

export class LiveFrame {
  #box: DOMElement | null = null;
  #texts: readonly Drawn[] = [];
  #cursor: {readonly x: number; readonly y: number} | undefined;
  /** Width of the window when the live part was drawn. */
  #columns = 0;
  #drawnCursor: {readonly x: number; readonly y: number} | undefined;

  /** Ref for Ink: the box around the live part. */
  readonly setBox = (box: DOMElement | null): void => {
    this.#box = box;
  };

  /** @param cursor position in the next frame; undefined when the cursor is hidden */
  setCursor(cursor: {readonly x: number; readonly y: number} | undefined): void {
    this.#cursor = cursor;
  }

  /** Records what Ink has just drawn. @param columns width of the window */
  record(columns: number): void {
    this.#columns = columns;
    const texts: Drawn[] = [];
    if (this.#box) collectTexts(this.#box, 0, 0, texts);
    this.#texts = texts;
    this.#drawnCursor = this.#cursor;
  }

  /**
   * Builds the codes that erase the live part in a terminal that has wrapped its rows again.
   * @param columns the new width of the window. @returns undefined when the position of the cursor is unknown
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
