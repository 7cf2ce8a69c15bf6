/**
 * Starts the runs of a fan-out: its parts side by side through the pool, then one run for the changes that they need
 * outside of their files, and further rounds for what the checks of the project find.
 */

import {randomUUID} from 'node:crypto';
import path from 'node:path';
import {restrictTools} from '../agent-types.ts';
import type {FanOutJournal, FanOutLine, FanOutPart, OutsideRequest, WriteScope} from '../contract/fan-out.ts';
import type {SubagentResult} from '../contract/runs.ts';
import type {ToolFacts} from '../contract/tool-facts.ts';
import {isProtected} from '../permissions/files/file-zone.ts';
import {resolveLinks} from '../permissions/files/resolve-links.ts';
import type {RunRequest} from '../runs/dispatch.ts';
import type {SubagentManager} from '../subagent-manager.ts';
import {formatReason} from '../turn/run-ending.ts';
import {getErrorMessage} from '../util/errors.ts';
import {countTokens} from '../util/messages.ts';
import {isInside} from '../util/paths.ts';
import {formatCount} from '../util/text.ts';
import {type ComparedCheck, findNamedFiles, formatFailures} from '../verification/check-run.ts';
import type {Verify} from '../verification/verifier.ts';
import {type FanOutPlan, type FanOutSettings, formatPartPrompt, getPartLimits, nameFiles} from './plan.ts';

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
    const scope = createOutsideScope(requests, this.#getScope(this.work.plan.files), this.deps.root);
    const ended = await this.#spawn({
      description: `${requests.length === 1 ? 'a change' : `${requests.length} changes`} outside of the parts`,
      prompt: formatOutsidePrompt(this.work.plan.instruction, requests),
      scope,
    });
    if (ended.outcome !== 'success')
      this.problems.push(`The changes outside of the parts are not complete: ${ended.reason}`);
  }

  /** Verifies the changes. New failures go back to the runs whose files they name. @returns lines for the summary */
  async verify(verify: Verify): Promise<readonly string[]> {
    const {lines, rounds, isFailing} = await verify(async (failures) => {
      await this.#sendBack(failures);
      return true;
    });
    if (rounds === 0) return lines;
    const words = rounds === 1 ? 'one round' : `${rounds} rounds`;
    const end = isFailing ? `still failing after ${words}` : `what failed after the fan-out was repaired in ${words}`;
    return [...lines, `verification: ${end}`];
  }

  /** Sends each run the failures that name its files. One run for all files gets those that name none of them. */
  async #sendBack(failures: readonly ComparedCheck[]): Promise<void> {
    const sent = this.parts.flatMap(({files, runId}) => {
      const checks = failures.filter((check) => findNamedFiles(check.news, files).length > 0);
      return runId === undefined || checks.length === 0 ? [] : [{runId, files, checks}];
    });
    const rest = failures.filter((check) => !sent.some(({checks}) => checks.includes(check)));
    await Promise.all(
      sent.map(({runId, files, checks}) => {
        const lines = checks.flatMap(({news}) => news);
        return this.#resume(
          runId,
          `the repair of ${nameFiles(files)}`,
          formatFailures(checks, findNamedFiles(lines, files)),
        );
      }),
    );
    if (rest.length === 0) return;
    const {instruction, files} = this.work.plan;
    await this.#spawn({
      description: 'repair what fails',
      prompt: `Several agents did this task:\n\n${instruction}\n\n${formatFailures(rest, [])}`,
      scope: this.#getScope(files),
    });
  }

  async #resume(runId: string, what: string, message: string): Promise<void> {
    try {
      this.#count(await this.deps.manager.resume(runId, message, this.work.signal), what);
    } catch (error) {
      this.problems.push(`A run could not go on to repair: ${getErrorMessage(error)}`);
    }
  }

  async #runPart(index: number): Promise<readonly OutsideRequest[]> {
    const {id, plan, signal} = this.work;
    const {files} = this.parts[index]!;
    const {where} = this.deps.settings;
    const runId = randomUUID();
    const task = {
      description: `part ${index + 1} of ${this.parts.length}, ${formatCount(files.length, 'file')}`,
      prompt: formatPartPrompt(plan, files),
      scope: this.#getScope(files),
      ...(where !== 'local' && {where, isolation: 'worktree' as const}),
    };
    const {outcome, reason, text, durationMs} = await this.#spawn(task, {type: 'part', id, part: index, runId});
    this.sumMs += durationMs;
    const ending = {outcome, ...(reason !== '' && {reason})};
    this.parts[index] = {files, runId, ...ending};
    const outside = parseOutside(text).filter((request) => !files.includes(path.normalize(request.path)));
    // A run that ends because mini-cc closes is only cut off: its part can continue later.
    if (!isClosing(signal)) this.#note({type: 'part_end', id, part: index, ...ending, outside});
    return outside;
  }

  /** @param line journal line of a part, with the id of its run. Absent for other runs */
  async #spawn(
    task: Pick<RunRequest, 'description' | 'prompt' | 'where' | 'isolation'> & {readonly scope: WriteScope},
    line?: FanOutLine & {readonly type: 'part'},
  ) {
    const {id, plan, callId, signal} = this.work;
    const runId = line?.runId ?? randomUUID();
    const names = this.deps.tools.map(({name}) => name);
    const agent = restrictTools(plan.agent, plan.tools, names);
    const onlyTools = agent.tools === '*' ? undefined : agent.tools;
    this.#note(line ?? {type: 'agent', id, agentId: runId});
    try {
      const {model, warnings = []} = plan;
      const limits = getPartLimits(plan, task.scope.files.length);
      const request = {...task, limits, onlyTools, agent, model, warnings, runId, signal, callId};
      return this.#count(await this.deps.manager.spawn(request), task.description);
    } catch (error) {
      return {outcome: 'error' as const, reason: getErrorMessage(error), text: '', durationMs: 0};
    }
  }

  /** @param what names the run for a person */
  #count({result}: SubagentResult, what: string) {
    this.tokens += countTokens(result.usage);
    for (const command of new Set(result.tools.flatMap(({facts}) => facts.stoppedBySandbox ?? []))) {
      this.problems.push(`${what}: the sandbox stopped what a command tried beyond its files: ${command}`);
    }
    return {outcome: result.outcome, reason: formatReason(result), text: result.text, durationMs: result.durationMs};
  }

  #getScope(files: readonly string[]): WriteScope {
    const resolved = files.map((file) => resolveLinks(file, this.deps.root));
    return {files: resolved, allowed: this.work.allowed ? resolved : []};
  }

  /**
   * Appends to the journal. A fan-out also works without it: after a crash, only the record of finished parts would be
   * missing.
   */
  #note(line: FanOutLine): void {
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

