/** Whether tests of the real sandbox can run on this machine. */
import type {PermissionSandbox} from '../../src/core/permissions/context.ts';
import {createSandbox} from '../../src/sandbox/index.ts';

/**
 * False where there is no sandbox, so that a contributor's machine skips these tests.
 * @throws Error on CI (`CI` is set), where the file must fail: a skipped test would not be noticed.
 */
export async function hasSandbox(): Promise<boolean> {
  const status = await createSandbox({home: '/nonexistent', miniCcHome: '/nonexistent'}).status();
  if (!status.available && process.env.CI) throw new Error(`CI must run the tests of the sandbox: ${status.reason}`);
  return status.available;
}

/** What permissions are told of a sandbox that works, or does not, and that shows every place. */
export function permissionSandbox(isAvailable = true): PermissionSandbox {
  return {available: async () => isAvailable, isVisible: () => true};
}
