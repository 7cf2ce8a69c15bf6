/**
 * Serves one session of an editor: its prompts, its questions about calls, and its mode. The session's events go out as
 * updates.
 */

import {randomUUID} from 'node:crypto';
import {
  type ContentBlock,
  type NoticeSeverity,
  type PromptResponse,
  RequestError,
  type SessionUpdate,
  type StopReason,
} from '@agentclientprotocol/sdk/unstable';
import type {AgentEvent, Question} from '../../core/contract/events.ts';
import type {Usage} from '../../core/contract/model.ts';
import type {RunResult} from '../../core/contract/results.ts';
import type {Session, SubmitResult} from '../../core/contract/session-requests.ts';
import {formatEnding} from '../../core/turn/run-ending.ts';
import {inBackground, neverRejects} from '../../core/util/background.ts';
import {toShortLine} from '../../core/util/text.ts';
import {RunTitles} from '../progress.ts';
import {ConfigOptions} from './config-options.ts';
import {toPromptContent} from './prompt-content.ts';
import {type Asker, Questions} from './questions.ts';
import {replay} from './replay.ts';
import {Updates} from './updates.ts';

/** The editor at the other end of the connection. */
export interface Editor extends Asker {
  /** True when the editor shows notices beside the conversation. */
  readonly showsNotices: boolean;
  /** True when it shows output that comes in `_meta` as a terminal. */
  readonly showsTerminals: boolean;
  update(sessionId: string, update: SessionUpdate): void;
}

const MAX_TITLE_CHARS = 80;

interface OpenPrompt {
  readonly id: string;
  isCancelled: boolean;
  /** True when it was taken from the session's queue into a turn, with which it ends. */
  isDelivered: boolean;
  readonly ended: PromiseWithResolvers<TurnEnd>;
}

type TurnEnd = Pick<AgentEvent & {type: 'run_end'}, 'outcome' | 'reason'>;

export class AcpSession {
  readonly id: string;
  readonly config: ConfigOptions;
  readonly #session: Session;
  readonly #editor: Editor;
  readonly #updates: Updates;
  readonly #titles = new RunTitles();
  /** Warnings from before the first prompt, which the person should read. */
  #warnings: readonly string[];
  readonly #questions: Questions;
  /** The prompts that have no answer yet. */
  readonly #prompts = new Set<OpenPrompt>();
  #hasTitle: boolean;
  /** Settles when the editor was told of the usage so far. */
  #told = Promise.resolve();
  /** Number of tokens that a request may have. */
  #windowLimit: number | undefined;

