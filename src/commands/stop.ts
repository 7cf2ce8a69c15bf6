/** Implements `/stop` and `/background`, which stop the running work or move it to the background. */
import type {Command} from '../core/contract/session-requests.ts';
import {formatRunTitle} from '../core/runs/progress-line.ts';

export const stopCommand: Command = {
  name: 'stop',
  description: 'stop all work: the turn and every subagent started from it',
  async run({request}) {
    const {wasBusy, runs} = await request({type: 'stop'});
    if (!wasBusy) return {ok: true, text: 'Nothing is running.'};
    return {ok: true, text: runs === 0 ? 'Stopped.' : `Stopped, with ${runs} subagent${runs === 1 ? '' : 's'}.`};
  },
};

export const backgroundCommand: Command = {
  name: 'background',
  description: 'agents to the background: those that the turn waits for (Ctrl+B)',
  run({request}) {
    const runs = request({type: 'detach_runs'});
    if (runs.length === 0) return {ok: true, text: 'No subagent is at work in the foreground.'};
    const names = runs.map(formatRunTitle).join(', ');
    return {ok: true, text: `In the background now: ${names}. The end of each will be announced.`};
  },
};
