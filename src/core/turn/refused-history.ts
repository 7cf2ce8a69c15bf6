/**
 * What to do when a server answers 400 to a history. `History` follows the rules that are known; a server may have more.
 * Parts are left out of the request until the server takes it, and only then out of the history. When the prompt alone
 * is refused as well, the history was not to blame.
 */

import type {Emit} from '../contract/events.ts';
import type {Message, ModelReply} from '../contract/model.ts';
import {ModelError} from '../util/errors.ts';
import type {History} from './history.ts';
import type {Ending} from './tally.ts';
import {hasResults, hasThoughts, isPrompt, withoutThoughts} from './valid-messages.ts';

/** Servers that name a message are asked again so often. */
const MAX_TRIALS = 10;

/** A message of the request, with its index in the history; undefined for one that stands for what was left out. */
interface Item {
  readonly index: number | undefined;
  readonly message: Message;
}

export class RefusedHistory {
  #items: readonly Item[] = [];
  #trials = 0;
  #isReduced = false;
  #withoutThoughts = false;
  /** The last thing that the server said. */
  #words = '';

  constructor(private readonly history: History) {}

  /** For the next request. */
  get messages(): readonly Message[] {
    if (this.#trials === 0) return this.history.messages;
    return this.#items.map(({message}) => message);
  }

  /** Leaves out what the server seems to refuse. @returns false when there is nothing more to leave out. */
  reduce(error: ModelError): boolean {
    if (this.#trials === 0) this.#items = this.history.messages.map((message, index) => ({index, message}));
    this.#trials += 1;
    this.#words = getServerWords(error);
    if (/thinking|signature/i.test(error.message) && !this.#withoutThoughts && this.#dropThoughts()) return true;
    // The note in the place of what was left out is no prompt.
    const prompt = this.#items.findLastIndex(({index, message}) => index !== undefined && isPrompt(message));
    const named = /\bmessages?[.[](\d+)/.exec(error.message)?.[1];
    if (named !== undefined && this.#trials <= MAX_TRIALS) {
      const part = this.#getStep(Number(named));
      if (part && !(part[0] <= prompt && prompt < part[1])) return this.#leaveOut(...part);
    }
    if (this.#isReduced) return false;
    // The server did not say where: leave out first what is new since the last request that was taken, then everything but the prompt.
    const end = this.#items.length;
    const start = Math.max(prompt + 1, this.history.accepted);
    if (this.#trials === 1 && start < end) return this.#leaveOut(start, end);
    this.#isReduced = true;
    const after = prompt + 1 < end && this.#leaveOut(prompt + 1, end);
    return (prompt > 0 && this.#leaveOut(0, prompt)) || after;
  }

  /** The server took it: what was left out leaves the history too. @returns the notice for the user, if anything left. */
  commit(): string | undefined {
    if (this.#trials === 0) return undefined;
    const kept = new Set(this.#items.flatMap(({index}) => index ?? []));
    const count = this.history.messages.length;
    const because = `the model's server refused it: ${this.#words}`;
    let left = 0;
    // From the end: the indexes before stay as they are.
    for (let end = count; end > 0; end -= 1) {
      if (kept.has(end - 1)) continue;
      let start = end - 1;
      while (start > 0 && !kept.has(start - 1)) start -= 1;
      this.history.replace(start, end, [{message: createNote(this.#words)}], because);
      left += end - start;
      end = start + 1;
    }
    if (this.#withoutThoughts) this.history.dropThoughts();
    const what = left > 0 ? `${left} message${left === 1 ? '' : 's'}` : 'the thinking of earlier replies';
    return `The model's server refused the conversation (${this.#words}). Left out: ${what}. The transcript still has it; /rewind, also after --resume, goes back to an earlier prompt.`;
  }

  #dropThoughts(): boolean {
    this.#withoutThoughts = true;
    if (!this.#items.some(({message}) => hasThoughts(message))) return false;
    this.#items = this.#items.map((item) => ({...item, message: withoutThoughts(item.message) ?? item.message}));
    return true;
  }

  /** A reply goes with its results. */
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

/** The server says that it does not take the messages. A prompt that is too long is another matter: it can be shortened. */
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

/** The model refused: with the refused turn in the history, it would refuse all that comes after it. */
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
