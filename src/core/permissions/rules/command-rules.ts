/**
 * Judges a command by the deny and ask rules: its parts in every spelling, and the files that its words show. Matches
 * commands by rules: `npm test` (exactly this one), `git log:*` (also with more words), `npm run *`.
 */
import path from 'node:path';
import type {Verdict, Workspace} from '../../contract/permission.ts';
import {tryOr} from '../../util/errors.ts';
import {matchesPieces} from '../../util/glob.ts';
import type {PermissionContext} from '../context.ts';
import {expandPattern, listFilesBelow} from '../files/file-patterns.ts';
import {expandHome, resolveLinks} from '../files/resolve-links.ts';
import {formatWords, type ParsedCommand, type ReadCommand} from '../shell/command-parser.ts';
import type {CommandPart, PartWord} from '../shell/command-shape.ts';
import {getVariables} from '../shell/guessed-words.ts';
import {findNamedFiles, guessFolders, type NamedFiles} from '../shell/named-files.ts';
import {UnclearCommand} from '../shell/shell-words.ts';
import {ALLOWED, askByRule, combineVerdicts, deny, type Restriction} from '../verdict.ts';
import {Spellings} from './command-spellings.ts';
import {formatRule} from './rule.ts';

export async function judgeByRules(command: ReadCommand, context: PermissionContext): Promise<Restriction | undefined> {
  const {rules} = context;
  const kinds = ['deny', 'ask'] as const;
  const [forCommands, forFiles] = [['bash'], FILE_TOOLS].map((tools) =>
    kinds.some((kind) => rules.getPatternRules(tools, kind).length > 0),
  );
  if (!forCommands && !forFiles) return undefined;
  const spellings = await spellOut(command);
  const judged = forCommands ? judgeSpellings(command, spellings, context) : undefined;
  if (judged) return judged;
  return forFiles ? judgeVisibleFiles(spellings.commands, context) : undefined;
}

const FILE_TOOLS = ['read_file', 'edit_file'];

/** Returns the command in all its spellings, or only an unknown start if it is not understood. */
export async function spellOut({parsed}: ReadCommand): Promise<Spellings> {
  const spellings = new Spellings();
  if (parsed instanceof UnclearCommand) spellings.starts.add('');
  else await spellings.addCommand(parsed);
  return spellings;
}

function judgeSpellings(
  {text: whole, parsed}: ReadCommand,
  {texts, starts}: Spellings,
  {rules, mode, neverAsks}: PermissionContext,
): Restriction | undefined {
  const find = (kind: 'deny' | 'ask') =>
    rules
      .getPatternRules(['bash'], kind)
      .find(({pattern}) => [whole.trim(), ...texts].some((text) => matchesCommand(pattern, text)));
  const denied = find('deny');
  if (denied) return deny(`${formatRule(denied)} refuses it`);
  const doubted = rules
    .getPatternRules(['bash'], 'deny')
    .find(({pattern}) => [...starts].some((start) => couldMatchCommand(pattern, start)));
  if (doubted) {
    const why =
      parsed instanceof UnclearCommand
        ? `runs a command that is not understood (${parsed.message})`
        : 'runs a command of which a part is known only when it runs';
    const because = `${why}, so it is not known whether ${formatRule(doubted)} refuses it`;
    return mode !== 'bypassPermissions' && !neverAsks
      ? {verdict: 'ask', because, onlyOnce: true}
      : deny(`${because}: write it plainly`);
  }
  const asked = find('ask');
  return asked && askByRule(asked, 'runs a command');
}

/** Judges the files that the command line shows to be read or written by the rules about files. */
function judgeVisibleFiles(commands: readonly ParsedCommand[], context: PermissionContext): Restriction | undefined {
  const {cwd, root} = context.workspace;
  const verdict = combineVerdicts(
    listNamedFiles(commands, context.workspace).flatMap(({reads, globs, searches, writes}) => {
      const matching = globs.flatMap((pattern) => expandPattern(pattern, cwd));
      const found = searches.flatMap((folder) => tryOr(() => listFilesBelow(resolveLinks(folder, cwd)), []));
      return [
        ...[...reads, ...matching, ...found].map((target) => judgeByFileRules('read_file', target, cwd, context)),
        // Git names files from the top of the repository.
        ...(cwd === root ? [] : reads.map((target) => judgeByFileRules('read_file', target, root, context))),
        ...writes.map((target) => judgeByFileRules('edit_file', target, cwd, context)),
      ];
    }),
  );
  return verdict.verdict === 'allow' ? undefined : verdict;
}

/** Returns the files of the command and of the commands in its words, which run in the same folders. */
export function listNamedFiles(commands: readonly ParsedCommand[], {env}: Pick<Workspace, 'env'>): NamedFiles[] {
  const [outer] = commands;
  const variables = getVariables(
    commands.map(({shape}) => shape),
    {env},
  );
  const folders = [...(outer?.shape.directories ?? []), ...commands.flatMap((each) => guessFolders(each, variables))];
  return commands.map((each) => findNamedFiles(each, [...new Set([...folders, ...each.shape.directories])], variables));
}

