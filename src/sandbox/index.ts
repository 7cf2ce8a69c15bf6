/** Picks the sandbox of this platform. */
import {Bubblewrap} from './bubblewrap.ts';
import type {HiddenPlaces} from './hidden-paths.ts';
import {NoSandbox} from './no-sandbox.ts';
import type {Sandbox} from './sandbox.ts';

export {heldEnvironment, neutralEnvironment} from './environment.ts';
export type {HiddenPlaces} from './hidden-paths.ts';
export type {ConfinedCommand, ConfineOptions, Sandbox, SandboxProfile, SandboxStatus} from './sandbox.ts';

export interface SandboxOptions extends HiddenPlaces {
  /** Default: this machine's. */
  readonly platform?: NodeJS.Platform;
  /** Where `bwrap` is looked for; default: the PATH of this process. */
  readonly searchPath?: string;
}

export function createSandbox(options: SandboxOptions): Sandbox {
  const platform = options.platform ?? process.platform;
  if (platform === 'linux') return new Bubblewrap(options, options.searchPath);
  const name = platform === 'darwin' ? 'macOS' : platform;
  return new NoSandbox(
    `the sandbox for ${name} is not yet available`,
    'run it on Linux with bubblewrap, or use an agent that may write',
  );
}
