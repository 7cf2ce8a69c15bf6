/** Picks the sandbox of this platform. */

import type {AllowedHosts} from './allowed-hosts.ts';
import {Bubblewrap} from './bubblewrap.ts';
import type {HiddenPlaces} from './hidden-paths.ts';
import {NoSandbox} from './no-sandbox.ts';
import type {Sandbox} from './sandbox.ts';
import {Seatbelt} from './seatbelt.ts';

export type {AllowedHosts} from './allowed-hosts.ts';
export {confinedEnvironment} from './environment.ts';
export type {HiddenPlaces} from './hidden-paths.ts';
export type {ConfinedCommand, ConfineOptions, Sandbox, SandboxProfile, SandboxStatus} from './sandbox.ts';

export interface SandboxOptions extends HiddenPlaces {
  /** Default: this machine's. */
  readonly platform?: NodeJS.Platform;
  /** Where `bwrap` is looked for; default: the PATH of this process. */
  readonly searchPath?: string;
  /** What commands of the profile `workspace-write` reach; default: nothing. */
  readonly hosts?: AllowedHosts;
  /** Whether commands of that profile may use Unix sockets; default: they may not. Linux only. */
  readonly unixSockets?: boolean;
}

export function createSandbox(options: SandboxOptions): Sandbox {
  const platform = options.platform ?? process.platform;
  if (platform === 'linux') return new Bubblewrap(options, options);
  if (platform === 'darwin') return new Seatbelt(options);
  return new NoSandbox(
    `there is no sandbox for ${platform}`,
    'run it on Linux (on Windows in WSL) with bubblewrap, or on macOS',
  );
}
