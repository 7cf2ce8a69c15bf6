import {homedir} from 'node:os';
import {knownSecrets, type Variables} from '../core/secrets/known-secrets.ts';
import {Redactor} from '../core/secrets/redaction.ts';

/** Where there is no session: takes out what the environment alone tells to be a key. */
export function environmentRedactor(env: Variables): Redactor {
  return new Redactor(knownSecrets(env, [], [process.cwd(), homedir()]));
}
