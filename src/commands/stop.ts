import type {Command} from '../core/session.ts';

export const stopCommand: Command = {
  name: 'stop',
  description: 'end the turn and every subagent started from it',
  async run({session}) {
    const runs = session.runs.filter((run) => run.endedAt === undefined).length;
    const wasBusy = await session.stop();
    if (!wasBusy) return {ok: true, text: 'Nothing is running.'};
    return {ok: true, text: runs === 0 ? 'Stopped.' : `Stopped, with ${runs} subagent${runs === 1 ? '' : 's'}.`};
  },
};
