/**
 * Says which commands look like reading. Such a command runs in the read-only sandbox without a question, so an error
 * in these tables is harmless: the sandbox prevents writing, sending and access to hidden files. Programs whose answer
 * the sandbox would change are left out: `ps`, `ss`, `df`, `mount`, `env`, `id`, `who`, `git worktree list` and the
 * like.
 */
import {listWords} from '../../util/text.ts';
import type {ParsedCommand} from './command-parser.ts';
import {type CommandPart, isHarmlessAssignment} from './command-shape.ts';

/** Programs and builtins that only read, whatever their words are. */
const READERS = new Set(
  listWords(`
  ls cat head tail wc nl tac rev cut paste join fold fmt expand unexpand column comm cmp tr diff stat file du grep egrep
  fgrep zgrep zcat zless bzcat xzcat jq od hexdump xxd strings nm objdump readelf size ldd base64 base32 md5sum sha1sum
  sha224sum sha256sum sha384sum sha512sum b2sum cksum sum realpath readlink basename dirname which whereis type pwd whoami
  uname arch nproc seq expr sleep less more bat test [ echo printf true false : cd exit return break continue shift read
  let local wait tput look tsort shuf factor numfmt locale getconf cloc tokei scc ack ag
`),
);

const AWK = /^-i|^--(?:in|load|exec)|\bsystem\b|[|>]\s*"|getline/;

/** Programs that read unless one of their words matches. With such a word they write or run another program. */
const READERS_UNLESS: Readonly<Record<string, RegExp>> = {
  sort: /^(?:-[a-zA-Z]*o|--o|--compress)/,
  uniq: /^[^-]/,
  sed: /^(?:-[a-zA-Z]*i|--in-place)/,
  awk: AWK,
  gawk: AWK,
  mawk: /\bsystem\b|[|>]\s*"|getline/,
  yq: /^(?:-[a-zA-Z]*i|--in-?place)/,
  tree: /^(?:-[a-zA-Z]*o|-R|--output)/,
  rg: /^--(?:pre|hostname-bin)/,
  fd: /^(?:-[a-zA-Z]*[xX]|--exec)/,
  find: /^-(?:ok|delete|fprint|fls)/,
  date: /^(?:-s|--set|\d)/,
  hostname: /^[^-]|^-[Fb]/,
  tar: /^(?:-?[a-zA-Z]*[cxru]|--(?:create|extract|get|append|update|delete|to-command|checkpoint))/,
  unzip: /^-[^lvZpt]/,
  node: /^(?!-v$|--version$|--help$)/,
  tsc: /^(?!--(?:noEmit|version|help|showConfig|listFiles|listFilesOnly|pretty|strict)$|-v$|-p$|--project$|[\w./-]+\.json$)/,
};

/** Programs with subcommands. The first word, or the first word that is no option, must match. */
const COMMANDS: Readonly<Record<string, RegExp>> = {
  command: /^-[vV]$/,
  npm: /^(?:-v|ls|list|ll|explain|why|root|prefix|bin)$/,
  pnpm: /^(?:ls|list|why|root|bin)$/,
  yarn: /^(?:list|why|info)$/,
  pip: /^(?:list|show|freeze)$/,
  pip3: /^(?:list|show|freeze)$/,
  go: /^(?:version|doc|list)$/,
  cargo: /^(?:tree|metadata|locate-project)$/,
  gem: /^(?:list|contents|which)$/,
  composer: /^(?:show|depends|why)$/,
  dpkg: /^(?:-[lLsS]|--(?:list|listfiles|status|search))$/,
  'apt-cache': /^(?:show|search|policy|depends|rdepends)$/,
};

const GIT =
  /^(?:status|log|diff|show|blame|shortlog|rev-parse|rev-list|ls-files|ls-tree|cat-file|describe|merge-base|name-rev|show-ref|for-each-ref|count-objects|grep|diff-tree|diff-index|diff-files|whatchanged|cherry|range-diff|check-ignore|check-attr|var|version)$/;
