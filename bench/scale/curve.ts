/** What the measures of growth give, and what they are asked. */

export interface Point {
  /** How much there was: turns, subagents, files, megabytes. */
  readonly of: number;
  readonly value: number;
}

export interface Curve {
  readonly what: string;
  readonly per: string;
  readonly unit: string;
  readonly points: readonly Point[];
}

export interface ScaleOptions {
  readonly short: boolean;
  readonly only?: string;
  readonly onProgress: (text: string) => void;
}
