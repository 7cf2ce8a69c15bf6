/** Types of packages.mjs for tests. */
export function nodeIsNewEnough(version: string): boolean;
export function packagesFit(root: string): boolean;
