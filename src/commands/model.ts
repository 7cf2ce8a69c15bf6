import type {Command} from '../core/session.ts';

export const modelCommand: Command = {
  name: 'model',
  description: 'show the model, or change it: /model haiku',
  run({session, args}) {
    if (args === '') {
      return {
        ok: true,
        text: `Model: ${session.model.name}. Change it by /model NAME (opus, sonnet, haiku, or any name that the server knows).`,
      };
    }
    const before = session.model.name;
    session.setModel(args);
    const now = session.model;
    if (now.offline && args !== now.name) {
      return {
        ok: false,
        text: `No key and no server is set, so the offline model stays. Set ANTHROPIC_API_KEY or ANTHROPIC_BASE_URL to use ${args}.`,
      };
    }
    return {ok: true, text: now.name === before ? `Model: ${now.name}` : `Model: ${now.name} (was ${before})`};
  },
};
