/**
 * Lets a program drive the session by JSON lines on standard input and output, in the protocol of Claude Code's Agent
 * SDK. Prompts are answered one after the other, each with a `result` line. A prompt waits for the background runs that
 * it began until the next prompt comes. Control requests are handled when they arrive, also during a turn. On this side,
 * tools have Claude Code's names and inputs. An error in one line is reported as the answer to that line only.
 */
import {randomUUID} from 'node:crypto';
import {z} from 'zod';
import type {AgentEvent} from '../../core/contract/events.ts';
import type {RunResult} from '../../core/contract/results.ts';
import type {Session, SubmitResult} from '../../core/contract/session-requests.ts';
import type {ToolFacts} from '../../core/contract/tool-facts.ts';
import {hasEnded} from '../../core/runs/run-record.ts';
import {getTotals} from '../../core/turn/run-ending.ts';
import {inBackground, neverRejects} from '../../core/util/background.ts';
import {getErrorCode, getErrorMessage, MiniCcError, UsageError} from '../../core/util/errors.ts';
import {formatIssues} from '../../core/util/problem.ts';
import type {DriverServers} from '../../extensions/mcp/driver-transport.ts';
import {countReported, createInitObject, createResultObject, createStreamJson, toRunResult} from '../json-output.ts';
import {getExitCode} from '../print.ts';
import {RunTitles} from '../progress.ts';
import {answerControlRequest, DriverRules} from './control-requests.ts';
import {type CallHook, describeSession, type Initialize, initializeSchema} from './initialize.ts';
import {type BadLine, type ControlRequest, type ControlResponse, parseDriverLine, type UserLine} from './lines.ts';
import {toClaudeShape} from './output.ts';
import {Tasks} from './tasks.ts';
import {type CallQuestion, createToolQuestion, isCallQuestion, readToolAnswer} from './tool-questions.ts';

interface DriverOptions {
  readonly lines: AsyncIterable<string>;
  write(object: Record<string, unknown>): void;
  /** Writes a line for the person who reads standard error. */
  warn(line: string): void;
  /** Creates the session when the driver's first request is known. @throws UsageError */
  open(initialize: Initialize, callHook: CallHook, servers: MessageServers): Promise<Session>;
  /** True when the driver may turn all questions off. */
  readonly mayBypass: boolean;
  readonly includeHookEvents?: boolean;
  /** Saves one of the user's own settings. */
  saveSetting(key: string, value: string): Promise<unknown>;
  /** Tells in words why the program ends before the work is done. The result is then not a success. */
  readonly getLeaving: () => string | undefined;
}

/** Serves until the driver closes its end and its prompts are answered. @returns the exit code of the last prompt */
export async function drive(options: DriverOptions): Promise<number> {
  const driver = new StreamJsonDriver(options);
  for await (const line of options.lines) {
    if (line.trim() !== '') await driver.take(line);
  }
  return driver.finish();
}

class StreamJsonDriver {
  readonly #options: DriverOptions;
  #opened: Opened | undefined;
  #tools: readonly ToolFacts[] = [];
  /** Prompts that wait. One that cannot be used gets its result in its turn, too, because the driver waits for it. */
  readonly #prompts: (UserLine | BadLine)[] = [];
  readonly #startedAt = performance.now();
  readonly #tasks = new Tasks();
  #working: Promise<void> | undefined;
  #exitCode = 0;
  /** Requests to the driver that wait for its response. */
  readonly #waiting = new Map<string, (response: ControlResponse) => void>();
  #hasEnded = false;
  /** Ids of the background runs that were at work when the current prompt began. */
  #earlierRuns = new Set<string>();
  /** True when the driver has interrupted the last prompt, whose background runs end with the session. */
  #isInterrupted = false;
  /** MCP servers in the driver's process. */
  #servers: MessageServers | undefined;
  /** The error because of which there can be no session. */
  #failure: unknown;

  constructor(options: DriverOptions) {
    this.#options = options;
  }

  /** Handles one line. It rejects only when there can be no session. */
  async take(text: string): Promise<void> {
    const line = parseDriverLine(text);
    switch (line.type) {
      case 'bad':
        this.#reportBadLine(line);
        if (line.isPrompt) await this.#takePrompt(line);
        break;
      case 'user':
        await this.#takePrompt(line);
        break;
      case 'control_request':
        await this.#takeRequest(line.request_id, line.request);
        break;
      case 'control_response':
        this.#waiting.get(line.response.request_id)?.(line.response);
        break;
    }
  }

