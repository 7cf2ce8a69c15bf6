/**
 * Reads the conversation from a transcript. Its lines are parsed one by one, because all values of a long
 * session do not fit into memory. A message that a summary replaced is dropped, unless a rewind reaches it.
 */
import {existsSync} from 'node:fs';
import type {Message} from '../../core/contract/model.ts';
import type {SubagentSummary} from '../../core/contract/results.ts';
import type {RewindPoint} from '../../core/contract/session-requests.ts';
import type {RestoredMessage, TranscriptEntry} from '../../core/contract/transcript.ts';
import {UsageError} from '../../core/util/errors.ts';
import {CUT_OFF, getText, withResultTexts} from '../../core/util/messages.ts';
import {
  areTotals,
  describeMissingHeader,
  isHeader,
  type MessageLine,
  streamEntries,
  type Transcript,
  type UnreadResults,
} from './transcript.ts';

/**
 * Reads the conversation of a file. When it was rewound to a message that was replaced, the file is read again.
 * @param stream called for each reading. It yields the lines of the file
 * @param kept see `readConversation`
 */
export function readPresent(stream: () => Iterable<Entry>, kept: ReadonlySet<string> = new Set()): Conversation {
  const conversation = readConversation(stream(), kept);
  const missed = [...conversation.missed].filter((uuid) => !kept.has(uuid));
  return missed.length === 0 ? conversation : readPresent(stream, new Set([...kept, ...missed]));
}

/** Yields all lines except the header. @throws UsageError when there is none */
export function* streamBody(file: string, onDamaged?: () => void): Generator<Entry> {
  const entries = streamEntries(file, onDamaged);
  const {value: first} = entries.next();
  if (!first || first.type === 'unread' || !isHeader(first)) throw new UsageError(describeMissingHeader(file));
  yield* entries;
}

/** Returns the messages of the present conversation: without rewound ones, and with those that replaced others. */
export function getRestoredMessages({entries}: Transcript): RestoredMessage[] {
  return toRestored(readConversation(entries).last);
}

/** Returns the messages before the one with this uuid, even when it was replaced. Empty when it was rewound. */
export function readMessagesBefore(file: string, uuid: string): RestoredMessage[] {
  return toRestored(readPresent(() => streamBody(file), new Set([uuid])).links.get(uuid)?.before);
}

/** A line of a transcript, maybe without what it contains. */
export type Entry = TranscriptEntry | UnreadResults;

/** A message and the ones before it. A conversation that was rewound or compacted branches off from an earlier one. */
interface Link {
  readonly line: MessageLine | UnreadResults;
  readonly before: Link | undefined;
}

type TurnEnds = ReadonlyMap<string, SubagentSummary>;

export interface Conversation {
  readonly last: Link | undefined;
  /** Links by uuid, in the order of the lines, including replaced messages but not rewound ones. */
  readonly links: ReadonlyMap<string, Link>;
  /** Messages to which the conversation was rewound, and of which there was no link. */
  readonly missed: ReadonlySet<string>;
  /** The results of the subagents of turns, by the uuid of the turn's last message. */
  readonly turnEnds: TurnEnds;
}

/**
 * @param kept uuids of replaced messages whose links stay. Default: all
 * @param streamed gets the text of replies that stream
 */
export function readConversation(
  entries: Iterable<Entry>,
  kept?: ReadonlySet<string>,
  streamed = new StreamedReply(),
): Conversation {
  const links = new Map<string, Link>();
  const missed = new Set<string>();
  const turnEnds = new Map<string, SubagentSummary>();
  let last: Link | undefined;
  const append = (line: MessageLine | UnreadResults) => {
    last = {line, before: last};
    links.set(line.uuid, last);
  };
  const letGo = () => {
    if (!kept) return;
    const now = new Set(toLinks(last).map(({line}) => line.uuid));
    for (const uuid of links.keys()) if (!now.has(uuid) && !kept.has(uuid)) links.delete(uuid);
  };
  for (const entry of withStreamedText(entries, streamed)) {
    if (entry.type === 'message' || entry.type === 'unread') append(entry);
    if (entry.type === 'turn_end' && last) turnEnds.set(last.line.uuid, entry.subagents);
    if (entry.type === 'rewind') {
      const to = links.get(entry.to);
      if (!to) {
        missed.add(entry.to);
        continue;
      }
      last = to.before;
      const uuids = [...links.keys()];
      for (const uuid of uuids.slice(uuids.indexOf(entry.to))) links.delete(uuid);
    }
    if (entry.type === 'replace') {
      const present = toLinks(last);
      // A line with totals replaced the first messages. Their lines may be damaged by now, or are not read.
      const from = areTotals(entry.totals) ? 0 : present.findIndex(({line}) => line.uuid === entry.from);
      const to = present.findLastIndex(({line}) => line.uuid === entry.to);
      if (from < 0 || to < from) continue;
      const by = entry.by.map((each) => ({...each, type: 'message' as const, at: entry.at}));
      last = present[from]!.before;
      for (const line of [...by, ...present.slice(to + 1).map((link) => link.line)]) append(line);
      letGo();
    }
    if (entry.type === 'shorten') {
      const texts = new Map(entry.results.map(({id, text}) => [id, text]));
      const lines = toLines(last);
      last = undefined;
      for (const line of lines) append({...line, message: withResultTexts(line.message, texts)});
    }
  }
  return {last, links, missed, turnEnds};
}

