/** What a command prints, in bounded memory: all of it while it is short, else head and tail, and the whole in a file. */
import {stripVTControlCharacters} from 'node:util';
import type {OutputFile} from '../../core/contract/tool-result.ts';
import {getErrorMessage} from '../../core/util/errors.ts';
import {joinCut} from '../../core/util/tool-output.ts';

/** The file that keeps the whole is bounded as well. */
export const MAX_FILE_BYTES = 64 * 1024 * 1024;

export class OutputCapture {
  readonly #maxChars: number;
  readonly #openFile: () => OutputFile;
  readonly #maxFileBytes: number;
  /** All there is, until it passes the cap; empty from then on. */
  #whole = '';
  #head = '';
  #tail = '';
  #total = 0;
  #isCut = false;
  #file: OutputFile | undefined;
  #fileBytes = 0;
  #fileNote = '';
  #held = '';

  /** @param openFile called once, when the output passes `maxChars` characters. */
  constructor(maxChars: number, openFile: () => OutputFile, maxFileBytes = MAX_FILE_BYTES) {
    this.#maxChars = maxChars;
    this.#openFile = openFile;
    this.#maxFileBytes = maxFileBytes;
  }

  /** Takes a chunk, whose borders may lie within an escape sequence. @returns its plain text. */
  write(chunk: string): string {
    const {ready, held} = splitAtOpenEscape(this.#held + chunk);
    this.#held = held;
    const text = plainText(ready);
    this.#keep(text);
    return text;
  }

  /** Ends the capture. @returns what the model reads: at most `maxChars` characters and one line about the rest. */
  end(): string {
    this.#keep(plainText(this.#held));
    this.#held = '';
    this.#file?.close();
    if (!this.#isCut) return this.#whole;
    const missing = this.#total - this.#head.length - this.#tail.length;
    return joinCut(this.#head.toWellFormed(), this.#tail.toWellFormed(), missing, this.#whereTheWholeIs());
  }

  #keep(text: string): void {
    if (text === '') return;
    this.#total += text.length;
    const half = this.#maxChars / 2;
    if (this.#isCut) {
      this.#tail = (this.#tail + text).slice(-half);
      this.#toFile(text);
      return;
    }
    this.#whole += text;
    if (this.#whole.length <= this.#maxChars) return;
    this.#isCut = true;
    this.#head = this.#whole.slice(0, half);
    this.#tail = this.#whole.slice(-half);
    this.#toFile(this.#whole);
    this.#whole = '';
  }

  /** A full disk must not end the command: it is said in the result. */
  #toFile(text: string): void {
    if (this.#fileNote !== '') return;
    try {
      this.#file ??= this.#openFile();
      const bytes = Buffer.byteLength(text);
      const room = this.#maxFileBytes - this.#fileBytes;
      this.#file.write(bytes <= room ? text : Buffer.from(text).subarray(0, room).toString('utf8'));
      this.#fileBytes += Math.min(bytes, room);
      if (bytes > room) this.#fileNote = `only its first ${Math.round(this.#maxFileBytes / 1024 / 1024)} MB`;
    } catch (error) {
      this.#fileNote = `incomplete: ${getErrorMessage(error)}`;
    }
  }

  #whereTheWholeIs(): string {
    if (this.#file === undefined) return `not kept (${this.#fileNote})`;
    return this.#fileNote === '' ? this.#file.path : `${this.#file.path} (${this.#fileNote})`;
  }
}

/** `ESC` and what may follow it while the sequence is not complete, at the end of the text. */
const OPEN_ESCAPE = /\u001b(?:\][^\u0007\u001b]*\u001b?|\[[0-?]*[ -/]*|[ -/]*)$/;
/** No sequence is longer; also bounds what is held back of one that never ends. */
const MAX_ESCAPE = 1024;

function splitAtOpenEscape(text: string): {ready: string; held: string} {
  if (!text.includes('\u001b', text.length - MAX_ESCAPE)) return {ready: text, held: ''};
  const from = Math.max(0, text.length - MAX_ESCAPE);
  const open = OPEN_ESCAPE.exec(text.slice(from));
  if (!open) return {ready: text, held: ''};
  return {ready: text.slice(0, from + open.index), held: text.slice(from + open.index)};
}

/** Titles and links may hold spaces, which Node's own pattern does not expect. */
const OPERATING_SYSTEM_COMMAND = /\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)/g;

/** Without colours and other escape sequences, which cost tokens, and without NUL, which no request may hold. */
function plainText(text: string): string {
  const visible = text.includes('\u001b') ? stripVTControlCharacters(text.replace(OPERATING_SYSTEM_COMMAND, '')) : text;
  return visible.includes('\0') ? visible.replaceAll('\0', '') : visible;
}
