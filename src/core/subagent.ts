/** One subagent's run: its own history, filtered tools, its own limits; text and a receipt come back. */

import {type AgentRun, runAgent} from './agent-loop.ts';
import type {AgentDefinition} from './agent-types.ts';
import type {Confinement} from './contract/access.ts';
import type {Emit} from './contract/events.ts';
import type {Clock, NamedLimits, RunLimits} from './contract/limits.ts';
import type {Usage} from './contract/messages.ts';
import type {Model} from './contract/model.ts';
import type {SubagentResult} from './contract/runs.ts';
import type {TokenBudget, Tool} from './contract/tool.ts';
import type {Isolation} from './contract/worktree.ts';
import {createPermit, type PermitDeps} from './permissions/decision.ts';
import type {LimitSettings} from './runs/limit-profiles.ts';
import {reportOf} from './runs/report.ts';
import type {RunPapers} from './runs/run-record.ts';
import {type PlaceHouse, placeInWorkspace, placeInWorktree} from './runs/workplace.ts';
import {createFileLedger} from './turn/file-ledger.ts';
import type {Inbox} from './turn/inbox.ts';
import {reasonOf} from './turn/run-ending.ts';
import {systemPrompt} from './turn/system-prompt.ts';
import {addUsage} from './util/messages.ts';

/** What a dispatch asks for. */
export interface SubagentTask extends NamedLimits {
  readonly agent: AgentDefinition;
  readonly description: string;
  readonly prompt: string;
  readonly isolation?: Isolation;
}

/** `subagents.tools`: deny wins, allow is allow-only. */
export interface ToolRules {
  readonly allow?: readonly string[];
  readonly deny: readonly string[];
}

/** What all runs of a session share. */
export interface SubagentHouse extends PlaceHouse {
  readonly baseTools: readonly Tool[];
  readonly permits: PermitDeps;
  readonly clock: Clock;
  readonly rawStream: boolean;
  readonly limits: LimitSettings;
  readonly toolRules: ToolRules;
  /** Tokens that a final answer is asked to stay within. */
  readonly resultTokens: number;
}

/** What is this run's alone. */
export interface SubagentSeat {
  readonly runId: string;
  readonly model: Model;
  /** The conversation already begins with the task. */
  readonly papers: RunPapers;
  readonly inbox: Inbox;
  readonly limits: RunLimits;
  readonly tokens: TokenBudget;
  readonly emit: Emit;
  readonly signal: AbortSignal;
  /** From earlier rounds of a run that goes on. */
  readonly before: {readonly tools: number; readonly usage: Usage};
  /** Asked at the end: it may have been sent to the background meanwhile. */
  readonly standing: () => {readonly background: boolean; readonly round: number};
}

/** Runs the task to its end, and writes that end into the transcript. Rejects only when that cannot be written. */
export async function runSubagent(
  {agent, description, isolation = 'none'}: Pick<SubagentTask, 'agent' | 'description' | 'isolation'>,
  house: SubagentHouse,
  seat: SubagentSeat,
): Promise<SubagentResult> {
  const label = `[${agent.name}] ${description}`;
  const {papers, runId} = seat;
  const {emit, signal} = seat;
  const {readOnly, permissionMode} = agent;
  const confinementOf = (base: Confinement) => house.permits.policy.confinementOf(base, permissionMode);
  const place =
    isolation === 'worktree'
      ? await placeInWorktree({agentId: runId, label, confinementOf, readOnly, emit, signal}, house)
      : placeInWorkspace({confinementOf, readOnly}, house);
  const {workspace} = place;
  const run: AgentRun = {
    agentId: runId,
    label,
    tools: toolsFor(agent, house.baseTools, house.toolRules),
    workspace,
    files: createFileLedger(house.writeLog, label),
    checkpoints: house.checkpoints,
    output: papers.output,
    tokens: seat.tokens,
    permit: createPermit(house.permits, label, workspace, emit, agent),
    emit,
    model: seat.model,
    system: `${systemPrompt(agent.prompt, place.surroundings)}\n\nYour last message: at most ${house.resultTokens} tokens.`,
    history: papers.history,
    inbox: seat.inbox,
    limits: seat.limits,
    clock: house.clock,
    signal,
    rawStream: house.rawStream,
  };
  const {result, receipt} = await place.leave(await runAgent(run));
  const {outcome, text, durationMs, usage} = result;
  const reason = reasonOf(result);
  const {transcript} = papers;
  papers.history.end({
    outcome,
    ...(reason === '' ? {} : {reason}),
    receipt: receipt.line,
    text,
    durationMs: Math.round(durationMs),
    tools: seat.before.tools + result.tools.length,
    usage: addUsage(seat.before.usage, usage),
    ...seat.standing(),
  });
  const report = reportOf({runId, outcome, reason, text, receipt: receipt.line, transcript}, house.resultTokens);
  return {runId, transcript, result, receipt, report};
}

/** The base tools that the agent may have. Task is no base tool, so no subagent can dispatch. */
export function toolsFor(agent: AgentDefinition, baseTools: readonly Tool[], rules: ToolRules): readonly Tool[] {
  const {tools} = agent;
  return baseTools.filter(
    ({name}) =>
      (tools === '*' || tools.includes(name)) &&
      !rules.deny.includes(name) &&
      (rules.allow === undefined || rules.allow.includes(name)),
  );
}
