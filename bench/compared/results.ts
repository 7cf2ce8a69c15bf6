/** The results of a run as they are kept in JSON, and what follows from them: medians, ratios, and whether a goal is met. */
import {median} from '../statistics.ts';
import type {ProgramName} from './programs.ts';

export interface Results {
  /** ISO 8601. */
  readonly date: string;
  /** Drew commands and alphabets; absent in older results. */
  readonly seed?: number;
  readonly machine: {
    readonly cpu: string;
    readonly cores: number;
    readonly memoryGb: number;
    readonly system: string;
    readonly node: string;
    /** Before the first measure: other programs make all times longer. */
    readonly loadAverage: number;
  };
  readonly versions: Readonly<Partial<Record<ProgramName, string>>>;
  readonly rows: readonly Row[];
}

/** What was measured for one row of the table. */
export interface Row {
  readonly id: string;
  readonly what: string;
  readonly unit: string;
  readonly digits: number;
  readonly goal: Goal;
  /** One value for each round; less is better. */
  readonly values: Readonly<Partial<Record<Measured, readonly number[]>>>;
  /** Why a program has no value. */
  readonly failed: Readonly<Partial<Record<Measured, string>>>;
}

/** `node` is `node -e 0`. */
export type Measured = ProgramName | 'node';

/** A most in the unit of the row, or of the median of another program; `best` is the peer with the smallest one. */
export interface Goal {
  readonly atMost: number;
  readonly of?: Measured | 'best';
}

export interface Ratio {
  readonly min: number;
  readonly median: number;
  readonly max: number;
}

export function getMedian(row: Row, name: Measured): number | undefined {
  const values = row.values[name];
  return values && values.length > 0 ? median(values) : undefined;
}

/** mini-cc to another program: of the medians, and the least and the most of the rounds. */
export function getRatio(row: Row, to: Measured): Ratio | undefined {
  const [own, other] = [row.values['mini-cc'] ?? [], row.values[to] ?? []];
  if (own.length === 0 || other.length === 0 || other.includes(0)) return undefined;
  const rounds = own.slice(0, other.length).map((value, round) => value / other[round]!);
  return {min: Math.min(...rounds), median: median(own) / median(other), max: Math.max(...rounds)};
}

/** The peer with the smallest median; undefined where no peer was measured. */
export function findBestPeer(row: Row): Measured | undefined {
  const peers = (['claude', 'codex', 'pi'] as const).filter((name) => getMedian(row, name) !== undefined);
  return peers.toSorted((a, b) => getMedian(row, a)! - getMedian(row, b)!)[0];
}

/** Undefined when it cannot be said: mini-cc or the program of the goal has no value. */
export function meetsGoal(row: Row): boolean | undefined {
  const own = getMedian(row, 'mini-cc');
  if (own === undefined) return undefined;
  if (row.goal.of === undefined) return own <= row.goal.atMost;
  const to = row.goal.of === 'best' ? findBestPeer(row) : row.goal.of;
  const other = to && getMedian(row, to);
  return other === undefined ? undefined : own <= row.goal.atMost * other;
}
