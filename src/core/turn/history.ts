/**
 * The messages of one agent. Each change is written to the transcript before it is made in memory, so that what the
 * model or the screen sees is already on disk. When the disk is full, lines wait in the journal, and the run waits
 * until they are written (`transcript-writing.ts`). All methods that write throw what the journal throws; then nothing has
 * changed.
 *
 * A server always accepts this history, by the rules of `valid-messages.ts`: a message is repaired when it is appended
 * and when it is restored, and calls without a result are answered before anything follows them.
 */

import {randomUUID} from 'node:crypto';
import type {AccountPause, AssistantBlock, Message, PromptContent, ToolUse, Usage} from '../contract/model.ts';
import type {SubagentSummary} from '../contract/results.ts';
import type {
  Announcement,
  CallsShown,
  Journal,
  JournalFault,
  Replacement,
  ReplyFacts,
  RestoredMessage,
  RunEnd,
  TranscriptEntry,
  UsedSoFar,
} from '../contract/transcript.ts';
import {getCalls, joinContents, toUserMessage, withResultTexts} from '../util/messages.ts';
import {isObject} from '../util/objects.ts';
import {ContextWindow} from './context-window.ts';
import {
  answerCalls,
  countImages,
  createState,
  formatRepairs,
  type GetKnownResult,
  getSeals,
  type HistoryState,
  hasResults,
  limitImages,
  NO_RESULT,
  type Repair,
  toValidMessage,
  type ValidMessage,
  withoutThoughts,
  withoutTrailingSpace,
} from './valid-messages.ts';

type MessageFacts = Partial<Omit<Extract<TranscriptEntry, {type: 'message'}>, 'type' | 'uuid' | 'at' | 'message'>>;

/**
 * A message and the uuid of its line. A message without a uuid is only in memory: each load creates it again as a
 * repair.
 */
interface Line extends Omit<RestoredMessage, 'uuid'> {
  readonly uuid?: string | undefined;
}

export interface AppendedReply {
  /** Content as it is in the history. The calls are to be run with these ids and inputs. */
  readonly content: readonly AssistantBlock[];
  /** Problems of inputs that cannot be run, by the id of the call. */
  readonly badInputs: ReadonlyMap<string, string>;
}

const EMPTY_PROMPT = '(The prompt was empty.)';
const LOST_BEGINNING = '(The beginning of this conversation is lost.)';

