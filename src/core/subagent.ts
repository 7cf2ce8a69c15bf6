/** One subagent's run: a fresh history, filtered tools, its own limits; text and a receipt come back. */

import {type AgentRun, runAgent} from './agent-loop.ts';
import type {AgentDefinition} from './agent-types.ts';
import type {Emit} from './events.ts';
import {FileLedger, type WriteLog} from './file-ledger.ts';
import {History, type Journal} from './history.ts';
import {Inbox} from './inbox.ts';
import {type Clock, type Limits, standardLimits} from './limits.ts';
import type {Model} from './model.ts';
import type {OutputStore} from './output.ts';
import {createPermit, type PermitDeps} from './permit.ts';
import {makeReceipt, type Receipt} from './receipt.ts';
import {type RunResult, reasonOf} from './run-result.ts';
import {type Surroundings, systemPrompt} from './system-prompt.ts';
import type {Tool, Workspace} from './tool.ts';

/** What a dispatch asks for. */
export interface SubagentTask {
  readonly agent: AgentDefinition;
  readonly description: string;
  readonly prompt: string;
  readonly maxTurns?: number;
  readonly timeoutSeconds?: number;
}

/** What all runs of a session share. */
export interface SubagentHouse {
  readonly baseTools: readonly Tool[];
  readonly workspace: Workspace;
  readonly surroundings: Surroundings;
  readonly writeLog: WriteLog;
  readonly permits: PermitDeps;
  readonly clock: Clock;
  readonly rawStream: boolean;
}

/** What is this run's alone. */
export interface SubagentSeat {
  readonly runId: string;
  readonly model: Model;
  readonly journal: Journal;
  readonly output: OutputStore;
  readonly transcript: string;
  readonly emit: Emit;
  readonly signal: AbortSignal;
}

export interface SubagentResult {
  readonly runId: string;
  readonly transcript: string;
  readonly result: RunResult;
  readonly receipt: Receipt;
  /** What the dispatching model reads: findings, reason if it was cut off, receipt. */
  readonly report: string;
}

/** Runs the task to its end. Never rejects. */
export async function runSubagent(
  task: SubagentTask,
  house: SubagentHouse,
  seat: SubagentSeat,
): Promise<SubagentResult> {
  const {agent} = task;
  const label = `[${agent.name}] ${task.description}`;
  const workspace: Workspace = {
    ...house.workspace,
    cwd: house.workspace.root,
    confinement: agent.readOnly ? 'read-only' : 'none',
  };
  const history = new History(seat.journal);
  history.append({role: 'user', content: task.prompt});
  seat.emit({type: 'message', role: 'user', content: task.prompt});
  const run: AgentRun = {
    agentId: seat.runId,
    tools: toolsFor(agent, house.baseTools),
    workspace,
    files: new FileLedger(house.writeLog, label),
    output: seat.output,
    permit: createPermit(house.permits, label, workspace, seat.emit),
    emit: seat.emit,
    model: seat.model,
    system: systemPrompt(agent.prompt, house.surroundings),
    history,
    inbox: new Inbox(),
    limits: limitsFor(task),
    clock: house.clock,
    signal: seat.signal,
    rawStream: house.rawStream,
  };
  const result = await runAgent(run);
  const receipt = makeReceipt(result, workspace.root, !agent.readOnly);
  history.end(result.outcome, reasonOf(result), receipt.line);
  return {runId: seat.runId, transcript: seat.transcript, result, receipt, report: reportOf(result, receipt, seat)};
}

/** The base tools that the agent may have. Task is no base tool, so no subagent can dispatch. */
export function toolsFor(agent: AgentDefinition, baseTools: readonly Tool[]): readonly Tool[] {
  if (agent.tools === '*') return baseTools;
  const {tools} = agent;
  return baseTools.filter((tool) => tools.includes(tool.name));
}

/** Task call > definition > profile. */
function limitsFor(task: SubagentTask): Limits {
  const standard = standardLimits(task.agent.name);
  return {
    maxTurns: task.maxTurns ?? task.agent.maxTurns ?? standard.maxTurns,
    timeoutSeconds: task.timeoutSeconds ?? task.agent.timeoutSeconds ?? standard.timeoutSeconds,
  };
}

/** Characters in two times the 500 tokens that the prompts ask for. */
const MAX_REPORT_CHARS = 2 * 500 * 4;

function reportOf(result: RunResult, receipt: Receipt, seat: SubagentSeat): string {
  const head = result.outcome === 'success' ? '' : `The run did not finish: ${reasonOf(result)}.\n`;
  const text = result.text === '' ? '(no answer)' : cutAtParagraph(result.text, seat.transcript);
  const lead = result.outcome !== 'success' && result.text !== '' ? 'What it had by then:\n' : '';
  return `${head}${lead}${text}\n\n${receipt.line}\nRun: ${seat.runId} · transcript ${seat.transcript}`;
}

function cutAtParagraph(text: string, transcript: string): string {
  if (text.length <= MAX_REPORT_CHARS) return text;
  const paragraph = text.lastIndexOf('\n\n', MAX_REPORT_CHARS);
  const line = text.lastIndexOf('\n', MAX_REPORT_CHARS);
  const end = paragraph > MAX_REPORT_CHARS / 2 ? paragraph : line > MAX_REPORT_CHARS / 2 ? line : MAX_REPORT_CHARS;
  return `${text.slice(0, end)}\n\n[cut here: ${text.length - end} more characters in ${transcript}]`;
}
