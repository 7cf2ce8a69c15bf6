/**
 * Signs all messages of the queue by HMAC-SHA256 with the secret that both sides share. A person who reaches the Redis
 * server without knowing the secret can give neither work to a worker nor a patch to a workspace.
 */
import {createHmac, randomUUID, timingSafeEqual} from 'node:crypto';
import {z} from 'zod';
import {MiniCcError} from '../../core/util/errors.ts';

/** Version of the format of all messages. Raise it when an older worker could not do what a job asks for. */
export const PROTOCOL = 2;

/** Purpose of a message. A message of one kind is never accepted as one of another kind. */
type MessageKind = 'job' | 'event' | 'control' | 'result' | 'declined';

const signedSchema = z.object({
  protocol: z.number(),
  kind: z.string().max(20),
  nonce: z.string().regex(/^[\w-]{1,100}$/),
  /** Milliseconds since the epoch. */
  expires: z.number(),
  body: z.string(),
  mac: z.string(),
});
export type SignedMessage = z.output<typeof signedSchema>;

type RefusalCode = 'format' | 'version' | 'signature' | 'expired' | 'replayed';

export class RefusedMessage extends MiniCcError {
  constructor(
    readonly refusal: RefusalCode,
    text: string,
  ) {
    super('REFUSED_MESSAGE', text);
  }
}

export class Signatures {
  /** Equal for sides that share the secret and the format. It does not reveal the secret. */
  readonly signer: string;

  /** @param now milliseconds since the epoch */
  constructor(
    private readonly secret: string,
    private readonly now: () => number = Date.now,
  ) {
    const named = createHmac('sha256', secret).update('mini-cc signer').digest('hex');
    this.signer = `${PROTOCOL}-${named.slice(0, 12)}`;
  }

  /** @param lifeMs milliseconds for which the message is valid */
  sign(kind: MessageKind, body: unknown, lifeMs: number): SignedMessage {
    const unsigned = {protocol: PROTOCOL, kind, nonce: randomUUID(), expires: this.now() + lifeMs};
    const text = JSON.stringify(body);
    return {...unsigned, body: text, mac: this.#sign({...unsigned, body: text}).toString('hex')};
  }

  /**
   * @throws RefusedMessage when the message has another format or kind, is not signed with the secret, or is too old
   */
  verify(
    kind: MessageKind,
    message: unknown,
  ): {readonly body: unknown; readonly nonce: string; readonly expires: number} {
    const parsed = signedSchema.safeParse(message);
    if (!parsed.success) throw new RefusedMessage('format', `the ${kind} is no message of mini-cc`);
    const signed = parsed.data;
    if (signed.protocol !== PROTOCOL) {
      const older = signed.protocol > PROTOCOL ? 'this mini-cc is older' : 'this mini-cc is newer';
      const what = `the ${kind} has format ${signed.protocol} and this side reads ${PROTOCOL}`;
      throw new RefusedMessage('version', `${what}: ${older}; use one version on both sides`);
    }
    const mac = Buffer.from(signed.mac, 'hex');
    const expected = this.#sign(signed);
    if (signed.kind !== kind || mac.length !== expected.length || !timingSafeEqual(mac, expected)) {
      throw new RefusedMessage('signature', `the ${kind} is not signed with this side's secret`);
    }
    if (signed.expires <= this.now()) throw new RefusedMessage('expired', `the ${kind} is too old`);
    try {
      return {body: JSON.parse(signed.body) as unknown, nonce: signed.nonce, expires: signed.expires};
    } catch {
      throw new RefusedMessage('format', `the ${kind} is no message of mini-cc`);
    }
  }

  #sign({protocol, kind, nonce, expires, body}: Omit<SignedMessage, 'mac'>): Buffer {
    return createHmac('sha256', this.secret)
      .update(JSON.stringify([protocol, kind, nonce, expires]))
      .update('\n')
      .update(body)
      .digest();
  }
}
