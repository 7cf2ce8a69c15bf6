/** Tests agents and skills: composes a session whose runs are trials, and writes the reports. */
import {accessSync, constants, realpathSync, writeFileSync} from 'node:fs';
import {rm} from 'node:fs/promises';
import path from 'node:path';
import {version} from '../../package.json';
import type {Settings} from '../config/settings.ts';
import {DirectoryTrust} from '../config/trust.ts';
import {getLimits} from '../core/runs/limit-profiles.ts';
import {createCommandAccount} from '../core/session/commands.ts';
import type {SessionParts} from '../core/session/parts.ts';
import {createMainRun} from '../core/session/turns.ts';
import {createSession} from '../core/session.ts';
import {inBackground, neverRejects} from '../core/util/background.ts';
import {getErrorMessage, tryOr, UsageError} from '../core/util/errors.ts';
import {type OpenFolder, withOpenFolder, withRegularFile} from '../core/util/files/open-folder.ts';
import {makeFolders} from '../core/util/files/private-file.ts';
import {checkReportFile} from '../core/util/files/report-file.ts';
import {writeBelow} from '../core/util/files/whole-file.ts';
import {withoutUndefined} from '../core/util/objects.ts';
import {relativeIfInside} from '../core/util/paths.ts';
import {quote} from '../core/util/problem.ts';
import {showControls} from '../core/util/text.ts';
import {EVALS_FOLDER, SKILL_EVALS} from '../evals/case-file.ts';
import {Judge} from '../evals/judge.ts';
import {KeptTrials} from '../evals/kept-trials.ts';
import type {ReadBefore} from '../evals/page.ts';
import type {AgentTestResult} from '../evals/result-types.ts';
import {formatTestResult} from '../evals/results.ts';
import {type JobResult, type Tape, type TestedAgent, TestRunner} from '../evals/run-tests.ts';
import {runTest, type TestEnd} from '../evals/test-command.ts';
import {Trials} from '../evals/trials.ts';
import {TrialWorkspaces} from '../evals/workspaces.ts';
import {getProjectFolder} from '../storage/sessions/session-store.ts';
import {listFiles} from '../tools/search/file-index.ts';
import {readSettings, type SessionOptions} from './options.ts';
import type {ComposedParts} from './runs.ts';
import {createAgentSubjects, createSkillSubjects} from './test-subjects.ts';
import type {SessionTools} from './tools.ts';

export interface TestFlags {
  readonly case?: string;
  /** A run that becomes a case. */
  readonly from?: string;
  readonly trials?: number;
  readonly baseline?: string;
  /** Model that grades assertions. */
  readonly judge?: string;
  readonly failUnder?: number;
  readonly junit?: string;
  /** File that gets the result as a page. */
  readonly html?: string;
  readonly out?: string;
  /** Folder that gets the replies of the models, or has them. */
  readonly record?: string;
  readonly replay?: string;
  readonly fresh: boolean;
  readonly regrade: boolean;
}

/** A test of agents, or of skills with and without them. */
export interface TestRequest {
  readonly kind: 'agents' | 'skills';
  /** Empty: all that have cases. */
  readonly names: readonly string[];
  /** Whether its question is answered with yes. */
  readonly sure: boolean;
  readonly flags: TestFlags;
}

/** Composes the session of a test. */
export type Compose = (
  options: SessionOptions,
) => Promise<{readonly parts: SessionParts; readonly composed: ComposedParts}>;

export interface TestFront {
  say(line: string): void;
  /** Asks a person. @returns undefined where none can be asked */
  readonly ask?: ((question: string) => Promise<boolean>) | undefined;
  readonly signal: AbortSignal;
}

/** Runs `/agents test …` beside the session that has these options. @throws UsageError for bad usage */
export async function testFromSession(
  compose: Compose,
  {ask: _, agent: _agent, ...options}: SessionOptions,
  names: readonly string[],
  words: Readonly<Record<string, string | true>>,
  front: TestFront,
): Promise<{readonly ok: boolean; readonly text: string}> {
  const get = (flag: string) => (typeof words[flag] === 'string' ? words[flag] : undefined);
  const trials = get('--trials');
  if (trials !== undefined && !/^[1-9]\d*$/.test(trials))
    throw new UsageError(`--trials takes a whole number from 1 on, not ${quote(trials)}`);
  const flags: TestFlags = {
    ...withoutUndefined({case: get('--case'), baseline: get('--baseline'), judge: get('--judge'), html: get('--html')}),
    ...(trials !== undefined && {trials: Number(trials)}),
    fresh: words['--fresh'] === true,
    regrade: words['--regrade'] === true,
  };
  const alone = {...options, which: {type: 'new'}} as const;
  const end = await testSubjects(compose, alone, {kind: 'agents', names, sure: false, flags}, front);
  if ('errors' in end) return {ok: false, text: end.errors.join('\n')};
  return {ok: true, text: formatTestResult(end.result)};
}

