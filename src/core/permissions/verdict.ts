/** Defines verdicts, and combines the verdicts on several accesses into one. */
import type {Verdict} from '../contract/permission.ts';
import {formatRule, type Rule} from './rules/rule.ts';

/** A verdict that does not allow the call by itself. */
export type Restriction = Exclude<Verdict, {verdict: 'allow'}>;
export type AskVerdict = Extract<Verdict, {verdict: 'ask'}>;

export const ALLOWED: Extract<Verdict, {verdict: 'allow'}> = {verdict: 'allow'};

export function deny(because: string): Extract<Verdict, {verdict: 'deny'}> {
  return {verdict: 'deny', because};
}

/** @param what the call does, worded as the start of a sentence */
export function askByRule(rule: Rule, what: string): AskVerdict {
  return {verdict: 'ask', because: `${what}: ${formatRule(rule)}`, onlyOnce: true};
}

/** Refuses what a rule asks about, to an agent that never asks. */
export function refuseToAsk(rule: Rule): Restriction {
  return deny(`${formatRule(rule)} asks, and a read-only agent does not ask`);
}

/**
 * Combines the verdicts on all accesses of one call: a refusal wins, then a question. At most one access starts a
 * command.
 */
export function combineVerdicts(verdicts: readonly Verdict[]): Verdict {
  const refused = verdicts.find(({verdict}) => verdict === 'deny');
  if (refused) return refused;
  const unseen = verdicts.flatMap((each) => (each.verdict === 'ask' && each.unseen ? [each.unseen] : []))[0];
  const attempts = verdicts.flatMap((each) => (each.verdict !== 'deny' && each.attempts ? [each.attempts] : []))[0];
  const asking = verdicts.filter((each) => each.verdict === 'ask');
  const [asked] = asking;
  if (!asked) {
    const because = verdicts.flatMap((each) => ('because' in each && each.because ? [each.because] : []))[0];
    return {verdict: 'allow', ...(because !== undefined && {because}), ...(attempts && {attempts})};
  }
  const {rules: _, ...rest} = asked;
  // When there are several questions, only edits are covered by all their rules together: a rename edits many files.
  const isCovered =
    asking.length === 1 || asking.every((each) => each.rules?.every((rule) => /^edit_file\(/.test(rule)));
  const rules = isCovered ? asking.flatMap((each) => each.rules ?? []) : [];
  const onlyOnce = asking.some((each) => each.onlyOnce);
  const onlyPerson = asking.some((each) => each.onlyPerson);
  const isOutside = asking.some((each) => each.isOutside);
  return {
    ...rest,
    ...(attempts && {attempts}),
    ...(unseen && {unseen}),
    ...(onlyOnce && {onlyOnce}),
    ...(onlyPerson && {onlyPerson}),
    ...(isOutside && {isOutside}),
    ...(rules.length > 0 && {rules: [...new Set(rules)]}),
  };
}
