/** Runs what was typed after a slash. Its words go out as a notice; it may ask the person and the model. */
import {randomUUID} from 'node:crypto';
import type {CommandContext, CommandResult} from '../contract/command.ts';
import type {Emit} from '../contract/events.ts';
import type {SubmitResult} from '../contract/session.ts';
import type {Session} from '../session.ts';
import {completeOnce} from '../turn/ask-once.ts';
import type {CutOff} from '../turn/run-ending.ts';
import {messageOf} from '../util/errors.ts';
import type {SessionParts} from './parts.ts';

export class CommandRunner {
  readonly #parts: SessionParts;
  readonly #emit: Emit;
  /** Ends what commands wait for: an answer of a person or of the model. */
  #abort = new AbortController();

  constructor(parts: SessionParts, emit: Emit) {
    this.#parts = parts;
    this.#emit = emit;
  }

  /** Never rejects. @param session the one that the command was typed in */
  async run(line: string, session: Session): Promise<SubmitResult> {
    const [, name = '', args = ''] = /^\/(\S+)\s*([\s\S]*)$/.exec(line) ?? [];
    const command = this.#parts.commands.find((candidate) => candidate.name === name.toLowerCase());
    let result: CommandResult;
    try {
      result = command
        ? await command.run(this.#context(args.trim(), session))
        : {ok: false, text: `Unknown command: /${name}. /help lists the commands.`};
    } catch (error) {
      result = {ok: false, text: messageOf(error)};
    }
    const {ok, text, exit = false, isDiff = false, input} = result;
    const more = isDiff ? {isDiff} : {};
    if (text !== '') this.#emit({type: 'notice', level: ok ? 'info' : 'error', text, ...more});
    return {type: 'command', ok, text, exit, ...(input === undefined ? {} : {input})};
  }

  /** What commands under way wait for comes to nothing; later ones are not concerned. */
  abort(why: CutOff): void {
    this.#abort.abort(why);
    this.#abort = new AbortController();
  }

  #context(args: string, session: Session): CommandContext {
    return {
      session,
      args,
      permissions: this.#parts.permissions(),
      say: (text) => this.#emit({type: 'notice', level: 'info', text}),
      ask: async (question) => {
        if (!this.#parts.interactive) return undefined;
        const {signal} = this.#abort;
        const answer = await this.#parts.questions.ask(
          {...question, id: randomUUID(), agent: 'mini-cc'},
          this.#emit,
          signal,
        );
        return typeof answer === 'string' ? undefined : answer;
      },
      // What is drafted is saved: a key that a model repeats must not come into a file by that.
      complete: async (prompt, schema) =>
        this.#parts.redactor.text(await completeOnce(session.model, prompt, schema, this.#abort.signal)),
    };
  }
}
