/** Formats answers: the notice, failures, citations, lists, code blocks. */
import {getExtension} from '../core/util/file-kinds.ts';
import type {Fact} from '../core/util/manifests.ts';
import {toOneLine, toShortLine} from '../core/util/text.ts';
import type {Hit, Line} from './results.ts';
import type {Observation} from './skill.ts';

/** Starts an answer, or a part of one, that says what could not be done. */
export const OFFLINE_CANNOT = 'I cannot do this offline:';

/** Stands below the first answer of a conversation. */
export const OFFLINE_NOTICE =
  '(offline model: rule-based. ANTHROPIC_API_KEY or ANTHROPIC_BASE_URL sets up a real one.)';

export const HOW_TO_SET_UP =
  'To set up a real model: `export ANTHROPIC_API_KEY=…`, or for one on this machine: `mini-cc --model ollama/qwen3`.';

/**
 * Formats the answer to a request that needs a language model: the reason, related findings, and how to set up a model.
 */
export function cannot(reason: string, found = ''): string {
  return paragraphs(`${OFFLINE_CANNOT} ${reason}`, found, HOW_TO_SET_UP);
}

/** Like `cannot`, for failures that a language model could not avoid: the file does not exist, a tool failed. */
export function notDone(reason: string, found = ''): string {
  // A tool's message may end in a question, such as "Did you mean a.ts?".
  return paragraphs(`${OFFLINE_CANNOT} ${reason.replace(/([?!])\.$/, '$1')}`, found);
}

export function isCannot(text: string): boolean {
  return text.startsWith(OFFLINE_CANNOT);
}

/** Joins answers. Failures come first, so that the reader sees them. */
export function joinAnswers(answers: readonly string[]): string {
  return paragraphs(...answers.toSorted((a, b) => Number(isCannot(b)) - Number(isCannot(a))));
}

/** Formats the answer after a call was denied. @param call the denied call in a few words */
export function notPermitted(call: string, reason: string): string {
  return `The call of ${call} ${NOT_PERMITTED}. Reason: ${reason.replace('Permission denied: ', '')}`;
}

const NOT_PERMITTED = 'was not permitted, so I did not go on';

/** Returns whether the answer says that a part of the request was not done, which makes the run fail. */
export function saysUnable(text: string): boolean {
  return text.split('\n').some((line) => isCannot(line) || line.includes(NOT_PERMITTED));
}

/** Returns why a call gave nothing, in one line without a full stop. */
export function getReason(observation: Observation): string {
  const lines = observation.text.split('\n').map((line) => line.trim());
  const first = lines.find((line) => line !== '' && !/^exit code \d+$/i.test(line)) ?? 'the tool gave nothing';
  return clip(first.replace(/^(the search failed|error): /i, ''), 200).replace(/[.\s]+$/, '');
}

/** Formats `src/a.ts:12 — `, the kind if there is one, and the line of code. */
export function citeHit({path, line, text, kind}: Hit & {readonly kind?: string | undefined}): string {
  return `${path}:${line} — ${kind === undefined ? '' : `${kind} · `}${code(text)}`;
}

/** Formats what a manifest says: `package.json:12 — `, the name, and the value if there is one. */
export function citeFact(path: string, {line, name, value, isUsual}: Fact): string {
  return `${path}:${line} — ${isUsual ? 'usual with this file: ' : ''}\`${name}\`${value ? `: ${code(value)}` : ''}`;
}

/** Formats the first eight lines as a quotation. */
export function quoteLines(text: string): string {
  const lines = text.split('\n').slice(0, 8);
  return lines.map((line) => `> ${line}`).join('\n');
}

/** Formats a line of code in backticks, shortened to 140 characters. */
export function code(text: string): string {
  const flat = clip(text.trim(), 140);
  return flat.includes('`') ? `\`\` ${flat} \`\`` : `\`${flat}\``;
}

export const clip = toShortLine;

export function bullets(items: readonly string[], limit = items.length, more = 0): string {
  const rest = items.length - Math.min(limit, items.length) + more;
  const shown = items.slice(0, limit).map((item) => `- ${item}`);
  return [...shown, ...(rest > 0 ? [`- … and ${count(rest, 'more', 'more')}`] : [])].join('\n');
}

export function paragraphs(...parts: readonly (string | undefined | false)[]): string {
  return parts.filter((part): part is string => typeof part === 'string' && part.trim() !== '').join('\n\n');
}

export function count(number: number, one: string, many = `${one}s`): string {
  return `${number.toLocaleString('en-US')} ${number === 1 ? one : many}`;
}

/**
 * Formats "3 files", or "at least 3 files" when the total is unknown.
 * @param more number of items that the tool did not list; undefined when unknown
 */
export function countListed(listed: number, more: number | undefined, one: string, many?: string): string {
  return more === undefined ? `at least ${count(listed, one, many)}` : count(listed + more, one, many);
}

/** Formats the text as a code block. Its fence is longer than any fence in the text. */
export function fenced(text: string, language = ''): string {
  const longest = Math.max(2, ...[...text.matchAll(/`{3,}/g)].map((run) => run[0].length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}`;
}

/** Formats lines of a file as a code block with their numbers. */
export function formatLines(lines: readonly Line[], path: string): string {
  const width = String(lines.at(-1)?.number ?? 1).length;
  const numbered = lines.map((line) => `${String(line.number).padStart(width)}  ${line.text}`);
  return fenced(numbered.join('\n'), getExtension(path));
}

export function firstSentence(text: string): string {
  const flat = toOneLine(text);
  const end = /[.!?。！？](?=\s|$)/.exec(flat);
  return clip(end ? flat.slice(0, end.index + 1) : flat, 220);
}
