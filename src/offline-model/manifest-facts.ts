/** The facts that a manifest gives, each with its line. */

export interface Fact {
  readonly name: string;
  readonly value: string;
  readonly line: number;
  /** Needed only to work on the project. */
  readonly dev?: boolean;
}

export interface ManifestFacts {
  readonly path: string;
  readonly name: Fact | undefined;
  readonly description: Fact | undefined;
  readonly scripts: readonly Fact[];
  readonly dependencies: readonly Fact[];
  /** Files that the manifest starts: bin, main, exports. */
  readonly entries: readonly Fact[];
  /** The command that runs the tests. */
  readonly test: Fact | undefined;
  readonly build: Fact | undefined;
  /** The command that starts the program. */
  readonly start: Fact | undefined;
}

export function nothing(path: string): ManifestFacts {
  const none = {name: undefined, description: undefined, test: undefined, build: undefined, start: undefined};
  return {path, ...none, scripts: [], dependencies: [], entries: []};
}
