/**
 * Shortens a conversation that fills the context window: first by clearing older results, then by replacing its older
 * part with a summary. The history does not change until the summary is there. When no model can make one, the
 * runtime's own facts replace the older part. The replaced lines stay in the transcript.
 */
import type {Emit} from '../contract/events.ts';
import type {Message, Model, ToolSpec} from '../contract/model.ts';
import type {Clock} from '../contract/results.ts';
import type {Replacement, RestoredMessage} from '../contract/transcript.ts';
import {getErrorMessage, ModelError} from '../util/errors.ts';
import {getResults, getText} from '../util/messages.ts';
import {formatTokens} from '../util/text.ts';
import {
  collectFacts,
  createDigest,
  createSummaryMessage,
  createSummaryPrompt,
  SUMMARY_SYSTEM,
  shortenPrompt,
} from './compaction-summary.ts';
import {type ContextWindow, getWindowSize, type WindowSize} from './context-window.ts';
import type {History} from './history.ts';
import {type Account, askModel} from './model-request.ts';
import type {ProgressGuard} from './progress-guard.ts';
import type {RunHooks} from './run-hooks.ts';
import {StreamedReply} from './transcript-writing.ts';

interface WindowRun {
  readonly system: string;
  readonly history: History;
  readonly model: Model;
  /** Model that makes the summaries. Undefined means the run's own model. */
  readonly summaryModel: Model | undefined;
  readonly limits: {readonly contextTokens?: number | undefined};
  readonly hooks?: Pick<RunHooks, 'beforeCompaction' | 'afterCompaction'> | undefined;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly emit: Emit;
  readonly progress?: Pick<ProgressGuard, 'record'> | undefined;
}

/** `overflow` means that the server refused the request as too long. */
type CompactionTrigger = 'auto' | 'manual' | 'overflow';

/** Share of the request limit that the last messages may keep beside a summary of the others. */
const KEPT_SHARE = 0.25;
/** Share of the request limit above which the results of the last step are cut. */
const MAX_LAST_STEP = 0.5;
/** Share of the request limit to which these results are cut. */
const CUT_LAST_STEP = 0.4;
/** A request of a smaller share of the limit does not fill the window. */
const SMALL_SHARE = 0.25;
/** Tokens of instructions and headings in the request for a summary. */
const SUMMARY_OVERHEAD = 600;
/** Share of the request limit that a summary may have. */
const SUMMARY_SHARE = 0.2;

/**
 * Makes the next request fit into the window. Does nothing while there is enough space. Callers run it before each
 * request.
 * @returns the size of the window, if it is known
 * @throws the signal's reason when the run is aborted, and what the journal throws
 */
export async function makeRoom(
  run: WindowRun,
  tools: readonly ToolSpec[],
  account: Account,
): Promise<WindowSize | undefined> {
  const {model, limits, history} = run;
  const {window} = history;
  const size = await getWindowSize(model, limits.contextTokens, window.count(toContent(run, tools)));
  if (!size) return undefined;
  const getStep = () => window.getDueStep(toContent(run, tools), size);
  if (getStep() === 'none') return size;
  history.shorten(window.chooseCleared(toContent(run, tools), size));
  if (getStep() !== 'compact') return size;
  if ((await compact(run, tools, {trigger: 'auto', size, account})) !== undefined) run.progress?.record('compaction');
  return size;
}

/**
 * Shortens the history after a server refused a request as too long, because the size of the window was unknown or
 * wrong.
 * @returns false when nothing can be shortened
 * @throws what `makeRoom` throws
 */
