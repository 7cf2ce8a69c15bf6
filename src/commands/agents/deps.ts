/** Defines what the commands about agents need, in the REPL and on the command line. */

import type {AgentSource, LoadedCatalog} from '../../agents/catalog.ts';
import type {ListableTools} from '../../agents/known-tools.ts';
import type {CommandContext} from '../../core/contract/session-requests.ts';

export interface AgentsDeps extends Pick<CommandContext, 'ask' | 'say' | 'complete'> {
  /** Reads the agents from their files. */
  snapshot(): LoadedCatalog;
  readonly listable: ListableTools;
  /** Names of the session's MCP servers, also in the form that they have in the names of tools. */
  serverNames(): readonly string[];
  /** The project's folder `.mini-cc/agents`, where new agents are saved. */
  readonly projectFolder: string;
  /** Folders whose agents may be deleted: those of the project and of the user. */
  readonly writableFolders: readonly string[];
  /** Opens `$EDITOR` and waits until it is left. @returns true, or the reason why it could not be opened */
  openEditor(file: string): Promise<true | string>;
  /** Returns the path relative to the workspace, if the file is inside. */
  shownPath(file: string): string;
}

/** The result of a command, with the text for the person. */
export interface AgentsResult {
  readonly ok: boolean;
  readonly text: string;
  /** Facts for scripts: what was created or removed. */
  readonly data?: Readonly<Record<string, unknown>>;
}

/** The origin of an agent, in words for people. */
export const SOURCE_LABELS: Readonly<Record<AgentSource, string>> = {
  'built-in': 'built in',
  inline: '--agents',
  project: 'project',
  user: 'user',
  'claude-project': '.claude of the project',
  'claude-user': '.claude of the user',
};
