import type {Command} from '../core/contract/session.ts';

export const modelCommand: Command = {
  name: 'model',
  description: 'show the model, or change it: /model haiku',
  run({args, info: {model: before}, request}) {
    if (args === '') {
      const text = `Model: ${before}. Change it by /model NAME (opus, sonnet, haiku, or any name that the server knows).`;
      return {ok: true, text};
    }
    const {model, offline} = request({type: 'set_model', model: args});
    if (offline && args !== model) {
      const text = `No key and no server is set, so the offline model stays. Set ANTHROPIC_API_KEY or ANTHROPIC_BASE_URL to use ${args}.`;
      return {ok: false, text};
    }
    return {ok: true, text: model === before ? `Model: ${model}` : `Model: ${model} (was ${before})`};
  },
};
