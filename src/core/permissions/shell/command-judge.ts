/** Judges a command, once: whether it may run, and how. By rules, part by part; by what is proven of it; by its sandbox. */
import {existsSync} from 'node:fs';
import type {Access, Confinement} from '../../contract/access.ts';
import type {Attempt, Attempts, Verdict} from '../../contract/permission.ts';
import {isInside} from '../../util/paths.ts';
import type {PermissionContext} from '../context.ts';
import {judgeRead, judgeWrite} from '../files/file-judge.ts';
import {filesBelow, matchingPlaces} from '../files/file-patterns.ts';
import {isAlwaysAsked, placeOf, rootsOf} from '../files/file-zone.ts';
import {resolveLinks} from '../files/paths.ts';
import {runGrant} from '../grants.ts';
import {exactCommand, matchesCommand, spellingsOf, textsToAllow} from '../rules/command-rule.ts';
import {ruleWords} from '../rules/rule-book.ts';
import {ALLOWED, combineVerdicts, deny} from '../verdict.ts';
import {type ParsedCommand, parseCommand} from './command-parser.ts';
import {CommandWalk, type PermitsPart} from './command-walk.ts';
import {isCleanPath, programsNamed} from './reading-environment.ts';
import {START} from './shell-state.ts';
import {NotProven} from './shell-words.ts';

type Run = Extract<Access, {kind: 'run'}>;
type Refused = Exclude<Verdict, {verdict: 'allow'}>;
/** `proven`: it only reads, in the environment for reading; it runs there without a sandbox and a checkpoint. */
type CommandVerdict = Verdict & {readonly proven?: boolean};

/**
 * Where the agent's commands run here. `proven-only`: there is no sandbox, so a command that is proven to only read
 * runs, plainly. `refused`: no command runs.
 */
type Place = Attempt['launch'] | 'proven-only' | 'refused';

export async function judgeRun({command, unconfined = false}: Run, context: PermissionContext): Promise<Verdict> {
  const {confinement} = context;
  // Without confinement the sandbox need not be tried.
  const isAvailable = confinement !== 'none' && (await context.sandboxAvailable());
  const place = getPlace(confinement, isAvailable, unconfined);
  const read = new CommandReading(command);
  const {proven = false, ...verdict} = await judge(read, place, unconfined, context);
  if (verdict.verdict === 'deny') return verdict;
  return {...verdict, attempts: proven ? [READING] : await planAttempts(read, place, unconfined, context)};
}

const READING: Attempt = {launch: 'plain', checkpoint: false, environment: 'reading'};

function getPlace(confinement: Confinement, isAvailable: boolean, unconfined: boolean): Place {
  switch (confinement) {
    case 'none':
      return 'plain';
    case 'read-only':
      return isAvailable ? 'read-only' : 'proven-only';
    case 'worktree':
      return isAvailable ? 'workspace-write' : 'proven-only';
    case 'workspace-write':
      if (unconfined) return 'plain';
      return isAvailable ? 'workspace-write' : 'refused';
  }
}

async function judge(
  read: CommandReading,
  place: Place,
  unconfined: boolean,
  context: PermissionContext,
): Promise<CommandVerdict> {
  const {confinement, neverAsks, mode} = context;
  const ruled = await judgeByRules(read, context);
  if (ruled?.verdict === 'deny') return ruled;
  if (ruled && neverAsks) return deny(`${ruled.because}, and a read-only agent does not ask`);
  if (place === 'refused')
    return deny(
      'the settings say sandbox: required, and it does not work here (mini-cc doctor says why). Nothing was run',
    );
  if (place === 'proven-only') {
    const verdict = await judgeWithoutSandbox(read, context);
    return verdict.verdict === 'deny' || !ruled ? verdict : {...ruled, proven: true};
  }
  if (mode === 'bypassPermissions') return {...ALLOWED, because: 'the mode bypassPermissions allows it'};
  if (ruled) return ruled;
  if (place === 'read-only') return ALLOWED;
  // Also where no sandbox is used: a call that asks for less confinement is not allowed by what allows the command.
  if (place === 'plain' && unconfined) {
    return {verdict: 'ask', because: 'runs a command outside of the sandbox', onlyOnce: true, onlyPerson: true};
  }
  if (place === 'workspace-write' && confinement === 'workspace-write') return ALLOWED;
  if (context.isGranted(runGrant(read.command))) return {...ALLOWED, because: 'it was allowed for this session'};
  const verdict = await judgeParts(read, context);
  return verdict.verdict === 'deny' ? verdict : ((await judgeProtectedWrites(read, context)) ?? verdict);
}

