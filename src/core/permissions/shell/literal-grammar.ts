/**
 * Defines the literal grammar: commands that pass where no sandbox enforces that they only read. It has few programs,
 * words whose text is their value, and complete lists of options. The caller judges every other word as a path.
 */
import {listWords} from '../../util/text.ts';
import {UnclearCommand} from './shell-words.ts';

interface LiteralProgram {
  /** One-letter options without values, alone or together: `-a`, `-ab`. */
  readonly flags?: string;
  /**
   * Options as whole words. `#` is a number or a list of numbers, `?` is one character, `*` at the end is any text that
   * is no path.
   */
  readonly options?: string;
  /** Patterns that the first words must match, one for each. */
  readonly begin?: readonly RegExp[];
  /** Meaning of the other words: paths when absent. */
  readonly operands?: 'texts' | 'none';
  /** Whether the program reads files below folders. */
  readonly searches?: boolean;
}

export interface LiteralCommand {
  readonly program: string;
  /** Words that are not in the list of options. */
  readonly paths: readonly string[];
  readonly searches: boolean;
}

const COLOR = '--color --color=never --color=auto --color=always --no-color --';
const CONTEXT = '-A# -B# -C# -m# -A -B -C -m -e -#';
const GREP: LiteralProgram = {
  flags: 'EFGPivwxcLlqsonhHabIrzy',
  options: `${COLOR} ${CONTEXT} --include=* --exclude=* --exclude-dir=* --recursive --ignore-case --line-number --count
    --files-with-matches --fixed-strings --extended-regexp --only-matching --invert-match --word-regexp --max-count=#`,
  searches: true,
};
const LINES: LiteralProgram = {flags: 'qvz', options: '-# -n# -c# -n -c --lines=# --bytes=# --'};

const TEST: LiteralProgram = {options: '-d -e -f -s -r -x -z -n -a -o -eq -ne -lt -le -gt -ge'};

/** Formats of texts and whole numbers. Other formats set variables, and evaluate the values of their names. */
const PLAIN_FORMAT = /^(?!-)(?:[^%]|%%|%-?\d{0,5}[sd])*$/s;

const PROGRAMS: Readonly<Record<string, LiteralProgram>> = {
  ls: {
    flags: '1aAbBcCdfFgGhiklmnopqrRsStuUvxXZ',
    options: `${COLOR} --all --almost-all --directory --human-readable --recursive --reverse --group-directories-first`,
  },
  cat: {flags: 'AbeEnstTuv', options: '--'},
  head: LINES,
  tail: LINES,
  wc: {flags: 'clmLw', options: '--lines --words --bytes --chars --'},
  sort: {flags: 'bcdfghiMnRrsuVz', options: '-k# -k -t? -t --reverse --unique --numeric-sort --'},
  uniq: {flags: 'cdDiuz', options: '--count', operands: 'none'},
  cut: {flags: 'snz', options: '-f# -c# -b# -d? -f -c -b -d --complement --'},
  tr: {flags: 'cCdst', operands: 'texts'},
  grep: GREP,
  rg: {
    flags: 'inNvwxcloqsSFPUuHI0.',
    options: `${CONTEXT} -g -t -T --glob=* --type=* --files --hidden --no-ignore --ignore-case --line-number --count --
      --files-with-matches --fixed-strings --no-heading --heading --column --stats --json --max-count=# --color=never`,
    searches: true,
  },
  find: {
    options: `-name -iname -path -ipath -wholename -regex -iregex -type -maxdepth -mindepth -size -mtime -mmin -newer -empty
      -print -print0 -prune -not -and -a -or -o -true -false -perm -user -group -#`,
  },
  stat: {flags: 't', options: '-c --format=* --'},
  du: {flags: '0abchkms', options: '-d# -d --max-depth=# --'},
  sed: {begin: [/^-n$/, /^\d+(?:,(?:\d+|\$))?p$/], options: '--'},
  basename: {flags: 'az', operands: 'texts'},
  dirname: {flags: 'z', operands: 'texts'},
  test: TEST,
  '[': TEST,
  command: {begin: [/^-[vV]$/], operands: 'texts'},
  printf: {begin: [PLAIN_FORMAT], operands: 'texts'},
  pwd: {flags: 'LP', operands: 'none'},
  true: {operands: 'none'},
  false: {operands: 'none'},
};

