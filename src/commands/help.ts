/** Implements `/help`, `/exit`, and `!` with a shell command. */
import type {Command} from '../core/contract/session-requests.ts';
import {formatMeant} from '../core/util/names.ts';
import {toShortLine} from '../core/util/text.ts';
import type {SlashCommands} from './shared/command-deps.ts';

const exitCommand: Command = {
  name: 'exit',
  description: 'leave',
  run: () => ({ok: true, text: '', exit: true}),
};

/** The most important keys, shown below the commands of `/help`. */
const MAIN_KEYS = '? all keys · Esc stops · Shift+Tab mode · Ctrl+O transcript · Down agents';

/** Width of each of the two columns, so that the list fits a screen of 24 rows and 80 columns. */
const COLUMN = 38;

/** Formats the list. The part of a description before its first colon, comma or bracket is the short description. */
function formatCommands(commands: readonly Command[]): string {
  const width = Math.max(...commands.map(({name}) => name.length));
  // `tasks` is another name of a command that is listed.
  const listed = commands.filter(({name}) => name !== 'tasks');
  const cells = listed.map(({name, description}) => {
    const short = description.replace(/(?::|,| \().*$/s, '');
    return `/${name.padEnd(width)} ${toShortLine(short, COLUMN - width - 2)}`;
  });
  const rows = Math.ceil(cells.length / 2);
  return cells
    .slice(0, rows)
    .map((cell, row) => `  ${cell.padEnd(COLUMN)}  ${cells[rows + row] ?? ''}`.trimEnd())
    .join('\n');
}

/** Implements `!npm test` by the request `run_command`. */
const shellCommand: Command = {
  name: '!',
  description: 'run a shell command; the model reads its output with your next prompt',
  async run({args, request}) {
    if (args === '') return {ok: false, text: 'Type a command after the !, for example !git status'};
    const {output, succeeded} = await request({type: 'run_command', command: args});
    return {ok: succeeded, text: output, isOutput: true};
  },
};

export const slashCommands: SlashCommands = ({listCommands, listHiddenFiles}) => [
  {
    name: 'help',
    description: 'commands and keys: /help NAME says more of one',
    run({args, info}) {
      const hidden = listHiddenFiles();
      if (args === '') {
        const names = hidden.map(({name}) => `/${name}`).join(' ');
        const line =
          names === '' ? [] : [`  ${toShortLine(`not used, mini-cc has the name (/help NAME): ${names}`, 76)}`];
        return {ok: true, text: [formatCommands(listCommands()), ...line, `  ${MAIN_KEYS}`].join('\n')};
      }
      const name = args.replace(/^\//, '').toLowerCase();
      const all = [...listCommands(), ...info.commands];
      const found = all.find((command) => command.name === name);
      const files = hidden.filter((each) => each.name === name).map(({file}) => `\nIt hides ${file}.`);
      if (found) return {ok: true, text: `/${found.name}: ${found.description}${files.join('')}`};
      const names = all.map((command) => command.name);
      const hint = formatMeant(name, names, (meant) => `/${meant}`);
      return {ok: false, text: `There is no command /${name}${hint}. /help lists them.`};
    },
  },
  exitCommand,
  shellCommand,
];
