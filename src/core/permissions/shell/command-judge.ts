/** Judges a command, once: whether it may run, and how. By rules, part by part; by what is proven of it; by its sandbox. */
import {existsSync} from 'node:fs';
import path from 'node:path';
import type {Access, Attempt, Attempts, Confinement, Verdict} from '../../contract/permission.ts';
import {isInside} from '../../util/paths.ts';
import type {PermissionContext} from '../context.ts';
import {judgeRead, judgeWrite} from '../files/file-judge.ts';
import {expandPattern} from '../files/file-patterns.ts';
import {getFileZone, getRoots, isAlwaysAsked} from '../files/file-zone.ts';
import {resolveLinks} from '../files/paths.ts';
import {getRunGrant} from '../grants.ts';
import {getTextsToAllow, matchesCommand, toCommandPattern} from '../rules/command-rule.ts';
import {judgeByRules} from '../rules/command-rules.ts';
import {formatRule} from '../rules/rule.ts';
import {ALLOWED, combineVerdicts, deny} from '../verdict.ts';
import {CommandReading, unlessNotProven} from './command-reading.ts';
import type {CommandWalk, PermitsPart} from './command-walk.ts';
import {findNamedPrograms, findRepositoryFolders, isPathOutside} from './reading-environment.ts';
import {NotProven} from './shell-words.ts';

type RunAccess = Extract<Access, {kind: 'run'}>;
/** `proven`: it only reads, in the environment for reading; it runs there without a sandbox and a checkpoint. */
type CommandVerdict = Verdict & {readonly proven?: boolean};

/**
 * How the agent's commands run here. `proven-only`: there is no sandbox, so only a command that is proven to only read
 * runs, plainly. `refused`: no command runs.
 */
type LaunchMode = Attempt['launch'] | 'proven-only' | 'refused';

export async function judgeRun(access: RunAccess, context: PermissionContext): Promise<Verdict> {
  const {confinement} = context;
  const {unconfined = false} = access;
  // Without confinement, the check for a sandbox is not needed: it takes time.
  const isAvailable = confinement !== 'none' && (await context.sandbox.available());
  const mode = getLaunchMode(confinement, isAvailable, unconfined);
  const command = new CommandReading(access.command);
  const {proven = false, ...verdict} = await judge(command, mode, unconfined, context);
  if (verdict.verdict === 'deny') return verdict;
  return {...verdict, attempts: proven ? [READING] : await planAttempts(command, mode, unconfined, context)};
}

const READING: Attempt = {launch: 'plain', checkpoint: false, environment: 'reading'};

function getLaunchMode(confinement: Confinement, isAvailable: boolean, unconfined: boolean): LaunchMode {
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
  command: CommandReading,
  launchMode: LaunchMode,
  unconfined: boolean,
  context: PermissionContext,
): Promise<CommandVerdict> {
  const {confinement, neverAsks, mode} = context;
  const ruled = await judgeByRules(command, context);
  if (ruled?.verdict === 'deny') return ruled;
  if (ruled && neverAsks) return deny(`${ruled.because}, and a read-only agent does not ask`);
  if (launchMode === 'refused')
    return deny(
      'the settings say sandbox: required, and it does not work here (mini-cc doctor says why). Nothing was run',
    );
  if (launchMode === 'proven-only') {
    const verdict = await judgeWithoutSandbox(command, context);
    return verdict.verdict === 'deny' || !ruled ? verdict : {...ruled, proven: true};
  }
  if (mode === 'bypassPermissions') return {...ALLOWED, because: 'the mode bypassPermissions allows it'};
  if (ruled) return ruled;
  if (launchMode === 'read-only') return ALLOWED;
  // Also where no sandbox is used: a rule that allows the command does not allow it to run with less confinement.
  if (launchMode === 'plain' && unconfined) {
    return {verdict: 'ask', because: 'runs a command outside of the sandbox', onlyOnce: true, onlyPerson: true};
  }
  if (launchMode === 'workspace-write' && confinement === 'workspace-write') return ALLOWED;
  if (context.isGranted(getRunGrant(command.text))) return {...ALLOWED, because: 'it was allowed for this session'};
  const verdict = await judgeParts(command, context);
  return verdict.verdict === 'deny' ? verdict : ((await judgeProtectedWrites(command, context)) ?? verdict);
}

/**
 * How an allowed command runs. A command that seems to only read, but not for certain, is tried in the read-only sandbox
 * first, and outside, with a checkpoint, only when confinement got in its way.
 */
