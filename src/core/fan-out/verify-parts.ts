/** Verifies a fan-out: new failures go back, for some rounds, to the runs whose files they name. */
import {type ComparedCheck, findNamedFiles, formatChecks, formatFailures} from '../verification/check-run.ts';
import {getNewFailures, NO_CHECKS, type Verification} from '../verification/verifier.ts';
import type {PartRuns} from './part-runs.ts';

/** @param rounds how many times failures go back at most @returns lines for the summary */
export async function verifyParts(
  verification: Verification,
  runs: PartRuns,
  rounds: number,
  signal: AbortSignal,
): Promise<readonly string[]> {
  if (verification.commands.length === 0) return [NO_CHECKS];
  let checks = await verification.check();
  let round = 0;
  for (; round < rounds && !signal.aborted; round += 1) {
    const failures = getNewFailures(checks);
    if (failures.length === 0) break;
    await sendBack(failures, runs);
    checks = await verification.check();
  }
  const repaired = round > 0 && getNewFailures(checks).length === 0;
  const lines = formatChecks(checks);
  if (repaired)
    return [
      ...lines,
      `verification: what failed after the fan-out was repaired in ${round === 1 ? 'one round' : `${round} rounds`}`,
    ];
  return round > 0
    ? [...lines, `verification: still failing after ${round === 1 ? 'one round' : `${round} rounds`}`]
    : lines;
}

/** Sends each run the failures that name its files. One run for all files gets those that name none of them. */
async function sendBack(failures: readonly ComparedCheck[], runs: PartRuns): Promise<void> {
  const sent = runs.parts.flatMap(({files, runId}) => {
    const own = failures.flatMap((check) => {
      const named = findNamedFiles(check.news, files);
      return named.length > 0 ? [{check, named}] : [];
    });
    if (runId === undefined || own.length === 0) return [];
    const named = [...new Set(own.flatMap((each) => each.named))];
    return [
      {
        runId,
        checks: own.map(({check}) => check),
        message: formatFailures(
          own.map(({check}) => check),
          named,
        ),
      },
    ];
  });
  const rest = failures.filter((check) => !sent.some(({checks}) => checks.includes(check)));
  await Promise.all(sent.map(({runId, message}) => runs.resume(runId, message)));
  if (rest.length > 0) await runs.runRepair(formatFailures(rest, []));
}
