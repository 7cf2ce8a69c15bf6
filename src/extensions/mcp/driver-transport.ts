/** Exchanges messages with a server that runs in the process of the program that drives the session. */

import type {ElicitRequest, ElicitResult, JSONRPCMessage, Tool, Transport} from '@modelcontextprotocol/client';
import {inBackground, neverRejects} from '../../core/util/background.ts';
import {getErrorMessage} from '../../core/util/errors.ts';
import {isObject} from '../../core/util/objects.ts';

export interface DriverServers {
  readonly names: readonly string[];
  /** Returns the tools that the driver sent at the start. They are known before the server starts. */
  getTools(server: string): readonly Tool[];
  /** @returns the answer to a request @throws Error when the driver has none */
  send(server: string, message: object): Promise<unknown>;
  /** Lets the driver answer what a server wants to know of the person. Never rejects. */
  elicit(server: string, params: ElicitRequest['params'], signal: AbortSignal): Promise<ElicitResult>;
  /** Calls the listener with each message that the server sends by itself. @returns a function that stops this */
  listen(server: string, listener: (message: object) => void): () => void;
}

const INTERNAL_ERROR = -32_603;

export class DriverTransport implements Transport {
  onclose?: () => void;
  onmessage?: (message: JSONRPCMessage) => void;
  #stop: (() => void) | undefined;

  constructor(
    private readonly driver: DriverServers,
    private readonly server: string,
  ) {}

  async start(): Promise<void> {
    this.#stop = this.driver.listen(this.server, (message) => this.onmessage?.(message as JSONRPCMessage));
  }

  /** Sends a message without waiting for the answer, for which the client has its own time limit. */
  async send(message: JSONRPCMessage): Promise<void> {
    const sent = this.driver.send(this.server, message);
    if (!('id' in message && 'method' in message)) {
      // The driver answers only requests.
      inBackground(sent, () => undefined);
      return;
    }
    const {id} = message;
    const answered = sent.then(
      (answer) => isObject(answer) && this.onmessage?.({...answer, jsonrpc: '2.0', id} as JSONRPCMessage),
      (error: unknown) =>
        this.onmessage?.({jsonrpc: '2.0', id, error: {code: INTERNAL_ERROR, message: getErrorMessage(error)}}),
    );
    inBackground(answered, neverRejects);
  }

  async close(): Promise<void> {
    if (!this.#stop) return;
    this.#stop();
    this.#stop = undefined;
    this.onclose?.();
  }
}
