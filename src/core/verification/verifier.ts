/** Verification of a change: the checks run before it and after it, and what fails by it is told apart. */
import type {Caller} from '../tool-calls.ts';
import {type CheckResult, type ComparedCheck, compareChecks, runChecks} from './check-run.ts';
import {getChecks, type VerifySettings} from './find-checks.ts';

interface VerifierDeps {
  readonly settings: VerifySettings;
  /** What the workspace is like. Two equal answers: nothing changed in between. Never rejects. */
  readonly fingerprint: () => Promise<string>;
}

export class Verifier {
  readonly #deps: VerifierDeps;
  /** Of the last run: where nothing changed since, the checks would say the same. */
  #last: {readonly fingerprint: string; readonly results: readonly CheckResult[]} | undefined;

  constructor(deps: VerifierDeps) {
    this.#deps = deps;
  }

  get rounds(): number {
    return this.#deps.settings.rounds;
  }

  /** Undefined where nothing is to be verified. @param root where the checks run */
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
    // What was not run now may run next time: it was refused, or interrupted.
    const isKnown = results.every(({outcome}) => outcome !== 'not run');
    // Checks may write files: what they say is about the workspace as it is after them.
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

/** Checks that fail by the change. */
export function getNewFailures(checks: readonly ComparedCheck[]): readonly ComparedCheck[] {
  return checks.filter(({outcome, isOld}) => outcome === 'failed' && !isOld);
}

/** Said where a level is set and the project has no checks that are known. */
export const NO_CHECKS =
  'verification: nothing was run: no checks were found in package.json, pyproject.toml, go.mod, Cargo.toml or Makefile; verify.fast and verify.thorough name them';
