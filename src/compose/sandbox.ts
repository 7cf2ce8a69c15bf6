/** The sandbox that the settings ask for. */
import {homedir} from 'node:os';
import type {Settings} from '../config/settings.ts';
import type {Confinement} from '../core/contract/access.ts';
import {UsageError} from '../core/util/errors.ts';
import {notYet} from '../core/util/not-yet.ts';
import {type AllowedHosts, createSandbox, type Sandbox} from '../sandbox/index.ts';
import {refusePrivateAddress} from '../tools/web/web-address.ts';

/** @param miniCcHome sessions and settings of mini-cc: no confined command sees them */
export function sandboxOf(settings: Settings, miniCcHome: string): Sandbox {
  const names = settings.sandbox?.allowedHosts ?? [];
  const wrong = names.find((name) => !HOST.test(name));
  if (wrong !== undefined) {
    throw new UsageError(
      `sandbox.allowedHosts: ${JSON.stringify(wrong)} is no name of a host: write example.com, or *.example.com for all below it`,
    );
  }
  const hosts: AllowedHosts = {
    names,
    mayResolveTo(host, address) {
      try {
        refusePrivateAddress(host, address, () => true);
        return true;
      } catch {
        return false;
      }
    },
  };
  const {hide = [], unixSockets = false} = settings.sandbox ?? {};
  return createSandbox({home: homedir(), miniCcHome, hide, hosts, unixSockets});
}

/** A name or an address, without scheme and port. */
const HOST = /^(?:\*\.)?[\w-]+(?:\.[\w-]+)*$|^[\da-f:]*:[\da-f:.]*$/i;

/**
 * How agents that may write are held. Where the settings require the sandbox and there is none, their commands do not
 * run. @returns `warning`: one line, where something that was asked for is not there
 */
export async function confinementOf(
  settings: Settings,
  sandbox: Sandbox,
): Promise<{readonly confinement: Confinement; readonly warning?: string}> {
  const mode = settings.sandbox?.mode ?? 'off';
  if (mode === 'off') return {confinement: 'none'};
  const status = await sandbox.status();
  if (status.available) {
    const isOff = status.kind === 'Seatbelt' && (settings.sandbox?.allowedHosts ?? []).length > 0;
    const warning = `${notYet('sandbox.allowedHosts')} on macOS: confined commands have no network`;
    return {confinement: 'workspace-write', ...(isOff && {warning})};
  }
  const why = `${status.reason}: ${status.remedy}`;
  return mode === 'required'
    ? {confinement: 'workspace-write', warning: `sandbox: required, and ${why}. Until then bash runs nothing.`}
    : {confinement: 'none', warning: `sandbox: auto, and ${why}. Commands run without it.`};
}
