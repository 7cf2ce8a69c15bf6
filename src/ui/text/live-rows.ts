/**
 * Shares the window's rows among the live parts. Their sum stays two below the window's height: a frame as high as the
 * window can't be redrawn without touching what was printed before, and one that begins in its first row is taken for
 * the whole screen by tmux, which puts a copy into its history whenever the frame is erased.
 */
export interface LiveRows {
  readonly prompt: number;
  readonly question: number;
  readonly status: number;
  readonly busy: number;
  /** The blank row between what is finished and what is live. */
  readonly lead: number;
  /** The blank row over the prompt. */
  readonly gap: number;
  readonly completion: number;
  readonly panel: number;
  /** An opened run's transcript. */
  readonly view: number;
  readonly queued: number;
  readonly subagents: number;
  readonly tools: number;
  readonly todos: number;
  readonly tail: number;
}

/** Of the unfinished text at most so many rows are live, however high the window is. */
const MAX_TAIL = 16;
const MAX_TODOS = 10;

export function shareRows(windowRows: number, wants: LiveRows): LiveRows {
  let left = Math.max(1, windowRows - 2);
  const take = (want: number, most = left) => {
    const given = Math.max(0, Math.min(want, most, left));
    left -= given;
    return given;
  };
  const prompt = Math.max(1, take(wants.prompt, Math.max(1, Math.floor(windowRows / 3))));
  const question = take(wants.question);
  const status = take(wants.status);
  const busy = take(wants.busy);
  const completion = take(wants.completion);
  const gap = take(wants.gap, left > 2 ? 1 : 0);
  const panel = take(wants.panel, Math.ceil(left / 2));
  const queued = take(wants.queued, Math.max(1, Math.floor(left / 3)));
  // What was pushed out of the window does not come back when the run is left: a third is kept.
  const view = take(
    wants.view,
    Math.min(Math.floor((windowRows * 2) / 3), wants.lead > 0 && left > 2 ? left - 1 : left),
  );
  // Whatever many agents run, the text and the tools beside them keep a few rows.
  const others = Math.min(4, wants.tail + wants.tools);
  const subagents = take(wants.subagents, Math.max(2, left - others));
  const tools = take(wants.tools, wants.tail > 0 ? left - 1 : left);
  const todos = take(wants.todos, Math.min(MAX_TODOS, left - Math.min(2, wants.tail)));
  const tail = take(wants.tail, MAX_TAIL);
  const lead = take(wants.lead, left > 1 || view > 0 ? 1 : 0);
  return {lead, prompt, question, status, busy, gap, completion, panel, view, queued, subagents, tools, todos, tail};
}

/** The first of a list for so many rows; the last row says how many are missing. */
export function firstRows<T>(items: readonly T[], rows: number): {shown: readonly T[]; more: number} {
  if (items.length <= rows) return {shown: items, more: 0};
  const shown = items.slice(0, Math.max(0, rows - 1));
  return {shown, more: items.length - shown.length};
}