/**
 * Runs a test in a session of its own, and writes the reports that it asks for.
 * @throws UsageError for names, flags and files that are wrong, and where no person can be asked
 */
export async function testSubjects(
  compose: Compose,
  options: SessionOptions,
  request: TestRequest,
  front: TestFront,
): Promise<TestEnd> {
  const {kind, names, sure, flags} = request;
  const {say, ask, signal} = front;
  checkFlags(request);
  const root = realpathSync(options.cwd);
  const trust = new DirectoryTrust(options.home, root);
  const without = [path.join(root, EVALS_FOLDER), ...(flags.replay ? [resolvePlace(flags.replay)] : [])];
  const files = () => listFiles(root, getPlainEnvironment(options));
  const workspaces = new TrialWorkspaces({root, home: options.home, listFiles: files, without});
  const trials = new Trials(workspaces);
  const composing = {...options, permissionMode: 'acceptEdits', interactive: false, trials} as const;
  // Without servers, a replay cannot cost anything.
  const {parts, composed} = await compose(flags.replay === undefined ? composing : {...composing, offline: true});
  without.push(...listSkillEvals(composed.tools));
  const session = createSession(parts);
  try {
    const kept = openKeptTrials(options.home, root, kind);
    const subjects = createSubjects(request, parts, composed.tools, root);
    const own = [...listReports(flags), ...listResults(request, subjects.names)];
    without.push(...own, ...(await kept.findReports()));
    const judge = createJudge(flags.judge, parts, kept, say);
    const tape = await createTape(flags, options, root, parts, say);
    const runner = new TestRunner({
      trials,
      kept,
      judge,
      tape,
      version,
      spawn: (run) => parts.manager.spawn(run),
      getAnyRun: () => createMainRun(parts, signal),
      onEnd: (result, done, all) => say(formatProgress(result, done, all)),
    });
    const end = await runTest(
      {...flags, names, sure, maxBudgetUsd: options.maxBudgetUsd},
      {
        subjects,
        runner,
        judge,
        tape,
        signal,
        say,
        shownPath: (file) => relativeIfInside(file, root),
        getLimits: createGetLimits(readSettings(options, root, trust.trusts).settings),
        mayRun: createMayRun(trust, options),
        ask,
      },
    );
    const read: ReadBefore = (job, file) => readBefore(job, file, workspaces, signal);
    if ('result' in end) await writeFiles(end, request, root, read, say).then(() => kept.addReports(own));
    return end;
  } finally {
    await session.close();
    await workspaces.close();
  }
}

function listSkillEvals({found}: SessionTools): readonly string[] {
  return found.prompts.flatMap(({kind, folder}) => (kind === 'skill' ? [path.join(folder, SKILL_EVALS)] : []));
}

function createSubjects({kind, flags}: TestRequest, parts: SessionParts, tools: SessionTools, root: string) {
  if (kind === 'skills') return createSkillSubjects(parts, tools);
  return createAgentSubjects(parts, tools, root, flags.baseline);
}

function openKeptTrials(home: string, root: string, kind: TestRequest['kind']): KeptTrials {
  return new KeptTrials(path.join(getProjectFolder(home, root), kind === 'agents' ? 'evals' : 'skill-evals'));
}

/** @throws UsageError for flags that do not go together */
async function createTape(
  {record, replay, regrade, judge}: TestFlags,
  {home}: SessionOptions,
  root: string,
  {redactor}: SessionParts,
  say: TestFront['say'],
): Promise<Tape | undefined> {
  const given = record ?? replay;
  if (given === undefined) return undefined;
  if (record !== undefined && replay !== undefined) throw new UsageError('--record and --replay cannot go together');
  if (regrade) throw new UsageError('--regrade makes no run that could be recorded or replayed');
  if (replay !== undefined && judge !== undefined)
    throw new UsageError('--replay asks no model, so that --judge cannot go with it');
  const {Recorder, Replayer} = await import('../evals/recordings.ts');
  const redact = <T>(value: T) => redactor.values(value);
  const deps = {folder: path.resolve(given), root, home, redact, warn: (text: string) => say(`warning: ${text}`)};
  return record === undefined ? new Replayer(deps) : new Recorder(deps);
}

function createJudge(name: string | undefined, parts: SessionParts, kept: KeptTrials, say: TestFront['say']) {
  if (name === undefined) return undefined;
  const model = parts.resolveModel(name);
  return new Judge({model, account: createCommandAccount(parts), kept, warn: (text) => say(`warning: ${text}`)});
}

function formatProgress(
  {target, evalCase, trial, verdicts, arm, replay}: JobResult,
  done: number,
  all: number,
): string {
  const passed = verdicts.every((each) => each.passed) ? 'passed' : 'failed';
  const lines = replay?.now === undefined ? [] : [`  recorded: ${replay.recorded}`, `  now:      ${replay.now}`];
  const of = arm === target.arms[0] ? '' : ` (baseline ${arm.name})`;
  const id = showControls(String(evalCase.id));
  const head = `${done}/${all} ${target.agent}${of} ${id}, trial ${trial}: ${replay?.verdict ?? passed}`;
  return [head, ...lines.map(showControls)].join('\n');
}

