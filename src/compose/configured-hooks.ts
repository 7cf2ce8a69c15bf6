/** Creates the hooks of a session: those of the settings, and those of the program that drives it. */
import {homedir} from 'node:os';
import path from 'node:path';
import type {LoadedSettings} from '../config/settings.ts';
import type {AgentDefinition} from '../core/agent-types.ts';
import type {Emit} from '../core/contract/events.ts';
import type {HookListing, HookSetting} from '../core/contract/hook.ts';
import {type AgentHooks, createToolHooks} from '../core/permissions/tool-hooks.ts';
import {NO_HOOKS} from '../core/turn/run-hooks.ts';
import {createCommandHook, createHooks, type Hook, type HookWorkplace} from '../extensions/hooks.ts';
import {ALL_TOOLS} from './known-tools.ts';

interface SessionHooks extends AgentHooks {
  readonly listing: readonly HookListing[];
  /** Warnings for the user, one line each. */
  readonly warnings: readonly string[];
  /** Returns the session's hooks with those of the agent, or undefined if the agent has none of its own. */
  createAgentHooks(agent: Pick<AgentDefinition, 'hooks'>): AgentHooks | undefined;
}

/**
 * @param driverHooks callbacks of the program that drives the session
 * @param mainAgent agent that the session runs as
 */
export function createSessionHooks(
  {hooks: found, settings}: Pick<LoadedSettings, 'hooks' | 'settings'>,
  {driverHooks, mainAgent}: {readonly driverHooks: readonly Hook[]; readonly mainAgent: AgentDefinition | undefined},
  workplace: HookWorkplace,
  getCommon: () => Readonly<Record<string, unknown>>,
  emit: Emit,
): SessionHooks {
  const ofClaude = path.join(homedir(), '.claude', 'settings.json');
  const used = settings.claude?.hooks === false ? found.filter(({from}) => from !== ofClaude) : found;
  const toHooks = (list: readonly HookSetting[]) => list.map((setting) => createCommandHook(setting, workplace));
  const shared = [...toHooks(used), ...driverHooks];
  const all = [...shared, ...toHooks(mainAgent?.hooks ?? [])];
  const create = (list: readonly Hook[]): AgentHooks => {
    const hooks = list.length === 0 ? NO_HOOKS : createHooks(list, getCommon, emit);
    return {hooks, ...createToolHooks(hooks, ALL_TOOLS)};
  };
  const borrowed = used.filter(({from}) => from === ofClaude).length;
  return {
    ...create(all),
    createAgentHooks: ({hooks = []}) =>
      // A subagent's run ends with the event `SubagentStop`, so its `Stop` hooks listen to that.
      hooks.length === 0
        ? undefined
        : create([
            ...shared,
            ...toHooks(hooks.map((hook) => (hook.event === 'Stop' ? {...hook, event: 'SubagentStop'} : hook))),
          ]),
    listing: all.map(({event, matcher, command, from}) => ({event, matcher, command, from})),
    warnings:
      borrowed === 0
        ? []
        : [
            `${borrowed} hook${borrowed === 1 ? '' : 's'} of ~/.claude/settings.json run here too; "claude": {"hooks": false} turns them off`,
          ],
  };
}
