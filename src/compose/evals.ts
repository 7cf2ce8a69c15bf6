/** Serves `mini-cc agents test`: a session whose runs are trials. */
import {existsSync, mkdirSync, realpathSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {createInterface} from 'node:readline/promises';
import {version} from '../../package.json';
import {readJsonAgent} from '../agents/json-source.ts';
import {FINDERS, VERIFIER} from '../agents/shipped/shipped.ts';
import type {CommandLineOutcome, SubcommandArguments} from '../commands/shared/command-line.ts';
import type {Settings} from '../config/settings.ts';
import {DirectoryTrust} from '../config/trust.ts';
import type {AgentDefinition} from '../core/agent-types.ts';
import {getLimits} from '../core/runs/limit-profiles.ts';
import type {SessionParts} from '../core/session/parts.ts';
import {createMainRun} from '../core/session/turns.ts';
import {createSession} from '../core/session.ts';
import {inBackground, neverRejects} from '../core/util/background.ts';
import {UsageError} from '../core/util/errors.ts';
import {withRegularFile} from '../core/util/files/open-folder.ts';
import {createTemporaryFolder, removeTemporaryFolder} from '../core/util/files/temporary-folder.ts';
import {formatProblem} from '../core/util/problem.ts';
import {formatJson, showControls} from '../core/util/text.ts';
import {EVALS_FOLDER} from '../evals/case-file.ts';
import type {CaseSet, TestResult} from '../evals/contract.ts';
import {KeptTrials} from '../evals/kept-trials.ts';
import type {ReadBefore} from '../evals/page.ts';
import {formatTestResult} from '../evals/results.ts';
import {type Arm, type JobResult, type TestedAgent, TestRunner} from '../evals/run-tests.ts';
import {runTest, type TestEnd} from '../evals/test-command.ts';
import {Trials} from '../evals/trials.ts';
import {TrialWorkspaces} from '../evals/workspaces.ts';
import {getProjectFolder} from '../storage/sessions/session-store.ts';
import {git} from '../storage/trees/git.ts';
import {findRepository} from '../storage/trees/repository.ts';
import {listFiles} from '../tools/search/file-index.ts';
import {getListable} from './known-tools.ts';
import {readSettings, type SessionOptions} from './options.ts';
import {composeParts} from './session.ts';

export interface TestFlags {
  readonly case?: string;
  readonly trials?: number;
  readonly baseline?: string;
  readonly failUnder?: number;
  readonly junit?: string;
  /** File that gets the result as a page. */
  readonly html?: string;
  readonly out?: string;
  readonly fresh: boolean;
  readonly regrade: boolean;
}

interface TestArguments extends SubcommandArguments {
  readonly test?: TestFlags;
}

/** @throws UsageError for bad usage */
export async function testCommandLine(
  options: SessionOptions,
  {words, json, sure, test = {fresh: false, regrade: false}}: TestArguments,
  say: (line: string) => void,
): Promise<CommandLineOutcome> {
  const root = realpathSync(options.cwd);
  const trust = new DirectoryTrust(options.home, root);
  const workspaces = new TrialWorkspaces({
    root,
    home: options.home,
    listFiles: () => listFiles(root, getPlainEnvironment(options)),
    without: [path.join(root, EVALS_FOLDER)],
  });
  const trials = new Trials(workspaces);
  const stopping = new AbortController();
  const stop = () => stopping.abort();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, stop);
  const parts = await composeParts({...options, permissionMode: 'acceptEdits', interactive: false, trials});
  const session = createSession(parts);
  try {
    const runner = new TestRunner({
      trials,
      kept: new KeptTrials(path.join(getProjectFolder(options.home, root), 'evals')),
      version,
      spawn: (request) => parts.manager.spawn(request),
      getAnyRun: () => createMainRun(parts, stopping.signal),
      onEnd: ({target, evalCase, trial, verdicts, arm}, done, all) => {
        const passed = verdicts.every((each) => each.passed) ? 'passed' : 'failed';
        const of = arm === target.arms[0] ? '' : ` (baseline ${arm.name})`;
        say(`${done}/${all} ${target.agent}${of} ${showControls(String(evalCase.id))}, trial ${trial}: ${passed}`);
      },
    });
    const end = await runTest(
      {...test, names: words, sure, maxBudgetUsd: options.maxBudgetUsd},
      {
        root,
        agents: [...parts.agents.list().map(({name}) => name), ...FINDERS, VERIFIER],
        runner,
        signal: stopping.signal,
        say,
        shownPath: (file) => (file.startsWith(`${root}/`) ? path.relative(root, file) : file),
        createTarget: (agent, set) => createTarget(agent, set, test.baseline, root, parts),
        getLimits: createGetLimits(readSettings(options, root, trust.trusts).settings),
        mayRun: createMayRun(trust, options),
        ask: process.stdin.isTTY && process.stderr.isTTY ? (question) => askPerson(question, stopping) : undefined,
      },
    );
    return await report(end, json, test, (job, file) => readBefore(job, file, workspaces, stopping.signal));
  } finally {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, stop);
    await session.close();
    await workspaces.close();
  }
}

