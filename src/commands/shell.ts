import type {Command} from '../core/contract/session-requests.ts';

/** Implements `!npm test` by the request `run_command`. */
export const shellCommand: Command = {
  name: '!',
  description: 'run a shell command; the model reads its output with your next prompt',
  async run({args, request, say}) {
    if (args === '') return {ok: false, text: 'Type a command after the !, for example !git status'};
    const {output, succeeded} = await request({type: 'run_command', command: args});
    say(output);
    return {ok: succeeded, text: ''};
  },
};
