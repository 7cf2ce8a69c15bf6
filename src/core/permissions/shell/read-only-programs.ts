/** Programs that only read, with the options that keep them so. What is not here is not proven. */

import {Options, type Reader, readAll, type Sorted, textsOf} from './program-options.ts';
import {readGit} from './read-only-git.ts';
import {checkDate, checkFind, checkPrintf, checkSed, checkTest, onlyFor} from './read-only-scripts.ts';
import {NotProven} from './shell-words.ts';

interface Shape {
  readonly options?: string;
  /** What its operands are. Default: paths. `search`: a pattern, then paths. */
  readonly operands?: 'paths' | 'texts' | 'search' | 'none';
  /** At most so many operands. */
  readonly most?: number;
  /** Without a path it reads where it is. */
  readonly here?: boolean;
  readonly check?: (sorted: Sorted) => void;
  /** It looks into files below a folder, always or with one of these options. */
  readonly searches?: true | readonly string[];
}

function reader({options = '', operands = 'paths', most, here, check, searches = []}: Shape): Reader {
  const known = new Options(`${options} --help --version`);
  return (words) => {
    const sorted = known.sort(words);
    check?.(sorted);
    if (most !== undefined && sorted.operands.length > most)
      throw new NotProven('one of its words may be a file to write');
    const {reading} = sorted;
    const paths =
      operands === 'search' && !PATTERN_GIVEN.some((name) => sorted.options.has(name))
        ? sorted.operands.slice(1)
        : sorted.operands;
    if (operands === 'none' && sorted.operands.length > 0) throw new NotProven('its words may do more than read');
    if (operands === 'paths' || operands === 'search') {
      readAll(paths, reading);
      if (here && paths.length === 0) reading.paths.push('.');
    }
    const isSearch = searches === true || searches.some((name) => sorted.options.has(name));
    return {...reading, repositories: [], searches: isSearch};
  };
}

/** Then the first operand is no pattern, but a path. */
const PATTERN_GIVEN = ['-e', '-f', '--regexp', '--file', '--files', '--type-list'];

