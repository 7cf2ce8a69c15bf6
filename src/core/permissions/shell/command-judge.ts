/** Whether a command may run: by rules, part by part, by what is proven of it, and by what holds it. */
import {existsSync} from 'node:fs';
import type {Access} from '../../contract/access.ts';
import type {Verdict} from '../../contract/permission.ts';
import {isInside} from '../../util/inside.ts';
import type {Case} from '../case.ts';
import {holdOf} from '../confinement.ts';
import {judgeRead, judgeWrite} from '../files/file-judge.ts';
import {isAlwaysAsked, placeOf, rootsOf} from '../files/file-zone.ts';
import {filesBelow, matchingPlaces} from '../files/matching-files.ts';
import {resolveLinks} from '../files/paths.ts';
import {runGrant} from '../grants.ts';
import {exactCommand, matchesCommand, spellingsOf, textsToAllow} from '../rules/command-rule.ts';
import {ruleWords} from '../rules/rule-book.ts';
import {ALLOWED, deny, worst} from '../verdict.ts';
import {type ReadCommand, readCommand} from './command-parts.ts';
import {CommandWalk, type PermitsPart} from './command-walk.ts';
import {programsNamed} from './git-settings.ts';
import {isCleanPath} from './proven-environment.ts';
import {START} from './shell-places.ts';
import {NotProven} from './shell-script.ts';

type Run = Extract<Access, {kind: 'run'}>;

export async function judgeRun({command, unconfined = false}: Run, about: Case): Promise<Verdict> {
  const {confinement, neverAsks, mode} = about;
  const isFree = confinement === 'none';
  const hold = isFree ? 'plain' : holdOf(confinement, await about.sandboxAvailable(), unconfined);
  const read = new CommandReading(command);
  const ruled = await judgeByRules(read, about);
  if (ruled?.verdict === 'deny') return ruled;
  if (ruled && neverAsks) return deny(`${ruled.why}, and a read-only agent does not ask`);
  if (hold === 'refused')
    return deny(
      'the settings say sandbox: required, and it does not work here (mini-cc doctor says why). Nothing was run',
    );
  if (hold === 'proven-only') {
    const unheld = await judgeUnheld(read, about);
    return unheld.verdict === 'deny' || !ruled ? unheld : {...ruled, proven: true};
  }
  if (mode === 'bypassPermissions') return ALLOWED;
  if (ruled) return ruled;
  if (hold === 'read-only') return ALLOWED;
  // Also where no sandbox holds commands: who asks for less is not let pass by what allows more.
  if (hold === 'plain' && unconfined)
    return {verdict: 'ask', why: 'runs a command outside of the sandbox', onlyOnce: true};
  if (hold === 'workspace-write' && confinement === 'workspace-write') return ALLOWED;
  if (about.isGranted(runGrant(command))) return ALLOWED;
  return judgeParts(read, about);
}

/** A command, parsed when that is first asked for: most are never looked into. */
class CommandReading {
  #parts: Promise<ReadCommand | NotProven> | undefined;

  constructor(readonly command: string) {}

  /** @returns why it cannot be read, where that is so. */
  async parts(): Promise<ReadCommand | NotProven> {
    this.#parts ??= readCommand(this.command).catch((error: unknown) => {
      if (error instanceof NotProven) return error;
      throw error;
    });
    return this.#parts;
  }

  /** @throws NotProven where a part is neither proven nor permitted. */
  async walk(permits: PermitsPart, isTolerant = false): Promise<CommandWalk> {
    const read = await this.parts();
    if (read instanceof NotProven) throw read;
    const walk = new CommandWalk(permits, isTolerant);
    walk.list(read.shell.script, START);
    return walk;
  }
}

