/** Runs slash commands. The text of a command goes out as a notice. A command may ask the person and the model. */
import {randomUUID} from 'node:crypto';
import type {Emit, Question} from '../contract/events.ts';
import type {
  CommandContext,
  CommandQuestion,
  CommandResult,
  Prompt,
  Session,
  SubmitResult,
} from '../contract/session-requests.ts';
import {type Account, askModelForJson} from '../turn/model-request.ts';
import type {Deadline} from '../turn/run-limits.ts';
import {getErrorMessage} from '../util/errors.ts';
import {findTypo} from '../util/names.ts';
import {type CommandLine, getOurWay} from '../util/prompt-syntax.ts';
import {dropOverwritten} from '../util/text.ts';
import type {SessionParts} from './parts.ts';

interface CommandDeps {
  readonly parts: SessionParts;
  readonly session: Pick<Session, 'info' | 'request'>;
  readonly emit: Emit;
  /** Ends what the command waits for: an answer of a person or of the model. */
  readonly signal: AbortSignal;
  /** Time limit, which is paused while a person is asked. */
  readonly deadline: Deadline;
}

/** Runs a command. Never rejects. @returns the result, and the prompt that the command asks to submit, if any */
export async function runCommand(
  {name, args}: CommandLine,
  deps: CommandDeps,
): Promise<{readonly done: SubmitResult; readonly prompt?: Prompt}> {
  const {commands, mcp, info} = deps.parts;
  const command = commands.find((candidate) => candidate.name === name.toLowerCase()) ?? mcp.findCommand(name);
  let result: CommandResult;
  try {
    result = command ? await command.run(createContext(args, deps)) : describeUnknown(name, info);
  } catch (error) {
    result = {ok: false, text: getErrorMessage(error)};
  }
  const {ok, text, isOutput, exit = false, look, input, prompt} = result;
  const level = ok || isOutput ? 'info' : 'error';
  const shown = isOutput ? dropOverwritten(text) : text;
  if (text !== '') deps.emit({type: 'notice', level, text: shown, ...(look && {look})});
  const more = {...(isOutput && {isOutput}), ...(input !== undefined && {input})};
  const done = {type: 'command', ok, text, exit, ...more} as const;
  return {done, ...(prompt && {prompt})};
}

function describeUnknown(name: string, {commands}: SessionParts['info']): CommandResult {
  const ours = getOurWay(name);
  if (ours !== undefined) return {ok: false, text: `There is no command /${name}: ${ours}.`};
  const names = commands.map((command) => command.name);
  const meant = findTypo(name, names);
  const hint = meant === undefined ? '' : ` Did you mean /${meant}?`;
  const text = `Unknown command: /${name}.${hint} /help lists the commands.`;
  return {ok: false, text};
}

function createContext(args: string, {parts, session, emit, signal, deadline}: CommandDeps): CommandContext {
  const {interactive, questions, redactor, state} = parts;
  return {
    args,
    info: session.info,
    request: (request) => session.request(request),
    signal,
    say: (text) => emit({type: 'notice', level: 'info', text}),
    ask: async (question) => {
      if (!interactive) return undefined;
      deadline.pause();
      const answer = await questions.ask(toQuestion(question), emit, signal);
      deadline.resume();
      return typeof answer === 'string' ? undefined : answer;
    },
    // A command may save the answer, so keys that the model repeats are redacted before.
    complete: async (prompt, schema) =>
      redactor.text(await askModelForJson(state.model, prompt, schema, signal, createCommandAccount(parts))),
  };
}

/** Counts the model calls of commands in the budget and the transcript, under the name `mini-cc`. */
export function createCommandAccount({run, state}: SessionParts): Account {
  const {history} = state.conversation;
  return {
    budget: run.budget.open('mini-cc'),
    onUsage: (usage, model) => history.recordUsage(usage, model, 'mini-cc'),
  };
}

/** Adds what a command leaves out of its question. */
export function toQuestion(question: CommandQuestion): Question {
  return {detail: '', detailType: 'text', options: [], ...question, id: randomUUID(), agent: 'mini-cc'};
}
