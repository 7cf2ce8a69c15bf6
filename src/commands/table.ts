/** The slash commands, in the order in which /help prints them. */
import type {Command} from '../core/session.ts';
import {type AgentsRoom, createAgentsCommand} from './agents/slash-command.ts';
import {backgroundCommand} from './background.ts';
import type {ChangesRoom} from './changes.ts';
import {clearCommand} from './clear.ts';
import {createRewindCommand} from './conversation.ts';
import {createDoctorCommand, type Examine} from './doctor.ts';
import {exitCommand} from './exit.ts';
import {createHelpCommand} from './help.ts';
import {laterCommands} from './later.ts';
import {modeCommand} from './mode.ts';
import {modelCommand} from './model.ts';
import {permissionsCommand} from './permissions.ts';
import {stopCommand} from './stop.ts';
import {createSubagentsCommand, createTasksCommand} from './subagents.ts';

export function commandTable(agents: AgentsRoom, changes: ChangesRoom, examine: Examine): readonly Command[] {
  const ready = [
    createAgentsCommand(agents),
    clearCommand,
    modelCommand,
    modeCommand,
    permissionsCommand,
    createSubagentsCommand(changes),
    createTasksCommand(changes),
    backgroundCommand,
    createRewindCommand(changes),
    stopCommand,
    createDoctorCommand(examine),
    exitCommand,
  ];
  return [createHelpCommand(ready), ...ready, ...laterCommands];
}
