import type {Command, CommandContext} from '../core/contract/command.ts';
import {PERMISSION_MODES, type PermissionMode} from '../core/contract/events.ts';
import {nearest} from '../core/util/nearest.ts';

export const MODE_MEANING: Readonly<Record<PermissionMode, string>> = {
  default: 'asks before it writes, runs or fetches',
  acceptEdits: 'edits inside the workspace pass, all else asks',
  plan: 'reads only',
  bypassPermissions: 'asks nothing',
};

/** Through which Shift+Tab turns; from any other mode it leads to the first. */
const TURN: readonly PermissionMode[] = ['default', 'acceptEdits', 'plan'];

/** `/mode`, and Shift+Tab as `/mode next`, which the status line answers. */
export const modeCommand: Command = {
  name: 'mode',
  description: 'show the permission mode, or change it: /mode plan',
  async run(context) {
    const {session, args} = context;
    const {permissionMode: before} = session.info;
    if (args === '') return {ok: true, text: `Mode: ${before} (${MODE_MEANING[before]}). ${others(before)}`};
    if (args === 'next') {
      session.setPermissionMode(TURN[(TURN.indexOf(before) + 1) % TURN.length] ?? 'default');
      return {ok: true, text: ''};
    }
    const mode = PERMISSION_MODES.find((name) => name.toLowerCase() === args.toLowerCase());
    if (!mode) {
      const meant = nearest(args, PERMISSION_MODES);
      return {ok: false, text: `There is no mode ${JSON.stringify(args)} (did you mean ${meant}?). ${others()}`};
    }
    if (mode === before) return {ok: true, text: `Mode: ${mode} (${MODE_MEANING[mode]})`};
    if (mode === 'bypassPermissions' && !(await isSure(context))) {
      return {ok: false, text: `Mode: ${before}, as it was.`};
    }
    session.setPermissionMode(mode);
    return {ok: true, text: `Mode: ${mode}, was ${before} (${MODE_MEANING[mode]})`};
  },
};

function others(current?: PermissionMode): string {
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