  /** @param mayBypass true when the editor may turn all questions off */
  constructor(session: Session, editor: Editor, mayBypass: boolean) {
    const {info} = session;
    this.id = info.sessionId;
    this.#session = session;
    this.#editor = editor;
    this.#warnings = info.warnings;
    this.#hasTitle = info.restored.length > 0;
    this.config = new ConfigOptions(session, mayBypass);
    this.#updates = new Updates(info, (update) => editor.update(this.id, update), editor.showsTerminals);
    this.#questions = new Questions(info, editor, this.#updates);
    session.subscribe((event) => this.#take(event));
  }

  sendCommands(): void {
    const commands = this.#session.info.commands;
    this.#editor.update(this.id, {
      sessionUpdate: 'available_commands_update',
      availableCommands: commands.map(({name, description, argumentHint = ''}) => ({
        name,
        description,
        ...(argumentHint !== '' && {input: {hint: argumentHint}}),
      })),
    });
  }

  replay(): void {
    replay(this.#session.request({type: 'transcript'}), this.#updates);
  }

  /**
   * Sends a prompt. A prompt that arrives during a turn joins that turn and ends with it.
   * @throws RequestError when the content cannot be sent or the turn fails
   */
  async prompt(blocks: readonly ContentBlock[]): Promise<PromptResponse> {
    const content = toPromptContent(blocks, this.#session.info.cwd, (warning) => this.#tell('warning', warning));
    if (content.length === 0) throw RequestError.invalidParams(undefined, 'the prompt is empty');
    if (this.#prompts.size === 0) {
      for (const warning of this.#warnings) this.#tell('warning', warning);
      this.#warnings = [];
    }
    this.#sendTitle(blocks);
    const ended = Promise.withResolvers<TurnEnd>();
    const prompt: OpenPrompt = {id: randomUUID(), isCancelled: false, isDelivered: false, ended};
    this.#prompts.add(prompt);
    try {
      const submitted = await this.#session.submit({content, id: prompt.id});
      const joined = submitted.type === 'queued' ? await ended.promise : undefined;
      await this.#told;
      const used = submitted.type === 'turn' ? {usage: toUsage(submitted.result.usage)} : {};
      if (prompt.isCancelled) return {stopReason: 'cancelled', ...used};
      return {stopReason: joined ? endJoined(joined) : this.#end(submitted), ...used};
    } finally {
      this.#prompts.delete(prompt);
    }
  }

  /** The first prompt is the title of a conversation, as in lists of sessions. */
  #sendTitle(blocks: readonly ContentBlock[]): void {
    const first = blocks.find((block) => block.type === 'text');
    if (this.#hasTitle || !first) return;
    this.#hasTitle = true;
    const updatedAt = new Date().toISOString();
    const title = toShortLine(first.text, MAX_TITLE_CHARS);
    this.#editor.update(this.id, {sessionUpdate: 'session_info_update', title, updatedAt});
  }

  /** Ends the turn and everything that it started. The prompts without an answer answer `cancelled`. */
  async cancel(): Promise<void> {
    if (this.#prompts.size === 0) return;
    for (const prompt of this.#prompts) prompt.isCancelled = true;
    this.#session.abort();
    await this.#session.request({type: 'stop'});
  }

  close(): Promise<void> {
    this.#questions.withdrawAll();
    return this.#session.close();
  }

  #end(submitted: SubmitResult): StopReason {
    if (submitted.type === 'turn') return this.#endTurn(submitted.result);
    // An error was already sent as a notice.
    const isAnswer = submitted.type === 'command' && (submitted.ok || submitted.isOutput);
    if (isAnswer && submitted.text !== '') this.#updates.say(submitted.text);
    return 'end_turn';
  }

  #endTurn(result: RunResult): StopReason {
    if (result.outcome === 'error') {
      if (result.code === 'REFUSAL') return 'refusal';
      if (result.code === 'MODEL_AUTHENTICATION') throw RequestError.authRequired(undefined, result.error);
      throw RequestError.internalError(undefined, result.error);
    }
    const reason = STOP_REASONS[result.outcome];
    if (reason === 'max_turn_requests') this.#updates.say(`\n\n${formatEnding(result)}`);
    return reason;
  }

  #take(event: AgentEvent): void {
    this.#titles.take(event);
    this.#updates.take(event);
    this.#takeEnd(event);
    if (event.type === 'context' && event.parent === undefined) this.#told = this.#sendUsage(event.tokens, event.limit);
    if (event.type === 'ask') inBackground(this.#ask(event.question), neverRejects);
    if (event.type === 'ask_end') this.#questions.withdraw(event.askId);
    if (event.type === 'notice' && event.level !== 'info') {
      this.#tell(event.level, this.#titles.prefix(event, event.text));
    }
  }

  /** Ends the prompts that joined a turn. */
  #takeEnd(event: AgentEvent): void {
    for (const prompt of this.#prompts) {
      if (event.type === 'queued_prompt_delivered' && event.id === prompt.id) prompt.isDelivered = true;
      if (event.type === 'queued_prompt_dropped' && event.id === prompt.id) prompt.ended.resolve(STOPPED);
      if (event.type === 'run_end' && event.parent === undefined && prompt.isDelivered) prompt.ended.resolve(event);
    }
  }

  /** Sends the used tokens. It never rejects. @param limit tokens of the window; when absent, the session is asked */
  async #sendUsage(tokens: number, limit?: number): Promise<void> {
    this.#windowLimit ??= limit ?? (await this.#session.request({type: 'context'})).limit;
    this.#updates.sendUsage(tokens, limit ?? this.#windowLimit);
  }

  /**
   * Shows a notice to the person. When the editor cannot show notices, it becomes a part of the answer; outside of a
   * turn only warnings do.
   */
  #tell(severity: NoticeSeverity, title: string): void {
    if (this.#editor.showsNotices) this.#editor.update(this.id, {sessionUpdate: 'notice', severity, title});
    else if (this.#prompts.size > 0 || severity === 'warning')
      this.#updates.say(`> ${title.replaceAll('\n', '\n> ')}\n\n`);
  }

  /** Puts a question to the person. It never rejects. */
  async #ask(question: Question): Promise<void> {
    const answer = await this.#questions.ask(question);
    if (answer) this.#session.answer(question.id, answer);
  }
}

function toUsage(usage: Usage): NonNullable<PromptResponse['usage']> {
  const {input_tokens: inputTokens, output_tokens: outputTokens} = usage;
  const {cache_read_input_tokens: cachedReadTokens, cache_creation_input_tokens: cachedWriteTokens} = usage;
  const totalTokens = inputTokens + outputTokens + cachedReadTokens + cachedWriteTokens;
  return {totalTokens, inputTokens, outputTokens, cachedReadTokens, cachedWriteTokens};
}

const STOPPED: TurnEnd = {outcome: 'stopped'};

const STOP_REASONS = {
  success: 'end_turn',
  unknown: 'end_turn',
  stopped: 'cancelled',
  limit: 'max_turn_requests',
  timeout: 'max_turn_requests',
} as const satisfies Readonly<Record<Exclude<TurnEnd['outcome'], 'error'>, StopReason>>;

/** Returns how a prompt ends that joined the turn of another one. @throws RequestError when that turn failed */
function endJoined({outcome, reason = ''}: TurnEnd): StopReason {
  if (outcome === 'error') throw RequestError.internalError(undefined, reason);
  return STOP_REASONS[outcome];
}