/** Yields the lines, with messages in place of the text of replies that were cut off while they streamed. */
function* withStreamedText<T extends Entry>(
  entries: Iterable<T>,
  streamed = new StreamedReply(),
): Generator<T | MessageLine> {
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
export class StreamedReply {
  #text = '';
  #at = '';

  /** @param count number of replies so far of which only the text is left. The ids of their messages have it. */
  constructor(public count = 0) {}

  /** @returns the text that was cut off, as messages, when this line shows that its whole message never came */
  endBefore(entry: Entry): MessageLine[] {
    if (entry.type === 'unread') return this.take();
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
    this.count += 1;
    return createCutOff(text).map((message, index) => ({
      type: 'message',
      uuid: `cut-off-${this.count}-${index}`,
      at: this.#at,
      message,
      ...(message.role === 'user' && {note: true}),
    }));
  }
}

function createCutOff(text: string): Message[] {
  return [
    {role: 'assistant', content: [{type: 'text', text}]},
    {role: 'user', content: CUT_OFF},
  ];
}

/** Returns the messages up to this one, in order. */
export function toLinks(last: Link | undefined): Link[] {
  const links: Link[] = [];
  for (let link = last; link; link = link.before) links.push(link);
  return links.reverse();
}

/** Reads these messages. Damaged ones are left out. */
function toLines(last: Link | undefined): MessageLine[] {
  return toLinks(last).flatMap(({line}) => (line.type === 'unread' ? (line.read() ?? []) : line));
}

export function toRestored(last: Link | undefined, turnEnds?: TurnEnds): RestoredMessage[] {
  return toLines(last).map((line) => toRestoredMessage(line, turnEnds?.get(line.uuid)));
}

function toRestoredMessage(
  {uuid, message, model, asked, ...line}: MessageLine,
  subagents: SubagentSummary | undefined,
): RestoredMessage {
  const {prompt, note, announcement, companion, calls, summary, repeated} = line;
  return {
    uuid,
    message,
    ...((asked ?? model) && {model: asked ?? model}),
    ...(prompt && {prompt}),
    ...(note && {note}),
    ...(announcement && {announcement}),
    ...(companion && {companion}),
    ...(calls && {calls}),
    ...(summary && {summary}),
    ...(repeated && {repeated}),
    ...(subagents && {subagents}),
  };
}

/** Lines of a reply that is arriving. */
const STREAMED = new Set<Entry['type']>(['partial', 'usage_so_far']);

/**
 * Returns everything that was said, for people, without rewound parts. It includes what a summary replaced, and results
 * in full length.
 * @param isStreaming whether text at the end belongs to a reply that is arriving, which is left out
 */
export function getWholeConversation({entries}: Transcript, isStreaming: boolean): RestoredMessage[] {
  const whole = isStreaming ? entries.slice(0, entries.findLastIndex(({type}) => !STREAMED.has(type)) + 1) : entries;
  const turnEnds = new Map<string, SubagentSummary>();
  let lines: MessageLine[] = [];
  for (const entry of withStreamedText(whole)) {
    if (entry.type === 'message') lines.push(entry);
    if (entry.type === 'turn_end' && lines.length > 0) turnEnds.set(lines.at(-1)!.uuid, entry.subagents);
    if (entry.type === 'rewind') {
      const at = lines.findLastIndex(({uuid}) => uuid === entry.to);
      if (at >= 0) lines = lines.slice(0, at);
    }
    if (entry.type === 'replace') {
      const summaries = entry.by.filter(({summary}) => summary);
      lines.push(...summaries.map((each) => ({...each, type: 'message' as const, at: entry.at})));
    }
  }
  return lines.map((line) => toRestoredMessage(line, turnEnds.get(line.uuid)));
}

/**
 * Returns the prompts to which the conversation can be rewound, newest first. Empty when the file does not exist yet.
 */
export function readRewindPoints(file: string): readonly RewindPoint[] {
  if (!existsSync(file)) return [];
  const lines = [...readConversation(streamBody(file)).links.values()].map(({line}) => line);
  return lines
    .flatMap((line, index) => {
      if (line.type === 'unread' || !line.prompt) return [];
      const {uuid, at, message, messageId} = line;
      const text = getText(message.content);
      return [{uuid, at: Date.parse(at), text, messageId, dropped: lines.length - index}];
    })
    .reverse();
}
