/** Lists the slash commands in the order in which /help prints them. */
import type {MemoryDeps} from '../config/memory-files.ts';
import type {ThemeName} from '../core/contract/events.ts';
import type {Command} from '../core/contract/session-requests.ts';
import {formatMeant} from '../core/util/names.ts';
import {toShortLine} from '../core/util/text.ts';
import {type AgentsCommandDeps, createAgentsCommand} from './agents.ts';
import {diffCommand} from './changes.ts';
import {clearCommand, rewindCommand} from './clear-rewind.ts';
import {createConfigCommand, type ShownSettings} from './config.ts';
import {createDoctorCommand, type Examine} from './doctor.ts';
import {createExportCommand, type ExportDeps} from './export.ts';
import {hooksCommand, mcpCommand} from './extensions.ts';
import {fanOutCommand} from './fanout.ts';
import {createInitCommand} from './init.ts';
import {createMemoryCommand, createNoteCommand} from './memory.ts';
import {modelCommand} from './model.ts';
import {addFolderCommand, modeCommand, permissionsCommand, sandboxCommand} from './permissions.ts';
import {resumeCommand} from './resume.ts';
import {backgroundCommand, stopCommand, subagentsCommand, tasksCommand} from './subagents.ts';
import {createThemeCommand} from './theme.ts';
import {compactCommand, contextCommand, costCommand, createStatusCommand} from './usage.ts';

/** Dependencies of commands besides the requests of the session. */
interface CommandDeps {
  readonly version: string;
  readonly agents: AgentsCommandDeps;
  readonly examine: Examine;
  readonly memory: MemoryDeps;
  readonly exports: ExportDeps;
  /** The command that lists the skills of the user and the project. */
  readonly skills: Command;
  readonly readConfig: () => Promise<ShownSettings>;
  /** Stores the theme in the user's settings. @returns the path of the file */
  readonly saveTheme: (theme: ThemeName) => Promise<string>;
}

export function createCommandTable(deps: CommandDeps): readonly Command[] {
  const available = [
    createAgentsCommand(deps.agents),
    subagentsCommand,
    tasksCommand,
    stopCommand,
    backgroundCommand,
    fanOutCommand,
    modelCommand,
    modeCommand,
    permissionsCommand,
    sandboxCommand,
    hooksCommand,
    deps.skills,
    mcpCommand,
    addFolderCommand,
    clearCommand,
    resumeCommand,
    rewindCommand,
    diffCommand,
    createExportCommand(deps.exports),
    createInitCommand(deps.memory),
    createMemoryCommand(deps.memory),
    compactCommand,
    contextCommand,
    costCommand,
    createStatusCommand(deps.version),
    createConfigCommand(deps.readConfig),
    createThemeCommand(deps.saveTheme),
    createDoctorCommand(deps.examine),
    exitCommand,
  ];
  return [createHelpCommand(available), ...available, shellCommand, createNoteCommand(deps.memory)];
}

/** Tells whether the command is typed after a slash. */
export function isSlashCommand({name}: Pick<Command, 'name'>): boolean {
  return /^\w/.test(name);
}

const exitCommand: Command = {
  name: 'exit',
  description: 'leave',
  run: () => ({ok: true, text: '', exit: true}),
};

/** The most important keys, shown below the commands of `/help`. */
const MAIN_KEYS = '? all keys · Esc stops · Shift+Tab mode · Ctrl+O transcript · Down agents';

/** Width of each of the two columns, so that the list fits a screen of 24 rows and 80 columns. */
const COLUMN = 38;

function createHelpCommand(others: readonly Command[]): Command {
  const help: Command = {
    name: 'help',
    description: 'commands and keys: /help NAME says more of one',
    run({args}) {
      const all = [help, ...others];
      if (args === '') return {ok: true, text: `${formatCommands(all)}\n  ${MAIN_KEYS}`};
      const name = args.replace(/^\//, '').toLowerCase();
      const found = all.find((command) => command.name === name);
      if (found) return {ok: true, text: `/${found.name}: ${found.description}`};
      const names = all.map((command) => command.name);
      const hint = formatMeant(name, names, (meant) => `/${meant}`);
      return {ok: false, text: `There is no command /${name}${hint}. /help lists them.`};
    },
  };
  return help;
}

/** Formats the list. The part of a description before its first colon, comma or bracket is the short description. */
function formatCommands(commands: readonly Command[]): string {
  const width = Math.max(...commands.map(({name}) => name.length));
  // The second name of a command is not listed.
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
  async run({args, request, say}) {
    if (args === '') return {ok: false, text: 'Type a command after the !, for example !git status'};
    const {output, succeeded} = await request({type: 'run_command', command: args});
    say(output);
    return {ok: succeeded, text: ''};
  },
};
