/** Defines what a dispatch asks for, and what the manager of subagents needs to carry it out. */

import {randomUUID} from 'node:crypto';
import type {AgentRun} from '../agent-loop.ts';
import type {AgentDefinition} from '../agent-types.ts';
import type {Emitters} from '../contract/events.ts';
import type {Hooks} from '../contract/hook.ts';
import type {Message, Model} from '../contract/model.ts';
import type {RunLimits, RunResult} from '../contract/results.ts';
import type {RunSpec} from '../contract/run-spec.ts';
import type {RunRecord, RunStore} from '../contract/runs.ts';
import type {AfterCall, Budget, Tool, ToolSource} from '../contract/tool.ts';
import type {Isolation, Where} from '../contract/worktree.ts';
import type {PermitDeps} from '../permissions/decision.ts';
import type {AgentHooks} from '../permissions/tool-hooks.ts';
import type {Inbox} from '../turn/inbox.ts';
import type {GetSkill} from '../turn/system-prompt.ts';
import {hashJson} from '../util/hash.ts';
import {toOneLine} from '../util/text.ts';
import type {Verifier} from '../verification/verifier.ts';
import {getSessionKey} from './announcement.ts';
import type {AskPerson, PerPrompt} from './delegation.ts';
import type {LimitSettings} from './limit-profiles.ts';
import type {PoolSizes} from './pool.ts';
import {chooseWhere, type RemoteRuns} from './remote-runs.ts';
import type {WorkplaceDeps} from './workplace.ts';

type Named = 'agent' | 'model' | 'description' | 'where';
type PartialSpec = {readonly [Key in Exclude<keyof RunSpec, Named>]?: RunSpec[Key] | undefined};

/** A dispatch: the fields of the run's spec, with the agent and the model themselves. */
export interface RunRequest extends PartialSpec, Pick<RunSpec, 'description'> {
  readonly agent: AgentDefinition;
  readonly model: Model;
  readonly prompt: string;
  /** Defaults to the definition's value, or to this machine. */
  readonly where?: Where | undefined;
  /** Warnings for the result, one line each. */
  readonly warnings?: readonly string[] | undefined;
  /** Conversation before the prompt, for a run that continues elsewhere. */
  readonly history?: readonly Message[];
  /** When true, a message after the last turn does not make the run continue, and its result is not reused. */
  readonly endsForGood?: boolean;
  /** Ends a foreground run with its parent's turn. */
  readonly signal: AbortSignal;
}

/** One round of a run: its task, or a message that makes it continue after its end. */
export interface RunRound extends Pick<RunRequest, 'agent' | 'model' | 'prompt' | 'warnings'> {
  readonly limits: RunLimits;
  readonly budget: Budget;
  /** Whether an earlier process gave the run to a worker. */
  readonly isPending?: boolean;
}

/**
 * Rules from the setting `subagents.tools`. If `allow` is present, all other tools are refused; `deny` wins over it.
 */
export interface ToolRules {
  readonly allow?: readonly string[];
  readonly deny: readonly string[];
}

/** Dependencies that all runs of a session share. */
export interface SubagentDeps extends WorkplaceDeps {
  /** Present when a queue is set. */
  readonly remote?: RemoteRuns | undefined;
  readonly baseTools: readonly Tool[];
  readonly permits: PermitDeps;
  readonly rawStream: boolean;
  /** Model that summarises what does not fit into a run's window; undefined for the run's own model. */
  readonly summaryModel: Model | undefined;
  readonly limits: LimitSettings;
  readonly createToolSource?: ((agent: AgentDefinition) => ToolSource | undefined) | undefined;
  readonly toolRules: ToolRules;
  /** Number of tokens that a final answer is asked to stay within. */
  readonly resultTokens: number;
  readonly hooks: Hooks;
  /** Returns the hooks of an agent that has its own. They replace those of the session. */
  readonly createAgentHooks?: (agent: AgentDefinition) => AgentHooks | undefined;
  readonly getSkill?: GetSkill;
  readonly afterCall?: readonly AfterCall[];
  readonly verifier: Verifier;
  /** Does something before and after each run in its workplace, as evaluations do. `work` runs the agent. */
  readonly around?: ((run: AgentRun, work: () => Promise<RunResult>) => Promise<RunResult>) | undefined;
}

export interface ManagerDeps {
  readonly maxConcurrent: PoolSizes;
  readonly mainAgentId: string;
  /** Budget of the session. Its runs spend from it. */
  readonly budget: Budget;
  /** Limits of the runs that one prompt may start. */
  readonly perPrompt?: PerPrompt;
  /** Absent where no person can be asked. */
  readonly askPerson?: AskPerson | undefined;
  readonly runs: SubagentDeps;
  readonly store: RunStore;
  readonly bus: Emitters;
  /** Inbox of the main agent. The ends of background runs go there. */
  readonly inbox: Inbox;
  /** Returns a fingerprint of the workspace, see `dedup.ts`. Never rejects. */
  readonly fingerprint: () => Promise<string>;
  /** Minutes between the end of a run and its archiving; 0 means never. */
  readonly archiveAfterMinutes: number;
  /**
   * Returns the agent and model of a run that continues.
   * @param isLeft whether the run continued at a worker, with its agent as it was then
   * @throws MiniCcError when the agent of any other run was deleted
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
    definition: hashJson(agent),
    model: model.name,
    background: asked.background ?? false,
    cleanup: asked.cleanup ?? 'keep',
    isolation,
    where: chooseWhere(asked.where ?? agent.where, isolation, remote),
  };
}

/** Formats the answer to a dispatch in the background. */
export function formatAccepted(agent: string, runId: string): string {
  return JSON.stringify({status: 'accepted', runId, childSessionKey: getSessionKey(agent, runId)});
}

/**
 * Returns the key of a task. Two dispatches of a session with the same key are the same task. White space in the prompt is
 * folded. All other characters count, and so does their case.
 */
export function getTaskKey(request: RunRequest, session: string): string {
  // Only the limits in the call count: the profile's limit for background runs does not make a different task.
  const {agent, prompt, model, limits = {}} = request;
  const folded = toOneLine(prompt);
  return hashJson([agent, folded, model.name, model.thinking ?? '', limits, getIsolation(request), session]);
}

/** A call cannot remove the isolation that the definition asks for. */
function getIsolation({agent, isolation}: Pick<RunRequest, 'agent' | 'isolation'>): Isolation {
  return agent.isolation === 'worktree' ? 'worktree' : (isolation ?? 'none');
}
