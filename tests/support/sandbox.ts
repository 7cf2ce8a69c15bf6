/** Whether tests of the real sandbox can run on this machine. */
import type {PermissionSandbox} from '../../src/core/permissions/context.ts';
import {isInside} from '../../src/core/util/paths.ts';
import {confinedEnvironment} from '../../src/sandbox/environment.ts';
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

const SYSTEM_FOLDERS = ['/usr', '/bin', '/lib', '/etc', '/opt'];

/**
 * What permissions are told of a sandbox that works, or does not.
 * @param hidden what it hides in the workspace
 */
export function permissionSandbox(isAvailable = true, hidden: readonly string[] = []): PermissionSandbox {
  return {
    available: async () => isAvailable,
    visibleIn:
      ({root, extraRoots}) =>
      (place) =>
        isInside(place, [root, ...extraRoots, ...SYSTEM_FOLDERS, '/dev/null', '/proc/cpuinfo']) &&
        !isInside(place, hidden),
    keepsVariable: (name, value) => name in confinedEnvironment({[name]: value}),
  };
}
