/** Implements `/model`, which shows the model and changes it by name or from a list that the servers give. */
import type {
  Command,
  CommandContext,
  CommandQuestion,
  CommandResult,
  ProviderModels,
} from '../core/contract/session-requests.ts';
import {formatTokens} from '../core/util/text.ts';
import type {SlashCommands} from './shared/command-deps.ts';

const modelCommand: Command = {
  name: 'model',
  description: 'choose the model: from a list, or by name, /model haiku',
  async run(context) {
    const {args, info, request} = context;
    if (args !== '') return setModel(args, context);
    const lists = await request({type: 'models'});
    const answer = await context.ask(createQuestion(lists, info.model));
    const chosen = lists.flatMap(({models}) => models).find(({name}) => name === answer?.choice);
    if (chosen !== undefined) return setModel(chosen.name, context);
    const names = lists.map(
      ({provider, models, problem}) =>
        `  ${provider}: ${problem ?? (models.map(({name}) => name).join(', ') || 'no model')}`,
    );
    return {ok: true, text: [`Model: ${info.model}. Change it by /model NAME.`, ...(answer ? [] : names)].join('\n')};
  },
};

function createQuestion(lists: readonly ProviderModels[], inUse: string): CommandQuestion {
  const problems = lists.flatMap(({provider, problem}) => (problem === undefined ? [] : `${provider}: ${problem}`));
  const all = lists.flatMap(({provider, models}) => models.map((model) => ({provider, model})));
  // An alias and the model that it means are one; the first name is shown as the one in use.
  const used = all.find(({model}) => model.name === inUse) ?? all.find(({model}) => model.id === inUse);
  // The picker marks its first row, so Enter alone changes nothing.
  const listed = used ? [used, ...all.filter((each) => each !== used)] : all;
  const rows = listed.map(({provider, model}) => [
    ...(model.id === model.name || model.name.endsWith(`/${model.id}`) ? [provider] : [model.id]),
    model.window === undefined ? '' : formatTokens(model.window),
    model.price ? `$${model.price.input}/$${model.price.output}` : '',
    model.thinks ? 'thinks' : '',
    model === used?.model ? 'in use' : '',
  ]);
  return {
    title: 'Which model?',
    detail: ['Its id, its window, US dollars for a million tokens of input and output.', ...problems].join('\n'),
    list: listed.map(({model: {name}}, index) => ({
      choice: name,
      label: name,
      info: rows[index]!,
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
