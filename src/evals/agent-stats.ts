/** Counts what the stored runs of a project came to, by agent, definition and model. */

import type {Outcome} from '../core/contract/results.ts';
import type {StoredRun} from '../core/contract/runs.ts';
import {addUsage, countTokens, isCostKnown, NO_USAGE} from '../core/util/messages.ts';
import {formatColumns, formatTokens, toShortLine} from '../core/util/text.ts';
import {listUndoneAgents} from '../storage/checkpoints/ledger.ts';
import {isLocked} from '../storage/sessions/session-lock.ts';
import type {SessionStore} from '../storage/sessions/session-store.ts';
import {ignoreUnreadable, readEntries} from '../storage/sessions/transcript.ts';
import type {Spread} from './result-types.ts';
import {formatMoney, formatTime, getSpread} from './results.ts';

/** The runs of one agent with one definition and one model. Tokens, cost and time are sums. */
interface AgentStats {
  readonly agent: string;
  /** SHA-256 in hex; null for runs of earlier versions. */
  readonly definition: string | null;
  readonly model: string;
  readonly runs: number;
  readonly outcomes: Partial<Readonly<Record<Outcome, number>>>;
  /** Number of runs that answered without a tool call. */
  readonly unverified: number;
  /** Number of runs of which a person undid changes. */
  readonly undone: number;
  /** Replies of the model. */
  readonly turns: Spread;
  readonly tokens: number;
  /** Null where a price is unknown. */
  readonly usd: number | null;
  readonly duration_ms: number;
}

interface CountedRun extends StoredRun {
  readonly turns: number;
  readonly isUndone: boolean;
}

/** Runs at work do not count yet. @param name agent; empty for all */
export function readAgentStats(store: SessionStore, name: string): readonly AgentStats[] {
  const runs = store.list().flatMap(({id}) => listEndedRuns(store, id, name));
  const groups = Map.groupBy(runs, ({agent, definition, model}) => JSON.stringify([agent, definition, model]));
  return [...groups.values()].map(count).sort((a, b) => compare(a.agent, b.agent) || b.runs - a.runs);
}

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

function listEndedRuns(store: SessionStore, id: string, name: string): readonly CountedRun[] {
  const folder = store.sessionFolder(id);
  const runs = store.runStore(() => id).list();
  const ended = runs.filter(
    ({agent, tool, end}) => tool === undefined && (name === '' || agent === name) && (end || !isLocked(folder)),
  );
  if (ended.length === 0) return [];
  const undone = listUndoneAgents(folder);
  return ended.map((run) => ({...run, turns: countTurns(run.transcript), isUndone: undone.has(run.runId)}));
}

function countTurns(transcript: string): number {
  const entries = ignoreUnreadable(() => readEntries(transcript)) ?? [];
  return entries.filter((entry) => entry.type === 'message' && entry.message.role === 'assistant').length;
}

function count(runs: readonly CountedRun[]): AgentStats {
  const {agent, definition = null, model} = runs[0]!;
  const usage = runs.reduce((sum, run) => addUsage(sum, run.usage), NO_USAGE);
  const outcomes = Map.groupBy(runs, ({end}) => end?.outcome ?? 'unknown');
  return {
    agent,
    definition,
    model,
    runs: runs.length,
    outcomes: Object.fromEntries([...outcomes].map(([outcome, each]) => [outcome, each.length])),
    unverified: runs.filter(({end}) => end?.receipt?.endsWith(' · UNVERIFIED')).length,
    undone: runs.filter(({isUndone}) => isUndone).length,
    turns: getSpread(runs.map(({turns}) => turns)),
    tokens: countTokens(usage),
    usd: isCostKnown(usage) ? (usage.cost_usd ?? 0) : null,
    duration_ms: runs.reduce((sum, {end}) => sum + (end?.durationMs ?? 0), 0),
  };
}

/** Formats a table for a terminal of 80 columns, with one more line for each row. */
export function formatAgentStats(stats: readonly AgentStats[]): string {
  if (stats.length === 0) return 'No stored run in this project.';
  const head = ['agent', 'runs', 'turns (p95)', 'tokens', 'cost', 'time', 'unverified', 'undone'];
  const rows = stats.map((each) => [
    toShortLine(each.agent, 20),
    String(each.runs),
    `${each.turns.median} (${each.turns.p95})`,
    formatTokens(each.tokens),
    formatMoney(each.usd),
    formatTime(each.duration_ms),
    String(each.unverified),
    String(each.undone),
  ]);
  const [first, ...lines] = formatColumns([head, ...rows], {isRight: (column) => column > 0});
  return [first, ...lines.flatMap((line, index) => [line, `  ${describe(stats[index]!)}`])].join('\n');
}

function describe({definition, model, outcomes}: AgentStats): string {
  const counts = Object.entries(outcomes).map(([outcome, runs]) => `${runs} ${outcome}`);
  return [toShortLine(model, 30), `definition ${definition?.slice(0, 8) ?? 'unknown'}`, counts.join(', ')].join(' · ');
}
