/**
 * Captures the output of a command in limited memory: a short output as a whole, a longer one as head and tail, with a
 * file for the whole.
 */
import {stripVTControlCharacters} from 'node:util';
import type {OutputFile} from '../../core/contract/results.ts';
import {getErrorMessage} from '../../core/util/errors.ts';
import {joinCut} from '../../core/util/tool-output.ts';

/** Limit in bytes of the file with the whole output. */
const MAX_FILE_BYTES = 64 * 1024 * 1024;

export class OutputCapture {
  readonly #maxChars: number;
  readonly #openFile: () => OutputFile;
  #keepsAll: boolean;
  /** The whole output while it is within the limit, then empty. */
  #whole = '';
  #head = '';
  #tail = '';
  #total = 0;
  #lineEnds = 0;
  #endsLine = true;
  #isCut = false;
  #file: OutputFile | undefined;
  #fileBytes = 0;
  #fileNote = '';
  #pending = '';

  /**
   * @param openFile called once, when the output is longer than `maxChars` characters, or with the first output when
   * `keepsAll` is set
   * @param keepsAll whether the file also gets a short output, as it comes
   */
  constructor(maxChars: number, openFile: () => OutputFile, {keepsAll = false} = {}) {
    this.#maxChars = maxChars;
    this.#openFile = openFile;
    this.#keepsAll = keepsAll;
  }

  /**
   * Adds a chunk, which may begin or end inside an escape sequence.
   * @returns the text up to the last whole escape sequence, including escape sequences
   */
  write(chunk: string): string {
    const {ready, pending} = splitAtOpenEscape(this.#pending + chunk);
    this.#pending = pending;
    this.#keep(plainText(ready));
    return ready;
  }

  /** Lets the file get the whole output from now on, including the output so far. */
  keepAll(): void {
    if (!this.#keepsAll && this.#whole !== '') this.#toFile(this.#whole);
    this.#keepsAll = true;
  }

  get lines(): number {
    return this.#lineEnds + (this.#endsLine ? 0 : 1);
  }

  /** Ends the capture. @returns the text for the model: at most `maxChars` characters and one line about the rest */
  end(): string {
    this.#keep(plainText(this.#pending));
    this.#pending = '';
    this.#file?.close();
    if (!this.#isCut) return this.#whole;
    const missing = this.#total - this.#head.length - this.#tail.length;
    return joinCut(this.#head.toWellFormed(), this.#tail.toWellFormed(), missing, this.#describeFile());
  }

  #keep(text: string): void {
    if (text === '') return;
    this.#total += text.length;
    this.#endsLine = text.endsWith('\n');
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) this.#lineEnds += 1;
    const half = this.#maxChars / 2;
    if (this.#isCut || this.#keepsAll) this.#toFile(text);
    if (this.#isCut) {
      this.#tail = (this.#tail + text).slice(-half);
      return;
    }
    this.#whole += text;
    if (this.#whole.length <= this.#maxChars) return;
    this.#isCut = true;
    this.#head = this.#whole.slice(0, half);
    this.#tail = this.#whole.slice(-half);
    if (!this.#keepsAll) this.#toFile(this.#whole);
    this.#whole = '';
  }

  /** An error such as a full disk does not end the command. The result reports it. */
  #toFile(text: string): void {
    if (this.#fileNote !== '') return;
    try {
      this.#file ??= this.#openFile();
      const bytes = Buffer.byteLength(text);
      const left = MAX_FILE_BYTES - this.#fileBytes;
      this.#file.write(bytes <= left ? text : Buffer.from(text).subarray(0, left).toString('utf8'));
      this.#fileBytes += Math.min(bytes, left);
      if (bytes > left) this.#fileNote = `only its first ${Math.round(MAX_FILE_BYTES / 1024 / 1024)} MB`;
    } catch (error) {
      this.#fileNote = `incomplete: ${getErrorMessage(error)}`;
    }
  }

  #describeFile(): string {
    if (this.#file === undefined) return `not kept (${this.#fileNote})`;
    return this.#fileNote === '' ? this.#file.path : `${this.#file.path} (${this.#fileNote})`;
  }
}

/** Matches an incomplete escape sequence at the end of the text. */
const OPEN_ESCAPE = /\u001b(?:\][^\u0007\u001b]*\u001b?|\[[0-?]*[ -/]*|[ -/]*)$/;
/** Longest escape sequence in characters. No more than this waits for the end of a sequence. */
const MAX_ESCAPE = 1024;

function splitAtOpenEscape(text: string): {ready: string; pending: string} {
  if (!text.includes('\u001b', text.length - MAX_ESCAPE)) return {ready: text, pending: ''};
  const from = Math.max(0, text.length - MAX_ESCAPE);
  const open = OPEN_ESCAPE.exec(text.slice(from));
  if (!open) return {ready: text, pending: ''};
  return {ready: text.slice(0, from + open.index), pending: text.slice(from + open.index)};
}

/** Matches window titles and links. They may contain spaces, which Node's own pattern does not match. */
const OPERATING_SYSTEM_COMMAND = /\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)/g;

/** Removes colours and other escape sequences, which cost tokens, and NUL, which requests may not contain. */
export function plainText(text: string): string {
  const visible = text.includes('\u001b') ? stripVTControlCharacters(text.replace(OPERATING_SYSTEM_COMMAND, '')) : text;
  return visible.includes('\0') ? visible.replaceAll('\0', '') : visible;
}
