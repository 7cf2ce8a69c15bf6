/**
 * Handles a history that a server refuses with status 400. `History` follows the known rules, but a server may have
 * more. What the server seems to refuse is replaced by one line, once in a run: a call that ran stays, with a line for its
 * result, and the text of the prompt stays. The history changes only when the server accepts the request.
 */

import type {Emit} from '../contract/events.ts';
import type {Message, ModelReply, ToolUse} from '../contract/model.ts';
import type {Replacement, RestoredMessage} from '../contract/transcript.ts';
import {ModelError} from '../util/errors.ts';
import {getResults, toUserMessage, withResultTexts} from '../util/messages.ts';
import {formatCount} from '../util/text.ts';
import {type History, listCalls} from './history.ts';
import type {Ending} from './tally.ts';
import {hasThoughts, withoutThoughts} from './valid-messages.ts';

/** Note for a server that takes no history that ends with a reply. */
const GO_ON = 'Go on.';
const PREFILL = /prefill|must end with a user|last message must/i;
const NAMED = /\bmessages?[.[](\d+)(?:\]?\.content[.[](\d+))?/;

/** A range of messages of the history, and what the request has in their place. */
interface Change {
  readonly start: number;
  readonly end: number;
  readonly by: readonly Replacement[];
  /** Results that the change replaces, by the id of their call. Then nothing else of the message changes. */
  readonly results?: ReadonlyMap<string, string>;
  /** What is left out, for the user. */
  readonly what: string;
}

type Call = Pick<ToolUse, 'name' | 'input'>;
type Block = {readonly type: string; readonly text?: string; readonly input?: unknown};

export class RefusedHistory {
  #changes: readonly Change[] = [];
  #withoutThoughts = false;
  #endsWithNote = false;
  #hasRepaired = false;
  /** Calls whose results were replaced, until another call runs. */
  #ran = new Set<string>();
  /** Last error message of the server. */
  #words = '';

  constructor(private readonly history: History) {}

  /** The messages of the next request. */
  get messages(): readonly Message[] {
    const messages = this.#changes.length > 0 ? this.#applyChanges() : this.history.messages;
    const thoughtless = this.#withoutThoughts ? messages.map((each) => withoutThoughts(each) ?? each) : messages;
    return this.#endsWithNote ? [...thoughtless, toUserMessage(GO_ON)] : thoughtless;
  }

  /**
   * Replaces what the server seems to refuse.
   * @returns false when nothing can be replaced, and for the second refusal of a run
   */
  repair(error: ModelError): boolean {
    if (this.#hasRepaired) return false;
    this.#hasRepaired = true;
    this.#words = getServerWords(error);
    const {messages, accepted, turnStart} = this.history;
    this.#withoutThoughts = /thinking|signature/i.test(error.message) && messages.some(hasThoughts);
    this.#endsWithNote = PREFILL.test(error.message) && messages.at(-1)?.role === 'assistant';
    if (this.#withoutThoughts || this.#endsWithNote) return true;
    this.#changes = this.#changeNamed(error.message);
    if (this.#changes.length > 0) return true;
    // The server named no message. Replace what is new since the last accepted request, or else what was before the turn.
    this.#changes = this.#changeSince(Math.max(accepted, turnStart));
    const mayBeOld = accepted < turnStart || !/filter/i.test(error.message);
    if (this.#changes.length === 0 && turnStart > 0 && mayBeOld) {
      const text = `${createNote(this.#words)}${listCalls(this.history.lines.slice(0, turnStart))}`;
      const by = [{message: toUserMessage(text), note: true as const}];
      this.#changes = [{start: 0, end: turnStart, by, what: formatCount(turnStart, 'message')}];
    }
    return this.#changes.length > 0;
  }

  /** Forgets the repair, because the history has changed. */
  drop(): void {
    this.#changes = [];
    this.#withoutThoughts = false;
    this.#endsWithNote = false;
  }

  /**
   * Makes the changes in the history after the server accepted the request.
   * @returns the notice for the user, if anything was replaced
   */
  commit(): string | undefined {
    const because = `the model's server refused it: ${this.#words}`;
    // Goes backwards, so that earlier indexes stay valid.
    for (const {start, end, by, results} of this.#changes.toReversed()) {
      if (results) {
        for (const call of this.history.findCalls(results)) this.#ran.add(toKey(call));
        this.history.shorten(results);
      } else this.history.replace(start, end, by, because);
    }
    if (this.#withoutThoughts) this.history.dropThoughts();
    if (this.#endsWithNote) this.history.appendNote(GO_ON);
    const what = this.#withoutThoughts
      ? 'the thinking of earlier replies'
      : this.#changes.map(({what}) => what).join(', ');
    this.drop();
    if (what === '') return undefined;
    return `The model's server refused the conversation (${this.#words}). Left out: ${what}. The transcript still has it; /rewind, also after --resume, goes back to an earlier prompt.`;
  }

  /**
   * Says whether the model only repeats calls whose results were replaced. What they did must not be done again. Call it
   * before calls run.
   */
  areRepeated(calls: readonly Call[]): boolean {
    if (calls.every((call) => this.#ran.has(toKey(call)))) return true;
    this.#ran.clear();
    return false;
  }

  #applyChanges(): readonly Message[] {
    const {messages} = this.history;
    let at = 0;
    const changed = this.#changes.flatMap(({start, end, by}) => {
      const before = messages.slice(at, start);
      at = end;
      return [...before, ...by.map(({message}) => message)];
    });
    return [...changed, ...messages.slice(at)];
  }

  #changeNamed(message: string): readonly Change[] {
    const [, named, block] = NAMED.exec(message) ?? [];
    if (named === undefined) return [];
    const at = this.history.findSent(Number(named));
    return at === undefined ? [] : this.#change(at, block === undefined ? undefined : Number(block));
  }

  #changeSince(start: number): readonly Change[] {
    return this.history.lines.flatMap((line, index) =>
      index < start || line.message.role === 'assistant' ? [] : this.#change(index),
    );
  }

  /** @param only index of the one block that the server refuses. Undefined means all blocks. */
  #change(index: number, only?: number): readonly Change[] {
    const line = this.history.lines[index];
    if (!line) return [];
    const {message} = line;
    const at = {start: index, end: index + 1};
    const note = createNote(this.#words);
    const results = new Map(
      getResults(only === undefined ? message.content : message.content.slice(only, only + 1)).map(({tool_use_id}) => [
        tool_use_id,
        `${note} The call ran: do not repeat it for its result.`,
      ]),
    );
    if (results.size > 0) {
      const what = `the results of ${formatCount(results.size, 'call')}`;
      return [{...at, by: [{message: withResultTexts(message, results)}], results, what}];
    }
    const isPrompt = index === this.history.lastPrompt || (line.prompt === true && index >= this.history.turnStart);
    const by = toReplacement(line, isPrompt, note, only);
    return by ? [{...at, by: [by], what: formatCount(1, 'message')}] : [];
  }
}

function toKey({name, input}: Call): string {
  return `${name} ${JSON.stringify(input)}`;
}

/** Matches words about other parts of a request than its messages. */
const OTHER_PARTS =
  /max_(?:completion_)?tokens|\b(?:model|temperature|top_[pk]|tools|tool_choice|system|stream|stop_sequences|metadata|betas?|credit|quota|keys?|schema)\b/i;

/**
 * Says whether the server refuses the messages. A prompt that is too long does not count: it can be shortened. A refusal
 * that names no cause may be about the messages, if there are more of them than the prompt.
 */
export function isHistoryRefused(error: unknown, {messages}: Pick<History, 'messages'>): error is ModelError {
  if (!(error instanceof ModelError) || error.kind !== 'bad_request' || error.details.status !== 400) return false;
  if (/too (?:long|large)|context (?:length|window)|maximum context/i.test(error.message)) return false;
  if (messages.length > 1 && !OTHER_PARTS.test(getServerWords(error))) return true;
  return /\bmessages?\b|tool_use|tool_result|tool_call|thinking|signature|\bimage|\bcontent\b/i.test(error.message);
}

function createNote(words: string): string {
  return `(mini-cc left out a part of the conversation here, since the model's server refused it: ${words})`;
}

/**
 * Replaces the texts, the images and the thinking of a message by a note. Calls stay calls.
 * @param isPrompt true for a prompt of the current turn, whose text stays
 * @param only index of the one block that is replaced, which may be a call: then the note is its input
 * @returns undefined when nothing of it can be replaced
 */
function toReplacement(
  {message, summary}: RestoredMessage,
  isPrompt: boolean,
  note: string,
  only: number | undefined,
): Replacement | undefined {
  const {content} = message;
  if (typeof content === 'string') return isPrompt ? undefined : {message: {...message, content: note}, note: true};
  const isReplaced = ({type}: Block, index: number) => {
    if (only !== undefined) return only === index && !(isPrompt && type === 'text');
    return type !== 'tool_use' && type !== 'tool_result' && !(isPrompt && type === 'text');
  };
  const first = content.findIndex(isReplaced);
  if (first < 0) return undefined;
  const blocks = content.flatMap((block, index): Block[] => {
    if (block.type === 'tool_use' && isReplaced(block, index)) return [{...block, input: {note}}];
    if (index === first) return [{type: 'text', text: note}];
    return isReplaced(block, index) ? [] : [block];
  });
  const kind = {...(summary && {summary}), ...(isPrompt && {repeated: true as const})};
  return {message: {...message, content: blocks} as Message, ...kind};
}

function getServerWords({message}: ModelError): string {
  return message.replace(/^the model server refused the request \(400\): /, '');
}

/** Removes the refused turn: with it in the history, the model would refuse everything that follows. */
export function takeOutRefusedTurn(
  {history, emit}: {readonly history: History; readonly emit: Emit},
  reply: ModelReply,
): Ending {
  const error = formatRefusal(reply);
  const text = history.setTurnAside(error);
  if (text !== undefined) emit({type: 'notice', level: 'warning', text});
  return {outcome: 'error', code: 'REFUSAL', error};
}

function formatRefusal({refusal: {category, explanation} = {}}: ModelReply): string {
  const why = `${category ? ` (${category})` : ''}${explanation ? `: ${explanation}` : ''}`;
  return `the model refused to answer${why}`;
}
