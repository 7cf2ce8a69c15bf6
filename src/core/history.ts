/**
 * The messages of one agent. `append` writes the transcript's line first, then memory: what the model or the
 * screen sees is on disk. All else is derived from it.
 */
import {randomUUID} from 'node:crypto';
import type {Message, ToolResultBlock, ToolUse, Usage} from './messages.ts';
import type {Outcome} from './run-result.ts';
import type {NamedLimits} from './runs/limit-profiles.ts';
import type {Isolation} from './runs/worktree.ts';

/** Version of the transcript's format, in its first line. */
export const TRANSCRIPT_VERSION = 1;

/** One line of a transcript. The first is always `session`. */
export type TranscriptEntry =
  | {
      readonly type: 'session';
      readonly version: number;
      readonly id: string;
      readonly agent: string;
      readonly cwd: string;
      readonly at: string;
      /** Of a subagent's run: the session that dispatched it, its task, and how it was dispatched. */
      readonly parent?: string;
      readonly description?: string;
      readonly model?: string;
      readonly background?: boolean;
      readonly cleanup?: 'keep' | 'delete';
      readonly label?: string;
      readonly callId?: string;
      readonly limits?: NamedLimits;
      readonly onlyTools?: readonly string[];
      readonly isolation?: Isolation;
    }
  | {
      readonly type: 'message';
      readonly uuid: string;
      readonly at: string;
      readonly message: Message;
      /** A person wrote it: the conversation can be taken back to before it. */
      readonly prompt?: true;
      /** Of a reply: who answered, and what it cost. */
      readonly model?: string;
      readonly usage?: Usage;
      readonly stopReason?: string | null;
    }
  /** A run was sent to the background while it was at work. */
  | {readonly type: 'background'; readonly at: string}
  /** A run that had ended goes on, in the background; `round` counts from 1. */
  | {readonly type: 'resumed'; readonly at: string; readonly round: number}
  /** The message with this uuid and what came after it, up to here, count no more. */
  | {readonly type: 'rewind'; readonly at: string; readonly to: string}
  | ({readonly type: 'end'; readonly at: string} & RunEnd);

/** How a run ended: all that its announcement needs, so that a crash right after it loses nothing. */
export interface RunEnd {
  readonly outcome: Outcome;
  readonly reason?: string;
  readonly receipt?: string;
  /** The final answer, or what there was. */
  readonly text?: string;
  readonly durationMs?: number;
  /** Tool calls that ended, over all rounds. */
  readonly tools?: number;
  /** Over all rounds. */
  readonly usage?: Usage;
  readonly background?: boolean;
  readonly round?: number;
}

/** Where lines go; `storage/` appends them to a file. Writing is synchronous: a returned call is on disk. */
export interface Journal {
  append(entry: TranscriptEntry): void;
}

export interface ReplyFacts {
  readonly model: string;
  readonly usage: Usage;
  readonly stopReason: string | null;
}

export class History {
  readonly #messages: Message[];

  constructor(
    private readonly journal: Journal,
    restored: readonly Message[] = [],
  ) {
    this.#messages = [...restored];
  }

  get messages(): readonly Message[] {
    return this.#messages;
  }

  /** @returns the id of the new line. */
  append(message: Message, facts?: ReplyFacts): string {
    const uuid = randomUUID();
    this.journal.append({type: 'message', uuid, at: new Date().toISOString(), message, ...facts});
    this.#messages.push(message);
    return uuid;
  }

  /** What a person wrote. @returns the id of the new line. */
  prompt(text: string): string {
    const uuid = randomUUID();
    const message: Message = {role: 'user', content: text};
    this.journal.append({type: 'message', uuid, at: new Date().toISOString(), message, prompt: true});
    this.#messages.push(message);
    return uuid;
  }

  /**
   * From here on the conversation is as it was before that message.
   * @param to the uuid of its line. @param kept how many messages come before it.
   */
  rewind(to: string, kept: number): void {
    this.journal.append({type: 'rewind', at: new Date().toISOString(), to});
    this.#messages.length = kept;
  }

  /** The run's own closing line; the conversation itself does not change. */
  end(end: RunEnd): void {
    this.journal.append({type: 'end', at: new Date().toISOString(), ...end});
  }

  /** The run goes on in the background from here. */
  background(): void {
    this.journal.append({type: 'background', at: new Date().toISOString()});
  }

  resumed(round: number): void {
    this.journal.append({type: 'resumed', at: new Date().toISOString(), round});
  }

  /**
   * A conversation cut off amid tool calls misses their results, and no server takes it so.
   * Adds one result for each call that has none.
   */
  settleOpenCalls(words: string): void {
    const last = this.#messages.at(-1);
    if (last?.role !== 'assistant' || typeof last.content === 'string') return;
    const open = last.content.filter((block): block is ToolUse => block.type === 'tool_use');
    if (open.length === 0) return;
    const results: ToolResultBlock[] = open.map((call) => ({
      type: 'tool_result',
      tool_use_id: call.id,
      content: words,
      is_error: true,
    }));
    this.append({role: 'user', content: results});
  }
}
