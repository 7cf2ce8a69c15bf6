/**
 * How many tokens a run may still use, in and out, cache included. What a child may use is set aside from what its
 * parent has left, so that all of them together stay within the parent's limit.
 */
import type {Usage} from '../contract/messages.ts';
import type {SetAside, TokenBudget} from '../contract/tool.ts';

/** Share of the budget at which a run is told to report. */
const REPORT_AT = 0.9;

class RunTokenBudget implements TokenBudget {
  #spent = 0;
  #setAside = 0;

  /** @param limit tokens; infinite without a limit. */
  constructor(readonly limit: number = Number.POSITIVE_INFINITY) {}

  get left(): number {
    return Math.max(0, this.limit - this.#spent - this.#setAside);
  }

  get isUsedUp(): boolean {
    return this.left <= 0;
  }

  get reportDue(): boolean {
    return this.#spent + this.#setAside >= REPORT_AT * this.limit;
  }

  spend(usage: Usage): void {
    this.#spent += countTokens(usage);
  }

  setAside(wanted?: number): SetAside {
    if (this.limit === Number.POSITIVE_INFINITY) return {budget: new RunTokenBudget(wanted), release: () => undefined};
    const share = Math.min(this.left, wanted ?? Math.floor(this.left / 2));
    const budget = new RunTokenBudget(share);
    this.#setAside += share;
    let held = true;
    return {
      budget,
      release: () => {
        if (!held) return;
        held = false;
        this.#setAside -= share;
        this.#spent += budget.#spent;
      },
    };
  }
}

export function countTokens(usage: Usage): number {
  return usage.input_tokens + usage.output_tokens + usage.cache_read_input_tokens + usage.cache_creation_input_tokens;
}

/** @param limit tokens; infinite without a limit. */
export function createTokenBudget(limit?: number): TokenBudget {
  return new RunTokenBudget(limit);
}
