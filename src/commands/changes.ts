/** How commands say what was put back, and what is not known of changes. */
import path from 'node:path';
import type {CheckpointGaps, RestoredFiles} from '../core/contract/session.ts';

/** Names in one list; the rest is a number. */
const MAX_NAMES = 30;

/**
 * What was put back and what was left, a line each; empty when there was nothing to do.
 * @param root the workspace; paths inside it are shown relative to it
 */
export function formatRestored({restored, left}: RestoredFiles, root: string): string {
  const shown = (file: string) => (file.startsWith(`${root}${path.sep}`) ? path.relative(root, file) : file);
  const done = restored.map(({path: file, how}) => `${shown(file)}${how === 'put back' ? '' : ` (${how})`}`);
  const unchanged = left.map(({path: file, why}) => `${shown(file)}: ${why}`);
  return [...formatList(done, 'put back'), ...formatList(unchanged, 'left as it is')].join('\n');
}

function formatList(lines: readonly string[], what: string): string[] {
  if (lines.length === 0) return [];
  const more = lines.length - MAX_NAMES;
  const shown = lines.slice(0, MAX_NAMES).map((line) => `  ${line}`);
  return [`${formatFiles(lines.length)} ${what}:`, ...shown, ...(more > 0 ? [`  … and ${more} more`] : [])];
}

export function formatFiles(count: number): string {
  return `${count} file${count === 1 ? '' : 's'}`;
}

/** A line each. */
export function formatGaps({reasons, leftOut}: CheckpointGaps): readonly string[] {
  const named = leftOut?.map((name) => `, ${name}`).join('');
  return [
    ...reasons.map((why) => `What some commands changed is not known: ${why}.`),
    ...(leftOut
      ? [`Checkpoints of commands leave out: ignored files, .git, node_modules${named}, all outside the workspace.`]
      : []),
  ];
}
