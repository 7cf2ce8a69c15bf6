/** Stands where the platform has no sandbox: nothing is ever confined, so nothing that must be confined runs. */
import {MiniCcError} from '../core/util/errors.ts';
import type {ConfinedCommand, Sandbox, SandboxStatus} from './sandbox.ts';

export class NoSandbox implements Sandbox {
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

  outlives(): boolean {
    return false;
  }
}
