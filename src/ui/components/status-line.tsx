import type {Usage} from '../../core/contract/model.ts';
import {formatCost} from '../../core/util/messages.ts';
import {formatCount, formatTokens} from '../../core/util/text.ts';
import type {ContextState} from '../state/ui-state.ts';
import {MUTED, Rows, type TextStyle, toRow} from '../text/styled-text.tsx';
import {cutText, cutWords, joinFitting, textWidth, wrapText} from '../text/wrap.ts';

interface StatusProps {
  readonly model: string;
  readonly mode: string;
  /** Agents that run. */
  readonly running: number;
  /** Commands in the background. */
  readonly commands?: number;
  readonly context: ContextState;
  /** Tokens and cost that the session has used so far. */
  readonly cost: Usage | undefined;
  /** The git branch, where there is one. */
  readonly branch?: string | undefined;
  /** Shown in place of the line when it is not empty. */
  readonly hint: string;
  /** A key that is useful at the moment. */
  readonly tip?: string;
  /** Maximal number of rows for a hint. */
  readonly rows?: number;
  /** The person's own row, which replaces model, context, cost and branch. */
  readonly own?: string | undefined;
  readonly columns: number;
}

/** A warning needs several rows in a narrow window, so that its end is readable. */
const MAX_HINT_ROWS = 3;

/** Returns the rows of a hint, or one empty row when there is none. */
export function hintRows(hint: string, columns: number): readonly string[] {
  const rows = wrapText(hint, columns);
  if (rows.length <= MAX_HINT_ROWS) return rows;
  return [...rows.slice(0, MAX_HINT_ROWS - 1), cutWords(rows.slice(MAX_HINT_ROWS - 1).join(' '), columns)];
}

/** Formats the used share of the context window, or the tokens while the size of the window does not matter yet. */
function formatContext({tokens: used, limit}: ContextState): string {
  if (used === 0) return '';
  return `context ${limit === undefined ? formatTokens(used) : `${Math.round((100 * used) / limit)} %`}`;
}

/** Maximal width of the branch name in columns. */
const MAX_BRANCH = 30;

/**
 * Shows mode, running agents, model, tip, context, cost and git branch. In a narrow window the last parts are left out.
 */
export function StatusLine({
  model,
  mode,
  running,
  commands = 0,
  context,
  cost,
  branch,
  hint,
  tip = '',
  own = '',
  rows = MAX_HINT_ROWS,
  columns,
}: StatusProps) {
  if (hint !== '') {
    const shown = hintRows(hint, columns).slice(0, rows);
    return <Rows rows={shown.map((row) => toRow(row, {tone: 'warning'}))} />;
  }
  const parts = [
    mode,
    [countOf(running, 'agent'), countOf(commands, 'command')].filter(Boolean).join(' · '),
    ...(own === '' ? [model, tip] : [tip]),
    formatContext(context),
    cost === undefined ? '' : `cost ${formatCost(cost)}`,
    branch === undefined ? '' : cutText(branch, MAX_BRANCH),
  ];
  const shown = parts.filter(Boolean);
  // Before a session is open there is no mode.
  const keyed = mode === '' ? shown.join(' · ') : [mode, MODE_KEY, ...shown.slice(1)].join(' · ');
  const line =
    own === ''
      ? textWidth(keyed) <= columns
        ? keyed
        : joinFitting(parts, columns)
      : cutText([...parts.slice(0, 3).filter(Boolean), own].join(' · '), columns);
  const badge = line.startsWith(mode) ? mode : '';
  return (
    <Rows
      rows={[
        [
          {text: badge, style: MODES[mode] ?? MUTED},
          {text: line.slice(badge.length), style: MUTED},
        ],
      ]}
    />
  );
}

/** The key stands beside the mode where there is room for all. */
const MODE_KEY = 'Shift+Tab: mode';

const countOf = (count: number, noun: string) => (count === 0 ? '' : formatCount(count, noun));

/** The more a mode permits, the easier it is to see. */
const MODES: Readonly<Record<string, TextStyle>> = {
  default: {tone: 'accent'},
  plan: {tone: 'success', bold: true, inverse: true},
  acceptEdits: {tone: 'warning', bold: true, inverse: true},
  bypassPermissions: {tone: 'error', bold: true, inverse: true},
};
