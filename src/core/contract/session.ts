/**
 * A session as all front ends see it: five verbs and a subscription. REPL, print mode, drivers and library use no more.
 * Slash commands are a spelling of requests: `commands/` holds them.
 */
import type {AgentEvent, Answer, Question, SessionInfo} from './events.ts';
import type {PromptContent} from './messages.ts';
import type {Request, RequestAnswer, RequestName} from './requests.ts';
import type {RunResult} from './run-result.ts';

export interface Session {
  /** Plain data without known keys. */
  readonly info: SessionInfo;
  /** A prompt, a slash command, or `Task(agent): …`. Resolves when what it started has ended; never rejects. */
  submit(input: string | Prompt): Promise<SubmitResult>;
  /** @throws what `Requests` says for each; MiniCcError `UNSUPPORTED_REQUEST` for a name that is not there. */
  request<N extends RequestName>(request: Request<N>): RequestAnswer<N>;
  /** Answers the question with this id. Unknown and settled ids are ignored. */
  answer(askId: string, answer: Answer): void;
  /** Interrupts the turn under way, its tools and foreground subagents. Without a turn it does nothing. */
  abort(): void;
  /** Ends everything and closes the transcript. May be called twice. */
  close(): Promise<void>;
  /** @returns the way to stop listening. A listener must not throw. */
  subscribe(listener: (event: AgentEvent) => void): () => void;
}

/** What a person sends. */
export interface Prompt {
  readonly content: PromptContent;
  /** By which a queued prompt is taken back. Default: a new id. */
  readonly id?: string;
}

export type SubmitResult =
  /** A turn ran to its end. */
  | {readonly type: 'turn'; readonly result: RunResult}
  /** A slash command ran; its text went out as notices. `exit`: the front end should close. */
  | {
      readonly type: 'command';
      readonly ok: boolean;
      readonly text: string;
      readonly exit: boolean;
      /** What the prompt should hold now, unless something is typed there. */
      readonly input?: string;
    }
  /** A turn is under way: the prompt waits, and reaches the model at its next step. */
  | {readonly type: 'queued'; readonly id: string};

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
