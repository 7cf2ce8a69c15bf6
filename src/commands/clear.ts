import type {Command} from '../core/session.ts';

export const clearCommand: Command = {
  name: 'clear',
  description: 'begin a new conversation; the old one can be resumed',
  async run({session}) {
    const before = session.info.sessionId;
    await session.clear();
    return {ok: true, text: `New conversation. The old one: --resume ${before}`};
  },
};
