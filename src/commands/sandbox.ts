/** Implements `/sandbox`, which shows what confines commands, and turns it on or off for this session. */
import {SANDBOX_MODES, type SandboxMode, type SandboxState} from '../core/contract/permission.ts';
import type {Command} from '../core/contract/session-requests.ts';
import {formatMeant} from '../core/util/names.ts';
import {toOneLine} from '../core/util/text.ts';

const MODE_MEANING: Readonly<Record<SandboxMode, string>> = {
  off: 'commands that write run outside, and are asked about',
  auto: 'commands run confined to the workspace without a question, where a sandbox works',
  required: 'commands run confined to the workspace without a question, or not at all',
};

export const sandboxCommand: Command = {
  name: 'sandbox',
  description: 'what confines commands: show it, or change it by /sandbox auto',
  async run({request, args}) {
    if (args === '') return {ok: true, text: formatState(await request({type: 'sandbox'}))};
    const mode = SANDBOX_MODES.find((name) => name === args.toLowerCase());
    if (!mode) {
      const hint = formatMeant(args, SANDBOX_MODES);
      return {ok: false, text: `There is no sandbox mode ${JSON.stringify(args)}${hint}: ${SANDBOX_MODES.join(', ')}`};
    }
    return {ok: true, text: formatState(await request({type: 'set_sandbox', mode}))};
  },
};

function formatState({mode, kind, problem, warning, container, ...lists}: SandboxState): string {
  const named = (['show', 'hide', 'env', 'allowedHosts'] as const)
    .filter((key) => lists[key].length > 0)
    .map((key) => `  ${key}: ${lists[key].map(toOneLine).join(', ')}`);
  return [
    `Sandbox: ${mode} (${MODE_MEANING[mode]})`,
    kind === undefined ? `There is none here: ${problem}` : `${kind} confines commands that only read, in every mode.`,
    ...(container ? ['Your settings say that a container is the wall.'] : []),
    ...(named.length > 0 ? ['By the settings:', ...named] : []),
    ...(warning === undefined ? [] : [warning]),
    `Change it for this session: /sandbox ${SANDBOX_MODES.filter((other) => other !== mode).join('|')}. For good: "sandbox" in settings.json.`,
  ].join('\n');
}