/** A rule that refuses or asks about some part of it, or about a file that it visibly touches. */
async function judgeByRules(
  read: CommandReading,
  about: Case,
): Promise<Exclude<Verdict, {verdict: 'allow'}> | undefined> {
  const {rules, mode, neverAsks} = about;
  const [denies, asks] = [rules.within(['bash'], 'deny'), rules.within(['bash'], 'ask')];
  if (denies.length + asks.length > 0) {
    const {texts, doubt} = await spelt(read);
    const denied = denies.find((rule) => texts.some((text) => matchesCommand(rule.about, text)));
    if (denied) return {verdict: 'deny', why: `${ruleWords(denied)} refuses it`};
    const mustAsk = mode !== 'bypassPermissions' && !neverAsks;
    if (doubt !== undefined && denies.length > 0) {
      const why = `${doubt}, so whether a rule refuses it cannot be told`;
      return mustAsk ? {verdict: 'ask', why, onlyOnce: true} : {verdict: 'deny', why: `${why}: write it plainly`};
    }
    const asked = asks.find((rule) => texts.some((text) => matchesCommand(rule.about, text)));
    if (asked) return {verdict: 'ask', why: `runs a command: ${ruleWords(asked)}`, onlyOnce: true};
  }
  return judgeVisibleFiles(read, about);
}

/** All spellings of all its parts, and why there may be more. */
async function spelt(read: CommandReading): Promise<{texts: readonly string[]; doubt?: string}> {
  const parts = await read.parts();
  const whole = read.command.trim();
  if (parts instanceof NotProven) return {texts: [whole], doubt: `the command is not understood (${parts.message})`};
  const spellings = await Promise.all(parts.parts.map((part) => spellingsOf(part)));
  const texts = [whole, ...spellings.flatMap((each) => each.texts)];
  return spellings.some(({isUnsure}) => isUnsure) ? {texts, doubt: 'a part of it is known only when it runs'} : {texts};
}

/** Rules about files hold for what a command is seen to read and write, too; for what it does unseen they cannot. */
async function judgeVisibleFiles(
  read: CommandReading,
  about: Case,
): Promise<Exclude<Verdict, {verdict: 'allow'}> | undefined> {
  const {rules} = about;
  const tools = ['read_file', 'edit_file'];
  if (rules.within(tools, 'deny').length + rules.within(tools, 'ask').length === 0) return undefined;
  let walk: CommandWalk;
  try {
    walk = await read.walk(() => false, true);
  } catch (error) {
    if (error instanceof NotProven) return undefined;
    throw error;
  }
  const {cwd} = about.workspace;
  const matching = [...walk.globs].flatMap((pattern) => matchingPlaces(pattern, cwd, true) ?? []);
  const found = [...walk.searches].flatMap((place) => filesBelow(resolveLinks(place, cwd)));
  const verdict = worst([
    ...[...walk.reads, ...matching, ...found].map((place) => byFileRules('read_file', place, about)),
    ...[...walk.writes, ...walk.programWrites].map((place) => byFileRules('edit_file', place, about)),
  ]);
  return verdict.verdict === 'allow' ? undefined : verdict;
}

function byFileRules(tool: string, given: string, {rules, workspace}: Case): Verdict {
  const targets = [resolveLinks(given, workspace.cwd)];
  const denied = rules.aboutFile(tool, 'deny', targets, workspace.root);
  if (denied) return deny(`${ruleWords(denied)} refuses ${targets[0]}`);
  const asked = rules.aboutFile(tool, 'ask', targets, workspace.root);
  return asked
    ? {verdict: 'ask', why: `runs a command on ${targets[0]}: ${ruleWords(asked)}`, onlyOnce: true}
    : ALLOWED;
}

/** There is no sandbox: only what is proven to read runs. */
async function judgeUnheld(read: CommandReading, about: Case): Promise<Verdict> {
  const why = await unprovenBecause(read, about);
  if (typeof why !== 'string') return why;
  const who = about.confinement === 'read-only' ? 'a read-only agent' : 'an agent in a worktree';
  return deny(
    `${why}; without a sandbox ${who} runs only commands that are proven to only read (mini-cc doctor says how to get one)`,
  );
}

async function unprovenBecause(read: CommandReading, about: Case): Promise<Verdict | string> {
  try {
    const walk = await read.walk(() => false);
    if (walk.writes.size > 0) return 'it writes to a file';
    const verdict = judgeWalk(walk, {...about, tool: 'read_file'});
    return verdict.verdict === 'deny' ? verdict : {...verdict, proven: true};
  } catch (error) {
    if (error instanceof NotProven) return error.message;
    throw error;
  }
}

