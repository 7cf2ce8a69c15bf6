/** Implements `/mode`, `/permissions`, `/sandbox` and `/add-dir`, which show and change what agents may do, and where. */
import {PERMISSION_MODES, type PermissionMode} from '../core/contract/events.ts';
import {type PermissionState, SANDBOX_MODES, type SandboxMode, type SandboxState} from '../core/contract/permission.ts';
import type {Command, CommandContext, CommandResult} from '../core/contract/session-requests.ts';
import {RULE_KINDS} from '../core/permissions/rules/rule.ts';
import {formatMeant} from '../core/util/names.ts';
import {toOneLine} from '../core/util/text.ts';
import type {SlashCommands} from './shared/command-deps.ts';
import {confirm} from './shared/results.ts';

const MODE_MEANING: Readonly<Record<PermissionMode, string>> = {
  default: 'asks before it writes, runs or fetches',
  acceptEdits: 'edits inside the workspace pass, all else asks',
  plan: 'reads only',
  bypassPermissions: 'asks nothing',
  dontAsk: 'what would be a question is refused',
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
    // Where the mode is turned off, the request says so without a question.
    const isAsked = mode === 'bypassPermissions' && request({type: 'permissions'}).mayBypass;
    if (isAsked && !(await isSure(context))) {
      return {ok: false, text: `Mode: ${before}, as it was.`};
    }
    request({type: 'set_permission_mode', mode});
    return {ok: true, text: `Mode: ${mode}, was ${before} (${MODE_MEANING[mode]})`};
  },
};

function formatOthers(current?: PermissionMode): string {
  return `Change it by Shift+Tab, or /mode ${PERMISSION_MODES.filter((mode) => mode !== current).join('|')}.`;
}

function isSure({ask}: CommandContext): Promise<boolean | undefined> {
  const detail = 'Commands run, files change and hosts are reached as models see fit, until the mode is changed again.';
  return confirm(ask, 'Let every call of every agent pass without a question?', detail);
}

export const permissionsCommand: Command = {
  name: 'permissions',
  description: 'rules and grants: the mode, the rules and where they come from, what was granted',
  argumentHint: '[allow|ask|deny|remove RULE]',
  async run({request, args}) {
    if (args !== '') return changeRule(args, request);
    const {mode, rules, granted} = request({type: 'permissions'});
    const grants = granted.map((grant) => `  ${toOneLine(grant)}`).join('\n');
    const parts = [
      `Mode: ${mode} (${MODE_MEANING[mode]})`,
      rules.length === 0 ? 'No rules.' : `Rules (deny wins, then ask, then allow):\n${formatRules(rules)}`,
      ...(granted.length === 0 ? [] : [`Granted for this session:\n${grants}`]),
      'Yours for this project: /permissions allow|ask|deny|remove RULE, or 3 at a question. For all: permissions.allow|ask|deny in settings.json.',
    ];
    return {ok: true, text: parts.join('\n\n')};
  },
};

async function changeRule(args: string, request: CommandContext['request']): Promise<CommandResult> {
  const [, verb = '', rule = ''] = /^(\S+)\s*(.*)$/s.exec(args)!;
  const change = [...RULE_KINDS, 'remove' as const].find((name) => name === verb.toLowerCase());
  if (!change || rule === '') {
    return {
      ok: false,
      text: 'Write /permissions allow|ask|deny|remove RULE, for example /permissions allow bash(npm test)',
    };
  }
  await request({type: 'change_rule', rule, change});
  return {ok: true, text: change === 'remove' ? `Removed: ${rule}` : `Saved for this project: ${change} ${rule}`};
}

function formatRules(rules: PermissionState['rules']): string {
  const ordered = RULE_KINDS.flatMap((kind) => rules.filter((rule) => rule.kind === kind));
  const width = Math.min(40, Math.max(...ordered.map(({text}) => toOneLine(text).length)));
  return ordered
    .map(({kind, text, source}) => `  ${kind.padEnd(5)}  ${toOneLine(text).padEnd(width)}  ${source}`)
    .join('\n');
}

const SANDBOX_MEANING: Readonly<Record<SandboxMode, string>> = {
  off: 'commands that write run outside, and are asked about',
  auto: 'commands run confined to the workspace without a question, where a sandbox works',
  required: 'commands run confined to the workspace without a question, or not at all',
};

export const sandboxCommand: Command = {
  name: 'sandbox',
  description: 'what confines commands: show it, or change it by /sandbox auto',
  async run({request, args}) {
    if (args === '') return {ok: true, text: formatSandbox(await request({type: 'sandbox'}))};
    const mode = SANDBOX_MODES.find((name) => name === args.toLowerCase());
    if (!mode) {
      const hint = formatMeant(args, SANDBOX_MODES);
      return {ok: false, text: `There is no sandbox mode ${JSON.stringify(args)}${hint}: ${SANDBOX_MODES.join(', ')}`};
    }
    return {ok: true, text: formatSandbox(await request({type: 'set_sandbox', mode}))};
  },
};

function formatSandbox({mode, kind, problem, warning, container, ...lists}: SandboxState): string {
  const named = (['show', 'hide', 'env', 'allowedHosts'] as const)
    .filter((key) => lists[key].length > 0)
    .map((key) => `  ${key}: ${lists[key].map(toOneLine).join(', ')}`);
  return [
    `Sandbox: ${mode} (${SANDBOX_MEANING[mode]})`,
    kind === undefined ? `There is none here: ${problem}` : `${kind} confines commands that only read, in every mode.`,
    ...(container ? ['Your settings say that a container is the wall.'] : []),
    ...(named.length > 0 ? ['By the settings:', ...named] : []),
    ...(warning === undefined ? [] : [warning]),
    `Change it for this session: /sandbox ${SANDBOX_MODES.filter((other) => other !== mode).join('|')}. For good: "sandbox" in settings.json.`,
  ].join('\n');
}

const addFolderCommand: Command = {
  name: 'add-dir',
  description: 'work in a further folder: /add-dir FOLDER',
  run({args, info, request}) {
    if (args !== '') {
      const folders = request({type: 'add_folder', folder: args.replace(/^(["'])(.*)\1$/, '$2')});
      return {ok: true, text: `Agents may read and write here too, in this session: ${folders.at(-1)}`};
    }
    const folders = request({type: 'folders'});
    const list = [info.cwd, ...folders].map((folder) => `  ${folder}`).join('\n');
    return {ok: true, text: `Agents work in:\n${list}\nA further folder: /add-dir FOLDER. At each start: --add-dir`};
  },
};

export const slashCommands: SlashCommands = () => [modeCommand, permissionsCommand, sandboxCommand, addFolderCommand];