/** Any words at all: it prints them. */
const prints: Reader = () => ({paths: [], globs: [], repositories: []});

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
  ls: reader({
    options: `-1aAbBcCdfFgGhiIklmnNopqQrRsStTuUvwxXZ -I: --all --almost-all --author --color? --classify --directory
      --file-type --full-time --group-directories-first --human-readable --si --inode --ignore: --hide: --no-group
      --numeric-uid-gid --recursive --reverse --size --sort: --time: --time-style: --width: --escape --zero`,
    here: true,
  }),
  cat: reader({
    options: '-AbeEnstTuv --show-all --number --number-nonblank --squeeze-blank --show-ends --show-tabs',
  }),
  head: reader({options: '-qvz -n: -c: -# --lines: --bytes: --quiet --verbose'}),
  tail: reader({options: '-qvz -n: -c: -# --lines: --bytes: --quiet --verbose'}),
  wc: reader({options: '-clmLw --lines --words --chars --bytes --max-line-length'}),
  nl: reader({options: '-p -b: -d: -f: -h: -i: -l: -n: -s: -v: -w: --body-numbering:'}),
  tac: reader({options: '-br -s: --separator:'}),
  rev: reader({}),
  cut: reader({
    options:
      '-nsz -b: -c: -d: -f: --bytes: --characters: --fields: --delimiter: --only-delimited --complement --output-delimiter:',
  }),
  paste: reader({options: '-sz -d: --serial --delimiters:'}),
  join: reader({options: '-iz -a: -e: -j: -o: -t: -v: -1: -2:'}),
  fold: reader({options: '-bs -w: -# --width: --spaces'}),
  fmt: reader({options: '-cstu -w: -#'}),
  expand: reader({options: '-i -t: --tabs:'}),
  column: reader({options: '-tnexJ -s: -o: -c: -N: --table --separator: --output-separator:'}),
  comm: reader({options: '-123z --check-order --nocheck-order --total --output-delimiter:'}),
  cmp: reader({options: '-bls -i: -n: --silent --quiet --verbose'}),
  tr: reader({options: '-cCdst --complement --delete --squeeze-repeats', operands: 'texts'}),
  sort: reader({
    options: `-bcCdfghiMmnRrsuVz -k: -t: -S: --ignore-case --numeric-sort --human-numeric-sort --reverse --unique --key:
      --field-separator: --stable --version-sort --general-numeric-sort --month-sort --check? --zero-terminated`,
  }),
  uniq: reader({options: '-cdDiuz -f: -s: -w: --count --repeated --unique --ignore-case', most: 1}),
  diff: reader({
    options: `-abBcdeEinNpqstuTwyZ -U: -C: -W: -I: -x: -L: -# --unified? --context? --brief --side-by-side --ignore-case
      --ignore-all-space --ignore-space-change --ignore-blank-lines --suppress-common-lines --color? --width: --label:
      --strip-trailing-cr --text --report-identical-files --minimal --new-file --no-dereference --exclude:`,
    // Of two folders the files are compared, links among them.
    check: ({operands, reading}) => {
      const folders = operands.filter((word) => word.kind === 'text');
      for (const {text} of folders) reading.globs.push(`${text}/*`, `${text}/.*`);
    },
  }),
  stat: reader({options: '-ftx -c: --format: --printf: --terse --file-system'}),
  file: reader({options: '-bhiklNnr0 -F: --brief --mime --mime-type --mime-encoding --no-dereference'}),
  du: reader({
    options: `-0abchkmsSx -d: -B: -t: --all --apparent-size --block-size: --bytes --total --max-depth: --human-readable
      --summarize --exclude: --separate-dirs --one-file-system --time? --threshold:`,
    here: true,
  }),
  df: reader({options: '-ahHiklmTP -t: -x: --human-readable --local --print-type --total'}),
  tree: reader({
    options: `-adfisphugDFtcrvAnCSNqQUJX -L: -I: -P: --dirsfirst --noreport --prune --gitignore --filelimit: --matchdirs
      --ignore-case --sort: --du --si --inodes`,
    here: true,
  }),
  grep: reader({options: GREP, operands: 'search', here: true, searches: RECURSIVE}),
  egrep: reader({options: GREP, operands: 'search', here: true, searches: RECURSIVE}),
  fgrep: reader({options: GREP, operands: 'search', here: true, searches: RECURSIVE}),
  rg: reader({options: RIPGREP, operands: 'search', here: true, searches: true}),
  jq: reader({
    options: `-acCejMnrRsSj -f@ --arg:: --argjson:: --slurpfile:@ --rawfile:@ --from-file@ --tab --indent: --null-input
      --raw-input --raw-output --join-output --compact-output --slurp --sort-keys --exit-status --color-output
      --monochrome-output --ascii-output --stream --seq`,
    operands: 'search',
    check: ({options, operands}) => {
      // A filter from a file could import others; in the environment there may be keys.
      if (options.has('-f') || options.has('--from-file')) throw new NotProven('its filter lies in a file');
      if (
        textsOf(operands.slice(0, 1)).some((filter) =>
          /\b(?:import|include|env|modulemeta|get_search_list)\b|\$ENV|\$__/.test(filter),
        )
      ) {
        throw new NotProven('its filter reads modules or the environment');
      }
    },
  }),
  od: reader({options: '-abcdfilosvx -A: -j: -N: -t: -w: --address-radix: --format: --skip-bytes: --read-bytes:'}),
  hexdump: reader({options: '-bcCdovx -n: -s: -e:'}),
  xxd: reader({options: '-bCeEiup -c: -g: -l: -s: -n: -o: -R:', most: 1}),
  strings: reader({options: '-afo -n: -t: -e: -# --all --bytes: --radix: --encoding:'}),
  base64: reader({options: '-di -w: --decode --ignore-garbage --wrap:'}),
  ...Object.fromEntries(
    ['md5sum', 'sha1sum', 'sha224sum', 'sha256sum', 'sha384sum', 'sha512sum', 'b2sum', 'cksum'].map((name) => [
      name,
      reader({options: CHECKSUM}),
    ]),
  ),
  realpath: reader({
    options: '-eEmLPsqz --relative-to@ --relative-base@ --canonicalize-existing --canonicalize-missing --no-symlinks',
  }),
  readlink: reader({options: '-efmnqsvz --canonicalize --canonicalize-existing --canonicalize-missing --no-newline'}),
  basename: reader({options: '-az -s: --multiple --suffix: --zero', operands: 'texts'}),
  dirname: reader({options: '-z --zero', operands: 'texts'}),
  which: reader({options: '-as', operands: 'texts'}),
  type: reader({options: '-atpPf', operands: 'texts'}),
  command: reader({
    options: '-vV',
    operands: 'texts',
    check: ({options}) => {
      if (!options.has('-v') && !options.has('-V')) throw new NotProven('it runs another command');
    },
  }),
  find: checkFind,
  sed: checkSed,
  date: checkDate,
  printf: checkPrintf,
  test: (words) => checkTest(words),
  '[': (words) => {
    const last = words.at(-1);
    if (last?.kind !== 'text' || last.text !== ']') throw new NotProven('its ] is missing');
    return checkTest(words.slice(0, -1));
  },
  git: readGit,
  echo: prints,
  true: prints,
  false: prints,
  ':': prints,
  pwd: reader({options: '-LP', operands: 'none'}),
  whoami: reader({operands: 'none'}),
  hostname: reader({options: '-s', operands: 'none'}),
  uname: reader({options: '-asnrvmpio --all', operands: 'none'}),
  arch: reader({operands: 'none'}),
  nproc: reader({options: '--all', operands: 'none'}),
  id: reader({options: '-ugGnrz', operands: 'texts'}),
  seq: reader({options: '-w -s: -f: -#', operands: 'texts'}),
  expr: reader({operands: 'texts'}),
  sleep: reader({operands: 'texts'}),
  exit: reader({operands: 'texts', most: 1}),
  node: onlyFor('--version', '-v', '--help'),
  npm: onlyFor('--version', '-v'),
  python: onlyFor('--version', '-V', '--help'),
  python3: onlyFor('--version', '-V', '--help'),
  ...Object.fromEntries(
    ['gcc', 'clang', 'make', 'cmake', 'perl', 'bash'].map((name) => [name, onlyFor('--version', '--help')]),
  ),
};

/** How a program is judged; undefined for one that is not known to read only. */
export function readerOf(program: string): Reader | undefined {
  return Object.hasOwn(READERS, program) ? READERS[program] : undefined;
}

/** Part of bash itself: no program of that name is looked for. */
const BUILT_IN = new Set(['echo', 'printf', 'true', 'false', ':', 'pwd', 'test', '[', 'type', 'command', 'exit']);

export function isBuiltIn(program: string): boolean {
  return BUILT_IN.has(program);
}
