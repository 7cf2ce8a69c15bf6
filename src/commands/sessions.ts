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
  const summary = summarize(session, store);
  return json ? printJson(summary) : printText(formatSummary(summary, markdown()));
}

/** What is known of a session without opening it. */
interface SessionSummary {
  readonly id: string;
  readonly cwd: string;
  /** ISO 8601. */
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly messages: number;
  readonly subagents: number;
  /** The first prompt. */
  readonly prompt: string;
  readonly transcript: string;
}

/** One that cannot be read. */
interface DamagedSession extends Pick<SessionSummary, 'id' | 'updatedAt' | 'transcript'> {
  readonly error: string;
}

/** For the list, which has a row for each session, damaged or not. */
function getRow(session: StoredSession, store: SessionStore): SessionSummary | DamagedSession {
  if (session.header) return summarize(session, store);
  const {id, transcript, mtimeMs, problem = 'it is empty'} = session;
  return {id, updatedAt: new Date(mtimeMs).toISOString(), transcript, error: problem};
}

/** @throws UsageError when it is damaged. */
function summarize({id, transcript, mtimeMs}: StoredSession, store: SessionStore): SessionSummary {
  const read = readTranscript(transcript);
  const messages = getRestoredMessages(read);
  return {
    id,
    cwd: read.header.cwd,
    createdAt: read.header.at,
    updatedAt: new Date(mtimeMs).toISOString(),
    messages: messages.length,
    subagents: listRunFolders(store.sessionFolder(id)).length,
    prompt: getText(messages[0]?.message.content ?? ''),
    transcript,
  };
}

function formatList(rows: readonly (SessionSummary | DamagedSession)[]): string {
  return rows.length === 0 ? 'No sessions in this directory.' : rows.map(formatRow).join('\n');
}

const COUNT_CHARS = 12;
const PROMPT_CHARS = 60;

function formatRow(row: SessionSummary | DamagedSession): string {
  const start = `${row.id}  ${row.updatedAt.slice(0, 16).replace('T', ' ')}`;
  if ('error' in row) return `${start}  ${'damaged'.padEnd(COUNT_CHARS)}  ${row.error}`;
  const count = `${row.messages} message${row.messages === 1 ? '' : 's'}`;
  const prompt = showControls(toOneLine(row.prompt));
  const shown = prompt.length <= PROMPT_CHARS ? prompt : `${prompt.slice(0, PROMPT_CHARS - 1)}…`;
  return `${start}  ${count.padEnd(COUNT_CHARS)}  ${shown}`;
}

function formatSummary(summary: SessionSummary, conversation: string): string {
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
