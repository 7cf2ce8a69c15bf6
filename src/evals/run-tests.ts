/** Runs the trials of a test: each case in each arm as often as asked, without those that were made before. */
import {randomUUID} from 'node:crypto';
import type {AgentRun} from '../core/agent-loop.ts';
import type {AgentDefinition} from '../core/agent-types.ts';
import type {Model} from '../core/contract/model.ts';
import type {SubagentResult} from '../core/contract/runs.ts';
import type {RunRequest} from '../core/runs/dispatch.ts';
import {formatReason} from '../core/turn/run-ending.ts';
import {getErrorMessage, MiniCcError} from '../core/util/errors.ts';
import {isBudget} from '../core/util/messages.ts';
import {judgeTrial, type TrialPlace} from './checks.ts';
import type {CaseSet, EvalCase, Replay, TrialRecord} from './contract.ts';
import type {Judge} from './judge.ts';
import {getTrialKey, type KeptTrials} from './kept-trials.ts';
import type {GradedAssertion, Verdict} from './result-types.ts';
import {getUsed, type Trials} from './trials.ts';
import {type Base, restoreChanges, type TrialFolder} from './workspaces.ts';

/** A definition that is tested, or the one that it is compared with. */
export interface Arm {
  readonly name: string;
  readonly definition: AgentDefinition;
  readonly model: Model;
  readonly warnings: readonly string[];
}

export interface TestedAgent {
  readonly agent: string;
  readonly set: CaseSet;
  /** The agent, and the baseline if there is one. */
  readonly arms: readonly [Arm, Arm?];
}

export interface TapedTrial {
  readonly target: Pick<TestedAgent, 'agent' | 'arms'>;
  readonly arm: Arm;
  readonly evalCase: Pick<EvalCase, 'id'>;
  readonly trial: number;
}

export interface TapedModel {
  readonly model: Model;
  /** Called when the trial has ended. @returns the verdict of a replay */
  end(record: TrialRecord): Promise<Replay | undefined>;
}

/** Wraps the models of trials, to record their replies or to replay them. */
export interface Tape {
  readonly isReplay: boolean;
  /**
   * @param trials number that was asked for
   * @returns the agents with the models of the test, and the number of trials
   * @throws UsageError for a folder or a recording that cannot be used
   */
  prepare(
    targets: readonly TestedAgent[],
    trials: number | undefined,
  ): Promise<{readonly targets: readonly TestedAgent[]; readonly trials: number}>;
  /** @param getFolder returns the workspace of the trial while it runs */
  start(trial: TapedTrial, getFolder: () => TrialFolder): TapedModel;
}

interface TrialName {
  readonly target: TestedAgent;
  readonly arm: Arm;
  readonly evalCase: EvalCase;
  /** From 1 on. */
  readonly trial: number;
}

interface Job extends TrialName {
  readonly base: Base;
  readonly key: string;
  readonly kept: TrialRecord | undefined;
}

export interface JobResult extends TrialName {
  readonly isKept: boolean;
  readonly record: TrialRecord;
  readonly verdicts: readonly Verdict[];
  /** Absent when no judge graded the run. */
  readonly assertions?: readonly GradedAssertion[] | undefined;
  readonly replay?: Replay | undefined;
}

export interface TestPlan {
  readonly jobs: readonly Job[];
  /** Trials that no earlier call made. */
  readonly missing: readonly Job[];
  /** Trials whose assertions a judge has to grade. */
  readonly ungraded: readonly Job[];
}

interface RunnerDeps {
  readonly trials: Trials;
  readonly kept: KeptTrials;
  readonly version: string;
  /** Grades assertions. Without it, none are graded. */
  readonly judge?: Judge | undefined;
  readonly tape?: Tape | undefined;
  spawn(request: RunRequest): Promise<SubagentResult>;
  /** Returns a run of the session that makes no call, in whose name commands of stored trials run. */
  getAnyRun(): AgentRun;
  /** Called after each trial that was made. */
  onEnd(result: JobResult, done: number, all: number): void;
}

interface PlanOptions {
  readonly trials: number;
  readonly isFresh: boolean;
  readonly signal: AbortSignal;
}

/** Outcomes that say something about the agent. A trial that ended otherwise is made again by the next call. */
export const KEPT_OUTCOMES: ReadonlySet<string> = new Set(['success', 'limit', 'timeout']);

