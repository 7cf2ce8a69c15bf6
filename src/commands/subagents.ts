/** Implements `/subagents` and its alias `/tasks`, `/stop` and `/background`, which show and control the runs. */
import type {Message} from '../core/contract/model.ts';
import type {RunRecord} from '../core/contract/runs.ts';
import type {Command, CommandContext, CommandResult, RunDetails} from '../core/contract/session-requests.ts';
import type {TranscriptEntry} from '../core/contract/transcript.ts';
import {getSessionKey} from '../core/runs/announcement.ts';
import {describeSent, formatDuration, formatEnding, formatRunTitle} from '../core/runs/progress-line.ts';
import {hasEnded} from '../core/runs/run-record.ts';
import {formatRunList, formatState} from '../core/runs/run-table.ts';
import {formatCost, getText} from '../core/util/messages.ts';
import {formatCount, toShortLine} from '../core/util/text.ts';
import {formatGaps, formatRestored} from './changes.ts';
import type {SlashCommands} from './shared/command-deps.ts';
import {done, failed} from './shared/results.ts';
import {formatRunTimeline} from './shared/run-timeline.ts';

const FORMS = `/subagents [list]
/subagents stop <id|#|all>
/subagents log <id|#> [limit] [tools]
/subagents info <id|#>
/subagents send <id|#> <message>
/subagents timeline      when the runs of the last prompt worked
/subagents diff <id|#>   what it changed
/subagents undo <id|#>   puts that back, unless changed since
# is a number of the list; an id may be cut short.`;

/** @param args the words after the name of the form */
type Form = (context: CommandContext, args: string) => CommandResult | Promise<CommandResult>;

const FORM_TABLE = new Map<string, Form>([
  ['list', ({request}) => done(formatRunList(request({type: 'runs'}), Date.now()))],
  ['stop', stop],
  ['log', log],
  ['info', ({request}, args) => named(args, (run) => done(formatRun(request({type: 'run', run}))))],
  ['send', send],
  ['timeline', timeline],
  ['diff', (context, args) => named(args, (run) => diff(context, run))],
  ['undo', (context, args) => named(args, (run) => undo(context, run))],
  ['help', () => done(FORMS)],
]);

export const subagentsCommand = createCommand(
  'subagents',
  'runs of subagents: list, stop, log, info, send, timeline, diff, undo',
);
export const tasksCommand = createCommand('tasks', 'the same as /subagents');

function createCommand(name: string, description: string): Command {
  return {
    name,
    description,
    async run(context) {
      const [, verb = 'list', rest = ''] = /^(\S+)\s*([\s\S]*)$/.exec(context.args) ?? [];
      const form = FORM_TABLE.get(verb.toLowerCase());
      if (!form) return failed(`/${name} has no form ${JSON.stringify(verb)}:\n${FORMS}`);
      return form(context, rest.trim());
    },
  };
}

async function stop({request}: CommandContext, args: string): Promise<CommandResult> {
  if (args === 'all') {
    const {length} = await request({type: 'stop_runs'});
    return done(length === 0 ? 'No subagent is running.' : `Stopped ${formatCount(length, 'subagent')}.`);
  }
  return named(args, async (run) => {
    const {record} = request({type: 'run', run});
    if (hasEnded(record))
      return done(`${formatRunTitle(record)} has ended already: ${formatEnding(record.outcome ?? 'unknown', '')}.`);
    await request({type: 'stop_runs', run});
    return done(`Stopped ${formatRunTitle(record)}. What it found is kept: /subagents log ${record.runId.slice(0, 8)}`);
  });
}

const DEFAULT_COLUMNS = 80;
/** Columns that the screen may use beside the text of a command. */
const MARGIN = 4;

/** Draws the runs since the last prompt that had any. */
function timeline({request}: CommandContext): CommandResult {
  const runs = request({type: 'runs'})
    .filter(({tool}) => tool === undefined)
    .toSorted((a, b) => a.createdAt - b.createdAt);
  const newest = runs.at(-1);
  if (!newest) return done('No subagents in this session.');
  const prompts = request({type: 'rewind_points'}).map(({at}) => at);
  const since = Math.max(0, ...prompts.filter((at) => at <= newest.createdAt));
  const shown = runs.filter(({createdAt}) => createdAt >= since);
  const columns = (process.stdout.columns || DEFAULT_COLUMNS) - MARGIN;
  return done(formatRunTimeline(shown, (run) => request({type: 'read_run', run}), columns, Date.now()));
}

const DEFAULT_MESSAGES = 20;
const MAX_MESSAGES = 200;

function log({request}: CommandContext, args: string): CommandResult | Promise<CommandResult> {
  const [name = '', ...options] = args.split(/\s+/);
  const withTools = options.includes('tools');
  const [limit = String(DEFAULT_MESSAGES), ...more] = options.filter((option) => option !== 'tools');
  if (!/^\d+$/.test(limit) || Number(limit) < 1 || more.length > 0) {
    return failed(`The limit is a number of messages from 1 to ${MAX_MESSAGES}.\n${FORMS}`);
  }
  return named(name, (run) =>
    done(formatLog(request({type: 'read_run', run}), Math.min(MAX_MESSAGES, Number(limit)), withTools)),
  );
}

function send({request}: CommandContext, args: string): CommandResult | Promise<CommandResult> {
  const [, name = '', message = ''] = /^(\S+)\s*([\s\S]*)$/.exec(args) ?? [];
  return named(name, (run) => {
    if (message.trim() === '') return failed('The message is missing: /subagents send <id|#> <message>');
    const {record} = request({type: 'run', run});
    return done(describeSent(record, request({type: 'send_to_run', run, message})));
  });
}

