/** Reads `hooks` of a settings file, in the format of Claude Code. */

import {HOOK_EVENTS, type HookSetting} from '../core/contract/hook.ts';
import {tryOr} from '../core/util/errors.ts';
import {findTypo} from '../core/util/names.ts';
import {toFields} from '../core/util/objects.ts';

interface HookSettings {
  readonly hooks: readonly HookSetting[];
  /** Parts that cannot be used, one line each, with their place. */
  readonly problems: readonly string[];
}

const DEFAULT_TIMEOUT_S = 60;
const MAX_TIMEOUT_S = 3600;

/** Reads hooks. Never throws. @param value value of the key `hooks` @param from file that the hooks come from */
export function readHookSettings(value: unknown, from: string): HookSettings {
  const hooks: HookSetting[] = [];
  const problems: string[] = [];
  for (const [name, groups] of Object.entries(toFields(value))) {
    const event = HOOK_EVENTS.find((each) => each === name);
    if (!event) {
      const meant = findTypo(name, HOOK_EVENTS);
      problems.push(
        `hooks.${name}: mini-cc has no such event${meant === undefined ? '' : ` (did you mean ${meant}?)`}`,
      );
      continue;
    }
    for (const [index, group] of toList(groups).entries()) {
      const {matcher = '', hooks: commands} = toFields(group);
      const place = `hooks.${name}[${index}]`;
      const problem = typeof matcher === 'string' ? findPatternProblem(matcher) : 'matcher must be a text';
      if (problem !== undefined) {
        problems.push(`${place}: ${problem}`);
        continue;
      }
      for (const [at, each] of toList(commands).entries()) {
        const read = readHook(toFields(each));
        if (typeof read === 'string') problems.push(`${place}.hooks[${at}]: ${read}`);
        else hooks.push({event, matcher: matcher as string, from, ...read});
      }
    }
  }
  return {hooks, problems};
}

function readHook(fields: Record<string, unknown>) {
  const {type = 'command', timeout = DEFAULT_TIMEOUT_S, if: rule, async: isAsync} = fields;
  const isHttp = type === 'http';
  const key = isHttp ? 'url' : 'command';
  const command = fields[key];
  if (type !== 'command' && !isHttp)
    return `only hooks of the types command and http are run, not ${JSON.stringify(type)}`;
  if (typeof command !== 'string' || command.trim() === '') return `${key} is missing`;
  if (isHttp && !/^https?:/.test(command)) return `url must be an address, http://… or https://…`;
  if (typeof timeout !== 'number' || !(timeout > 0)) return 'timeout must be a number of seconds above 0';
  if (rule !== undefined && typeof rule !== 'string') return 'if must be a permission rule';
  return {
    command,
    timeoutSeconds: Math.min(timeout, MAX_TIMEOUT_S),
    ...(rule !== undefined && {if: rule}),
    ...(isAsync === true && {isAsync: true as const}),
    ...(isHttp && {isHttp: true as const, ...readHeaders(fields)}),
  };
}

function readHeaders({headers, allowedEnvVars}: Record<string, unknown>) {
  const texts = Object.entries(toFields(headers)).flatMap(([name, value]) =>
    typeof value === 'string' ? [[name, value] as const] : [],
  );
  const names = toList(allowedEnvVars).filter((name) => typeof name === 'string');
  return {headers: Object.fromEntries(texts), headerVariables: names};
}

function findPatternProblem(matcher: string): string | undefined {
  const isPattern = matcher === '*' || tryOr(() => new RegExp(`^(?:${matcher})$`, 'u'), undefined);
  return isPattern ? undefined : `matcher is no regular expression: ${JSON.stringify(matcher)}`;
}

function toList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
