/** The face of a session: four verbs and a subscription. REPL, print mode and library use nothing else. */

import type {Redactor} from '../secrets/redaction.ts';
import type {AgentEvent, Answer, SessionInfo} from './events.ts';
import type {RunResult} from './run-result.ts';

export type SubmitResult =
  /** A turn ran to its end. */
  | {readonly type: 'turn'; readonly result: RunResult}
  /** A slash command ran; its words went out as notices. `exit`: the front end should close. */
  | {
      readonly type: 'command';
      readonly ok: boolean;
      readonly text: string;
      readonly exit: boolean;
      /** What the prompt should hold now, unless something is typed there. */
      readonly input?: string;
    }
  /** A turn is under way: the prompt waits and steers at its next step. */
  | {readonly type: 'queued'};

export interface FrontEndSession {
  readonly info: SessionInfo;
  /** Takes keys out of what a front end shows or stores besides what it is told. */
  readonly redactor: Redactor;
  /** A prompt, a slash command, or `Task(agent): …`. Resolves when what it started has ended; never rejects. */
  submit(text: string): Promise<SubmitResult>;
  /** Answers the question with this id. Unknown or settled ids are ignored. */
  answer(askId: string, answer: Answer): void;
  /** Interrupts the turn under way, its tools and foreground subagents. Without a turn it does nothing. */
  abort(): void;
  /** Ends everything and closes the transcript. May be called twice. */
  close(): Promise<void>;
  /** @returns the way to stop listening. A listener must not throw. */
  subscribe(listener: (event: AgentEvent) => void): () => void;
}
