import type {Command} from '../core/contract/command.ts';
import {RULE_KINDS, type Rule} from '../core/permissions/rules/rule.ts';
import {MODE_MEANING} from './mode.ts';

/** `/permissions`: what counts now, and where it comes from. */
export const permissionsCommand: Command = {
  name: 'permissions',
  description: 'the mode, the rules and where they come from, what was granted',
  run({permissions: {mode, rules, granted}}) {
    const parts = [
      `Mode: ${mode} (${MODE_MEANING[mode]})`,
      rules.length === 0 ? 'No rules.' : `Rules (deny wins, then ask, then allow):\n${table(rules)}`,
      ...(granted.length === 0
        ? []
        : [`Granted for this session:\n${granted.map((grant) => `  ${line(grant)}`).join('\n')}`]),
      'A question writes an allow rule by 3. By hand: permissions.allow|ask|deny in settings.json, or --allowed-tools and --disallowed-tools.',
    ];
    return {ok: true, text: parts.join('\n\n')};
  },
};

function table(rules: readonly Rule[]): string {
  const ordered = RULE_KINDS.flatMap((kind) => rules.filter((rule) => rule.kind === kind));
  const width = Math.min(40, Math.max(...ordered.map(({text}) => line(text).length)));
  return ordered
    .map(({kind, text, source}) => `  ${kind.padEnd(5)}  ${line(text).padEnd(width)}  ${source}`)
    .join('\n');
}

/** A command of several lines is one line of the list. */
function line(text: string): string {
  return text.replace(/\s*\n\s*/g, ' ');
}
