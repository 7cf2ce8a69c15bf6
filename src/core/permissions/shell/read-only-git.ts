/**
 * What git does when it only reads. Which programs the settings of a repository would have it run is looked at where it
 * is permitted, see `git-settings.ts`; the environment of a proven command turns off the rest.
 */

import {Options, type ProgramReading, pathOf, type Reader, readAll, textsOf} from './program-options.ts';
import {NotProven, type ShellWord} from './shell-words.ts';

const DIFF = `-pusawbBMCDRzW0 -U: -S: -G: -O@ -l: -# --patch --no-patch --stat? --shortstat --numstat --name-only --name-status
  --summary --compact-summary --cached --staged --unified: --ignore-all-space --ignore-space-change
  --ignore-space-at-eol --ignore-blank-lines --ignore-cr-at-eol --diff-filter: --pickaxe-all --pickaxe-regex
  --word-diff? --word-diff-regex: --color? --no-color --color-words? --color-moved? --no-ext-diff --no-textconv --raw
  --minimal --patience --histogram --diff-algorithm: --find-renames? --find-copies? --no-renames --merge-base
  --exit-code --quiet --check --no-prefix --text --binary --full-index --abbrev? --no-abbrev --relative?
  --function-context --inter-hunk-context: --dirstat? --patch-with-stat --src-prefix: --dst-prefix: --stat-width:
  --stat-count: --diff-merges: --cc -c -m`;

const LOG = `${DIFF} -n: -L: -iEFgP -r --oneline --graph --max-count: --skip: --since: --after: --until: --before: --author:
  --committer: --grep: --all-match --invert-grep --regexp-ignore-case --extended-regexp --fixed-strings
  --perl-regexp --all --branches? --tags? --remotes? --glob: --exclude: --decorate? --no-decorate --decorate-refs:
  --merges --no-merges --min-parents: --max-parents: --first-parent --reverse --date: --relative-date --pretty? --format:
  --abbrev-commit --no-abbrev-commit --follow --topo-order --date-order --author-date-order --left-right --left-only
  --right-only --cherry-pick --cherry-mark --cherry --boundary --no-walk? --simplify-by-decoration --full-history
  --ancestry-path? --source --walk-reflogs --no-notes --children --parents --not --mailmap --use-mailmap
  --encoding: --show-pulls --dense --sparse --count --name-only --full-diff --log-size --no-color --show-linear-break?`;

interface Listing {
  readonly options: string;
  /** Words beside its options would make or change something, unless one of these options is there. */
  readonly onlyWith?: readonly string[];
}

const LISTS: Readonly<Record<string, Listing>> = {
  status: {
    options:
      '-sbvz -u? --short --branch --porcelain? --long --verbose --untracked-files? --ignored? --show-stash --ahead-behind --no-ahead-behind --renames --no-renames --column? --no-column',
  },
  log: {options: LOG},
  diff: {options: DIFF},
  show: {options: LOG},
  shortlog: {options: `${LOG} -s -n -e -c --summary --numbered --email --group:`},
  'rev-list': {options: LOG},
  'diff-tree': {options: `${DIFF} -r -t --root --no-commit-id`},
  'diff-index': {options: DIFF},
  whatchanged: {options: LOG},
  blame: {
    options:
      '-wbcefnpstlMC -L: -S@ --porcelain --line-porcelain --show-name --show-number --show-email --root --since: --date: --abbrev? --first-parent --reverse --ignore-rev: --ignore-revs-file@ --color-lines --score-debug',
  },
  'rev-parse': {
    options:
      '-q --abbrev-ref? --short? --verify --show-toplevel --git-dir --absolute-git-dir --git-common-dir --is-inside-work-tree --is-bare-repository --is-inside-git-dir --is-shallow-repository --show-prefix --show-cdup --symbolic --symbolic-full-name --all --branches? --tags? --remotes? --revs-only --no-revs --flags --no-flags --show-superproject-working-tree --quiet --sq --show-object-format?',
  },
  'ls-files': {
    options:
      '-cdmoiskutvzf -x: -X@ --cached --deleted --modified --others --ignored --stage --unmerged --killed --directory --no-empty-directory --exclude: --exclude-from@ --exclude-standard --full-name --error-unmatch --abbrev? --eol --deduplicate --format:',
  },
  'ls-tree': {
    options: '-drtlz --long --name-only --name-status --object-only --full-name --full-tree --abbrev? --format:',
  },
  grep: {
    options:
      '-nwivlLchHaEGFPIpWoqz0r -e: -f@ -m: -A: -B: -C: -# --line-number --word-regexp --ignore-case --invert-match --files-with-matches --name-only --files-without-match --count --only-matching --column --text --cached --untracked --extended-regexp --basic-regexp --fixed-strings --perl-regexp --and --or --not --all-match --quiet --context: --after-context: --before-context: --max-depth: --color? --no-color --heading --break --show-function --function-context --full-name --exclude-standard --max-count: --threads: --null --recursive',
  },
  describe: {
    options:
      '--tags --always --dirty? --long --all --abbrev: --contains --exact-match --candidates: --first-parent --match: --exclude: --broken?',
  },
  'merge-base': {options: '-a --all --octopus --is-ancestor --independent --fork-point'},
  'name-rev': {options: '--tags --name-only --all --always --refs: --exclude: --no-undefined'},
  'show-ref': {
    options: '-dhqs --head --heads --tags --branches --dereference --hash? --verify --quiet --abbrev? --exists',
  },
  'for-each-ref': {
    options:
      '--format: --sort: --count: --contains? --no-contains? --merged? --no-merged? --points-at: --ignore-case --exclude: --omit-empty',
  },
  'count-objects': {options: '-vH --verbose --human-readable'},
  'cat-file': {options: '-tspe --batch-check? --batch-all-objects --allow-unknown-type'},
  branch: {
    options:
      '-arvl --all --remotes --verbose --list --show-current --contains: --no-contains: --merged: --no-merged: --points-at: --sort: --format: --color? --no-color --column? --no-column --abbrev? --no-abbrev --ignore-case -i',
    onlyWith: ['--list'],
  },
  tag: {
    options:
      '-l -n --list --contains: --no-contains: --merged: --no-merged: --points-at: --sort: --format: --column? --no-column --color? --ignore-case -i',
    onlyWith: ['-l', '--list'],
  },
  version: {options: '--build-options', onlyWith: []},
};

