/**
 * Verifies a change: the checks run before and after it, and the failures that it caused are separated from old ones.
 * They go back, for some rounds, to the agent that caused them.
 */
import {type AgentRun, appendUserText, runAgent} from '../agent-loop.ts';
import type {RunResult} from '../contract/results.ts';
import type {Tool} from '../contract/tool.ts';
import type {Caller} from '../tool-calls.ts';
import {joinTurns} from '../turn/run-ending.ts';
import {
  type CheckResult,
  type ComparedCheck,
  compareChecks,
  formatChecks,
  formatFailures,
  runChecks,
} from './check-run.ts';
import {getChecks, type VerifySettings} from './find-checks.ts';

interface VerifierDeps {
  readonly settings: VerifySettings;
  /** Identifies the state of the workspace. Equal answers mean that nothing changed in between. Never rejects. */
  readonly fingerprint: () => Promise<string>;
}

interface Verified {
  /** One line for each check. */
  readonly lines: readonly string[];
  /** Number of times that failures went back. */
  readonly rounds: number;
  readonly isFailing: boolean;
}

/**
 * Checks a change and sends its failures back while rounds are left.
 * @param sendBack lets an agent repair the failures; resolves to false when none may do it
 */
export type Verify = (sendBack: (failures: readonly ComparedCheck[]) => Promise<boolean>) => Promise<Verified>;

export class Verifier {
  /** Results of the last run. They are still valid if nothing has changed since. */
  #last: {readonly fingerprint: string; readonly results: readonly CheckResult[]} | undefined;

  constructor(private readonly deps: VerifierDeps) {}

  /** Runs the checks before a change. @returns undefined when verification is off */
  async begin(caller: Caller, signal: AbortSignal): Promise<Verify | undefined> {
    const {settings} = this.deps;
    if (settings.level === 'off') return undefined;
    const commands = getChecks(settings, caller.workspace.root);
    if (commands.length === 0) return async () => ({lines: [NO_CHECKS], rounds: 0, isFailing: false});
    const before = await this.#run(commands, caller, signal);
    return async (sendBack) => {
      for (let rounds = 0; ; rounds += 1) {
        const checks = compareChecks(before, await this.#run(commands, caller, signal));
        const failures = getNewFailures(checks);
        const isFailing = failures.length > 0;
        const goesOn = isFailing && rounds < settings.rounds && !signal.aborted && (await sendBack(failures));
        if (!goesOn) return {lines: formatChecks(checks), rounds, isFailing};
      }
    };
  }

  async #run(commands: readonly string[], caller: Caller, signal: AbortSignal): Promise<readonly CheckResult[]> {
    const takeFingerprint = async () => [caller.workspace.root, ...commands, await this.deps.fingerprint()].join('\n');
    if (this.#last?.fingerprint === (await takeFingerprint())) return this.#last.results;
    const results = await runChecks(commands, caller, signal);
    // A check that was not run was refused or interrupted, and may run next time.
    const isKnown = results.every(({outcome}) => outcome !== 'not run');
    // Checks may write files, so their results belong to the state of the workspace after them.
    if (isKnown) this.#last = {fingerprint: await takeFingerprint(), results};
    return results;
  }
}

export function getNewFailures(checks: readonly ComparedCheck[]): readonly ComparedCheck[] {
  return checks.filter(({outcome, isOld}) => outcome === 'failed' && !isOld);
}

/** Text for a project without known checks when a level is set. */
const NO_CHECKS =
  'verification: nothing was run: no checks were found in package.json, pyproject.toml, go.mod, Cargo.toml or Makefile; verify.fast and verify.thorough name them';

/**
 * Runs the agent and verifies what it changed. Never rejects.
 * @param bash runs the checks, even when the agent itself has no bash
 */
export async function runVerified(run: AgentRun, verifier: Verifier, bash: Tool): Promise<RunResult> {
  const verify = await verifier.begin({...run, tools: [bash]}, run.signal);
  let result = await runAgent(run);
  const hasChanged = result.tools.some(({facts}) => (facts.changed?.length ?? 0) > 0);
  if (!verify || run.signal.aborted || !hasChanged) return result;
  const {lines} = await verify(async (failures) => {
    if (result.outcome !== 'success') return false;
    appendUserText(run, formatFailures(failures, []));
    result = joinTurns(result, await runAgent(run));
    return true;
  });
  return {...result, text: [result.text, lines.join('\n')].filter((text) => text !== '').join('\n\n')};
}
