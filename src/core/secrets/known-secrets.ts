/** Finds the environment variables that contain keys. Their values are redacted in texts and withheld from commands. */
import {existsSync} from 'node:fs';

export interface KnownSecret {
  /** Variable that contains the key. */
  readonly name: string;
  readonly value: string;
}

export type Variables = Readonly<Record<string, string | undefined>>;

/** Keys that mini-cc itself reads, wherever it runs. */
export const OWN_KEYS: readonly string[] = ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN'];

/** Variable with the key that signs messages of the workers' queue, unless the settings name another one. */
export const QUEUE_SECRET = 'MINI_CC_QUEUE_SECRET';

/** Shorter values are placeholders for servers that need no key. Replacing them would garble other texts. */
export const MIN_SECRET_CHARS = 8;
/** A text of this length does not occur by chance: a line of a key in PEM form, or a key inside another value. */
const MIN_UNIQUE_CHARS = 16;

/** Values that people write as a key for a server that needs none. */
const PLACEHOLDER =
  /^(?:lm-?studio|anything|no-?key(?:-needed)?|not-?(?:needed|required|used)|dummy(?:-key)?|test-key|placeholder|change-?me)$/i;
/** Settings name a variable so. Its value may be a key, but its name is none. */
const REFERENCE = /^\$(?:[A-Z_][A-Z\d_]*|\{\w+(?::-)?\})$/;
/** Words such as `postgres` and `development` occur in many other texts. */
const WORD = /^[a-z]{1,11}$/i;

/** Words in names of variables that contain a key. `TOKENIZERS_PARALLELISM` and `MAX_TOKENS` do not match. */
const SECRET_WORD =
  /(?:^|_)(?:[A-Z\d]*TOKEN|[A-Z\d]*SECRET|PASS|[A-Z\d]*PASS(?:WORD|WD|PHRASE|CODE)|[A-Z\d]*APIKEY|PWD|PAT|CREDENTIALS?|AUTH|AUTHORIZATION|[A-Z\d]+_KEY|[A-Z\d]+_KEYS)(?=_|\d*$)/;
/** Ends of names of variables that describe a key: its place, its owner, its validity. */
const SECRET_PROPERTY =
  /_(?:FILE|PATH|DIR|HOME|URL|URI|HOST|PORT|ID|NAME|USER|USERNAME|TYPE|TTL|EXPIR[A-Z_]*|LIMIT|COUNT|SIZE|LENGTH|VERSION|REGION|ENDPOINT|ALGORITHM|SOCK|SOCKET|MODE|METHOD|ENABLED|DISABLED|HELPER|COMMAND|CMD|STORE)$/;
/** These variables are named like keys, but contain none. */
const HARMLESS = /^(?:PWD|OLDPWD|GPG_KEY|(?:\w+_)?PUBLIC_KEY|GIT_CONFIG_KEY_\d+)$/;

/** Whether a variable or header of this name contains a key: `GITHUB_TOKEN`, `PGPASSWORD`, `Authorization`, `x-api-key`. */
export function isSecretName(name: string): boolean {
  const upper = name.toUpperCase().replaceAll('-', '_');
  return SECRET_WORD.test(upper) && !SECRET_PROPERTY.test(upper) && !HARMLESS.test(upper);
}

/**
 * Whether a variable contains a key, according to its name or because of a password in an address. Confined commands do
 * not get such a variable.
 */
export function isSecretVariable(name: string, value: string): boolean {
  return isSecretName(name) || findPasswords(value).length > 0;
}

/** The word before the key in the value of `Authorization`. */
const SCHEME = /^(?:basic|bearer|token|apikey) +/i;

const LOGIN = /\b[a-z][a-z\d+.-]*:\/\/(?:[^\s/:@]*:([^\s/@]+)|([^\s/:@]{20,}))@/gi;
const PARAMETER = /[?&;][\w.-]*(?:key|token|secret|password|signature|\bsig)[\w.-]*=([^\s&;#]+)/gi;

/**
 * Returns the passwords in addresses such as `http://user:password@host/?key=value`, as they are written there. It also
 * finds a password without a user name, as in addresses of git: `https://token@host`.
 */
export function findPasswords(value: string): readonly string[] {
  if (!value.includes('://')) return [];
  const logins = [...value.matchAll(LOGIN)].map(([, password, alone]) => (password ?? alone)!);
  return [...logins, ...[...value.matchAll(PARAMETER)].map(([, given]) => given!)];
}

/**
 * Returns the values to redact.
 * @param named further variables that contain keys of mini-cc, with any name: `apiKeyEnv` of settings
 * @param shown texts that must stay readable, such as the working directory. A value that is part of one of them is
 * redacted only if it is a key of mini-cc
 */
export function getKnownSecrets(
  env: Variables,
  named: readonly string[] = [],
  shown: readonly string[] = [],
): readonly KnownSecret[] {
  const ours = new Set([...OWN_KEYS, ...named]);
  // When several variables have one value, the mark names the variable that mini-cc reads.
  const names = Object.keys(env).toSorted((a, b) => Number(ours.has(b)) - Number(ours.has(a)));
  return names.flatMap((name) => {
    const value = env[name] ?? '';
    const isOurs = ours.has(name);
    const key = value.trim().replace(SCHEME, '');
    const values = isOurs || isSecretName(name) ? [key, ...findPasswords(value)] : findPasswords(value);
    return values
      .flatMap(splitSecret)
      .filter(
        (each) => isSecretValue(each) && (isOurs || !(WORD.test(each) || shown.some((text) => text.includes(each)))),
      )
      .map((each) => ({name, value: each}));
  });
}

/**
 * Returns the environment without the keys of mini-cc and without other variables that contain the same value.
 * @param named as for `getKnownSecrets`
 */
export function withoutModelKeys(env: Variables, named: readonly string[]): Record<string, string> {
  const ours = new Set([...OWN_KEYS, ...named].filter((name) => OWN_KEYS.includes(name) || isKey(env[name])));
  const values = [...ours].map((name) => env[name]?.trim() ?? '').filter(isSecretValue);
  return Object.fromEntries(
    Object.entries(env).filter(
      (entry): entry is [string, string] =>
        entry[1] !== undefined && !ours.has(entry[0]) && !values.some((value) => containsKey(entry[1]!, value)),
    ),
  );
}

/** A short key could be a word in any path, so it must be the whole text. */
function containsKey(text: string, key: string): boolean {
  return key.length < MIN_UNIQUE_CHARS ? text === key : text.includes(key);
}

/** A setting may name any variable. A path is not a key, and commands need variables with paths. */
function isKey(value: string | undefined): boolean {
  return value !== undefined && !isPath(value);
}

function isSecretValue(value: string): boolean {
  if (value.length < MIN_SECRET_CHARS || PLACEHOLDER.test(value) || REFERENCE.test(value)) return false;
  return !isPath(value) && !isAddress(value);
}

/** A key may begin with a slash, but a path begins with a folder that exists. */
function isPath(value: string): boolean {
  if (/^(?:~|\.{1,2})\//.test(value)) return true;
  const [first] = /^\/[^/:]+/.exec(value) ?? [];
  return first !== undefined && existsSync(first);
}

/** An address is not secret as a whole; only the passwords in it are. */
function isAddress(value: string): boolean {
  return /^[a-z][a-z\d+.-]*:\/\//i.test(value);
}

/** Splits a key in PEM form into its lines. Any other value stays whole. */
function splitSecret(value: string): readonly string[] {
  if (!value.includes('\n')) return [value];
  return value
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line.length >= MIN_UNIQUE_CHARS && !line.startsWith('-----'));
}
