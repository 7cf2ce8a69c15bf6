/** Chooses the sandbox for this platform. */

import {MiniCcError} from '../core/util/errors.ts';
import type {AllowedHosts} from './allowed-hosts.ts';
import {Bubblewrap} from './bubblewrap.ts';
import type {ConfinedCommand, Sandbox, SandboxStatus} from './sandbox.ts';
import {Seatbelt} from './seatbelt.ts';
import {SessionFolder} from './view/session-folder.ts';
import type {ViewPlaces} from './view/view.ts';

export type {AllowedHosts} from './allowed-hosts.ts';
export type {ConfinedCommand, ConfineOptions, Sandbox, SandboxProfile, SandboxStatus} from './sandbox.ts';

export interface SandboxOptions extends ViewPlaces {
  /** Default: the platform of this machine. */
  readonly platform?: NodeJS.Platform;
  /** Search path in which `bwrap` is looked for. Default: the PATH of this process. */
  readonly searchPath?: string;
  /** Folder that stores for a day that the sandbox works. Default: each start probes the sandbox. Linux only. */
  readonly knownIn?: string | undefined;
  /** Hosts that commands of the profile `workspace-write` may reach. Default: none. */
  readonly hosts?: AllowedHosts;
  /** Whether commands of that profile may use Unix sockets. Default: no. Linux only. */
  readonly unixSockets?: boolean;
  /** Names of further variables that confined commands get (`sandbox.env`). */
  readonly env?: readonly string[];
}

export function createSandbox(options: SandboxOptions): Sandbox {
  const platform = options.platform ?? process.platform;
  if (platform === 'linux') return new Bubblewrap(options, options);
  if (platform === 'darwin') return new Seatbelt(options, options.env);
  return new NoSandbox(
    `there is no sandbox for ${platform}`,
    'run it on Linux (on Windows in WSL) with bubblewrap, or on macOS',
  );
}

/** Stands in on platforms without a sandbox. It confines no command, so no command that must be confined runs. */
class NoSandbox implements Sandbox {
  readonly folder = new SessionFolder();

  constructor(
    private readonly reason: string,
    private readonly remedy: string,
  ) {}

  status(): Promise<SandboxStatus> {
    return Promise.resolve({available: false, reason: this.reason, remedy: this.remedy});
  }

  confine(): ConfinedCommand {
    throw new MiniCcError('SANDBOX_UNAVAILABLE', `There is no sandbox: ${this.reason}`);
  }

  isVisible(): boolean {
    return false;
  }

  outlives(): boolean {
    return false;
  }
}
