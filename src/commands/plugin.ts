/** Implements `/plugin`, which lists, installs and removes plugins as `mini-cc plugin` does. */
import type {Command, CommandContext} from '../core/contract/session-requests.ts';
import type {CommandDeps, SlashCommands} from './shared/command-deps.ts';

const VERBS = 'list|install|enable|disable|update|remove|marketplace';

function createPluginCommand(runPlugin: CommandDeps['runPlugin']): Command {
  return {
    name: 'plugin',
    description: `plugins and marketplaces: /plugin [${VERBS}]`,
    argumentHint: `[${VERBS}]`,
    async run({args, ask}) {
      const words = args.split(/\s+/).filter((word) => word !== '');
      const text = await runPlugin(words.length === 0 ? ['list'] : words, (question, detail) =>
        confirm(ask, question, detail),
      );
      return {ok: true, text};
    },
  };
}

async function confirm(ask: CommandContext['ask'], title: string, detail: string): Promise<boolean | undefined> {
  const options = [
    {digit: 1, choice: 'yes', label: 'yes, with all that it brings'},
    {digit: 2, choice: 'no', label: 'no'},
  ];
  const answer = await ask({title, detail, options, escape: 'no'});
  return answer && answer.choice === 'yes';
}

export const slashCommands: SlashCommands = ({runPlugin}) => [createPluginCommand(runPlugin)];
