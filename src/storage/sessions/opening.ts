/**
 * Reads what a session needs to continue. When a session was compacted, it reads only the messages that stayed and
 * the lines after them: the line of the compaction has the totals of all lines before. Where this is not certain to give
 * the same as the whole file, the whole file is read.
 */
import type {UsageEntry} from '../../core/contract/model.ts';
import type {SubagentSummary} from '../../core/contract/results.ts';
import type {RestoredMessage, TotalsBefore, TranscriptEntry, UsedSoFar} from '../../core/contract/transcript.ts';
import {getAnnouncementId} from '../../core/runs/announcement.ts';
import {addSummaries, NO_SUBAGENTS} from '../../core/runs/delegation-log.ts';
import {tryOr} from '../../core/util/errors.ts';
import {sumEntries} from '../../core/util/messages.ts';
import {findLastLineWith} from '../json-lines.ts';
import {
  type Conversation,
  type Entry,
  readConversation,
  readPresent,
  StreamedReply,
  streamBody,
  toLinks,
  toRestored,
} from './conversation.ts';
import {areTotals, isNewerFormat, MESSAGE, readHeader, streamEntries, UsageOfCutReply} from './transcript.ts';

/** What a session needs to continue. */
export interface Opening {
  /** The messages of the present conversation: without rewound ones, and with those that replaced others. */
  readonly restored: readonly RestoredMessage[];
  /** Ids of all announcements, including rewound ones, because each end of a run is announced once. */
  readonly announced: ReadonlySet<string>;
  /** Usage of all replies, and of model calls beside them, including replies that were rewound or replaced. */
  readonly used: readonly UsageEntry[];
  /** What the subagents of all turns brought, as the ends of the turns said. */
  readonly subagents: SubagentSummary;
  /** Number of lines of messages that cannot be read. */
  readonly damaged: number;
}

type ReplaceLine = Extract<TranscriptEntry, {type: 'replace'}>;

/** The agent of the transcripts that sessions continue. */
export const MAIN_AGENT = 'main';

/** @throws UsageError when the file has no header */
export function readOpening(file: string): Opening {
  const {conversation, totals} = read(file);
  totals.end();
  const restored = toRestored(conversation.last, conversation.turnEnds);
  const {announced, used, subagents, damaged} = totals.get();
  const damagedResults = toLinks(conversation.last).length - restored.length;
  return {restored, announced: new Set(announced), used, subagents, damaged: damaged + damagedResults};
}

/**
 * Returns the totals for a `replace` line before it is written. All lines before it must be in the file.
 * @returns undefined when the line does not replace the first messages of the conversation, or the file cannot be read
 */
export function readTotals(file: string, {from, to}: Pick<ReplaceLine, 'from' | 'to'>): TotalsBefore | undefined {
  return tryOr(() => {
    const {conversation, totals} = read(file);
    const uuids = toLinks(conversation.last).map(({line}) => line.uuid);
    return uuids[0] === from && uuids.includes(to) ? totals.get() : undefined;
  }, undefined);
}

interface Reading {
  readonly conversation: Conversation;
  readonly totals: Totals;
}

function read(file: string): Reading {
  return readFromCompaction(file) ?? readWhole(file);
}

function readWhole(file: string): Reading {
  let totals!: Totals;
  const conversation = readPresent(() => {
    totals = new Totals();
    return totals.addEach(streamBody(file, totals.onDamaged));
  });
  return {conversation, totals};
}

/**
 * Reads the part of the file from the last message on that the last compaction replaced.
 * @returns undefined when the whole file must be read
 */
function readFromCompaction(file: string): Reading | undefined {
  const header = readHeader(file);
  const found = header && !isNewerFormat(header) ? findCompaction(file) : undefined;
  if (!found) return undefined;
  const {at, from, to, before} = found;
  let isDamaged = false;
  const onDamaged = () => {
    isDamaged = true;
  };
  const totals = new Totals();
  const kept = [...totals.addEach(streamEntries(file, onDamaged, {from, end: at}))];
  // In that case the compaction would replace nothing.
  if (!toLinks(readConversation(kept).last).some(({line}) => line.uuid === to)) return undefined;
  // The totals count also the cut off replies of the lines that are read, which have numbers from here on.
  const streamed = new StreamedReply(before.cutOff - totals.get().cutOff);
  totals.set(before);
  const entries = concatenate(kept, totals.addEach(streamEntries(file, onDamaged, {from: at})));
  const conversation = readConversation(entries, new Set(), streamed);
  return isDamaged || conversation.missed.size > 0 ? undefined : {conversation, totals};
}