async function planAttempts(
  command: CommandReading,
  mode: LaunchMode,
  unconfined: boolean,
  context: PermissionContext,
): Promise<Attempts> {
  if (mode === 'read-only') return [{launch: 'read-only', checkpoint: false}];
  const launch = mode === 'workspace-write' ? mode : 'plain';
  // The workspace has no changes of a worktree yet, so there is nothing to save.
  if (context.confinement === 'worktree') return [{launch, checkpoint: false}];
  const certainty = await getReadingCertainty(command, context);
  if (certainty === 'certain') return [{launch, checkpoint: false}];
  const checkpointed: Attempt = {launch, checkpoint: true};
  if (certainty === 'none' || launch !== 'plain' || unconfined) return [checkpointed];
  return (await context.sandbox.available())
    ? [{launch: 'read-only', checkpoint: false}, checkpointed]
    : [checkpointed];
}

/**
 * How certain it is that the command only reads in the environment of the agent. `likely`: by its words it only reads, but
 * settings of a repository or files that match a pattern may make it do more; and all that it names is in the
 * workspace, so that it finds the same in the read-only sandbox.
 */
async function getReadingCertainty(
  command: CommandReading,
  context: PermissionContext,
): Promise<'certain' | 'likely' | 'none'> {
  const walk = await unlessNotProven(() => command.walk(() => false));
  if (walk instanceof NotProven || !walk.ran || walk.writes.size > 0) return 'none';
  const result = await unlessNotProven(async () => {
    checkPath(walk, context);
    expandPatterns(walk, context);
    checkRepositories(walk, context, true);
  });
  if (!(result instanceof NotProven)) return 'certain';
  return namesOnlyWorkspace(walk, context) ? 'likely' : 'none';
}

/** @throws NotProven where a program of the project could run in place of a known one */
function checkPath({readsByProgram}: CommandWalk, {workspace}: PermissionContext): void {
  const {PATH} = workspace.env;
  if (readsByProgram && PATH !== undefined && !isPathOutside(PATH, getRoots(workspace))) {
    throw new NotProven('a folder of PATH lies in the workspace');
  }
}

/** False also where a path cannot be resolved. */
function namesOnlyWorkspace(walk: CommandWalk, {workspace, zonePaths}: PermissionContext): boolean {
  const {cwd} = workspace;
  const isInWorkspace = (given: string) => {
    const target = resolveLinks(given, cwd);
    // The sandbox shows a folder of keys without what is in it.
    const holdsKeys = zonePaths.secretPaths.some((place) => isInside(place, [target]) && existsSync(place));
    return target === '/dev/null' || (getFileZone(target, workspace, zonePaths) === 'workspace' && !holdsKeys);
  };
  try {
    const repositories = [...walk.repositories].flatMap((folder) => findRepositoryFolders(resolveLinks(folder, cwd)));
    const searched = [...walk.globs].map((pattern) => path.dirname(`${/^[^*?[]*/.exec(pattern)?.[0]}*`));
    return [cwd, ...walk.reads, ...repositories, ...searched].every(isInWorkspace);
  } catch {
    return false;
  }
}

/** Without a sandbox, only commands that are proven to only read run. */
async function judgeWithoutSandbox(command: CommandReading, context: PermissionContext): Promise<CommandVerdict> {
  const verdict = await unlessNotProven(() => judgeProven(command, context));
  if (!(verdict instanceof NotProven)) return verdict;
  const agent = context.confinement === 'read-only' ? 'a read-only agent' : 'an agent in a worktree';
  return deny(
    `${verdict.message}; without a sandbox ${agent} runs only commands that are proven to only read (mini-cc doctor says how to get one)`,
  );
}

/** The verdict on the files that the command reads. @throws NotProven when it may do more than read */
async function judgeProven(command: CommandReading, context: PermissionContext): Promise<CommandVerdict> {
  const walk = await command.walk(() => false);
  if (walk.writes.size > 0) throw new NotProven('it writes to a file');
  const verdict = judgeWalk(walk, {...context, tool: 'read_file'}, false);
  return verdict.verdict === 'deny' ? verdict : {...verdict, proven: true};
}

/** Judges by allow rules: each part must be allowed by a rule, or proven to only read. */
async function judgeParts(command: CommandReading, context: PermissionContext): Promise<CommandVerdict> {
  const {rules} = context;
  const pattern = toCommandPattern(command.text);
  const ask: Verdict = {verdict: 'ask', because: 'runs a command', rule: `bash(${pattern})`};
  const allows = rules.getPatternRules(['bash'], 'allow');
  const allowed = rules.getToolRules('bash', 'allow')[0] ?? allows.find((rule) => rule.pattern === pattern);
  if (allowed) return {...ALLOWED, because: `${formatRule(allowed)} allows it`};
  const parsed = await command.parse();
  if (parsed instanceof NotProven) return ask;
  const permitted = new Set(
    parsed.parts
      .filter((part) => getTextsToAllow(part).some((text) => allows.some((rule) => matchesCommand(rule.pattern, text))))
      .map(({node}) => node),
  );
  const verdict = await unlessNotProven(() => judgePermittedParts(command, (node) => permitted.has(node), context));
  return verdict instanceof NotProven ? ask : verdict;
}

