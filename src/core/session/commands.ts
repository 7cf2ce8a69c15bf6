/** Runs slash commands. The text of a command goes out as a notice. A command may ask the person and the model. */
import {randomUUID} from 'node:crypto';
import type {Emit} from '../contract/events.ts';
import type {CommandContext, CommandResult, Prompt, Session, SubmitResult} from '../contract/session-requests.ts';
import {askModelForJson} from '../turn/model-request.ts';
import type {RunAborted} from '../turn/run-ending.ts';
import {getErrorMessage} from '../util/errors.ts';
import {findTypo} from '../util/names.ts';
import type {CommandLine} from '../util/prompt-syntax.ts';
import type {SessionParts} from './parts.ts';

export class CommandRunner {
  readonly #parts: SessionParts;
  readonly #session: Pick<Session, 'info' | 'request'>;
  readonly #emit: Emit;
  /** Ends what commands wait for: an answer of a person or of the model. */
  #abort = new AbortController();

  constructor(parts: SessionParts, session: Pick<Session, 'info' | 'request'>, emit: Emit) {
    this.#parts = parts;
    this.#session = session;
    this.#emit = emit;
  }

  /** Runs a command. Never rejects. @returns the result, and the prompt that the command asks to submit, if any */
  async run({name, args}: CommandLine): Promise<{readonly done: SubmitResult; readonly prompt?: Prompt}> {
    const {commands, mcp} = this.#parts;
    const command = commands.find((candidate) => candidate.name === name.toLowerCase()) ?? mcp.findCommand(name);
    let result: CommandResult;
    try {
      result = command ? await command.run(this.#createContext(args)) : this.#describeUnknown(name, args);
    } catch (error) {
      result = {ok: false, text: getErrorMessage(error)};
    }
    const {ok, text, exit = false, isDiff = false, input, prompt} = result;
    if (text !== '') this.#emit({type: 'notice', level: ok ? 'info' : 'error', text, ...(isDiff && {isDiff})});
    const done = {type: 'command', ok, text, exit, ...(input !== undefined && {input})} as const;
    return {done, ...(prompt && {prompt})};
  }

  #describeUnknown(name: string, args: string): CommandResult {
    const names = this.#parts.info.commands.map((command) => command.name);
    const meant = findTypo(name, names);
    const hint = meant === undefined ? '' : ` Did you mean /${meant}?`;
    const text = `Unknown command: /${name}.${hint} /help lists the commands.`;
    return {ok: false, text, input: `/${name} ${args}`.trim()};
  }

  /** Ends the waits of the current commands for answers. Later commands are not affected. */
  abort(why: RunAborted): void {
    this.#abort.abort(why);
    this.#abort = new AbortController();
  }

  #createContext(args: string): CommandContext {
    const {interactive, questions, redactor, state, run} = this.#parts;
    return {
      args,
      info: this.#session.info,
      request: (request) => this.#session.request(request),
      say: (text) => this.#emit({type: 'notice', level: 'info', text}),
      ask: async (question) => {
        if (!interactive) return undefined;
        const asked = {...question, id: randomUUID(), agent: 'mini-cc'};
        const answer = await questions.ask(asked, this.#emit, this.#abort.signal);
        return typeof answer === 'string' ? undefined : answer;
      },
      // A command may save the answer, so keys that the model repeats are redacted before.
      complete: async (prompt, schema) =>
        redactor.text(
          await askModelForJson(state.model, prompt, schema, this.#abort.signal, (usage, model) => {
            run.budget.spendFor('mini-cc', usage, model);
            state.conversation.history.recordUsage(usage, model, 'mini-cc');
          }),
        ),
    };
  }
}
