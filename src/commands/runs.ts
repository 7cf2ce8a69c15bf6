/** Implements `/runs`: all sessions of this user on this machine, and their runs. */
import {runRunsCommandLine} from './runs/command-line.ts';
import type {SlashCommands} from './shared/command-deps.ts';

export const slashCommands: SlashCommands = ({home}) => [
  {
    name: 'runs',
    description: 'your sessions on this machine and their runs: /runs [all], /runs stop|log ID',
    async run({args: typed}) {
      const words = typed.split(/\s+/).filter((word) => word !== '');
      const isAll = (word: string) => /^(?:--)?all$/.test(word);
      const [verb = '', ...ids] = words.filter((word) => !isAll(word));
      if (verb === 'open') return {ok: false, text: '/resume SESSION opens a session here'};
      const args = {verb, words: ids, all: words.some(isAll), sure: false, json: false};
      const {stdout} = await runRunsCommandLine(home, args, () => undefined);
      return {ok: true, text: stdout.trimEnd()};
    },
  },
];
