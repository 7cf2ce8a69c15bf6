/** The programs that only read, each with the options that leave it so. A program that is not here is not proven. */
import {addPaths, createReading, getTexts, Options, type Reader, type Sorted} from './program-options.ts';
import {readGit} from './read-only-git.ts';
import {createExactReader, readDate, readFind, readPrintf, readSed, readTest} from './read-only-scripts.ts';
import {NotProven} from './shell-words.ts';

interface ProgramSpec {
  readonly options?: string;
  /** What its operands are; paths when absent. `search`: a pattern, then paths. */
  readonly operands?: 'paths' | 'texts' | 'search' | 'none';
  readonly maxOperands?: number;
  /** Without a path it reads the current directory. */
  readonly readsCurrent?: boolean;
  readonly check?: (sorted: Sorted) => void;
  /** It looks into files below a folder: always, or with one of these options. */
  readonly searches?: true | readonly string[];
}

function createReader({
  options = '',
  operands = 'paths',
  maxOperands,
  readsCurrent,
  check,
  searches = [],
}: ProgramSpec): Reader {
  const known = new Options(`${options} --help --version`);
  return (words) => {
    const sorted = known.sort(words);
    check?.(sorted);
    if (maxOperands !== undefined && sorted.operands.length > maxOperands)
      throw new NotProven('one of its words may be a file to write');
    const {reading} = sorted;
    const paths =
      operands === 'search' && !PATTERN_GIVEN.some((name) => sorted.options.has(name))
        ? sorted.operands.slice(1)
        : sorted.operands;
    if (operands === 'none' && sorted.operands.length > 0) throw new NotProven('its words may do more than read');
    if (operands === 'paths' || operands === 'search') {
      addPaths(paths, reading);
      if (readsCurrent && paths.length === 0) reading.paths.push('.');
    }
    const isSearch = searches === true || searches.some((name) => sorted.options.has(name));
    return {...reading, repositories: [], searches: isSearch};
  };
}

/** With one of these options the first operand is a path, not a pattern. */
const PATTERN_GIVEN = ['-e', '-f', '--regexp', '--file', '--files', '--type-list'];

/** For programs that only print their words. */
const readNothing: Reader = () => createReading();

const RECURSIVE = ['-r', '--recursive', '-d'];
const GREP = `-EFGPivwxcLlqsonHhTZzabUur -e: -f@ -m: -A: -B: -C: -d: -D: -# --extended-regexp --fixed-strings --basic-regexp
  --perl-regexp --ignore-case --no-ignore-case --invert-match --word-regexp --line-regexp --count --files-with-matches
  --files-without-match --quiet --silent --no-messages --only-matching --line-number --with-filename --no-filename
  --null --null-data --text --recursive --regexp: --file@ --max-count: --after-context: --before-context: --context:
  --include: --exclude: --exclude-from@ --exclude-dir: --color? --colour? --binary-files: --byte-offset --label:`;

const RIPGREP = `-inNvwxcloqsSFPUuHIa0p. -e: -f@ -g: -t: -T: -m: -A: -B: -C: -d: -r: -j: -M: -E: --ignore-case --smart-case
  --case-sensitive --line-number --no-line-number --invert-match --word-regexp --line-regexp --count --count-matches
  --files-with-matches --files-without-match --only-matching --quiet --fixed-strings --pcre2 --multiline
  --multiline-dotall --unrestricted --with-filename --no-filename --text --null --pretty --hidden --no-ignore
  --no-ignore-vcs --no-ignore-parent --files --type-list --regexp: --file@ --glob: --iglob: --type: --type-not:
  --max-count: --after-context: --before-context: --context: --max-depth: --replace: --max-columns: --encoding: --sort:
  --sortr: --color: --colors: --heading --no-heading --column --json --stats --trim --vimgrep --no-config --no-messages
  --ignore-file@ --max-filesize: --glob-case-insensitive --no-require-git --passthru --byte-offset --threads: --crlf`;

const CHECKSUM = '-bt --binary --text --tag --zero';