export async function recoverFromOverflow(
  run: WindowRun,
  tools: readonly ToolSpec[],
  error: ModelError,
  account: Account,
): Promise<boolean> {
  const {history} = run;
  const {window} = history;
  const size = (await getWindowSize(run.model, run.limits.contextTokens))!;
  const before = toContent(run, tools);
  // A 413 may be about bytes. A request that is far below the limit is then too large for another reason.
  const isAboutTokens = error.details.status !== 413 || /token|context/i.test(error.message);
  if (!isAboutTokens && window.count(before) < SMALL_SHARE * size.limit) return false;
  window.recordOverflow(before, size, getCountedTokens(error));
  const counted = window.count(before);
  history.shorten(window.chooseCleared(before, size, 0));
  if (window.getDueStep(toContent(run, tools), size) === 'compact') {
    await compact(run, tools, {trigger: 'overflow', size, account});
  }
  run.progress?.record('compaction');
  return window.count(toContent(run, tools)) < counted;
}

/** Says whether the request and its reply do not fit into the model's window. Servers word this in many ways. */
export function isTooLong(error: unknown): error is ModelError {
  if (!(error instanceof ModelError) || error.kind !== 'bad_request') return false;
  return (
    error.details.status === 413 ||
    /too (?:long|large|many tokens)|context (?:length|window|size)|maximum context|token limit|exceed\w* .*tokens/i.test(
      error.message,
    )
  );
}

/** Reads the number from an error such as `prompt is too long: 223127 tokens > 200000 maximum`. */
function getCountedTokens({message}: ModelError): number | undefined {
  const [, counted] = /(\d[\d,]*) tokens/.exec(message) ?? [];
  return counted === undefined ? undefined : Number(counted.replaceAll(',', ''));
}

interface CompactOptions {
  readonly trigger: CompactionTrigger;
  readonly size: WindowSize;
  /** What the user wants the summary to preserve above all. */
  readonly focus?: string;
  readonly account: Account;
}

/**
 * Replaces the older part by a summary.
 * @returns what was done, which is a notice already unless a person asked; undefined when there is no older part, or when
 * a person asked and the summary would not be shorter
 * @throws what `makeRoom` throws
 */
export async function compact(
  run: WindowRun,
  tools: readonly ToolSpec[],
  {trigger, size, focus = '', account}: CompactOptions,
): Promise<string | undefined> {
  const {history, emit} = run;
  const {window} = history;
  const shownTrigger = trigger === 'manual' ? trigger : 'auto';
  cutLastStep(history, size);
  const {lines} = history;
  const messages = lines.map(({message}) => message);
  // The user asked for a short conversation, so little stays even when there is space for more.
  const maxTokens = KEPT_SHARE * (trigger === 'manual' ? window.countMessages(messages) : size.limit);
  const end = findKeptFrom(messages, window, size, maxTokens);
  if (end <= 0 || (end === 1 && lines[0]?.summary)) return undefined;
  const older = messages.slice(0, end);
  const facts = collectFacts(older, lines.slice(0, end).findLast(({summary}) => summary)?.summary);
  const prompt = findReplacedPrompt(lines, end);
  const createReplacement = (text: string, how: 'model' | 'rule'): Replacement[] => [
    {message: createSummaryMessage(text, facts, how), summary: facts},
    ...(prompt ? [{message: shortenPrompt(prompt), repeated: true as const}] : []),
  ];
  // A person asked for a shorter conversation, so a longer summary is not used.
  const isUseful = (by: readonly Replacement[]) =>
    trigger !== 'manual' || window.countMessages(by.map(({message}) => message)) < window.countMessages(older);
  if (!isUseful(createReplacement('', 'model'))) return undefined;
  await run.hooks?.beforeCompaction(shownTrigger, focus, run.signal);
  const preTokens = window.count(toContent(run, tools));
  const share = Math.round((100 * preTokens) / size.limit);
  emit({type: 'notice', level: 'info', text: `Compacting the conversation (${share} % of the context window used) …`});
  const {text, failure} = await summarise(run, older, focus, size, account);
  const by = createReplacement(text, failure === undefined ? 'model' : 'rule');
  if (!isUseful(by)) return undefined;
  history.replace(0, end, by, `compacted (${trigger})`);
  const postTokens = window.count(toContent(run, tools));
  emit({type: 'compacted', trigger: shownTrigger, preTokens, postTokens});
  const why = failure === undefined ? '' : ` No summary could be made (${failure}): what mini-cc knows took its place.`;
  const sizes = `${formatTokens(preTokens)} → ${formatTokens(postTokens)} tokens`;
  const done = `Compacted the conversation: ${sizes}. /rewind, also after --resume, goes back to before it.${why}`;
  // A person who asked gets it as the answer.
  if (trigger !== 'manual') emit({type: 'notice', level: failure === undefined ? 'info' : 'warning', text: done});
  await run.hooks?.afterCompaction(shownTrigger, text, run.signal);
  return done;
}

