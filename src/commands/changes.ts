/** What the commands that show and put back changes work with. */
import type {LedgerLine} from '../storage/checkpoints/ledger.ts';
import type {PutBack} from '../storage/checkpoints/restore.ts';
import type {SessionCheckpoints} from '../storage/checkpoints/session-checkpoints.ts';
import {shownPath} from '../storage/checkpoints/unified-diff.ts';

export interface ChangesRoom {
  /** The workspace. */
  readonly root: string;
  /** Of the session that is open. @throws MiniCcError when they cannot be used. */
  checkpoints(): SessionCheckpoints;
  /** What is different between two texts: unified hunks. */
  patchOf(before: string, after: string): string;
  /** Agents that have read these files learn who changed them. */
  onPutBack(paths: readonly string[], label: string): Promise<void>;
}

/** Names in one list; the rest is a number. */
const MOST_NAMES = 30;

/** What was put back and what was left, a line each; empty when there was nothing to do. */
export function putBackWords({restored, left}: PutBack, root: string): string {
  const done = restored.map(({path: file, how}) => `${shownPath(file, root)}${how === 'put back' ? '' : ` (${how})`}`);
  const kept = left.map(({path: file, why}) => `${shownPath(file, root)}: ${why}`);
  return [...listOf(done, 'put back'), ...listOf(kept, 'left as it is')].join('\n');
}

function listOf(lines: readonly string[], what: string): string[] {
  if (lines.length === 0) return [];
  const more = lines.length - MOST_NAMES;
  const shown = lines.slice(0, MOST_NAMES).map((line) => `  ${line}`);
  return [`${files(lines.length)} ${what}:`, ...shown, ...(more > 0 ? [`  … and ${more} more`] : [])];
}

export function files(count: number): string {
  return `${count} file${count === 1 ? '' : 's'}`;
}

type CommandLine = Extract<LedgerLine, {type: 'running' | 'uncounted'}>;

/** What checkpoints do not know of these commands, a line each. */
export function commandNotes(lines: readonly LedgerLine[], isMeant: (line: CommandLine) => boolean): readonly string[] {
  const ran = new Set(lines.flatMap((line) => (line.type === 'running' && isMeant(line) ? [line.id] : [])));
  const leftOut = lines.flatMap((line) => (line.type === 'ran' && ran.has(line.id) ? (line.leftOut ?? []) : []));
  const reasons = lines.flatMap((line) => (line.type === 'uncounted' && isMeant(line) ? [line.why] : []));
  const named = [...new Set(leftOut)].map((name) => `, ${name}`).join('');
  return [
    ...[...new Set(reasons)].map((why) => `What some commands changed is not known: ${why}.`),
    ...(ran.size > 0
      ? [`Not kept around commands: ignored files, .git, node_modules${named}, and all outside the workspace.`]
      : []),
  ];
}
