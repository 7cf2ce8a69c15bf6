/**
 * Verifies a change: the checks run before and after it, and the failures that it caused are separated from old ones.
 */
import type {Caller} from '../tool-calls.ts';
import {type CheckResult, type ComparedCheck, compareChecks, runChecks} from './check-run.ts';
import {getChecks, type VerifySettings} from './find-checks.ts';

interface VerifierDeps {
  readonly settings: VerifySettings;
  /** Identifies the state of the workspace. Equal answers mean that nothing changed in between. Never rejects. */
  readonly fingerprint: () => Promise<string>;
}

export class Verifier {
  readonly #deps: VerifierDeps;
  /** Results of the last run. They are still valid if nothing has changed since. */
  #last: {readonly fingerprint: string; readonly results: readonly CheckResult[]} | undefined;

  constructor(deps: VerifierDeps) {
    this.#deps = deps;
  }

  get rounds(): number {
    return this.#deps.settings.rounds;
  }

  /** Runs the checks before a change. @returns undefined when verification is off */
  async begin(caller: Caller, signal: AbortSignal): Promise<Verification | undefined> {
    const commands = getChecks(this.#deps.settings, caller.workspace.root);
    if (this.#deps.settings.level === 'off') return undefined;
    const before = await this.#run(commands, caller, signal);
    return new Verification(commands, before, () => this.#run(commands, caller, signal));
  }

  async #run(commands: readonly string[], caller: Caller, signal: AbortSignal): Promise<readonly CheckResult[]> {
    const fingerprint = `${caller.workspace.root}\n${commands.join('\n')}\n${await this.#deps.fingerprint()}`;
    if (this.#last?.fingerprint === fingerprint) return this.#last.results;
    const results = await runChecks(commands, caller, signal);
    // A check that was not run was refused or interrupted, and may run next time.
    const isKnown = results.every(({outcome}) => outcome !== 'not run');
    // Checks may write files, so their results belong to the state of the workspace after them.
    if (isKnown) {
      const now = `${caller.workspace.root}\n${commands.join('\n')}\n${await this.#deps.fingerprint()}`;
      this.#last = {fingerprint: now, results};
    }
    return results;
  }
}

export class Verification {
  readonly #run: () => Promise<readonly CheckResult[]>;

  constructor(
    readonly commands: readonly string[],
    private readonly before: readonly CheckResult[],
    run: () => Promise<readonly CheckResult[]>,
  ) {
    this.#run = run;
  }

  async check(): Promise<readonly ComparedCheck[]> {
    return compareChecks(this.before, await this.#run());
  }
}

export function getNewFailures(checks: readonly ComparedCheck[]): readonly ComparedCheck[] {
  return checks.filter(({outcome, isOld}) => outcome === 'failed' && !isOld);
}

/** Text for a project without known checks when a level is set. */
export const NO_CHECKS =
  'verification: nothing was run: no checks were found in package.json, pyproject.toml, go.mod, Cargo.toml or Makefile; verify.fast and verify.thorough name them';
