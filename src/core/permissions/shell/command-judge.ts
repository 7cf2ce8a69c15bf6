/**
 * Judges once whether a command may run, and how. The order is: deny and ask rules; the confinement of the agent; what
 * the mode, an answer or a rule allows; what looks like reading, which the read-only sandbox enforces. With neither a
 * sandbox nor a container, only commands of the literal grammar count as reading.
 */
import {existsSync} from 'node:fs';
import path from 'node:path';
import type {Access, Attempt, Attempts, Verdict} from '../../contract/permission.ts';
import {tryOr} from '../../util/errors.ts';
import {findReadableRepository} from '../../util/files/git-folder.ts';
import {isInside} from '../../util/paths.ts';
import {listWords} from '../../util/text.ts';
import type {PermissionContext} from '../context.ts';
import {judgeRead, judgeWrite} from '../files/file-judge.ts';
import {expandPattern} from '../files/file-patterns.ts';
import {getFileZone, isAlwaysAsked} from '../files/file-zone.ts';
import {getRunGrant} from '../grants.ts';
import {
  getTextsToAllow,
  judgeByRules,
  listNamedFiles,
  matchesCommand,
  resolveWord,
  spellOut,
  toCommandPattern,
} from '../rules/command-rules.ts';
import {formatRule} from '../rules/rule.ts';
import {ALLOWED, type AskVerdict, combineVerdicts, deny, type Restriction} from '../verdict.ts';
import {formatWords, type ParsedCommand, type ReadCommand, readCommand} from './command-parser.ts';
import {type CommandPart, isHarmlessAssignment, joinPath} from './command-shape.ts';
import {findHiddenPlaces, findLostVariable} from './hidden-places.ts';
import {isLiteral, judgeLiteral, judgeLiteralPart} from './literal-judge.ts';
import {looksLikeReading} from './reading-programs.ts';
import {UnclearCommand, unlessUnclear} from './shell-words.ts';

type RunAccess = Extract<Access, {kind: 'run'}>;

const READ_ONLY: Attempts = [{launch: 'read-only', checkpoint: false}];
const PLAIN: Attempts = [{launch: 'plain', checkpoint: false}];

/** Loads the parser, so that the first command does not wait for it. */
export async function prepareToJudge(): Promise<void> {
  await readCommand(':');
}

export async function judgeRun(access: RunAccess, context: PermissionContext): Promise<Verdict> {
  const command = await readCommand(access.command);
  const verdict = await judgeCommand(command, access, context);
  if (verdict.verdict !== 'ask') return verdict;
  const isGuarded = !access.unconfined && (await context.sandbox.available());
  const unseen = isGuarded && verdict.attempts ? {unseen: guard(verdict.attempts)} : {};
  const places = await findAskedPlaces(command, context, isGuarded);
  const {rules = verdict.onlyOnce ? undefined : askToRun(command, context).rules, ...asked} = verdict;
  // No rule allows a command that may write a protected place. Another command is allowed by the rule with its text.
  return {...asked, ...(rules && !places.onlyPerson && {rules}), ...places, ...unseen};
}

/**
 * Keeps protected places read-only while a command runs that no person allowed by its whole text: its words do not show
 * all that it may write. A command without a checkpoint only reads, or writes in a worktree.
 */
function guard([first, ...others]: Attempts): Attempts {
  const keep = (attempt: Attempt): Attempt =>
    attempt.launch === 'plain' && attempt.checkpoint ? {...attempt, launch: 'guarded'} : attempt;
  return [keep(first), ...others.map(keep)];
}