/**
 * Cuts the results of the last step if they are too large. Otherwise they stay, because the model has not read them
 * yet.
 */
function cutLastStep(history: History, {limit}: WindowSize): void {
  const {messages, window} = history;
  const last = messages.slice(findStarts(messages).at(-1) ?? 0);
  if (window.countMessages(last) <= MAX_LAST_STEP * limit) return;
  history.shorten(window.chooseCut(last, CUT_LAST_STEP * limit));
}

/** Finds the first message that stays. @param maxTokens most tokens of the messages that stay */
function findKeptFrom(
  messages: readonly Message[],
  window: ContextWindow,
  {limit}: WindowSize,
  maxTokens: number,
): number {
  const starts = findStarts(messages);
  const tokens = window.countFromEach(messages);
  const fitting = starts.find((start) => tokens[start]! <= maxTokens);
  if (fitting !== undefined) return fitting;
  const last = starts.at(-1);
  return last !== undefined && tokens[last]! <= MAX_LAST_STEP * limit ? last : messages.length;
}

/** Lists where a part that stays may begin: not at results, whose calls would be missing. */
function findStarts(messages: readonly Message[]): number[] {
  return messages.flatMap(({content}, index) => (getResults(content).length === 0 ? [index] : []));
}

/** Finds the current prompt when it is in the older part. The prompt of a subagent is its first message. */
function findReplacedPrompt(lines: readonly RestoredMessage[], end: number): Message | undefined {
  const last = lines.findLastIndex(({prompt, repeated}) => prompt || repeated);
  const index = last >= 0 ? last : lines[0]?.summary ? -1 : 0;
  return index < end ? lines[index]?.message : undefined;
}

/** Summarises by a model. When no model can, returns the digest and the reason. */
async function summarise(
  {model, summaryModel = model, history, clock, signal}: WindowRun,
  older: readonly Message[],
  focus: string,
  size: WindowSize,
  account: Account,
): Promise<{readonly text: string; readonly failure?: string}> {
  const {window} = history;
  const streamed = new StreamedReply(history, clock);
  try {
    const {limit, reserve} = summaryModel === model ? size : (await getWindowSize(summaryModel, undefined))!;
    const maxBytes = window.toBytes(limit - SUMMARY_OVERHEAD);
    const prompt = createSummaryPrompt(older, focus, maxBytes);
    const maxOutputTokens = Math.min(reserve, Math.floor(size.limit * SUMMARY_SHARE));
    const question = {system: SUMMARY_SYSTEM, prompt, maxOutputTokens};
    const reply = await askModel(summaryModel, question, signal, streamed.follow(account), (progress) => {
      if (progress.type === 'usage') streamed.count(progress);
    });
    const text = getText(reply.content).trim();
    return text === '' ? {text: createDigest(older), failure: 'the model gave no text'} : {text};
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof ModelError)) throw error;
    return {text: createDigest(older), failure: getErrorMessage(error)};
  } finally {
    streamed.end();
  }
}

function toContent({system, history}: WindowRun, tools: readonly ToolSpec[]) {
  return {system, tools, messages: history.messages};
}
