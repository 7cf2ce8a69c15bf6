/** Reads transcripts: JSON lines, one whole event a line. `transcript-writer.ts` writes them. */

import {closeSync, fsyncSync, renameSync, rmSync, statSync} from 'node:fs';
import path from 'node:path';
import {
  type Replacement,
  type TotalsBefore,
  TRANSCRIPT_VERSION,
  type TranscriptEntry,
  type UsedSoFar,
} from '../../core/contract/transcript.ts';
import {NO_SUBAGENTS} from '../../core/runs/delegation-log.ts';
import {describeReadError, UsageError} from '../../core/util/errors.ts';
import {openPrivateFile} from '../../core/util/files/private-file.ts';
import {countTokens, getText, NO_USAGE} from '../../core/util/messages.ts';
import {isObject, toFields} from '../../core/util/objects.ts';
import {
  appendLine,
  type LinePlace,
  type Part,
  parseLine,
  readFirstAndLastLine,
  readFirstLine,
  readLineAt,
  readLines,
} from '../json-lines.ts';

/** Name of a transcript that gets a new first line, until it is complete. */
export const REPAIRED = 'session.jsonl.repaired';

export type TranscriptHeader = Extract<TranscriptEntry, {type: 'session'}>;

/** A line with a message, or a message of a `replace` line. */
export type MessageLine = Extract<TranscriptEntry, {type: 'message'}> & Replacement;

export interface Transcript {
  readonly header: TranscriptHeader;
  readonly entries: readonly (TranscriptEntry | UnreadResults)[];
}

/**
 * Reads a transcript. Torn lines and unknown parts of a newer format are skipped. Results that are damaged keep their
 * place, since a later line may name them.
 * @throws UsageError when it has no header
 */
export function readTranscript(file: string): Transcript {
  const [header, ...entries] = Array.from(readLines(file), (line) => parseEntry(line) ?? toDamagedResults(line)).filter(
    (entry) => entry !== undefined,
  );
  if (header?.type === 'unread' || !isHeader(header)) throw new UsageError(describeMissingHeader(file));
  return {header, entries};
}

/** Returns all lines that can be read, with or without a header. */
export function readEntries(file: string): TranscriptEntry[] {
  return Array.from(readLines(file), parseEntry).filter((entry) => entry !== undefined);
}

/** `TranscriptWriter` begins each line of a message with this. */
export const MESSAGE = '{"type":"message"';

/** A message with results of calls, of which only the beginning is read: most of them are no longer needed. */
export interface UnreadResults {
  readonly type: 'unread';
  readonly uuid: string;
  /** Reads the line. Undefined when it is damaged. */
  readonly read: () => MessageLine | undefined;
}

