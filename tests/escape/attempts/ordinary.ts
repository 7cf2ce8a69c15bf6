/** Work that must pass without a question and do what it should: else a profile that refuses all would pass every class. */
import {type AttemptClass, attempts} from '../attempt.ts';

/** Of the literal grammar: also where there is no sandbox. */
export const ordinary: AttemptClass = attempts('ordinary reading', 'said', [
  'cat a.txt',
  'ls -la src',
  'git log --oneline',
  'git status --short',
  'git diff HEAD^',
  'git show --stat',
  'git blame a.txt',
  'grep -rn one src',
  'find . -name "*.ts"',
  'head -n 3 a.txt',
  'sort a.txt | uniq -c',
  'wc -l a.txt package.json',
  'cd src && cat main.ts',
]);