export class History {
  #lines: Line[] = [];
  #state: HistoryState = createState();
  #repairs: Repair[] = [];
  #accepted = 0;
  /** Last value of `messages`, and the lines from which it was made, because each request asks for it several times. */
  #sent: {readonly of: Line[]; readonly count: number; readonly messages: readonly Message[]} = {
    of: this.#lines,
    count: 0,
    messages: [],
  };
  readonly window = new ContextWindow();
  readonly #reportedRepairs = new Set<Repair>();
  readonly #announcements = new WeakSet<Message>();
  #hasAnnouncements = false;
  /** Model that wrote a thinking block, by the block's seal. */
  readonly #thinkers = new Map<string, string>();

  /** @param restored messages of the transcript so far. They are repaired in memory; their lines do not change. */
  constructor(
    private readonly journal: Journal,
    restored: readonly RestoredMessage[] = [],
  ) {
    this.#restore(restored);
  }

  /** The messages in a form that a server accepts, once open calls are answered. The array never changes later. */
  get messages(): readonly Message[] {
    const {of, count} = this.#sent;
    if (of !== this.#lines || count !== this.#lines.length) {
      const messages = this.#lines.map(({message}) => message);
      const last = messages.at(-1);
      if (last?.role === 'assistant') messages[messages.length - 1] = withoutTrailingSpace(last);
      this.#sent = {of: this.#lines, count: this.#lines.length, messages};
    }
    return this.#sent.messages;
  }

  /**
   * Appends a message.
   * @param calls what a person saw of the calls, for a message with results
   * @returns the uuid of its line, or undefined when the repair left nothing of it
   */
  append(message: Message, calls: CallsShown = {}): string | undefined {
    return this.#append(message, Object.keys(calls).length > 0 ? {calls} : {}).uuid;
  }

  /** Appends the messages of lines that another mini-cc wrote for this run. */
  appendLines(entries: readonly TranscriptEntry[]): void {
    for (const entry of entries) {
      if (entry.type !== 'message') continue;
      const {type: _, uuid: _u, at: _a, message, ...facts} = entry;
      this.#append(message, facts);
    }
  }

  /**
   * Appends what the model answered, without the parts that a server would refuse.
   * @param facts the model that answered, and the cost
   * @param garbled inputs that were not JSON, by the id of the call
   */
  appendReply(
    content: readonly AssistantBlock[],
    facts: ReplyFacts,
    garbled: ReadonlyMap<string, string> = new Map(),
  ): AppendedReply {
    const {valid} = this.#append({role: 'assistant', content: [...content]}, facts);
    const badInputs = new Map<string, string>();
    for (const {id, sentId, input} of valid.open) {
      const raw = garbled.get(sentId);
      if (!isObject(input)) badInputs.set(id, `is no object: ${JSON.stringify(input).slice(0, 200)}`);
      else if (raw !== undefined && Object.keys(input).length === 0) {
        badInputs.set(id, `is no valid JSON: ${JSON.stringify(raw.slice(0, 200))}`);
      }
    }
    return {content: (valid.message?.content ?? []) as readonly AssistantBlock[], badInputs};
  }

  /** Appends a prompt. The conversation can go back to the point before it. @param messageId the sender's id of it */
  appendPrompt(content: PromptContent, messageId?: string): string {
    const facts = {prompt: true, ...(messageId !== undefined && {messageId})} as const;
    const {uuid} = this.#append(toUserMessage(content), facts);
    return uuid ?? this.appendPrompt(EMPTY_PROMPT, messageId);
  }

  /** Appends a text of the runtime for the model. It is no prompt. */
  appendNote(text: string): void {
    this.#append(toUserMessage(text), {note: true});
  }

  /** Appends the end of a background run. @param message the announcement in its tag, as the model reads it */
  appendAnnouncement(message: Message, announcement: Announcement): void {
    this.#append(message, {announcement});
  }

  /** Appends a message that accompanies a prompt. @param companion name of the message for a person */
  appendCompanion(content: PromptContent, companion: string): void {
    this.#append(toUserMessage(content), {companion});
  }

  /**
   * Takes the conversation back to the point before a message.
   * @param to uuid of the message's line
   * @param before loads the messages before it. It is called when the message was replaced.
   */
  rewind(to: string, before: () => readonly RestoredMessage[]): void {
    const at = this.#lines.findIndex(({uuid}) => uuid === to);
    const earlier = at >= 0 ? this.#lines.slice(0, at) : before();
    this.journal.append({type: 'rewind', at: now(), to});
    this.#restore(earlier);
  }

  /**
   * Replaces some messages by others, or by none: by what a server accepts, or by a summary. The replaced lines stay in
   * the transcript, where a rewind reaches them.
   * @param start index of the first message
   * @param end index after the last message
   * @param because reason in a few words, for people
   */
  replace(start: number, end: number, by: readonly Replacement[], because: string): void {
    const lines = by.map((each) => ({uuid: randomUUID(), ...each}));
    const written = this.#lines.slice(start, end).flatMap(({uuid}) => uuid ?? []);
    const [from] = written;
    const to = written.at(-1);
    if (from !== undefined && to !== undefined) {
      this.journal.append({type: 'replace', at: now(), from, to, because, by: lines});
    }
    this.#restore([...this.#lines.slice(0, start), ...lines, ...this.#lines.slice(end)]);
  }

  /** Replaces results by shorter texts. @param texts new texts by the id of the call */
  shorten(texts: ReadonlyMap<string, string>): void {
    if (texts.size === 0) return;
    this.journal.append({type: 'shorten', at: now(), results: [...texts].map(([id, text]) => ({id, text}))});
    this.#restore(this.#lines.map((line) => ({...line, message: withResultTexts(line.message, texts)})));
  }

  /** The messages with the facts about each. */
  get lines(): readonly RestoredMessage[] {
    return this.#lines as readonly RestoredMessage[];
  }

  /** Number of messages in the last request that a server accepted. */
  get accepted(): number {
    return this.#accepted;
  }

  /** Records that a server accepted all messages so far. */
  markAccepted(): void {
    this.#accepted = this.#lines.length;
  }

  /** Index of the last prompt; -1 when there is none. */
  get lastPrompt(): number {
    const marked = this.#lines.findLastIndex(({prompt, repeated}) => prompt || repeated);
    // Transcripts of earlier versions do not mark the prompts of subagents.
    return marked >= 0 ? marked : this.#lines.findLastIndex(mayBePrompt);
  }

  /** Index of the message that began the last turn: its prompt, or the announcement for which it began by itself. */
  get turnStart(): number {
    const announced = this.#lines.findLastIndex(
      ({announcement}, index) => announcement && isAnswer(this.#lines[index - 1]?.message),
    );
    return Math.max(this.lastPrompt, announced);
  }

  /**
   * Removes only the last turn, and leaves a note about the calls that ran in it.
   * @returns the notice for the user; undefined when there is no turn
   */
  setTurnAside(because: string): string | undefined {
    const start = this.turnStart;
    if (start < 0) return undefined;
    const done = listCalls(this.#lines.slice(start));
    const note = toUserMessage(`(mini-cc left out a turn here that was refused.${done})`);
    this.replace(start, this.#lines.length, done === '' ? [] : [{message: note, note: true}], because);
    return 'The last prompt and its turn were left out of the conversation. The transcript still has them; /rewind, also after --resume, goes back to an earlier prompt.';
  }

  /** Removes all thinking blocks so far, because another server may have signed them. */
  dropThoughts(): void {
    this.#restore(
      this.#lines.flatMap((line) => {
        const message = withoutThoughts(line.message);
        return message ? [{...line, message}] : [];
      }),
    );
  }

  /**
   * Finds the model that wrote a thinking block of this history.
   * @param seal signature of the block, or the data of a redacted one
   */
  readonly thinkerOf = (seal: string): string | undefined => this.#thinkers.get(seal);

  /**
   * Writes the lines that the disk did not accept.
   * @returns why it still fails; undefined when all lines are written
   */
  flush(): JournalFault | undefined {
    return this.journal.flush?.();
  }

  /** Writes new text of a reply that is being streamed. @param start true when it replaces the text before */
  recordPartial(text: string, start: boolean): void {
    this.journal.append({type: 'partial', at: now(), text, ...(start && {start})});
  }

  /** Writes what a reply that is being streamed has used so far. It replaces what was written of it before. */
  recordUsageSoFar(used: UsedSoFar): void {
    this.journal.append({type: 'usage_so_far', at: now(), ...used});
  }

  /** Joins adjacent ends of background runs to one message for a request. Each has its own line in the history. */
  joinAnnouncements(messages: readonly Message[]): readonly Message[] {
    if (!this.#hasAnnouncements) return messages;
    const joined: Message[] = [];
    let before: Message | undefined;
    for (const message of messages) {
      const isNext = before !== undefined && this.#announcements.has(before) && this.#announcements.has(message);
      if (isNext) {
        const contents = [joined.at(-1)!, message].map(({content}) => content as PromptContent);
        joined[joined.length - 1] = toUserMessage(joinContents(contents));
      } else joined.push(message);
      before = message;
    }
    return joined;
  }

  /** Finds calls by their ids. */
  findCalls(ids: ReadonlyMap<string, unknown>): readonly Pick<ToolUse, 'name' | 'input'>[] {
    return this.#lines.flatMap(({message}) => getCalls(message.content)).filter(({id}) => ids.has(id));
  }

  /** Finds the message that is at this place in a request. @returns its index in the history */
  findSent(place: number): number | undefined {
    const isJoined = (index: number) => this.#lines[index]?.announcement && this.#lines[index - 1]?.announcement;
    const sent = this.#lines.flatMap((_, index) => (isJoined(index) ? [] : [index]));
    return sent[place];
  }

  /** Writes how the run ended. The messages do not change. */
  recordEnd(end: RunEnd): void {
    this.journal.append({type: 'end', at: now(), ...end});
  }

  /**
   * Writes what the subagents brought that ended since the turn before. The messages do not change. Without a message
   * there is no conversation, and nothing is written: a test of agents is no session that one could resume.
   */
  recordTurnEnd(subagents: SubagentSummary): void {
    if (this.#lines.length === 0) return;
    this.journal.append({type: 'turn_end', at: now(), subagents});
  }

  /**
   * Writes the usage of model calls besides the replies.
   * @param agent name of the user of the tokens, if it is not the agent of this history
   */
  recordUsage(usage: Usage, model: string, agent?: string): void {
    this.journal.append({type: 'usage', at: now(), model, usage, ...(agent !== undefined && {agent})});
  }

  /** Writes that the run begins its work after it waited for a place. */
  recordBegan(): void {
    this.journal.append({type: 'began', at: now()});
  }

  /** Writes that the run waits for the end of a limit. The next line of a reply says that it went on. */
  recordPause(pause: AccountPause): void {
    this.journal.append({type: 'paused', at: now(), ...pause});
  }

  recordBackground(): void {
    this.journal.append({type: 'background', at: now()});
  }

  /** Writes that an ended run continues. @param round counts from 1 */
  recordResumed(round: number): void {
    this.journal.append({type: 'resumed', at: now(), round});
  }

  /**
   * Appends an error result for each call that has none. A run that was cut off leaves such calls.
   * @param known returns the result of a call whose end is known
   * @returns the message with the results; undefined when no call is open
   */
  answerOpenCalls(text: string, known?: GetKnownResult): Message | undefined {
    if (this.#state.open.length === 0) return;
    const message = answerCalls(this.#state.open, text, known);
    this.#write(message, {});
    return message;
  }

  /**
   * Returns the repairs since the last call as one line for the user. Each kind is reported once.
   * @returns undefined when there is nothing to report
   */
  takeRepairs(): string | undefined {
    const repairs = this.#repairs.filter((repair) => !this.#reportedRepairs.has(repair));
    for (const repair of repairs) this.#reportedRepairs.add(repair);
    this.#repairs = [];
    return repairs.length > 0 ? formatRepairs(repairs) : undefined;
  }

  #append(message: Message, facts: MessageFacts): {uuid: string | undefined; valid: ValidMessage} {
    const first = toValidMessage(message, this.#state);
    if (first.message && !first.hasResults && this.#state.open.length > 0) {
      this.#repairs.push(...this.#state.open.map(() => 'result' as const));
      this.answerOpenCalls(NO_RESULT);
    }
    const uuid = first.message ? this.#write(first.message, facts) : undefined;
    // Repairs count only when the line is written, because a failed append is tried again.
    this.#repairs.push(...first.repairs);
    if (first.message) advance(this.#state, first);
    return {uuid, valid: first};
  }

  #write(message: Message, facts: MessageFacts): string {
    const uuid = randomUUID();
    this.journal.append({type: 'message', uuid, at: now(), message, ...facts});
    const {asked, model: answered, usage: _, stopReason: _s, ...kind} = facts;
    const model = asked ?? answered;
    this.#lines.push({uuid, message, ...kind, ...(model && {model})});
    if (kind.announcement) this.#noteAnnouncement(message);
    this.#noteThinker(message, model);
    this.#state.open = [];
    if (countImages(message) > 0) this.#lines = limitImages(this.#lines, this.#repairs);
    return uuid;
  }

  #noteAnnouncement(message: Message): void {
    this.#announcements.add(message);
    this.#hasAnnouncements = true;
  }

  #noteThinker(message: Message, model: string | undefined): void {
    if (model !== undefined) for (const seal of getSeals(message)) this.#thinkers.set(seal, model);
  }

  /** Sets the messages, and repairs them where necessary. */
  #restore(restored: readonly Line[]): void {
    const lines: Line[] = [];
    const state = createState();
    const add = (line: Line) => {
      const valid = toValidMessage(line.message, state);
      if (valid.message && !valid.hasResults && state.open.length > 0) {
        this.#repairs.push(...state.open.map(() => 'result' as const));
        lines.push({uuid: undefined, message: answerCalls(state.open, NO_RESULT)});
      }
      this.#repairs.push(...valid.repairs);
      if (!valid.message) return;
      if (lines.length === 0 && valid.message.role === 'assistant') {
        this.#repairs.push('start');
        lines.push({uuid: undefined, message: toUserMessage(LOST_BEGINNING), note: true});
      }
      lines.push({...line, message: valid.message});
      if (line.announcement) this.#noteAnnouncement(valid.message);
      this.#noteThinker(valid.message, line.model);
      advance(state, valid);
    };
    for (const line of restored) add(line);
    this.#lines = limitImages(lines, this.#repairs);
    this.#accepted = Math.min(this.#accepted, lines.length);
    this.#state = state;
  }
}

