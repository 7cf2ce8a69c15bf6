/** `mini-cc sessions list|show|export|delete`, of this directory. */

import {showControls} from '../core/util/control-characters.ts';
import {UsageError} from '../core/util/errors.ts';
import type {SessionStore} from '../storage/sessions/session-store.ts';
import {messagesOf, readTranscript} from '../storage/sessions/transcript.ts';
import {type CommandLineOutcome, printed, type SubcommandArguments, told} from './command-line.ts';
import {conversationMarkdown} from './sessions/markdown.ts';
import {type DamagedSession, rowOf, type SessionSummary, summaryOf} from './sessions/summary.ts';

const VERBS = 'list, show ID, export ID, delete ID';
const PROMPT_CHARS = 60;
const COUNT_CHARS = 12;

/** @throws UsageError for bad usage, an id that is unknown, or a session that is open elsewhere. */
export function runSessionsCommandLine(args: SubcommandArguments, store: SessionStore): CommandLineOutcome {
  const {verb, words, json, sure} = args;
  if (verb === '' || verb === 'list') {
    if (words.length > 0)
      throw new UsageError(`mini-cc sessions list takes no words: ${JSON.stringify(words.join(' '))}`);
    const rows = store.list().map((session) => rowOf(session, store));
    return json ? printed(rows) : told(listText(rows));
  }
  if (!['show', 'export', 'delete'].includes(verb)) throw new UsageError(`mini-cc sessions ${verb}: there is ${VERBS}`);
  const [id] = words;
  if (id === undefined || words.length > 1)
    throw new UsageError(`mini-cc sessions ${verb} needs the id of one session`);
  const found = store.find(id);
  if (verb === 'delete') {
    const question = `this would erase session ${found.id} with its subagents: say --yes`;
    if (!sure) throw new UsageError(question);
    store.erase(found.id);
    return json ? printed({id: found.id}) : told(`Erased ${found.id}`);
  }
  const transcript = readTranscript(found.transcript);
  if (verb === 'export') {
    return json
      ? printed([transcript.header, ...transcript.entries])
      : told(conversationMarkdown(messagesOf(transcript)));
  }
  const session = store.list().find((candidate) => candidate.id === found.id)!;
  const summary = summaryOf(session, store);
  return json ? printed(summary) : told(showText(summary, conversationMarkdown(messagesOf(transcript))));
}

function listText(rows: readonly (SessionSummary | DamagedSession)[]): string {
  return rows.length === 0 ? 'No sessions in this directory.' : rows.map(rowText).join('\n');
}

function rowText(row: SessionSummary | DamagedSession): string {
  const start = `${row.id}  ${row.updatedAt.slice(0, 16).replace('T', ' ')}`;
  if ('error' in row) return `${start}  ${'damaged'.padEnd(COUNT_CHARS)}  ${row.error}`;
  const count = `${row.messages} message${row.messages === 1 ? '' : 's'}`;
  return `${start}  ${count.padEnd(COUNT_CHARS)}  ${firstWords(row.prompt)}`;
}

function showText(summary: SessionSummary, conversation: string): string {
  const {id, createdAt, updatedAt, messages, subagents, transcript} = summary;
  return [
    `session:    ${id}`,
    `created:    ${createdAt}`,
    `updated:    ${updatedAt}`,
    `messages:   ${messages}`,
    `subagents:  ${subagents}`,
    `transcript: ${transcript}`,
    '',
    showControls(conversation),
  ].join('\n');
}

function firstWords(prompt: string): string {
  const line = showControls(prompt.replaceAll(/\s+/g, ' ').trim());
  return line.length <= PROMPT_CHARS ? line : `${line.slice(0, PROMPT_CHARS - 1)}…`;
}