/** Two words: the first says what the second one does. */
const SUBLISTS: Readonly<Record<string, Readonly<Record<string, Listing>>>> = {
  remote: {
    '': {options: '-v --verbose', onlyWith: []},
    'get-url': {options: '--push --all'},
  },
  stash: {list: {options: LOG}, show: {options: DIFF}},
  worktree: {list: {options: '-v --porcelain -z --verbose', onlyWith: []}},
  reflog: {'': {options: LOG, onlyWith: []}, show: {options: LOG}},
};

const GLOBAL = new Set(['--no-pager', '-P', '--no-optional-locks', '--literal-pathspecs', '--no-replace-objects']);
/** Formats that have signatures looked at by a program. */
const RUNS_PROGRAMS = /%G|%\(\s*(?:signature)/;

/** @throws NotProven for what is not known to only read. */
export const readGit: Reader = (words) => {
  let at = 0;
  let base = '';
  for (; at < words.length; at++) {
    const word = words[at]!;
    if (word.kind !== 'text') throw new NotProven('what git does is known only when it runs');
    if (word.text === '-C') {
      const place = words[++at];
      if (place?.kind !== 'text') throw new NotProven('where git works is known only when it runs');
      base = joined(base, pathOf(place));
    } else if (!GLOBAL.has(word.text)) break;
  }
  const [command, ...rest] = words.slice(at);
  if (command?.kind !== 'text') throw new NotProven('what git does is known only when it runs');
  if (command.text === '--version') return {paths: [], globs: [], repositories: []};
  const reading = command.text === 'config' ? readConfig(rest) : list(command.text, rest);
  const moved = (path: string) => joined(base, path);
  return {
    paths: [...reading.paths.map(moved), moved('.')],
    globs: reading.globs.map(moved),
    repositories: [moved('.')],
    searches: command.text === 'grep',
  };
};

function list(command: string, words: readonly ShellWord[]): ProgramReading {
  let listing = Object.hasOwn(LISTS, command) ? LISTS[command] : undefined;
  let rest = words;
  if (Object.hasOwn(SUBLISTS, command)) {
    const [first] = words;
    const name = first?.kind === 'text' && !first.text.startsWith('-') ? first.text : '';
    const sublists = SUBLISTS[command]!;
    listing = Object.hasOwn(sublists, name) ? sublists[name] : undefined;
    rest = name === '' ? words : words.slice(1);
  }
  if (!listing) throw new NotProven(`git ${command} is not known to only read`);
  if (rest.some((word) => 'text' in word && RUNS_PROGRAMS.test(word.text))) {
    throw new NotProven('it has signatures looked at by another program');
  }
  if (rest.some((word) => word.kind === 'glob' && word.text.startsWith('-')))
    throw new NotProven('an option is a pattern');
  const {options, operands, values, reading} = new Options(listing.options).sort(rest);
  const {onlyWith} = listing;
  if (onlyWith && operands.length > 0 && !onlyWith.some((name) => options.has(name))) {
    throw new NotProven(`git ${command} with a name may change something`);
  }
  readAll(operands, reading);
  // What this table takes for an option's value, an older git may take for a path.
  reading.paths.push(...values);
  return {...reading, repositories: []};
}

/** A name without a dot would be a subcommand of its own. */
const CONFIG_KEY = /^\w[\w-]*\.[\w.-]+$/;

/** One value by its key: all of them could hold keys of servers. */
function readConfig(words: readonly ShellWord[]): ProgramReading {
  const texts = textsOf(words).filter((text) => text !== '--local');
  const [how = '', ...rest] = texts;
  const [key = '', ...more] = how === '--get' || how === '--get-all' ? rest : texts;
  if (!CONFIG_KEY.test(key) || more.length > 0) {
    throw new NotProven('git config may write, and may show keys');
  }
  return {paths: [], globs: [], repositories: []};
}

function joined(base: string, path: string): string {
  if (base === '' || /^(?:\/|~)/.test(path)) return path;
  return path === '.' ? base : `${base}/${path}`;
}
