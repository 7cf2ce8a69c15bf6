/** Rules of tools, from the command line and the settings, checked by name. */
import type {Settings} from '../config/settings.ts';
import {UsageError} from '../core/errors.ts';
import {nearest} from '../core/nearest.ts';
import {toolName} from '../core/tool-names.ts';
import type {SessionOptions} from './options.ts';

/** What subagents may have at all. @param disallowed what nobody may have in this session */
export function toolRules({subagents}: Settings, disallowed: ReadonlySet<string>) {
  const {allow, deny = []} = subagents?.tools ?? {};
  return {deny: [...deny.map(toolName), ...disallowed], ...(allow === undefined ? {} : {allow: allow.map(toolName)})};
}

/** @param known names of all tools. @throws UsageError for a name that is none */
export function rulesOf(options: SessionOptions, settings: Settings, known: readonly string[]) {
  const read = (names: readonly string[], where: string) => new Set(names.map((name) => ruleName(name, known, where)));
  return {
    allowed: read([...(options.allowedTools ?? []), ...(settings.permissions?.allow ?? [])], 'allowed tools'),
    disallowed: read([...(options.disallowedTools ?? []), ...(settings.permissions?.deny ?? [])], 'disallowed tools'),
  };
}

function ruleName(rule: string, known: readonly string[], where: string): string {
  if (rule.includes('('))
    throw new UsageError(`${where}: ${rule}: rules with a pattern are not yet available; name the tool alone`);
  const name = toolName(rule);
  if (known.includes(name)) return name;
  throw new UsageError(`${where}: there is no tool ${JSON.stringify(rule)} (did you mean ${nearest(name, known)}?)`);
}