/** @throws NotProven when a part is neither permitted nor proven to only read */
async function judgePermittedParts(
  command: CommandReading,
  permits: PermitsPart,
  context: PermissionContext,
): Promise<CommandVerdict> {
  const walk = await command.walk(permits);
  const proven = !walk.byRule && walk.writes.size === 0;
  // The environment for reading does not run programs of the project. That of the agent may.
  if (!proven) checkPath(walk, context);
  const verdict = judgeWalk(walk, context, !proven);
  if (verdict.verdict === 'deny') return verdict;
  if (verdict.verdict === 'allow') return {...verdict, proven};
  return {...verdict, because: `runs a command that ${verdict.because}`, proven};
}

/** A command whose words show that it writes a protected file is asked about each time, also where a rule allows it. */
async function judgeProtectedWrites(
  command: CommandReading,
  {workspace, zonePaths}: PermissionContext,
): Promise<Verdict | undefined> {
  const walk = await unlessNotProven(() => command.walk(() => false, true));
  if (walk instanceof NotProven) return undefined;
  const found = [...walk.writes, ...walk.programWrites]
    .map((given) => resolveLinks(given, workspace.cwd))
    .find((target) => isAlwaysAsked(target, workspace, zonePaths));
  return found === undefined
    ? undefined
    : {verdict: 'ask', because: `runs a command that writes a protected file: ${found}`, onlyPerson: true};
}

/**
 * The verdict on what the command reads and writes: each file is judged like that of a tool.
 * @param inAgentEnvironment it runs in the environment of the agent, not in the one for reading
 * @throws NotProven as `expandPatterns` and `checkRepositories`
 */
function judgeWalk(walk: CommandWalk, context: PermissionContext, inAgentEnvironment: boolean): Verdict {
  const reading: PermissionContext = {...context, tool: 'read_file'};
  const writing: PermissionContext = {...context, tool: 'edit_file'};
  const matching = expandPatterns(walk, context);
  checkRepositories(walk, context, inAgentEnvironment);
  return combineVerdicts([
    ...[...walk.reads].map((each) => (walk.searches.has(each) ? judgeSearch(each, reading) : judgeRead(each, reading))),
    ...matching.map((each) => judgeSearch(each, reading)),
    ...[...walk.writes].map((each) => judgeWrite(each, writing)),
  ]);
}

/** What the command's patterns match. @throws NotProven when a program may take a name that matches for an option */
function expandPatterns(walk: CommandWalk, {workspace, rules}: PermissionContext): string[] {
  return [...walk.globs].flatMap((pattern) => {
    const targets = expandPattern(pattern, workspace.cwd, rules.restrictsFiles('read_file'));
    if (!targets) throw new NotProven(`${pattern} matches more than plain files`);
    return targets;
  });
}

/** @throws NotProven when the settings of a repository name programs that git would run */
function checkRepositories(walk: CommandWalk, {workspace}: PermissionContext, inAgentEnvironment: boolean): void {
  for (const folder of walk.repositories) {
    const found = findNamedPrograms(resolveLinks(folder, workspace.cwd), inAgentEnvironment);
    if (found !== undefined) throw new NotProven(`git may run programs: ${found}`);
  }
}

/** Judges a search below a folder: like reading it, and it is asked about when keys lie below the folder. */
function judgeSearch(given: string, context: PermissionContext): Verdict {
  const verdict = judgeRead(given, context);
  if (verdict.verdict !== 'allow' || context.mode === 'bypassPermissions') return verdict;
  const {workspace, zonePaths} = context;
  const target = resolveLinks(given, workspace.cwd);
  const zone = getFileZone(target, workspace, zonePaths);
  // A search inside a secret folder, or in a folder of mini-cc, was judged as that.
  if (zone === 'secret' || zone === 'own') return verdict;
  const below = zonePaths.secretPaths.find((each) => each !== target && isInside(each, [target]) && existsSync(each));
  if (below === undefined) return verdict;
  return context.neverAsks
    ? deny(`${below} is where keys are kept`)
    : {verdict: 'ask', because: `reads where keys are kept: ${below}`, onlyPerson: true};
}
