/**
 * Implements `/clear`, which begins a new conversation, and `/rewind`, which restores the conversation, the files or
 * both from before an earlier prompt.
 */

import type {
  ChangedLines,
  Command,
  CommandContext,
  CommandResult,
  FilesToRestore,
  RewindPoint,
  RewindScope,
} from '../core/contract/session-requests.ts';
import {relativeIfInside} from '../core/util/paths.ts';
import {formatCount, toShortLine} from '../core/util/text.ts';
import {formatGaps, formatList, formatRestored} from './changes.ts';
import type {SlashCommands} from './shared/command-deps.ts';
import {done, failed} from './shared/results.ts';

const clearCommand: Command = {
  name: 'clear',
  description: 'new conversation: the old one can be resumed',
  async run({request}) {
    const {previous} = await request({type: 'clear'});
    return {ok: true, text: `New conversation. The old one: --resume ${previous}`};
  },
};

const FORMS = '/rewind N [conversation|files|both], where 1 is the last prompt';
const MAX_LABEL_CHARS = 70;

const rewindCommand: Command = {
  name: 'rewind',
  description: 'back to before a prompt: conversation, files or both (Esc Esc)',
  async run(context) {
    const {args, request} = context;
    const [, number, scope = 'both'] = /^(?:(\d+)(?:\s+(conversation|files|both))?)?$/i.exec(args) ?? [
      undefined,
      'wrong',
    ];
    if (number === 'wrong') return failed(`/rewind has no form ${JSON.stringify(args)}. There is: ${FORMS}`);
    const points = request({type: 'rewind_points'});
    if (points.length === 0) return failed('There is no prompt to go back to.');
    if (number === undefined) return askAndRewind(points, context);
    const point = points[Number(number) - 1];
    if (!point) return failed(`There is no prompt ${number}: the last is 1, the first ${points.length}`);
    const what = scope.toLowerCase() as RewindScope;
    return what === 'conversation' ? rewind(point, what, context) : askAndDelete(point, what, context);
  },
};

const STAY = 'stay';
const CONVERSATION = {choice: 'conversation', label: 'the conversation alone'} as const;
const SCOPES = [
  {choice: 'both', label: 'the conversation and the files'},
  CONVERSATION,
  {choice: 'files', label: 'the files alone'},
] as const satisfies readonly {choice: RewindScope; label: string}[];
const UNCHANGED = 'Nothing was taken back.';

async function rewind(
  {uuid}: RewindPoint,
  what: RewindScope,
  {request, info}: CommandContext,
  keepNew = false,
): Promise<CommandResult> {
  const {point, files} = await request({type: 'rewind', to: uuid, what, keepNew});
  const lines = files
    ? [formatRestored(files, info.cwd) || 'No file had changed since.', ...formatGaps(files.gaps)]
    : [];
  if (what === 'files') return done([`Files as they were before: ${formatLabel(point)}`, ...lines].join('\n'));
  const count = formatCount(point.dropped, 'message');
  const head = `The conversation is as it was before: ${formatLabel(point)} (${count} taken back)`;
  return {...done([head, ...lines].join('\n')), input: point.text};
}

async function askAndRewind(points: readonly RewindPoint[], context: CommandContext): Promise<CommandResult> {
  const changed = await context.request({type: 'rewind_changes'});
  const which = await context.ask({
    title: 'Go back to before which prompt?',
    detail: 'Beside each prompt stands what it changed.',
    list: points.map((point) => ({
      choice: point.uuid,
      label: formatLabel(point),
      info: [...formatChanged(changed[point.uuid]), formatTime(point.at)],
    })),
    escape: STAY,
  });
  if (!which) return failed(`${UNCHANGED} Without a question: ${FORMS}`);
  const point = points.find(({uuid}) => uuid === which.choice);
  if (!point) return done(UNCHANGED);
  const files = await context.request({type: 'rewind_files', to: point.uuid});
  const hasFiles = files.restored.length + files.deleted.length > 0;
  const scopes = hasFiles ? SCOPES : [CONVERSATION];
  const choices = [...scopes, {choice: STAY, label: 'nothing: stay here'}];
  const what = await context.ask({
    title: `What should be as before: ${formatLabel(point)}`,
    detail: describePlan(files, point, context.info.cwd),
    options: choices.map(({choice, label}, index) => ({digit: index + 1, choice, label})),
    escape: STAY,
  });
  const scope = SCOPES.find(({choice}) => choice === what?.choice)?.choice;
  if (scope === undefined) return done(UNCHANGED);
  return scope === 'conversation' ? rewind(point, scope, context) : askAndDelete(point, scope, context);
}

/** Formats what a prompt changed, e.g. `2 files`, `+10 -3`. */
function formatChanged({files, added, removed}: ChangedLines = {files: 0, added: 0, removed: 0}): string[] {
  return files === 0 ? ['no file', ''] : [formatCount(files, 'file'), `+${added} -${removed}`];
}

function describePlan({restored, deleted}: FilesToRestore, {dropped}: RewindPoint, root: string): string {
  const shown = (files: readonly string[]) => files.map((file) => relativeIfInside(file, root));
  const lines = [
    ...formatList(shown(restored), 'file', 'would be restored'),
    ...formatList(shown(deleted), 'file', 'made since would be deleted'),
  ];
  const messages = `${formatCount(dropped, 'message')} would be taken back.`;
  return [messages, ...(lines.length === 0 ? ['No file has changed since.'] : lines)].join('\n');
}

/** Asks before it deletes files that were made since the rewind point. */
async function askAndDelete(point: RewindPoint, scope: RewindScope, context: CommandContext): Promise<CommandResult> {
  const {deleted} = await context.request({type: 'rewind_files', to: point.uuid});
  if (deleted.length === 0) return rewind(point, scope, context);
  const them = deleted.length === 1 ? 'it' : 'them';
  const answer = await context.ask({
    title: `Delete ${formatCount(deleted.length, 'file')} made since then?`,
    detail: deleted.map((file) => relativeIfInside(file, context.info.cwd)).join('\n'),
    options: [
      {digit: 1, choice: 'delete', label: `yes, delete ${them}`},
      {digit: 2, choice: 'keep', label: `no, keep ${them} and restore the others`},
    ],
    escape: STAY,
  });
  // When no person can be asked, the typed words decide.
  if (answer && answer.choice !== 'delete' && answer.choice !== 'keep') return done(UNCHANGED);
  return rewind(point, scope, context, answer?.choice === 'keep');
}

/** Formats a time like `14:05`, with the date when it is not today. @param at milliseconds since the epoch */
function formatTime(at: number): string {
  const date = new Date(at);
  const time = date.toLocaleTimeString('en-GB', {hour: '2-digit', minute: '2-digit'});
  const isToday = date.toDateString() === new Date().toDateString();
  return isToday ? time : `${date.toLocaleDateString('en-CA')} ${time}`;
}

function formatLabel({text}: RewindPoint): string {
  return toShortLine(text, MAX_LABEL_CHARS);
}

export const slashCommands: SlashCommands = () => [clearCommand, rewindCommand];
