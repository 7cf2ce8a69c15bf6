/** The result of a test, as `--json` prints it. The build adds these types to those that the package ships. */
import type {Outcome} from '../core/contract/results.ts';

/** The verdict on one check. All texts are words for a person, and never empty. */
export interface Verdict {
  readonly check: string;
  readonly passed: boolean;
  readonly expected: string;
  readonly seen: string;
  readonly where: string;
}

export type Mark = 'passed' | 'failed' | 'no evidence' | 'not graded';

export interface GradedAssertion {
  readonly text: string;
  readonly mark: Mark;
  readonly quote: string;
}

export interface TestedTrial {
  readonly trial: number;
  readonly passed: boolean;
  /** Whether the run was made by an earlier call. */
  readonly kept: boolean;
  readonly outcome: Outcome | 'not run';
  readonly run: string;
  readonly transcript: string;
  readonly turns: number;
  readonly tokens: number;
  /** US dollars; null where no price is known. */
  readonly usd: number | null;
  readonly duration_ms: number;
  readonly checks: readonly Verdict[];
  readonly assertions: readonly GradedAssertion[];
}

export interface TestedCase {
  readonly id: string | number;
  readonly trials: number;
  readonly passed: number;
  readonly no_checks: boolean;
  /** Present in a replay: the first verdict that is not `same`. */
  readonly replay?: string | undefined;
  readonly runs: readonly TestedTrial[];
}

/** Median and 95th percentile (nearest rank); null where nothing is known. */
export interface Spread {
  readonly median: number | null;
  readonly p95: number | null;
}

export interface TestSummary {
  readonly cases: number;
  readonly runs: number;
  readonly passed: number;
  /** 0 to 1, over all runs. */
  readonly pass_rate: number;
  /** 95 % interval of the rate, by Wilson, with the number of cases as n. */
  readonly interval: readonly [low: number, high: number];
  /** Share of the cases that passed all trials. */
  readonly pass_hat_k: number;
  readonly k: number;
  readonly turns: Spread;
  readonly tokens: Spread;
  readonly usd: Spread;
  readonly duration_ms: Spread;
  readonly assertions: {readonly passed: number; readonly failed: number; readonly no_evidence: number};
}

export interface BaselineResult {
  readonly name: string;
  readonly cases: readonly TestedCase[];
  readonly summary: TestSummary;
  /** Mean difference of the pass rates of the same cases, and its interval. */
  readonly difference: number;
  readonly interval: readonly [low: number, high: number];
  /** `better`, `worse`, or `no difference can be seen with …`. */
  readonly verdict: string;
}

export interface AgentResult {
  readonly agent: string;
  /** Hash of the definition in hex. */
  readonly definition: string;
  readonly model: string;
  readonly cases: readonly TestedCase[];
  readonly summary: TestSummary;
  readonly baseline?: BaselineResult;
}

/** The object of `mini-cc agents test --json`. */
export interface AgentTestResult {
  readonly agents: readonly AgentResult[];
  readonly runs_made: number;
  readonly runs_kept: number;
  readonly usd: number | null;
}
