/** Implements `/diff`, and formats what changed, what was restored, and the gaps in what is known of changes. */

import path from 'node:path';
import type {CheckpointGaps, Command, FileDiff, RestoredFiles} from '../core/contract/session-requests.ts';
import {relativeIfInside} from '../core/util/paths.ts';
import {formatCount} from '../core/util/text.ts';
import type {SlashCommands} from './shared/command-deps.ts';

/** Maximal number of names in a list. The others are counted. */
const MAX_NAMES = 30;

/**
 * Formats what was done to which files, and which files were left; empty when there was nothing to do.
 * @param root the workspace; paths inside it are shown relative to it
 */
export function formatRestored({restored, left}: RestoredFiles, root: string): string {
  const listOf = (how: RestoredFiles['restored'][number]['how']) =>
    restored.filter((file) => file.how === how).map((file) => relativeIfInside(file.path, root));
  const unchanged = left.map(({path: file, why}) => `${relativeIfInside(file, root)}: ${why}`);
  return [
    ...formatList(listOf('put back'), 'file', 'restored'),
    ...formatList(listOf('removed'), 'new file', 'deleted'),
    ...formatList(listOf('brought back'), 'deleted file', 'brought back'),
    ...formatList(unchanged, 'file', 'left as it is'),
  ].join('\n');
}

/** Formats a heading and one line for each entry; empty for an empty list. */
export function formatList(lines: readonly string[], what: string, done: string): string[] {
  if (lines.length === 0) return [];
  const more = lines.length - MAX_NAMES;
  const shown = lines.slice(0, MAX_NAMES).map((line) => `  ${line}`);
  const head = `${formatCount(lines.length, what)} ${done}:`;
  return [head, ...shown, ...(more > 0 ? [`  … and ${more} more`] : [])];
}

/** Returns one line for each gap. */
export function formatGaps({reasons, leftOut}: CheckpointGaps): readonly string[] {
  const named = leftOut?.map((name) => `, ${name}`).join('');
  return [
    ...reasons.map((why) => `What some commands changed is not known: ${why}.`),
    ...(leftOut
      ? [`Checkpoints of commands leave out: ignored files, .git, node_modules${named}, all outside the workspace.`]
      : []),
  ];
}

/** Shows how the agents of this session changed files. */
const diffCommand: Command = {
  name: 'diff',
  description: 'what this session changed: /diff [FILE]',
  async run({args, info, request}) {
    const {files, gaps} = await request({type: 'diff_session'});
    const named = (file: string) => relativeIfInside(file, info.cwd);
    const meant = args === '' ? files : files.filter((file) => file.path === path.resolve(info.cwd, args));
    if (files.length === 0)
      return {ok: true, text: ['No file was changed in this session.', ...formatGaps(gaps)].join('\n')};
    if (meant.length === 0) {
      const others = files.map((file) => named(file.path)).join(', ');
      return {ok: false, text: `${args} was not changed in this session. Changed: ${others}`};
    }
    const width = Math.max(...meant.map((file) => named(file.path).length));
    const list = meant.map((file) => `  ${named(file.path).padEnd(width)}  ${countLines(file)}`);
    const head = `${formatCount(meant.length, 'file')} changed in this session:`;
    const patches = meant.map(({patch}) => patch);
    return {ok: true, text: [[head, ...list, ...formatGaps(gaps)].join('\n'), ...patches].join('\n\n'), look: 'diff'};
  },
};

/** Counts added and removed lines, e.g. `+3 -1`. */
function countLines({patch}: FileDiff): string {
  const lines = patch.split('\n');
  const start = lines.findIndex((line) => line.startsWith('@@'));
  const count = (sign: string) => (start < 0 ? 0 : lines.slice(start).filter((line) => line.startsWith(sign)).length);
  return `+${count('+')} -${count('-')}`;
}

export const slashCommands: SlashCommands = () => [diffCommand];