  async #takePrompt(line: UserLine | BadLine): Promise<void> {
    const {session} = await this.#open({});
    this.#prompts.push(line);
    if (this.#working) session.request({type: 'release_prompt'});
    this.#working ??= this.#work();
  }

  /** Waits until everything that the driver has sent is answered. Call it when the driver sends nothing more. */
  async finish(): Promise<number> {
    this.#hasEnded = true;
    for (const settle of this.#waiting.values()) settle(DRIVER_HAS_LEFT);
    await this.#working;
    // A later prompt may have ended the wait of an earlier one for its background runs.
    if (!this.#isInterrupted) await this.#opened?.session.request({type: 'wait_for_runs'});
    return this.#exitCode;
  }

  async #takeRequest(id: string, request: ControlRequest): Promise<void> {
    if (request.subtype === 'initialize') {
      await this.#answer(id, () => this.#initialize(request));
      return;
    }
    const {session, firstModel} = await this.#open({});
    const context = {
      session,
      firstModel,
      mayBypass: this.#options.mayBypass,
      interrupt: () => this.#interrupt(session),
      rules: this.#opened!.rules,
      startedAt: this.#startedAt,
      saveSetting: this.#options.saveSetting,
      warn: (line: string) => this.#options.warn(line),
      receive: (server: string, message: object) => this.#servers?.receive(server, message),
    };
    // The answer is not awaited, because an interrupt must not wait for a request that takes time.
    inBackground(
      this.#answer(id, () => answerControlRequest(request, context)),
      neverRejects,
    );
  }

  /** A request that comes again gets the answer of the first one: its options do not count any more. */
  async #initialize(request: ControlRequest): Promise<object> {
    const parsed = initializeSchema.safeParse(request);
    if (!parsed.success) throw this.#fail(new UsageError(`initialize: ${formatIssues(parsed.error)}`));
    const isFirst = !this.#opened;
    const {hooks, mcpServers, plugins} = parsed.data;
    const {session} = await this.#open(parsed.data).catch((error: unknown) => {
      throw this.#fail(error);
    });
    return {
      ...describeSession(session.info),
      agents: session.request({type: 'agents'}),
      // Without these fields, the SDK ends the session.
      ...(mcpServers && {mcp_servers_applied: true}),
      ...(hooks && {hooks_applied: isFirst}),
      ...(plugins && {plugins_applied: true}),
    };
  }

  #fail(error: unknown): unknown {
    this.#failure = error;
    return error;
  }

  async #open(initialize: Initialize): Promise<Opened> {
    if (this.#opened) return this.#opened;
    // The driver's first request failed, so the driver must not get a session that ignores it.
    if (this.#failure) throw this.#failure;
    this.#servers = new MessageServers(initialize, (request, signal) => this.#callDriver(request, signal));
    const session = await this.#options.open(initialize, this.#callHook, this.#servers);
    const {warnings, toolFacts} = session.info;
    this.#tools = toolFacts;
    for (const warning of warnings) this.#options.warn(warning);
    const opened: Opened = {
      session,
      toObject: undefined,
      firstModel: session.info.model,
      rules: new DriverRules(session, toolFacts),
    };
    this.#opened = opened;
    const titles = new RunTitles();
    session.subscribe((event) => {
      titles.take(event);
      const object = opened.toObject?.(event);
      if (object) this.#write(object);
      for (const each of this.#tasks.take(event, session)) this.#write(each);
      this.#askDriver(session, event);
      if (event.type === 'run_end' && event.parent === undefined) this.#endTurn(session);
      const warning = titles.formatWarning(event);
      if (warning !== undefined) this.#options.warn(warning);
    });
    return opened;
  }

  async #work(): Promise<void> {
    for (let prompt = this.#prompts.shift(); prompt; prompt = this.#prompts.shift()) {
      await this.#runPrompt(this.#opened!, prompt);
    }
    this.#working = undefined;
  }

  async #runPrompt(opened: Opened, prompt: UserLine | BadLine): Promise<void> {
    const {session} = opened;
    const {getLeaving} = this.#options;
    this.#isInterrupted = false;
    this.#earlierRuns = new Set(listRunsAtWork(session));
    const startedAt = performance.now();
    const reported = countReported(session);
    // Each prompt gets a new translation, which leaves the prompt out because the driver knows it.
    opened.toObject = createStreamJson(session, this.#options);
    const {unknownBlocks = []} = prompt.type === 'user' ? prompt : {};
    for (const {text} of unknownBlocks) this.#options.warn(text);
    this.#write(createInitObject(session, unknownBlocks));
    const submitted: SubmitResult =
      prompt.type === 'bad'
        ? {type: 'command', ok: false, text: `the line ${prompt.problem}`, exit: false}
        : // The schema of the line has checked the blocks. The session checks their images.
          await session.submit({content: prompt.content as never, verbatim: prompt.verbatim, messageId: prompt.uuid});
    const ended =
      submitted.type === 'turn'
        ? submitted.result
        : toRunResult(submitted.type === 'command' ? submitted : {ok: false, text: 'busy'});
    const result: RunResult = getLeaving() ? {...getTotals(ended), outcome: 'stopped'} : ended;
    this.#exitCode = result.outcome === 'stopped' ? 0 : getExitCode(result);
    this.#write(createResultObject(session, result, performance.now() - startedAt, reported));
  }

  #write(object: Record<string, unknown>): void {
    this.#options.write(toClaudeShape(object, this.#tools));
  }

  /** Lets the prompt wait for the runs that it began, unless another prompt waits. The last prompt waits for all. */
  #endTurn(session: Session): void {
    const runs = listRunsAtWork(session);
    const areEarlier = runs.length > 0 && runs.every((run) => this.#earlierRuns.has(run));
    if (this.#prompts.length > 0 || (areEarlier && !this.#hasEnded)) session.request({type: 'release_prompt'});
  }

  #interrupt(session: Session): readonly string[] {
    session.abort();
    session.request({type: 'release_prompt'});
    this.#isInterrupted = true;
    return this.#prompts.flatMap((prompt) => (prompt.type === 'user' && prompt.uuid) || []);
  }

  /** Puts a question to the driver, and cancels it when another side has answered it. */
  #askDriver(session: Session, event: AgentEvent): void {
    if (event.type === 'ask_end') this.#settled(event.askId);
    if (event.type !== 'ask') return;
    const {question} = event;
    if (!isCallQuestion(question)) {
      // This protocol cannot express questions of commands.
      session.answer(question.id, {choice: 'escape'});
    } else if (this.#hasEnded) {
      session.answer(question.id, {choice: 'no', note: DRIVER_HAS_LEFT.error});
    } else {
      const agentId = event.parent === undefined ? undefined : event.agentId;
      this.#ask(question.id, createToolQuestion(question, agentId, this.#tools), (response) => {
        this.#answerQuestion(session, question, response);
      });
    }
  }

  #answerQuestion(session: Session, question: CallQuestion, response: ControlResponse): void {
    if (response.subtype === 'error') {
      const note = `no answer from the driver: ${response.error ?? 'it gave no reason'}`;
      session.answer(question.id, {choice: 'no', note});
      return;
    }
    const {answer, interrupts, updates = [], ignored} = readToolAnswer(question, response.response, this.#tools);
    if (ignored !== undefined) this.#options.warn(ignored);
    // The answer comes first: a rule could settle the question without the input that the answer changes.
    session.answer(question.id, answer);
    const {rules} = this.#opened!;
    const {mayBypass, warn} = this.#options;
    for (const update of updates) {
      inBackground(rules.update(update, {session, mayBypass}), (error) => {
        warn(`permission update ${update.type}: ${getErrorMessage(error)}`);
      });
    }
    if (interrupts) session.abort();
  }

  readonly #callHook: CallHook = (callback_id, input, tool_use_id, signal) =>
    this.#callDriver({subtype: 'hook_callback', callback_id, input, ...(tool_use_id && {tool_use_id})}, signal);

  #callDriver(request: object, signal: AbortSignal): Promise<Readonly<Record<string, unknown>>> {
    return new Promise((resolve, reject) => {
      const id = randomUUID();
      const cancel = () => {
        this.#settled(id);
        reject(new Error('it took too long, or the turn was stopped'));
      };
      if (signal.aborted || this.#hasEnded) return cancel();
      signal.addEventListener('abort', cancel, {once: true});
      this.#ask(id, request, ({subtype, response, error}) => {
        signal.removeEventListener('abort', cancel);
        if (subtype === 'error') reject(new Error(error ?? 'the driver gave no reason'));
        else resolve(response ?? {});
      });
    });
  }

  #ask(id: string, request: object, settle: (response: ControlResponse) => void): void {
    this.#waiting.set(id, (response) => {
      this.#waiting.delete(id);
      settle(response);
    });
    this.#options.write({type: 'control_request', request_id: id, request});
  }

  /** Cancels a request to the driver that is settled without its response. */
  #settled(id: string): void {
    if (!this.#waiting.delete(id)) return;
    this.#options.write({type: 'control_cancel_request', request_id: id});
  }

  async #answer(id: string, work: () => unknown): Promise<void> {
    const {write} = this.#options;
    let response: object;
    try {
      response = {subtype: 'success', request_id: id, response: (await work()) ?? {}};
    } catch (error) {
      const isUnsupported = getErrorCode(error) === 'UNSUPPORTED_REQUEST';
      response = {
        subtype: 'error',
        request_id: id,
        error: getErrorMessage(error),
        ...(isUnsupported && {error_code: 'unsupported_request'}),
      };
    }
    write({type: 'control_response', response});
  }

  #reportBadLine({problem, requestId}: BadLine): void {
    const error = `the line ${problem}`;
    this.#options.warn(error);
    if (requestId !== undefined) {
      this.#options.write({type: 'control_response', response: {subtype: 'error', request_id: requestId, error}});
    } else {
      this.#options.write({type: 'system', subtype: 'input_error', error, uuid: randomUUID()});
    }
  }
}

