/** What the commands on agents work with, in the REPL and on the command line. */
import type {AgentSource, LoadedCatalog} from '../../agents/catalog.ts';
import type {Answer, Question} from '../../core/contract/events.ts';

export interface AgentsDesk {
  /** The agents as their files are now. */
  snapshot(): LoadedCatalog;
  readonly toolNames: readonly string[];
  /** `.mini-cc/agents` of the project, where new ones are saved. */
  readonly projectFolder: string;
  /** Where agents may be deleted: of the project, of the user. */
  readonly writableFolders: readonly string[];
  /** One answer of the model that fits the schema. @throws ModelError */
  complete(prompt: string, schema: Readonly<Record<string, unknown>>): Promise<string>;
  /** Undefined: nobody can be asked, or the person has dropped it. */
  ask(question: Omit<Question, 'id' | 'agent'>): Promise<Answer | undefined>;
  /** Opens `$EDITOR` and waits for its end. True, or why it could not be opened. */
  openEditor(file: string): Promise<true | string>;
  say(text: string): void;
  /** Shown instead of the workspace's path. */
  shownPath(file: string): string;
}

/** How it ended, and what to say. */
export interface DeskResult {
  readonly ok: boolean;
  readonly text: string;
  /** For scripts: what was made or removed. */
  readonly data?: Readonly<Record<string, unknown>>;
}

/** Sources as people read them. */
export const SOURCE_WORDS: Readonly<Record<AgentSource, string>> = {
  'built-in': 'built in',
  inline: '--agents',
  project: 'project',
  user: 'user',
  'claude-project': '.claude of the project',
  'claude-user': '.claude of the user',
};
