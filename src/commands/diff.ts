/** Implements `/diff`, which shows how the agents of this session changed files. */
import path from 'node:path';
import type {Command, FileDiff} from '../core/contract/session-requests.ts';
import {formatGaps, formatPath} from './changes.ts';

export const diffCommand: Command = {
  name: 'diff',
  description: 'what this session changed: /diff [FILE]',
  async run({args, info, request}) {
    const {files, gaps} = await request({type: 'diff_session'});
    const named = (file: string) => formatPath(file, info.cwd);
    const meant = args === '' ? files : files.filter((file) => file.path === path.resolve(info.cwd, args));
    if (files.length === 0)
      return {ok: true, text: ['No file was changed in this session.', ...formatGaps(gaps)].join('\n')};
    if (meant.length === 0) {
      const others = files.map((file) => named(file.path)).join(', ');
      return {ok: false, text: `${args} was not changed in this session. Changed: ${others}`};
    }
    const width = Math.max(...meant.map((file) => named(file.path).length));
    const list = meant.map((file) => `  ${named(file.path).padEnd(width)}  ${countLines(file)}`);
    const head = `${meant.length} file${meant.length === 1 ? '' : 's'} changed in this session:`;
    const patches = meant.map(({patch}) => patch);
    return {ok: true, text: [[head, ...list, ...formatGaps(gaps)].join('\n'), ...patches].join('\n\n'), isDiff: true};
  },
};

/** Counts added and removed lines, e.g. `+3 -1`. */
function countLines({patch}: FileDiff): string {
  const lines = patch.split('\n');
  const start = lines.findIndex((line) => line.startsWith('@@'));
  const count = (sign: string) => (start < 0 ? 0 : lines.slice(start).filter((line) => line.startsWith(sign)).length);
  return `+${count('+')} -${count('-')}`;
}
