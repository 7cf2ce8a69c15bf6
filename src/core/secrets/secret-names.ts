/** Which variables of the environment hold keys: one list for what is taken out of texts and kept from commands. */

/** The keys that mini-cc itself reads, wherever it runs. */
export const OWN_KEYS: readonly string[] = ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN'];

/** Shorter values are placeholders for servers that want no key; to take them out would garble everything else. */
export const LEAST_SECRET = 8;

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
export function passwordsIn(value: string): readonly string[] {
  if (!value.includes('://')) return [];
  const logins = [...value.matchAll(LOGIN)].map(([, password, alone]) => (password ?? alone)!);
  return [...logins, ...[...value.matchAll(PARAMETER)].map(([, given]) => given!)];
}

/** By its name or for an address with a password in it: commands that are held do not get it. */
export function holdsSecret(name: string, value: string): boolean {
  return isSecretName(name) || passwordsIn(value).length > 0;
}
