import type {Answer, Question} from '../core/contract/events.ts';
import type {FrontEndSession} from '../core/contract/session.ts';

export interface ReplOptions {
  /** The first frame does not wait for it; what is sent before waits in the queue. */
  readonly session: Promise<FrontEndSession>;
  readonly version: string;
  readonly cwd: string;
  /** The built-in model will answer. */
  readonly offline: boolean;
  /** Sent as if typed, as soon as there is a session. */
  readonly initialPrompt?: string;
  /** Earlier prompts, oldest first. */
  readonly history?: readonly string[];
  /** Takes keys out of why there is no session. */
  readonly redact?: (text: string) => string;
  /** Called for every prompt that is sent. */
  readonly onSubmit?: (text: string) => void;
  /** Called once with the way to ask the person before there is a session. */
  readonly onAsk?: (ask: (question: Question) => Promise<Answer | 'withdrawn'>) => void;
  /** Called once, when the first frame is on the screen. */
  readonly onFirstFrame?: () => void;
  /** Called once with the way out: what was said stays, the terminal is as it was before. */
  readonly onLeave?: (leave: (exitCode: number) => void) => void;
}
