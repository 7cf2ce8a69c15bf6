/**
 * Exchanges messages with a server over its standard input and output, one JSON object a line. The bytes that a server
 * may send between two answers are limited, and a server that sends more is ended.
 */
import {once} from 'node:events';
import {setTimeout} from 'node:timers/promises';
import type {JSONRPCMessage, Transport} from '@modelcontextprotocol/client';
import {inBackground, neverRejects} from '../../core/util/background.ts';
import {MiniCcError} from '../../core/util/errors.ts';
import {toOneLine} from '../../core/util/text.ts';
import {type RunningServer, type ServerProgram, startServer} from '../../sandbox/launch/run-server.ts';

/** Maximal bytes of one message. */
const MAX_LINE_BYTES = 100 * 1024 * 1024;
/** Maximal bytes that the server may send between two answers. */
const MAX_UNASKED_BYTES = 200 * 1024 * 1024;
/** Characters from the end of standard error that are stored for messages. */
const MAX_STDERR_CHARS = 2_000;

export class StdioTransport implements Transport {
  onclose?: () => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #program: ServerProgram;
  #server: RunningServer | undefined;
  #parts: Buffer[] = [];
  #lineBytes = 0;
  #unaskedBytes = 0;
  /** Ids of requests that wait for an answer. */
  readonly #asked = new Set<unknown>();
  #stderr = '';
  #isClosed = false;
  /** Why the server was ended. */
  #fault: string | undefined;
  #end: string | undefined;

  constructor(program: ServerProgram) {
    this.#program = program;
  }

  /** Describes in one line how the server ended and what it last wrote to standard error; empty while it runs. */
  get ending(): string {
    const how = this.#fault ?? this.#end;
    if (how === undefined) return '';
    const said = toOneLine(this.#stderr.trim().split('\n').slice(-3).join(' '));
    return said === '' ? how : `${how}: ${said}`;
  }

  async start(): Promise<void> {
    const server = await startServer(this.#program);
    this.#server = server;
    server.stderr.on('data', (bytes: Buffer) => {
      this.#stderr = (this.#stderr + bytes.toString()).slice(-MAX_STDERR_CHARS);
    });
    server.stdout.on('data', (bytes: Buffer) => this.#read(bytes));
    inBackground(this.#closeAfter(server), neverRejects);
  }

  async #closeAfter(server: RunningServer): Promise<void> {
    this.#end = await server.ended;
    // Output from just before the end may still arrive.
    if (!server.stdout.readableEnded) await Promise.race([once(server.stdout, 'close'), setTimeout(100)]);
    this.#close();
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#isClosed || !this.#server) throw new MiniCcError('MCP_CLOSED', 'the server has ended');
    if ('method' in message && 'id' in message) this.#asked.add(message.id);
    this.#server.stdin.write(`${JSON.stringify(message)}\n`);
  }

  async close(): Promise<void> {
    await this.#server?.end();
    this.#close();
  }

  #close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.onclose?.();
  }

  #read(bytes: Buffer): void {
    if (this.#fault !== undefined) return;
    this.#unaskedBytes += bytes.length;
    let rest = bytes;
    for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
      const line = Buffer.concat([...this.#parts, rest.subarray(0, end)]).toString();
      this.#parts = [];
      this.#lineBytes = 0;
      rest = rest.subarray(end + 1);
      this.#take(line);
    }
    if (rest.length > 0) this.#parts.push(rest);
    this.#lineBytes += rest.length;
    if (this.#lineBytes > MAX_LINE_BYTES) this.#cutOff('it sent a message of more than 100 MB');
    else if (this.#unaskedBytes > MAX_UNASKED_BYTES) this.#cutOff('it sent more than 200 MB without an answer');
  }

  #take(line: string): void {
    if (!line.trimStart().startsWith('{')) return;
    let message: JSONRPCMessage;
    try {
      message = JSON.parse(line);
    } catch {
      // Some servers print other text to standard output.
      return;
    }
    if (!('method' in message) && this.#asked.delete(message.id)) this.#unaskedBytes = 0;
    this.onmessage?.(message);
  }

  #cutOff(why: string): void {
    this.#fault = why;
    this.#parts = [];
    inBackground(this.close(), neverRejects);
  }
}
