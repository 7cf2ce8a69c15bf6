import {existsSync} from 'node:fs';
import path from 'node:path';
import {UsageError} from '../../core/util/errors.ts';
import {formatFileName} from '../../core/util/paths.ts';
import {formatCount, showControls, toShortLine} from '../../core/util/text.ts';
import {listRunFolders} from '../../storage/sessions/archive.ts';
import {getRestoredMessages} from '../../storage/sessions/conversation.ts';
import type {SessionStore, StoredSession} from '../../storage/sessions/session-store.ts';
import {readTranscript} from '../../storage/sessions/transcript.ts';
import {formatMarkdown} from '../export/markdown.ts';
import type {ExportDeps} from '../export/stored-session.ts';
import {EXPORT_FORM, formatExport, parseTarget, writeExport} from '../export.ts';
import {
  type CommandLineOutcome,
  createUnknownVerb,
  printJson,
  printText,
  type SubcommandArguments,
} from '../shared/command-line.ts';

const VERBS = `list, show ID, export ID ${EXPORT_FORM}, delete ID`;

/** @throws UsageError for bad usage, an unknown id, or a session that is open elsewhere */
export async function runSessionsCommandLine(args: SubcommandArguments, deps: ExportDeps): Promise<CommandLineOutcome> {
  const {store} = deps;
  const {verb, words, json, sure} = args;
  if (verb === '' || verb === 'list') {
    if (words.length > 0)
      throw new UsageError(`mini-cc sessions list takes no words: ${JSON.stringify(words.join(' '))}`);
    const rows = store.list().map((session) => getRow(session, store));
    return json ? printJson(rows) : printText(formatList(rows));
  }
  if (!['show', 'export', 'delete'].includes(verb)) throw createUnknownVerb('mini-cc sessions', verb, VERBS);
  const [id, ...rest] = words;
  if (!id || (rest.length > 0 && verb !== 'export'))
    throw new UsageError(`mini-cc sessions ${verb} needs the id of one session`);
  const found = store.find(id);
  if (verb === 'delete') {
    if (!sure) throw new UsageError(`this would erase session ${found.id} with its subagents: say --yes`);
    store.erase(found.id);
    return json ? printJson({id: found.id}) : printText(`Erased ${found.id}`);
  }
  if (verb === 'export') return exportSession(found.id, rest, args, deps);
  const session = store.list().find((candidate) => candidate.id === found.id)!;
  const summary = getRow(session, store);
  return json
    ? printJson(summary)
    : printText(formatSummary(summary, formatMarkdown(getRestoredMessages(readTranscript(found.transcript)))));
}

async function exportSession(
  id: string,
  words: readonly string[],
  {json, sure}: SubcommandArguments,
  deps: ExportDeps,
): Promise<CommandLineOutcome> {
  if (json && words.length > 0)
    throw new UsageError('sessions export: --json is for standard output; name json and a FILE');
  const {format, file} = json ? {format: 'json' as const} : parseTarget(words);
  const text = await formatExport(deps, id, format);
  if (file === undefined) return printText(text);
  if (existsSync(path.resolve(deps.root, file)) && !sure) {
    throw new UsageError(`sessions export: ${formatFileName(file)} is there already: say --yes to replace it`);
  }
  return printText(`Exported session ${id} to ${await writeExport(deps, file, text)}`);
}

/** A row of the list, and the facts at the top of `show`. Times are in ISO 8601. */
interface SessionRow {
  readonly id: string;
  readonly cwd?: string;
  readonly createdAt?: string;
  readonly updatedAt: string;
  readonly messages?: number;
  readonly subagents?: number;
  readonly branch?: string;
  /** The first prompt. */
  readonly prompt?: string;
  readonly transcript: string;
  /** Set when the transcript is damaged. Then the other optional fields are unknown. */
  readonly error?: string;
}

function getRow(session: StoredSession, store: SessionStore): SessionRow {
  const {id, transcript, mtimeMs, header} = session;
  const updatedAt = new Date(mtimeMs).toISOString();
  const {messages, prompt, branch, problem} = store.summarize(session);
  if (!header) return {id, updatedAt, transcript, ...(problem !== undefined && {error: problem})};
  const subagents = listRunFolders(store.sessionFolder(id)).length;
  const begun = {cwd: header.cwd, createdAt: header.at, ...(branch !== undefined && {branch})};
  return {id, ...begun, updatedAt, messages, subagents, prompt, transcript};
}

function formatList(rows: readonly SessionRow[]): string {
  return rows.length === 0 ? 'No sessions in this directory.' : rows.map(formatRow).join('\n');
}

const COUNT_CHARS = 12;
const PROMPT_CHARS = 60;

function formatRow(row: SessionRow): string {
  const start = `${row.id}  ${row.updatedAt.slice(0, 16).replace('T', ' ')}`;
  if (row.error !== undefined) return `${start}  ${'damaged'.padEnd(COUNT_CHARS)}  ${row.error}`;
  const {messages = 0, prompt: first = ''} = row;
  const count = formatCount(messages, 'message');
  return `${start}  ${count.padEnd(COUNT_CHARS)}  ${toShortLine(showControls(first), PROMPT_CHARS)}`;
}

function formatSummary(summary: SessionRow, conversation: string): string {
  return [
    `session:    ${summary.id}`,
    `created:    ${summary.createdAt}`,
    `updated:    ${summary.updatedAt}`,
    `messages:   ${summary.messages}`,
    `subagents:  ${summary.subagents}`,
    `transcript: ${summary.transcript}`,
    '',
    showControls(conversation),
  ].join('\n');
}
