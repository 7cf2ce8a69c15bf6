/**
 * Runs `mini-cc completion bash|zsh|fish`: it creates the completion script of a shell from the table of flags. A
 * script completes subcommands, the words after them, their flags, and the values of flags that name choices, files or
 * folders.
 */
import {createUnknownVerb, type SubcommandArguments} from '../commands/shared/command-line.ts';
import {UsageError} from '../core/util/errors.ts';
import {FLAGS, type FlagName, goesWith, SUBCOMMAND_TEXTS, SUBCOMMANDS, written} from './flags.ts';

const SHELLS = SUBCOMMAND_TEXTS.completion.verbs;
const USAGE = `mini-cc completion ${SHELLS.join('|')}`;

/** @throws UsageError for bad usage */
export function completionCommandLine({verb, words}: Pick<SubcommandArguments, 'verb' | 'words'>) {
  if (verb === '') throw new UsageError(`completion: say for which shell: ${USAGE}`);
  if (words.length > 0) throw new UsageError(`completion ${verb}: ${words[0]} is too much: ${USAGE}`);
  const create = Object.hasOwn(SCRIPTS, verb) ? SCRIPTS[verb] : undefined;
  if (!create) throw createUnknownVerb('mini-cc completion', verb, SHELLS.join(', '));
  return {exitCode: 0, stdout: create(listFlags()), stderr: ''};
}

interface Flag {
  /** The long form, e.g. `--output-format`, and the short form when there is one, e.g. `-p`. */
  readonly spellings: readonly string[];
  readonly long: string;
  readonly short: string | undefined;
  readonly help: string;
  /** The value of the flag; absent for a switch. */
  readonly value?: {
    readonly name: string;
    readonly choices: readonly string[];
    readonly isFile: boolean;
    readonly isFolder: boolean;
  };
  /** Subcommands that the flag goes with. `session` means no subcommand. */
  readonly uses: readonly string[];
}

function listFlags(): readonly Flag[] {
  return (Object.keys(FLAGS) as FlagName[]).map((name) => {
    const flag: {
      readonly help: string;
      readonly shortFlag?: string;
      readonly valueName?: string;
      readonly choices?: readonly string[];
    } = FLAGS[name];
    const {help, shortFlag, valueName, choices = []} = flag;
    const isFile = valueName === 'FILE';
    return {
      spellings: [written(name), ...(shortFlag === undefined ? [] : [`-${shortFlag}`])],
      long: written(name).slice(2),
      short: shortFlag,
      help,
      uses: goesWith(name),
      ...(valueName !== undefined && {value: {name: valueName, choices, isFile, isFolder: valueName === 'DIR'}}),
    };
  });
}

/** Returns the first words of each verb: `show` for `show NAME`. */
function getVerbs(name: (typeof SUBCOMMANDS)[number]): readonly string[] {
  return SUBCOMMAND_TEXTS[name].verbs
    .flatMap((verb) => verb.split(' ')[0]!.split('|'))
    .filter((word) => /^\w/.test(word));
}

const SCRIPTS: Readonly<Record<string, (flags: readonly Flag[]) => string>> = {
  bash: createBashScript,
  zsh: createZshScript,
  fish: createFishScript,
};

function createBashScript(flags: readonly Flag[]): string {
  const values = flags.flatMap(({value, spellings}) => {
    if (!value) return [];
    const {choices, isFile, isFolder} = value;
    const words = `COMPREPLY=($(compgen -W '${choices.join(' ')}' -- "$cur"))`;
    const names = `compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -${isFolder ? 'd' : 'f'} -- "$cur"))`;
    return `    ${spellings.join('|')}) ${choices.length > 0 ? words : isFile || isFolder ? names : ':'}; return ;;`;
  });
  const offered = (use: string) => flags.filter(({uses}) => uses.includes(use)).flatMap(({spellings}) => spellings);
  const commands = SUBCOMMANDS.map(
    (name) => `    ${name}) words='${getVerbs(name).join(' ')}' flags='${offered(name).join(' ')}' ;;`,
  );
  return `# bash completion of mini-cc. In ~/.bashrc: source <(mini-cc completion bash)
_mini_cc() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD - 1]} words flags
  COMPREPLY=()
  # bash takes --flag=value for three words.
  if [[ $cur == = ]]; then cur=''
  elif [[ $prev == = ]]; then prev=\${COMP_WORDS[COMP_CWORD - 2]}
  fi
  case $prev in
${values.join('\n')}
  esac
  case \${COMP_WORDS[1]} in
${commands.join('\n')}
    *) words='' flags='${offered('session').join(' ')}' ;;
  esac
  if [[ $cur == -* ]]; then COMPREPLY=($(compgen -W "$flags" -- "$cur"))
  elif [[ $COMP_CWORD == 1 ]]; then COMPREPLY=($(compgen -W '${SUBCOMMANDS.join(' ')}' -- "$cur"))
  elif [[ $COMP_CWORD == 2 ]]; then COMPREPLY=($(compgen -W "$words" -- "$cur"))
  fi
}
complete -F _mini_cc mini-cc
`;
}

