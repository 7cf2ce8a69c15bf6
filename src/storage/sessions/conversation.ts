/**
 * Reads the conversation from a transcript. Transcripts of long sessions are larger than memory, so they are read line
 * by line. A message that a summary replaced is dropped, unless a rewind reaches it.
 */
import {existsSync} from 'node:fs';
import type {Message, UsageEntry} from '../../core/contract/model.ts';
import type {Outcome} from '../../core/contract/results.ts';
import type {RewindPoint} from '../../core/contract/session-requests.ts';
import type {RestoredMessage, TranscriptEntry} from '../../core/contract/transcript.ts';
import {getAnnouncementId} from '../../core/runs/announcement.ts';
import {UsageError} from '../../core/util/errors.ts';
import {CUT_OFF, getText, sumEntries, withResultTexts} from '../../core/util/messages.ts';
import {findLines} from '../json-lines.ts';
import {
  describeMissingHeader,
  isHeader,
  type MessageLine,
  parseEntry,
  streamEntries,
  type Transcript,
  type UnreadResults,
} from './transcript.ts';

/** What a session needs to continue. */
export interface Opening {
  /** The messages of the present conversation: without rewound ones, and with those that replaced others. */
  readonly restored: readonly RestoredMessage[];
  /** Ids of all announcements, including rewound ones, because each end of a run is announced once. */
  readonly announced: ReadonlySet<string>;
  /** Usage of all replies, and of model calls beside them, including replies that were rewound or replaced. */
  readonly used: readonly UsageEntry[];
}

/** Number of usage entries above which they are summed up. */
const SUMMED_AT_ONCE = 1000;

/** @param agent agent of the transcript. @throws UsageError when it has no header */
export function readOpening(file: string, agent: string): Opening {
  const announced = new Set<string>();
  let used: UsageEntry[] = [];
  const note = (entry: TranscriptEntry) => {
    used.push(...listUsed(entry, agent));
    if (used.length > SUMMED_AT_ONCE) used = [...sumEntries(used)];
    for (const id of listAnnounced(entry)) announced.add(id);
  };
  const {last} = readConversation(noteEach(streamBody(file), note), findRewound(file));
  return {restored: toRestored(last), announced, used: sumEntries(used)};
}

/** A line, or one with results that are not parsed yet. */
type Line = TranscriptEntry | UnreadResults;

function* noteEach(entries: Iterable<Line>, note: (entry: TranscriptEntry) => void): Generator<Line> {
  for (const entry of entries) {
    if (entry.type !== 'results') note(entry);
    yield entry;
  }
}

/** Yields all lines except the header. @throws UsageError when there is none */
function* streamBody(file: string): Generator<Line> {
  const entries = streamEntries(file);
  const {value: first} = entries.next();
  if (!first || first.type === 'results' || !isHeader(first)) throw new UsageError(describeMissingHeader(file));
  yield* entries;
}

/** Returns the messages to which the conversation was rewound. */
function findRewound(file: string): Set<string> {
  return new Set(
    findLines(file, '{"type":"rewind"').flatMap((line) => {
      const entry = parseEntry(line);
      return entry?.type === 'rewind' ? [entry.to] : [];
    }),
  );
}

/** Returns the messages of the present conversation: without rewound ones, and with those that replaced others. */
export function getRestoredMessages({entries}: Transcript): RestoredMessage[] {
  return toRestored(readConversation(entries).last);
}

/** Returns the messages before the one with this uuid, even when it was replaced. Empty when it was rewound. */
export function readMessagesBefore(file: string, uuid: string): RestoredMessage[] {
  const kept = findRewound(file).add(uuid);
  return toRestored(readConversation(streamBody(file), kept).links.get(uuid)?.before);
}

/** A message and the ones before it. A conversation that was rewound or compacted branches off from an earlier one. */
interface Link {
  readonly line: MessageLine | UnreadResults;
  readonly before: Link | undefined;
}

interface Conversation {
  readonly last: Link | undefined;
  /** Links by uuid, in the order of the lines, including replaced messages but not rewound ones. */
  readonly links: ReadonlyMap<string, Link>;
}

/** @param kept uuids of replaced messages whose links stay. Default: all. */
function readConversation(entries: Iterable<Line>, kept?: ReadonlySet<string>): Conversation {
  const links = new Map<string, Link>();
  let last: Link | undefined;
  const append = (line: MessageLine | UnreadResults) => {
    last = {line, before: last};
    links.set(line.uuid, last);
  };
  const letGo = () => {
    if (!kept) return;
    const now = new Set(toLines(last).map(({uuid}) => uuid));
    for (const uuid of links.keys()) if (!now.has(uuid) && !kept.has(uuid)) links.delete(uuid);
  };
  for (const entry of withStreamedText(entries)) {
    if (entry.type === 'results') append(entry);
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
      letGo();
    }
    if (entry.type === 'shorten') {
      const texts = new Map(entry.results.map(({id, text}) => [id, text]));
      const lines = toLines(last);
      last = undefined;
      for (const line of readWhole(lines)) append({...line, message: withResultTexts(line.message, texts)});
    }
  }
  return {last, links};
}

