/** What a slash command is. `commands/` holds them. */
import type {Answer, Question, SessionInfo} from './events.ts';
import type {Session} from './session.ts';

/** What a slash command works with. It returns its text, and the session emits it. */
export interface CommandContext {
  /** What was typed after the command's name. */
  readonly args: string;
  readonly info: SessionInfo;
  readonly request: Session['request'];
  /** Shows a line before the command ends. */
  say(text: string): void;
  /** Undefined where no person can be asked, and when the person interrupted. */
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
  /** What it throws is shown as an error. */
  run(context: CommandContext): Promise<CommandResult> | CommandResult;
}
