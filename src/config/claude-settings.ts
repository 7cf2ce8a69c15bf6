/**
 * Reads `permissions` and `hooks` of `.claude/settings.json`, which people have for Claude Code. mini-cc never writes
 * it. Unknown parts of it become hints.
 */

import {realpathSync, statSync} from 'node:fs';
import path from 'node:path';
import type {HookSetting} from '../core/contract/hook.ts';
import type {RuleKind} from '../core/contract/permission.ts';
import type {ToolFacts} from '../core/contract/tool-facts.ts';
import {getRuleWarning, parseRule, RULE_KINDS} from '../core/permissions/rules/rule.ts';
import {tryOr} from '../core/util/errors.ts';
import {parseRoot} from '../core/util/json-syntax.ts';
import {toFields} from '../core/util/objects.ts';
import {type Position, type Problem, ProblemList, quote} from '../core/util/problem.ts';
import {readHookSettings} from './hook-settings.ts';
import {JsonTree, readText} from './jsonc-file.ts';

interface ClaudeSettings {
  readonly found: boolean;
  readonly rules: Partial<Record<RuleKind, string[]>>;
  readonly hooks: readonly HookSetting[];
  /** Its key and value, where it turns the mode bypassPermissions off. */
  readonly disable: {readonly disableBypassPermissionsMode?: 'disable'};
  /** Folders of `additionalDirectories` that exist, with links resolved. */
  readonly directories: readonly string[];
  /** True when `defaultMode` is plan: no other mode narrows what the session may do. */
  readonly isPlan: boolean;
  readonly hints: readonly Problem[];
}

const NO_BYPASS = 'disableBypassPermissionsMode';

/**
 * Never throws.
 * @param cwd folder to which directories are relative
 * @param home home directory of the user
 * @param tools tools that rules may name
 */
export function readClaudeSettings(
  file: string,
  {cwd, home, tools}: {readonly cwd: string; readonly home: string; readonly tools: readonly ToolFacts[]},
): ClaudeSettings {
  const problems = new ProblemList(file);
  const text = readText(problems, false);
  const root = text === undefined || text.trim() === '' ? undefined : parseRoot(text, problems);
  const tree = root && new JsonTree(text!, root, problems);
  const permissions = tree && toFields(toFields(tree.values).permissions);
  const hint = (key: string, message: string, index?: number) => {
    const keys = ['permissions', key, ...(index === undefined ? [] : [String(index)])];
    const position: Position = tree!.keyPlace(keys);
    problems.warn('not-understood', position, `${keys.slice(0, 2).join('.')}: ${message}`);
  };
  const rules: ClaudeSettings['rules'] = {};
  const directories: string[] = [];
  const disable: {[NO_BYPASS]?: 'disable'} = {};
  for (const [key, value] of Object.entries(permissions ?? {})) {
    const kind = RULE_KINDS.find((each) => each === key);
    for (const [index, entry] of toTexts(value).entries()) {
      if (kind) {
        const read = parseRule(entry, tools);
        if ('problem' in read) hint(key, `${read.problem}: this rule is not used`, index);
        else rules[kind] = [...(rules[kind] ?? []), entry];
        const warning = 'tool' in read ? getRuleWarning(read, tools) : undefined;
        if (warning !== undefined) hint(key, warning, index);
      } else if (key === 'additionalDirectories') {
        const folder = findFolder(entry, cwd, home);
        if (folder === undefined) hint(key, `there is no folder ${quote(entry)}`, index);
        else directories.push(folder);
      }
    }
    if (key === 'defaultMode') {
      if (value !== 'plan' && value !== 'default') hint(key, `only plan has an effect, ${quote(value)} has none`);
    } else if (key === NO_BYPASS && value === 'disable') disable[NO_BYPASS] = value;
    else if (!kind && key !== 'additionalDirectories') hint(key, 'mini-cc does not know it');
  }
  const {hooks, problems: wrong} = readHookSettings(tree && toFields(tree.values).hooks, file);
  for (const each of wrong) problems.warn('not-understood', tree!.keyPlace(['hooks']), each);
  const hints = problems.all.map((each) => ({...each, severity: 'hint' as const}));
  const isPlan = permissions?.defaultMode === 'plan';
  return {found: text !== undefined, rules, disable, directories, hooks, isPlan, hints};
}

function toTexts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
}

/** Returns the folder with links resolved. @returns undefined when there is none */
export function findFolder(written: string, base: string, home: string): string | undefined {
  const folder = path.resolve(base, written.replace(/^~(?=\/|$)/, home));
  return tryOr(() => (statSync(folder).isDirectory() ? realpathSync(folder) : undefined), undefined);
}
