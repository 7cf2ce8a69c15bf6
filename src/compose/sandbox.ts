/** The sandbox that the settings ask for. */
import {homedir} from 'node:os';
import type {Settings} from '../config/settings.ts';
import type {Confinement} from '../core/tool.ts';
import {createSandbox, type Sandbox} from '../sandbox/index.ts';

/** @param miniCcHome sessions and settings of mini-cc: no confined command sees them */
export function sandboxOf(settings: Settings, miniCcHome: string): Sandbox {
  return createSandbox({home: homedir(), miniCcHome, hide: settings.sandbox?.hide ?? []});
}

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
  if (status.available) return {confinement: 'workspace-write'};
  const why = `${status.reason}: ${status.remedy}`;
  return mode === 'required'
    ? {confinement: 'workspace-write', warning: `sandbox: required, and ${why}. Until then bash runs nothing.`}
    : {confinement: 'none', warning: `sandbox: auto, and ${why}. Commands run without it.`};
}
