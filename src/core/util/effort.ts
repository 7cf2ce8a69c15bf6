/** Translates the levels of effort of Claude Code, which has more of them. */
import type {Thinking} from '../contract/model.ts';

export const EFFORTS = ['low', 'medium', 'high', 'xhigh', 'max'] as const;
export type Effort = (typeof EFFORTS)[number];

/** Levels above `high` mean `high` here. */
export function toThinking(effort: Thinking | Effort): Thinking {
  return effort === 'xhigh' || effort === 'max' ? 'high' : effort;
}
