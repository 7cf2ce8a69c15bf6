/** What the commands about agents work with, in the REPL and on the command line. */

import type {AgentSource, LoadedCatalog} from '../../agents/catalog.ts';
import type {ListableTools} from '../../agents/known-tools.ts';
import type {CommandContext} from '../../core/contract/session-requests.ts';

export interface AgentsDeps extends Pick<CommandContext, 'ask' | 'say' | 'complete'> {
  /** The agents as their files are now. */
  snapshot(): LoadedCatalog;
  readonly listable: ListableTools;
  /** MCP servers that a session has, also as they stand in names of tools. */
  serverNames(): readonly string[];
  /** `.mini-cc/agents` of the project, where new ones are saved. */
  readonly projectFolder: string;
  /** Where agents may be deleted: of the project, of the user. */
  readonly writableFolders: readonly string[];
  /** Opens `$EDITOR` and waits until it is left. True, or why it could not be opened. */
  openEditor(file: string): Promise<true | string>;
  /** Relative to the workspace, where the file lies inside. */
  shownPath(file: string): string;
}

/** How it ended, and the text for the person. */
export interface AgentsResult {
  readonly ok: boolean;
  readonly text: string;
  /** For scripts: what was made or removed. */
  readonly data?: Readonly<Record<string, unknown>>;
}

/** Where an agent comes from, for people. */
export const SOURCE_LABELS: Readonly<Record<AgentSource, string>> = {
  'built-in': 'built in',
  inline: '--agents',
  project: 'project',
  user: 'user',
  'claude-project': '.claude of the project',
  'claude-user': '.claude of the user',
};
