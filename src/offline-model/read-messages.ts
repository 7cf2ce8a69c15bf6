/** Reads the messages: the current request, and the results of the calls that were made for it. */

import type {Message, UserBlock} from '../core/contract/model.ts';
import {getText} from '../core/util/messages.ts';
import {toFields} from '../core/util/objects.ts';
import {getCallKey, isChange, type Observation} from './skill.ts';

interface OfflineConversation {
  /** The user's text, without texts that the runtime added. */
  readonly request: string;
  /** The announcement of a background run, when the last user message contains only that. */
  readonly announcement: string | undefined;
  /** Earlier requests, oldest first. */
  readonly earlier: readonly string[];
  /** No answer comes before this request. */
  readonly first: boolean;
  /** Results since the request, by `getCallKey` of their call. */
  readonly seen: ReadonlyMap<string, Observation>;
  /** Number of replies since the request. */
  readonly turns: number;
}

type UserText = {readonly index: number; readonly text: string} & Pick<OfflineConversation, 'announcement'>;

const ANNOUNCEMENT = /<task_announcement\b[^<>]*>([\s\S]*?)<\/task_announcement>/g;
const RUNTIME_TAGS = /<(system-reminder|system_reminder|runtime|environment|limit)\b[^<>]*>[\s\S]*?<\/\1>/g;
const GO_ON = /^(please\s+)?(continue|go on|keep going|resume|продолжай|продолжи|继续)[\s.!。]*$/iu;

export function readConversation(messages: readonly Message[], mayCallTools: boolean): OfflineConversation {
  const said = messages.flatMap((message, index) => (message.role === 'user' ? parseUserMessage(message, index) : []));
  if (!mayCallTools && endsWithTools(messages) && said.length > 1) {
    // The last text is the runtime's request for a report. The report is about the request before it.
    const last = said.at(-1)!;
    if (!messages.slice(last.index).some((message) => message.role === 'assistant')) said.pop();
  }
  while (said.length > 1 && GO_ON.test(said.at(-1)!.text)) said.pop();
  const now = said.at(-1) ?? {index: messages.length - 1, text: '', announcement: undefined};
  const since = messages.slice(now.index + 1);
  return {
    request: now.text,
    announcement: now.text === '' ? now.announcement : undefined,
    earlier: said
      .slice(0, -1)
      .map((one) => one.text)
      .filter((text) => text !== ''),
    first: !messages.slice(0, now.index).some((message) => message.role === 'assistant'),
    seen: observations(since),
    turns: since.filter((message) => message.role === 'assistant').length,
  };
}

function parseUserMessage(message: Message, index: number): readonly UserText[] {
  const raw = getText(message.content);
  const announcement = [...raw.matchAll(ANNOUNCEMENT)].map((match) => match[1]!.trim()).at(-1);
  const text = raw.replace(ANNOUNCEMENT, '').replace(RUNTIME_TAGS, '').trim();
  return text === '' && announcement === undefined ? [] : [{index, text, announcement}];
}

/** Returns whether the last reply called tools, so that only results and texts of the runtime follow it. */
function endsWithTools(messages: readonly Message[]): boolean {
  const reply = messages.findLast((message) => message.role === 'assistant');
  return reply !== undefined && getBlocks(reply).some((block) => block.type === 'tool_use');
}

function observations(messages: readonly Message[]): ReadonlyMap<string, Observation> {
  const calls = new Map<string, {readonly key: string; readonly tool: string}>();
  const seen = new Map<string, Observation>();
  let changes = 0;
  for (const message of messages) {
    let changed = false;
    for (const block of getBlocks(message)) {
      if (block.type === 'tool_use') {
        const key = getCallKey({name: block.name, input: toFields(block.input)}, changes);
        calls.set(block.id, {key, tool: block.name});
      } else if (block.type === 'tool_result') {
        const call = calls.get(block.tool_use_id);
        if (!call) continue;
        const text = getText(block.content ?? '');
        const outcome = !block.is_error ? 'ok' : isDenial(text, call.tool) ? 'denied' : 'failed';
        seen.set(call.key, {outcome, text});
        changed ||= isChange(call.tool);
      }
    }
    if (changed) changes++;
  }
  return seen;
}

function getBlocks(message: Message): readonly UserBlock[] {
  return typeof message.content === 'string' ? [] : message.content;
}

/**
 * Returns whether a person or a rule denied the call. When the operating system denies something to a command, the call
 * counts as failed, and so does a rename that would not be whole.
 */
function isDenial(text: string, tool: string): boolean {
  if (tool === 'rename_symbol' && text.startsWith('Refused, nothing was changed: ')) return false;
  if (tool === 'bash' && /^.*exit code \d+\)?\s*$/im.test(text)) return false;
  const head = text.slice(0, 300);
  return (
    /^\s*(permission denied|denied|refused|rejected|not (permitted|allowed))\b/i.test(head) ||
    /\b(user|was|were|is|been|call|not) (denied|refused|rejected|declined|permitted|allowed)\b/i.test(head)
  );
}
