/**
 * Finds what a list of sessions shows of each session in the bytes of its transcript, because parsing all lines would
 * take seconds.
 */
import {readFileSync} from 'node:fs';
import {getText} from '../../core/util/messages.ts';
import {ignoreUnreadable, parseEntry} from './transcript.ts';

/** `TranscriptWriter` begins each line of a message with this. */
const MESSAGE = Buffer.from('\n{"type":"message"');
/** It occurs only in a line of a prompt, or in the input of a tool. */
const PROMPT = Buffer.from('"prompt":true');
const NEWLINE = 0x0a;

/**
 * @returns `prompt`: the first prompt, empty when there is none. `messages`: the number of lines with messages,
 * including rewound ones.
 */
export function summarizeTranscript(file: string): {readonly messages: number; readonly prompt: string} {
  const bytes = ignoreUnreadable(() => readFileSync(file)) ?? Buffer.alloc(0);
  let messages = 0;
  let first: number | undefined;
  for (let at = bytes.indexOf(MESSAGE); at >= 0; at = bytes.indexOf(MESSAGE, at + 1)) {
    first ??= at + 1;
    messages += 1;
  }
  return {messages, prompt: findPrompt(bytes) ?? (first === undefined ? '' : readText(bytes, first))};
}

function findPrompt(bytes: Buffer): string | undefined {
  for (let at = bytes.indexOf(PROMPT); at >= 0; at = bytes.indexOf(PROMPT, at + 1)) {
    const entry = parseEntry(readLine(bytes, bytes.lastIndexOf(NEWLINE, at) + 1));
    if (entry?.type === 'message' && entry.prompt) return getText(entry.message.content);
  }
  return undefined;
}

function readText(bytes: Buffer, start: number): string {
  const entry = parseEntry(readLine(bytes, start));
  return entry?.type === 'message' ? getText(entry.message.content) : '';
}

function readLine(bytes: Buffer, start: number): string {
  const end = bytes.indexOf(NEWLINE, start);
  return bytes.toString('utf8', start, end < 0 ? bytes.length : end);
}
