/**
 * Handles a history that a server refuses with status 400. `History` follows the known rules, but a server may have
 * more. Parts are left out of the request until the server accepts it, and only then out of the history. When the
 * server refuses even the prompt alone, the history is not the cause.
 */

import type {Emit} from '../contract/events.ts';
import type {Message, ModelReply} from '../contract/model.ts';
import {ModelError} from '../util/errors.ts';
import {formatCount} from '../util/text.ts';
import type {History} from './history.ts';
import type {Ending} from './tally.ts';
import {hasResults, hasThoughts, isPrompt, withoutThoughts} from './valid-messages.ts';

/** Most retries while the server names the message that it refuses. */
const MAX_TRIALS = 10;

/** A message of the request with its index in the history. A note that replaces left-out messages has no index. */
interface Item {
  readonly index: number | undefined;
  readonly message: Message;
}

export class RefusedHistory {
  #items: readonly Item[] = [];
  #trials = 0;
  #isReduced = false;
  #withoutThoughts = false;
  /** Last error message of the server. */
  #words = '';

  constructor(private readonly history: History) {}

  get messages(): readonly Message[] {
    if (this.#trials === 0) return this.history.messages;
    return this.#items.map(({message}) => message);
  }

  /** Leaves out what the server seems to refuse. @returns false when nothing more can be left out */
  reduce(error: ModelError): boolean {
    if (this.#trials === 0) this.#items = this.history.messages.map((message, index) => ({index, message}));
    this.#trials += 1;
    this.#words = getServerWords(error);
    if (/thinking|signature/i.test(error.message) && !this.#withoutThoughts && this.#dropThoughts()) return true;
    // A note that replaces left-out messages does not count as a prompt.
    const prompt = this.#items.findLastIndex(({index, message}) => index !== undefined && isPrompt(message));
    const named = /\bmessages?[.[](\d+)/.exec(error.message)?.[1];
    if (named !== undefined && this.#trials <= MAX_TRIALS) {
      const part = this.#getStep(Number(named));
      if (part && !(part[0] <= prompt && prompt < part[1])) return this.#leaveOut(...part);
    }
    if (this.#isReduced) return false;
    // The server named no message. Leave out what is new since the last accepted request, then everything but the
    // prompt.
    const end = this.#items.length;
    const start = Math.max(prompt + 1, this.history.accepted);
    if (this.#trials === 1 && start < end) return this.#leaveOut(start, end);
    this.#isReduced = true;
    const after = prompt + 1 < end && this.#leaveOut(prompt + 1, end);
    return (prompt > 0 && this.#leaveOut(0, prompt)) || after;
  }

  /**
   * Removes the left-out messages from the history after the server accepted the request.
   * @returns the notice for the user, if anything was left out
   */
  commit(): string | undefined {
    if (this.#trials === 0) return undefined;
    const present = new Set(this.#items.flatMap(({index}) => index ?? []));
    const count = this.history.messages.length;
    const because = `the model's server refused it: ${this.#words}`;
    let removed = 0;
    // Goes backwards, so that earlier indexes stay valid.
    for (let end = count; end > 0; end -= 1) {
      if (present.has(end - 1)) continue;
      let start = end - 1;
      while (start > 0 && !present.has(start - 1)) start -= 1;
      this.history.replace(start, end, [{message: createNote(this.#words)}], because);
      removed += end - start;
      end = start + 1;
    }
    if (this.#withoutThoughts) this.history.dropThoughts();
    const what = removed > 0 ? formatCount(removed, 'message') : 'the thinking of earlier replies';
    return `The model's server refused the conversation (${this.#words}). Left out: ${what}. The transcript still has it; /rewind, also after --resume, goes back to an earlier prompt.`;
  }

  #dropThoughts(): boolean {
    this.#withoutThoughts = true;
    if (!this.#items.some(({message}) => hasThoughts(message))) return false;
    this.#items = this.#items.map((item) => ({...item, message: withoutThoughts(item.message) ?? item.message}));
    return true;
  }

  /** Returns the range of a message. A reply and its results belong together. */
  #getStep(at: number): [start: number, end: number] | undefined {
    const item = this.#items[at];
    if (!item || item.index === undefined) return undefined;
    if (hasResults(item.message)) return [Math.max(0, at - 1), at + 1];
    const next = this.#items[at + 1];
    return [at, item.message.role === 'assistant' && next && hasResults(next.message) ? at + 2 : at + 1];
  }

  #leaveOut(start: number, end: number): true {
    const note = {index: undefined, message: createNote(this.#words)};
    this.#items = [...this.#items.slice(0, start), note, ...this.#items.slice(end)];
    return true;
  }
}

/** Says whether the server refuses the messages. A prompt that is too long does not count: it can be shortened. */
export function isHistoryRefused(error: unknown): error is ModelError {
  if (!(error instanceof ModelError) || error.kind !== 'bad_request' || error.details.status !== 400) return false;
  if (/too (?:long|large)|context (?:length|window)|maximum context/i.test(error.message)) return false;
  return /\bmessages?\b|tool_use|tool_result|tool_call|thinking|signature|\bimage|\bcontent\b/i.test(error.message);
}

function createNote(words: string): Message {
  return {
    role: 'user',
    content: `(mini-cc left out a part of the conversation here, since the model's server refused it: ${words})`,
  };
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