/** Limits of a run, to tell what it can cost at most. */
function createGetLimits({limits, agents = {}, contextTokens}: Settings) {
  const shared = {profile: limits?.profile ?? 'standard', agents, contextTokens};
  return ({arms: [arm]}: TestedAgent, prompt: string) => getLimits(shared, arm.definition, {prompt});
}

async function report(end: TestEnd, json: boolean, flags: TestFlags, read: ReadBefore): Promise<CommandLineOutcome> {
  const {exitCode} = end;
  if ('errors' in end) return {exitCode, stdout: '', stderr: end.errors.map((line) => `mini-cc: ${line}\n`).join('')};
  await writeFiles(end.result, flags);
  if (flags.html !== undefined) {
    const {formatResultPage} = await import('../evals/page.ts');
    writeFileSync(flags.html, await formatResultPage(end.result, end.results, read));
  }
  const text = json ? formatJson(end.result) : showControls(formatTestResult(end.result));
  return {exitCode, stdout: `${text}\n`, stderr: ''};
}

/** Reads a file as the workspace of a trial showed it at the start; undefined when it was not there. */
async function readBefore({evalCase}: JobResult, file: string, workspaces: TrialWorkspaces, signal: AbortSignal) {
  const own = evalCase.files.find(({to}) => to === file);
  if (own) return own.content.toString();
  const {top, prefix} = await workspaces.getBase(evalCase, signal);
  return withRegularFile(path.join(top, prefix, file), async (handle) => (await handle.readFile()).toString());
}

/** Writes the reports that flags ask for. */
async function writeFiles(result: TestResult, {junit, out}: TestFlags): Promise<void> {
  if (junit === undefined && out === undefined) return;
  const {formatJunit, listGuideFiles} = await import('../evals/reports.ts');
  if (junit !== undefined) writeFileSync(junit, formatJunit(result));
  if (out === undefined) return;
  const isOwn = path.resolve(out).endsWith(path.join(EVALS_FOLDER, 'results'));
  const ignore = isOwn ? [{name: '.gitignore', text: '*\n'}] : [];
  for (const {name, text} of [...ignore, ...listGuideFiles(result)]) {
    const file = path.join(out, name);
    mkdirSync(path.dirname(file), {recursive: true});
    writeFileSync(file, text);
  }
}

function createMayRun(trust: DirectoryTrust, {trust: isTrusting}: SessionOptions) {
  return (file: string, commands: readonly string[]): boolean => {
    const claim = {file, key: 'setup and command', value: commands};
    if (isTrusting) inBackground(trust.remember([claim], 'trusted'), neverRejects);
    return isTrusting === true || trust.trusts(claim);
  };
}

async function askPerson(question: string, stopping: AbortController): Promise<boolean> {
  const lines = createInterface({input: process.stdin, output: process.stderr});
  lines.once('SIGINT', () => stopping.abort());
  try {
    return /^(?:1|y|yes)$/i.test((await lines.question(question, {signal: stopping.signal})).trim());
  } finally {
    lines.close();
  }
}

async function createTarget(
  name: string,
  set: CaseSet,
  baseline: string | undefined,
  root: string,
  parts: SessionParts,
): Promise<TestedAgent> {
  const definition = parts.agents.get(name)!;
  const own: Arm = {name, definition, ...parts.chooseModel(definition)};
  if (baseline === undefined) return {agent: name, set, arms: [own]};
  if (baseline === 'none') {
    const {skills: _, ...rest} = definition;
    return {agent: name, set, arms: [own, {...own, name: 'none', definition: {...rest, prompt: ''}}]};
  }
  const other = await readBaseline(name, baseline, root, parts);
  return {agent: name, set, arms: [own, {name: baseline, definition: other, ...parts.chooseModel(other)}]};
}

/** Reads another definition of an agent, from a file or from a revision of git. @throws UsageError when there is none */
async function readBaseline(
  name: string,
  baseline: string,
  root: string,
  parts: SessionParts,
): Promise<AgentDefinition> {
  const file = path.resolve(root, baseline);
  if (existsSync(file)) return parseBaseline(file, baseline, parts);
  const repository = await findRepository(root).catch(() => undefined);
  const place = path.join(repository?.prefix ?? '', '.mini-cc', 'agents', `${name}.json`);
  const shown = repository && (await git(root, ['show', '--end-of-options', `${baseline}:${place}`]));
  if (shown?.exitCode !== 0) {
    throw new UsageError(`--baseline ${baseline} is no file, and no git revision that has ${place}`);
  }
  const folder = createTemporaryFolder();
  try {
    const copy = path.join(folder, `${name}.json`);
    writeFileSync(copy, shown.stdout);
    return parseBaseline(copy, `${baseline}:${place}`, parts);
  } finally {
    removeTemporaryFolder(folder);
  }
}

function parseBaseline(file: string, shown: string, parts: SessionParts): AgentDefinition {
  const listable = getListable(parts.run.tools);
  const {agent, problems} = readJsonAgent(file, {listable, dialect: 'json', mayWiden: () => false});
  if (agent) return agent.definition;
  const [first] = problems;
  throw new UsageError(`--baseline: ${first ? formatProblem({...first, file: shown}) : `${shown} is no definition`}`);
}

function getPlainEnvironment({env}: SessionOptions): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined));
}
