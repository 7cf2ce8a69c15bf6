/**
 * Offers the tools of a session to a client of the Model Context Protocol over standard input and output. The session's
 * permissions decide on each call; no person can be asked. The official server package is not used: it is larger than what
 * mini-cc's own size limit leaves, and tools alone need four methods.
 */
import {createInterface} from 'node:readline';
import {z} from 'zod';
import {version} from '../../../package.json';
import type {UserBlock} from '../../core/contract/model.ts';
import type {Session} from '../../core/contract/session-requests.ts';
import {inBackground, neverRejects} from '../../core/util/background.ts';
import {getErrorMessage, tryOr} from '../../core/util/errors.ts';
import {formatIssues} from '../../core/util/problem.ts';

/** Revisions of the protocol, the newest first. The one that a client asks for is used if it is among them. */
const REVISIONS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];
const [PARSE_ERROR, INVALID_REQUEST, NO_METHOD, INVALID_PARAMS] = [-32_700, -32_600, -32_601, -32_602];

type Id = string | number;

const messageSchema = z.looseObject({
  id: z.union([z.string(), z.number()]).optional(),
  method: z.string(),
  params: z.looseObject({}).optional(),
});
const callSchema = z.looseObject({name: z.string(), arguments: z.record(z.string(), z.unknown()).optional()});
const initializeSchema = z.looseObject({protocolVersion: z.string()});
const cancelSchema = z.looseObject({requestId: z.union([z.string(), z.number()])});

/** Serves until the client closes its end. */
export async function serveMcp(session: Session): Promise<void> {
  const server = new ToolServer(session);
  for await (const line of createInterface({input: process.stdin})) if (line.trim() !== '') server.take(line);
  server.end();
}

class ToolServer {
  /** Calls at work, by the id of the request. */
  readonly #calls = new Map<Id, AbortController>();

  constructor(private readonly session: Session) {}

  /** Takes a message. Its answer may come after those of later messages. */
  take(line: string): void {
    const value = tryOr(() => JSON.parse(line) as unknown, undefined);
    const parsed = messageSchema.safeParse(value);
    if (!parsed.success) {
      const [code, message] = value === undefined ? [PARSE_ERROR, 'no JSON'] : [INVALID_REQUEST, 'no request'];
      write({id: null, error: {code, message}});
      return;
    }
    const {id, method, params = {}} = parsed.data;
    if (id !== undefined) inBackground(this.#answer(id, method, params), neverRejects);
    const cancelled = method === 'notifications/cancelled' ? cancelSchema.safeParse(params).data : undefined;
    if (cancelled) this.#calls.get(cancelled.requestId)?.abort(new Error('the client cancelled the call'));
  }

  end(): void {
    for (const call of this.#calls.values()) call.abort(new Error('the client went away'));
  }

  async #answer(id: Id, method: string, params: object): Promise<void> {
    const stop = new AbortController();
    this.#calls.set(id, stop);
    try {
      const result = await this.#handle(method, params, stop.signal);
      // A call that the client cancelled has no answer.
      if (!stop.signal.aborted)
        write(result ? {id, result} : {id, error: {code: NO_METHOD, message: `no method ${method}`}});
    } catch (error) {
      const message = error instanceof z.ZodError ? formatIssues(error) : getErrorMessage(error);
      write({id, error: {code: INVALID_PARAMS, message}});
    } finally {
      this.#calls.delete(id);
    }
  }

  /** @returns undefined for a method that it does not have @throws ZodError for wrong parameters */
  async #handle(method: string, params: object, signal: AbortSignal): Promise<object | undefined> {
    switch (method) {
      case 'initialize': {
        const {protocolVersion: asked} = initializeSchema.parse(params);
        const protocolVersion = REVISIONS.includes(asked) ? asked : REVISIONS[0];
        return {protocolVersion, capabilities: {tools: {}}, serverInfo: {name: 'mini-cc', title: 'mini-cc', version}};
      }
      case 'ping':
        return {};
      case 'tools/list': {
        const tools = this.session.request({type: 'tools'});
        return {
          tools: tools.map(({input_schema: inputSchema, name, description}) => ({name, description, inputSchema})),
        };
      }
      case 'tools/call': {
        const {name, arguments: input = {}} = callSchema.parse(params);
        const {content, isError} = await this.session.request({type: 'call_tool', name, input, signal});
        const blocks: readonly UserBlock[] = typeof content === 'string' ? [{type: 'text', text: content}] : content;
        return {content: blocks.flatMap(toContent), isError};
      }
      default:
        return undefined;
    }
  }
}

function write(message: object): void {
  process.stdout.write(`${JSON.stringify({jsonrpc: '2.0', ...message})}\n`);
}

function toContent(block: UserBlock): object[] {
  if (block.type === 'text') return [{type: 'text', text: block.text}];
  if (block.type !== 'image' || block.source.type !== 'base64') return [];
  return [{type: 'image', data: block.source.data, mimeType: block.source.media_type}];
}