const OUTSIDE_LINE =
  /^\s*(?:[-*]\s+)?(?:\*\*)?Outside(?:\*\*)?:(?:\*\*)?\s*`?([^\s:`]+(?:\s[^\s:`]+)*)`?\s*[:—–-]\s*(\S.*)$/gim;

/** Parses the requests in a report, in their order. Each is a line `Outside: PATH: what to change`. */
export function parseOutside(report: string): readonly OutsideRequest[] {
  return [...report.matchAll(OUTSIDE_LINE)].map(([, path = '', change = '']) => ({path, change: change.trim()}));
}

/** Formats the prompt of the run that makes these changes. */
export function formatOutsidePrompt(instruction: string, requests: readonly OutsideRequest[]): string {
  const list = requests.map(({path, change}, index) => `${index + 1}. ${path}: ${change}`).join('\n');
  return `Several agents did this task, each in files of its own:\n\n${instruction}\n\nThey need these changes in other files. Do them in this order, and nothing else:\n${list}`;
}

/**
 * Returns the files that the run may write: those of the workspace that the requests name, and those of the parts. The
 * person saw only the latter, so only these are allowed without a question.
 */
export function createOutsideScope(requests: readonly OutsideRequest[], parts: WriteScope, root: string): WriteScope {
  const named = requests
    .map(({path}) => resolveLinks(path, root))
    .filter((file) => isInside(file, [root]) && !isProtected(file.slice(root.length)));
  return {files: [...new Set([...named, ...parts.files])], allowed: parts.allowed};
}
