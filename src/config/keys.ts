/** What holds for keys beyond their values. Keys are written with dots; all that lies below is meant too. */

/** In a project's files these could run code or send data elsewhere: they wait for trust in its directory. */
export const NEEDS_TRUST: readonly string[] = [
  'providers',
  'hooks',
  'mcpServers',
  'permissions.allow',
  'sandbox',
  'verify',
  // Erases transcripts.
  'retention',
];

/** A slip here could leave a door open: an unknown or doubled key is an error. */
export const STRICT: readonly string[] = ['permissions', 'sandbox'];

/** Lists that add up across files: what one forbids, none above it lifts. */
export const ADDS_UP: readonly string[] = [
  'permissions.allow',
  'permissions.ask',
  'permissions.deny',
  'subagents.tools.deny',
  'sandbox.hide',
  'sandbox.allowedHosts',
];

/** Their entries are replaced as a whole: an address of one file never meets the key of another. */
export const WHOLE_ENTRIES: readonly string[] = ['providers', 'pricing', 'mcpServers'];

/** They may hold keys and tokens anywhere: shown as `set`. */
export const NEVER_SHOWN: readonly string[] = ['mcpServers', 'hooks'];

/** What a file says about itself is no setting. */
export const ABOUT_THE_FILE: readonly string[] = ['$schema', 'version'];

/** The path is one of these keys, or lies below it. */
export function isAmong(path: readonly string[], keys: readonly string[]): boolean {
  return keys.some((key) => key.split('.').every((part, index) => part === path[index]));
}

/** A path as messages show it: `agents.explore.model`, `pricing."my model".input`. */
export function pathText(path: readonly string[]): string {
  return path.map((part) => (/^[\w$/:-]+$/.test(part) ? part : JSON.stringify(part))).join('.');
}