const DIFF = `${COLOR} -# -U# --stat --shortstat --numstat --name-only --name-status --cached --staged --no-ext-diff
  --no-textconv --ignore-all-space --ignore-space-change --word-diff --find-renames --no-renames --exit-code --quiet --raw
  --summary --check --minimal --patience --histogram`;
const LOG = `${DIFF} -n# -n -S -G --oneline --graph --all --decorate --no-decorate --merges --no-merges --first-parent --reverse
  --follow --abbrev-commit --since=* --until=* --after=* --before=* --author=* --grep=* --date=short --date=iso
  --date=relative --pretty=oneline --pretty=short --pretty=medium --pretty=full --pretty=fuller --max-count=# --branches
  --tags --remotes --topo-order --date-order`;

/** Commands that follow links to read files of the work tree, such as `git grep`, are not listed. */
const GIT: Readonly<Record<string, LiteralProgram>> = {
  status: {
    flags: 'sbvz',
    options: '--short --branch --porcelain --porcelain=v1 --porcelain=v2 --long --ignored -uno -unormal -uall --',
  },
  log: {flags: 'pgiEFswb', options: LOG},
  show: {flags: 'psw', options: LOG},
  diff: {flags: 'pswbRzM', options: DIFF},
  shortlog: {flags: 'sne', options: '--summary --numbered --email --all --since=* --no-merges --'},
  blame: {flags: 'wlefnst', options: '-L# -L --porcelain --line-porcelain --show-email --root --date=short --'},
  branch: {flags: 'arv', options: '--all --remotes --list --show-current', operands: 'none'},
  tag: {flags: 'l', options: '--list', operands: 'none'},
  remote: {flags: 'v', operands: 'none'},
  stash: {begin: [/^list$/], operands: 'none'},
  'rev-parse': {
    options: `--abbrev-ref --short --verify --show-toplevel --git-dir --git-common-dir --is-inside-work-tree --show-prefix
      --is-bare-repository --quiet`,
  },
  'ls-files': {flags: 'cdmostz', options: '--cached --deleted --modified --others --exclude-standard --stage --'},
  'ls-tree': {flags: 'rtdlz', options: '--name-only --long --full-tree --'},
  describe: {options: '--tags --always --all --long --abbrev=#'},
  '--version': {operands: 'none'},
};

/** Programs of the grammar by name, those of git as `git x`. Tests use this table. */
export const LITERAL_PROGRAMS: ReadonlyMap<string, LiteralProgram> = new Map([
  ...Object.entries(PROGRAMS),
  ...Object.entries(GIT).map(([name, each]) => [`git ${name}`, each] as const),
]);

/** Bash runs these itself and does not search for a program of that name. */
const BUILT_IN = new Set(['echo', 'test', '[', 'command', 'printf', 'pwd', 'true', 'false']);

export function isBuiltIn(program: string): boolean {
  return BUILT_IN.has(program);
}

/**
 * @param words words after bash has removed the quotes
 * @throws UnclearCommand for a program, option or word that is not in the grammar
 */
export function readLiteralCommand([program = '', ...words]: readonly string[]): LiteralCommand {
  const name = program.replace(/^\/(?:usr\/)?bin\/(?=[^/]+$)/, '');
  if (name === 'echo') return {program, paths: [], searches: false};
  if (name !== 'git')
    return readWords(program, name, Object.hasOwn(PROGRAMS, name) ? PROGRAMS[name] : undefined, words);
  const [command = '', ...rest] = words[0] === '--no-pager' ? words.slice(1) : words;
  return readWords(program, `git ${command}`, Object.hasOwn(GIT, command) ? GIT[command] : undefined, rest);
}

