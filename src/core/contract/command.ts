/** What a slash command is. `commands/` holds them. */

import type {PermissionStanding} from '../session/parts.ts';
import type {Session} from '../session.ts';
import type {Answer, Question} from './events.ts';

/** What a slash command may do. Its words come back; the session emits them. */
export interface CommandContext {
  readonly session: Session;
  readonly args: string;
  readonly permissions: PermissionStanding;
  /** A line before the command's end. */
  say(text: string): void;
  /** Undefined where nobody can be asked, or when the person interrupted. */
  ask(question: Omit<Question, 'id' | 'agent'>): Promise<Answer | undefined>;
  /** One answer of the session's model outside the conversation, as JSON by the schema. @throws ModelError */
  complete(prompt: string, schema: Readonly<Record<string, unknown>>): Promise<string>;
}

export interface CommandResult {
  readonly ok: boolean;
  readonly text: string;
  readonly exit?: boolean;
  /** The text is a unified diff, with lines around it. */
  readonly isDiff?: boolean;
  /** For the prompt, where nothing is typed: the person may send it again, or change it. */
  readonly input?: string;
}

export interface Command {
  readonly name: string;
  readonly description: string;
  run(context: CommandContext): Promise<CommandResult> | CommandResult;
}
