/**
 * Lists every text by which a deny or ask rule could name a part of a command, including what shells, `xargs`, `trap`
 * and other programs run by their words. It lists too many texts rather than too few: other quotes, a path before the
 * program, or a program that runs it must not bypass a rule. If the rest of a text is known only when the command runs,
 * its beginning is listed as a start.
 */
import type {Command, Redirection} from 'unbash';
import {listWords} from '../../util/text.ts';
import {formatWords, type ParsedCommand, readCommand, toPartWord} from '../shell/command-parser.ts';
import type {CommandPart, PartWord} from '../shell/command-shape.ts';
import {UnclearCommand} from '../shell/shell-words.ts';

/** Programs that run a command which begins at one of their words. */
export const WRAPPERS: ReadonlySet<string> = new Set(
  listWords(`
  timeout nice nohup stdbuf time env sudo doas xargs exec command builtin setsid ionice chrt taskset watch parallel
  strace ltrace unshare chroot busybox flock script npx find fd su runuser setpriv systemd-run coproc setarch linux32
  linux64 i386 x86_64 nsenter prlimit numactl fakeroot pkexec bwrap firejail xvfb-run dbus-run-session unbuffer valgrind
  hyperfine entr bunx pnpx
`),
);
/** These programs run a command behind one of these words, and do other things without it. */
const RUNNERS: Readonly<Record<string, RegExp>> = {
  npm: /^(?:exec|x)$/,
  pnpm: /^(?:exec|dlx)$/,
  yarn: /^(?:exec|dlx)$/,
  bun: /^x$/,
  bundle: /^exec$/,
  uv: /^run$/,
  poetry: /^run$/,
  pipenv: /^run$/,
};
const SHELLS = new Set(['sh', 'bash', 'dash', 'zsh', 'ksh', 'ash', 'fish']);
/** The command of these wrappers begins after one of these options. */
const COMMAND_OPTIONS: Readonly<Record<string, RegExp>> = {
  find: /^-(?:exec|ok)(?:dir)?$/,
  fd: /^(?:-x|-X|--exec|--exec-batch)$/,
};
/** These wrappers add words to the command, from their input or for a placeholder. */
const ADDS_WORDS = new Set(['xargs', 'parallel']);
/** These wrappers may have other plain words before the command, such as the folder of `chroot`. */
const HAS_OPERANDS = new Set(
  listWords('flock chroot taskset script su busybox parallel watch setarch bwrap nsenter prlimit numactl xvfb-run'),
);

/** Depth to which commands inside commands are read, as in `bash -c "bash -c …"`. */
const MAX_DEPTH = 5;
const UNKNOWN_WORD: PartWord = {raw: '$@'};

export class Spellings {
  readonly texts = new Set<string>();
  /** Beginnings of texts whose rest is not known. An empty start means that nothing of the text is known. */
  readonly starts = new Set<string>();
  /** All commands, including those that other commands run by their words. */
  readonly commands: ParsedCommand[] = [];
  readonly #seen = new Set<string>();
  readonly #programs = new Set<string>();
  /** Variables that the command sets. */
  readonly #variables = new Set<string>();

