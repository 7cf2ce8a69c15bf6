/** `/clear` and `/rewind`: a new conversation, or this one, its files or both as they were before an earlier prompt. */

import type {Command, CommandContext, CommandResult, RewindPoint, RewindScope} from '../core/contract/session.ts';
import {toShortLine} from '../core/util/text.ts';
import {formatGaps, formatRestored} from './changes.ts';

export const clearCommand: Command = {
  name: 'clear',
  description: 'begin a new conversation; the old one can be resumed',
  async run({request}) {
    const {previous} = await request({type: 'clear'});
    return {ok: true, text: `New conversation. The old one: --resume ${previous}`};
  },
};

const FORMS = '/rewind N [conversation|files|both], where 1 is the last prompt';
/** As many as there are digits. */
const MAX_OFFERED = 9;
const MAX_LABEL_CHARS = 70;

export const rewindCommand: Command = {
  name: 'rewind',
  description: 'go back to before an earlier prompt: conversation, files or both (Esc Esc)',
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
    return rewind(point, scope.toLowerCase() as RewindScope, context);
  },
};

const STAY = 'stay';
const SCOPES = [
  {choice: 'both', label: 'conversation and files'},
  {choice: 'conversation', label: 'the conversation'},
  {choice: 'files', label: 'files'},
] as const satisfies readonly {choice: RewindScope; label: string}[];
const UNCHANGED = 'Nothing was taken back.';

async function rewind({uuid}: RewindPoint, what: RewindScope, {request, info}: CommandContext): Promise<CommandResult> {
  const {point, files} = await request({type: 'rewind', to: uuid, what});
  const lines = files
    ? [formatRestored(files, info.cwd) || 'No file had changed since.', ...formatGaps(files.gaps)]
    : [];
  if (what === 'files') return done([`Files as they were before: ${formatLabel(point)}`, ...lines].join('\n'));
  const count = `${point.dropped} message${point.dropped === 1 ? '' : 's'}`;
  const head = `The conversation is as it was before: ${formatLabel(point)} (${count} taken back)`;
  return {...done([head, ...lines].join('\n')), input: point.text};
}

async function askAndRewind(points: readonly RewindPoint[], context: CommandContext): Promise<CommandResult> {
  const offered = points.slice(0, MAX_OFFERED);
  const which = await context.ask({
    title: 'go back to before which prompt?',
    detail: '',
    detailType: 'text',
    options: offered.map((point, index) => ({digit: index + 1, choice: point.uuid, label: formatLabel(point)})),
    escape: STAY,
  });
  if (!which) return failed(`${UNCHANGED} Without a question: ${FORMS}`);
  const point = offered.find(({uuid}) => uuid === which.choice);
  if (!point) return done(UNCHANGED);
  const what = await context.ask({
    title: `what should be as before: ${formatLabel(point)}`,
    detail: '',
    detailType: 'text',
    options: SCOPES.map(({choice, label}, index) => ({digit: index + 1, choice, label})),
    escape: STAY,
  });
  const scope = SCOPES.find(({choice}) => choice === what?.choice);
  return scope ? rewind(point, scope.choice, context) : done(UNCHANGED);
}

function formatLabel({text}: RewindPoint): string {
  return toShortLine(text, MAX_LABEL_CHARS);
}

function done(text: string): CommandResult {
  return {ok: true, text};
}

function failed(text: string): CommandResult {
  return {ok: false, text};
}