const READERS: Readonly<Record<string, Reader>> = {
  ls: createReader({
    options: `-1aAbBcCdfFgGhiIklmnNopqQrRsStTuUvwxXZ -I: --all --almost-all --author --color? --classify --directory
      --file-type --full-time --group-directories-first --human-readable --si --inode --ignore: --hide: --no-group
      --numeric-uid-gid --recursive --reverse --size --sort: --time: --time-style: --width: --escape --zero`,
    readsCurrent: true,
  }),
  cat: createReader({
    options: '-AbeEnstTuv --show-all --number --number-nonblank --squeeze-blank --show-ends --show-tabs',
  }),
  head: createReader({options: '-qvz -n: -c: -# --lines: --bytes: --quiet --verbose'}),
  tail: createReader({options: '-qvz -n: -c: -# --lines: --bytes: --quiet --verbose'}),
  wc: createReader({options: '-clmLw --lines --words --chars --bytes --max-line-length'}),
  nl: createReader({options: '-p -b: -d: -f: -h: -i: -l: -n: -s: -v: -w: --body-numbering:'}),
  tac: createReader({options: '-br -s: --separator:'}),
  rev: createReader({}),
  cut: createReader({
    options:
      '-nsz -b: -c: -d: -f: --bytes: --characters: --fields: --delimiter: --only-delimited --complement --output-delimiter:',
  }),
  paste: createReader({options: '-sz -d: --serial --delimiters:'}),
  join: createReader({options: '-iz -a: -e: -j: -o: -t: -v: -1: -2:'}),
  fold: createReader({options: '-bs -w: -# --width: --spaces'}),
  fmt: createReader({options: '-cstu -w: -#'}),
  expand: createReader({options: '-i -t: --tabs:'}),
  column: createReader({options: '-tnexJ -s: -o: -c: -N: --table --separator: --output-separator:'}),
  comm: createReader({options: '-123z --check-order --nocheck-order --total --output-delimiter:'}),
  cmp: createReader({options: '-bls -i: -n: --silent --quiet --verbose'}),
  tr: createReader({options: '-cCdst --complement --delete --squeeze-repeats', operands: 'texts'}),
  sort: createReader({
    options: `-bcCdfghiMmnRrsuVz -k: -t: -S: --ignore-case --numeric-sort --human-numeric-sort --reverse --unique --key:
      --field-separator: --stable --version-sort --general-numeric-sort --month-sort --check? --zero-terminated`,
  }),
  uniq: createReader({options: '-cdDiuz -f: -s: -w: --count --repeated --unique --ignore-case', maxOperands: 1}),
  diff: createReader({
    options: `-abBcdeEinNpqstuTwyZ -U: -C: -W: -I: -x: -L: -# --unified? --context? --brief --side-by-side --ignore-case
      --ignore-all-space --ignore-space-change --ignore-blank-lines --suppress-common-lines --color? --width: --label:
      --strip-trailing-cr --text --report-identical-files --minimal --new-file --no-dereference --exclude:`,
    // Of two folders diff compares the files in them, and follows links among these.
    check: ({operands, reading}) => {
      const folders = operands.filter((word) => word.kind === 'text');
      for (const {text} of folders) reading.globs.push(`${text}/*`, `${text}/.*`);
    },
  }),
  stat: createReader({options: '-ftx -c: --format: --printf: --terse --file-system'}),
  file: createReader({options: '-bhiklNnr0 -F: --brief --mime --mime-type --mime-encoding --no-dereference'}),
  du: createReader({
    options: `-0abchkmsSx -d: -B: -t: --all --apparent-size --block-size: --bytes --total --max-depth: --human-readable
      --summarize --exclude: --separate-dirs --one-file-system --time? --threshold:`,
    readsCurrent: true,
  }),
  df: createReader({options: '-ahHiklmTP -t: -x: --human-readable --local --print-type --total'}),
  tree: createReader({
    options: `-adfisphugDFtcrvAnCSNqQUJX -L: -I: -P: --dirsfirst --noreport --prune --gitignore --filelimit: --matchdirs
      --ignore-case --sort: --du --si --inodes`,
    readsCurrent: true,
  }),
  grep: createReader({options: GREP, operands: 'search', readsCurrent: true, searches: RECURSIVE}),
  egrep: createReader({options: GREP, operands: 'search', readsCurrent: true, searches: RECURSIVE}),
  fgrep: createReader({options: GREP, operands: 'search', readsCurrent: true, searches: RECURSIVE}),
  rg: createReader({options: RIPGREP, operands: 'search', readsCurrent: true, searches: true}),
  jq: createReader({
    options: `-acCejMnrRsSj -f@ --arg:: --argjson:: --slurpfile:@ --rawfile:@ --from-file@ --tab --indent: --null-input
      --raw-input --raw-output --join-output --compact-output --slurp --sort-keys --exit-status --color-output
      --monochrome-output --ascii-output --stream --seq`,
    operands: 'search',
    check: ({options, operands}) => {
      // A filter from a file could import other files. The environment may contain keys.
      if (options.has('-f') || options.has('--from-file')) throw new NotProven('its filter is in a file');
      if (
        getTexts(operands.slice(0, 1)).some((filter) =>
          /\b(?:import|include|env|modulemeta|get_search_list)\b|\$ENV|\$__/.test(filter),
        )
      ) {
        throw new NotProven('its filter reads modules or the environment');
      }
    },
  }),
  od: createReader({
    options: '-abcdfilosvx -A: -j: -N: -t: -w: --address-radix: --format: --skip-bytes: --read-bytes:',
  }),
  hexdump: createReader({options: '-bcCdovx -n: -s: -e:'}),
  xxd: createReader({options: '-bCeEiup -c: -g: -l: -s: -n: -o: -R:', maxOperands: 1}),
  strings: createReader({options: '-afo -n: -t: -e: -# --all --bytes: --radix: --encoding:'}),
  base64: createReader({options: '-di -w: --decode --ignore-garbage --wrap:'}),
  ...Object.fromEntries(
    ['md5sum', 'sha1sum', 'sha224sum', 'sha256sum', 'sha384sum', 'sha512sum', 'b2sum', 'cksum'].map((name) => [
      name,
      createReader({options: CHECKSUM}),
    ]),
  ),
  realpath: createReader({
    options: '-eEmLPsqz --relative-to@ --relative-base@ --canonicalize-existing --canonicalize-missing --no-symlinks',
  }),
  readlink: createReader({
    options: '-efmnqsvz --canonicalize --canonicalize-existing --canonicalize-missing --no-newline',
  }),
  basename: createReader({options: '-az -s: --multiple --suffix: --zero', operands: 'texts'}),
  dirname: createReader({options: '-z --zero', operands: 'texts'}),
  which: createReader({options: '-as', operands: 'texts'}),
  type: createReader({options: '-atpPf', operands: 'texts'}),
  command: createReader({
    options: '-vV',
    operands: 'texts',
    check: ({options}) => {
      if (!options.has('-v') && !options.has('-V')) throw new NotProven('it runs another command');
    },
  }),
  find: readFind,
  sed: readSed,
  date: readDate,
  printf: readPrintf,
  test: readTest,
  '[': (words) => {
    const last = words.at(-1);
    if (last?.kind !== 'text' || last.text !== ']') throw new NotProven('its ] is missing');
    return readTest(words.slice(0, -1));
  },
  git: readGit,
  echo: readNothing,
  true: readNothing,
  false: readNothing,
  ':': readNothing,
  pwd: createReader({options: '-LP', operands: 'none'}),
  whoami: createReader({operands: 'none'}),
  hostname: createReader({options: '-s', operands: 'none'}),
  uname: createReader({options: '-asnrvmpio --all', operands: 'none'}),
  arch: createReader({operands: 'none'}),
  nproc: createReader({options: '--all', operands: 'none'}),
  id: createReader({options: '-ugGnrz', operands: 'texts'}),
  seq: createReader({options: '-w -s: -f: -#', operands: 'texts'}),
  expr: createReader({operands: 'texts'}),
  sleep: createReader({operands: 'texts'}),
  exit: createReader({operands: 'texts', maxOperands: 1}),
  node: createExactReader('--version', '-v', '--help'),
  npm: createExactReader('--version', '-v'),
  python: createExactReader('--version', '-V', '--help'),
  python3: createExactReader('--version', '-V', '--help'),
  ...Object.fromEntries(
    ['gcc', 'clang', 'make', 'cmake', 'perl', 'bash'].map((name) => [name, createExactReader('--version', '--help')]),
  ),
};

/** What reads the words of a program; undefined for a program that is not known to only read. */
export function getReader(program: string): Reader | undefined {
  return Object.hasOwn(READERS, program) ? READERS[program] : undefined;
}

/** Bash runs these itself and looks for no program of that name. */
const BUILT_IN = new Set(['echo', 'printf', 'true', 'false', ':', 'pwd', 'test', '[', 'type', 'command', 'exit']);

export function isBuiltIn(program: string): boolean {
  return BUILT_IN.has(program);
}
