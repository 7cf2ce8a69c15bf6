/**
 * Starts the runs of a fan-out: its parts side by side through the pool, and then one run for their changes elsewhere.
 */

import {randomUUID} from 'node:crypto';
import path from 'node:path';
import {restrictTools} from '../agent-types.ts';
import type {FanOutJournal, FanOutPart, OutsideRequest, WriteScope} from '../contract/fan-out.ts';
import type {SubagentResult} from '../contract/runs.ts';
import type {ToolFacts} from '../contract/tool-facts.ts';
import {resolveLinks} from '../permissions/files/resolve-links.ts';
import type {RunRequest} from '../runs/dispatch.ts';
import type {SubagentManager} from '../subagent-manager.ts';
import {formatReason} from '../turn/run-ending.ts';
import {getErrorMessage} from '../util/errors.ts';
import {countTokens} from '../util/messages.ts';
import {createOutsideScope, formatOutsidePrompt, parseOutside} from './outside.ts';
import {describePart, type FanOutPlan, type FanOutSettings, formatPartPrompt, getPartLimits} from './plan.ts';

export interface PartRunsDeps {
  readonly manager: SubagentManager;
  readonly journal: FanOutJournal;
  /** Root of the workspace, with links resolved. */
  readonly root: string;
  readonly tools: readonly ToolFacts[];
  readonly settings: Pick<FanOutSettings, 'where'>;
}

/** A fan-out at work. */
export interface FanOutWork {
  readonly id: string;
  readonly plan: FanOutPlan;
  /** Whether a person approved it, so that edits of its files need no further question. */
  readonly allowed: boolean;
  readonly callId?: string | undefined;
  readonly signal: AbortSignal;
}

export class PartRuns {
  /** Current state of the parts, in order. */
  readonly parts: FanOutPart[];
  readonly outside: OutsideRequest[] = [];
  /** Tokens of all runs of the fan-out. */
  tokens = 0;
  /** Milliseconds of all parts together. */
  sumMs = 0;
  /** Reasons why other runs of the fan-out did not succeed, one line each. */
  readonly problems: string[] = [];

  constructor(
    private readonly work: FanOutWork,
    private readonly deps: PartRunsDeps,
    parts: readonly FanOutPart[],
  ) {
    this.parts = [...parts];
  }

  /** Runs these parts. Never rejects: a failure is the outcome of its part. @param todo indexes of the parts to run */
  async runParts(todo: readonly number[]): Promise<void> {
    const reports = await Promise.all(todo.map((index) => this.#runPart(index)));
    for (const outside of reports) this.outside.push(...outside);
  }

  /** Makes the changes that the parts asked for outside of their files, one after another, in one run. */
  async runOutside(requests: readonly OutsideRequest[]): Promise<void> {
    const {plan, allowed} = this.work;
    const files = plan.files.map((file) => this.#resolve(file));
    const scope = createOutsideScope(requests, {files, allowed: allowed ? files : []}, this.deps.root);
    const ended = await this.#spawn(randomUUID(), {
      description: `${requests.length === 1 ? 'a change' : `${requests.length} changes`} outside of the parts`,
      prompt: formatOutsidePrompt(plan.instruction, requests),
      scope,
      limits: getPartLimits(plan, scope.files.length),
    });
    if (ended.outcome !== 'success')
      this.problems.push(`The changes outside of the parts are not complete: ${ended.reason}`);
  }

  /** Continues a run that has ended with another round. */
  async resume(runId: string, message: string): Promise<void> {
    try {
      const ended = await this.deps.manager.resume(runId, message, this.work.signal);
      this.#count(ended);
    } catch (error) {
      this.problems.push(`A run could not go on to repair: ${getErrorMessage(error)}`);
    }
  }

  /** Starts a run that may write all files of the fan-out. */
  async runRepair(message: string): Promise<void> {
    const {plan, allowed} = this.work;
    const files = plan.files.map((file) => this.#resolve(file));
    const prompt = `Several agents did this task:\n\n${plan.instruction}\n\n${message}`;
    const scope = {files, allowed: allowed ? files : []};
    await this.#spawn(randomUUID(), {
      description: 'repair what fails',
      prompt,
      scope,
      limits: getPartLimits(plan, files.length),
    });
  }

  async #runPart(index: number): Promise<readonly OutsideRequest[]> {
    const {id, plan, allowed} = this.work;
    const {files} = this.parts[index]!;
    const {where} = this.deps.settings;
    const runId = randomUUID();
    const scoped = files.map((file) => this.#resolve(file));
    const ended = await this.#spawn(
      runId,
      {
        description: describePart(index + 1, this.parts.length, files.length),
        prompt: formatPartPrompt(plan, files),
        scope: {files: scoped, allowed: allowed ? scoped : []},
        limits: getPartLimits(plan, files.length),
        ...(where !== 'local' && {where, isolation: 'worktree' as const}),
      },
      index,
    );
    const {outcome, reason, text, durationMs} = ended;
    this.sumMs += durationMs;
    this.parts[index] = {files, runId, outcome, ...(reason === '' ? {} : {reason})};
    const outside = parseOutside(text).filter((request) => !files.includes(path.normalize(request.path)));
    const entry = {type: 'part_end', id, part: index, outcome, ...(reason !== '' && {reason}), outside} as const;
    // A run that ends because mini-cc closes is only cut off: its part can continue later.
    if (!isClosing(this.work.signal)) this.#note(entry);
    return outside;
  }

  async #spawn(
    runId: string,
    task: Pick<RunRequest, 'description' | 'prompt' | 'limits' | 'where' | 'isolation'> & {readonly scope: WriteScope},
    part?: number,
  ) {
    const {id, plan, callId, signal} = this.work;
    const names = this.deps.tools.map(({name}) => name);
    const agent = restrictTools(plan.agent, plan.tools, names);
    const onlyTools = agent.tools === '*' ? undefined : agent.tools;
    this.#note(part === undefined ? {type: 'agent', id, agentId: runId} : {type: 'part', id, part, runId});
    try {
      const {model, warnings = []} = plan;
      const request = {...task, onlyTools, agent, model, warnings, runId, signal, callId};
      return this.#count(await this.deps.manager.spawn(request));
    } catch (error) {
      return {outcome: 'error' as const, reason: getErrorMessage(error), text: '', durationMs: 0};
    }
  }

  #count({result}: SubagentResult) {
    this.tokens += countTokens(result.usage);
    return {outcome: result.outcome, reason: formatReason(result), text: result.text, durationMs: result.durationMs};
  }

  #resolve(file: string): string {
    return resolveLinks(file, this.deps.root);
  }

  /**
   * Appends to the journal. A fan-out also works without it: after a crash, only the record of finished parts would be
   * missing.
   */
  #note(line: Parameters<FanOutJournal['append']>[0]): void {
    try {
      this.deps.journal.append(line);
    } catch (error) {
      const problem = `The journal of the fan-out could not be written: ${getErrorMessage(error)}`;
      if (!this.problems.includes(problem)) this.problems.push(problem);
    }
  }
}

/** Whether the session closes. Its fan-out is then cut off, and can continue later. */
export function isClosing({aborted, reason}: AbortSignal): boolean {
  return aborted && (reason as {reason?: unknown} | undefined)?.reason === 'close';
}