interface Opened {
  readonly session: Session;
  /** Translates the events of the current prompt. */
  toObject: ReturnType<typeof createStreamJson> | undefined;
  readonly firstModel: string;
  readonly rules: DriverRules;
}

function listRunsAtWork(session: Session): readonly string[] {
  const runs = session.request({type: 'runs'});
  return runs.filter((run) => run.tool === undefined && !hasEnded(run)).map(({runId}) => runId);
}

const DRIVER_HAS_LEFT = {subtype: 'error', request_id: '', error: 'the driver has left'} as const;

/**
 * Sends a request to the driver.
 * @returns its response.
 * @throws Error when the driver refuses the request or has left
 */
type CallDriver = (request: object, signal: AbortSignal) => Promise<Readonly<Record<string, unknown>>>;

/** The tools of a server, which the driver sends before the server is started. */
const manifestSchema = z.looseObject({toolsListResult: z.looseObject({tools: z.array(z.unknown())})});
/** A tool of another form is left out here, and is told of when the server is started. */
const manifestTool = z.looseObject({name: z.string(), inputSchema: z.looseObject({type: z.literal('object')})});

/** A server's question has an address to open, or the schema of a form. */
interface FormOrAddress {
  readonly url?: string;
  readonly elicitationId?: string;
  readonly requestedSchema?: object;
}