/** Yields the lines, with messages in place of the text of replies that were cut off while they streamed. */
function withStreamedText(entries: Iterable<TranscriptEntry>): Generator<TranscriptEntry>;
function withStreamedText(entries: Iterable<Line>): Generator<Line>;
function* withStreamedText(entries: Iterable<Line>): Generator<Line> {
  const streamed = new StreamedReply();
  for (const entry of entries) {
    yield* streamed.endBefore(entry);
    if (entry.type !== 'partial') yield entry;
  }
  yield* streamed.take();
}

/**
 * Lists a run's entries for people. When the run still works, a reply may be arriving, so it is not shown as cut off.
 */
export function listSaid(entries: readonly TranscriptEntry[]): TranscriptEntry[] {
  const lines = [...withStreamedText(entries)];
  const last = lines.at(-1);
  return last?.type === 'message' && last.message.content === CUT_OFF ? lines.slice(0, -1) : lines;
}

/** Collects the text of a streamed reply that no whole message replaced, because mini-cc ended in the middle of it. */
class StreamedReply {
  #text = '';
  #at = '';
  #count = 0;

  /** @returns the text that was cut off, as messages, when this line shows that its whole message never came */
  endBefore(entry: Line): MessageLine[] {
    if (entry.type === 'results') return this.take();
    if (entry.type === 'partial') {
      this.#text = entry.start ? entry.text : this.#text + entry.text;
      this.#at = entry.at;
    } else if (entry.type === 'message' && entry.message.role === 'user') return this.take();
    else if (entry.type === 'message' || entry.type === 'rewind' || entry.type === 'replace') this.#text = '';
    return [];
  }

  /** The ids of the messages are the same at each reading. */
  take(): MessageLine[] {
    const text = this.#text.trimEnd();
    this.#text = '';
    if (text === '') return [];
    this.#count += 1;
    return createCutOff(text).map((message, index) => ({
      type: 'message',
      uuid: `cut-off-${this.#count}-${index}`,
      at: this.#at,
      message,
    }));
  }
}

function createCutOff(text: string): Message[] {
  return [
    {role: 'assistant', content: [{type: 'text', text}]},
    {role: 'user', content: CUT_OFF},
  ];
}

/** Returns the lines in order. */
function toLines(last: Link | undefined): (MessageLine | UnreadResults)[] {
  const lines: (MessageLine | UnreadResults)[] = [];
  for (let link = last; link; link = link.before) lines.push(link.line);
  return lines.reverse();
}

function readWhole(lines: readonly (MessageLine | UnreadResults)[]): MessageLine[] {
  return lines.flatMap((line) => (line.type === 'results' ? (line.read() ?? []) : [line]));
}

function toRestored(last: Link | undefined): RestoredMessage[] {
  return readWhole(toLines(last)).map(toRestoredMessage);
}

function toRestoredMessage({uuid, message, model, asked, ...line}: MessageLine): RestoredMessage {
  const {prompt, announcement, companion, calls, summary, repeated} = line;
  return {
    uuid,
    message,
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
 * Returns everything that was said, for people, without rewound parts. It includes what a summary replaced, and results
 * in full length.
 * @param isStreaming whether text at the end belongs to a reply that is arriving, which is left out
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

/**
 * Returns the prompts to which the conversation can be rewound, newest first. Empty when the file does not exist yet.
 */
export function readRewindPoints(file: string): readonly RewindPoint[] {
  if (!existsSync(file)) return [];
  const lines = [...readConversation(withoutBulk(streamBody(file))).links.values()].map(({line}) => line);
  return lines
    .flatMap((line, index) => {
      if (line.type === 'results' || !line.prompt) return [];
      const {uuid, at, message} = line;
      return [{uuid, at: Date.parse(at), text: getText(message.content), dropped: lines.length - index}];
    })
    .reverse();
}

/** Drops the content of messages that are no prompts. */
function* withoutBulk(entries: Iterable<Line>): Generator<Line> {
  for (const entry of entries) {
    if (entry.type === 'results') {
      yield {type: 'message', uuid: entry.uuid, at: '', message: {role: 'user', content: ''}};
    } else if (entry.type === 'message' && !entry.prompt) yield {...entry, message: {...entry.message, content: ''}};
    else yield entry;
  }
}

/** @param agent agent of the transcript */
function listUsed(entry: TranscriptEntry, agent: string): UsageEntry[] {
  if (entry.type === 'usage') return [{agent: entry.agent ?? agent, model: entry.model, usage: entry.usage}];
  return entry.type === 'message' && entry.usage ? [{agent, model: entry.model ?? '', usage: entry.usage}] : [];
}

function listAnnounced(entry: TranscriptEntry): string[] {
  if (entry.type !== 'message') return [];
  const {announcement} = withAnnouncement(entry);
  return announcement ? [getAnnouncementId(announcement.runId, announcement.round)] : [];
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