function mayBePrompt({message, note, announcement, companion, summary}: Line): boolean {
  return (
    message.role === 'user' && !hasResults(message) && !note && !announcement && companion === undefined && !summary
  );
}

/** Says whether a turn ends with this message. */
function isAnswer(message: Message | undefined): boolean {
  if (message?.role !== 'assistant') return false;
  return getCalls(message.content).length === 0;
}

/** Most calls that a note names. */
const MAX_NAMED = 20;
const MAX_TITLE = 100;

/** Says in a sentence which calls ran. @returns an empty text when there are none */
export function listCalls(lines: readonly Omit<RestoredMessage, 'uuid'>[]): string {
  const shown = Object.assign({}, ...lines.map(({calls}) => calls)) as CallsShown;
  const names = lines.flatMap(({message}) => getCalls(message.content)).map((call) => getName(call, shown));
  if (names.length === 0) return '';
  const more = names.length > MAX_NAMED ? `; and ${names.length - MAX_NAMED} more` : '';
  return ` What its tools did stays done: ${names.slice(0, MAX_NAMED).join('; ')}${more}.`;
}

function getName({id, name}: Pick<ToolUse, 'id' | 'name'>, shown: CallsShown): string {
  return `${name} ${shown[id]?.title ?? ''}`.trim().slice(0, MAX_TITLE).toWellFormed();
}

function advance(state: HistoryState, {newIds, open}: ValidMessage): void {
  for (const id of newIds) state.ids.add(id);
  state.open = open;
}

function now(): string {
  return new Date().toISOString();
}
