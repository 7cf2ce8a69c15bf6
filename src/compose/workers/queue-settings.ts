/** Reads the address of the queue from the settings or flags, and the secret that signs its messages. */
import type {Settings} from '../../config/settings.ts';
import {QUEUE_SECRET} from '../../core/secrets/known-secrets.ts';
import {UsageError} from '../../core/util/errors.ts';
import type {QueueAddress} from '../../workers/queue/address.ts';

export const DEFAULT_PREFIX = 'mini-cc';
/** A shorter secret could be guessed by trying. */
const MIN_SECRET_CHARS = 8;

type QueueSettings = NonNullable<NonNullable<Settings['subagents']>['queue']>;

/** @throws UsageError when the secret is missing or too short */
export function getAddress(
  {url, prefix = DEFAULT_PREFIX, secretEnv = QUEUE_SECRET}: QueueSettings,
  env: Readonly<Record<string, string | undefined>>,
): QueueAddress {
  const secret = env[secretEnv] ?? '';
  if (secret.length < MIN_SECRET_CHARS) {
    const what = secret === '' ? 'is not set' : `has fewer than ${MIN_SECRET_CHARS} characters`;
    throw new UsageError(
      `the queue's secret: the variable ${secretEnv} ${what}. Set it to the same value on all machines, e.g. openssl rand -hex 32`,
    );
  }
  return {url, prefix, secret};
}
