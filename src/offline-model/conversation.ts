/** What the messages say: the request to work on, and what has been seen since it was made. */
import type {Message, UserBlock} from '../core/contract/messages.ts';
import {textOf} from '../core/util/messages.ts';
import {fieldsOf} from './messages-api.ts';
import {isChange, keyOf, type Observation} from './skill.ts';

export interface Conversation {
  /** The person's words, without what the runtime wrote around them. */
  readonly request: string;
  /** The announcement of a background run, when the last user message is nothing else. */
  readonly announcement: string | undefined;
  /** Requests before this one, oldest first. */
  readonly earlier: readonly string[];
  /** No assistant has answered before this request. */
  readonly first: boolean;
  readonly seen: ReadonlyMap<string, Observation>;
  /** Replies given since the request. */
  readonly turns: number;
}

interface Said {
  readonly index: number;
  readonly text: string;
  readonly announcement: string | undefined;
}

const ANNOUNCEMENT = /<task_announcement\b[^<>]*>([\s\S]*?)<\/task_announcement>/g;
const RUNTIME_TAGS = /<(system-reminder|system_reminder|runtime|environment|limit)\b[^<>]*>[\s\S]*?<\/\1>/g;
const GO_ON = /^(please\s+)?(continue|go on|keep going|resume|продолжай|продолжи|继续)[\s.!。]*$/iu;

export function readConversation(messages: readonly Message[], mayCallTools: boolean): Conversation {
  const said = messages.flatMap((message, index) => (message.role === 'user' ? saidIn(message, index) : []));
  if (!mayCallTools && endsAmidTools(messages) && said.length > 1) {
    // The runtime's own words that ask for a report: what is reported on was asked before.
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

function saidIn(message: Message, index: number): readonly Said[] {
  const raw = textOf(message.content);
  const announcement = [...raw.matchAll(ANNOUNCEMENT)].map((match) => match[1]!.trim()).at(-1);
  const text = raw.replace(ANNOUNCEMENT, '').replace(RUNTIME_TAGS, '').trim();
  return text === '' && announcement === undefined ? [] : [{index, text, announcement}];
}

/** The last reply called tools, and only their results (and perhaps words of the runtime) follow. */
function endsAmidTools(messages: readonly Message[]): boolean {
  const reply = messages.findLast((message) => message.role === 'assistant');
  return reply !== undefined && blocksOf(reply).some((block) => block.type === 'tool_use');
}

function observations(messages: readonly Message[]): ReadonlyMap<string, Observation> {
  const calls = new Map<string, {readonly key: string; readonly tool: string}>();
  const seen = new Map<string, Observation>();
  let changes = 0;
  for (const message of messages) {
    let changed = false;
    for (const block of blocksOf(message)) {
      if (block.type === 'tool_use') {
        const key = keyOf({name: block.name, input: fieldsOf(block.input)}, changes);
        calls.set(block.id, {key, tool: block.name});
      } else if (block.type === 'tool_result') {
        const call = calls.get(block.tool_use_id);
        if (!call) continue;
        seen.set(call.key, observe(textOf(block.content ?? ''), block.is_error === true, call.tool));
        changed ||= isChange(call.tool);
      }
    }
    if (changed) changes++;
  }
  return seen;
}

function blocksOf(message: Message): readonly UserBlock[] {
  return typeof message.content === 'string' ? [] : message.content;
}

function observe(text: string, isError: boolean, tool: string): Observation {
  if (!isError) return {outcome: 'ok', text};
  return {outcome: isDenial(text, tool) ? 'denied' : 'failed', text};
}

/** A person or a rule said no. What the operating system denied within a command is an ordinary failure. */
function isDenial(text: string, tool: string): boolean {
  if (tool === 'bash' && /^.*exit code \d+\)?\s*$/im.test(text)) return false;
  const head = text.slice(0, 300);
  return (
    /^\s*(permission denied|denied|refused|rejected|not (permitted|allowed))\b/i.test(head) ||
    /\b(user|was|were|is|been|call|not) (denied|refused|rejected|declined|permitted|allowed)\b/i.test(head)
  );
}
