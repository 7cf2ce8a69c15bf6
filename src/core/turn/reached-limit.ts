/** Finds the limit of a run that is near or reached, and the ending that follows from it. */
import type {Limits} from '../contract/results.ts';
import type {Budget} from '../contract/tool.ts';
import {formatTimeout} from './run-ending.ts';
import type {Deadline} from './run-limits.ts';
import type {Ending} from './tally.ts';

interface LimitedRun {
  readonly limits: Limits;
  readonly budget: Budget;
}

/** Finds the limit that is so near that this turn must be the report. It is never found in a run's first turn. */
export function findNearLimit(run: LimitedRun, turn: number, deadline: Deadline): Ending | undefined {
  if (turn === 1) return undefined;
  if (turn >= run.limits.maxTurns) return endAtTurns(run);
  const {reportDue} = run.budget;
  if (reportDue !== undefined) return {outcome: 'limit', limit: reportDue};
  return deadline.isReportDue ? {outcome: 'timeout', timeout: formatTimeout(run.limits.timeoutSeconds)} : undefined;
}

/** Finds the limit that allows no further model call, so that the tools of this turn need not run. */
export function findReachedLimit(run: LimitedRun, turns: number): Ending | undefined {
  if (turns >= run.limits.maxTurns) return endAtTurns(run);
  return findUsedUp(run);
}

function endAtTurns({limits}: LimitedRun): Ending {
  return {outcome: 'limit', limit: `${limits.maxTurns} turn${limits.maxTurns === 1 ? '' : 's'}`};
}

export function findUsedUp({budget: {usedUp}}: LimitedRun): Ending | undefined {
  return usedUp === undefined ? undefined : {outcome: 'limit', limit: usedUp};
}
