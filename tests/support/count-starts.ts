import {subscribe, unsubscribe} from 'node:diagnostics_channel';
import {onTestFinished} from 'vitest';

/**
 * Counts the processes that this one starts until the test ends: each start blocks it for some milliseconds.
 * @returns gives the number since it was called last
 */
export function countStarts(): () => number {
  let count = 0;
  const note = () => {
    count += 1;
  };
  subscribe('child_process', note);
  onTestFinished(() => void unsubscribe('child_process', note));
  return () => {
    const counted = count;
    count = 0;
    return counted;
  };
}
