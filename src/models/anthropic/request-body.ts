/**
 * Encodes the bodies of requests. Each request contains the whole history. As one string, which the SDK and `fetch`
 * copy again, it is most of the garbage of a long session. Here a buffer stores the last request of a history, and the
 * next request encodes only its new messages.
 */
import type {Anthropic} from '@anthropic-ai/sdk';
import type {Message} from '../../core/contract/model.ts';

type Params = Anthropic.MessageCreateParamsStreaming;

export interface RequestBody {
  readonly bytes: Uint8Array;
  /** Must be called when the reply is complete. The next request may then use the buffer. */
  readonly release: () => void;
}

const FIRST_BYTES = 64 * 1024;
/** Maximal bytes of a buffer that is stored. Larger ones contain images. */
const MAX_KEPT_BYTES = 2 * 1024 * 1024;
/** Maximal number of stored buffers. Agents that run at the same time use one each. */
const MAX_KEPT = 4;

export class RequestBuffers {
  readonly #free: RequestBuffer[] = [];
  #encoded = 0;

  /** Number of characters that all requests have encoded so far. */
  get encoded(): number {
    return this.#encoded;
  }

  /** @param params its messages are unchanging ones of a history, or copies with marks */
  create({messages, ...others}: Params): RequestBody {
    const head = `${JSON.stringify(others).slice(0, -1)},"messages":[`;
    const buffer = this.#take(head, messages);
    this.#encoded += buffer.write(head, messages);
    return {bytes: buffer.bytes, release: () => this.#keep(buffer)};
  }

  /**
   * Takes the free buffer that contains the previous request. When there is none, it takes a new one or the one with
   * the least content.
   */
  #take(head: string, messages: readonly Message[]): RequestBuffer {
    const known = this.#free.map((buffer) => buffer.countKnown(head, messages));
    const most = Math.max(0, ...known);
    if (most === 0 && this.#free.length < MAX_KEPT) return new RequestBuffer();
    const lengths = this.#free.map(({bytes}) => bytes.length);
    const index = most > 0 ? known.indexOf(most) : lengths.indexOf(Math.min(...lengths));
    return this.#free.splice(index, 1)[0]!;
  }

  #keep(buffer: RequestBuffer): void {
    if (this.#free.length < MAX_KEPT && buffer.size <= MAX_KEPT_BYTES) this.#free.push(buffer);
  }
}

class RequestBuffer {
  #buffer: Buffer = Buffer.allocUnsafeSlow(FIRST_BYTES);
  #length = 0;
  #head = '';
  /** The messages in the buffer, and the end of each. */
  readonly #messages: Message[] = [];
  readonly #ends: number[] = [];

  /** Capacity in bytes. */
  get size(): number {
    return this.#buffer.length;
  }

  get bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.#length);
  }

  /** Counts how many of the first messages are in the buffer already. */
  countKnown(head: string, messages: readonly Message[]): number {
    if (head !== this.#head) return 0;
    const different = this.#messages.findIndex((message, index) => message !== messages[index]);
    return different === -1 ? this.#messages.length : different;
  }

  /** Writes this request into the buffer. @returns the number of characters that were encoded */
  write(head: string, messages: readonly Message[]): number {
    const known = this.countKnown(head, messages);
    let encoded = 0;
    const add = (text: string) => {
      this.#add(text);
      encoded += text.length;
    };
    this.#messages.length = known;
    this.#ends.length = known;
    this.#length = this.#ends.at(-1) ?? 0;
    if (known === 0) add(head);
    this.#head = head;
    for (const message of messages.slice(known)) {
      if (this.#messages.length > 0) add(',');
      add(JSON.stringify(message));
      this.#messages.push(message);
      this.#ends.push(this.#length);
    }
    add(']}');
    return encoded;
  }

  #add(text: string): void {
    // No UTF-16 unit takes more than three bytes.
    const needed = this.#length + 3 * text.length;
    if (needed > this.#buffer.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.#buffer.length));
      this.#buffer.copy(larger, 0, 0, this.#length);
      this.#buffer = larger;
    }
    this.#length += this.#buffer.write(text, this.#length);
  }
}
