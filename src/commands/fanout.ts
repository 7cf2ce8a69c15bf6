/** Implements `/fanout`: several agents do the same work on many files. */
import type {FanOutPart, StoredFanOut} from '../core/contract/fan-out.ts';
import type {Command, CommandContext, CommandResult} from '../core/contract/session-requests.ts';
import {formatGaps, formatRestored} from './changes.ts';
import type {SlashCommands} from './shared/command-deps.ts';

const FORMS = `/fanout INSTRUCTION   split it over the files that it means; a preview comes first
/fanout               the last one
/fanout undo          take all of it back
/fanout continue      run the parts that are missing`;

const fanOutCommand: Command = {
  name: 'fanout',
  description: 'one job on many files: the same work by several agents; undo, continue',
  run(context) {
    const words = context.args.trim();
    if (words === '') return show(context);
    if (words === 'help') return {ok: true, text: FORMS};
    if (words === 'undo') return undo(context);
    if (words === 'continue') return {ok: true, text: '', prompt: {content: '/fanout continue', fanOut: 'continue'}};
    return {ok: true, text: '', prompt: {content: words, fanOut: 'new'}};
  },
};

function show({request}: CommandContext): CommandResult {
  const {last} = request({type: 'fan_outs'});
  return {ok: true, text: last ? formatFanOut(last) : `There was no fan-out in this session.\n${FORMS}`};
}

function formatFanOut({instruction, parts, report, undone}: StoredFanOut): string {
  const state = undone ? 'taken back' : report ? undefined : 'not finished: /fanout continue runs what is missing';
  return [
    `"${instruction}"${state === undefined ? '' : ` (${state})`}`,
    ...(report ? [report.text] : []),
    ...parts.map((part, index) => `  part ${index + 1}: ${formatPart(part)}`),
  ].join('\n');
}

function formatPart({files, runId, outcome, reason}: FanOutPart): string {
  const state =
    outcome === undefined ? 'not ended' : outcome === 'success' ? 'ok' : `${outcome}${reason ? `: ${reason}` : ''}`;
  const run = runId === undefined ? '' : ` · run ${runId.slice(0, 8)}`;
  const more = files.length > 3 ? ` and ${files.length - 3} more` : '';
  return `${state} · ${files.slice(0, 3).join(', ')}${more}${run}`;
}

async function undo({request, info}: CommandContext): Promise<CommandResult> {
  const undone = await request({type: 'undo_fan_out'});
  const text = formatRestored(undone, info.cwd);
  const head = text === '' ? 'Nothing is different from before the fan-out.' : text;
  return {ok: undone.left.length === 0, text: [head, ...formatGaps(undone.gaps)].join('\n')};
}

export const slashCommands: SlashCommands = () => [fanOutCommand];
