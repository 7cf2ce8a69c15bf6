/** Implements `/runs`: all sessions of this user on this machine, and their runs. */
import type {Command} from '../core/contract/session-requests.ts';
import {formatSessions, listSessions} from './runs/command-line.ts';
import type {SlashCommands} from './shared/command-deps.ts';

function createRunsCommand(home: string): Command {
  return {
    name: 'runs',
    description: 'your sessions on this machine and their runs: /runs [all]',
    async run({args}) {
      return {ok: true, text: formatSessions(await listSessions(home, args.trim() === 'all'))};
    },
  };
}

export const slashCommands: SlashCommands = ({home}) => [createRunsCommand(home)];