const RESULTS =
  /^\{"type":"message","uuid":"([^"\\]+)","at":"[^"\\]+","message":\{"role":"user","content":\[\{"type":"tool_result"/;

function toDamagedResults(line: string): UnreadResults | undefined {
  const uuid = RESULTS.exec(line)?.[1];
  return uuid === undefined ? undefined : {type: 'unread', uuid, read: () => undefined};
}

/**
 * Yields the same lines one by one, because the values of a long transcript do not fit into memory.
 * @param onDamaged called for each message that cannot be read, except at the end of the file, where a crash tears a line
 * @param part default: the whole file
 */
export function* streamEntries(
  file: string,
  onDamaged: () => void = () => undefined,
  part?: Part,
): Generator<TranscriptEntry | UnreadResults> {
  const leaveResults = (start: string, place: LinePlace): UnreadResults | undefined => {
    const uuid = RESULTS.exec(start)?.[1];
    const read = () => {
      const entry = parseEntry(readLineAt(file, place));
      return entry?.type === 'message' ? entry : undefined;
    };
    return uuid === undefined ? undefined : {type: 'unread', uuid, read};
  };
  let isDamaged = false;
  for (const line of readLines(file, leaveResults, part)) {
    if (isDamaged) onDamaged();
    if (typeof line !== 'string') {
      isDamaged = false;
      yield line;
      continue;
    }
    const entry = parseEntry(line);
    isDamaged = !entry && line.startsWith(MESSAGE);
    if (entry) yield entry;
  }
}

/** Reads only the header; undefined when the first line is not a header, or the file cannot be read. */
export function readHeader(file: string): TranscriptHeader | undefined {
  return ignoreUnreadable(() => parseHeader(readFirstLine(file)));
}

/** Returns the first and the last line, each undefined when it is torn or has the wrong form. */
export function readHeaderAndLast(file: string) {
  const {first, last} = readFirstAndLastLine(file);
  return {header: parseHeader(first), last: parseEntry(last)};
}

export function describeMissingHeader(file: string): string {
  return `${file} is not a transcript of mini-cc: its first line has no version`;
}

/**
 * Describes the problem of a transcript without a header. Undefined for an empty one, which a crash before the first
 * line leaves.
 */
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
 * Gives a transcript whose first line is damaged a new header. All lines that can be read stay. Does nothing when there is a header, or nothing can be read. The session must be locked.
 * @throws Error of the file system; the file is unchanged then
 */
export function mendHeader(file: string, header: Pick<TranscriptHeader, 'id' | 'agent' | 'cwd'>): void {
  if (readHeader(file) || !describeProblem(file)?.canGoOn) return;
  const at = statSync(file).birthtime.toISOString();
  writeTranscript(file, {type: 'session', version: TRANSCRIPT_VERSION, at, ...header}, readLines(file));
}

/** Writes the lines after a header, whole or not at all. */
function writeTranscript(file: string, header: TranscriptHeader, lines: Iterable<string>): void {
  const repaired = path.join(path.dirname(file), REPAIRED);
  rmSync(repaired, {force: true});
  const fd = openPrivateFile(repaired, 'w');
  try {
    appendLine(fd, JSON.stringify(header));
    for (const line of lines) if (line !== '') appendLine(fd, line);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  renameSync(repaired, file);
}

/**
 * Copies the conversation of a transcript into a new one. Another mini-cc may be writing the old one.
 * @throws UsageError when nothing in it can be read, or it has a newer format
 */
export function copyTranscript(from: string, to: string, header: Pick<TranscriptHeader, 'id' | 'agent' | 'cwd'>): void {
  assertContinuable(from);
  const lines = readWholeLines(from);
  if (readHeader(from)) lines.next();
  const at = new Date().toISOString();
  writeTranscript(to, {type: 'session', version: TRANSCRIPT_VERSION, at, ...header}, lines);
}

/** Yields the lines that have an end, because the last one may be half written. */
function* readWholeLines(file: string): Generator<string> {
  let before: string | undefined;
  for (const line of readLines(file)) {
    if (before !== undefined) yield before;
    before = line;
  }
}

export function isNewerFormat(header: TranscriptHeader): boolean {
  return header.version > TRANSCRIPT_VERSION;
}

/**
 * Must be called before lines are added to an existing transcript. An empty file passes, because it gets a header then.
 * @throws UsageError when nothing in it can be read, or it has a newer format
 */
export function assertContinuable(file: string): void {
  const stat = statSync(file);
  if (stat.isFile() && stat.size === 0) return;
  const header = readHeader(file);
  const problem = header ? undefined : describeProblem(file);
  if (problem && !problem.canGoOn) throw new UsageError(`${file} cannot be continued: ${problem.text}`);
  if (header && isNewerFormat(header)) {
    throw new UsageError(
      `${file} was written by a newer mini-cc (format ${header.version}, this one knows ${TRANSCRIPT_VERSION}): it can be read, not continued`,
    );
  }
}

/** @returns undefined when the file system refuses the access: no permission, or the file does not exist */
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

export function isHeader(entry: TranscriptEntry | undefined): entry is TranscriptHeader {
  return entry?.type === 'session';
}

/** Undefined for a blank or torn line, and for one that lacks a field of its type. */
export function parseEntry(line: string): TranscriptEntry | undefined {
  const value = parseLine(line);
  return isEntry(value) ? value : undefined;
}

/** Checks the fields that readers rely on, because a newer version or a damaged disk may have changed them. */
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
  if (type === 'usage' || type === 'usage_so_far') return typeof value.model === 'string' && isObject(value.usage);
  if (type === 'partial') return typeof value.text === 'string';
  if (type === 'shorten') return Array.isArray(value.results) && value.results.every(isObject);
  if (type === 'turn_end') return isObject(value.subagents) && isLike(value.subagents, NO_SUBAGENTS);
  if (type !== 'message') return true;
  return isMessageLine(value);
}

/** Tells whether these are the totals of a `replace` line, as this version writes them. */
export function areTotals(value: unknown): value is TotalsBefore {
  const {announced, used, subagents, damaged, cutOff} = toFields(value);
  const isUsage = (usage: unknown) => isLike(toFields(usage), NO_USAGE);
  return (
    [damaged, cutOff].every((count) => typeof count === 'number') &&
    Array.isArray(announced) &&
    Array.isArray(used) &&
    used.every((each) => isUsage(toFields(each).usage)) &&
    isObject(subagents) &&
    isLike(subagents, NO_SUBAGENTS) &&
    isUsage(subagents.usage)
  );
}

/** Tells whether the object has all fields of the other one, each of the same type. */
function isLike(value: Readonly<Record<string, unknown>>, other: object): boolean {
  return Object.entries(other).every(([key, field]) => typeof value[key] === typeof field);
}

/** `History` repairs messages that a server would refuse. */
function isMessageLine(value: unknown): boolean {
  if (!isObject(value)) return false;
  const {message} = value;
  if (!isObject(message) || (message.role !== 'user' && message.role !== 'assistant')) return false;
  const {content} = message;
  return typeof content === 'string' || (Array.isArray(content) && content.every(isObject));
}

/** This text occurs only in a line of a prompt, or in the input of a tool. */
const PROMPT = '"prompt":true';

/**
 * Finds what a list of sessions shows of each session, without parsing all lines, which would take seconds.
 * @returns `prompt`: the first prompt, or else the first message; empty when there is none. `messages`: the number of
 * lines with messages, including rewound ones.
 */
export function summarizeTranscript(
  file: string,
  withText = false,
): {readonly messages: number; readonly prompt: string; readonly text?: string} {
  return ignoreUnreadable(() => summarize(readLines(file), withText)) ?? {messages: 0, prompt: ''};
}

/** Characters of a session's text, the newest ones. */
const MAX_TEXT = 400_000;
/**
 * Matches a line of a message that an agent wrote. Messages with results of calls are the longest, and are left out.
 */
const BY_AGENT = '"role":"assistant"';

function summarize(lines: Iterable<string>, withText: boolean): ReturnType<typeof summarizeTranscript> {
  const texts: string[] = [];
  let messages = 0;
  let first: MessageLine | undefined;
  let prompt: MessageLine | undefined;
  for (const line of lines) {
    if (!line.startsWith(MESSAGE)) continue;
    messages += 1;
    const isText = withText && (line.includes(PROMPT) || line.includes(BY_AGENT));
    if (messages > 1 && !isText && (prompt || !line.includes(PROMPT))) continue;
    const entry = parseEntry(line);
    if (entry?.type !== 'message') continue;
    if (isText) texts.push(getText(entry.message.content));
    if (messages === 1) first = entry;
    if (entry.prompt) prompt ??= entry;
  }
  const text = texts
    .filter((each) => each !== '')
    .join('\n')
    .slice(-MAX_TEXT)
    .toWellFormed();
  return {messages, prompt: getText((prompt ?? first)?.message.content ?? ''), ...(withText && {text})};
}

/** Collects what a streamed reply used whose end never came, because mini-cc ended in the middle of it. */
export class UsageOfCutReply {
  #used: UsedSoFar | undefined;

  /** @returns the usage that counts, when this line shows that the reply never ended */
  endBefore(entry: TranscriptEntry | UnreadResults): UsedSoFar[] {
    if (entry.type === 'unread') return this.take();
    if (entry.type === 'usage_so_far') this.#used = entry;
    if (entry.type === 'usage' && entry.agent === undefined) this.#used = undefined;
    if (entry.type !== 'message') return [];
    if (entry.message.role === 'assistant') this.#used = undefined;
    return this.take();
  }

  /** @returns the usage of a reply that the transcript ends with */
  take(): UsedSoFar[] {
    const used = this.#used;
    this.#used = undefined;
    return used && countTokens(used.usage) > 0 ? [{usage: used.usage, model: used.model}] : [];
  }
}
