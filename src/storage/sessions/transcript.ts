/**
 * Transcripts: JSON lines, appended, one whole event a line.
 *
 * Durability: `append` hands a line to the kernel before it returns, so the line survives the end of the process by any
 * signal, `kill -9` too. Closing syncs it to the disk (fsync): a run's transcript at its end, before its end is
 * published; a session's when the session is left. So a power cut may lose the last moments of a conversation, but
 * never a published result. A sync after every line would cost each turn some milliseconds.
 */
import {closeSync, existsSync, fsync, fsyncSync, readFileSync, statSync} from 'node:fs';
import path from 'node:path';
import {promisify} from 'node:util';
import type {AssistantBlock, Message} from '../../core/contract/model.ts';
import type {Outcome} from '../../core/contract/results.ts';
import type {RewindPoint} from '../../core/contract/session.ts';
import {
  type Journal,
  type Replacement,
  type RestoredMessage,
  TRANSCRIPT_VERSION,
  type TranscriptEntry,
} from '../../core/contract/transcript.ts';
import {getAnnouncementId} from '../../core/runs/announcement.ts';
import type {Redactor} from '../../core/secrets/redaction.ts';
import {UsageError} from '../../core/util/errors.ts';
import {createPrivateFolder} from '../../core/util/files/private-file.ts';
import {getText, withResultTexts} from '../../core/util/messages.ts';
import {appendLine, openForAppending, parseLine, readFirstAndLastLine, readFirstLine} from '../json-lines.ts';

export type TranscriptHeader = Extract<TranscriptEntry, {type: 'session'}>;

/** A line with a message, or a message of a `replace` line. */
type MessageLine = Extract<TranscriptEntry, {type: 'message'}> & Replacement;

/** Appends to one file. The first entry creates it, so that a session without any message leaves nothing. */
export class TranscriptWriter implements Journal {
  #fd: number | undefined;

  constructor(
    readonly path: string,
    /** `at` defaults to the time of the first line. */
    private readonly header: Omit<TranscriptHeader, 'type' | 'version' | 'at'> & Partial<Pick<TranscriptHeader, 'at'>>,
    /** Takes the values of known keys out of each line. */
    private readonly redactor: Redactor,
  ) {}

  append(entry: TranscriptEntry): void {
    this.#fd ??= this.#open();
    appendLine(this.#fd, this.#format(entry));
  }

  /** Closes the file until the next entry, without a sync: hundreds of runs may wait for their turn. */
  park(): void {
    if (this.#fd === undefined) return;
    closeSync(this.#fd);
    this.#fd = undefined;
  }

  close(): void {
    if (this.#fd === undefined) return;
    fsyncSync(this.#fd);
    this.park();
  }

  /** Closes without blocking the process while the disk works. All lines are on the disk when this resolves. */
  async closeInBackground(): Promise<void> {
    const fd = this.#fd;
    if (fd === undefined) return;
    this.#fd = undefined;
    try {
      await promisify(fsync)(fd);
    } finally {
      closeSync(fd);
    }
  }

  #open(): number {
    createPrivateFolder(path.dirname(this.path));
    return openForAppending(this.path, () => {
      const start = {type: 'session', version: TRANSCRIPT_VERSION, at: new Date().toISOString()} as const;
      return this.#format({...start, ...this.header});
    });
  }

  #format(entry: TranscriptEntry): string {
    return JSON.stringify(redactEntry(entry, this.redactor));
  }
}

function redactEntry(entry: TranscriptEntry, redactor: Redactor): TranscriptEntry {
  if (redactor.isEmpty) return entry;
  if (entry.type !== 'message') return redactor.values(entry);
  return redactor.values({...entry, message: withoutRedactedThinking(entry.message, redactor)});
}

/** A server accepts the thinking of a reply only as it was signed, or none. So with one that contains a key, all are left out. */
function withoutRedactedThinking(message: Message, redactor: Redactor): Message {
  const {content} = message;
  if (message.role !== 'assistant' || typeof content === 'string') return message;
  const blocks = content as readonly AssistantBlock[];
  const isChanged = (block: AssistantBlock) =>
    block.type === 'thinking' && redactor.text(block.thinking) !== block.thinking;
  if (!blocks.some(isChanged)) return message;
  const kept = blocks.filter(({type}) => type !== 'thinking' && type !== 'redacted_thinking');
  return {...message, content: kept.length > 0 ? kept : [{type: 'text', text: '(a thought that contained a key)'}]};
}

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

export function isNewerFormat(header: TranscriptHeader): boolean {
  return header.version > TRANSCRIPT_VERSION;
}

/**
 * To be called before lines are added to an existing transcript. An empty file is fine: it gets a header then.
 * @throws UsageError when its first line is torn, or it has a newer format
 */
export function assertContinuable(file: string): void {
  if (statSync(file).size === 0) return;
  const header = readHeader(file);
  if (!header) throw new UsageError(`${describeMissingHeader(file)}. It is damaged and cannot be continued`);
  if (isNewerFormat(header)) {
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
function parseEntry(line: string): TranscriptEntry | undefined {
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
  if (type === 'shorten') return Array.isArray(value.results) && value.results.every(isObject);
  if (type !== 'message') return true;
  return isMessageLine(value);
}

/** What of it a server would not take, `History` mends. */
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
  for (const entry of entries) {
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

/** In their order. */
function toLines(last: Link | undefined): MessageLine[] {
  const lines: MessageLine[] = [];
  for (let link = last; link; link = link.before) lines.push(link.line);
  return lines.reverse();
}

function toRestored(last: Link | undefined): RestoredMessage[] {
  return toLines(last).map(({uuid, message, prompt, announcement, summary, repeated}) => ({
    ...{uuid, message},
    ...(prompt && {prompt}),
    ...(announcement && {announcement}),
    ...(summary && {summary}),
    ...(repeated && {repeated}),
  }));
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
