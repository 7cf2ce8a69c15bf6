/** Parses the output of a hook: JSON in Claude Code's shape. Commands and callbacks of a driver share this parser. */
import {z} from 'zod';
import type {HookEvent} from '../../core/contract/hook.ts';
import {formatIssues} from '../../core/util/problem.ts';

/** The parsed output of one hook. */
export interface HookOutput {
  readonly blocked?: string;
  readonly stops?: string;
  readonly permission?: 'allow' | 'ask';
  readonly because?: string;
  readonly input?: Readonly<Record<string, unknown>>;
  readonly context?: string;
  /** Text for the person. */
  readonly message?: string;
}

const inputSchema = z.record(z.string(), z.unknown());

const outputSchema = z.looseObject({
  continue: z.boolean().optional(),
  stopReason: z.string().optional(),
  systemMessage: z.string().optional(),
  decision: z.enum(['approve', 'allow', 'block', 'deny', 'ask']).optional(),
  reason: z.string().optional(),
  hookSpecificOutput: z
    .looseObject({
      permissionDecision: z.enum(['allow', 'deny', 'ask', 'defer']).optional(),
      permissionDecisionReason: z.string().optional(),
      updatedInput: inputSchema.optional(),
      additionalContext: z.string().optional(),
      /** Decision of a PermissionRequest hook. */
      decision: z
        .looseObject({
          behavior: z.enum(['allow', 'deny']),
          message: z.string().optional(),
          updatedInput: inputSchema.optional(),
        })
        .optional(),
    })
    .optional(),
});

/** @throws Error when the output has another shape */
export function readHookOutput(value: unknown, event: HookEvent): HookOutput {
  const parsed = outputSchema.safeParse(value);
  if (!parsed.success) {
    throw new Error(`its output cannot be read: ${formatIssues(parsed.error)}`);
  }
  const {continue: goesOn, stopReason, systemMessage, decision, reason, hookSpecificOutput: more = {}} = parsed.data;
  const {behavior, message} = more.decision ?? {};
  const said = more.permissionDecision ?? behavior ?? decision;
  const because = more.permissionDecisionReason ?? message ?? reason;
  const input = more.updatedInput ?? more.decision?.updatedInput;
  const isBlocked = said === 'deny' || said === 'block';
  const permission = said === 'approve' || said === 'allow' ? 'allow' : said === 'ask' ? 'ask' : undefined;
  return {
    ...(isBlocked && {blocked: because ?? `a ${event} hook refused it`}),
    ...(permission && {permission, ...(because !== undefined && {because})}),
    ...(goesOn === false && {stops: stopReason ?? `a ${event} hook stopped it`}),
    ...(input && {input}),
    ...(more.additionalContext !== undefined && {context: more.additionalContext}),
    ...(systemMessage !== undefined && {message: systemMessage}),
  };
}
