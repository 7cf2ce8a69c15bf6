/**
 * Budgets of tokens and money for a session and its runs. They form a tree: what a run spends counts for its own budget
 * and for all budgets above it, and each of them may have limits.
 *
 * - Before a model call starts, it reserves what it can cost in all of these budgets: its input as estimated or counted,
 *   and its output by `max_tokens`. It gives the reservation back at its end, when the real usage is spent.
 * - A call that does not fit gets fewer output tokens, or waits for what other calls give back. When no other call is
 *   under way and it still does not fit, its run ends with that limit.
 * - How well an estimate fits is known after the first reply to an agent's requests of a kind. Until then, one call at a
 *   time is made within a limit, so that only one estimate can be wrong.
 * - A limit that is used up ends every run at work that depends on it, including those in the background.
 */
import type {Model, Usage, UsageEntry} from '../contract/model.ts';
import type {Budget, BudgetLimits, CallSize, Reservation, ReserveAbove} from '../contract/tool.ts';
import {MiniCcError, UsageError} from '../util/errors.ts';
import {
  addUsage,
  addUsageTo,
  countInputTokens,
  countTokens,
  formatBudget,
  formatUsd,
  NO_USAGE,
  sumEntries,
} from '../util/messages.ts';

/** Share of a limit at which a run must report. */
export const REPORT_AT = 0.9;
/** Tolerance for rounding errors of sums, in US dollars. */
const EPSILON_USD = 1e-9;
/** Output tokens with which a call begins at once. With fewer, it waits for what other calls give back. */
const ENOUGH_OUTPUT = 4096;

/** A call does not fit into a budget. */
export class BudgetReached extends MiniCcError {
  /** @param limit as the run names it at its end */
  constructor(readonly limit: string) {
    super('BUDGET', `The ${limit} does not cover this model call.`);
  }
}

interface Amount {
  usd: number;
  tokens: number;
}

/** What a call may use. */
interface Found {
  /** What is reserved for its input. */
  readonly input: Amount;
  readonly output: number;
  /** Its input as estimated. */
  readonly inputTokens: number;
  readonly isProbe: boolean;
}

/** State that all budgets of a tree share. */
class Ledger {
  entries: readonly UsageEntry[] = [];
  readonly listeners = new Set<{readonly budget: RunBudget; readonly end: () => void}>();
  /** Calls that wait, in the order in which they came. Each one returns true when it waits no longer. */
  readonly #waiting = new Set<() => boolean>();
  /** Tokens that servers counted for one estimated token, at most, by model, and by model, agent and kind of request. */
  readonly #ratios = new Map<string, number>();
  /** True while a call is under way whose estimate no server count has confirmed yet. */
  isProbing = false;

  constructor(
    readonly onSpend: ((usage: Usage) => void) | undefined,
    readonly reserveAbove: ReserveAbove | undefined,
  ) {}

  knows(model: string, asked: string): boolean {
    return this.#ratios.has(getKey(model, asked));
  }

  getRatio(model: string, asked: string): number {
    return this.#ratios.get(getKey(model, asked)) ?? this.#ratios.get(getKey(model)) ?? 1;
  }

  setRatio(model: string, asked: string, ratio: number): void {
    for (const key of [getKey(model), getKey(model, asked)]) {
      this.#ratios.set(key, Math.max(ratio, this.#ratios.get(key) ?? 0));
    }
  }