async function judgeCommand(command: ReadCommand, access: RunAccess, context: PermissionContext): Promise<Verdict> {
  const {confinement, neverAsks, mode, sandbox} = context;
  const ruled = await judgeByRules(command, context);
  if (ruled?.verdict === 'deny') return ruled;
  if (ruled && neverAsks) return deny(`${ruled.because}, and a read-only agent does not ask`);
  const isAvailable = await sandbox.available();
  const isBound = confinement === 'worktree' || confinement === 'files';
  if (confinement === 'read-only' || (isBound && !isAvailable)) {
    const verdict =
      isAvailable && confinement === 'read-only'
        ? {...ALLOWED, attempts: READ_ONLY}
        : judgeReading(command, isAvailable, context);
    if (verdict instanceof UnclearCommand) return denyWithoutSandbox(verdict, context);
    if (verdict.verdict === 'deny' || !ruled || mode === 'bypassPermissions') return verdict;
    return {...ruled, ...(verdict.attempts && {attempts: verdict.attempts})};
  }
  const unconfined = (access.unconfined ?? false) && !isBound;
  if (confinement === 'workspace-write' && !unconfined && !isAvailable && !sandbox.isContainer) {
    return deny(
      'the settings say sandbox: required, and it does not work here (mini-cc doctor says why). Nothing was run',
    );
  }
  const launch = confinement === 'none' || unconfined || !isAvailable ? 'plain' : 'workspace-write';
  const maySandbox = isAvailable && !unconfined;
  const plan = () => ({attempts: planAttempts(command, launch, maySandbox, context)});
  const decided = await judgeAnyway(command, ruled, {unconfined, maySandbox, plan: () => plan().attempts}, context);
  if (decided) return decided.verdict === 'deny' ? decided : {...plan(), ...decided};
  const reading = judgeReading(command, isAvailable, context);
  if (reading instanceof UnclearCommand) return {...askToRun(command, context), ...plan()};
  return reading.verdict === 'ask' ? {...reading, ...plan()} : reading;
}

/**
 * Returns the verdict of the mode, the settings, an answer or a rule on any command; undefined when none of them
 * decides.
 */
async function judgeAnyway(
  command: ReadCommand,
  ruled: Restriction | undefined,
  {unconfined, maySandbox, plan}: {readonly unconfined: boolean; readonly maySandbox: boolean; plan(): Attempts},
  context: PermissionContext,
): Promise<Verdict | undefined> {
  if (context.mode === 'bypassPermissions') return {...ALLOWED, because: 'the mode bypassPermissions allows it'};
  if (ruled) return ruled;
  if (unconfined) {
    // This applies without a sandbox too: a rule that allows the command does not allow it to run with less
    // confinement.
    return {verdict: 'ask', because: 'runs a command outside of the sandbox', onlyOnce: true, onlyPerson: true};
  }
  if (context.confinement === 'workspace-write' || writesOnlyAllowed(context)) {
    return (await judgeRemovedRepository(command, context)) ?? ALLOWED;
  }
  if (context.isGranted(getRunGrant(command.text))) return {...ALLOWED, because: 'it was allowed for this session'};
  const verdict = judgeByAllowRules(command, context);
  if (verdict?.verdict !== 'allow') return verdict;
  const asked = (await judgeProtectedWrites(command, maySandbox, context)) ?? (await judgeNamedKeys(command, context));
  if (asked) return asked;
  return maySandbox && !isAllowedWhole(command, context) ? {...verdict, attempts: guard(plan())} : verdict;
}

/**
 * Asks about a command whose words remove the repository of the workspace. The sandbox lets commands write the objects
 * of git, and checkpoints borrow these, so that nothing would bring the files back.
 */
async function judgeRemovedRepository(
  command: ReadCommand,
  context: PermissionContext,
): Promise<AskVerdict | undefined> {
  const {cwd} = context.workspace;
  const repository = command.text.includes('rm') ? findReadableRepository(cwd) : undefined;
  if (!repository) return undefined;
  const {common} = repository;
  const removing = (await spellOut(command)).commands.map((each) => ({
    ...each,
    parts: each.parts.filter(
      ({words: [program, ...words]}) =>
        program?.text !== 'git' && [program, ...words].some((word) => path.basename(word?.text ?? '') === 'rm'),
    ),
  }));
  const removed = listNamedFiles(removing, context.workspace)
    .flatMap(({writes}) => writes.map((given) => resolveOr(given, cwd)))
    .find((target) => isInside(common, [target]) || isInside(target, [`${common}/objects`, `${common}/refs`]));
  if (removed === undefined) return undefined;
  const because = `removes the git repository in ${removed}, which no undo brings back`;
  return {verdict: 'ask', because, onlyOnce: true, onlyPerson: true};
}

