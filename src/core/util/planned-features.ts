/**
 * Features that the documentation names and this release does not have yet. Using one is reported, never ignored in
 * silence. Remove the entry when the feature works.
 */
export const PLANNED_FEATURES = {
  /** Flags of the command line, in camel case. */
  flags: ['mcpConfig', 'strictMcpConfig'],
  /** `mini-cc NAME`. */
  subcommands: ['mcp', 'worker', 'workers'],
  /** Slash commands. */
  commands: ['mcp'],
  /** Keys of settings files, with dots. An entry includes all keys below it. */
  settings: ['mcpServers'],
  /** Environment variables. */
  variables: [],
  /** Keys of agent definitions. */
  definitions: [],
} as const satisfies Readonly<Record<string, readonly string[]>>;

/** Every message about such a feature contains this text. */
export const NOT_YET_AVAILABLE = 'not yet available';

export function isPlanned(kind: keyof typeof PLANNED_FEATURES, name: string): boolean {
  return (PLANNED_FEATURES[kind] as readonly string[]).includes(name);
}

/** `--fan-out is not yet available` */
export function formatNotYetAvailable(name: string): string {
  return `${name} is ${NOT_YET_AVAILABLE}`;
}