/** Limits of a run, to tell what it can cost at most. */
function createGetLimits({limits, agents = {}, contextTokens}: Settings) {
  const shared = {profile: limits?.profile ?? 'standard', agents, contextTokens};
  return ({arms: [arm]}: TestedAgent, prompt: string) => getLimits(shared, arm.definition, {prompt});
}

/** Reads a file as the workspace of a trial showed it at the start; undefined when it was not there. */
async function readBefore({evalCase}: JobResult, file: string, workspaces: TrialWorkspaces, signal: AbortSignal) {
  const own = evalCase.files.find(({to}) => to === file);
  if (own) return own.content.toString();
  const {top, prefix} = await workspaces.getBase(evalCase, signal);
  return withRegularFile(path.join(top, prefix, file), async (handle) => (await handle.readFile()).toString());
}

/**
 * Lists the files and folders that a test writes besides results. No trial sees them, because an agent would
 * find earlier answers there, and a trial would be another one only because its report was written.
 */
function listReports({junit, html, record}: TestFlags): readonly string[] {
  return [junit, html, record].flatMap((each) => (each === undefined ? [] : resolvePlace(each)));
}

/** Lists the folders of results below that of `--out`, which may have other files, too. @param all names to test */
function listResults({names, flags: {out}}: TestRequest, all: readonly string[]): readonly string[] {
  if (out === undefined) return [];
  return (names.length > 0 ? names : all).map((name) => resolvePlace(path.join(out, name)));
}

function resolvePlace(file: string): string {
  const folder = path.dirname(path.resolve(file));
  return path.join(
    tryOr(() => realpathSync(folder), folder),
    path.basename(path.resolve(file)),
  );
}

/** Finds out before anything is paid whether the reports can be written. @throws UsageError when they cannot */
function checkFlags({kind, flags: {baseline, junit, html, out, record}}: TestRequest): void {
  if (kind === 'skills' && baseline !== undefined && baseline !== 'none')
    throw new UsageError('skills test compares with the agent without the skill: --baseline takes none alone');
  if (junit !== undefined) checkReportFile('--junit', junit);
  if (html !== undefined) checkReportFile('--html', html);
  for (const [flag, folder] of [
    ['--out', out],
    ['--record', record],
  ] as const) {
    if (folder === undefined) continue;
    try {
      makeFolders(folder);
      accessSync(folder, constants.W_OK | constants.X_OK);
    } catch (error) {
      throw new UsageError(`${flag}: ${folder} cannot be written: ${getErrorMessage(error)}`, {cause: error});
    }
  }
}

/** Writes the reports that flags ask for, and the files of the results. @param root the workspace */
async function writeFiles(
  {result, results}: Extract<TestEnd, {readonly result: AgentTestResult}>,
  {kind, flags: {junit, html, out, replay}}: TestRequest,
  root: string,
  read: ReadBefore,
  say: TestFront['say'],
): Promise<void> {
  if (html !== undefined) {
    const {formatResultPage} = await import('../evals/page.ts');
    writeFileSync(html, await formatResultPage(result, results, read));
  }
  const {formatJunit, listGuideFiles} = await import('../evals/reports.ts');
  if (junit !== undefined) writeFileSync(junit, formatJunit(result));
  // The folder holds the measurements of the last test. A replay measures nothing, so it does not replace them.
  if (out === undefined && replay !== undefined) return;
  const files = listGuideFiles(result, kind === 'agents' ? 'agent' : 'skill');
  const own = path.join(EVALS_FOLDER, 'results');
  try {
    if (out === undefined) {
      await writeBelow(root, [{name: path.join(own, '.gitignore'), text: '*\n'}]);
      const removeOld = async (folder: OpenFolder) => {
        for (const {agent} of result.agents)
          await folder.use(agent, (place) => rm(place, {recursive: true, force: true}));
      };
      await withOpenFolder(path.join(root, own), removeOld);
    }
    const toPlace = (name: string) => (out === undefined ? path.join(own, name) : name);
    await writeBelow(
      out ?? root,
      files.map(({name, text}) => ({name: toPlace(name), text})),
    );
    say(`Results are in ${showControls(out ?? own)}.`);
  } catch (error) {
    if (out !== undefined) throw error;
    say(`warning: the results are not written to ${own}: ${getErrorMessage(error)}`);
  }
}

function createMayRun(trust: DirectoryTrust, {trust: isTrusting}: SessionOptions) {
  return (file: string, commands: readonly string[]): boolean => {
    const claim = {file, key: 'setup and command', value: commands};
    if (isTrusting) inBackground(trust.remember([claim], 'trusted'), neverRejects);
    return isTrusting === true || trust.trusts(claim);
  };
}

function getPlainEnvironment({env}: SessionOptions): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined));
}
