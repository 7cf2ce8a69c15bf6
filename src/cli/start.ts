/** What the entry knows before anything is loaded. */
export interface Start {
  readonly args: readonly string[];
  readonly version: string;
  readonly home: string;
}
