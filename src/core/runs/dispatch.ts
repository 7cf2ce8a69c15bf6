/** What a dispatch asks for, and what the manager of subagents needs to carry it out. */

import {randomUUID} from 'node:crypto';
import type {AgentDefinition} from '../agent-types.ts';
import type {Emitters} from '../contract/events.ts';
import type {Hooks} from '../contract/hook.ts';
import type {Message, Model} from '../contract/model.ts';
import type {RunLimits} from '../contract/results.ts';
import type {RunSpec} from '../contract/run-spec.ts';
import type {RunRecord, RunStore} from '../contract/runs.ts';
import type {AfterCall, Budget, Tool, ToolSource} from '../contract/tool.ts';
import type {Isolation, Where} from '../contract/worktree.ts';
import type {PermitDeps} from '../permissions/decision.ts';
import type {AgentHooks} from '../permissions/tool-hooks.ts';
import type {Inbox} from '../turn/inbox.ts';
import type {GetSkill} from '../turn/system-prompt.ts';
import type {Verifier} from '../verification/verifier.ts';
import {getSessionKey} from './announcement.ts';
import {hashTask} from './dedup.ts';
import type {LimitSettings} from './limit-profiles.ts';
import type {PoolSizes} from './pool.ts';
import {chooseWhere, type RemoteRuns} from './remote-runs.ts';
import type {WorkplaceDeps} from './workplace.ts';

type Named = 'agent' | 'model' | 'description' | 'where';
type PartialSpec = {readonly [Key in Exclude<keyof RunSpec, Named>]?: RunSpec[Key] | undefined};

/** What a dispatch asks for: what the run's spec will have, with the agent and the model themselves. */
export interface RunRequest extends PartialSpec, Pick<RunSpec, 'description'> {
  readonly agent: AgentDefinition;
  readonly model: Model;
  readonly prompt: string;
  /** Default: what its definition says, else here. */
  readonly where?: Where | undefined;
  /** For the result, one line each. */
  readonly warnings?: readonly string[] | undefined;
  /** The conversation before the prompt, of a run that continues elsewhere. */
  readonly history?: readonly Message[];
  /** A message that comes after its last turn does not make it go on, and its result is not given again. */
  readonly endsForGood?: boolean;
  /** Ends a foreground run with its parent's turn. */
  readonly signal: AbortSignal;
}

/** One round of a run: its task, or a message that makes it go on after its end. */
export interface RunRound extends Pick<RunRequest, 'agent' | 'model' | 'prompt' | 'warnings'> {
  readonly limits: RunLimits;
  readonly budget: Budget;
  /** An earlier process gave it to a worker. */
  readonly isPending?: boolean;
}

/** `subagents.tools`: deny wins, allow is allow-only. */
export interface ToolRules {
  readonly allow?: readonly string[];
  readonly deny: readonly string[];
}

/** What all runs of a session share. */
export interface SubagentDeps extends WorkplaceDeps {
  /** Present where a queue is set. */
  readonly remote?: RemoteRuns | undefined;
  readonly baseTools: readonly Tool[];
  readonly permits: PermitDeps;
  readonly rawStream: boolean;
  /** Summarises what does not fit into a run's window; undefined: the run's own model. */
  readonly summaryModel: Model | undefined;
  readonly limits: LimitSettings;
  /** Tools of MCP servers that the agent has. */
  readonly createToolSource?: ((agent: AgentDefinition) => ToolSource | undefined) | undefined;
  readonly toolRules: ToolRules;
  /** Tokens within which a final answer is asked to stay. */
  readonly resultTokens: number;
  readonly hooks: Hooks;
  /** In place of those of the session, for an agent that has hooks of its own. */
  readonly createAgentHooks?: (agent: AgentDefinition) => AgentHooks | undefined;
  readonly getSkill?: GetSkill;
  readonly afterCall?: readonly AfterCall[];
  /** Runs the checks of the project after agents that change code. */
  readonly verifier: Verifier;
}

export interface ManagerDeps {
  /** Runs at work at the same time. */
  readonly maxConcurrent: PoolSizes;
  readonly mainAgentId: string;
  /** Of the session: what its runs may use comes out of it. */
  readonly budget: Budget;
  readonly runs: SubagentDeps;
  readonly store: RunStore;
  readonly bus: Emitters;
  /** Of the main agent: where the ends of background runs go. */
  readonly inbox: Inbox;
  /** What the workspace is like, see `dedup.ts`. Never rejects. */
  readonly fingerprint: () => Promise<string>;
  /** Minutes after its end when a run is archived; 0 = never. */
  readonly archiveAfterMinutes: number;
  /**
   * Agent and model of a run that goes on.
   * @param isLeft it went on at a worker, with the agent as it was then. @throws MiniCcError when the agent of another was deleted
   */
  readonly revive: (record: RunRecord, isLeft?: boolean) => Pick<RunRound, 'agent' | 'model' | 'warnings'>;
}

/** @throws MiniCcError `WHERE` when the run must work at a worker and cannot */
export function createSpec(request: RunRequest, remote: RemoteRuns | undefined): RunSpec {
  const {agent, model, prompt: _, warnings: _w, history: _h, endsForGood: _e, signal: _s, ...asked} = request;
  const isolation = getIsolation(request);
  return {
    ...asked,
    runId: asked.runId ?? randomUUID(),
    label: asked.label || undefined,
    agent: agent.name,
    model: model.name,
    background: asked.background ?? false,
    cleanup: asked.cleanup ?? 'keep',
    isolation,
    where: chooseWhere(asked.where ?? agent.where, isolation, remote),
  };
}

/** The answer to a dispatch in the background. */
export function formatAccepted(agent: string, runId: string): string {
  return JSON.stringify({status: 'accepted', runId, childSessionKey: getSessionKey(agent, runId)});
}

/** Two dispatches of a session with the same key are the same task. */
export function getTaskKey(request: RunRequest, session: string): string {
  // Only the limits that the call names: the profile's limit for background runs does not make it another task.
  const {agent, prompt, model, limits = {}} = request;
  return hashTask({
    agent,
    prompt,
    model: `${model.name} ${model.thinking ?? ''}`,
    limits,
    isolation: getIsolation(request),
    session,
  });
}

/** The isolation that the definition asks for cannot be lifted by the call. */
function getIsolation({agent, isolation}: Pick<RunRequest, 'agent' | 'isolation'>): Isolation {
  return agent.isolation === 'worktree' ? 'worktree' : (isolation ?? 'none');
}
