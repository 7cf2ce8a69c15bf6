/** The hooks of a session: those of the settings, and those of the program that drives it. */
import {homedir} from 'node:os';
import path from 'node:path';
import type {LoadedSettings} from '../config/settings.ts';
import type {Emit} from '../core/contract/events.ts';
import type {HookListing, Hooks} from '../core/contract/hooks.ts';
import {NO_HOOKS} from '../core/hooks/run-hooks.ts';
import {createCommandHook, type HookWorkplace} from '../extensions/hooks/command-hook.ts';
import {createHooks, type Hook} from '../extensions/hooks/hooks.ts';

export interface SessionHooks {
  readonly hooks: Hooks;
  readonly listing: readonly HookListing[];
  /** One line each, for the user. */
  readonly warnings: readonly string[];
}

/** @param driverHooks callbacks of the program that drives the session */
export function createSessionHooks(
  {hooks: found, settings}: Pick<LoadedSettings, 'hooks' | 'settings'>,
  driverHooks: readonly Hook[],
  workplace: HookWorkplace,
  getCommon: () => Readonly<Record<string, unknown>>,
  emit: Emit,
): SessionHooks {
  const ofClaude = path.join(homedir(), '.claude', 'settings.json');
  const used = settings.claude?.hooks === false ? found.filter(({from}) => from !== ofClaude) : found;
  const all = [...used.map((setting) => createCommandHook(setting, workplace)), ...driverHooks];
  const borrowed = used.filter(({from}) => from === ofClaude).length;
  return {
    hooks: all.length === 0 ? NO_HOOKS : createHooks(all, getCommon, emit),
    listing: all.map(({event, matcher, command, from}) => ({event, matcher, command, from})),
    warnings:
      borrowed === 0
        ? []
        : [
            `${borrowed} hook${borrowed === 1 ? '' : 's'} of ~/.claude/settings.json run here too; "claude": {"hooks": false} turns them off`,
          ],
  };
}
