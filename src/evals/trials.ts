/** Observes the trials of a session: prepares their workspaces, and judges each one before its workspace is removed. */
import type {AgentRun} from '../core/agent-loop.ts';
import type {RunResult} from '../core/contract/results.ts';
import type {Worktrees} from '../core/contract/worktree.ts';
import {type Caller, runTypedCall} from '../core/tool-calls.ts';
import {formatReason, NO_TOTALS} from '../core/turn/run-ending.ts';
import {countTokens, getText, isCostKnown} from '../core/util/messages.ts';
import {relativeIfInside} from '../core/util/paths.ts';
import {toShortLine} from '../core/util/text.ts';
import {judgeTrial, type TrialPlace} from './checks.ts';
import type {CommandRun, EvalCase, TrialRecord} from './contract.ts';
import type {Verdict} from './result-types.ts';
import {listChanges, type TrialFolder, type TrialWorkspaces, takeStamps} from './workspaces.ts';

type CreateShell = (run: AgentRun) => Caller;

/** What a session needs so that its runs are trials. */
export interface TrialHost {
  readonly worktrees: Worktrees;
  /** Called once by the session. @param createShell gives the caller of commands, confined to the workspace of a run */
  connect(createShell: CreateShell): void;
  around(run: AgentRun, work: () => Promise<RunResult>): Promise<RunResult>;
}

type SeenTrial = Omit<TrialRecord, 'run' | 'transcript'>;

interface JudgedTrial {
  readonly record: SeenTrial;
  readonly verdicts: readonly Verdict[];
}

/** Seconds that a command of a case may take. */
const COMMAND_SECONDS = 1200;
/** Characters of the end of a command's output. */
const MAX_OUTPUT = 4000;

export class Trials implements TrialHost {
  readonly #judged = new Map<string, JudgedTrial>();

  #createShell!: CreateShell;

  constructor(readonly worktrees: TrialWorkspaces) {}

  connect(createShell: CreateShell): void {
    this.#createShell = createShell;
  }

  /** Opens a workspace in which no run is at work. @param run any run of the session */
  openPlace(run: AgentRun, {root, top, seen}: TrialFolder, known: readonly CommandRun[]): TrialPlace {
    const {extraRoots: _, copyOf: _c, ...workspace} = run.workspace;
    const own = {...workspace, root, cwd: root, extraRoots: top === root ? [] : [top], seen};
    const shell = this.#createShell({...run, workspace: own});
    return {
      root,
      run: async (command) => known.find((each) => each.command === command) ?? runCommand(command, shell, run.signal),
    };
  }

  /** Returns the verdict on a run that has ended; undefined when it ended before it had a workspace. */
  take(runId: string): JudgedTrial | undefined {
    const judged = this.#judged.get(runId);
    this.#judged.delete(runId);
    this.worktrees.forget(runId);
    return judged;
  }

  async around(run: AgentRun, work: () => Promise<RunResult>): Promise<RunResult> {
    const {evalCase, folder} = this.worktrees.getTrial(run.agentId) ?? {};
    // The run was stopped before it had a workspace.
    if (!folder || !evalCase || run.signal.aborted) return work();
    const shell = this.#createShell(run);
    const before = await takeStamps(folder.root);
    const problem = await setUp(evalCase.setup, shell, run.signal);
    if (problem !== undefined) {
      const result: RunResult = {outcome: 'error', ...NO_TOTALS, error: problem, code: 'NOT_RUN'};
      await this.#judge(run.agentId, evalCase, {...toRecord(result, folder), outcome: 'not run'}, folder, shell);
      return result;
    }
    const begun = evalCase.setup.length === 0 ? before : await takeStamps(folder.root);
    const result = await work();
    const given = new Set(evalCase.files.map(({to}) => to));
    const changed = await listChanges(folder, {before, begun}, given);
    await this.#judge(run.agentId, evalCase, {...toRecord(result, folder), changed}, folder, shell);
    return result;
  }

  async #judge(runId: string, evalCase: EvalCase, record: SeenTrial, folder: TrialFolder, shell: Caller) {
    // The run's time may be over, so the commands of checks have their own time limit.
    const {signal} = new AbortController();
    const commands: CommandRun[] = [];
    const run = async (command: string) => {
      const ended = await runCommand(command, shell, signal);
      commands.push(ended);
      return ended;
    };
    const place = {root: folder.root, run};
    const verdicts = await judgeTrial(evalCase, {...record, run: runId, transcript: ''}, async () => place);
    this.#judged.set(runId, {record: {...record, commands}, verdicts});
  }
}

/** @returns why the trial cannot be run */
async function setUp(setup: readonly string[], shell: Caller, signal: AbortSignal): Promise<string | undefined> {
  for (const command of setup) {
    const {exitCode, output} = await runCommand(command, shell, signal);
    if (exitCode === 0) continue;
    const end = exitCode === undefined ? 'could not be run' : `ended with exit code ${exitCode}`;
    return `the setup command ${JSON.stringify(toShortLine(command, 100))} ${end}: ${toShortLine(output, 300) || 'no output'}`;
  }
  return undefined;
}

async function runCommand(command: string, shell: Caller, signal: AbortSignal): Promise<CommandRun> {
  const input = {command, description: 'command of a case', timeout_seconds: COMMAND_SECONDS};
  const {block, record} = await runTypedCall('bash', input, shell, signal);
  return {command, exitCode: record.facts.exitCode, output: getText(block.content ?? '').slice(-MAX_OUTPUT)};
}

function toRecord(result: RunResult, {root}: TrialFolder): SeenTrial {
  const {tools} = result;
  const toName = (file: string) => relativeIfInside(file, root);
  return {
    outcome: result.outcome,
    reason: formatReason(result).replaceAll(`${root}/`, ''),
    answer: result.text.replaceAll(`${root}/`, '').replaceAll(root, '.'),
    ...getUsed(result),
    calls: tools.map(({tool, facts}) => ({tool, read: (facts.read ?? []).map(toName)})),
    changed: [],
    commands: [],
  };
}

export function getUsed({turns, usage, durationMs}: RunResult) {
  const usd = isCostKnown(usage) ? (usage.cost_usd ?? 0) : undefined;
  return {turns, tokens: countTokens(usage), usd, durationMs: Math.round(durationMs)};
}
