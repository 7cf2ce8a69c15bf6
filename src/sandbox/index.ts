/** Chooses the sandbox for this platform. */

import {MiniCcError} from '../core/util/errors.ts';
import {Bubblewrap, type BubblewrapOptions} from './bubblewrap.ts';
import type {ConfinedCommand, Sandbox, SandboxStatus} from './sandbox.ts';
import {Seatbelt} from './seatbelt.ts';
import {SessionFolder} from './view/session-folder.ts';

export type {AllowedHosts} from './allowed-hosts.ts';
export type {ConfinedCommand, ConfineOptions, Sandbox, SandboxProfile, SandboxStatus} from './sandbox.ts';

export interface SandboxOptions extends BubblewrapOptions {
  /** Default: the platform of this machine. */
  readonly platform?: NodeJS.Platform;
}

export function createSandbox(options: SandboxOptions): Sandbox {
  const platform = options.platform ?? process.platform;
  if (platform === 'linux') return new Bubblewrap(options);
  if (platform === 'darwin') return new Seatbelt(options, options.env);
  return new NoSandbox(platform, options.miniCcHome);
}

/** Stands in on platforms without a sandbox. It confines no command, so no command that must be confined runs. */
class NoSandbox implements Sandbox {
  readonly folder: SessionFolder;

  constructor(
    private readonly platform: NodeJS.Platform,
    miniCcHome: string,
  ) {
    this.folder = new SessionFolder(miniCcHome);
  }

  status(): Promise<SandboxStatus> {
    const remedy = 'run it on Linux (on Windows in WSL) with bubblewrap, or on macOS';
    return Promise.resolve({available: false, reason: `there is no sandbox for ${this.platform}`, remedy});
  }

  confine(): ConfinedCommand {
    throw new MiniCcError('SANDBOX_UNAVAILABLE', `There is no sandbox for ${this.platform}`);
  }

  addsFiles(): boolean {
    return false;
  }

  visibleIn(): () => boolean {
    return () => false;
  }

  outlives(): boolean {
    return false;
  }
}
