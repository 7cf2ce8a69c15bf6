/** Answers the questions of servers to a model (sampling), where the user's settings allow it. */
import {
  type CreateMessageRequest,
  type CreateMessageResult,
  ProtocolError,
  type SamplingMessage,
} from '@modelcontextprotocol/client';
import type {ServerPrompt, ServerReply} from '../../core/contract/mcp.ts';
import {showControls} from '../../core/util/text.ts';
import type {AskPerson} from './elicitation.ts';

type Params = CreateMessageRequest['params'];

export interface Sampling {
  /** `true`: all servers; a list: these servers; `ask`: each time when the person says yes. Default: none. */
  readonly allowed: boolean | 'ask' | readonly string[] | undefined;
  /** Servers that the person allowed for this session. */
  readonly granted: Set<string>;
  /** Makes one model call. @throws MiniCcError, ModelError */
  complete: (prompt: ServerPrompt, signal: AbortSignal) => Promise<ServerReply>;
}

/** @param call aborts when no call of the server is at work any more; undefined when none is */
type Sampler = (params: Params, signal: AbortSignal, call: AbortSignal | undefined) => Promise<CreateMessageResult>;

/** Most questions during one call of a tool, while its time stands still. */
const MAX_PROMPTS = 10;
/** Most tokens of one reply. */
const MAX_TOKENS = 8_000;
const MAX_CHARS = 200_000;
/** By the specification: the person, or the client for the person, said no. */
const REFUSED = -1;
const METHOD_NOT_FOUND = -32_601;

/** @returns undefined when the server may not ask a model; it is then not told that it could */
export function createSampler(server: string, sampling: Sampling, ask: AskPerson | undefined): Sampler | undefined {
  const {allowed, granted} = sampling;
  const isAllowed = () =>
    allowed === true || granted.has(server) || (Array.isArray(allowed) && allowed.includes(server));
  if (!isAllowed() && !(allowed === 'ask' && ask)) return undefined;
  const counts = new WeakMap<AbortSignal, number>();
  return async (params, signal, call) => {
    if (!call) throw refuse('a server may ask a model only during a call of its tools');
    const count = (counts.get(call) ?? 0) + 1;
    counts.set(call, count);
    if (count > MAX_PROMPTS) throw refuse(`it asked ${MAX_PROMPTS} times already during this call`);
    const prompt = readPrompt(params);
    const limited = AbortSignal.any([signal, call]);
    if (!isAllowed()) {
      const choice = await askPerson(server, prompt, ask!, limited);
      if (choice === 'session') granted.add(server);
      else if (choice !== 'yes') throw refuse('the person says no');
    }
    const {text, model, stopReason} = await sampling.complete(prompt, limited);
    return {role: 'assistant', content: {type: 'text', text}, model, stopReason};
  };
}

export function refuseSampling(server: string): ProtocolError {
  const how = `"mcp": {"sampling": [${JSON.stringify(server)}]} in ~/.mini-cc/settings.json`;
  return new ProtocolError(METHOD_NOT_FOUND, `this server may not ask a model here; the user allows it by ${how}`);
}

function refuse(why: string): ProtocolError {
  return new ProtocolError(REFUSED, `the question to the model was refused: ${why}`);
}

/** @throws ProtocolError for what cannot be sent to a model */
function readPrompt({systemPrompt = '', messages, maxTokens, tools}: Params): ServerPrompt {
  if (tools?.length) throw refuse('mini-cc offers no tools there');
  const read = messages.flatMap(({role, content}) => {
    const blocks = [content].flat().flatMap(toBlock);
    return blocks.length === 0 ? [] : [{role, content: blocks}];
  });
  if (read[0]?.role !== 'user' || read.at(-1)?.role !== 'user') {
    throw refuse('its first and its last message must be of the user, with a text');
  }
  if (JSON.stringify(read).length + systemPrompt.length > MAX_CHARS) {
    throw refuse(`it has more than ${MAX_CHARS.toLocaleString('en')} characters`);
  }
  return {system: systemPrompt, messages: read, maxOutputTokens: Math.max(1, Math.min(MAX_TOKENS, maxTokens))};
}

/** @returns none for a blank text, which model servers refuse */
function toBlock(
  block: Extract<SamplingMessage['content'], {type: string}>,
): ServerPrompt['messages'][number]['content'] {
  if (block.type !== 'text') throw refuse(`it has a block of the kind ${block.type}, and mini-cc sends text alone`);
  return block.text.trim() === '' ? [] : [{type: 'text', text: block.text.toWellFormed()}];
}

async function askPerson(server: string, {system, messages}: ServerPrompt, ask: AskPerson, signal: AbortSignal) {
  const said = messages.map(({role, content}) => `${role}: ${content.map(({text}) => text).join('\n')}`);
  const question = {
    title: `Send this question of the MCP server ${server} to the model?`,
    detail: showControls([...(system === '' ? [] : [`system: ${system}`]), ...said].join('\n')),
    options: [
      {digit: 1, choice: 'yes', label: 'yes'},
      {digit: 2, choice: 'session', label: `yes, all of ${server} for this session`},
      {digit: 3, choice: 'no', label: 'no'},
    ],
    escape: 'no',
  };
  return (await ask(question, signal))?.choice;
}