/** Whether rules name each of its programs with all words, so that a person allowed its whole text. */
function isAllowedWhole({text, parsed}: ReadCommand, context: PermissionContext): boolean {
  const patterns = getAllowedPatterns(context);
  if (patterns.includes(toCommandPattern(text))) return true;
  if (parsed instanceof UnclearCommand || context.rules.getToolRules('bash', 'allow').length > 0) return false;
  return parsed.parts.every((part) => {
    const texts = getTextsToAllow(part);
    const isMatched = texts.some((each) => patterns.some((pattern) => matchesCommand(pattern, each)));
    // A part that no rule matches is of the literal grammar, and only reads.
    return !isMatched || texts.some((each) => patterns.includes(toCommandPattern(each)));
  });
}

/** Whether the sandbox lets a command write only files that the agent may write without a question. */
function writesOnlyAllowed({confinement, mode, workspace: {scope}}: PermissionContext): boolean {
  if (confinement !== 'files' || !scope) return false;
  return mode === 'acceptEdits' || scope.files.every((file) => scope.allowed.includes(file));
}

function askToRun(command: ReadCommand, context: PermissionContext, because = 'runs a command'): AskVerdict {
  const patterns = findPartPatterns(command, context) ?? [toCommandPattern(command.text)];
  return {verdict: 'ask', because, rules: patterns.map((pattern) => `bash(${pattern})`)};
}

/** A question names at most so many rules; for a command of more parts it names one about the whole. */
const MAX_PART_RULES = 5;

/**
 * Returns a pattern for each part of a compound command that still asks. Undefined when rules with these patterns would
 * not allow the command.
 */
function findPartPatterns(command: ReadCommand, context: PermissionContext): readonly string[] | undefined {
  const {parsed} = command;
  if (parsed instanceof UnclearCommand || parsed.parts.length < 2) return undefined;
  const allowed = getAllowedPatterns(context);
  const asking = parsed.parts.filter(
    (part) =>
      !isPermitted(part, allowed) &&
      unlessUnclear(() => judgeLiteralPart(part, parsed.shape.directories, context)) instanceof UnclearCommand,
  );
  const patterns = [...new Set(asking.map(({words}) => toCommandPattern(formatWords(words))))];
  const isEnough =
    patterns.length <= MAX_PART_RULES && judgeParts(command, [...allowed, ...patterns], context)?.verdict === 'allow';
  return isEnough ? patterns : undefined;
}

/**
 * Plans how an allowed command runs. A command that looks like reading is tried in the read-only sandbox first, except a
 * literal one that may run without a sandbox. It runs as the mode allows, with a checkpoint unless it is literal, only
 * if confinement got in its way.
 */
function planAttempts(
  {text, parsed}: ReadCommand,
  launch: Attempt['launch'],
  maySandbox: boolean,
  context: PermissionContext,
): Attempts {
  // Changes in a worktree are not in the workspace yet, so there is nothing to save. A literal command only reads. In the
  // sandbox it is tried as one that reads, so that the slow check of its words and of the repository is left out.
  const isInWorktree = context.confinement === 'worktree';
  const allowed: Attempt = {launch, checkpoint: !isInWorktree && !(launch === 'plain' && isLiteral(text, context))};
  if (isInWorktree || (launch === 'plain' && !allowed.checkpoint)) return [allowed];
  if (!maySandbox || parsed instanceof UnclearCommand || !looksLikeReading(parsed)) return [allowed];
  const isChanged =
    findHiddenPlaces(parsed, context).length > 0 || findLostVariable(text, parsed, context) !== undefined;
  return isChanged ? [allowed] : [...READ_ONLY, allowed];
}

