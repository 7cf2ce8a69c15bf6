/** Types of freshness.mjs for tests. */
export function listInputs(root: string): string;
export function distIsFresh(root: string): boolean;
export function stampDist(root: string, inputs: string): void;