/**
 * How an allowed command runs. What looks like reading and is not harmless for certain is tried in the read-only
 * sandbox first, and outside, with a checkpoint, only where confinement got in its way.
 */
async function planAttempts(
  read: CommandReading,
  place: Place,
  unconfined: boolean,
  context: PermissionContext,
): Promise<Attempts> {
  if (place === 'read-only') return [{launch: 'read-only', checkpoint: false}];
  const launch = place === 'workspace-write' ? place : 'plain';
  // Nothing of a worktree is in the workspace yet.
  if (context.confinement === 'worktree') return [{launch, checkpoint: false}];
  const reading = await getReading(read, context);
  if (reading === 'certain') return [{launch, checkpoint: false}];
  const checkpointed: Attempt = {launch, checkpoint: true};
  if (reading === 'none' || launch !== 'plain' || unconfined) return [checkpointed];
  return (await context.sandboxAvailable()) ? [{launch: 'read-only', checkpoint: false}, checkpointed] : [checkpointed];
}

/**
 * How sure it is that the command only reads in the environment of the agent: `certain`, `likely` by its words, where
 * settings of a repository or files that a pattern matches may make it do more, or `none`.
 */
async function getReading(read: CommandReading, context: PermissionContext): Promise<'certain' | 'likely' | 'none'> {
  let walk: CommandWalk;
  try {
    walk = await read.walk(() => false);
  } catch (error) {
    if (error instanceof NotProven) return 'none';
    throw error;
  }
  if (!walk.ran || walk.writes.size > 0) return 'none';
  try {
    assertNamesNoPrograms(walk, context, true);
    return 'certain';
  } catch (error) {
    if (error instanceof NotProven) return 'likely';
    throw error;
  }
}

/** A command, parsed once, when that is first needed. */
class CommandReading {
  #parsed: Promise<ParsedCommand | NotProven> | undefined;

  constructor(readonly command: string) {}

  /** @returns why it cannot be parsed, where that is so. */
  async parts(): Promise<ParsedCommand | NotProven> {
    this.#parsed ??= parseCommand(this.command).catch((error: unknown) => {
      if (error instanceof NotProven) return error;
      throw error;
    });
    return this.#parsed;
  }

  /** @throws NotProven where a part is neither proven nor permitted. */
  async walk(permits: PermitsPart, isTolerant = false): Promise<CommandWalk> {
    const parsed = await this.parts();
    if (parsed instanceof NotProven) throw parsed;
    const walk = new CommandWalk(permits, isTolerant);
    walk.list(parsed.shell.script, START);
    return walk;
  }
}

/** A rule that refuses or asks about some part of it, or about a file that the command line names. */
async function judgeByRules(read: CommandReading, context: PermissionContext): Promise<Refused | undefined> {
  const {rules, mode, neverAsks} = context;
  const [denies, asks] = [rules.within(['bash'], 'deny'), rules.within(['bash'], 'ask')];
  if (denies.length + asks.length > 0) {
    const {texts, doubt} = await getSpellings(read);
    const denied = denies.find((rule) => texts.some((text) => matchesCommand(rule.about, text)));
    if (denied) return {verdict: 'deny', because: `${ruleWords(denied)} refuses it`};
    const mustAsk = mode !== 'bypassPermissions' && !neverAsks;
    if (doubt !== undefined && denies.length > 0) {
      const because = `${doubt}, so whether a rule refuses it cannot be told`;
      return mustAsk
        ? {verdict: 'ask', because, onlyOnce: true}
        : {verdict: 'deny', because: `${because}: write it plainly`};
    }
    const asked = asks.find((rule) => texts.some((text) => matchesCommand(rule.about, text)));
    if (asked) return {verdict: 'ask', because: `runs a command: ${ruleWords(asked)}`, onlyOnce: true};
  }
  return judgeVisibleFiles(read, context);
}

