/**
 * Budgets of tokens and money for a session and its runs. The session's own budget is the parent of those of all runs.
 *
 * - A run with a limit of money gets it set aside from the rest of the session's budget before it starts, so that all
 *   runs together stay within the session's limit. A run without such a limit spends from the session's budget.
 * - A limit that is used up ends every run at work that depends on it, including those in the background.
 */
import type {Model, Usage, UsageEntry} from '../contract/model.ts';
import type {Budget, BudgetLimits, BudgetShare} from '../contract/tool.ts';
import {UsageError} from '../util/errors.ts';
import {addUsage, addUsageTo, countTokens, formatBudget, NO_USAGE, sumEntries} from '../util/messages.ts';

/** Share of a limit at which a run must report. */
export const REPORT_AT = 0.9;
/** Tolerance for rounding errors of sums, in US dollars. */
const EPSILON_USD = 1e-9;

class RunBudget implements Budget {
  #usage: Usage = NO_USAGE;
  #byModel: Readonly<Record<string, Usage>> = {};
  readonly #children = new Set<RunBudget>();
  #endedChildren: readonly UsageEntry[] = [];
  /** US dollars that ended runs used. */
  #endedUsd = 0;
  readonly #listeners = new Set<() => void>();

  constructor(
    private readonly limits: BudgetLimits,
    private readonly agent: string,
    private readonly parent?: RunBudget,
    private readonly onSpend?: (usage: Usage) => void,
  ) {}

  get usage(): Usage {
    return this.#usage;
  }

  get usageByModel(): Readonly<Record<string, Usage>> {
    return this.#byModel;
  }

  get limitUsd(): number | undefined {
    return this.limits.maxBudgetUsd ?? this.parent?.limitUsd;
  }

  get spentUsd(): number {
    return this.#ownUsd + this.#endedUsd + sum(this.#children, (child) => child.spentUsd);
  }

  get setAsideUsd(): number {
    return sum(this.#children, (child) => child.#reservedUsd - child.spentUsd);
  }

  get usedUp(): string | undefined {
    const {maxTokens = Number.POSITIVE_INFINITY} = this.limits;
    if (countTokens(this.#usage) >= maxTokens) return `${maxTokens} tokens`;
    if (this.#leftUsd < EPSILON_USD) return formatBudget(this.limits.maxBudgetUsd!);
    return this.parent?.usedUp !== undefined && !this.#isSetAside ? this.parent.usedUp : undefined;
  }

  get reportDue(): string | undefined {
    const {maxTokens = Number.POSITIVE_INFINITY, maxBudgetUsd = Number.POSITIVE_INFINITY} = this.limits;
    if (countTokens(this.#usage) >= REPORT_AT * maxTokens) return `${maxTokens} tokens`;
    if (this.spentUsd >= REPORT_AT * maxBudgetUsd) return formatBudget(maxBudgetUsd);
    return this.#isSetAside ? undefined : this.parent?.reportDue;
  }

  maxOutputTokens(outputPrice = 0): number {
    const {maxTokens = Number.POSITIVE_INFINITY} = this.limits;
    const left = this.#availableUsd + EPSILON_USD;
    const byMoney = outputPrice > 0 ? Math.floor((left * 1_000_000) / outputPrice) : Number.POSITIVE_INFINITY;
    return Math.max(0, Math.min(maxTokens - countTokens(this.#usage), byMoney));
  }

  spend(usage: Usage, model: string): void {
    this.#usage = addUsage(this.#usage, usage);
    this.#byModel = addUsageTo(this.#byModel, model, usage);
    const root = this.parent ?? this;
    root.onSpend?.(root.entries().reduce((all, entry) => addUsage(all, entry.usage), NO_USAGE));
    root.#notify(this);
  }

  spendFor(agent: string, usage: Usage, model: string): void {
    const {budget, release} = this.setAside(agent, {});
    budget.spend(usage, model);
    release();
  }

  entries(): readonly UsageEntry[] {
    const own = Object.entries(this.#byModel).map(([model, usage]) => ({agent: this.agent, model, usage}));
    return [...own, ...this.#endedChildren, ...[...this.#children].flatMap((child) => child.entries())];
  }

  setAside(agent: string, limits: BudgetLimits): BudgetShare {
    const {maxBudgetUsd} = limits;
    const share = maxBudgetUsd === undefined ? {} : {maxBudgetUsd: Math.min(maxBudgetUsd, Math.max(0, this.#leftUsd))};
    const budget = new RunBudget({...limits, ...share}, agent, this);
    this.#children.add(budget);
    return {
      budget,
      release: () => {
        if (!this.#children.delete(budget)) return;
        this.#endedChildren = sumEntries([...this.#endedChildren, ...budget.entries()]);
        this.#endedUsd += budget.spentUsd;
      },
    };
  }

  onUsedUp(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** True when the run has its own limit of money, from which nothing else spends. */
  get #isSetAside(): boolean {
    return this.limits.maxBudgetUsd !== undefined;
  }

  get #ownUsd(): number {
    return this.#usage.cost_usd ?? 0;
  }

  /** US dollars that the parent cannot give to other runs. */
  get #reservedUsd(): number {
    return Math.max(this.spentUsd, this.limits.maxBudgetUsd ?? 0);
  }

  get #leftUsd(): number {
    const {maxBudgetUsd = Number.POSITIVE_INFINITY} = this.limits;
    return maxBudgetUsd - this.spentUsd - this.setAsideUsd;
  }

  get #availableUsd(): number {
    return this.#isSetAside || !this.parent ? this.#leftUsd : this.parent.#availableUsd;
  }

  /** True when the money that this run depends on is spent, and not only set aside for others. */
  get #isSpent(): boolean {
    const {maxBudgetUsd} = this.limits;
    if (maxBudgetUsd === undefined) return this.parent ? this.parent.#isSpent : false;
    return this.spentUsd > maxBudgetUsd - EPSILON_USD;
  }

  /** Ends the runs whose money is spent, except the spender: that run ends by itself with its last reply. */
  #notify(spender: RunBudget): void {
    for (const run of [...this.#children, this]) {
      if (run !== spender && run.#isSpent) for (const end of [...run.#listeners]) end();
    }
  }
}

function sum<T>(items: Iterable<T>, get: (item: T) => number): number {
  let total = 0;
  for (const item of items) total += get(item);
  return total;
}

/**
 * Creates the budget of a session, or of a run without one.
 * @param agent name under which the usage counts
 * @param onSpend gets the usage of the session and its runs after each model call
 */
export function createBudget(limits: BudgetLimits = {}, agent = 'main', onSpend?: (usage: Usage) => void): Budget {
  return new RunBudget(limits, agent, undefined, onSpend);
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
