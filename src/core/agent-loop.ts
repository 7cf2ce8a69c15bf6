/** The only loop there is: ask the model, run what it calls, until it answers or something ends it. */
import {ModelError, messageOf} from './errors.ts';
import type {AgentEventBody} from './events.ts';
import type {History} from './history.ts';
import type {Inbox} from './inbox.ts';
import {type Clock, Deadline, isReportingTurn, type Limits} from './limits.ts';
import {type AssistantBlock, addUsage, NO_USAGE, type ToolSpec, type ToolUse, textOf, type Usage} from './messages.ts';
import type {Model, ModelReply} from './model.ts';
import {CutOff, type RunResult, type ToolRecord} from './run-result.ts';
import {type Caller, refuseAll, runToolCalls} from './tool-calls.ts';
import {ToolSpecs} from './tool-specs.ts';

/** One run's arguments: made once, never changed. */
export interface AgentRun extends Caller {
  readonly model: Model;
  readonly system: string;
  readonly history: History;
  readonly inbox: Inbox;
  readonly limits: Limits;
  readonly clock: Clock;
  /** Aborted with a `CutOff`; the first reason wins. */
  readonly signal: AbortSignal;
  /** Also emit the raw events of the model's stream. */
  readonly rawStream: boolean;
}

/** How often an answer cut at the output limit is asked to go on. */
const MAX_CONTINUATIONS = 3;
const GO_ON = 'Your answer was cut at the output limit. Go on exactly where it stopped, without repeating anything.';
const REPORT_NOW =
  'You have reached the limit of this run. Do not call tools: report now what you found or did, what is missing, and where (file:line).';

/** Runs until the end. Never rejects: how it ended is in the result, with all that there was by then. */
export async function runAgent(run: AgentRun): Promise<RunResult> {
  const tally = new Tally(run.clock);
  const cut = new AbortController();
  const onAbort = () => cut.abort(run.signal.reason);
  if (run.signal.aborted) onAbort();
  run.signal.addEventListener('abort', onAbort, {once: true});
  const deadline = new Deadline(run.clock, run.limits.timeoutSeconds * 1000, () =>
    cut.abort(new CutOff('timeout', run.limits.timeoutSeconds)),
  );
  try {
    return await loop({...run, permit: pausing(run, deadline)}, cut.signal, deadline, tally);
  } catch (error) {
    return failed(error, run, cut.signal, tally);
  } finally {
    deadline.stop();
    run.signal.removeEventListener('abort', onAbort);
  }
}

async function loop(run: AgentRun, signal: AbortSignal, deadline: Deadline, tally: Tally): Promise<RunResult> {
  let continuations = 0;
  const specs = new ToolSpecs();
  for (;;) {
    signal.throwIfAborted();
    for (const letter of run.inbox.take()) appendUser(run, letter.text);
    const turn = tally.turns + 1;
    const outOfTurns = isReportingTurn(turn, run.limits);
    const reporting = outOfTurns || (turn > 1 && deadline.reportDue);
    if (reporting) appendUser(run, REPORT_NOW);
    const reply = await ask(run, specs.of(run.tools), signal, tally, !reporting);
    appendReply(run, reply, tally);

    const calls = reply.content.filter((block): block is ToolUse => block.type === 'tool_use');
    if (calls.length > 0) {
      const mayRun = !reporting && turn < run.limits.maxTurns;
      const outcomes = mayRun
        ? await runToolCalls(calls, run, signal, reply.garbledInputs)
        : refuseAll(calls, 'Not run: the limit of this run is reached.');
      tally.records.push(...outcomes.map((outcome) => outcome.record));
      const content = outcomes.map((outcome) => outcome.block);
      run.history.append({role: 'user', content});
      run.emit({type: 'message', role: 'user', content});
      if (mayRun) continue;
    }
    if (reporting || calls.length > 0) {
      return outOfTurns || !reporting
        ? tally.result({outcome: 'limit', limit: `${run.limits.maxTurns} turn${run.limits.maxTurns === 1 ? '' : 's'}`})
        : tally.result({outcome: 'timeout', seconds: run.limits.timeoutSeconds});
    }

    switch (reply.stopReason) {
      case 'pause_turn':
        continue;
      case 'max_tokens':
        continuations += 1;
        tally.joinNextText();
        if (continuations > MAX_CONTINUATIONS) return tally.result({outcome: 'limit', limit: 'output tokens'});
        appendUser(run, GO_ON);
        continue;
      case 'model_context_window_exceeded':
        return tally.result({outcome: 'limit', limit: "the model's context window"});
      case 'refusal':
        return tally.result({outcome: 'error', code: 'REFUSAL', error: 'the model refused to answer'});
      default:
        if (run.inbox.size > 0) continue;
        return tally.result({outcome: 'success'});
    }
  }
}