/**
 * Returns the verdict on a command that only reads, or `UnclearCommand` for another command. What enforces it is the
 * sandbox, the container or the literal grammar.
 */
function judgeReading(
  command: ReadCommand,
  isAvailable: boolean,
  context: PermissionContext,
): Verdict | UnclearCommand {
  const {text, parsed} = command;
  if (!isAvailable && !context.sandbox.isContainer) {
    const verdict = unlessUnclear(() => judgeLiteral(text, context));
    return verdict instanceof UnclearCommand || verdict.verdict === 'deny' ? verdict : {...verdict, attempts: PLAIN};
  }
  if (parsed instanceof UnclearCommand) return parsed;
  if (!looksLikeReading(parsed)) return new UnclearCommand('it does more than read');
  if (!isAvailable) return {...ALLOWED, attempts: PLAIN};
  const hidden = findHiddenPlaces(parsed, context);
  if (hidden.length > 0) return judgeHidden(command, hidden, context);
  const variable = findLostVariable(text, parsed, context);
  if (variable !== undefined)
    return askToRun(command, context, `runs a command with $${variable}, which the sandbox hides`);
  return {...ALLOWED, because: 'the sandbox lets it only read', attempts: READ_ONLY};
}

/**
 * Asks about a command that names hidden places, or refuses it. It never passes: a link may lead elsewhere when it runs,
 * and outside of the sandbox nothing would stop it.
 */
function judgeHidden(command: ReadCommand, hidden: readonly string[], context: PermissionContext): Verdict {
  const {workspace, zonePaths} = context;
  const zones = hidden.map((place) => getFileZone(place, workspace, zonePaths));
  // Files of the workspace that the settings hide need a question, even for a literal command.
  const literal = zones.includes('workspace') ? undefined : unlessUnclear(() => judgeLiteral(command.text, context));
  const asked = askToRun(command, context, `runs a command that reads ${hidden[0]}, which the sandbox hides`);
  if (literal && !(literal instanceof UnclearCommand) && literal.verdict !== 'allow') {
    // A rule that lets `read_file` read the place would not allow the command.
    return literal.verdict === 'ask' && asked.rules ? {...literal, rules: asked.rules} : literal;
  }
  return zones.includes('secret') ? {...asked, onlyPerson: true} : asked;
}

/**
 * Asks about a command that names a place of keys which no rule names: a rule about a program was not made with keys in
 * mind.
 */
async function judgeNamedKeys(command: ReadCommand, context: PermissionContext): Promise<AskVerdict | undefined> {
  const keys = findNamedKeys((await spellOut(command)).commands, context);
  if (keys.length === 0 || isAllowedWhole(command, context)) return undefined;
  const parts = command.parsed instanceof UnclearCommand ? [] : command.parsed.parts;
  const texts = [command.text.trim(), ...parts.flatMap(getTextsToAllow)];
  const patterns = getAllowedPatterns(context).filter((each) => texts.some((text) => matchesCommand(each, text)));
  const ruled = await Promise.all(patterns.map((each) => readCommand(each.replace(/:\*$/, '')).then(spellOut)));
  const named = ruled.flatMap(({commands}) => findNamedKeys(commands, context));
  const key = keys.find((place) => !isInside(place, named));
  if (key === undefined) return undefined;
  return {...askToRun(command, context, `runs a command that reads where keys are kept: ${key}`), onlyPerson: true};
}

