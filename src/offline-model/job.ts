/** What a skill is given, and how a request finds its skill. */

import type {Work} from './skill.ts';
import type {Toolbox} from './toolbox.ts';

export interface Job {
  /** The request, without courtesies. */
  readonly text: string;
  readonly toolbox: Toolbox;
  /** The main agent: it has Task. */
  readonly main: boolean;
  /** What the system prompt makes of this agent, where the request itself doesn't say. */
  readonly role: 'plan' | 'review' | 'other';
  /** Requests before this one, oldest first. */
  readonly earlier: readonly string[];
}

/** The skill for the job, or undefined when it is about something else. */
export type Route = (job: Job) => Work<string> | undefined;

/** A work that makes no call. */
// biome-ignore lint/correctness/useYield: a skill that knows its answer has nothing to ask for
export function* say(text: string): Work<string> {
  return text;
}
