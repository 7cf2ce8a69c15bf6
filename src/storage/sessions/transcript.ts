/** Reads transcripts: JSON lines, one whole event a line. `transcript-writer.ts` writes them. */
import {closeSync, existsSync, fsyncSync, readFileSync, renameSync, rmSync, statSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import type {Message, UsageEntry} from '../../core/contract/model.ts';
import type {Outcome} from '../../core/contract/results.ts';
import type {RewindPoint} from '../../core/contract/session.ts';
import {
  type Replacement,
  type RestoredMessage,
  TRANSCRIPT_VERSION,
  type TranscriptEntry,
} from '../../core/contract/transcript.ts';
import {getAnnouncementId} from '../../core/runs/announcement.ts';
import {describeReadError, UsageError} from '../../core/util/errors.ts';
import {openPrivateFile} from '../../core/util/files/private-file.ts';
import {CUT_OFF, getText, sumEntries, withResultTexts} from '../../core/util/messages.ts';
import {parseLine, readFirstAndLastLine, readFirstLine} from '../json-lines.ts';

/** The name of a transcript that gets a new first line, until it is complete. */
export const REPAIRED = 'session.jsonl.repaired';

export type TranscriptHeader = Extract<TranscriptEntry, {type: 'session'}>;

/** A line with a message, or a message of a `replace` line. */
type MessageLine = Extract<TranscriptEntry, {type: 'message'}> & Replacement;

export interface Transcript {
  readonly header: TranscriptHeader;
  readonly entries: readonly TranscriptEntry[];
}

/**
 * Reads a transcript. Torn lines are skipped, and so are unknown parts of a newer format.
 * @throws UsageError when it has no header
 */
export function readTranscript(file: string): Transcript {
  const [header, ...entries] = readEntries(file);
  if (!isHeader(header)) throw new UsageError(describeMissingHeader(file));
  return {header, entries};
}

/** All lines that can be read, with or without a header. */
export function readEntries(file: string): TranscriptEntry[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((line) => parseEntry(line) ?? []);
}

/** The header alone; undefined when the first line is not a header, or the file cannot be read. */
export function readHeader(file: string): TranscriptHeader | undefined {
  return ignoreUnreadable(() => parseHeader(readFirstLine(file)));
}

/** The first and the last line, each undefined when it is torn or not what it should be. */
export function readHeaderAndLast(file: string) {
  const {first, last} = readFirstAndLastLine(file);
  return {header: parseHeader(first), last: parseEntry(last)};
}

export function describeMissingHeader(file: string): string {
  return `${file} is not a transcript of mini-cc: its first line has no version`;
}

/** What is wrong with a transcript that has no header. Undefined for an empty one: a crash came before its first line. */
export function describeProblem(file: string): {readonly text: string; readonly canGoOn: boolean} | undefined {
  try {
    const entries = readEntries(file);
    const count = entries.filter(({type}) => type === 'message').length;
    if (count > 0)
      return {
        text: `its first line is damaged, ${count} ${count === 1 ? 'message' : 'messages'} can be read`,
        canGoOn: true,
      };
    return statSync(file).size === 0 ? undefined : {text: 'it is damaged, nothing in it can be read', canGoOn: false};
  } catch (error) {
    return {text: `it ${describeReadError(file, error, 'is not there any more')}`, canGoOn: false};
  }
}

/**
 * Gives a transcript whose first line is damaged a new one. The lines stay, also the damaged one, which readers skip. Does
 * nothing where there is a header, or nothing to read. To be called when the session is locked.
 * @throws the error of the file system: then the file is as it was
 */
export function mendHeader(file: string, header: Pick<TranscriptHeader, 'id' | 'agent' | 'cwd'>): void {
  if (readHeader(file) || !describeProblem(file)?.canGoOn) return;
  const at = statSync(file).birthtime.toISOString();
  writeTranscript(file, {type: 'session', version: TRANSCRIPT_VERSION, at, ...header}, readFileSync(file, 'utf8'));
}

/** Writes the lines behind a header, whole or not at all. */
function writeTranscript(file: string, header: TranscriptHeader, lines: string): void {
  const repaired = path.join(path.dirname(file), REPAIRED);
  rmSync(repaired, {force: true});
  const fd = openPrivateFile(repaired, 'w');
  try {
    writeFileSync(fd, `${JSON.stringify(header)}\n${lines}`);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  renameSync(repaired, file);
}

/**
 * Copies the conversation of a transcript, also of one that another mini-cc writes just now, into a new one.
 * @throws UsageError when nothing in it can be read, or it has a newer format
 */
export function copyTranscript(from: string, to: string, header: Pick<TranscriptHeader, 'id' | 'agent' | 'cwd'>): void {
  assertContinuable(from);
  const text = readFileSync(from, 'utf8');
  // The last line may be in the middle of being written. The first one, the old header, is passed over as long as it is one.
  const whole = text.slice(0, text.lastIndexOf('\n') + 1);
  const lines = readHeader(from) ? whole.slice(whole.indexOf('\n') + 1) : whole;
  const at = new Date().toISOString();
  writeTranscript(to, {type: 'session', version: TRANSCRIPT_VERSION, at, ...header}, lines);
}

export function isNewerFormat(header: TranscriptHeader): boolean {
  return header.version > TRANSCRIPT_VERSION;
}

/**
 * To be called before lines are added to an existing transcript. An empty file is fine: it gets a header then.
 * @throws UsageError when nothing in it can be read, or it has a newer format
 */
export function assertContinuable(file: string): void {
  if (statSync(file).size === 0) return;
  const header = readHeader(file);
  const problem = header ? undefined : describeProblem(file);
  if (problem && !problem.canGoOn) throw new UsageError(`${file} cannot be continued: ${problem.text}`);
  if (header && isNewerFormat(header)) {
    throw new UsageError(
      `${file} was written by a newer mini-cc (format ${header.version}, this one knows ${TRANSCRIPT_VERSION}): it can be read, not continued`,
    );
  }
}

/** @returns undefined when the file system refuses the access: no permission, or the file does not exist any more */
export function ignoreUnreadable<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof Error && 'syscall' in error) return undefined;
    throw error;
  }
}

