/** Implements `/hooks`, which lists the hooks of each event and their origin. */
import type {HookListing} from '../core/contract/hook.ts';
import type {Command} from '../core/contract/session-requests.ts';

export const hooksCommand: Command = {
  name: 'hooks',
  description: 'what runs at which event, and where it comes from',
  run: ({request}) => ({ok: true, text: format(request({type: 'hooks'}))}),
};

function format(hooks: readonly HookListing[]): string {
  if (hooks.length === 0) return 'No hooks. Settings name them under "hooks", as in Claude Code.';
  const lines = hooks.map(({event, matcher, command, from}) => {
    const what = matcher === '' || matcher === '*' ? event : `${event} (${matcher})`;
    return `  ${what}: ${command.split('\n')[0]}  [${from}]`;
  });
  return ['Hooks:', ...lines].join('\n');
}
