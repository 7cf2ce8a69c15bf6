/** The values that must not be seen, from the environment: mini-cc's own keys and what else is named like a key. */
import {existsSync} from 'node:fs';

export interface KnownSecret {
  /** The variable that holds it. */
  readonly name: string;
  readonly value: string;
}

export type Variables = Readonly<Record<string, string | undefined>>;

/** What people write where a key is wanted and none is needed. */
const PLACEHOLDER =
  /^(?:lm-?studio|anything|no-?key(?:-needed)?|not-?(?:needed|required|used)|dummy(?:-key)?|test-key|placeholder|change-?me)$/i;
/** A word of a language is in every other text: `postgres`, `development`. */
const WORD = /^[a-z]{1,11}$/i;
/** So long a piece of text is no chance: a line of a key in PEM form, a key within another value. */
const MIN_UNIQUE_CHARS = 16;

/**
 * @param named variables that hold keys of mini-cc besides its own, whatever they are called: `apiKeyEnv` of settings.
 * @param shown texts that cannot be done without, such as the working directory: what is part of one and was found by
 * its name alone is taken for a word.
 */
export function getKnownSecrets(
  env: Variables,
  named: readonly string[] = [],
  shown: readonly string[] = [],
): readonly KnownSecret[] {
  const ours = new Set([...OWN_KEYS, ...named]);
  // Of several names of one value, the mark says the one that mini-cc goes by.
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

/** The environment without the keys of mini-cc itself, also where another variable holds the same value. */
export function withoutModelKeys(env: Variables, named: readonly string[]): Record<string, string> {
  const ours = new Set([...OWN_KEYS, ...named].filter((name) => OWN_KEYS.includes(name) || isKey(env[name])));
  const values = [...ours].map((name) => env[name]?.trim() ?? '').filter(isSecretValue);
  return Object.fromEntries(
    Object.entries(env).filter(
      (entry): entry is [string, string] =>
        entry[1] !== undefined && !ours.has(entry[0]) && !values.some((value) => holds(entry[1]!, value)),
    ),
  );
}

/** A short key could be a word in any path: there only the whole value tells. */
function holds(text: string, key: string): boolean {
  return key.length < MIN_UNIQUE_CHARS ? text === key : text.includes(key);
}

/** A setting may name any variable: what holds a path is no key, and commands need it. */
function isKey(value: string | undefined): boolean {
  return value !== undefined && !isPath(value);
}

function isSecretValue(value: string): boolean {
  return value.length >= MIN_SECRET_CHARS && !PLACEHOLDER.test(value) && !isPath(value) && !isPlainAddress(value);
}

/** A key may begin with a slash; a path begins with a folder that is there. */
function isPath(value: string): boolean {
  if (/^(?:~|\.{1,2})\//.test(value)) return true;
  const [first] = /^\/[^/:]+/.exec(value) ?? [];
  return first !== undefined && existsSync(first);
}

/** Of an address the password alone is secret. */
function isPlainAddress(value: string): boolean {
  return /^[a-z][a-z\d+.-]*:\/\//i.test(value);
}

function splitSecret(value: string): readonly string[] {
  if (!value.includes('\n')) return [value];
  return value
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line.length >= MIN_UNIQUE_CHARS && !line.startsWith('-----'));
}
/** The keys that mini-cc itself reads, wherever it runs. */
export const OWN_KEYS: readonly string[] = ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN'];

/** Shorter values are placeholders for servers that want no key; to take them out would garble everything else. */
export const MIN_SECRET_CHARS = 8;

/** `TOKENIZERS_PARALLELISM` and `MAX_TOKENS` are none. */
const SECRET_WORD =
  /(?:^|_)(?:[A-Z\d]*TOKEN|[A-Z\d]*SECRET|PASS|[A-Z\d]*PASS(?:WORD|WD|PHRASE|CODE)|[A-Z\d]*APIKEY|PWD|PAT|CREDENTIALS?|AUTH|[A-Z\d]+_KEY|[A-Z\d]+_KEYS)(?=_|\d*$)/;
/** What such a word is about when the name goes on: where it lies, whose it is, how long it holds. */
const ABOUT_A_SECRET =
  /_(?:FILE|PATH|DIR|HOME|URL|URI|HOST|PORT|ID|NAME|USER|USERNAME|TYPE|TTL|EXPIR[A-Z_]*|LIMIT|COUNT|SIZE|LENGTH|VERSION|REGION|ENDPOINT|ALGORITHM|SOCK|SOCKET|MODE|METHOD|ENABLED|DISABLED|HELPER|COMMAND|CMD|STORE)$/;
/** Named like a key, and known to be none. */
const HARMLESS = /^(?:PWD|OLDPWD|GPG_KEY|(?:\w+_)?PUBLIC_KEY|GIT_CONFIG_KEY_\d+)$/;

/** `GITHUB_TOKEN`, `AWS_SECRET_ACCESS_KEY`, `PGPASSWORD`: a variable of this name holds a key. */
export function isSecretName(name: string): boolean {
  const upper = name.toUpperCase();
  return SECRET_WORD.test(upper) && !ABOUT_A_SECRET.test(upper) && !HARMLESS.test(upper);
}

const LOGIN = /\b[a-z][a-z\d+.-]*:\/\/(?:[^\s/:@]*:([^\s/@]+)|([^\s/:@]{20,}))@/gi;
const PARAMETER = /[?&;][\w.-]*(?:key|token|secret|password|signature|\bsig)[\w.-]*=([^\s&;#]+)/gi;

/**
 * What an address such as `http://user:password@host/?key=value` has of passwords, as they stand there. Also one without
 * a name before it, as git's addresses have it: `https://token@host`.
 */
export function findPasswords(value: string): readonly string[] {
  if (!value.includes('://')) return [];
  const logins = [...value.matchAll(LOGIN)].map(([, password, alone]) => (password ?? alone)!);
  return [...logins, ...[...value.matchAll(PARAMETER)].map(([, given]) => given!)];
}

/** By its name or for an address with a password in it: commands that are held do not get it. */
export function isSecretVariable(name: string, value: string): boolean {
  return isSecretName(name) || findPasswords(value).length > 0;
}