  /** Begins the calls that fit now. */
  wake(): void {
    for (const call of [...this.#waiting]) if (call()) this.#waiting.delete(call);
  }

  /**
   * Resolves when `attempt` returns something, after the calls that waited before.
   * @throws what `attempt` throws, and the signal's reason
   */
  async wait<T>(attempt: () => T | undefined, signal: AbortSignal): Promise<T> {
    signal.throwIfAborted();
    const {promise, resolve, reject} = Promise.withResolvers<T>();
    const call = () => {
      try {
        const found = attempt();
        if (found !== undefined) resolve(found);
        return found !== undefined;
      } catch (error) {
        reject(error);
        return true;
      }
    };
    const onAbort = () => reject(signal.reason);
    signal.addEventListener('abort', onAbort, {once: true});
    this.#waiting.add(call);
    this.wake();
    try {
      return await promise;
    } finally {
      this.#waiting.delete(call);
      signal.removeEventListener('abort', onAbort);
    }
  }
}

function getKey(...parts: readonly (string | undefined)[]): string {
  return JSON.stringify(parts);
}

class RunBudget implements Budget {
  #usage: Usage = NO_USAGE;
  #byModel: Readonly<Record<string, Usage>> = {};
  /** Usage of the run and of all runs below it. */
  #total: Usage = NO_USAGE;
  readonly #reserved: Amount = {usd: 0, tokens: 0};
  /** What the last call cost. */
  #last = {usd: 0, tokens: 0, inputUsd: 0, inputTokens: 0};

  constructor(
    private readonly limits: BudgetLimits,
    private readonly agent: string,
    private readonly ledger: Ledger,
    private readonly parent?: RunBudget,
  ) {}

  get usage(): Usage {
    return this.#usage;
  }

  get usageByModel(): Readonly<Record<string, Usage>> {
    return this.#byModel;
  }

  get limitUsd(): number | undefined {
    return (this.limits.ceiling ? undefined : this.limits.maxBudgetUsd) ?? this.parent?.limitUsd;
  }

  get totalUsage(): Usage {
    return this.#total;
  }

  get spentUsd(): number {
    return this.#total.cost_usd ?? 0;
  }

  get setAsideUsd(): number {
    return this.#reserved.usd;
  }

  get isLimited(): boolean {
    return this.#path.some((budget) => budget.#hasLimit);
  }

  get usedUp(): string | undefined {
    return this.#findLimit(({usd, tokens}) => usd < EPSILON_USD || tokens <= 0);
  }

  get reportDue(): string | undefined {
    const {usd: lastUsd, tokens: lastTokens} = this.#last;
    // A call that leaves nothing for another one like it must be the report.
    return this.#findLimit(
      ({usd, tokens}, {maxBudgetUsd = 0, maxTokens = 0}) =>
        usd <= maxBudgetUsd - REPORT_AT * maxBudgetUsd + EPSILON_USD ||
        tokens <= maxTokens - REPORT_AT * maxTokens ||
        usd < 2 * lastUsd - EPSILON_USD ||
        tokens < 2 * lastTokens,
    );
  }

  async reserve(call: CallSize, signal: AbortSignal): Promise<Reservation> {
    const above = await this.ledger.reserveAbove?.(call, signal);
    try {
      const maxOutputTokens = above?.maxOutputTokens ?? call.maxOutputTokens;
      const here = await this.ledger.wait(() => this.#tryReserve({...call, maxOutputTokens}), signal);
      return above ? joinReservations(here, above) : here;
    } catch (error) {
      above?.release();
      throw error;
    }
  }

  spend(usage: Usage, model: string): void {
    const {ledger} = this;
    this.#usage = addUsage(this.#usage, usage);
    this.#byModel = addUsageTo(this.#byModel, model, usage);
    for (const budget of this.#path) budget.#total = addUsage(budget.#total, usage);
    this.#last = {...this.#last, usd: usage.cost_usd ?? 0, tokens: countTokens(usage)};
    ledger.entries = sumEntries([...ledger.entries, {agent: this.agent, model, usage}]);
    ledger.onSpend?.(this.#path.at(-1)!.#total);
    // The spender ends by itself with its last reply.
    for (const {budget, end} of [...ledger.listeners]) {
      if (budget !== this && budget.usedUp !== undefined) end();
    }
  }

  entries(): readonly UsageEntry[] {
    return this.ledger.entries;
  }

  open(agent: string, limits: BudgetLimits = {}): Budget {
    return new RunBudget(limits, agent, this.ledger, this);
  }

  onUsedUp(end: () => void): () => void {
    const listener = {budget: this, end};
    this.ledger.listeners.add(listener);
    return () => this.ledger.listeners.delete(listener);
  }

  /** This budget and those above it. */
  get #path(): readonly RunBudget[] {
    return this.parent ? [this, ...this.parent.#path] : [this];
  }

  /** What is left of each limit, infinite where there is none. @param reserved what counts as spent besides */
  #getLeft({usd, tokens}: Amount = {usd: 0, tokens: 0}): Amount {
    const {maxBudgetUsd = Number.POSITIVE_INFINITY, maxTokens = Number.POSITIVE_INFINITY} = this.limits;
    return {usd: maxBudgetUsd - this.spentUsd - usd, tokens: maxTokens - countTokens(this.#total) - tokens};
  }

  /** Finds the first limit, from this budget upwards, for which the test is true with what is left of it. */
  #findLimit(test: (left: Amount, limits: BudgetLimits) => boolean): string | undefined {
    for (const budget of this.#path) {
      const {maxBudgetUsd, maxTokens, ceiling} = budget.limits;
      const {usd, tokens} = budget.#getLeft();
      const NO_LIMIT = Number.POSITIVE_INFINITY;
      if (maxTokens !== undefined && test({usd: NO_LIMIT, tokens}, {maxTokens})) {
        return ceiling ? `${ceiling}.tokens (${maxTokens})` : `${maxTokens} tokens`;
      }
      if (maxBudgetUsd !== undefined && test({usd, tokens: NO_LIMIT}, {maxBudgetUsd})) {
        return ceiling ? `${ceiling}.usd (${formatUsd(maxBudgetUsd)})` : formatBudget(maxBudgetUsd);
      }
    }
    return undefined;
  }

  /** Whether calls must fit into what is left. */
  get #hasLimit(): boolean {
    const {maxBudgetUsd, maxTokens, ceiling} = this.limits;
    return ceiling === undefined && (maxBudgetUsd !== undefined || maxTokens !== undefined);
  }

  /** @returns undefined when the call must wait. @throws BudgetReached when waiting is of no use */
  #tryReserve(call: CallSize): Reservation | undefined {
    const {ledger} = this;
    const {model, isCounted, kind} = call;
    const asked = getKey(this.agent, kind);
    const isProbe = !isCounted && this.isLimited && !ledger.knows(model.name, asked);
    if (isProbe && ledger.isProbing) return undefined;
    const tokens = Math.ceil(call.inputTokens * (isCounted ? 1 : ledger.getRatio(model.name, asked)));
    const input = {tokens, usd: (tokens * (model.inputPrice ?? 0)) / 1_000_000};
    const found = this.#findOutput(input, call, isProbe);
    if (!found) return undefined;
    if (isProbe) ledger.isProbing = true;
    return this.#createReservation(call, {...found, inputTokens: tokens, isProbe});
  }

  /** Finds how many tokens the reply to this input may have. @returns undefined when the call must wait */
  #findOutput(
    input: Amount,
    {model, maxOutputTokens}: CallSize,
    isProbe: boolean,
  ): {input: Amount; output: number} | undefined {
    const {outputPrice = 0} = model;
    const enough = Math.min(ENOUGH_OUTPUT, maxOutputTokens);
    const fits = this.#path.map((budget) => budget.#getFit(input, outputPrice));
    const fit = Math.min(...fits.map(({output}) => output));
    if (fit >= enough) {
      // Calls that are under way together share what is left.
      const most = fits.some(({isShared}) => isShared) ? Math.max(enough, Math.floor(fit / 2)) : fit;
      return {input, output: Math.min(maxOutputTokens, most)};
    }
    if (fits.some(({output, isShared}) => isShared && output < enough)) return undefined;
    if (fit > 0) return {input, output: fit};
    const likely = this.#getLikely(input, isProbe);
    const likelyFits = this.#path.map((budget) => budget.#getFit(likely, outputPrice));
    const full = likelyFits.find(({output}) => output <= 0);
    if (full) throw new BudgetReached(full.limit);
    return {input: likely, output: Math.min(maxOutputTokens, ...likelyFits.map(({output}) => output))};
  }

  /**
   * Returns the likely use of an input, for a call that runs alone. Its price per token is that of the last call, which
   * the cache made cheaper. Before the first reply its tokens count as 0.
   */
  #getLikely({usd, tokens}: Amount, isProbe: boolean): Amount {
    const {inputUsd, inputTokens} = this.#last;
    const likelyUsd = inputTokens > 0 ? Math.min(usd, (tokens * inputUsd) / inputTokens) : usd;
    return {usd: likelyUsd, tokens: isProbe ? 0 : tokens};
  }

