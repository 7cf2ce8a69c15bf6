/** Rules for keys of settings. Keys are written with dots; a rule holds for everything below its key too. */

/** In a project's files these could run code or send data elsewhere: they count once the user trusts its directory. */
export const NEEDS_TRUST: readonly string[] = [
  'providers',
  'hooks',
  'mcpServers',
  'permissions.allow',
  'sandbox',
  'verify',
  // What is to be done, and the files, go there.
  'subagents.queue',
  // Erases transcripts.
  'retention',
];

/** A typing mistake here could allow too much: an unknown or doubled key is an error. */
export const STRICT: readonly string[] = ['permissions', 'sandbox'];

/** Lists of all files add up: what one file forbids, no other allows. */
export const ADDS_UP: readonly string[] = [
  'permissions.allow',
  'permissions.ask',
  'permissions.deny',
  'subagents.tools.deny',
  'sandbox.show',
  'sandbox.hide',
  'sandbox.env',
  'sandbox.allowedHosts',
];

/** A project's file never sets these, trusted or not: only the user knows. */
export const USERS_OWN: readonly string[] = ['sandbox.container', 'claude.hooks'];

/** Of a project's list, only what the user's own list has counts: it narrows that list and never widens it. */
export const NARROWS: readonly string[] = ['subagents.allowAgents', 'subagents.tools.allow'];

/** Their entries are replaced as a whole: an address of one file is never combined with the key of another. */
export const WHOLE_ENTRIES: readonly string[] = ['providers', 'pricing', 'mcpServers'];

/** Of these each entry is trusted by itself: a new one does not ask about the others again. */
export const TRUSTED_BY_ENTRY: readonly string[] = ['mcpServers'];

/** They may contain keys and tokens: shown as `set`. */
export const NEVER_SHOWN: readonly string[] = ['mcpServers', 'hooks', 'subagents.queue.url'];

/** A file says these about itself: they are no settings. */
export const FILE_KEYS: readonly string[] = ['$schema', 'version'];

/** The path is one of these keys, or lies below it. */
export function isAmong(path: readonly string[], keys: readonly string[]): boolean {
  return keys.some((key) => key.split('.').every((part, index) => part === path[index]));
}

/** A path as messages show it: `agents.explore.model`, `pricing."my model".input`. */
export function formatPath(path: readonly string[]): string {
  return path.map((part) => (/^[\w$/:-]+$/.test(part) ? part : JSON.stringify(part))).join('.');
}
