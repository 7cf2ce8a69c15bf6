/** Verdicts of several accesses as one. */
import type {Verdict} from '../contract/permission.ts';

export const ALLOWED: Verdict = {verdict: 'allow'};

export function deny(why: string): Verdict {
  return {verdict: 'deny', why};
}

/** A refusal wins, then a question; what passes is proven only if all of it is. */
export function worst(verdicts: readonly Verdict[]): Verdict {
  const refused = verdicts.find(({verdict}) => verdict === 'deny');
  if (refused) return refused;
  const proven = verdicts.some((each) => each.verdict !== 'deny' && each.proven === true);
  const asking = verdicts.filter((each) => each.verdict === 'ask');
  const [asked, ...more] = asking;
  if (!asked) return {verdict: 'allow', proven};
  // One rule would not do for several questions.
  const {rule, ...rest} = asked;
  const onlyOnce = asking.some((each) => each.onlyOnce);
  return {...rest, proven, ...(onlyOnce && {onlyOnce}), ...(rule !== undefined && more.length === 0 && {rule})};
}
