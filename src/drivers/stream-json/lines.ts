/**
 * Parses the lines of the stream-json protocol: one JSON object a line, in the shapes of Claude Code's Agent SDK.
 * `docs/drivers.md` describes the protocol.
 */
import {z} from 'zod';
import type {ForeignWord} from '../../core/contract/events.ts';
import {tryOr} from '../../core/util/errors.ts';
import {isObject} from '../../core/util/objects.ts';
import {formatIssues} from '../../core/util/problem.ts';
import {describeUnknownBlock, showControls, toShortLine} from '../../core/util/text.ts';

const textBlock = z.object({type: z.literal('text'), text: z.string()});
const imageBlock = z.object({type: z.literal('image'), source: z.looseObject({type: z.string()})});
const knownBlock = z.union([textBlock, imageBlock]);

const userLine = z.looseObject({
  type: z.literal('user'),
  message: z.looseObject({
    role: z.literal('user'),
    content: z.union([z.string(), z.array(z.unknown()).min(1)]),
  }),
  uuid: z.string().nullish(),
  /** True for a prompt that the model gets as it is. */
  client_composed: z.boolean().nullish(),
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
    response: z.record(z.string(), z.unknown()).nullish(),
    error: z.string().optional(),
  }),
});

/** Lines that need no answer. `control_cancel_request` has no effect: the cancelled request is answered anyway. */
const quietLine = z.looseObject({type: z.enum(['keep_alive', 'control_cancel_request'])});

const lineSchema = z.discriminatedUnion('type', [userLine, controlRequestLine, controlResponseLine, quietLine]);

type DriverLine = UserLine | Exclude<z.infer<typeof lineSchema>, {type: 'user'}>;
export type ControlRequest = z.infer<typeof controlRequestLine>['request'];
export type ControlResponse = z.infer<typeof controlResponseLine>['response'];

/** A prompt. */
export interface UserLine {
  readonly type: 'user';
  readonly content: string | readonly z.infer<typeof knownBlock>[];
  readonly uuid?: string;
  /** True for a prompt that the model gets as it is. */
  readonly verbatim: boolean;
  /** Warnings about blocks in whose place the model reads a text. */
  readonly unknownBlocks: readonly ForeignWord[];
}

export interface BadLine {
  readonly type: 'bad';
  /** Describes the error; it continues the words "the line". */
  readonly problem: string;
  /** Id of the request, when the line is a request that cannot be parsed. */
  readonly requestId?: string | number;
  /** True when the line is a prompt. The driver waits for its result. */
  readonly isPrompt?: boolean;
}

/** A response that cannot be parsed still counts as a response, so that the request does not wait for another. */
const unreadableResponse = z.looseObject({
  type: z.literal('control_response'),
  response: z.looseObject({request_id: z.string()}),
});

export function parseDriverLine(text: string): DriverLine | BadLine {
  const value = tryOr(() => JSON.parse(text) as unknown, undefined);
  if (value === undefined) {
    return {type: 'bad', problem: `is no JSON: ${JSON.stringify(text.slice(0, MAX_QUOTED_CHARS))}`};
  }
  const parsed = lineSchema.safeParse(value);
  if (!parsed.success) return toBadLine(value, `is no message of this protocol: ${formatIssues(parsed.error)}`);
  return parsed.data.type === 'user' ? toUserLine(parsed.data) : parsed.data;
}

/** Returns a bad line when no block of the prompt can be used, because the prompt would ask for nothing. */
function toUserLine({message: {content}, uuid, client_composed}: z.infer<typeof userLine>): UserLine | BadLine {
  const blocks = typeof content === 'string' ? [] : content;
  const unknown = blocks.filter((block) => !knownBlock.safeParse(block).success).map(getKind);
  if (unknown.length > 0 && unknown.length === blocks.length) {
    const problem = `has no block that mini-cc understands: ${unknown.join(', ')}`;
    return {type: 'bad', problem, isPrompt: true};
  }
  return {
    type: 'user',
    content:
      typeof content === 'string'
        ? content
        : content.map((block) => knownBlock.safeParse(block).data ?? {type: 'text', text: describeUnknownBlock(block)}),
    ...(uuid && {uuid}),
    verbatim: client_composed ?? false,
    unknownBlocks: unknown.map((name) => ({
      kind: 'block',
      name,
      text: `a message has a block of the kind ${name} that mini-cc does not understand: the model reads its JSON, cut`,
    })),
  };
}

function getKind(block: unknown): string {
  const type = isObject(block) ? block.type : undefined;
  return typeof type === 'string' ? toShortLine(showControls(type), MAX_QUOTED_CHARS) : 'unknown';
}

function toBadLine(value: unknown, problem: string): DriverLine | BadLine {
  const answered = unreadableResponse.safeParse(value).data?.response.request_id;
  if (answered !== undefined) {
    return {
      type: 'control_response',
      response: {subtype: 'error', request_id: answered, error: `the line ${problem}`},
    };
  }
  const isPrompt = isObject(value) && value.type === 'user';
  const id = isObject(value) && !isPrompt ? value.request_id : undefined;
  const requestId = typeof id === 'string' || typeof id === 'number' ? id : undefined;
  return {type: 'bad', problem, ...(requestId !== undefined && {requestId}), ...(isPrompt && {isPrompt})};
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
