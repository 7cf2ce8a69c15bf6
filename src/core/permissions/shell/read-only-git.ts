/**
 * The git commands that only read. Settings of a repository can make them run programs: the environment for reading turns
 * off some of these settings, and `findNamedPrograms` of `reading-environment.ts` looks for the others.
 */
import {
  addPaths,
  createReading,
  getTexts,
  Options,
  type ProgramReading,
  type Reader,
  toPath,
} from './program-options.ts';
import {joinPath} from './shell-state.ts';
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

interface GitCommand {
  readonly options: string;
  /** Operands would create or change something, unless the command has one of these options. */
  readonly onlyWith?: readonly string[];
}

const COMMANDS: Readonly<Record<string, GitCommand>> = {
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

/** Commands with a command of their own behind them, `''` for none. */
const SUBCOMMANDS: Readonly<Record<string, Readonly<Record<string, GitCommand>>>> = {
  remote: {
    '': {options: '-v --verbose', onlyWith: []},
    'get-url': {options: '--push --all'},
  },
  stash: {list: {options: LOG}, show: {options: DIFF}},
  worktree: {list: {options: '-v --porcelain -z --verbose', onlyWith: []}},
  reflog: {'': {options: LOG, onlyWith: []}, show: {options: LOG}},
};

const GLOBAL = new Set(['--no-pager', '-P', '--no-optional-locks', '--literal-pathspecs', '--no-replace-objects']);
/** With these formats git runs a program that checks signatures. */
const RUNS_PROGRAMS = /%G|%\(\s*(?:signature)/;

/** @throws NotProven for a command or option that is not known to only read */
export const readGit: Reader = (words) => {
  let at = 0;
  let base = '.';
  for (; at < words.length; at++) {
    const word = words[at]!;
    if (word.kind !== 'text') throw new NotProven('what git does is known only when it runs');
    if (word.text === '-C') {
      const folder = words[++at];
      if (folder?.kind !== 'text') throw new NotProven('where git works is known only when it runs');
      base = joinPath(base, toPath(folder));
    } else if (!GLOBAL.has(word.text)) break;
  }
  const [command, ...rest] = words.slice(at);
  if (command?.kind !== 'text') throw new NotProven('what git does is known only when it runs');
  if (command.text === '--version') return createReading();
  const reading = command.text === 'config' ? readConfig(rest) : readCommand(command.text, rest);
  const toFull = (path: string) => joinPath(base, path);
  return {
    paths: [...reading.paths.map(toFull), toFull('.')],
    globs: reading.globs.map(toFull),
    repositories: [toFull('.')],
    searches: command.text === 'grep',
  };
};

function readCommand(command: string, words: readonly ShellWord[]): ProgramReading {
  let known = Object.hasOwn(COMMANDS, command) ? COMMANDS[command] : undefined;
  let rest = words;
  if (Object.hasOwn(SUBCOMMANDS, command)) {
    const [first] = words;
    const name = first?.kind === 'text' && !first.text.startsWith('-') ? first.text : '';
    const subcommands = SUBCOMMANDS[command]!;
    known = Object.hasOwn(subcommands, name) ? subcommands[name] : undefined;
    rest = name === '' ? words : words.slice(1);
  }
  if (!known) throw new NotProven(`git ${command} is not known to only read`);
  if (rest.some((word) => 'text' in word && RUNS_PROGRAMS.test(word.text))) {
    throw new NotProven('it lets another program check signatures');
  }
  if (rest.some((word) => word.kind === 'glob' && word.text.startsWith('-')))
    throw new NotProven('an option is a pattern');
  const {options, operands, values, reading} = new Options(known.options).sort(rest);
  const {onlyWith} = known;
  if (onlyWith && operands.length > 0 && !onlyWith.some((name) => options.has(name))) {
    throw new NotProven(`git ${command} with a name may change something`);
  }
  addPaths(operands, reading);
  // An older git may not know an option of this table, and take its value for a path.
  reading.paths.push(...values);
  return {...reading, repositories: []};
}

/** A name without a dot would be a subcommand. */
const CONFIG_KEY = /^\w[\w-]*\.[\w.-]+$/;

/** One value by its key. The list of all values could contain secret keys. */
function readConfig(words: readonly ShellWord[]): ProgramReading {
  const texts = getTexts(words).filter((text) => text !== '--local');
  const [how = '', ...rest] = texts;
  const [key = '', ...more] = how === '--get' || how === '--get-all' ? rest : texts;
  if (!CONFIG_KEY.test(key) || more.length > 0) {
    throw new NotProven('git config may write, and may show keys');
  }
  return createReading();
}
