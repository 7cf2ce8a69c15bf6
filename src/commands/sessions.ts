import type {RestoredMessage} from '../core/contract/transcript.ts';
import {UsageError} from '../core/util/errors.ts';
import {getText} from '../core/util/messages.ts';
import {showControls, toOneLine} from '../core/util/text.ts';
import {listRunFolders} from '../storage/sessions/archive.ts';
import type {SessionStore, StoredSession} from '../storage/sessions/session-store.ts';
import {getRestoredMessages, readTranscript} from '../storage/sessions/transcript.ts';
import {
  type CommandLineOutcome,
  createUnknownVerb,
  printJson,
  printText,
  type SubcommandArguments,
} from './command-line.ts';

const VERBS = 'list, show ID, export ID, delete ID';

/** @throws UsageError for bad usage, an id that is unknown, or a session that is open elsewhere. */
export function runSessionsCommandLine(args: SubcommandArguments, store: SessionStore): CommandLineOutcome {
  const {verb, words, json, sure} = args;
  if (verb === '' || verb === 'list') {
    if (words.length > 0)
      throw new UsageError(`mini-cc sessions list takes no words: ${JSON.stringify(words.join(' '))}`);
    const rows = store.list().map((session) => getRow(session, store));
    return json ? printJson(rows) : printText(formatList(rows));
  }
  if (!['show', 'export', 'delete'].includes(verb)) throw createUnknownVerb('mini-cc sessions', verb, VERBS);
  const [id] = words;
  if (id === undefined || words.length > 1)
    throw new UsageError(`mini-cc sessions ${verb} needs the id of one session`);
  const found = store.find(id);
  if (verb === 'delete') {
    if (!sure) throw new UsageError(`this would erase session ${found.id} with its subagents: say --yes`);
    store.erase(found.id);
    return json ? printJson({id: found.id}) : printText(`Erased ${found.id}`);
  }
  const transcript = readTranscript(found.transcript);
  const markdown = () => getRestoredMessages(transcript).flatMap(formatMessage).join('\n\n');
  if (verb === 'export') return json ? printJson([transcript.header, ...transcript.entries]) : printText(markdown());
  const session = store.list().find((candidate) => candidate.id === found.id)!;
  const summary = getRow(session, store);
  return json ? printJson(summary) : printText(formatSummary(summary, markdown()));
}

/** A row of the list, and what `show` begins with. Times are ISO 8601. */
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
  /** It is damaged: nothing else is known of it. */
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
  const count = `${messages} message${messages === 1 ? '' : 's'}`;
  const prompt = showControls(toOneLine(first));
  const shown = prompt.length <= PROMPT_CHARS ? prompt : `${prompt.slice(0, PROMPT_CHARS - 1)}…`;
  return `${start}  ${count.padEnd(COUNT_CHARS)}  ${shown}`;
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

const RESULT_CHARS = 300;

/** What a person typed is a heading; the report of a background run is a quotation. */
function formatMessage({message: {role, content}, announcement}: RestoredMessage): string[] {
  const text = getText(content);
  if (announcement) {
    const {agent, outcome, text: result} = announcement;
    return [`[${agent}] ${outcome}: ${result.trim() || '(not available)'}`.replaceAll(/^/gm, '> ')];
  }
  const parts = text === '' ? [] : [role === 'user' ? text.replaceAll(/^/gm, '## ') : text];
  if (typeof content === 'string') return parts;
  for (const block of content) {
    if (block.type === 'tool_use') parts.push(`- **${block.name}** \`${JSON.stringify(block.input)}\``);
    if (block.type === 'tool_result') parts.push(quote(getText(block.content ?? '')));
  }
  return parts.filter((part) => part !== '');
}

function quote(text: string): string {
  const shown = text.length > RESULT_CHARS ? `${text.slice(0, RESULT_CHARS).toWellFormed()}…` : text;
  return shown.trim() === '' ? '' : shown.replaceAll(/^/gm, '  > ');
}