export class TestRunner {
  /** Workspaces as kept trials left them. No agent runs in them, and they are removed with the whole folder. */
  readonly #shared = new Map<string, Promise<TrialFolder>>();

  constructor(private readonly deps: RunnerDeps) {}

  /** Finds out which trials are to be made. @throws MiniCcError when the state of a case cannot be laid out */
  async plan(targets: readonly TestedAgent[], {trials, isFresh, signal}: PlanOptions): Promise<TestPlan> {
    const jobs: Job[] = [];
    for (const of of listCases(targets)) jobs.push(...(await this.#planCase(of, trials, isFresh, signal)));
    const {judge} = this.deps;
    const ungraded: Job[] = [];
    for (const job of judge ? jobs : []) {
      const {evalCase, kept: record} = job;
      if (evalCase.assertions.length > 0 && !(record && (await judge!.findKept({evalCase, record}))))
        ungraded.push(job);
    }
    return {jobs, missing: jobs.filter(({kept}) => !kept), ungraded};
  }

  async #planCase(of: Omit<TrialName, 'trial'>, trials: number, isFresh: boolean, signal: AbortSignal) {
    const {arm, evalCase, target} = of;
    const base = await this.deps.trials.worktrees.getBase(evalCase, signal).catch((error: unknown) => {
      signal.throwIfAborted();
      throw new MiniCcError('CASE', `${target.agent}, case ${evalCase.id}: ${getErrorMessage(error)}`, {cause: error});
    });
    const model = [arm.model.name, arm.model.thinking ?? ''].join(' ');
    const {version} = this.deps;
    const key = getTrialKey({definition: arm.definition, evalCase, base: base.id, model, version});
    const numbers = Array.from({length: trials}, (_, index) => index + 1);
    return Promise.all(
      numbers.map(async (trial): Promise<Job> => {
        const kept = isFresh ? undefined : await this.deps.kept.find(key, trial);
        return {...of, trial, base, key, kept};
      }),
    );
  }

  /**
   * Makes the missing trials side by side, and judges all.
   * @returns results in the order of the plan; `limit` says which limit of the whole test ended it
   */
  async run(
    {jobs, missing}: TestPlan,
    signal: AbortSignal,
  ): Promise<{readonly results: readonly JobResult[]; readonly limit?: string}> {
    let limit: string | undefined;
    let done = 0;
    const grade = async (result: JobResult): Promise<JobResult> => {
      const {evalCase, record} = result;
      if (!this.deps.judge || evalCase.assertions.length === 0 || record.outcome === 'not run') return result;
      try {
        return {...result, assertions: await this.deps.judge.grade({evalCase, record}, signal)};
      } catch (error) {
        if (signal.aborted) return result;
        if (!(error instanceof MiniCcError && error.code === 'BUDGET')) throw error;
        limit ??= error.message;
        return result;
      }
    };
    const work = async (job: Job): Promise<JobResult | undefined> => {
      if (job.kept) return grade(await this.#judgeKept(job, job.kept, signal));
      const made = await this.#make(job, signal);
      if (typeof made === 'string') {
        limit ??= made;
        return undefined;
      }
      done += 1;
      if (made) this.deps.onEnd(made, done, missing.length);
      return made && grade(made);
    };
    const results = await Promise.all(jobs.map(work));
    return {results: results.filter((each) => each !== undefined), ...(limit !== undefined && {limit})};
  }

  /** Applies today's checks, and marks that were kept, to the newest stored trials, without any model call. */
  async regrade(targets: readonly TestedAgent[], signal: AbortSignal): Promise<readonly JobResult[]> {
    const results: JobResult[] = [];
    for (const of of listCases(targets)) {
      const {target, evalCase} = of;
      const stored = await this.deps.kept.findNewest(target.agent, String(evalCase.id), getArmName(of));
      for (const {trial, record} of stored) {
        const assertions = await this.deps.judge?.findKept({evalCase, record});
        results.push({...(await this.#judgeKept({...of, trial}, record, signal)), assertions});
      }
      if (stored.length === 0) {
        const record = createNotRun('no run of this case is stored');
        const verdicts = await judgeTrial(evalCase, record, noPlace);
        results.push({...of, trial: 1, isKept: false, record, verdicts});
      }
    }
    return results;
  }

  /** @returns the limit of the whole test when it ended the trial; undefined when the test was aborted */
  async #make(job: Job, signal: AbortSignal): Promise<JobResult | string | undefined> {
    const {target, arm, evalCase, trial, base, key} = job;
    const {trials, kept, tape, spawn} = this.deps;
    const runId = randomUUID();
    const taped = tape?.start(job, () => trials.worktrees.getTrial(runId)!.folder!);
    trials.worktrees.expect(runId, evalCase, base);
    let ended: SubagentResult;
    try {
      ended = await spawn({
        runId,
        agent: arm.definition,
        model: taped?.model ?? arm.model,
        warnings: arm.warnings,
        prompt: evalCase.prompt,
        description: `${evalCase.id}, trial ${trial}`,
        isolation: 'worktree',
        where: 'local',
        endsForGood: true,
        signal,
      });
    } catch (error) {
      if (error instanceof MiniCcError && error.code === 'BUDGET') return error.message;
      throw error;
    }
    const {result, transcript} = ended;
    const judged = trials.take(runId);
    if (signal.aborted) return undefined;
    if (result.outcome === 'limit' && isBudget(result.limit) && isOfTest(result.limit, arm.definition))
      return result.limit;
    const ids = {run: runId, transcript};
    const record: TrialRecord = judged
      ? {...judged.record, ...ids}
      : {...createNotRun(formatReason(result)), ...getUsed(result), ...ids};
    const verdicts = judged?.verdicts ?? (await judgeTrial(evalCase, record, noPlace));
    if (!tape?.isReplay && KEPT_OUTCOMES.has(record.outcome)) {
      await kept.keep({key, agent: target.agent, case: String(evalCase.id), arm: getArmName(job), trial, record});
    }
    return {target, arm, evalCase, trial, isKept: false, record, verdicts, replay: await taped?.end(record)};
  }

  async #judgeKept(of: TrialName, record: TrialRecord, signal: AbortSignal): Promise<JobResult> {
    const {target, arm, evalCase, trial} = of;
    const {trials} = this.deps;
    const isRun = (command: string) => record.commands.some((each) => each.command === command);
    // A command may write, so it needs its own folder.
    const isShared = evalCase.checks.every((check) => !('command' in check) || isRun(check.command));
    const key = JSON.stringify([target.agent, evalCase.id, record.changed]);
    let laid: Promise<TrialFolder> | undefined;
    const open = async (): Promise<TrialPlace> => {
      laid ??= (isShared && this.#shared.get(key)) || this.#layKept(evalCase, record.changed, signal);
      if (isShared) this.#shared.set(key, laid);
      return trials.openPlace(this.deps.getAnyRun(), await laid, record.commands);
    };
    try {
      return {target, arm, evalCase, trial, isKept: true, record, verdicts: await judgeTrial(evalCase, record, open)};
    } finally {
      if (laid && !isShared)
        await laid.then(
          (folder) => trials.worktrees.remove(folder),
          () => undefined,
        );
    }
  }

  /** Makes a workspace that looks as a trial left it. */
  async #layKept(evalCase: EvalCase, changed: TrialRecord['changed'], signal: AbortSignal): Promise<TrialFolder> {
    const {worktrees} = this.deps.trials;
    const folder = await worktrees.lay(await worktrees.getBase(evalCase, signal), evalCase, signal);
    await restoreChanges(folder, changed);
    return folder;
  }
}

/** Lists the cases of each arm of each agent. */
function* listCases(targets: readonly TestedAgent[]): Generator<Omit<TrialName, 'trial'>> {
  for (const target of targets) {
    for (const arm of target.arms) {
      if (arm) for (const evalCase of target.set.cases) yield {target, arm, evalCase};
    }
  }
}

/** Returns the name under which the trials of an arm are stored. */
function getArmName({target, arm}: Pick<TrialName, 'target' | 'arm'>): string {
  return arm === target.arms[0] ? 'agent' : arm.name;
}

/** Whether a budget belongs to the whole test, and not to the agent alone. */
function isOfTest(limit: string, {maxBudgetUsd}: AgentDefinition): boolean {
  return maxBudgetUsd === undefined || !limit.endsWith(maxBudgetUsd.toFixed(2));
}

function createNotRun(reason: string): TrialRecord {
  const used = {turns: 0, tokens: 0, usd: 0, durationMs: 0};
  return {
    outcome: 'not run',
    reason,
    answer: '',
    run: '',
    transcript: '',
    ...used,
    calls: [],
    changed: [],
    commands: [],
  };
}

async function noPlace(): Promise<TrialPlace> {
  throw new MiniCcError('CASE', 'the trial was not run');
}