/** Not held by anything. What is seen to write a protected file is asked each time, whatever allows the command. */
async function judgeParts(read: CommandReading, about: Case): Promise<Verdict> {
  const verdict = await judgeEach(read, about);
  return verdict.verdict === 'deny' ? verdict : ((await writesProtected(read, about)) ?? verdict);
}

/** Each part has to be allowed by a rule, or proven to only read. */
async function judgeEach(read: CommandReading, about: Case): Promise<Verdict> {
  const {rules, workspace} = about;
  const {command} = read;
  const ask: Verdict = {verdict: 'ask', why: 'runs a command', rule: `bash(${exactCommand(command)})`};
  const allows = rules.within(['bash'], 'allow');
  const whole = command.trim();
  if (rules.about('bash', 'allow').length > 0 || allows.some((rule) => rule.about === exactCommand(whole))) {
    return ALLOWED;
  }
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
    // What the environment of proven commands keeps away is not kept away here.
    if (isPlain && walk.readsByProgram && !isCleanPath(workspace.env.PATH ?? '', rootsOf(workspace))) return ask;
    const verdict = judgeWalk(walk, about, isPlain);
    if (verdict.verdict === 'deny') return verdict;
    if (verdict.verdict === 'allow') return {...verdict, proven: !isPlain};
    return {...verdict, why: `runs a command that ${verdict.why}`, proven: !isPlain};
  } catch (error) {
    if (error instanceof NotProven) return ask;
    throw error;
  }
}

async function writesProtected(read: CommandReading, {workspace, places}: Case): Promise<Verdict | undefined> {
  try {
    const walk = await read.walk(() => false, true);
    const found = [...walk.writes, ...walk.programWrites]
      .map((place) => resolveLinks(place, workspace.cwd))
      .find((target) => isAlwaysAsked(target, workspace, places));
    return found === undefined
      ? undefined
      : {verdict: 'ask', why: `runs a command that writes a protected file: ${found}`};
  } catch (error) {
    // What is not understood was judged as that.
    if (error instanceof NotProven) return undefined;
    throw error;
  }
}

/** The places that it reads and writes, each judged like that of a tool. @param isPlain it gets the user's environment */
function judgeWalk(walk: CommandWalk, about: Case, isPlain = false): Verdict {
  const {workspace} = about;
  const reading: Case = {...about, tool: 'read_file'};
  const writing: Case = {...about, tool: 'edit_file'};
  const verdicts = [...walk.reads].map((place) =>
    walk.searches.has(place) ? judgeSearched(place, reading) : judgeRead(place, reading),
  );
  for (const pattern of walk.globs) {
    const places = matchingPlaces(pattern, workspace.cwd, about.rules.refusesReading('read_file'));
    if (!places) throw new NotProven(`${pattern} matches more than plain files`);
    verdicts.push(...places.map((place) => judgeSearched(place, reading)));
  }
  for (const folder of walk.repositories) {
    const found = programsNamed(resolveLinks(folder, workspace.cwd), isPlain);
    if (found !== undefined) throw new NotProven(`git may run programs: ${found}`);
  }
  verdicts.push(...[...walk.writes].map((place) => judgeWrite(place, writing)));
  return worst(verdicts);
}

/** A command may look into all that lies below a folder. */
function judgeSearched(given: string, about: Case): Verdict {
  const verdict = judgeRead(given, about);
  if (verdict.verdict !== 'allow' || about.mode === 'bypassPermissions') return verdict;
  const {workspace, places} = about;
  const target = resolveLinks(given, workspace.cwd);
  // Where keys lie themselves, and among what mini-cc points to, that was judged.
  if (!['workspace', 'outside'].includes(placeOf(target, workspace, places))) return verdict;
  const below = places.secretPlaces.find((place) => place !== target && isInside(place, [target]) && existsSync(place));
  if (below === undefined) return verdict;
  return about.neverAsks
    ? deny(`${below} is where keys are kept`)
    : {verdict: 'ask', why: `reads where keys are kept: ${below}`};
}
