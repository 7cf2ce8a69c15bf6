/** Questions that git answers: what changed, the last commits, the branch. */
import type {Route} from '../job.ts';
import {running} from './run.ts';

const LOG = 'git log --oneline -n 15';
/** In order: the first that fits decides. */
const FORMS: readonly (readonly [RegExp, string])[] = [
  [
    /^(?:what (?:did i|have i|has been|is|was)|which files (?:did i|have i|are)|show(?: me)?(?: my| the)?|list(?: my| the)?|are there(?: any)?)\s+(?:change[ds]?|modified|uncommitted(?: changes)?|changes)(?: files| yet| locally| so far)?[\s?.!]*$/i,
    'git status --short',
  ],
  [/^what(?:'s| has| was)? changed (?:recently|lately|last)[\s?.!]*$/i, LOG],
  [
    /^(?:show|list|what (?:are|is|was|were)|give)(?: me)?(?: the)?\s+(?:(?:recent|last|latest|newest) (?:\d+ )?(?:commits?|changes)|(?:git|commit) (?:history|log))[\s?.!]*$/i,
    LOG,
  ],
  [
    /^(?:what|which)(?: is the| is my)?(?: current)?(?: git)? branch(?: (?:am i on|is this|are we on))?[\s?.!]*$/i,
    'git branch --show-current',
  ],
];

export const git: Route = (job) => {
  const typed = /^(?:show(?: me)?(?: the)?\s+)?(git (?:status|log|diff|branch|show|blame|remote)\b[^?\n]*)$/i.exec(
    job.text,
  )?.[1];
  const command = typed ?? FORMS.find(([form]) => form.test(job.text))?.[1];
  if (command === undefined || !job.toolbox.has('bash')) return undefined;
  return running(command === 'git log' ? LOG : command.trim(), job);
};
