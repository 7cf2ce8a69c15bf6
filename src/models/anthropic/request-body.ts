/**
 * The bodies of requests. A history is sent again with each request: as one string, of which the SDK and `fetch` make
 * further copies, it is most of the garbage of a long session. Here each message becomes JSON once, a buffer that later
 * requests use again takes the whole, which `fetch` does not copy.
 */
import type {Anthropic} from '@anthropic-ai/sdk';
import type {Message} from '../../core/contract/model.ts';

type Params = Anthropic.MessageCreateParamsStreaming;

export interface RequestBody {
  readonly bytes: Uint8Array;
  /** To be called once the reply has come whole: the next request may use the buffer. */
  readonly release: () => void;
}

const FIRST_BYTES = 64 * 1024;
/** Larger ones, which have images, are not kept. */
const MAX_KEPT_BYTES = 2 * 1024 * 1024;
/** Agents that run at the same time have one each. */
const MAX_KEPT = 4;

export class RequestBuffers {
  readonly #free: Buffer[] = [];
  readonly #json = new WeakMap<Message, string>();

  /** @param params its messages are those of a history, which do not change, or copies with marks */
  create({messages, ...others}: Params): RequestBody {
    const text = new TextBuffer(this.#free.pop());
    text.add(JSON.stringify(others).slice(0, -1));
    text.add(',"messages":[');
    for (const [index, message] of messages.entries()) {
      if (index > 0) text.add(',');
      text.add(this.#toJson(message));
    }
    text.add(']}');
    const {bytes} = text;
    return {bytes, release: () => this.#keep(text.buffer)};
  }

  #toJson(message: Message): string {
    const known = this.#json.get(message);
    if (known !== undefined) return known;
    const json = JSON.stringify(message);
    this.#json.set(message, json);
    return json;
  }

  #keep(buffer: Buffer): void {
    if (this.#free.length < MAX_KEPT && buffer.length <= MAX_KEPT_BYTES) this.#free.push(buffer);
  }
}

class TextBuffer {
  #length = 0;

  constructor(public buffer: Buffer = Buffer.allocUnsafeSlow(FIRST_BYTES)) {}

  add(text: string): void {
    // No UTF-16 unit takes more than three bytes.
    const needed = this.#length + 3 * text.length;
    if (needed > this.buffer.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.buffer.length));
      this.buffer.copy(larger, 0, 0, this.#length);
      this.buffer = larger;
    }
    this.#length += this.buffer.write(text, this.#length);
  }

  get bytes(): Uint8Array {
    return this.buffer.subarray(0, this.#length);
  }
}
