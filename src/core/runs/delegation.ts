/**
 * What one prompt sets off: how many runs the model may start for it, what they may spend, and which tasks have failed
 * again and again. At a ceiling a person is asked. Where none can be asked, nothing more is started.
 */
import {randomUUID} from 'node:crypto';
import type {Question} from '../contract/events.ts';
import type {Budget, BudgetLimits} from '../contract/tool.ts';
import {MiniCcError} from '../util/errors.ts';
import {countTokens, formatCost} from '../util/messages.ts';
import {formatCount, formatTokens} from '../util/text.ts';

/** The setting `subagents.perPrompt`. An absent number means no limit. */
export interface PerPrompt {
  readonly runs?: number | undefined;
  readonly tokens?: number | undefined;
  readonly usd?: number | undefined;
}

/** Asks a person. @returns the choice, or undefined when the question was withdrawn */
export type AskPerson = (question: Question, signal: AbortSignal) => Promise<string | undefined>;

interface DelegationDeps {
  readonly perPrompt: PerPrompt;
  /** Budget of the session. */
  readonly budget: Budget;
  /** Absent where no person can be asked. */
  readonly ask?: AskPerson | undefined;
}

const SETTING = 'subagents.perPrompt';
/** Failures of the same task in a row after which it is not started again. */
const MAX_FAILURES = 3;

/** A run is not started because of what its prompt has set off before. */
export class NotStarted extends MiniCcError {
  constructor(why: string) {
    super('NOT_STARTED', `Not started: ${why}`);
  }
}

class CeilingReached extends NotStarted {
  constructor(ceiling: string) {
    super(`${ceiling} for one prompt. Answer from what you have.`);
  }
}

export class Delegation {
  /** Budget of the runs that this prompt sets off. */
  readonly budget: Budget;
  #runs = 0;
  /** Factor for the ceilings. Each time the person allows more runs, it grows by one. */
  #times = 1;
  #answer: Promise<boolean> | undefined;
  #isRefused = false;
  readonly #failures = new Map<string, {count: number; reason: string}>();

  constructor(private readonly deps: DelegationDeps) {
    const {perPrompt} = deps;
    const times = (limit: number | undefined) => (limit === undefined ? undefined : limit * this.#times);
    const limits: BudgetLimits = {
      ceiling: SETTING,
      get maxTokens() {
        return times(perPrompt.tokens);
      },
      get maxBudgetUsd() {
        return times(perPrompt.usd);
      },
    };
    this.budget = deps.budget.open('subagents', limits);
  }

  /**
   * Counts runs that are about to start.
   * @throws CeilingReached when they are too many
   */
  begin(count = 1): void {
    const ceiling = this.#findCeiling(count);
    if (ceiling !== undefined) throw new CeilingReached(ceiling);
    this.#runs += count;
  }

  /** @throws NotStarted when the task failed three times in a row */
  assertNotFailing(task: string): void {
    const failed = this.#failures.get(task);
    if (!failed || failed.count < MAX_FAILURES) return;
    throw new NotStarted(`this Task failed three times in a row: ${failed.reason}`);
  }

  /** @param reason undefined when the task succeeded */
  ended(task: string, reason: string | undefined): void {
    const count = (this.#failures.get(task)?.count ?? 0) + 1;
    if (reason === undefined) this.#failures.delete(task);
    else this.#failures.set(task, {count, reason});
  }

  /**
   * Begins work at once, or after a person allowed more of it.
   * @param start calls `begin`
   * @throws CeilingReached when it stays at the ceiling
   */
  async admit<T>(start: () => T | Promise<T>, signal: AbortSignal): Promise<T> {
    for (;;) {
      try {
        return await start();
      } catch (error) {
        if (!(error instanceof CeilingReached) || !(await this.#mayGoOn(signal))) throw error;
      }
    }
  }

  /** Calls that reach a ceiling together share one question. */
  async #mayGoOn(signal: AbortSignal): Promise<boolean> {
    const {ask} = this.deps;
    if (!ask || this.#isRefused || this.deps.perPrompt.runs === 0) return false;
    this.#answer ??= this.#ask(ask, signal).finally(() => {
      this.#answer = undefined;
    });
    return this.#answer;
  }

  async #ask(ask: AskPerson, signal: AbortSignal): Promise<boolean> {
    const choice = await ask(this.#createQuestion(), signal);
    if (choice === 'more') this.#times += 1;
    else if (choice === 'all') this.#times = Number.POSITIVE_INFINITY;
    else this.#isRefused = choice !== undefined;
    return choice === 'more' || choice === 'all';
  }

  #createQuestion(): Question {
    const usage = this.budget.totalUsage;
    const spent = `${formatTokens(countTokens(usage))} tokens, est ${formatCost(usage)}`;
    const {runs} = this.deps.perPrompt;
    const another = runs === undefined ? 'as much again' : `another ${runs}`;
    return {
      id: randomUUID(),
      agent: 'main',
      title: `${formatCount(this.#runs, 'subagent')} for this prompt, ${spent}. Start more?`,
      detail: `${this.#findCeiling(1) ?? SETTING} for one prompt.`,
      detailType: 'text',
      options: [
        {digit: 1, choice: 'more', label: `yes, ${another}`},
        {digit: 2, choice: 'all', label: 'yes, no limit for this prompt'},
        {digit: 4, choice: 'no', label: 'no'},
      ],
      escape: 'no',
    };
  }

  /** Returns the ceiling that so many more runs would pass. */
  #findCeiling(count: number): string | undefined {
    const {perPrompt} = this.deps;
    const {runs, tokens: most, usd} = perPrompt;
    if (runs !== undefined && this.#runs + count > runs * this.#times) return `${SETTING}.runs is ${runs}`;
    const usage = this.budget.totalUsage;
    if (most !== undefined && countTokens(usage) >= most * this.#times) return `${SETTING}.tokens is ${most}`;
    return usd !== undefined && (usage.cost_usd ?? 0) >= usd * this.#times ? `${SETTING}.usd is ${usd}` : undefined;
  }
}
