/** What a session knows of keys: which values are taken out of what it stores and shows, and kept from its tools. */
import {homedir} from 'node:os';
import {knownSecrets, withoutModelKeys} from '../core/secrets/known-secrets.ts';
import {Redactor} from '../core/secrets/redaction.ts';
import type {SessionOptions} from './options.ts';

export interface Secrets {
  readonly redactor: Redactor;
  /** The environment of tools. */
  readonly env: Readonly<Record<string, string>>;
}

/** @param keyNames variables that hold keys of mini-cc by the settings. @param root the working directory */
export function secretsOf(options: SessionOptions, keyNames: readonly string[], root: string): Secrets {
  const {env, home} = options;
  return {
    redactor: new Redactor(knownSecrets(env, keyNames, [root, home, homedir()])),
    env: withoutModelKeys(env, keyNames),
  };
}
