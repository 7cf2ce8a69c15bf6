import type {Command} from '../core/session.ts';

export const backgroundCommand: Command = {
  name: 'background',
  description: 'send the subagents at work to the background (Ctrl+B)',
  run({session}) {
    const went = session.subagents.detachAll();
    if (went.length === 0) return {ok: true, text: 'No subagent is at work in the foreground.'};
    const names = went.map(({agent, description}) => `[${agent}] ${description}`).join(', ');
    return {ok: true, text: `In the background now: ${names}. The end of each will be announced.`};
  },
};
