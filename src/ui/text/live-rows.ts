/**
 * Shares the rows of the window among the live parts. Their sum is at most the window's height less two. A frame as
 * high as the window cannot be redrawn without touching the output above it. When a frame begins in the first row, tmux
 * treats it as the whole screen and copies it into its history each time it is erased.
 */
import {MIN_FRAMED} from '../first-paint/prompt-frame.ts';

export interface LiveRows {
  readonly prompt: number;
  readonly question: number;
  readonly status: number;
  readonly busy: number;
  /** The blank row between the finished items and the live part. */
  readonly lead: number;
  /** The blank row above the prompt. */
  readonly gap: number;
  /** The rules above and below the prompt: both or none. */
  readonly frame: number;
  readonly completion: number;
  readonly panel: number;
  /** The transcript of an opened run. */
  readonly view: number;
  readonly queued: number;
  readonly subagents: number;
  readonly tools: number;
  readonly todos: number;
  readonly tail: number;
}

/** Maximal number of live rows of unfinished text. */
const MAX_TAIL = 12;
const MAX_TODOS = 10;
/** Rows around a growing answer: the prompt, the status line and so on. */
const OTHER_ROWS = 10;

/** Returns how much of an answer may be live in a window. The first rows of a longer block are printed. */
export function answerRoom(columns: number, windowRows: number): {readonly columns: number; readonly rows: number} {
  return {columns, rows: Math.max(2, Math.min(MAX_TAIL, windowRows - OTHER_ROWS))};
}

export function shareRows(windowRows: number, wants: LiveRows): LiveRows {
  let left = Math.max(1, windowRows - 2);
  const take = (want: number, most = left) => {
    const given = Math.max(0, Math.min(want, most, left));
    left -= given;
    return given;
  };
  // The parts take their rows in this order.
  const given = {
    prompt: Math.max(1, take(wants.prompt, Math.max(1, Math.floor(windowRows / 3)))),
    question: take(wants.question),
    status: take(wants.status),
    busy: take(wants.busy),
    completion: take(wants.completion),
    frame: take(wants.frame, windowRows >= MIN_FRAMED && left > 4 ? 2 : 0),
    gap: take(wants.gap, left > 2 ? 1 : 0),
    panel: take(wants.panel, Math.ceil(left / 2)),
    queued: take(wants.queued, Math.max(1, Math.floor(left / 3))),
    // Rows that leave the window do not return when the run is closed, so a third of the window stays free.
    view: take(wants.view, Math.min(Math.floor((windowRows * 2) / 3), wants.lead > 0 && left > 2 ? left - 1 : left)),
    // The text and the tools keep a few rows, however many agents run.
    subagents: take(wants.subagents, Math.max(2, left - Math.min(4, wants.tail + wants.tools))),
    tools: take(wants.tools, wants.tail > 0 ? left - 1 : left),
    todos: take(wants.todos, Math.min(MAX_TODOS, left - Math.min(2, wants.tail))),
    // A window that becomes lower pushes rows into the scrollback, where they stay. So a third of the window is kept
    // free of text.
    tail: take(wants.tail, Math.max(4, Math.min(MAX_TAIL, left - Math.floor(windowRows / 3)))),
  };
  return {...given, lead: take(wants.lead, left > 1 || given.view > 0 ? 1 : 0)};
}

/** Returns the first shown row of a list when `rows` of its `count` rows are shown around the marked one. */
export function firstAround(marked: number, count: number, rows: number): number {
  return Math.max(0, Math.min(marked - Math.floor(rows / 2), count - rows));
}
