/**
 * Which variables of the environment contain keys, and the values that are therefore redacted in texts and kept from
 * commands.
 */
import {existsSync} from 'node:fs';

export interface KnownSecret {
  /** The variable that contains it. */
  readonly name: string;
  readonly value: string;
}

export type Variables = Readonly<Record<string, string | undefined>>;

/** The keys that mini-cc itself reads, wherever it runs. */
export const OWN_KEYS: readonly string[] = ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN'];

/** Signs what goes through the queue of workers, where the settings name no other variable. */
export const QUEUE_SECRET = 'MINI_CC_QUEUE_SECRET';

/** Shorter values are placeholders for servers that need no key; to replace them would garble other texts. */
export const MIN_SECRET_CHARS = 8;
/** A text of this length does not occur by chance: a line of a key in PEM form, a key inside another value. */
const MIN_UNIQUE_CHARS = 16;

/** What people write as a key for a server that needs none. */
const PLACEHOLDER =
  /^(?:lm-?studio|anything|no-?key(?:-needed)?|not-?(?:needed|required|used)|dummy(?:-key)?|test-key|placeholder|change-?me)$/i;
/** Words such as `postgres` and `development` occur in many other texts. */
const WORD = /^[a-z]{1,11}$/i;

/** Does not match `TOKENIZERS_PARALLELISM` and `MAX_TOKENS`. */
const SECRET_WORD =
  /(?:^|_)(?:[A-Z\d]*TOKEN|[A-Z\d]*SECRET|PASS|[A-Z\d]*PASS(?:WORD|WD|PHRASE|CODE)|[A-Z\d]*APIKEY|PWD|PAT|CREDENTIALS?|AUTH|[A-Z\d]+_KEY|[A-Z\d]+_KEYS)(?=_|\d*$)/;
/** Ends of names whose variables describe a key: where it lies, whose it is, how long it is valid. */
const SECRET_PROPERTY =
  /_(?:FILE|PATH|DIR|HOME|URL|URI|HOST|PORT|ID|NAME|USER|USERNAME|TYPE|TTL|EXPIR[A-Z_]*|LIMIT|COUNT|SIZE|LENGTH|VERSION|REGION|ENDPOINT|ALGORITHM|SOCK|SOCKET|MODE|METHOD|ENABLED|DISABLED|HELPER|COMMAND|CMD|STORE)$/;
/** These are named like keys, but contain none. */
const HARMLESS = /^(?:PWD|OLDPWD|GPG_KEY|(?:\w+_)?PUBLIC_KEY|GIT_CONFIG_KEY_\d+)$/;

/** Whether a variable of this name contains a key: `GITHUB_TOKEN`, `AWS_SECRET_ACCESS_KEY`, `PGPASSWORD`. */
export function isSecretName(name: string): boolean {
  const upper = name.toUpperCase();
  return SECRET_WORD.test(upper) && !SECRET_PROPERTY.test(upper) && !HARMLESS.test(upper);
}

/** Whether a variable contains a key, by its name or as a password in an address. Confined commands do not get it. */
export function isSecretVariable(name: string, value: string): boolean {
  return isSecretName(name) || findPasswords(value).length > 0;
}

const LOGIN = /\b[a-z][a-z\d+.-]*:\/\/(?:[^\s/:@]*:([^\s/@]+)|([^\s/:@]{20,}))@/gi;
const PARAMETER = /[?&;][\w.-]*(?:key|token|secret|password|signature|\bsig)[\w.-]*=([^\s&;#]+)/gi;

/**
 * The passwords in addresses such as `http://user:password@host/?key=value`, as they are written there. Also a password
 * without a user name, as in addresses of git: `https://token@host`.
 */
export function findPasswords(value: string): readonly string[] {
  if (!value.includes('://')) return [];
  const logins = [...value.matchAll(LOGIN)].map(([, password, alone]) => (password ?? alone)!);
  return [...logins, ...[...value.matchAll(PARAMETER)].map(([, given]) => given!)];
}

/**
 * The values to redact.
 * @param named further variables that contain keys of mini-cc, with any name: `apiKeyEnv` of settings
 * @param shown texts that must stay readable, such as the working directory: a value that is part of one of them is
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
    const values = isOurs || isSecretName(name) ? [value.trim(), ...findPasswords(value)] : findPasswords(value);
    return values
      .flatMap(splitSecret)
      .filter(
        (each) => isSecretValue(each) && (isOurs || !(WORD.test(each) || shown.some((text) => text.includes(each)))),
      )
      .map((each) => ({name, value: each}));
  });
}

/**
 * The environment without the keys of mini-cc, also without other variables that contain the same value.
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

/** A short key could be a word in any path: it is found only as the whole text. */
function containsKey(text: string, key: string): boolean {
  return key.length < MIN_UNIQUE_CHARS ? text === key : text.includes(key);
}

/** A setting may name any variable. A path is not a key, and commands need variables with paths. */
function isKey(value: string | undefined): boolean {
  return value !== undefined && !isPath(value);
}

function isSecretValue(value: string): boolean {
  return value.length >= MIN_SECRET_CHARS && !PLACEHOLDER.test(value) && !isPath(value) && !isAddress(value);
}

/** A key may begin with a slash, but a path begins with a folder that exists. */
function isPath(value: string): boolean {
  if (/^(?:~|\.{1,2})\//.test(value)) return true;
  const [first] = /^\/[^/:]+/.exec(value) ?? [];
  return first !== undefined && existsSync(first);
}

/** An address is not secret as a whole, only the passwords in it. */
function isAddress(value: string): boolean {
  return /^[a-z][a-z\d+.-]*:\/\//i.test(value);
}

/** The lines of a key in PEM form; another value as a whole. */
function splitSecret(value: string): readonly string[] {
  if (!value.includes('\n')) return [value];
  return value
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line.length >= MIN_UNIQUE_CHARS && !line.startsWith('-----'));
}
