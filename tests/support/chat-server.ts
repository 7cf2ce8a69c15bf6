/**
 * A real HTTP server on loopback that speaks the chat completions protocol, for `{"api": "openai"}`. Its script is that of
 * `messages-server.ts`: the same replies and failures, in the shapes of this protocol. It answers 400 to requests that
 * break a rule of `chat-rules.ts`.
 */
import {createServer, type IncomingHttpHeaders, type ServerResponse} from 'node:http';
import type {AddressInfo} from 'node:net';
import {type ChatBody, findChatProblem} from './chat-rules.ts';
import type {MessageReply, Reply, ScriptedBlock, StatusReply} from './scripted-replies.ts';
import {pause} from './wait.ts';

export interface ChatRequest {
  readonly body: ChatBody;
  readonly headers: IncomingHttpHeaders;
  readonly path: string;
}

export interface ChatUsage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
  readonly prompt_tokens_details?: {readonly cached_tokens: number};
}

export interface ChatServer {
  /** For `baseURL`: ends in /v1. */
  readonly url: string;
  readonly requests: readonly ChatRequest[];
  /** Of all replies that it sent whole. */
  readonly usage: {readonly prompt: number; readonly completion: number; readonly cached: number};
  readonly close: () => Promise<void>;
}

export interface ChatOptions {
  /** Parameters that this server does not take, though others do. */
  readonly unknown?: readonly string[];
  /** What servers like OpenAI's do otherwise. */
  readonly quirks?: ChatQuirks;
}

export interface ChatQuirks {
  readonly noDone?: true;
  readonly noFinish?: true;
  readonly noUsage?: true;
  readonly noCallIds?: true;
  readonly noIndexes?: true;
  readonly reasoningName?: 'reasoning';
  /** Whole calls, each in one chunk. */
  readonly wholeCalls?: true;
  /** Comments between the chunks, as routers send them. */
  readonly comments?: true;
}

type Script = readonly Reply[] | ((body: ChatBody, index: number) => Reply | Promise<Reply>);

export async function startChatServer(script: Script, options: ChatOptions = {}): Promise<ChatServer> {
  const requests: ChatRequest[] = [];
  const usage = {prompt: 0, completion: 0, cached: 0};
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const path = request.url?.replace(/\?.*/, '') ?? '';
    if (request.method === 'GET' && path === '/v1/models') {
      return sendJson(response, 200, {object: 'list', data: [{id: 'gpt-test', object: 'model'}, {id: 'gpt-small'}]});
    }
    if (path !== '/v1/chat/completions') {
      return sendJson(response, 404, {error: {message: `Unknown request URL: ${path}`, type: 'invalid_request_error'}});
    }
    const body = JSON.parse(Buffer.concat(chunks).toString()) as ChatBody;
    const index = requests.length;
    requests.push({body, headers: request.headers, path});
    const problem = findChatProblem(body, options.unknown);
    if (problem)
      return sendJson(response, 400, {error: {type: 'invalid_request_error', param: null, code: null, ...problem}});
    const reply = typeof script === 'function' ? await script(body, index) : script[index];
    if (!reply) return sendJson(response, 400, {error: {message: `the script has no reply ${index + 1}`}});
    await send(response, reply, body, index, options.quirks ?? {}, usage);
  });
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    usage,
    close: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

type Sum = {prompt: number; completion: number; cached: number};

async function send(
  response: ServerResponse,
  reply: Reply,
  body: ChatBody,
  index: number,
  quirks: ChatQuirks,
  sum: Sum,
): Promise<void> {
  if (reply.type === 'hang') return;
  if (reply.type === 'reset') return void response.destroy();
  if (reply.type === 'status') return sendStatus(response, reply);
  if (reply.type === 'empty') return void response.writeHead(200, STREAM).end();
  if (reply.type === 'events') return sendJson(response, 400, {error: {message: 'no such reply in this protocol'}});
  const usage = countUsage(reply, body);
  const count = () => {
    sum.prompt += usage.prompt_tokens;
    sum.completion += usage.completion_tokens;
    sum.cached += usage.prompt_tokens_details?.cached_tokens ?? 0;
  };
  if (body.stream !== true || reply.format === 'json') {
    count();
    return sendJson(response, 200, createCompletion(reply, body, index, usage));
  }
  response.writeHead(200, STREAM);
  response.flushHeaders();
  const lines = createLines(reply, body, index, quirks, usage);
  for (const line of lines.slice(0, reply.fault?.afterEvents ?? lines.length)) {
    if (reply.msPerEvent !== undefined) await pause(reply.msPerEvent, 'the script wants a slow model');
    if (response.destroyed) return;
    await new Promise((resolve) => response.write(line, resolve));
  }
  if (reply.fault) return sendFault(response, reply.fault);
  count();
  response.end();
}

const STREAM = {'content-type': 'text/event-stream; charset=utf-8'};

