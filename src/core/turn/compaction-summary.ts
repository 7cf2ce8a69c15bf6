/**
 * Creates the replacement for the older part of a conversation: a model's summary, and facts that the runtime knows.
 */
import type {Message, ToolUse} from '../contract/model.ts';
import type {Todo} from '../contract/results.ts';
import type {SummaryFacts} from '../contract/transcript.ts';
import {getCalls, getResults} from '../util/messages.ts';
import {cutMiddle, describeCall, getResultText} from './context-window.ts';

export const SUMMARY_SYSTEM = `You summarise the conversation of a coding agent, so that it can go on with its work without the conversation. Be exact and complete: names, paths, numbers, commands, error messages. Invent nothing.`;

const HEADINGS = `Write these sections, each with its heading, and leave none out ("none" where there is nothing):
## Task
What the user asked for, in the user's words where they matter, with all wishes and limits that still hold.
## Decisions
What was decided, and why.
## Files
Each file that matters: its path, what is in it, what was changed in it.
## Open todos
What is left to do.
## Tried and failed
What did not work, and why.
## Next step
The very next step.`;

/** Most files that a summary names: the newest ones. */
const MAX_FILES = 50;
/** Most characters of a prompt that a summary repeats. */
const MAX_PROMPT = 4000;

/**
 * Creates the request for a summary.
 * @param focus what the user wants the summary to preserve above all
 * @param maxBytes most bytes of the conversation in the request
 */
export function createSummaryPrompt(messages: readonly Message[], focus: string, maxBytes: number): string {
  const wish = focus === '' ? '' : `\nThe user asks to keep above all: ${focus}\n`;
  return `The conversation so far:\n\n<conversation>\n${renderConversation(messages, maxBytes)}\n</conversation>\n${wish}\n${HEADINGS}`;
}

/** Renders the conversation as text. Long results are cut first. If that is not enough, the middle is left out. */
function renderConversation(messages: readonly Message[], maxBytes: number): string {
  let text = '';
  for (const maxResult of [2000, 600, 150]) {
    text = messages.flatMap((message) => renderMessage(message, maxResult)).join('\n');
    if (Buffer.byteLength(text) <= maxBytes) return text;
  }
  return cutMiddle(text, Math.floor((maxBytes * text.length) / Buffer.byteLength(text)));
}

function renderMessage({role, content}: Message, maxResult: number): string[] {
  const speaker = role === 'user' ? 'User' : 'Assistant';
  if (typeof content === 'string') return [`${speaker}: ${cutMiddle(content, 2 * MAX_PROMPT)}`];
  return content.flatMap((block): string[] => {
    if (block.type === 'text') return [`${speaker}: ${cutMiddle(block.text, 2 * MAX_PROMPT)}`];
    if (block.type === 'tool_use') {
      return [`Call: ${block.name} ${cutMiddle(JSON.stringify(block.input), Math.max(300, maxResult))}`];
    }
    if (block.type === 'tool_result') return [`Result: ${cutMiddle(getResultText(block) ?? '(an image)', maxResult)}`];
    return block.type === 'image' ? [`${speaker}: (an image)`] : [];
  });
}

/** Collects what the runtime knows of these messages, and of the summary among them. */
export function collectFacts(messages: readonly Message[], earlier: SummaryFacts | undefined): SummaryFacts {
  const files = new Map((earlier?.files ?? []).map(({path, isChanged}) => [path, isChanged]));
  let todos: readonly Todo[] = earlier?.todos ?? [];
  for (const call of listCalls(messages)) {
    const {path, todos: written} = call.input as {readonly path?: unknown; readonly todos?: unknown};
    const isChange = call.name === 'edit_file' || call.name === 'write_file';
    if (typeof path === 'string' && (isChange || call.name === 'read_file')) {
      const wasChanged = files.get(path) ?? false;
      // Moves the file to the end, so that the newest files stay.
      files.delete(path);
      files.set(path, wasChanged || isChange);
    }
    if (call.name === 'todo_write' && Array.isArray(written)) todos = written as Todo[];
  }
  return {files: [...files].slice(-MAX_FILES).map(([path, isChanged]) => ({path, isChanged})), todos};
}

/** Creates a digest of the messages by rule, for when no model could summarise them. */
export function createDigest(messages: readonly Message[]): string {
  const prompts = messages.filter(({role, content}) => role === 'user' && typeof content === 'string');
  const replies = messages.filter(({role}) => role === 'assistant').flatMap(getTexts);
  const failed = messages.flatMap(({content}) => getResults(content)).filter((block) => block.is_error).length;
  return [
    '## Task',
    ...prompts.slice(-5).map(({content}) => `- ${cutMiddle(String(content), 1000)}`),
    '## What was said last',
    ...replies.slice(-3).map((text) => `- ${cutMiddle(text, 1000)}`),
    '## Last calls',
    ...listCalls(messages)
      .slice(-15)
      .map((call) => `- ${describeCall(call)}`),
    ...(failed > 0 ? [`${failed} calls failed.`] : []),
  ].join('\n');
}

function listCalls(messages: readonly Message[]): readonly ToolUse[] {
  return messages.flatMap(({content}) => getCalls(content));
}

function getTexts({content}: Message): string[] {
  if (typeof content === 'string') return [content];
  return content.flatMap((block) => (block.type === 'text' ? [block.text] : []));
}

/**
 * Creates the message that replaces the older part.
 * @param how the author of the text: a model, or a rule because the model failed
 */
export function createSummaryMessage(text: string, {files, todos}: SummaryFacts, how: 'model' | 'rule'): Message {
  const open = todos.map(({content, status}) => `- [${MARKS[status]}] ${content}`);
  const parts = [
    '<conversation_summary>',
    how === 'model'
      ? 'The conversation was longer than the context window. This is a summary of its older part; what came last follows it.'
      : 'The conversation was longer than the context window, and no summary of it could be made. This is what is known of its older part; what came last follows it.',
    text,
    ...(open.length > 0 ? ['## The list of todos as it stands', ...open] : []),
    ...(files.length > 0 ? ['## Files that were read or changed', ...files.map(formatFile)] : []),
    '</conversation_summary>',
  ];
  return {role: 'user', content: parts.join('\n')};
}

const MARKS: Readonly<Record<Todo['status'], string>> = {pending: ' ', in_progress: '~', completed: 'x'};

function formatFile({path, isChanged}: SummaryFacts['files'][number]): string {
  return `- ${path}${isChanged ? ' (changed)' : ''}`;
}

/** Repeats the current prompt, shortened, when it is not among the messages that stay. */
export function shortenPrompt(prompt: Message): Message {
  return {role: 'user', content: cutMiddle(getTexts(prompt).join('\n'), MAX_PROMPT)};
}