/** Returns the existing places of keys that the words show, except words that are only printed or are messages of git. */
function findNamedKeys(commands: readonly ParsedCommand[], {workspace, zonePaths}: PermissionContext): string[] {
  const using = commands.map((each) => ({
    ...each,
    parts: each.parts.filter(
      ({words: [program, ...words]}) =>
        !/^(?:echo|printf)$/.test(program?.text ?? '') &&
        !(program?.text === 'git' && /^(?:add|commit)$/.test(words[0]?.text ?? '')),
    ),
  }));
  const {cwd} = workspace;
  const named = listNamedFiles(using, workspace).flatMap(({reads, globs}) => [
    ...reads,
    ...globs.flatMap((pattern) => expandPattern(pattern, cwd)),
  ]);
  const places = [...new Set(named)].map((given) => resolveOr(given, cwd));
  return places.filter((place) => getFileZone(place, workspace, zonePaths) === 'secret' && existsSync(place));
}

function denyWithoutSandbox({message}: UnclearCommand, {confinement}: PermissionContext): Verdict {
  const agent =
    confinement === 'read-only'
      ? 'a read-only agent'
      : `an agent ${confinement === 'files' ? 'of a fan-out' : 'in a worktree'}`;
  return deny(
    `${message}; without a sandbox ${agent} runs only plain commands that only read (mini-cc doctor says how to get one)`,
  );
}

function judgeByAllowRules(command: ReadCommand, context: PermissionContext): Verdict | undefined {
  const {rules} = context;
  const pattern = toCommandPattern(command.text);
  const allows = rules.getPatternRules(['bash'], 'allow');
  const allowed = rules.getToolRules('bash', 'allow')[0] ?? allows.find((rule) => rule.pattern === pattern);
  if (allowed) return {...ALLOWED, because: `${formatRule(allowed)} allows it`};
  return judgeParts(command, getAllowedPatterns(context), context);
}

function getAllowedPatterns({rules}: PermissionContext): readonly string[] {
  return rules.getPatternRules(['bash'], 'allow').map(({pattern}) => pattern);
}

/** Whether rules with these patterns allow the part. */
function isPermitted(part: CommandPart, patterns: readonly string[]): boolean {
  return (
    part.words[0]?.text !== 'cd' &&
    part.expanded[0]?.kind === 'text' &&
    getTextsToAllow(part).some((each) => patterns.some((pattern) => matchesCommand(pattern, each)))
  );
}

/**
 * Judges by the patterns of allow rules: each part must match one or belong to the literal grammar. Otherwise it returns
 * undefined.
 */
function judgeParts(
  {parsed}: ReadCommand,
  patterns: readonly string[],
  context: PermissionContext,
): Verdict | undefined {
  if (parsed instanceof UnclearCommand || parsed.shape.doubt !== undefined) return undefined;
  const {parts, shape} = parsed;
  const others = parts.filter((part) => !isPermitted(part, patterns));
  if (others.length === parts.length && shape.writes.length === 0) return undefined;
  const changesShell = parts.some((part) => !others.includes(part) && changesTheShell(part));
  const verdict = unlessUnclear(() => {
    for (const part of parts) checkAssignments(part, others.includes(part));
    if (changesShell && others.length > 0) throw new UnclearCommand('it runs in a shell that was changed before');
    const inFolders = (paths: readonly string[]) =>
      shape.directories.flatMap((folder) => paths.map((each) => joinPath(folder, each)));
    return combineVerdicts([
      ...others.map((part) => judgeLiteralPart(part, shape.directories, context)),
      ...inFolders(shape.inputs).map((each) => judgeRead(each, {...context, tool: 'read_file'})),
      ...inFolders(shape.writes).map((each) => judgeWrite(each, {...context, tool: 'edit_file'})),
    ]);
  });
  if (verdict instanceof UnclearCommand) return undefined;
  return verdict.verdict === 'ask' ? {...verdict, because: `runs a command that ${verdict.because}`} : verdict;
}

function checkAssignments({node}: CommandPart, isLiteralPart: boolean): void {
  for (const each of node.prefix) {
    if (each.type === 'Assignment' && (isLiteralPart || !isHarmlessAssignment(each))) {
      throw new UnclearCommand('it sets a variable');
    }
  }
}