async function sendFault(response: ServerResponse, fault: NonNullable<MessageReply['fault']>): Promise<void> {
  if (fault.type === 'stall') return;
  if (fault.type === 'end') return void response.end();
  if (fault.type === 'garbled') return void response.end('data: {"id": "chatcmpl\n\n');
  if (fault.type === 'error') {
    return void response.end(`data: ${JSON.stringify({error: {message: fault.message, type: fault.errorType}})}\n\n`);
  }
  while (fault.type === 'pings' && !response.destroyed) {
    await pause(fault.msPerPing, 'the script wants a ping at this interval');
    response.write(': ping\n\n');
  }
  await pause(20, 'what is written must be read before the connection breaks, and no sign of that comes back');
  response.destroy();
}

/** Lines of the stream, one chunk each. */
function createLines(
  reply: MessageReply,
  body: ChatBody,
  index: number,
  quirks: ChatQuirks,
  usage: ChatUsage,
): string[] {
  const head = {
    id: `chatcmpl-${index + 1}`,
    object: 'chat.completion.chunk',
    created: 1,
    model: reply.model ?? body.model,
  };
  const chunk = (delta: object, finish_reason: string | null = null) => ({
    ...head,
    choices: [{index: 0, delta, logprobs: null, finish_reason}],
  });
  const calls = reply.blocks.filter((block) => block.type === 'tool_use');
  const chunks: object[] = [
    chunk({role: 'assistant', content: ''}),
    ...reply.blocks.flatMap((block) =>
      createDeltas(block, calls.indexOf(block as never), quirks).map((each) => chunk(each)),
    ),
    ...(quirks.noFinish ? [] : [chunk({}, getFinish(reply))]),
    ...(body.stream_options?.include_usage && !quirks.noUsage ? [{...head, choices: [], usage}] : []),
  ];
  const lines = chunks.map((each) => `${quirks.comments ? ': PROCESSING\n\n' : ''}data: ${JSON.stringify(each)}\n\n`);
  return quirks.noDone ? lines : [...lines, 'data: [DONE]\n\n'];
}

function createDeltas(block: ScriptedBlock, at: number, quirks: ChatQuirks): object[] {
  if (block.type === 'text') return split(block.text).map((content) => ({content}));
  if (block.type === 'thinking') {
    return split(block.thinking).map((text) => ({[quirks.reasoningName ?? 'reasoning_content']: text}));
  }
  if (block.type !== 'tool_use') return [];
  const index = quirks.noIndexes ? {} : {index: at};
  const id = quirks.noCallIds ? {} : {id: block.id};
  const json = block.rawInput ?? JSON.stringify(block.input);
  const call = (more: object) => ({tool_calls: [{...index, ...more}]});
  if (quirks.wholeCalls) return [call({...id, type: 'function', function: {name: block.name, arguments: json}})];
  return [
    call({...id, type: 'function', function: {name: block.name, arguments: ''}}),
    ...split(json).map((part) => call({function: {arguments: part}})),
  ];
}

function split(text: string): string[] {
  return [...text].length === 0 ? [] : text.match(/[\s\S]{1,20}/gu)!;
}

function createCompletion(reply: MessageReply, body: ChatBody, index: number, usage: ChatUsage): object {
  const texts = reply.blocks.flatMap((block) => (block.type === 'text' ? [block.text] : []));
  const calls = reply.blocks.flatMap((block) =>
    block.type === 'tool_use'
      ? [{id: block.id, type: 'function', function: {name: block.name, arguments: JSON.stringify(block.input)}}]
      : [],
  );
  const message = {role: 'assistant', content: texts.join('') || null, ...(calls.length > 0 && {tool_calls: calls})};
  return {
    ...{id: `chatcmpl-${index + 1}`, object: 'chat.completion', created: 1, model: reply.model ?? body.model, usage},
    choices: [{index: 0, message, finish_reason: getFinish(reply)}],
  };
}

function getFinish({stopReason}: MessageReply): string {
  if (stopReason === 'tool_use') return 'tool_calls';
  if (stopReason === 'max_tokens') return 'length';
  return stopReason === 'refusal' ? 'content_filter' : 'stop';
}

function countUsage(reply: MessageReply, body: ChatBody): ChatUsage {
  const {input_tokens, output_tokens, cache_read_input_tokens: cached = 0} = reply.usage ?? {};
  const prompt = (input_tokens ?? Math.ceil(JSON.stringify(body.messages).length / 4)) + cached;
  const completion = output_tokens ?? Math.max(1, Math.ceil(JSON.stringify(reply.blocks).length / 4));
  return {
    ...{prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion},
    prompt_tokens_details: {cached_tokens: cached},
  };
}

function sendStatus(response: ServerResponse, {status, message, errorType, retryAfter}: StatusReply): void {
  if (retryAfter !== undefined) response.setHeader('retry-after', String(retryAfter));
  sendJson(response, status, {error: {message, type: errorType, param: null, code: errorType}});
}

function sendJson(response: ServerResponse, code: number, value: unknown): void {
  response.writeHead(code, {'content-type': 'application/json'}).end(JSON.stringify(value));
}