async function diff({request}: CommandContext, run: string): Promise<CommandResult> {
  const {record, files, patches, gaps} = await request({type: 'diff_run', run});
  const changed = `changed ${files === 0 ? 'no files' : formatCount(files, 'file')}`;
  const head = `${formatRunTitle(record)} ${changed}${hasEnded(record) ? '' : ' so far'}.`;
  return {...done([[head, ...formatGaps(gaps)].join('\n'), ...patches].join('\n\n')), look: 'diff'};
}

async function undo({request, info}: CommandContext, run: string): Promise<CommandResult> {
  const undone = await request({type: 'undo_run', run});
  const {record, restored, left, gaps} = undone;
  const text = `${formatRunTitle(record)}: ${formatRestored(undone, info.cwd) || 'nothing to undo.'}`;
  return {ok: restored.length > 0 || left.length === 0, text: [text, ...formatGaps(gaps)].join('\n')};
}

/** Formats all facts of a run, one on each line. */
function formatRun({record, archiveAt}: RunDetails): string {
  const {runId, agent, description, label, model, createdAt, startedAt, endedAt, outcome, reason, receipt} = record;
  const facts: [string, string][] = [
    ['status', formatState(record)],
    ['label', label ?? '-'],
    ['task', `[${agent}] ${description}`],
    ['run', runId],
    ['session', `${record.sessionId} (${getSessionKey(agent, runId)})`],
    ['transcript', record.transcript],
    ['model', model || '-'],
    ...(record.worker === undefined ? [] : [['worker', record.worker] as [string, string]]),
    ['cost', formatRunCost(record)],
    ['where', record.background ? 'background' : 'foreground'],
    ['runtime', formatDuration(getRuntime(record))],
    ['created', formatTime(createdAt)],
    ['started', formatTime(startedAt)],
    ['ended', formatTime(endedAt)],
    ['cleanup', record.cleanup],
    ['archive', record.state === 'removed' ? 'archived' : formatTime(archiveAt)],
    ['outcome', outcome === undefined ? '-' : reason && reason !== outcome ? `${outcome}: ${reason}` : outcome],
    ['receipt', receipt?.replace(/^Receipt: /, '') ?? '-'],
  ];
  return facts.map(([name, value]) => `${`${name}:`.padEnd(12)}${value}`).join('\n');
}

/** Formats the cost of a run, and the cost of each model when several answered. */
function formatRunCost({usage, usageByModel}: RunRecord): string {
  const parts = Object.entries(usageByModel).map(([model, used]) => `${model} ${formatCost(used)}`);
  return parts.length > 1 ? `${formatCost(usage)} (${parts.join(', ')})` : formatCost(usage);
}

/** Returns the milliseconds that the run has worked, without its time in the queue. */
function getRuntime(record: RunRecord): number {
  if (hasEnded(record)) return record.result?.durationMs ?? 0;
  return record.startedAt === undefined ? 0 : Date.now() - record.startedAt;
}

function formatTime(at: number | undefined): string {
  return at === undefined ? '-' : new Date(at).toISOString();
}

const TOOL_CHARS = 200;

/**
 * Formats the last `limit` messages, oldest first. Messages of tool calls alone count only when tool calls are shown.
 */
function formatLog(entries: readonly TranscriptEntry[], limit: number, withTools: boolean): string {
  const shown = entries.flatMap((entry) => {
    if (entry.type !== 'message') return [];
    const text = formatMessage(entry.message, withTools);
    return text === '' ? [] : [`${entry.at.slice(11, 19)} ${text}`];
  });
  const hidden = shown.length - limit;
  const head = hidden > 0 ? [`… ${formatCount(hidden, 'earlier message')}`] : [];
  return shown.length === 0 ? 'It has said nothing yet.' : [...head, ...shown.slice(-limit)].join('\n\n');
}

function formatMessage({role, content}: Message, withTools: boolean): string {
  const text = getText(content);
  const lines = text === '' ? [] : [`${role}: ${text}`];
  if (withTools && typeof content !== 'string') lines.push(...content.flatMap(formatToolBlock));
  return lines.join('\n');
}

function formatToolBlock(block: Exclude<Message['content'], string>[number]): string[] {
  if (block.type === 'tool_use') return [`* ${block.name} ${toShortLine(JSON.stringify(block.input), TOOL_CHARS)}`];
  if (block.type !== 'tool_result') return [];
  return [`  ${block.is_error ? 'failed' : 'result'}: ${toShortLine(getText(block.content ?? ''), TOOL_CHARS)}`];
}

function named(
  name: string,
  work: (name: string) => CommandResult | Promise<CommandResult>,
): CommandResult | Promise<CommandResult> {
  return name === '' ? failed(`Which one? An id or a number of /subagents list.\n${FORMS}`) : work(name);
}

const stopCommand: Command = {
  name: 'stop',
  description: 'stop all work: the turn and every subagent started from it',
  async run({request}) {
    const {wasBusy, runs} = await request({type: 'stop'});
    if (!wasBusy) return {ok: true, text: 'Nothing is running.'};
    return {ok: true, text: runs === 0 ? 'Stopped.' : `Stopped, with ${formatCount(runs, 'subagent')}.`};
  },
};

export const backgroundCommand: Command = {
  name: 'background',
  description: 'agents and commands to the background: those that the turn waits for (Ctrl+B)',
  run({request}) {
    const runs = request({type: 'detach_runs'});
    if (runs.length === 0) return {ok: true, text: 'No agent and no command is running in the foreground.'};
    const names = runs.map(formatRunTitle).join(', ');
    return {ok: true, text: `In the background now: ${names}. The end of each will be announced.`};
  },
};

export const slashCommands: SlashCommands = () => [subagentsCommand, tasksCommand, stopCommand, backgroundCommand];