function* concatenate<T>(...parts: readonly Iterable<T>[]): Generator<T> {
  for (const part of parts) yield* part;
}

/** `TranscriptWriter` begins each line with totals with this. */
const WITH_TOTALS = '{"type":"replace","totals":';

/**
 * Finds the last line with totals.
 * @returns `at`: where it is. `from`: where the line of the last message is that it replaced, `to`. Both in bytes
 */
function findCompaction(file: string) {
  for (let at = findLastLineWith(file, WITH_TOTALS); at !== undefined; at = findLastLineWith(file, WITH_TOTALS, at)) {
    const [entry] = streamEntries(file, undefined, {from: at});
    if (entry?.type !== 'replace' || !areTotals(entry.totals)) continue;
    const {to, totals: before} = entry;
    const from = findLastLineWith(file, `${MESSAGE},"uuid":${JSON.stringify(to)}`, at);
    if (from !== undefined) return {at, from, to, before};
  }
  return undefined;
}

/** Adds up the totals of all lines, also of messages that were rewound or replaced. */
class Totals {
  #announced = new Set<string>();
  #used: UsageEntry[] = [];
  #subagents = NO_SUBAGENTS;
  #damaged = 0;
  /** The usage and the text of a reply that streams are counted when a later line shows that it was cut off. */
  readonly #cut = new UsageOfCutReply();
  readonly #streamed = new StreamedReply();

  *addEach<T extends Entry>(entries: Iterable<T>): Generator<T> {
    for (const entry of entries) {
      this.#add(entry);
      yield entry;
    }
  }

  #add(entry: Entry): void {
    this.#streamed.endBefore(entry);
    this.#used.push(...this.#cut.endBefore(entry).map(toMainUsage));
    if (entry.type === 'unread') return;
    if (entry.type === 'turn_end') this.#subagents = addSummaries(this.#subagents, entry.subagents);
    this.#used.push(...listUsed(entry));
    for (const id of listAnnounced(entry)) this.#announced.add(id);
  }

  readonly onDamaged = (): void => {
    this.#damaged += 1;
  };

  /** Counts a reply with which the transcript ends. */
  end(): void {
    this.#used.push(...this.#cut.take().map(toMainUsage));
  }

  get(): TotalsBefore {
    return {
      announced: [...this.#announced],
      used: sumEntries(this.#used),
      subagents: this.#subagents,
      damaged: this.#damaged,
      cutOff: this.#streamed.count,
    };
  }

  /** Sets the totals of all lines so far. A reply that streams goes on. */
  set({announced, used, subagents, damaged, cutOff}: TotalsBefore): void {
    this.#announced = new Set(announced);
    this.#used = [...used];
    this.#subagents = subagents;
    this.#damaged = damaged;
    this.#streamed.count = cutOff;
  }
}

function toMainUsage(used: UsedSoFar): UsageEntry {
  return {...used, agent: MAIN_AGENT};
}

function listUsed(entry: TranscriptEntry): UsageEntry[] {
  if (entry.type === 'usage') {
    return [{agent: entry.agent ?? MAIN_AGENT, model: entry.model, usage: entry.usage}];
  }
  return entry.type === 'message' && entry.usage ? [toMainUsage({model: entry.model ?? '', usage: entry.usage})] : [];
}

function listAnnounced(entry: TranscriptEntry): string[] {
  const announcement = entry.type === 'message' ? entry.announcement : undefined;
  // A damaged disk may have changed the name of the field.
  return typeof announcement?.runId === 'string' ? [getAnnouncementId(announcement.runId, announcement.round)] : [];
}
