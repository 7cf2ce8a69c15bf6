/** Implements `/plugin`, which lists, installs and removes plugins as `mini-cc plugin` does. */
import type {SlashCommands} from './shared/command-deps.ts';
import {confirm} from './shared/results.ts';

const VERBS = 'list|install|enable|disable|update|remove|marketplace';

export const slashCommands: SlashCommands = ({runPlugin}) => [
  {
    name: 'plugin',
    description: `plugins and marketplaces: /plugin [${VERBS}]`,
    argumentHint: `[${VERBS}]`,
    async run({args, ask}) {
      const words = args.split(/\s+/).filter((word) => word !== '');
      const text = await runPlugin(words.length === 0 ? ['list'] : words, (question, detail) =>
        confirm(ask, question, detail, 'yes, with all that it brings'),
      );
      return {ok: true, text};
    },
  },
];