  async addCommand(command: ParsedCommand, depth = 0): Promise<void> {
    this.commands.push(command);
    for (const name of command.shape.variables) this.#variables.add(name);
    for (const script of getScriptsOfVariables(command)) await this.#addScript(script, depth + 1);
    for (const part of command.parts) {
      for (const name of getVariables(part)) this.#variables.add(name);
      await this.#addWords(part.words, getInput(part.node), depth);
    }
    for (const variable of this.#variables) {
      if (EVALUATED.test(variable)) this.starts.add('');
      for (const program of this.#programs) if (changesMeaning(variable, program)) this.starts.add(`${program} `);
    }
  }

  /** @param input script on the command's standard input, if that is known */
  async #addWords(words: readonly PartWord[], input: string | undefined, depth: number): Promise<void> {
    const id = formatWords(words);
    if (this.#seen.has(id)) return;
    this.#seen.add(id);
    this.#addTexts(words);
    for (const rest of listWithoutOptions(words)) this.#addTexts(rest);
    const program = getBaseName(words[0]);
    if (program === undefined) return;
    this.#programs.add(program);
    for (const script of getScripts(program, words, input)) await this.#addScript(script, depth + 1);
    const wrapped = getWrappedWords(program, words);
    if (!wrapped) return;
    for (const inner of listCommandsInside(program, wrapped)) {
      await this.#addWords(inner, ADDS_WORDS.has(program) ? undefined : input, depth);
    }
    for (const {text = ''} of wrapped.slice(1)) {
      for (const script of listScripts(text)) await this.#addScript(script, depth + 1);
    }
  }

  #addTexts(words: readonly PartWord[]): void {
    const program = getBaseName(words[0]);
    const named = program === undefined ? [] : [[{raw: program, text: program}, ...words.slice(1)]];
    for (const each of [words, ...named]) {
      this.texts.add(formatWords(each));
      this.texts.add(each.map(({raw, text}) => text ?? raw).join(' '));
      const unknown = each.findIndex(({text}) => text === undefined);
      if (unknown < 0) continue;
      const start = [...each.slice(0, unknown).map(({text}) => text), getKnownStart(each[unknown]!)].join(' ');
      this.starts.add(start);
      if (unknown === 0) this.starts.add(start.replace(/^.*\//, ''));
    }
  }

  /** @param script undefined when the text is not known */
  async #addScript(script: string | undefined, depth: number): Promise<void> {
    const parsed = script === undefined || depth > MAX_DEPTH ? undefined : await parseOrUndefined(script);
    if (parsed) await this.addCommand(parsed, depth);
    else this.starts.add('');
  }
}

/** Returns the words of a program that runs a command, from the last before that command may begin. */
function getWrappedWords(program: string, words: readonly PartWord[]): readonly PartWord[] | undefined {
  if (WRAPPERS.has(program)) return words;
  const runs = Object.hasOwn(RUNNERS, program) ? RUNNERS[program] : undefined;
  const at = words.findIndex(({text = ''}) => runs?.test(text));
  return at < 0 ? undefined : words.slice(at);
}

/** A word with blanks may be a script, even after an option: `--split-string=git push`, `-Sgit push`, `-vSgit push`. */
function listScripts(word: string): string[] {
  const [short = ''] = /^-\w{0,4}/.exec(word) ?? [];
  const starts = word.startsWith('--') ? [/^--[-\w]*=?/.exec(word)![0].length] : [...short, ''].map((_, at) => at);
  return starts.map((start) => word.slice(start)).filter((script) => /\S\s+\S/.test(script));
}

/** Returns the first characters of a word, which are known before the command runs. */
function getKnownStart({raw}: PartWord): string {
  return /^"?([\w./:=@%+,-]*)/.exec(raw)?.[1] ?? '';
}

/**
 * Returns the command without the options directly after the program: `git -C sub push` is also `git push`. Whether a
 * word is the value of the option before it is not known here, so each option is left out alone and with the next word.
 */
function listWithoutOptions([program, ...words]: readonly PartWord[]): PartWord[][] {
  if (!program) return [];
  const isOption = (word: PartWord | undefined) => word?.raw.startsWith('-') ?? false;
  const found: PartWord[][] = [];
  for (let at = 0; isOption(words[at]); ) {
    at += 1;
    found.push([program, ...words.slice(at)]);
    if (at >= words.length || isOption(words[at])) continue;
    at += 1;
    found.push([program, ...words.slice(at)]);
  }
  return found.filter((each) => each.length > 1);
}

/** Returns the commands that a wrapper may run. They begin after its options, their values, numbers and variables. */
function listCommandsInside(wrapper: string, words: readonly PartWord[]): PartWord[][] {
  const option = COMMAND_OPTIONS[wrapper];
  const added = ADDS_WORDS.has(wrapper) ? [UNKNOWN_WORD] : [];
  const placeholders = ['{}', ...words.flatMap(({text = ''}, at) => getPlaceholder(text, words[at + 1]?.text) ?? [])];
  const hidePlaceholders = (word: PartWord) =>
    placeholders.some((each) => word.text?.includes(each)) ? UNKNOWN_WORD : word;
  const found: PartWord[][] = [];
  for (let at = 1; at < words.length; at += 1) {
    const {text, raw} = words[at]!;
    const previous = words[at - 1]!.text ?? '';
    if (option && !option.test(previous)) continue;
    if (/^-/.test(text ?? raw) && !option) continue;
    found.push([...words.slice(at).map(hidePlaceholders), ...added]);
    const isPlain = text !== undefined && !/^\+?\d[\w.]*$|^\w+=/.test(text) && !previous.startsWith('-');
    if (isPlain && !option && !HAS_OPERANDS.has(wrapper)) break;
  }
  return found;
}

/**
 * Returns the placeholder that an option defines for words known only when the command runs, such as `-I %` of xargs.
 * `{}` is a placeholder without an option.
 */
function getPlaceholder(option: string, next: string | undefined): string | undefined {
  const [, given] = /^(?:-[IJ]|--replace=)(.*)$/s.exec(option) ?? [];
  return given === '' ? next : given;
}

/** Returns the scripts that a program runs by its words, with undefined for each script that is not known. */
function getScripts(program: string, words: readonly PartWord[], input: string | undefined): (string | undefined)[] {
  const operands = words.slice(1).filter(({raw}) => !/^-./.test(raw));
  switch (program) {
    case 'eval': {
      const rest = words.slice(1).map(({text}) => text);
      return [rest.includes(undefined) ? undefined : rest.join(' ')];
    }
    case 'trap':
      return operands.length > 1 && operands[0]!.text !== '-' ? [operands[0]!.text] : [];
    case 'alias':
      return operands.map(({text}) => text?.replace(/^[^=]*=?/, ''));
    case 'hash': {
      // The shell then runs this program by another name, with any words.
      const at = words.findIndex(({text = ''}) => /^-\w*p$/.test(text));
      const named = words[at + 1]?.text;
      return at < 0 ? [] : [named && `${named} "$@"`];
    }
    case 'mapfile':
    case 'readarray':
    case 'compgen':
    case 'complete':
      return words.flatMap(({text = ''}, at) =>
        /^-\w*[CF]/.test(text) ? [text.replace(/^-\w*[CF]/, '') || words[at + 1]?.text] : [],
      );
    case 'source':
    case '.':
      return readsInput(operands[0]) ? [input] : [];
    case 'git':
      return getAliases(words);
    default: {
      const scripts = words.flatMap((word, at) =>
        getShellScripts(getBaseName(word), words.slice(at + 1), at === 0, input),
      );
      return program === 'env' && words.some(splitsUnknown) ? [...scripts, undefined] : scripts;
    }
  }
}

/**
 * Whether the word makes `env` split a command of which a part is not known: `-S"git $X"`, `--split-string="git $X"`.
 */
function splitsUnknown({raw, text}: PartWord): boolean {
  return text === undefined && /^["']?-(?:\w*S|-s)/.test(raw);
}

/** @param isProgram whether the shell is the program itself, not a word of another program */
function getShellScripts(
  name: string | undefined,
  words: readonly PartWord[],
  isProgram: boolean,
  input: string | undefined,
): (string | undefined)[] {
  if (name === undefined || !SHELLS.has(name)) return [];
  const starts = words.flatMap(({text = ''}, at) => (/^--(?:rcfile|init-file)$/.test(text) ? [words[at + 1]] : []));
  const startUp = starts.some(readsInput) ? [input] : [];
  const flag = words.findIndex(({text}) => /^-\w*c\w*$/.test(text ?? ''));
  // The script is unknown when it is a placeholder for words that a wrapper adds: `xargs -I{} sh -c {}`.
  if (flag >= 0) return [...startUp, getOperand(words.slice(flag))?.text];
  if (startUp.length > 0) return startUp;
  if (!isProgram || words.some(({text}) => text === '--version' || text === '--help')) return [];
  const isInput = words.some(({text}) => /^-\w*s/.test(text ?? ''));
  return isInput || readsInput(words.find(({raw}) => !/^[-+]./.test(raw))) ? [input] : [];
}

/** Returns the first word of a shell that is no option, and no value of `-o` or `-O`. */
function getOperand(words: readonly PartWord[]): PartWord | undefined {
  return words.find(({raw}, at) => !/^[-+]/.test(raw) && !(at > 0 && /^[-+](?!-)\w*[oO]$/.test(words[at - 1]!.raw)));
}

/** Whether a script comes from standard input or from another command instead of a file. */
function readsInput(operand: PartWord | undefined): boolean {
  return operand?.text === undefined || operand.text === '-' || /^\/(?:dev|proc)\//.test(operand.text);
}

/** Returns the commands that git aliases in the words define: `-c alias.q=push`, `config alias.q push`. */
function getAliases(words: readonly PartWord[]): (string | undefined)[] {
  return words.flatMap(({text, raw}, at) => {
    if (text === undefined && words[at - 1]?.text === '-c') return [undefined];
    const [, named] = (words[at - 1]?.text === '-c' && PROGRAM_SETTING.exec(text ?? '')) || [];
    if (named) return [named.replace(/^!/, '')];
    if (/^--config-env\b|^include(?:if)?\./i.test(text ?? raw)) return [undefined];
    if (!/^alias\./i.test(text ?? raw)) return [];
    const value = text?.includes('=') ? text.replace(/^[^=]*=/, '') : words[at + 1]?.text;
    return [value?.startsWith('!') ? value.slice(1) : value && `git ${value}`];
  });
}

/** A setting whose value git runs, with that value. */
const PROGRAM_SETTING =
  /^(?:core\.(?:pager|editor|sshcommand|fsmonitor|askpass|gitproxy)|sequence\.editor|diff\.external|credential\..*helper|pager\..+|.+\.(?:textconv|command|driver|cmd|clean|smudge|process|program))=(.+)$/is;

/** Variables whose values programs run: `GIT_CONFIG_VALUE_0='!rm x' git a`, `PAGER='rm x' git log`. */
const RUN_BY_PROGRAMS =
  /^(?:GIT_(?:CONFIG_VALUE_\d+|PAGER|EDITOR|SEQUENCE_EDITOR|SSH|SSH_COMMAND|EXTERNAL_DIFF|ASKPASS|PROXY_COMMAND)|PAGER|MANPAGER|LESSOPEN|LESSCLOSE|EDITOR|VISUAL|BROWSER)$/;

/** Returns the scripts in the values of variables. A value of git's settings may also be an alias. */
function getScriptsOfVariables({parts, shape}: ParsedCommand): (string | undefined)[] {
  const assigned = [...shape.assigned].flatMap(([name, words]) => words.map((word) => ({name, ...toPartWord(word)})));
  const given = parts.flatMap(({words}) =>
    words.slice(1).flatMap(({text = ''}) => {
      const [, name = '', value = ''] = /^(\w+)=(.*)$/s.exec(text) ?? [];
      return name === '' ? [] : [{name, text: value}];
    }),
  );
  return [...assigned, ...given].flatMap(({name, text}) => {
    if (!RUN_BY_PROGRAMS.test(name) || text === '') return [];
    const isAlias = /^GIT_CONFIG_VALUE/.test(name) && text !== undefined && !text.startsWith('!');
    return isAlias ? [text, `git ${text}`] : [text?.replace(/^!/, '')];
  });
}

/**
 * Returns the variables that the part sets, before its program or as words of it: `A=1 make`, `export A=1`, `env A=1
 * make`.
 */
function getVariables({node, words}: CommandPart): string[] {
  const prefix = node.prefix.flatMap((each) => (each.type === 'Assignment' ? [each.name ?? ''] : []));
  return [...prefix, ...words.slice(1).flatMap(({raw}) => /^\w+(?==)/.exec(raw)?.[0] ?? [])];
}

/** Bash evaluates the values of these variables. */
const EVALUATED =
  /^(?:BASH_ENV|BASH_CMDS|BASH_ALIASES|ENV|GIT_CONFIG_PARAMETERS|PROMPT_COMMAND|PS[0-4]|SHELLOPTS|BASHOPTS|BASH_FUNC.*)$/;

/** Whether this variable may change what the words of a program mean: `GIT_CONFIG_COUNT` for git. */
function changesMeaning(variable: string, program: string): boolean {
  const own = program.toUpperCase().replace(/\W/g, '_');
  return variable.startsWith(`${own}_`) || /^(?:HOME|PATH|IFS|XDG_\w+|LD_\w+|DYLD_\w+)$/.test(variable);
}

/** Returns the text on standard input, if the command line shows it. */
function getInput({redirects}: Command): string | undefined {
  const texts = redirects.filter(isInput).map((each) => {
    if (each.type === 'HereString') return each.target && toPartWord(each.target).text;
    if (each.type !== 'HereDoc' || !each.closing) return undefined;
    const {parts, text} = each.body;
    return each.delimiter?.quoted || (parts ?? []).every(({type}) => type === 'Literal') ? text : undefined;
  });
  return texts.at(-1);
}

function isInput({type, operator}: Redirection): boolean {
  return type !== 'Redirect' || operator.startsWith('<');
}

function getBaseName(word: PartWord | undefined): string | undefined {
  return word?.text?.replace(/^.*\//s, '');
}

async function parseOrUndefined(script: string): Promise<ParsedCommand | undefined> {
  const {parsed} = await readCommand(script);
  return parsed instanceof UnclearCommand ? undefined : parsed;
}
