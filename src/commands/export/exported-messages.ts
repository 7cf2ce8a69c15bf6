/** Formats messages of a transcript as HTML: prompts, answers, thinking, and each tool call with its result, folded. */
import type {Message} from '../../core/contract/model.ts';
import type {RestoredMessage, TranscriptEntry} from '../../core/contract/transcript.ts';
import {type Html, html} from '../../core/util/html.ts';
import {getText} from '../../core/util/messages.ts';
import {formatCount, toOneLine, toShortLine} from '../../core/util/text.ts';
import {markdownToHtml} from './markdown-html.ts';

interface Said extends RestoredMessage {
  /** ISO 8601. */
  readonly at?: string;
}

type Block = Exclude<Message['content'], string>[number];
type Result = Extract<Block, {type: 'tool_result'}>;

/** @param runs ids of the runs, by the id of the call that dispatched them */
export function formatMessages(messages: readonly Said[], runs: ReadonlyMap<string, string> = new Map()): Html {
  const results = new Map(
    messages.flatMap(({message: {content}}) =>
      typeof content === 'string'
        ? []
        : content.flatMap((block) => (block.type === 'tool_result' ? [[block.tool_use_id, block] as const] : [])),
    ),
  );
  return html`${messages.map((message) => formatMessage(message, results, runs))}`;
}

export function formatEntries(entries: readonly TranscriptEntry[]): Html {
  return formatMessages(entries.filter((entry) => entry.type === 'message'));
}

function formatMessage(
  {message, announcement, companion, summary, note, at}: Said,
  results: ReadonlyMap<string, Result>,
  runs: ReadonlyMap<string, string>,
): Html {
  const {role, content} = message;
  const text = getText(content);
  if (announcement) {
    const {agent, description = '', outcome, reason, text: result} = announcement;
    return html`<div class="note ${outcome === 'success' ? '' : 'bad'}"><strong>${agent}</strong> ${description}: ${outcome}${reason ? ` (${reason})` : ''}${markdownToHtml(result)}</div>`;
  }
  if (summary) return folded('Summary of what was before', html`${markdownToHtml(text)}`);
  if (companion !== undefined) return folded(companion, html`<pre>${text}</pre>`);
  if (note) return html`<div class="note">${text}</div>`;
  const when = at === undefined ? html`` : html`<time>${formatTime(at)}</time> `;
  if (role === 'user')
    return text === '' ? html`` : html`<div class="prompt">${when}${text}${countImages(content)}</div>`;
  if (typeof content === 'string') return markdownToHtml(content);
  return html`${content.map((block) => formatBlock(block, results, runs))}`;
}

function formatBlock(block: Block, results: ReadonlyMap<string, Result>, runs: ReadonlyMap<string, string>): Html {
  switch (block.type) {
    case 'text':
      return markdownToHtml(block.text);
    case 'thinking':
      return block.thinking === '' ? html`` : folded('Thinking', html`<pre>${block.thinking}</pre>`);
    case 'tool_use': {
      const result = results.get(block.id);
      const run = runs.get(block.id);
      const isBad = !result || result.is_error === true;
      const state = isBad ? html` <span class="bad">${result ? 'failed' : 'no result'}</span>` : html``;
      const link = run === undefined ? html`` : html` <a href="#run-${run}">timeline</a>`;
      return html`<details><summary><span class="name">${describeCall(block)}</span>${state}${link}</summary><pre>${JSON.stringify(block.input, null, 2)}</pre>${result ? html`<pre>${getText(result.content ?? '')}</pre>` : undefined}</details>`;
    }
    default:
      return html``;
  }
}

function folded(title: string, body: Html): Html {
  return html`<details><summary class="dim">${title}</summary>${body}</details>`;
}

function countImages(content: Message['content']): string {
  const images = typeof content === 'string' ? 0 : content.filter(({type}) => type === 'image').length;
  return images === 0 ? '' : `\n[${formatCount(images, 'image')}, not in this file]`;
}

function formatTime(at: string): string {
  return new Date(at).toLocaleTimeString('en-GB', {hour: '2-digit', minute: '2-digit'});
}

/** Inputs that describe a call best, in order of preference. */
const TELLING = ['description', 'command', 'path', 'file_path', 'pattern', 'url', 'query', 'name'];
const MAX_CHARS = 120;

/** Describes a tool call in one line, e.g. `read_file src/a.ts`. */
export function describeCall({name, input}: {readonly name: string; readonly input: unknown}): string {
  const fields = typeof input === 'object' && input !== null ? (input as Readonly<Record<string, unknown>>) : {};
  const told = TELLING.map((key) => fields[key]).find((value) => typeof value === 'string' && value !== '');
  return toShortLine(toOneLine(typeof told === 'string' ? `${name} ${told}` : name), MAX_CHARS);
}
