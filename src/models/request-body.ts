/**
 * Options of one call with a client of the SDKs. What `createFetch` takes goes past the client: its `body` takes no pieces,
 * and what it gets with a `signal` is registered for finalization, so that V8 keeps it until a full collection.
 */
interface SentOptions {
  readonly headers: Readonly<Record<string, string>>;
  readonly fetchOptions: object;
}

/** The bytes of the messages with which each request of a conversation begins. */
interface Beginning {
  /** Messages of the last request. */
  sent: readonly object[];
  /** How many of them are encoded in `bytes`, each before a comma. */
  count: number;
  bytes: Uint8Array;
  length: number;
}

/** Share of the bytes that a beginning has for messages to come. */
const SPARE = 0.25;

/**
 * Encodes the bodies of requests. Each request repeats the conversation, so the bytes of what stays the same are kept, and
 * only the end is encoded. Encoding the whole at each call would leave garbage of its size, for which V8 enlarges the heap.
 */
export class RequestEncoder {
  /** By the first message of a conversation. */
  readonly #beginnings = new WeakMap<object, Beginning>();

  /**
   * @param params are sent as `JSON.stringify` writes them, with the messages at the end
   * @param ending aborts the call
   */
  encode(params: {readonly messages: readonly object[]}, ending: AbortSignal): SentOptions {
    const {messages, ...rest} = params;
    const start = UTF8.encode(JSON.stringify({...rest, messages: []}).slice(0, -']}'.length));
    const {bytes, length, count} = this.#findBeginning(messages);
    const end = UTF8.encode(`${JSON.stringify(messages.slice(count)).slice(1)}}`);
    const body = [start, bytes.subarray(0, length), end];
    return {headers: {'content-type': 'application/json'}, fetchOptions: {body, ending}};
  }

  /** Messages that two requests in a row begin with stay at the beginning. The last one is in no beginning. */
  #findBeginning(messages: readonly object[]): Beginning {
    const [first] = messages;
    if (!first) return createBeginning();
    let beginning = this.#beginnings.get(first) ?? createBeginning();
    const {sent} = beginning;
    let same = 0;
    while (same < messages.length - 1 && messages[same] === sent[same]) same += 1;
    if (same < beginning.count) beginning = createBeginning();
    for (const message of messages.slice(beginning.count, same)) append(beginning, message);
    beginning.sent = messages;
    this.#beginnings.set(first, beginning);
    return beginning;
  }
}

function createBeginning(): Beginning {
  return {sent: [], count: 0, bytes: new Uint8Array(0), length: 0};
}

/** Bytes that an earlier request may still be sending do not change. */
function append(beginning: Beginning, message: object): void {
  const added = UTF8.encode(`${JSON.stringify(message)},`);
  const length = beginning.length + added.length;
  if (length > beginning.bytes.length) {
    const bytes = new Uint8Array(Math.ceil(length * (1 + SPARE)));
    bytes.set(beginning.bytes.subarray(0, beginning.length));
    beginning.bytes = bytes;
  }
  beginning.bytes.set(added, beginning.length);
  beginning.length = length;
  beginning.count += 1;
}

const UTF8 = new TextEncoder();