function parseHeader(line: string): TranscriptHeader | undefined {
  const entry = parseEntry(line);
  return isHeader(entry) ? entry : undefined;
}

function isHeader(entry: TranscriptEntry | undefined): entry is TranscriptHeader {
  return entry?.type === 'session';
}

/** Undefined for a blank or torn line, and for one that lacks a field of its type. */
export function parseEntry(line: string): TranscriptEntry | undefined {
  const value = parseLine(line);
  return isEntry(value) ? value : undefined;
}

/** Checks the fields that readers rely on: a newer version, or a damaged disk, may have changed them. */
function isEntry(value: unknown): value is TranscriptEntry {
  if (!isObject(value) || typeof value.type !== 'string') return false;
  const {type} = value;
  if (type === 'session') {
    const {version, id, agent, cwd, at} = value;
    return typeof version === 'number' && [id, agent, cwd, at].every((field) => typeof field === 'string');
  }
  if (type === 'replace') {
    const {from, to, by} = value;
    return typeof from === 'string' && typeof to === 'string' && Array.isArray(by) && by.every(isMessageLine);
  }
  if (type === 'usage') return typeof value.model === 'string' && isObject(value.usage);
  if (type === 'partial') return typeof value.text === 'string';
  if (type === 'shorten') return Array.isArray(value.results) && value.results.every(isObject);
  if (type !== 'message') return true;
  return isMessageLine(value);
}

