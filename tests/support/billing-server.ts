/**
 * A model server that keeps books: for each request the tokens of its input, and the characters of the reply that went
 * out before the connection ended. What was spent is calculated from these books alone.
 */
import {createServer, type ServerResponse} from 'node:http';
import type {AddressInfo} from 'node:net';
import type {MessagesBody} from './messages-server.ts';
import type {ScriptedBlock} from './scripted-replies.ts';
import {pause} from './wait.ts';

/** Dollars for a million tokens. */
export const PRICE = {input: 2, output: 10};
const CHARS_PER_TOKEN = 4;

export interface BilledReply {
  /** Tokens of the request, as the server counts them. */
  readonly input: number;
  readonly blocks: readonly ScriptedBlock[];
  /** Characters of a text that go out at once, and the milliseconds between. Default: all at once. */
  readonly pace?: {readonly chars: number; readonly ms: number};
  /** The connection breaks after so many characters. */
  readonly breaksAt?: number;
}

interface Bill {
  readonly input: number;
  chars: number;
}

export interface BillingServer {
  readonly url: string;
  readonly bills: readonly Bill[];
  /** US dollars, by the books. */
  readonly spentUsd: number;
  close(): Promise<void>;
}

export async function startBillingServer(script: (body: MessagesBody) => BilledReply): Promise<BillingServer> {
  const bills: Bill[] = [];
  const server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    request.on('end', () => {
      if (request.method !== 'POST' || request.url?.startsWith('/v1/messages/'))
        return void response.writeHead(404).end();
      const reply = script(JSON.parse(text) as MessagesBody);
      const bill = {input: reply.input, chars: 0};
      bills.push(bill);
      void send(response, reply, bill);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    bills,
    get spentUsd() {
      const usd = ({input, chars}: Bill) => input * PRICE.input + Math.ceil(chars / CHARS_PER_TOKEN) * PRICE.output;
      return bills.reduce((sum, bill) => sum + usd(bill), 0) / 1_000_000;
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

async function send(response: ServerResponse, reply: BilledReply, bill: Bill): Promise<void> {
  const write = (event: {readonly type: string} & Record<string, unknown>) =>
    new Promise<void>((resolve) => {
      response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`, () => resolve());
    });
  const usage = {
    input_tokens: reply.input,
    output_tokens: 1,
    cache_read_input_tokens: 0,
    cache_creation_input_tokens: 0,
  };
  const message = {id: `msg_${Math.random()}`, type: 'message', role: 'assistant', model: 'm', content: [], usage};
  response.writeHead(200, {'content-type': 'text/event-stream'});
  await write({type: 'message_start', message});
  for (const [index, block] of reply.blocks.entries()) {
    const isCall = block.type === 'tool_use';
    const whole = isCall ? JSON.stringify(block.input) : block.type === 'text' ? block.text : '';
    const content_block = isCall ? {...block, input: {}} : {type: 'text', text: ''};
    await write({type: 'content_block_start', index, content_block});
    const {chars, ms} = reply.pace ?? {chars: whole.length, ms: 0};
    for (let at = 0; at < whole.length; at += chars) {
      if (response.destroyed) return;
      const part = whole.slice(at, at + chars);
      const delta = isCall ? {type: 'input_json_delta', partial_json: part} : {type: 'text_delta', text: part};
      await write({type: 'content_block_delta', index, delta});
      if (response.destroyed) return;
      bill.chars += part.length;
      if (bill.chars >= (reply.breaksAt ?? Number.POSITIVE_INFINITY)) {
        // What is written is read before the connection breaks, also on a busy machine.
        await pause(500, 'no sign of it comes back');
        return void response.destroy();
      }
      if (ms > 0) await pause(ms, 'the script wants a slow model');
    }
    await write({type: 'content_block_stop', index});
  }
  const stop_reason = reply.blocks.some(({type}) => type === 'tool_use') ? 'tool_use' : 'end_turn';
  const output_tokens = Math.max(1, Math.ceil(bill.chars / CHARS_PER_TOKEN));
  await write({type: 'message_delta', delta: {stop_reason}, usage: {output_tokens}});
  await write({type: 'message_stop'});
  response.end();
}
