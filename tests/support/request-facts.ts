/** What a script or an assertion wants to know of a request, and scripts for several agents at one server. */
import type {MessagesBody, RecordedRequest, RequestBlock, Script} from './messages-server.ts';
import {type Reply, status} from './scripted-replies.ts';

/** The system prompt as one text. */
export function systemOf(body: MessagesBody): string {
  return textIn(body.system ?? '');
}

/** The first thing that the user said: for a subagent, its prompt. */
export function firstPromptOf(body: MessagesBody): string {
  return textIn(body.messages.find(({role}) => role === 'user')?.content ?? '');
}

/** How many replies this conversation has had: 0 for its first request. */
export function turnOf(body: MessagesBody): number {
  return body.messages.filter(({role}) => role === 'assistant').length;
}

export interface ToolResultFacts {
  readonly id: string;
  readonly text: string;
  readonly isError: boolean;
}

/** The tool results in the last message, in order. */
export function toolResultsOf(body: MessagesBody): ToolResultFacts[] {
  const content = body.messages.at(-1)?.content ?? [];
  if (typeof content === 'string') return [];
  return content
    .filter(({type}) => type === 'tool_result')
    .map((block) => ({
      id: block.tool_use_id ?? '',
      text: textIn(block.content ?? ''),
      isError: block.is_error === true,
    }));
}

/** The key that came along: the SDK sends it as a bearer token, other clients in a header of its own. */
export function keyOf(request: Pick<RecordedRequest, 'headers'> | undefined): string | undefined {
  const own = request?.headers['x-api-key'];
  return request?.headers.authorization?.replace(/^Bearer /, '') ?? (Array.isArray(own) ? own[0] : own);
}

/** The names of the tools that the request offers. */
export function toolNamesOf(body: MessagesBody): string[] {
  return (body.tools ?? []).map(({name}) => name);
}

/**
 * A script for several agents: the first key that the conversation's first prompt contains chooses the list, and the
 * number of replies that the conversation has had chooses the reply. `''` as the last key catches the rest.
 */
export function byPrompt(lists: Readonly<Record<string, readonly Reply[]>>): Script {
  return (body) => {
    const prompt = firstPromptOf(body);
    const key = Object.keys(lists).find((words) => prompt.includes(words));
    const reply = key === undefined ? undefined : lists[key]?.[turnOf(body)];
    return reply ?? status(400, {message: `the script has no reply ${turnOf(body) + 1} for "${prompt.slice(0, 60)}"`});
  };
}

function textIn(content: string | readonly RequestBlock[]): string {
  if (typeof content === 'string') return content;
  return content.map(({text}) => text ?? '').join('\n');
}