/** Subcommands of git that read when the next word matches, and write otherwise. */
const GIT_WITH: Readonly<Record<string, RegExp>> = {
  branch:
    /^(?:-[arv]+|--(?:all|remotes|verbose|show-current|list|contains|no-contains|merged|no-merged|points-at|sort|format)\b.*)?$/,
  tag: /^(?:-l|-n\d*|--(?:list|contains|no-contains|merged|no-merged|points-at|sort|format)\b.*)?$/,
  remote: /^(?:-v|--verbose|get-url)?$/,
  stash: /^(?:list|show)$/,
  reflog: /^(?:show|-.*)?$/,
  notes: /^(?:list|show)$/,
  submodule: /^(?:status|summary)$/,
  config: /^(?:--get|--get-all|--get-regexp|--list|-l|get|list|[\w-]+\.[\w.-]+)$/,
  bisect: /^log$/,
};

/** Programs that run the command in their words, with a pattern of the words that may precede that command. */
const WRAPPERS: Readonly<Record<string, RegExp>> = {
  timeout: /^(?:-.*|[\d.]+[smhd]?)$/,
  nice: /^(?:-.*|\d+)$/,
  nohup: /^$/,
  stdbuf: /^-/,
  xargs: /^(?:-.*|\d+|\{\}|%)$/,
  time: /^-/,
};

/** Whether each part of the command is a program that reads, and no redirection writes. */
export function looksLikeReading({parts, shape}: ParsedCommand): boolean {
  if (shape.isDetached || shape.writes.length > 0 || parts.length === 0) return false;
  return parts.every(isReadingPart);
}

export function isReadingPart({node, words}: CommandPart): boolean {
  // A variable before a program may change what it runs.
  if (node.prefix.some((each) => each.type === 'Assignment' && !isHarmlessAssignment(each))) return false;
  return isReader(words.map(({raw, text}) => text ?? raw));
}

function isReader([program = '', ...words]: readonly string[]): boolean {
  const name = program.replace(/^\/(?:usr\/)?bin\/(?=[^/]+$)/, '');
  if (READERS.has(name)) return true;
  if (words.length === 1 && /^(?:--version|-V|--help)$/.test(words[0]!)) return /^[\w.+-]+$/.test(name);
  const has = (table: object) => Object.hasOwn(table, name);
  if (name === 'find' && words.some((word) => /^-exec(?:dir)?$/.test(word))) return isFindOfReaders(words);
  if (has(READERS_UNLESS)) return !words.some((word) => READERS_UNLESS[name]!.test(word)) && hasNeeded(name, words);
  if (has(COMMANDS))
    return [words[0], words.find((word) => !word.startsWith('-'))].some((word) => COMMANDS[name]!.test(word ?? ''));
  if (has(WRAPPERS)) {
    const at = words.findIndex((word) => !WRAPPERS[name]!.test(word));
    return at >= 0 && isReader(words.slice(at));
  }
  return name === 'git' && isGitReader(words);
}

/** Without the needed words `tsc` writes, and node runs a program from its input. */
function hasNeeded(name: string, words: readonly string[]): boolean {
  if (name === 'tsc')
    return words.some((word) => /^(?:--(?:noEmit|version|help|showConfig|listFilesOnly)|-v)$/.test(word));
  return name !== 'node' || words.length > 0;
}

function isFindOfReaders(words: readonly string[]): boolean {
  const rest = words.filter((word) => !/^-exec(?:dir)?$/.test(word));
  if (rest.some((word) => READERS_UNLESS.find!.test(word))) return false;
  return words.every((word, at) => !/^-exec(?:dir)?$/.test(word) || isReader(words.slice(at + 1)));
}

function isGitReader(words: readonly string[]): boolean {
  let at = 0;
  while (/^-/.test(words[at] ?? '')) at += /^-[Cc]$/.test(words[at]!) ? 2 : 1;
  const [command = '', ...rest] = words.slice(at);
  if (words.slice(0, at).some((word) => /^(?:--exec-path=|--config-env)/.test(word))) return false;
  if (rest.some((word) => /^(?:--output|--ext-diff|-O|--open-files)/.test(word))) return false;
  if (command === '') return words.includes('--version');
  // With a value, `git config` sets the key.
  if (command === 'config' && rest.length > 1 && /^\w[\w-]*\./.test(rest[0]!)) return false;
  if (Object.hasOwn(GIT_WITH, command)) return GIT_WITH[command]!.test(rest[0] ?? '');
  return GIT.test(command);
}