  /** Returns how many output tokens fit beside this input, and the limit that allows no more. */
  #getFit({usd, tokens}: Amount, outputPrice: number): {output: number; limit: string; isShared: boolean} {
    const {maxBudgetUsd = 0, maxTokens} = this.limits;
    if (!this.#hasLimit) return {output: Number.POSITIVE_INFINITY, limit: '', isShared: false};
    const left = this.#getLeft(this.#reserved);
    const forOutput = left.usd - usd + EPSILON_USD;
    const paid = outputPrice > 0 ? Math.floor((forOutput * 1_000_000) / outputPrice) : Number.POSITIVE_INFINITY;
    const byMoney = forOutput > 0 ? paid : 0;
    const byTokens = Math.max(0, left.tokens - tokens);
    const limit = byTokens <= byMoney ? `${maxTokens} tokens` : formatBudget(maxBudgetUsd);
    return {output: Math.min(byTokens, byMoney), limit, isShared: this.#reserved.tokens > 0};
  }

  /** The limit that the spent and the reserved together exceed, if there is one. */
  get #exceeded(): string | undefined {
    if (!this.#hasLimit) return undefined;
    const {usd, tokens} = this.#getLeft(this.#reserved);
    if (tokens < 0) return `${this.limits.maxTokens} tokens`;
    return usd < -EPSILON_USD ? formatBudget(this.limits.maxBudgetUsd!) : undefined;
  }

  #createReservation(
    {model, inputTokens: estimated, isCounted, kind}: CallSize,
    {input, output, inputTokens, isProbe}: Found,
  ): Reservation {
    const {ledger, agent} = this;
    const outputUsd = (output * (model.outputPrice ?? 0)) / 1_000_000;
    const path = this.#path;
    let held: Amount = {usd: 0, tokens: 0};
    let known = 0;
    const hold = (amount: Amount) => {
      for (const budget of path) {
        budget.#reserved.usd += amount.usd - held.usd;
        budget.#reserved.tokens += amount.tokens - held.tokens;
      }
      held = amount;
    };
    const endProbe = () => {
      if (isProbe) ledger.isProbing = false;
    };
    hold({usd: input.usd + outputUsd, tokens: input.tokens + output});
    return {
      inputTokens,
      maxOutputTokens: output,
      count: (usage) => {
        const counted = countInputTokens(usage);
        if (counted === known) return;
        known = counted;
        const usd = Math.max(0, (usage.cost_usd ?? 0) - (usage.output_tokens * (model.outputPrice ?? 0)) / 1_000_000);
        this.#last = {...this.#last, inputUsd: usd, inputTokens: counted};
        if (!isCounted && estimated > 0) ledger.setRatio(model.name, getKey(agent, kind), counted / estimated);
        hold({usd: usd + outputUsd, tokens: counted + output});
        endProbe();
        ledger.wake();
      },
      get uncovered() {
        return path.map((budget) => budget.#exceeded).find((limit) => limit !== undefined);
      },
      spend: (usage, name) => this.spend(usage, name),
      release: () => {
        hold({usd: 0, tokens: 0});
        endProbe();
        ledger.wake();
      },
    };
  }
}

function joinReservations(here: Reservation, above: Reservation): Reservation {
  const both = [here, above];
  return {
    ...here,
    get uncovered() {
      return here.uncovered;
    },
    count(usage) {
      for (const each of both) each.count(usage);
    },
    spend(usage, model) {
      for (const each of both) each.spend(usage, model);
    },
    release() {
      for (const each of both) each.release();
    },
  };
}

/**
 * Creates the budget of a session, or of a run without one.
 * @param agent name under which the usage counts
 * @param onSpend gets the usage of the session and its runs after each model call
 * @param reserveAbove for a session that works for one on another machine
 */
export function createBudget(
  limits: BudgetLimits = {},
  agent = 'main',
  onSpend?: (usage: Usage) => void,
  reserveAbove?: ReserveAbove,
): Budget {
  return new RunBudget(limits, agent, new Ledger(onSpend, reserveAbove));
}

/**
 * Callers check this before the first model call.
 * @throws UsageError for a limit of money when the model's price is not known
 */
export function checkPrice(
  {name: first, unpriced: name = first, outputPrice}: Pick<Model, 'name' | 'outputPrice' | 'unpriced'>,
  limitUsd: number | undefined,
): void {
  if (limitUsd === undefined || outputPrice !== undefined) return;
  throw new UsageError(
    `a budget needs prices, and that of ${name} is not known. Set it: "pricing": {${JSON.stringify(name)}: {"input": …, "output": …}}`,
  );
}