/** One model call; text is shown while it comes. */
async function ask(
  run: AgentRun,
  tools: readonly ToolSpec[],
  signal: AbortSignal,
  tally: Tally,
  mayCallTools: boolean,
): Promise<ModelReply> {
  tally.beginCall();
  try {
    return await run.model.reply(
      {system: run.system, tools, messages: run.history.messages, mayCallTools, signal},
      (progress) => {
        if (progress.type === 'retry') tally.dropStreamed();
        else if (progress.type === 'text') tally.streamed(progress.text);
        const event = eventOf(progress, run.rawStream);
        if (event) run.emit(event);
      },
    );
  } finally {
    tally.endCall();
  }
}

function eventOf(
  progress: Parameters<Parameters<Model['reply']>[1]>[0],
  rawStream: boolean,
): AgentEventBody | undefined {
  switch (progress.type) {
    case 'text':
      return {type: 'text_delta', text: progress.text};
    case 'thinking':
      return {type: 'thinking_delta', text: progress.text};
    case 'raw':
      return rawStream ? {type: 'stream', event: progress.event} : undefined;
    case 'retry':
      return progress;
  }
}

function appendUser(run: AgentRun, text: string): void {
  run.history.append({role: 'user', content: text});
  run.emit({type: 'message', role: 'user', content: text});
}

function appendReply(run: AgentRun, reply: ModelReply, tally: Tally): void {
  tally.count(reply);
  // An empty reply is a legal end of a turn, but no server takes an empty message back.
  if (reply.content.length === 0) return;
  const facts = {model: reply.model, usage: reply.usage, stopReason: reply.stopReason};
  run.history.append({role: 'assistant', content: [...reply.content]}, facts);
  run.emit({type: 'message', role: 'assistant', id: reply.id, content: reply.content, ...facts});
}

/** The time in which a person is asked does not count. */
function pausing(run: AgentRun, deadline: Deadline): AgentRun['permit'] {
  return async (request, signal) => {
    deadline.pause();
    try {
      return await run.permit(request, signal);
    } finally {
      deadline.resume();
    }
  };
}

/** What is left of a run that was cut off or whose model failed. The partial answer stays in the history. */
function failed(error: unknown, run: AgentRun, signal: AbortSignal, tally: Tally): RunResult {
  run.history.settleOpenCalls('Cut off before it ended.');
  const partial = tally.takeStreamed();
  if (partial.trim() !== '') {
    const content = [{type: 'text', text: partial.trimEnd()} as AssistantBlock];
    run.history.append({role: 'assistant', content});
    tally.setText(partial.trim());
  }
  if (signal.aborted) {
    const reason: unknown = signal.reason;
    if (reason instanceof CutOff) {
      if (reason.why === 'timeout') return tally.result({outcome: 'timeout', seconds: reason.seconds});
      if (reason.why === 'user') run.history.append({role: 'user', content: '[Interrupted by the user]'});
    }
    return tally.result({outcome: 'stopped'});
  }
  const code = error instanceof ModelError ? error.code : 'INTERNAL';
  return tally.result({outcome: 'error', code, error: messageOf(error)});
}

type Ending<T = RunResult> = T extends {outcome: infer O}
  ? {outcome: O} & Omit<T, 'outcome' | keyof TallyFields>
  : never;
type TallyFields = Pick<RunResult, 'text' | 'usage' | 'usageByModel' | 'turns' | 'tools' | 'durationMs' | 'modelMs'>;

/** What a run has used and said so far. */
class Tally {
  readonly records: ToolRecord[] = [];
  turns = 0;
  #usage: Usage = NO_USAGE;
  readonly #byModel: Record<string, Usage> = {};
  readonly #startedAt: number;
  #modelMs = 0;
  #callStartedAt = 0;
  #text = '';
  #join = false;
  #streamed = '';

  constructor(private readonly clock: Clock) {
    this.#startedAt = clock.now();
  }

  beginCall(): void {
    this.#callStartedAt = this.clock.now();
    this.#streamed = '';
  }

  endCall(): void {
    this.#modelMs += this.clock.now() - this.#callStartedAt;
  }

  streamed(text: string): void {
    this.#streamed += text;
  }

  dropStreamed(): void {
    this.#streamed = '';
  }

  takeStreamed(): string {
    const text = this.#streamed;
    this.#streamed = '';
    return text;
  }

  count(reply: ModelReply): void {
    this.turns += 1;
    this.#streamed = '';
    this.#usage = addUsage(this.#usage, reply.usage);
    this.#byModel[reply.model] = addUsage(this.#byModel[reply.model] ?? NO_USAGE, reply.usage);
    const text = textOf(reply.content);
    if (text !== '') this.setText(this.#join ? this.#text + text : text);
    this.#join = false;
  }

  /** The next text goes on where this one was cut. */
  joinNextText(): void {
    this.#join = true;
  }

  setText(text: string): void {
    this.#text = text;
  }

  result(ending: Ending): RunResult {
    return {
      ...ending,
      text: this.#text,
      usage: this.#usage,
      usageByModel: this.#byModel,
      turns: this.turns,
      tools: this.records,
      durationMs: this.clock.now() - this.#startedAt,
      modelMs: this.#modelMs,
    };
  }
}