function readWords(
  program: string,
  name: string,
  known: LiteralProgram | undefined,
  words: readonly string[],
): LiteralCommand {
  if (!known) throw new UnclearCommand(`${name} is not one of the plain programs`);
  const {flags = '', options = '', begin = [], operands, searches = false} = known;
  if (!begin.every((pattern, at) => pattern.test(words[at] ?? '')))
    throw new UnclearCommand(`${name}: not in this form`);
  const isOption = createOptionTest(flags, options);
  const paths = words.slice(begin.length).filter((word) => !isOption(word));
  const unknown = paths.find((word) => word.startsWith('-') && word !== '-');
  if (unknown !== undefined) throw new UnclearCommand(`${name}: its option ${unknown} is not in the list`);
  if (operands === 'none' && paths.length > 0) throw new UnclearCommand(`${name}: not with ${paths[0]}`);
  return {program, paths: operands === 'texts' ? [] : paths.filter((word) => word !== '-'), searches};
}

/** Regular expressions for the signs in the tables. */
const SIGNS: Readonly<Record<string, string>> = {'.': '\\.', '#': '\\d[\\d,.:-]*', '?': '.', '*': '[^/~@]*'};

function createOptionTest(flags: string, options: string): (word: string) => boolean {
  const patterns = listWords(options).map(
    (option) => new RegExp(`^${option === '-#' ? '-\\d+' : option.replace(/[.#?*]/g, (sign) => SIGNS[sign]!)}$`, 's'),
  );
  return (word) =>
    (/^-[^-]+$/.test(word) && [...word.slice(1)].every((letter) => flags.includes(letter))) ||
    patterns.some((pattern) => pattern.test(word));
}

const PLAIN = String.raw`[\w./,:=+%@^!-]`;
const SINGLE = String.raw`'(?:[^'\p{C}\p{Z}]| )*'`;
const DOUBLE = String.raw`"(?:[^"$\u0060\\\p{C}\p{Z}]| |\\(?=[^$\u0060"\\\p{C}\p{Z}]))*"`;
/** A single bracket is an ordinary word. */
const WORD = String.raw`(?:[[\]]|(?:${PLAIN}|${SINGLE}|${DOUBLE})+)`;
const WHOLE_WORD = new RegExp(`^${WORD}$`, 'u');

/**
 * Returns the text of a word of plain or quoted characters. Words that begin with `~` or `@` are refused, because bash
 * or a program may read another file for them.
 * @throws UnclearCommand for all other words
 */
export function readLiteralWord(raw: string): string {
  const text = raw.replace(/'([^']*)'|"([^"]*)"/g, '$1$2');
  if (!WHOLE_WORD.test(raw) || /^[~@]/.test(text)) throw new UnclearCommand(`${raw} is no plain word`);
  return text;
}

const BETWEEN = /^(?:\|\||&&|\||;)$/;

/**
 * Parses commands of plain words with `|`, `&&`, `||` and `;` between them, and `cd FOLDER &&` before them.
 * @returns the commands, and the folder in which they run
 * @throws UnclearCommand for all other commands
 */
export function parseLiteral(text: string): {
  readonly commands: readonly (readonly string[])[];
  readonly folder?: string;
} {
  const commands: string[][] = [[]];
  const token = new RegExp(`[ \\t]*(2>&1|2>[ \\t]?/dev/null|\\|\\||&&|\\||;|${WORD})(?=[ \\t;|&]|$)[ \\t]*`, 'uy');
  const operators: string[] = [];
  for (let at = 0; at < text.length; at = token.lastIndex) {
    token.lastIndex = at;
    const [, found] = token.exec(text) ?? [];
    if (found === undefined) throw new UnclearCommand('it has more than plain words');
    if (BETWEEN.test(found)) {
      operators.push(found);
      commands.push([]);
    } else if (!found.startsWith('2>')) commands.at(-1)!.push(readLiteralWord(found));
    else if (commands.at(-1)!.length === 0) throw new UnclearCommand('it has more than plain words');
  }
  if (commands.some((words) => words.length === 0)) throw new UnclearCommand('a command is missing in it');
  const [first, ...rest] = commands;
  if (first![0] !== 'cd') return {commands};
  const [, folder, ...more] = first!;
  if (folder === undefined || /^-|^$/.test(folder) || more.length > 0 || operators[0] !== '&&') {
    throw new UnclearCommand('cd: where it leads is not plain');
  }
  return {commands: rest, folder};
}
