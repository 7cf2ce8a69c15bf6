/** Reads facts from requests, for scripts and assertions. Scripts for several agents at one server. */
import type {MessagesBody, RecordedRequest, RequestBlock, Script} from './messages-server.ts';
import {type Reply, status} from './scripted-replies.ts';

/** The system prompt as one text. */
export function getSystem(body: MessagesBody): string {
  return getText(body.system ?? '');
}

/** The first user message: for a subagent, its prompt. */
export function getFirstPrompt(body: MessagesBody): string {
  return getText(body.messages.find(({role}) => role === 'user')?.content ?? '');
}

/** The number of replies in the conversation so far: 0 in its first request. */
export function countReplies(body: MessagesBody): number {
  return body.messages.filter(({role}) => role === 'assistant').length;
}

export interface ToolResultFacts {
  readonly id: string;
  readonly text: string;
  readonly isError: boolean;
}

/** The tool results in the last message, in order. */
export function getToolResults(body: MessagesBody): ToolResultFacts[] {
  const content = body.messages.at(-1)?.content ?? [];
  if (typeof content === 'string') return [];
  return content
    .filter(({type}) => type === 'tool_result')
    .map((block) => ({
      id: block.tool_use_id ?? '',
      text: getText(block.content ?? ''),
      isError: block.is_error === true,
    }));
}

/** The key in the request: the SDK sends it as a bearer token, other clients in the header `x-api-key`. */
export function getKey(request: Pick<RecordedRequest, 'headers'> | undefined): string | undefined {
  const own = request?.headers['x-api-key'];
  return request?.headers.authorization?.replace(/^Bearer /, '') ?? (Array.isArray(own) ? own[0] : own);
}

/** The names of the tools that the request offers. */
export function getToolNames(body: MessagesBody): string[] {
  return (body.tools ?? []).map(({name}) => name);
}

/**
 * A script for several agents. The first key that the first prompt of the conversation contains chooses the list. The
 * number of replies so far chooses the reply. The key `''`, as the last one, takes all other conversations.
 */
export function byPrompt(lists: Readonly<Record<string, readonly Reply[]>>): Script {
  return (body) => {
    const prompt = getFirstPrompt(body);
    const key = Object.keys(lists).find((words) => prompt.includes(words));
    const reply = key === undefined ? undefined : lists[key]?.[countReplies(body)];
    return (
      reply ?? status(400, {message: `the script has no reply ${countReplies(body) + 1} for "${prompt.slice(0, 60)}"`})
    );
  };
}

function getText(content: string | readonly RequestBlock[]): string {
  if (typeof content === 'string') return content;
  return content.map(({text}) => text ?? '').join('\n');
}
