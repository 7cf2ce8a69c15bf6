/** Defines what the handlers of control requests share: their context, and the check of their requests. */
import type {z} from 'zod';
import type {Session} from '../../core/contract/session-requests.ts';
import {MiniCcError} from '../../core/util/errors.ts';
import {formatIssues} from '../../core/util/problem.ts';

export interface ControlContext {
  readonly session: Session;
  /** True when mini-cc was started with the flag that lets the driver turn all questions off. */
  readonly mayBypass: boolean;
  /** The model that the session began with. */
  readonly firstModel: string;
  /** Ends the running turn. @returns the ids of prompts that still wait */
  interrupt(): readonly string[];
  /**
   * Takes a message from an MCP server in the driver's process.
   * @throws MiniCcError when that server is not connected
   */
  receive(server: string, message: object): void;
  /** Returns the rewind point of a prompt that the driver sent. @param messageId the id that the driver gave */
  findPoint(messageId: string): string | undefined;
}

export type Handler = (request: unknown, context: ControlContext) => object | Promise<object>;

/** Creates a handler that parses its request. A request that does not fit the schema is answered by an error. */
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
