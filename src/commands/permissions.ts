/** Implements `/mode` and `/permissions`, which show what agents may do, and where this is set. */

import {PERMISSION_MODES, type PermissionMode} from '../core/contract/events.ts';
import type {PermissionState} from '../core/contract/permission.ts';
import type {Command, CommandContext} from '../core/contract/session-requests.ts';
import {RULE_KINDS} from '../core/permissions/rules/rule.ts';
import {formatMeant} from '../core/util/names.ts';
import {toOneLine} from '../core/util/text.ts';

const MODE_MEANING: Readonly<Record<PermissionMode, string>> = {
  default: 'asks before it writes, runs or fetches',
  acceptEdits: 'edits inside the workspace pass, all else asks',
  plan: 'reads only',
  bypassPermissions: 'asks nothing',
};

export const modeCommand: Command = {
  name: 'mode',
  description: 'permission mode: show it, or change it by /mode plan',
  async run(context) {
    const {request, args} = context;
    const {permissionMode: before} = context.info;
    if (args === '') return {ok: true, text: `Mode: ${before} (${MODE_MEANING[before]}). ${formatOthers(before)}`};
    const mode = PERMISSION_MODES.find((name) => name.toLowerCase() === args.toLowerCase());
    if (!mode) {
      const hint = formatMeant(args, PERMISSION_MODES);
      return {ok: false, text: `There is no mode ${JSON.stringify(args)}${hint}. ${formatOthers()}`};
    }
    if (mode === before) return {ok: true, text: `Mode: ${mode} (${MODE_MEANING[mode]})`};
    if (mode === 'bypassPermissions' && !(await isSure(context))) {
      return {ok: false, text: `Mode: ${before}, as it was.`};
    }
    request({type: 'set_permission_mode', mode});
    return {ok: true, text: `Mode: ${mode}, was ${before} (${MODE_MEANING[mode]})`};
  },
};

function formatOthers(current?: PermissionMode): string {
  return `Change it by Shift+Tab, or /mode ${PERMISSION_MODES.filter((mode) => mode !== current).join('|')}.`;
}

async function isSure({ask}: CommandContext): Promise<boolean> {
  const answer = await ask({
    title: 'Let every call of every agent pass without a question?',
    detail: 'Commands run, files change and hosts are reached as models see fit, until the mode is changed again.',
    detailType: 'text',
    options: [
      {digit: 1, choice: 'yes', label: 'yes'},
      {digit: 2, choice: 'no', label: 'no'},
    ],
    escape: 'no',
  });
  return answer?.choice === 'yes';
}

export const permissionsCommand: Command = {
  name: 'permissions',
  description: 'rules and grants: the mode, the rules and where they come from, what was granted',
  run({request}) {
    const {mode, rules, granted} = request({type: 'permissions'});
    const grants = granted.map((grant) => `  ${toOneLine(grant)}`).join('\n');
    const parts = [
      `Mode: ${mode} (${MODE_MEANING[mode]})`,
      rules.length === 0 ? 'No rules.' : `Rules (deny wins, then ask, then allow):\n${formatRules(rules)}`,
      ...(granted.length === 0 ? [] : [`Granted for this session:\n${grants}`]),
      'A question writes an allow rule by 3. By hand: permissions.allow|ask|deny in settings.json, or --allowed-tools and --disallowed-tools.',
    ];
    return {ok: true, text: parts.join('\n\n')};
  },
};

function formatRules(rules: PermissionState['rules']): string {
  const ordered = RULE_KINDS.flatMap((kind) => rules.filter((rule) => rule.kind === kind));
  const width = Math.min(40, Math.max(...ordered.map(({text}) => toOneLine(text).length)));
  return ordered
    .map(({kind, text, source}) => `  ${kind.padEnd(5)}  ${toOneLine(text).padEnd(width)}  ${source}`)
    .join('\n');
}