/** All spellings of all its parts, and why there may be more. */
async function getSpellings(read: CommandReading): Promise<{texts: readonly string[]; doubt?: string}> {
  const parts = await read.parts();
  const whole = read.command.trim();
  if (parts instanceof NotProven) return {texts: [whole], doubt: `the command is not understood (${parts.message})`};
  const spellings = await Promise.all(parts.parts.map((part) => spellingsOf(part)));
  const texts = [whole, ...spellings.flatMap((each) => each.texts)];
  return spellings.some(({isUnsure}) => isUnsure) ? {texts, doubt: 'a part of it is known only when it runs'} : {texts};
}

/** Rules about files hold for what the command line shows to be read and written; the rest they cannot see. */
async function judgeVisibleFiles(read: CommandReading, context: PermissionContext): Promise<Refused | undefined> {
  const {rules} = context;
  const tools = ['read_file', 'edit_file'];
  if (rules.within(tools, 'deny').length + rules.within(tools, 'ask').length === 0) return undefined;
  const walk = await walkTolerantly(read);
  if (!walk) return undefined;
  const {cwd} = context.workspace;
  const matching = [...walk.globs].flatMap((pattern) => matchingPlaces(pattern, cwd, true) ?? []);
  const found = [...walk.searches].flatMap((place) => filesBelow(resolveLinks(place, cwd)));
  const verdict = combineVerdicts([
    ...[...walk.reads, ...matching, ...found].map((place) => judgeByFileRules('read_file', place, context)),
    ...[...walk.writes, ...walk.programWrites].map((place) => judgeByFileRules('edit_file', place, context)),
  ]);
  return verdict.verdict === 'allow' ? undefined : verdict;
}

/** Undefined for a command that is not understood: it was judged as that. */
async function walkTolerantly(read: CommandReading): Promise<CommandWalk | undefined> {
  try {
    return await read.walk(() => false, true);
  } catch (error) {
    if (error instanceof NotProven) return undefined;
    throw error;
  }
}

function judgeByFileRules(tool: string, given: string, {rules, workspace}: PermissionContext): Verdict {
  const targets = [resolveLinks(given, workspace.cwd)];
  const denied = rules.aboutFile(tool, 'deny', targets, workspace.root);
  if (denied) return deny(`${ruleWords(denied)} refuses ${targets[0]}`);
  const asked = rules.aboutFile(tool, 'ask', targets, workspace.root);
  return asked
    ? {verdict: 'ask', because: `runs a command on ${targets[0]}: ${ruleWords(asked)}`, onlyOnce: true}
    : ALLOWED;
}

/** There is no sandbox: only what is proven to read runs. */
async function judgeWithoutSandbox(read: CommandReading, context: PermissionContext): Promise<CommandVerdict> {
  const verdict = await judgeProven(read, context);
  if (typeof verdict !== 'string') return verdict;
  const who = context.confinement === 'read-only' ? 'a read-only agent' : 'an agent in a worktree';
  return deny(
    `${verdict}; without a sandbox ${who} runs only commands that are proven to only read (mini-cc doctor says how to get one)`,
  );
}

/** @returns in a few words why it is not proven, or the verdict on the places that it reads. */
async function judgeProven(read: CommandReading, context: PermissionContext): Promise<CommandVerdict | string> {
  try {
    const walk = await read.walk(() => false);
    if (walk.writes.size > 0) return 'it writes to a file';
    const verdict = judgeWalk(walk, {...context, tool: 'read_file'});
    return verdict.verdict === 'deny' ? verdict : {...verdict, proven: true};
  } catch (error) {
    if (error instanceof NotProven) return error.message;
    throw error;
  }
}

