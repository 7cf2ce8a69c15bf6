/** Controls how one session confines the commands of agents that may write. `/sandbox` changes it. */

import type {Settings} from '../config/settings.ts';
import type {Confinement, SandboxMode, SandboxState} from '../core/contract/permission.ts';
import type {PermissionPolicy} from '../core/permissions/policy.ts';
import type {Questions} from '../core/permissions/questions.ts';
import type {OuterRequests} from '../core/session/parts.ts';
import {inBackground, neverRejects} from '../core/util/background.ts';
import type {Sandbox} from '../sandbox/index.ts';

export class SandboxControl {
  #mode: SandboxMode;
  #confinement: Confinement = 'none';

  private constructor(
    private readonly sandbox: Sandbox,
    private readonly settings: NonNullable<Settings['sandbox']>,
  ) {
    this.#mode = settings.mode ?? 'off';
  }

  /** @param least replaces the mode `off` of the settings */
  static async open(
    {sandbox: settings = {}}: Settings,
    sandbox: Sandbox,
    least: SandboxMode = 'off',
  ): Promise<SandboxControl> {
    const control = new SandboxControl(sandbox, settings);
    await control.set(control.#mode === 'off' ? least : control.#mode);
    return control;
  }

  /**
   * Confinement of agents that may write, outside of plan mode. If a sandbox is required and there is none, commands do
   * not run.
   */
  get confinement(): Confinement {
    return this.#confinement;
  }

  async set(mode: SandboxMode): Promise<SandboxState> {
    const isConfining = mode === 'required' || (mode === 'auto' && (await this.#mayConfine()));
    this.#mode = mode;
    this.#confinement = isConfining ? 'workspace-write' : 'none';
    return this.state();
  }

  async state(): Promise<SandboxState> {
    const {show = [], hide = [], env = [], allowedHosts = [], container = false} = this.settings;
    const status = await this.sandbox.status();
    const warning = await this.#getWarning();
    return {
      mode: this.#mode,
      container,
      show,
      hide,
      env,
      allowedHosts,
      ...(status.available ? {kind: status.kind} : {problem: `${status.reason}: ${status.remedy}`}),
      ...(warning !== undefined && {warning}),
    };
  }

  /** Without a sandbox, a container confines the commands if the user says so. */
  async #mayConfine(): Promise<boolean> {
    return (this.settings.container ?? false) || (await this.sandbox.status()).available;
  }

  async #getWarning(): Promise<string | undefined> {
    const {allowedHosts = [], container = false} = this.settings;
    const status = await this.sandbox.status();
    if (status.available) {
      return this.#mode !== 'off' && status.kind === 'Seatbelt' && allowedHosts.length > 0
        ? 'sandbox.allowedHosts is not yet available on macOS: confined commands have no network'
        : undefined;
    }
    if (container) return undefined;
    if (this.#mode === 'off') {
      return `no sandbox, so that few commands pass without a question: ${status.reason}: ${status.remedy}`;
    }
    const why = `sandbox: ${this.#mode}, and ${status.reason}: ${status.remedy}`;
    return this.#mode === 'required' ? `${why}. Until then bash runs nothing.` : `${why}. Commands run without it.`;
  }
}

export function createSandboxRequests(
  control: SandboxControl,
  {policy, questions}: {readonly policy: PermissionPolicy; readonly questions: Questions},
): Pick<OuterRequests, 'sandbox' | 'set_sandbox'> {
  return {
    sandbox: () => control.state(),
    async set_sandbox({mode}) {
      const state = await control.set(mode);
      // An open question may not be needed any more.
      policy.noteChange();
      inBackground(questions.recheck(), neverRejects);
      return state;
    },
  };
}