/** An answer of another form is a refusal. */
const elicitSchema = z.object({
  action: z.enum(['accept', 'decline', 'cancel']),
  content: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.array(z.string())])).optional(),
});

/** Connects MCP servers in the driver's own process. Their messages go both ways as `mcp_message` requests. */
class MessageServers implements DriverServers {
  readonly names: readonly string[];
  readonly #manifests: Readonly<Record<string, unknown>>;
  readonly #call: CallDriver;
  readonly #listeners = new Map<string, (message: object) => void>();

  constructor({sdkMcpServers = [], sdkMcpServerManifests = {}}: Initialize, call: CallDriver) {
    this.names = sdkMcpServers;
    this.#manifests = sdkMcpServerManifests;
    this.#call = call;
  }

  getTools(server: string): ReturnType<DriverServers['getTools']> {
    const manifest = Object.hasOwn(this.#manifests, server) ? this.#manifests[server] : undefined;
    const tools = manifestSchema.safeParse(manifest).data?.toolsListResult.tools ?? [];
    return tools.flatMap((tool) => manifestTool.safeParse(tool).data ?? []);
  }

  async send(server: string, message: object): Promise<unknown> {
    const {mcp_response: answer} = await this.#call(
      {subtype: 'mcp_message', server_name: server, message},
      new AbortController().signal,
    );
    return answer;
  }

  async elicit(
    server: string,
    {message, mode, url, elicitationId, requestedSchema}: Parameters<DriverServers['elicit']>[1] & FormOrAddress,
    signal: AbortSignal,
  ): ReturnType<DriverServers['elicit']> {
    const form = {
      subtype: 'elicitation',
      mcp_server_name: server,
      message,
      mode: mode ?? 'form',
      url,
      elicitation_id: elicitationId,
      requested_schema: requestedSchema,
    };
    const answer = await this.#call(form, signal).catch(() => undefined);
    return elicitSchema.safeParse(answer).data ?? {action: 'decline'};
  }

  listen(server: string, listener: (message: object) => void): () => void {
    this.#listeners.set(server, listener);
    return () => this.#listeners.delete(server);
  }

  /** Passes on a message that the driver's server sends by itself. */
  receive(server: string, message: object): void {
    const listener = this.#listeners.get(server);
    if (!listener) throw new MiniCcError('NO_SUCH_SERVER', `the MCP server ${server} is not connected`);
    listener(message);
  }
}
