/** Rules for keys of settings. Keys are written with dots. A rule applies to everything below its key too. */

/**
 * Keys that could run code or send data elsewhere. In a project's files they count only when the user trusts their
 * values.
 */
export const NEEDS_TRUST: readonly string[] = [
  'providers',
  'hooks',
  'mcpServers',
  'env',
  'permissions.allow',
  'sandbox',
  'verify',
  // Instructions and files go to the queue.
  'subagents.queue',
  // This setting erases transcripts.
  'retention',
  // Mode `auto` starts runs that cost money, without a question.
  'fanOut',
  'statusLine',
  'enabledPlugins',
  'extraKnownMarketplaces',
  // Servers spend the user's tokens.
  'mcp.sampling',
];

/** Keys where a typing mistake could allow too much. An unknown or doubled key there is an error. */
export const STRICT: readonly string[] = ['permissions', 'sandbox'];

/** Lists of all files add up, so that no file allows what another one forbids. */
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

/** Keys that a project's file never sets, trusted or not, because only the user knows the right value. */
export const USERS_OWN: readonly string[] = ['sandbox.container', 'claude.hooks', 'screenReader'];

/** Lists of a project that can only narrow the user's own list: only entries that both have count. */
export const NARROWS: readonly string[] = ['subagents.allowAgents', 'subagents.tools.allow'];

/** Limits that a project can only lower, with their defaults. `null` means no limit. */
export const LOWERS: Readonly<Record<string, number>> = {
  'subagents.perPrompt.runs': 50,
  'subagents.perPrompt.tokens': 3_000_000,
  'subagents.perPrompt.usd': 10,
};

/** Entries that are replaced as a whole, so that an address from one file is never combined with a key from another. */
export const WHOLE_ENTRIES: readonly string[] = ['providers', 'pricing', 'mcpServers', 'extraKnownMarketplaces'];

/** Objects whose entries are trusted one by one, so that a new entry does not ask about the others again. */
export const TRUSTED_BY_ENTRY: readonly string[] = ['mcpServers'];

/** Settings that may contain keys and tokens. They are shown as `set`. */
export const NEVER_SHOWN: readonly string[] = ['mcpServers', 'hooks', 'env', 'subagents.queue.url'];

/** Keys that a file states about itself. They are not settings. */
export const FILE_KEYS: readonly string[] = ['$schema', 'version'];

/** Says whether the path is one of these keys or lies below one. */
export function isAmong(path: readonly string[], keys: readonly string[]): boolean {
  return keys.some((key) => key.split('.').every((part, index) => part === path[index]));
}

/** Formats a path for messages: `agents.explore.model`, `pricing."my model".input`. */
export function formatPath(path: readonly string[]): string {
  return path.map((part) => (/^[\w$/:-]+$/.test(part) ? part : JSON.stringify(part))).join('.');
}
