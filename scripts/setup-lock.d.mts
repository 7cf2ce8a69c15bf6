/** Types of setup-lock.mjs for tests. */
export function withSetupLock<T>(
  root: string,
  work: (alsoOwnedBy: (pid: number) => void) => Promise<T>,
  onWait?: () => void,
): Promise<T>;