/** `History` repairs what a server would not take. */
function isMessageLine(value: unknown): boolean {
  if (!isObject(value)) return false;
  const {message} = value;
  if (!isObject(message) || (message.role !== 'user' && message.role !== 'assistant')) return false;
  const {content} = message;
  return typeof content === 'string' || (Array.isArray(content) && content.every(isObject));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

/** The messages of the conversation as it is now: without what was rewound, and with what took the place of others. */
export function getRestoredMessages(transcript: Transcript): RestoredMessage[] {
  return toRestored(readConversation(transcript).last);
}

/** The messages before the one with this uuid, also where that one was replaced. None when it was rewound. */
export function readMessagesBefore(file: string, uuid: string): RestoredMessage[] {
  return toRestored(readConversation(readTranscript(file)).links.get(uuid)?.before);
}

/** A message and what came before it. A conversation that was rewound or compacted branches off from an earlier one. */
interface Link {
  readonly line: MessageLine;
  readonly before: Link | undefined;
}

interface Conversation {
  readonly last: Link | undefined;
  /** By uuid, in the order of the lines: also those that were replaced, not those that were rewound. */
  readonly links: ReadonlyMap<string, Link>;
}

function readConversation({entries}: Transcript): Conversation {
  const links = new Map<string, Link>();
  let last: Link | undefined;
  const append = (line: MessageLine) => {
    last = {line, before: last};
    links.set(line.uuid, last);
  };
  for (const entry of withStreamedText(entries)) {
    if (entry.type === 'message') append(withAnnouncement(entry));
    if (entry.type === 'rewind') {
      const to = links.get(entry.to);
      if (!to) continue;
      last = to.before;
      const uuids = [...links.keys()];
      for (const uuid of uuids.slice(uuids.indexOf(entry.to))) links.delete(uuid);
    }
    if (entry.type === 'replace') {
      const lines = toLines(last);
      const from = lines.findIndex(({uuid}) => uuid === entry.from);
      const to = lines.findIndex(({uuid}) => uuid === entry.to);
      if (from < 0 || to < from) continue;
      const by = entry.by.map((each) => ({...each, type: 'message' as const, at: entry.at}));
      last = from === 0 ? undefined : links.get(lines[from - 1]!.uuid);
      for (const line of [...by, ...lines.slice(to + 1)]) append(line);
    }
    if (entry.type === 'shorten') {
      const texts = new Map(entry.results.map(({id, text}) => [id, text]));
      const lines = toLines(last);
      last = undefined;
      for (const line of lines) append({...line, message: withResultTexts(line.message, texts)});
    }
  }
  return {last, links};
}

/** The lines with messages in place of the text of replies that were cut off while they streamed. */
function withStreamedText(entries: readonly TranscriptEntry[]): TranscriptEntry[] {
  const streamed = new StreamedReply();
  const lines = entries.flatMap((entry) => [...streamed.endBefore(entry), entry]);
  return [...lines, ...streamed.take()].filter(({type}) => type !== 'partial');
}

/** For people who look at a run, which may be at work: then a reply may be coming in. */
export function listSaid(entries: readonly TranscriptEntry[]): TranscriptEntry[] {
  const lines = withStreamedText(entries);
  const last = lines.at(-1);
  return last?.type === 'message' && last.message.content === CUT_OFF ? lines.slice(0, -1) : lines;
}

/** The text of a reply that was being streamed, as far as no whole message replaced it: mini-cc ended in its midst. */
class StreamedReply {
  #text = '';
  #at = '';
  #count = 0;

  /** @returns what was cut off, as messages, when this line shows that no whole message of it came */
  endBefore(entry: TranscriptEntry): MessageLine[] {
    if (entry.type === 'partial') {
      this.#text = entry.start ? entry.text : this.#text + entry.text;
      this.#at = entry.at;
    } else if (entry.type === 'message' && entry.message.role === 'user') return this.take();
    else if (entry.type === 'message' || entry.type === 'rewind' || entry.type === 'replace') this.#text = '';
    return [];
  }

  /** Their ids are the same at each reading. */
  take(): MessageLine[] {
    const text = this.#text.trimEnd();
    this.#text = '';
    if (text === '') return [];
    this.#count += 1;
    return createCutOff(text).map((message, index) => ({
      ...{type: 'message', uuid: `cut-off-${this.#count}-${index}`, at: this.#at, message},
    }));
  }
}

function createCutOff(text: string): Message[] {
  return [
    {role: 'assistant', content: [{type: 'text', text}]},
    {role: 'user', content: CUT_OFF},
  ];
}

/** In their order. */
function toLines(last: Link | undefined): MessageLine[] {
  const lines: MessageLine[] = [];
  for (let link = last; link; link = link.before) lines.push(link.line);
  return lines.reverse();
}

function toRestored(last: Link | undefined): RestoredMessage[] {
  return toLines(last).map(toRestoredMessage);
}

function toRestoredMessage({uuid, message, model, asked, ...line}: MessageLine): RestoredMessage {
  const {prompt, announcement, companion, calls, summary, repeated} = line;
  return {
    ...{uuid, message},
    ...((asked ?? model) && {model: asked ?? model}),
    ...(prompt && {prompt}),
    ...(announcement && {announcement}),
    ...(companion && {companion}),
    ...(calls && {calls}),
    ...(summary && {summary}),
    ...(repeated && {repeated}),
  };
}

/**
 * All that was said, for people: also what a summary took the place of, and results in their full length. Without what was
 * rewound. @param isStreaming text at the end belongs to a reply that is coming in: it is left out
 */
export function getWholeConversation({entries}: Transcript, isStreaming: boolean): RestoredMessage[] {
  const whole = isStreaming ? entries.slice(0, entries.findLastIndex(({type}) => type !== 'partial') + 1) : entries;
  let lines: MessageLine[] = [];
  for (const entry of withStreamedText(whole)) {
    if (entry.type === 'message') lines.push(withAnnouncement(entry));
    if (entry.type === 'rewind') {
      const at = lines.findLastIndex(({uuid}) => uuid === entry.to);
      if (at >= 0) lines = lines.slice(0, at);
    }
    if (entry.type === 'replace') {
      const summaries = entry.by.filter(({summary}) => summary);
      lines.push(...summaries.map((each) => ({...each, type: 'message' as const, at: entry.at})));
    }
  }
  return lines.map(toRestoredMessage);
}

/** The prompts to which the conversation can be rewound, newest first. None when the file does not exist yet. */
export function readRewindPoints(file: string): readonly RewindPoint[] {
  if (!existsSync(file)) return [];
  const lines = [...readConversation(readTranscript(file)).links.values()].map(({line}) => line);
  return lines
    .flatMap(({uuid, at, message, prompt}, index) =>
      prompt ? [{uuid, at: Date.parse(at), text: getText(message.content), dropped: lines.length - index}] : [],
    )
    .reverse();
}

/** What was used so far by the replies and beside them, also by those that count no more. @param agent of the transcript */
export function getUsed({entries}: Transcript, agent: string): readonly UsageEntry[] {
  const used = entries.flatMap((entry) => {
    if (entry.type === 'usage') return [{agent: entry.agent ?? agent, model: entry.model, usage: entry.usage}];
    return entry.type === 'message' && entry.usage ? [{agent, model: entry.model ?? '', usage: entry.usage}] : [];
  });
  return sumEntries(used);
}

/** Ids of all announcements, also of those that were rewound: each end of a run is announced once. */
export function getAnnouncedIds({entries}: Transcript): Set<string> {
  const announcements = entries.flatMap((entry) =>
    entry.type === 'message' ? (withAnnouncement(entry).announcement ?? []) : [],
  );
  return new Set(announcements.map(({runId, round}) => getAnnouncementId(runId, round)));
}

const OLD_ANNOUNCEMENT = /^<task_announcement run="([^"#]+)(?:#(\d+))?">\n([\s\S]*)\n<\/task_announcement>$/;
const OLD_FIELDS = /^Status: (\w+)\nResult: ([\s\S]*)\nNotes: ([\s\S]*)\nStats: .*?sessionKey agent:(.+?):subagent:.*$/;

/** Earlier versions wrote an announcement as its text alone. */
function withAnnouncement(line: MessageLine): MessageLine {
  const {content, role} = line.message;
  if (line.announcement || line.prompt || role !== 'user' || typeof content !== 'string') return line;
  const [, runId, round = '1', inner = ''] = OLD_ANNOUNCEMENT.exec(content) ?? [];
  const [, status = '', text = '', note = '', agent = ''] = OLD_FIELDS.exec(inner) ?? [];
  if (runId === undefined || status === '') return line;
  const [, limit] = /^- Error: limit reached: ([\s\S]*)$/.exec(note) ?? [];
  const stopped = note === '- Error: stopped by user' ? 'stopped' : undefined;
  const outcome = limit === undefined ? (stopped ?? (status as Outcome)) : 'limit';
  const reason = limit ?? note.replace(/^- (?:Error: |\(none\)$)/, '');
  return {...line, announcement: {runId, round: Number(round), agent, outcome, reason, text}};
}
