/**
 * Parses the lines of the stream-json protocol: one JSON object a line, in the shapes of Claude Code's Agent SDK.
 * `docs/drivers.md` describes the protocol.
 */
import {z} from 'zod';
import {formatIssues} from '../../core/util/problem.ts';

const textBlock = z.object({type: z.literal('text'), text: z.string()});
const imageBlock = z.object({type: z.literal('image'), source: z.looseObject({type: z.string()})});

const userLine = z.looseObject({
  type: z.literal('user'),
  message: z.looseObject({
    role: z.literal('user'),
    content: z.union([z.string(), z.array(z.union([textBlock, imageBlock])).min(1)]),
  }),
  uuid: z.string().optional(),
  /** True for a prompt that the model gets as it is. */
  client_composed: z.boolean().optional(),
});

const controlRequestLine = z.looseObject({
  type: z.literal('control_request'),
  request_id: z.string(),
  request: z.looseObject({subtype: z.string()}),
});

const controlResponseLine = z.looseObject({
  type: z.literal('control_response'),
  response: z.looseObject({
    subtype: z.enum(['success', 'error']),
    request_id: z.string(),
    response: z
      .record(z.string(), z.unknown())
      .nullish()
      .transform((value) => value ?? undefined)
      .optional(),
    error: z.string().optional(),
  }),
});

/** Lines that need no answer. `control_cancel_request` has no effect: the cancelled request is answered anyway. */
const quietLine = z.looseObject({type: z.enum(['keep_alive', 'control_cancel_request'])});

const lineSchema = z.discriminatedUnion('type', [userLine, controlRequestLine, controlResponseLine, quietLine]);

type DriverLine = z.infer<typeof lineSchema>;
export type UserLine = z.infer<typeof userLine>;
export type ControlRequest = z.infer<typeof controlRequestLine>['request'];
export type ControlResponse = z.infer<typeof controlResponseLine>['response'];

export interface BadLine {
  readonly type: 'bad';
  /** Describes the error; it continues the words "the line". */
  readonly problem: string;
  /** Id of the request, when the line is a request that cannot be parsed. */
  readonly requestId?: string;
}

/** A response that cannot be parsed still counts as a response, so that the request does not wait for another. */
const unreadableResponse = z.looseObject({
  type: z.literal('control_response'),
  response: z.looseObject({request_id: z.string()}),
});

export function parseDriverLine(text: string): DriverLine | BadLine {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return {type: 'bad', problem: `is no JSON: ${JSON.stringify(text.slice(0, MAX_QUOTED_CHARS))}`};
  }
  const parsed = lineSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const problem = `is no message of this protocol: ${formatIssues(parsed.error)}`;
  const answered = unreadableResponse.safeParse(value).data?.response.request_id;
  if (answered !== undefined) {
    const response = {
      subtype: 'error',
      request_id: answered,
      response: undefined,
      error: `the line ${problem}`,
    } as const;
    return {type: 'control_response', response};
  }
  const requestId = z.looseObject({request_id: z.string()}).safeParse(value).data?.request_id;
  return {type: 'bad', problem, ...(requestId !== undefined && {requestId})};
}

const MAX_QUOTED_CHARS = 80;

/**
 * Reads lines up to the maximal length of a string. Only a line feed ends a line, because JSON strings may contain
 * other line separators.
 */
export async function* readLines(input: NodeJS.ReadableStream): AsyncGenerator<string> {
  input.setEncoding('utf8');
  let parts: string[] = [];
  for await (const chunk of input as AsyncIterable<string>) {
    const [first = '', ...rest] = chunk.split('\n');
    parts.push(first);
    for (const next of rest) {
      yield parts.join('');
      parts = [next];
    }
  }
  yield parts.join('');
}