/** These builtins change the shell itself, so the meaning of later words is not known. */
const CHANGES_THE_SHELL: ReadonlySet<string | undefined> = new Set(
  listWords(`
  source . eval export set shopt alias unalias unset declare typeset readonly local read mapfile readarray trap
  enable exec pushd popd hash builtin command printf let getopts complete bind
`),
);

function changesTheShell({node, words}: CommandPart): boolean {
  return CHANGES_THE_SHELL.has(words[0]?.text) || node.args.some(({type}) => type === 'Assignment');
}

/**
 * Asks each time about a command whose words may name a protected file that it writes, even if a rule allows the
 * command. A command that looks like reading runs in the read-only sandbox only.
 */
async function judgeProtectedWrites(
  command: ReadCommand,
  maySandbox: boolean,
  context: PermissionContext,
): Promise<Verdict | undefined> {
  const {parsed, text} = command;
  if (parsed instanceof UnclearCommand || isLiteral(text, context)) return undefined;
  const {commands} = await spellOut(command);
  const found = findProtectedWrite(commands, context) ?? (maySandbox ? undefined : findUnpacked(commands, context));
  if (found === undefined) return undefined;
  if (maySandbox && looksLikeReading(parsed)) return {...ALLOWED, attempts: READ_ONLY};
  return {verdict: 'ask', because: `runs a command that may write a protected file: ${found}`, onlyPerson: true};
}

function findProtectedWrite(
  commands: readonly ParsedCommand[],
  {workspace, zonePaths}: PermissionContext,
): string | undefined {
  return listNamedFiles(commands, workspace)
    .flatMap(({mayWrite}) => mayWrite.map((given) => resolveOr(given, workspace.cwd)))
    .find((target) => isAlwaysAsked(target, workspace, zonePaths));
}

/** Programs that write files whose names are in an archive or a patch, and not in their words. */
const UNPACKERS = /^(?:tar|bsdtar|unzip|cpio|7z[ar]?|unar|rsync|patch)$/;
const KEPT_NAMES = ['.git', '.mini-cc', '.claude', '.ssh', '.gitconfig', '.bashrc', '.profile', '.zshrc'];

/**
 * Returns a protected place in a folder into which a program may unpack. No sandbox keeps these places, so that the
 * command is asked about.
 */
function findUnpacked(commands: readonly ParsedCommand[], {workspace}: PermissionContext): string | undefined {
  const {cwd} = workspace;
  const programs = commands.flatMap(({parts}) => parts.map(({words}) => path.basename(words[0]?.text ?? '')));
  if (!programs.some((program) => UNPACKERS.test(program))) return undefined;
  const folders = [cwd, ...listNamedFiles(commands, workspace).flatMap(({mayWrite}) => mayWrite)].map((each) =>
    resolveOr(each, cwd),
  );
  return folders
    .flatMap((folder) => KEPT_NAMES.map((name) => path.join(folder, name)))
    .find((each) => existsSync(each));
}

/** A word that no path can be, or a circle of links, counts as the current folder. */
function resolveOr(given: string, cwd: string): string {
  return tryOr(() => resolveWord(given, cwd), cwd);
}

/** Says for a command that is asked about which places its words show, as `judgeRead` and `judgeWrite` do. */
async function findAskedPlaces(
  command: ReadCommand,
  context: PermissionContext,
  isGuarded: boolean,
): Promise<Pick<AskVerdict, 'onlyPerson' | 'isOutside'>> {
  const {workspace, zonePaths} = context;
  const {commands} = await spellOut(command);
  const isOutside = (given: string) =>
    /^(?:secret|outside)$/.test(getFileZone(resolveOr(given, workspace.cwd), workspace, zonePaths));
  const named = listNamedFiles(commands, workspace).flatMap(({reads, mayWrite}) => [...reads, ...mayWrite]);
  return {
    ...((findProtectedWrite(commands, context) ?? (isGuarded ? undefined : findUnpacked(commands, context))) !==
      undefined && {onlyPerson: true}),
    ...((command.parsed instanceof UnclearCommand || named.some(isOutside)) && {isOutside: true}),
  };
}
