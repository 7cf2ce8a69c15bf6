/** Implements `/runs`: all sessions of this user on this machine, and their runs. */
import type {Command} from '../core/contract/session-requests.ts';
import {runRunsCommandLine} from './runs/command-line.ts';
import type {SlashCommands} from './shared/command-deps.ts';

function createRunsCommand(home: string): Command {
  return {
    name: 'runs',
    description: 'your sessions on this machine and their runs: /runs [all], /runs stop|log ID',
    async run({args}) {
      const words = args.split(/\s+/).filter((word) => word !== '');
      const [verb = '', ...ids] = words.filter((word) => !/^(?:--)?all$/.test(word));
      if (verb === 'open') return {ok: false, text: '/resume SESSION opens a session here'};
      const all = words.length > ids.length + (verb === '' ? 0 : 1);
      const {stdout} = await runRunsCommandLine(home, {verb, words: ids, sure: false, json: false, all}, () => undefined);
      return {ok: true, text: stdout.trimEnd()};
    },
  };
}

export const slashCommands: SlashCommands = ({home}) => [createRunsCommand(home)];
