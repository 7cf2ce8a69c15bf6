/** What the manager of subagents is made of, and what a dispatch asks of it. */

import type {Emitters} from '../contract/events.ts';
import type {Model} from '../contract/model.ts';
import type {Cleanup, RunRecord, RunStore, SubagentResult} from '../contract/runs.ts';
import type {TokenBudget} from '../contract/tool.ts';
import type {SubagentHouse, SubagentTask} from '../subagent.ts';
import type {Inbox} from '../turn/inbox.ts';
import {sessionKeyOf} from './announcement.ts';
import {type Deduplicated, taskKey} from './dedup.ts';
import {isolationOf} from './isolation.ts';
import type {LiveRun} from './live-run.ts';

export interface ManagerOptions {
  /** Runs at work at the same time; asked for at the first dispatch when it has to be found out. Never rejects. */
  readonly maxConcurrent: number | (() => Promise<number>);
  readonly mainAgentId: string;
  readonly house: SubagentHouse;
  readonly store: RunStore;
  readonly bus: Emitters;
  /** Of the main agent: where the ends of background runs go. */
  readonly inbox: Inbox;
  /** What the workspace is like, see `dedup.ts`. Never rejects. */
  readonly fingerprint: () => Promise<string>;
  /** Minutes after its end when a run is archived; 0 = never. */
  readonly archiveAfterMinutes: number;
  /** Agent and model of a run that goes on. @throws MiniCcError when the agent is gone. */
  readonly revive: (record: RunRecord) => {readonly agent: SubagentTask['agent']; readonly model: Model};
}

export interface SpawnRequest extends SubagentTask {
  readonly model: Model;
  /** Who names the run before it is dispatched. Default: a new id. */
  readonly runId?: string;
  /** It was given some of its tools only, and keeps to these when it goes on. */
  readonly onlyTools?: readonly string[];
  readonly background?: boolean;
  readonly label?: string;
  readonly cleanup?: Cleanup;
  /** The Task call of the main model. */
  readonly callId?: string;
  /** Ends a foreground run with its parent's turn. */
  readonly signal: AbortSignal;
  /** What its parent may still use. */
  readonly tokens?: TokenBudget;
}

/** What came of a dispatch. `joined`: the same task runs already. `cached`: it ended just now, and nothing changed. */
export type Dispatched = Deduplicated<SubagentResult, LiveRun>;

/** What a dispatch answers for a run that nobody waits for. */
export function acceptedWords(agent: string, runId: string): string {
  return JSON.stringify({status: 'accepted', runId, childSessionKey: sessionKeyOf(agent, runId)});
}

/** What makes a dispatch the same as another one of this session. */
export function keyOf(request: SpawnRequest, session: string): string {
  const {agent, prompt, model, maxTurns, timeoutSeconds, maxTokens} = request;
  // Those that were named: what follows from being in the background makes it no other task.
  const limits = {maxTurns, timeoutSeconds, maxTokens};
  return taskKey({agent, prompt, model: model.name, limits, isolation: isolationOf(request), session});
}
