/** Implements `/folder`, which shows the folders that the session works in. */
import type {SlashCommands} from './shared/command-deps.ts';

export const slashCommands: SlashCommands = () => [
  {
    name: 'folder',
    description: 'the folders that the session works in',
    run: ({info, request}) => ({ok: true, text: [info.cwd, ...request({type: 'folders'})].join('\n')}),
  },
];