function createZshScript(flags: readonly Flag[]): string {
  const quote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
  const spec = ({spellings, help, value}: Flag) => {
    const {name = '', choices = [], isFile = false, isFolder = false} = value ?? {};
    const action = choices.length > 0 ? `(${choices.join(' ')})` : isFolder ? '_files -/' : isFile ? '_files' : ' ';
    const escaped = (text: string) => text.replaceAll(/[[\]:\\]/g, '\\$&');
    return spellings.map((spelling) => {
      const takes = value ? `${spelling.startsWith('--') ? '=' : '+'}` : '';
      return quote(`*${spelling}${takes}[${escaped(help)}]${value ? `:${escaped(name)}:${action}` : ''}`);
    });
  };
  const specs = (use: string) =>
    flags
      .filter(({uses}) => uses.includes(use))
      .flatMap(spec)
      .map((each) => `      ${each} \\\n`)
      .join('');
  const commands = SUBCOMMANDS.map(
    (name) => `    ${name}) _arguments \\
${specs(name)}      '1:what:(${getVerbs(name).join(' ')})' '*: :_files' ;;`,
  );
  const described = SUBCOMMANDS.map((name) => quote(`${name}:${SUBCOMMAND_TEXTS[name].help}`));
  return `#compdef mini-cc
# zsh completion of mini-cc. In ~/.zshrc, behind compinit: source <(mini-cc completion zsh)
_mini_cc() {
  if (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then
    local -a commands=(${described.join(' ')})
    _describe command commands
    return
  fi
  local name=$words[2]
  case $name in
    ${SUBCOMMANDS.join('|')}) shift words; (( CURRENT-- )) ;;
  esac
  case $name in
${commands.join('\n')}
    *) _arguments \\
${specs('session')}      '*: :_files' ;;
  esac
}
if [[ \${funcstack[1]} == _mini_cc ]]; then _mini_cc "$@"; else compdef _mini_cc mini-cc; fi
`;
}

function createFishScript(flags: readonly Flag[]): string {
  const quote = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
  const seen = (names: readonly string[]) => `__fish_seen_subcommand_from ${names.join(' ')}`;
  const lines = flags.map(({long, short, help, value, uses}) => {
    const without = SUBCOMMANDS.filter((name) => !uses.includes(name));
    const isAnywhere = without.length === 0;
    const condition = uses.includes('session') ? `not ${seen(without)}` : seen(uses);
    const {choices = [], isFile = false, isFolder = false} = value ?? {};
    const takes =
      choices.length > 0
        ? `-x -a ${quote(choices.join(' '))}`
        : isFolder
          ? `-x -a '(__fish_complete_directories)'`
          : isFile
            ? '-r -F'
            : '-x';
    return [
      'complete -c mini-cc',
      ...(isAnywhere ? [] : [`-n ${quote(condition)}`]),
      `-l ${long}`,
      ...(short === undefined ? [] : [`-s ${short}`]),
      ...(value ? [takes] : []),
      `-d ${quote(help)}`,
    ].join(' ');
  });
  const commands = SUBCOMMANDS.flatMap((name) => {
    const help = `-d ${quote(SUBCOMMAND_TEXTS[name].help)}`;
    const verbs = getVerbs(name);
    return [
      `complete -c mini-cc -n __fish_use_subcommand -f -a ${name} ${help}`,
      ...(verbs.length > 0
        ? [`complete -c mini-cc -n ${quote(`${seen([name])}; and not ${seen(verbs)}`)} -f -a ${quote(verbs.join(' '))}`]
        : []),
    ];
  });
  return `# fish completion of mini-cc. Once: mini-cc completion fish > ~/.config/fish/completions/mini-cc.fish
${[...commands, ...lines].join('\n')}
`;
}