/** Through these links a process names its working directory and the root. */
const OF_PROCESS = /^\/proc\/(?:self|thread-self|\d+|[^/]*\$[^/]*)\/(cwd|root)(?=\/|$)/;

/** Resolves a path of a command, whose process has other links than that of mini-cc. @throws as `resolveLinks` */
export function resolveWord(given: string, cwd: string): string {
  return resolveLinks(
    given.replace(OF_PROCESS, (_, folder: string) => (folder === 'cwd' ? cwd : '')),
    cwd,
  );
}

function judgeByFileRules(tool: string, given: string, cwd: string, {rules, workspace}: PermissionContext): Verdict {
  // A word that no path can be, or a circle of links, still has a name that a rule may match.
  const target = tryOr(() => resolveWord(given, cwd), path.resolve(cwd, expandHome(given)));
  const denied = rules.findFileRule(tool, 'deny', [target], workspace.root);
  if (denied) return deny(`${formatRule(denied)} refuses ${target}`);
  const asked = rules.findFileRule(tool, 'ask', [target], workspace.root);
  return asked ? askByRule(asked, `runs a command on ${target}`) : ALLOWED;
}

/**
 * Whether a rule's pattern matches the text of a command. `*` matches any characters; `x:*` and `x *` match `x` alone,
 * too. `\*` is a star, `\\` a backslash.
 */
export function matchesCommand(pattern: string, text: string): boolean {
  return pattern === text || listForms(pattern).some((pieces) => matchesPieces(pieces, text));
}

/** Whether the pattern could match a text that begins like this. */
function couldMatchCommand(pattern: string, start: string): boolean {
  return listForms(pattern).some(([first = '', ...others]) =>
    first.length < start.length ? others.length > 0 && start.startsWith(first) : first.startsWith(start),
  );
}

/** Returns the forms of a pattern. Each form is a list of pieces with any characters between them. */
function listForms(pattern: string): readonly (readonly string[])[] {
  const [end, sign] = /(?<!\\)([:\s])\*$/.exec(pattern) ?? [];
  const body = end === undefined ? pattern : pattern.slice(0, -end.length).trimEnd();
  const pieces = body.split(/(?<!\\)\*/).map(removeEscapes);
  if (end === undefined) return [pieces];
  // `npm run test:*` matches `npm run test:unit` too. A pattern of one word names a program: `npm:*` is not `npm:x`.
  const separators = sign === ':' && body.includes(' ') ? [' ', ':'] : [' '];
  return [pieces, ...separators.map((separator) => [...pieces.slice(0, -1), pieces.at(-1)! + separator, ''])];
}

function removeEscapes(text: string): string {
  return text.replace(/\\([\\*])/g, '$1');
}

/** Returns the pattern of a rule that matches exactly this command. */
export function toCommandPattern(command: string): string {
  return command.trim().replace(/[\\*]/g, '\\$&');
}

/** Programs that run the command in their words without changing what it does, with the words that may precede it. */
const PLAIN_WRAPPERS: Readonly<Record<string, {option: RegExp; withValue: RegExp; operands: number}>> = {
  timeout: {
    option: /^(?:-v|--foreground|--preserve-status|--verbose|-[ks]\S+|--(?:kill-after|signal)=\S+)$/,
    withValue: /^-[ks]$/,
    operands: 1,
  },
  nice: {option: /^(?:-n-?\d+|-\d+|--adjustment=-?\d+)$/, withValue: /^-n$/, operands: 0},
  nohup: {option: /^$/, withValue: /^$/, operands: 0},
  stdbuf: {option: /^-[ioe][L0]$/, withValue: /^$/, operands: 0},
};

/**
 * Returns the texts that allow rules are matched against: the part as written, and without `timeout` and the like
 * before it.
 */
export function getTextsToAllow({words}: CommandPart): string[] {
  const texts = [formatWords(words)];
  for (let rest = removeWrapper(words); rest !== undefined; rest = removeWrapper(rest)) texts.push(formatWords(rest));
  return texts;
}

function removeWrapper(words: readonly PartWord[]): readonly PartWord[] | undefined {
  const name = words[0]?.text ?? '';
  const wrapper = Object.hasOwn(PLAIN_WRAPPERS, name) ? PLAIN_WRAPPERS[name] : undefined;
  if (!wrapper) return undefined;
  let at = 1;
  for (;;) {
    const text = words[at]?.text ?? '';
    if (wrapper.withValue.test(text) && text !== '') at += 2;
    else if (wrapper.option.test(text) && text !== '') at += 1;
    else break;
  }
  const rest = words.slice(at + wrapper.operands);
  return rest[0]?.text === undefined || rest[0].text.startsWith('-') ? undefined : rest;
}
