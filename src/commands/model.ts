/** Implements `/model`, which shows the model and changes it by name or from a list that the servers give. */
import type {
  Command,
  CommandContext,
  CommandQuestion,
  CommandResult,
  ProviderModels,
} from '../core/contract/session-requests.ts';
import type {SlashCommands} from './shared/command-deps.ts';

const modelCommand: Command = {
  name: 'model',
  description: 'choose the model: from a list, or by name, /model haiku',
  async run(context) {
    const {args, info, request} = context;
    if (args !== '') return setModel(args, context);
    const lists = await request({type: 'models'});
    const answer = await context.ask(createQuestion(lists, info.model));
    const chosen = lists.flatMap(({models}) => models).find((name) => name === answer?.choice);
    if (chosen !== undefined) return setModel(chosen, context);
    const names = lists.map(
      ({provider, models, problem}) => `  ${provider}: ${problem ?? (models.join(', ') || 'no model')}`,
    );
    return {ok: true, text: [`Model: ${info.model}. Change it by /model NAME.`, ...(answer ? [] : names)].join('\n')};
  },
};

function createQuestion(lists: readonly ProviderModels[], inUse: string): CommandQuestion {
  const problems = lists.flatMap(({provider, problem}) => (problem === undefined ? [] : `${provider}: ${problem}`));
  const names = lists.flatMap(({provider, models}) => models.map((name) => ({provider, name})));
  return {
    title: 'Which model?',
    detail: problems.join('\n'),
    list: names.map(({provider, name}) => ({
      choice: name,
      label: name,
      info: name === inUse ? `${provider} · in use` : provider,
    })),
    escape: `stay with ${inUse}`,
  };
}

function setModel(name: string, {info: {model: before}, request}: CommandContext): CommandResult {
  const {model, offline} = request({type: 'set_model', model: name});
  if (offline && name !== model) {
    const text = `No key and no server is set, so the offline model stays. Set ANTHROPIC_API_KEY or ANTHROPIC_BASE_URL to use ${name}.`;
    return {ok: false, text};
  }
  return {ok: true, text: model === before ? `Model: ${model}` : `Model: ${model} (was ${before})`};
}

export const slashCommands: SlashCommands = () => [modelCommand];
