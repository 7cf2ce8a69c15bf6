/** What handlers of control requests share: what they work with, and the check of what they get. */
import type {z} from 'zod';
import type {Session} from '../../core/contract/session-requests.ts';
import {MiniCcError} from '../../core/util/errors.ts';
import {formatIssues} from '../../core/util/problem.ts';

export interface ControlContext {
  readonly session: Session;
  /** Started with a flag that allows it: the driver may turn all questions off. */
  readonly mayBypass: boolean;
  /** The model that the session began with. */
  readonly firstModel: string;
  /** Ends the turn under way. @returns the ids of prompts that still wait */
  interrupt(): readonly string[];
  /** A message of an MCP server in the driver's process. @throws MiniCcError when that server is not connected */
  receive(server: string, message: object): void;
  /** The rewind point of a prompt that the driver sent, by the id that it gave. */
  findPoint(messageId: string): string | undefined;
}

export type Handler = (request: unknown, context: ControlContext) => object | Promise<object>;

/** Parses the request; what is wrong with it is an error of the request. */
export function handler<S extends z.ZodType>(
  schema: S,
  run: (request: z.infer<S>, context: ControlContext) => object | Promise<object>,
): Handler {
  return (request, context) => {
    const parsed = schema.safeParse(request);
    if (!parsed.success) throw new MiniCcError('BAD_REQUEST', formatIssues(parsed.error));
    return run(parsed.data, context);
  };
}