/** Each part has to be allowed by a rule, or proven to only read. */
async function judgeParts(read: CommandReading, context: PermissionContext): Promise<CommandVerdict> {
  const {rules, workspace} = context;
  const {command} = read;
  const ask: Verdict = {verdict: 'ask', because: 'runs a command', rule: `bash(${exactCommand(command)})`};
  const allows = rules.within(['bash'], 'allow');
  const whole = command.trim();
  const [byTool] = rules.about('bash', 'allow');
  const byText = allows.find((rule) => rule.about === exactCommand(whole));
  if (byTool || byText) return {...ALLOWED, because: `${ruleWords((byTool ?? byText)!)} allows it`};
  const parts = await read.parts();
  if (parts instanceof NotProven) return ask;
  const permitted = new Set(
    parts.parts
      .filter((part) => textsToAllow(part).some((text) => allows.some((rule) => matchesCommand(rule.about, text))))
      .map(({node}) => node),
  );
  try {
    const walk = await read.walk((node) => permitted.has(node));
    const isPlain = walk.byRule || walk.writes.size > 0;
    // The environment for reading keeps programs of the project away; that of the agent does not.
    if (isPlain && walk.readsByProgram && !isCleanPath(workspace.env.PATH ?? '', rootsOf(workspace))) return ask;
    const verdict = judgeWalk(walk, context, isPlain);
    if (verdict.verdict === 'deny') return verdict;
    if (verdict.verdict === 'allow') return {...verdict, proven: !isPlain};
    return {...verdict, because: `runs a command that ${verdict.because}`, proven: !isPlain};
  } catch (error) {
    if (error instanceof NotProven) return ask;
    throw error;
  }
}

/** A write of a protected file that the command line shows is asked about each time, whatever allows the command. */
async function judgeProtectedWrites(
  read: CommandReading,
  {workspace, places}: PermissionContext,
): Promise<Verdict | undefined> {
  const walk = await walkTolerantly(read);
  const found = [...(walk?.writes ?? []), ...(walk?.programWrites ?? [])]
    .map((place) => resolveLinks(place, workspace.cwd))
    .find((target) => isAlwaysAsked(target, workspace, places));
  return found === undefined
    ? undefined
    : {verdict: 'ask', because: `runs a command that writes a protected file: ${found}`, onlyPerson: true};
}

/** The places that it reads and writes, each judged like that of a tool. @param isPlain it gets the agent's environment */
function judgeWalk(walk: CommandWalk, context: PermissionContext, isPlain = false): Verdict {
  const reading: PermissionContext = {...context, tool: 'read_file'};
  const writing: PermissionContext = {...context, tool: 'edit_file'};
  const matching = assertNamesNoPrograms(walk, context, isPlain);
  return combineVerdicts([
    ...[...walk.reads].map((place) =>
      walk.searches.has(place) ? judgeSearched(place, reading) : judgeRead(place, reading),
    ),
    ...matching.map((place) => judgeSearched(place, reading)),
    ...[...walk.writes].map((place) => judgeWrite(place, writing)),
  ]);
}

/**
 * Neither a file that a pattern matches, nor the settings of a repository make it run a program.
 * @param isPlain it gets the agent's environment, not the one for reading
 * @returns the places that its patterns match. @throws NotProven
 */
function assertNamesNoPrograms(walk: CommandWalk, context: PermissionContext, isPlain: boolean): string[] {
  const {workspace, rules} = context;
  const matching = [...walk.globs].flatMap((pattern) => {
    const places = matchingPlaces(pattern, workspace.cwd, rules.refusesReading('read_file'));
    if (!places) throw new NotProven(`${pattern} matches more than plain files`);
    return places;
  });
  for (const folder of walk.repositories) {
    const found = programsNamed(resolveLinks(folder, workspace.cwd), isPlain);
    if (found !== undefined) throw new NotProven(`git may run programs: ${found}`);
  }
  return matching;
}

/** A command may look into all that lies below a folder. */
function judgeSearched(given: string, context: PermissionContext): Verdict {
  const verdict = judgeRead(given, context);
  if (verdict.verdict !== 'allow' || context.mode === 'bypassPermissions') return verdict;
  const {workspace, places} = context;
  const target = resolveLinks(given, workspace.cwd);
  // A place of keys, and a folder of mini-cc's own, were judged as that.
  if (!['workspace', 'outside'].includes(placeOf(target, workspace, places))) return verdict;
  const below = places.secretPlaces.find((place) => place !== target && isInside(place, [target]) && existsSync(place));
  if (below === undefined) return verdict;
  return context.neverAsks
    ? deny(`${below} is where keys are kept`)
    : {verdict: 'ask', because: `reads where keys are kept: ${below}`, onlyPerson: true};
}
