type Kind = 'flags' | 'subcommands' | 'variables' | 'definitions';

/**
 * Features that the documentation names and this release does not have yet. Using one is reported, never ignored in
 * silence. Remove the entry when the feature works.
 */
export const PLANNED_FEATURES: Readonly<Record<Kind, readonly string[]>> = {
  /** Flags of the command line, in camel case. */
  flags: [],
  /** `mini-cc NAME`. */
  subcommands: [],
  /** Environment variables. */
  variables: [],
  /** Keys of agent definitions. */
  definitions: [],
};

/** Every message about such a feature contains this text. */
export const NOT_YET_AVAILABLE = 'not yet available';

export function isPlanned(kind: Kind, name: string): boolean {
  return PLANNED_FEATURES[kind].includes(name);
}

/** `--fan-out is not yet available` */
export function formatNotYetAvailable(name: string): string {
  return `${name} is ${NOT_YET_AVAILABLE}`;
}
