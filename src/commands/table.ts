/** The slash commands, in the order in which /help prints them. */
import type {Command} from '../core/contract/session.ts';
import {formatNotYetAvailable, NOT_YET_AVAILABLE, PLANNED_FEATURES} from '../core/util/planned-features.ts';
import {type AgentsCommandDeps, createAgentsCommand} from './agents/slash-command.ts';
import {clearCommand, rewindCommand} from './conversation.ts';
import {createDoctorCommand, type Examine} from './doctor.ts';
import {createExportCommand, type ExportDeps} from './export/export.ts';
import {hooksCommand} from './hooks.ts';
import {KEYS} from './keys.ts';
import {createNoteCommand, type NoteDeps} from './memory/note.ts';
import {modelCommand} from './model.ts';
import {modeCommand, permissionsCommand} from './permissions.ts';
import {resumeCommand} from './resume.ts';
import {fanOutCommand} from './runs/fanout.ts';
import {backgroundCommand, stopCommand} from './runs/stop.ts';
import {subagentsCommand, tasksCommand} from './runs/subagents.ts';
import {sandboxCommand} from './sandbox.ts';
import {shellCommand} from './shell.ts';
import {compactCommand, contextCommand} from './usage/context.ts';
import {costCommand} from './usage/cost.ts';

export function createCommandTable(
  agents: AgentsCommandDeps,
  examine: Examine,
  notes: NoteDeps,
  exports: ExportDeps,
): readonly Command[] {
  const available = [
    createAgentsCommand(agents),
    clearCommand,
    compactCommand,
    contextCommand,
    costCommand,
    modelCommand,
    modeCommand,
    permissionsCommand,
    sandboxCommand,
    hooksCommand,
    subagentsCommand,
    tasksCommand,
    backgroundCommand,
    fanOutCommand,
    resumeCommand,
    rewindCommand,
    createExportCommand(exports),
    stopCommand,
    createDoctorCommand(examine),
    exitCommand,
  ];
  return [
    createHelpCommand(available),
    ...available,
    shellCommand,
    createNoteCommand(notes),
    ...PLANNED_FEATURES.commands.map(createUnavailableCommand),
  ];
}

/** Commands that are typed after a slash. */
export function isSlashCommand({name}: Pick<Command, 'name'>): boolean {
  return /^\w/.test(name);
}

const exitCommand: Command = {
  name: 'exit',
  description: 'leave',
  run: () => ({ok: true, text: '', exit: true}),
};

const TYPED = `Task(explore): …   dispatches a subagent at once (explore, code, plan)`;

function createHelpCommand(others: readonly Command[]): Command {
  const help: Command = {
    name: 'help',
    description: 'the commands and keys',
    run() {
      const width = Math.max(...others.map((command) => command.name.length));
      const lines = [help, ...others].map((command) => `  /${command.name.padEnd(width)}  ${command.description}`);
      return {ok: true, text: `Commands:\n${lines.join('\n')}\n\n${KEYS}\n\n${TYPED}`};
    },
  };
  return help;
}

/** /help does not list it. */
function createUnavailableCommand(name: string): Command {
  return {
    name,
    description: NOT_YET_AVAILABLE,
    run: ({args}) => ({ok: false, text: `${formatNotYetAvailable(`/${name}`)}.`, input: `/${name} ${args}`.trim()}),
  };
}
