/** Types of setup.mjs for tests and benchmarks. */
export class SetupError extends Error {}
export function setUp(root: string): Promise<string>;
export function ensurePackages(root: string): Promise<string>;
export function ensureBuilt(root: string, options?: {force?: boolean}): Promise<void>;
