/** Examines what works on this machine and what does not, for `mini-cc doctor` and `/doctor`. */
import {realpathSync} from 'node:fs';
import type {CommandLineOutcome, SubcommandArguments} from '../commands/command-line.ts';
import {type Finding, runDoctorCommandLine} from '../commands/doctor.ts';
import type {LoadedSettings, Settings} from '../config/settings.ts';
import {DirectoryTrust} from '../config/trust.ts';
import {getErrorMessage, MiniCcError, UsageError} from '../core/util/errors.ts';
import {formatProblem} from '../core/util/problem.ts';
import {runProgram} from '../core/util/processes.ts';
import {showControls} from '../core/util/text.ts';
import type {SandboxStatus} from '../sandbox/index.ts';
import {findHomeFault} from '../storage/home.ts';
import {examineModels} from './doctor-models.ts';
import {readSettings, type SessionOptions} from './options.ts';
import {createSessionSandbox} from './permission-settings.ts';
import {getTrustProblems} from './trust.ts';

const PROGRAM_TIMEOUT_MS = 5000;

/** Runs `mini-cc doctor`. @throws UsageError for bad usage */
export function doctorCommandLine(options: SessionOptions, args: SubcommandArguments): Promise<CommandLineOutcome> {
  return runDoctorCommandLine(args, () => examine(options));
}

/** Never rejects: each problem is a finding. */
export async function examine(options: SessionOptions): Promise<Finding[]> {
  const {loaded, trust = [], problem} = checkSettings(options);
  const found = await Promise.all([
    examineModels(options, loaded?.settings ?? {}),
    sandbox(loaded?.settings ?? {}, options.home),
    ripgrep(),
    git(),
    terminal(options.env),
    home(options.home),
    problem ?? [...settingsFiles(loaded!), ...trust],
  ]);
  return found.flat();
}

async function sandbox(settings: Settings, home: string): Promise<Finding> {
  let status: SandboxStatus;
  try {
    status = await createSessionSandbox(settings, home).status();
  } catch (error) {
    return {about: 'sandbox', state: 'missing', text: getErrorMessage(error), remedy: 'correct the settings'};
  }
  const mode = settings.sandbox?.mode ?? 'off';
  if (status.available) {
    return {about: 'sandbox', state: 'ok', text: `${status.kind} confines read-only agents; for others: ${mode}`};
  }
  const {reason, remedy} = status;
  return mode === 'required'
    ? {about: 'sandbox', state: 'missing', text: `${reason}, and the settings require it: bash runs nothing`, remedy}
    : {about: 'sandbox', state: 'warning', text: `${reason}: read-only agents can hardly use bash`, remedy};
}

async function ripgrep(): Promise<Finding> {
  const about = 'ripgrep';
  try {
    const {rgPath} = await import('@vscode/ripgrep');
    return {about, state: 'ok', text: await getVersion(rgPath)};
  } catch (error) {
    const text = `grep and glob do not work: ${getErrorMessage(error).split('\n')[0]}`;
    return {about, state: 'missing', text, remedy: 'install mini-cc again, with its optional dependencies'};
  }
}

async function git(): Promise<Finding> {
  const about = 'git';
  try {
    return {about, state: 'ok', text: await getVersion('git')};
  } catch {
    return {
      about,
      state: 'warning',
      text: 'not found: no undo of commands, no worktrees',
      remedy: 'apt-get install git',
    };
  }
}

function terminal({TERM = '', NO_COLOR}: SessionOptions['env']): Finding {
  const {isTTY, columns, rows} = process.stdout;
  const about = 'terminal';
  if (!isTTY || !process.stdin.isTTY) return {about, state: 'ok', text: 'none here: print mode works'};
  if (TERM === 'dumb' || TERM === '') {
    return {about, state: 'warning', text: `TERM is ${TERM || 'not set'}`, remedy: 'export TERM=xterm-256color'};
  }
  return {about, state: 'ok', text: `${TERM}, ${columns} × ${rows}${NO_COLOR ? ', without colours' : ''}`};
}

function home(folder: string): Finding {
  const fault = findHomeFault(folder);
  if (!fault) return {about: 'home', state: 'ok', text: `${folder} can be written`};
  const [text = '', remedy = ''] = fault.text.split(/\. (?=[A-Z])/);
  return {about: 'home', state: 'missing', text, remedy: `${remedy[0]?.toLowerCase()}${remedy.slice(1)}`};
}

function settingsFiles({files, warnings, hints}: LoadedSettings): Finding[] {
  const read = files.filter(({found}) => found).map(({file}) => file);
  return [
    {about: 'settings', state: 'ok', text: read.length === 0 ? 'no file: the defaults hold' : read.join(', ')},
    ...warnings.map(
      (text): Finding => ({about: 'settings', state: 'warning', text, remedy: 'see mini-cc config show'}),
    ),
    ...hints.map(
      (hint): Finding => ({about: 'settings', state: 'ok', text: `hint: ${showControls(formatProblem(hint))}`}),
    ),
  ];
}

interface CheckedSettings {
  readonly loaded?: LoadedSettings;
  readonly trust?: readonly Finding[];
  readonly problem?: Finding[];
}

function checkSettings(options: SessionOptions): CheckedSettings {
  try {
    const root = realpathSync(options.cwd);
    const trust = new DirectoryTrust(options.home, root);
    const loaded = readSettings(options, root, trust.trusts);
    const problems = getTrustProblems(options.home, trust, loaded);
    return {loaded, trust: problems.map((each): Finding => ({about: 'trust', state: 'warning', ...each}))};
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    const remedy = 'correct that file; mini-cc config schema says what it may contain';
    return {
      problem: error.message.split('\n').map((text) => ({about: 'settings', state: 'missing' as const, text, remedy})),
    };
  }
}

/** @throws MiniCcError `PROGRAM` when the program does not run */
async function getVersion(program: string): Promise<string> {
  const {exitCode, stdout, message} = await runProgram(program, ['--version'], {limitMs: PROGRAM_TIMEOUT_MS});
  if (exitCode !== 0) throw new MiniCcError('PROGRAM', message);
  return stdout.toString().split('\n', 1)[0]!.trim();
}
