/** Examines what works on this machine and what does not, for `mini-cc doctor` and `/doctor`. */
import {realpathSync} from 'node:fs';
import {runDoctorCommandLine} from '../commands/doctor.ts';
import type {Finding} from '../commands/shared/command-deps.ts';
import type {CommandLineOutcome, SubcommandArguments} from '../commands/shared/command-line.ts';
import {isModelConfigured} from '../config/environment.ts';
import type {LoadedSettings, Settings} from '../config/settings.ts';
import {DirectoryTrust} from '../config/trust.ts';
import {getErrorMessage, MiniCcError, UsageError} from '../core/util/errors.ts';
import {formatProblem} from '../core/util/problem.ts';
import {runProgram} from '../core/util/processes.ts';
import {keepOutPrograms} from '../core/util/programs.ts';
import {showControls} from '../core/util/text.ts';
import {createFetch} from '../models/http-fetch.ts';
import {findLocalServers, offerLocalServer} from '../models/local-servers.ts';
import type {ModelServer} from '../models/protocol.ts';
import {DEFAULT_PROVIDER, getModelServer, isServerSet, Providers} from '../models/providers.ts';
import {OFFLINE_NAME} from '../models/resolve.ts';
import type {SandboxStatus} from '../sandbox/index.ts';
import {findHomeFault} from '../storage/home.ts';
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
  keepOutPrograms(options.cwd);
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
    status = await createSessionSandbox(settings, {miniCcHome: home}).status();
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

/** Examines model servers: keys, whether each server answers, and which run on this machine. It never rejects. */
async function examineModels({env, offline, model}: SessionOptions, settings: Settings): Promise<Finding[]> {
  const providers = new Providers(settings.providers ?? {}, env);
  const [named = '', id] = model?.split('/') ?? [];
  if (!offline && id !== undefined && named !== DEFAULT_PROVIDER) return examineProvider(named, providers, env);
  // A model without a provider needs the default server, even when the settings name other providers.
  if (offline || !(model === undefined ? isModelConfigured(env, settings) : isServerSet(env))) {
    if (!offline && model !== undefined && model !== OFFLINE_NAME) {
      const remedy = 'export ANTHROPIC_API_KEY=…';
      return [{about: 'key', state: 'missing', text: `ANTHROPIC_API_KEY is not set, and ${model} needs it`, remedy}];
    }
    const remedy = 'set ANTHROPIC_API_KEY, or ANTHROPIC_BASE_URL for another server';
    const servers = await findLocalServers();
    return [
      {about: 'key', state: 'warning', text: 'none is set: the built-in offline model answers', remedy},
      ...servers.map((server): Finding => ({about: 'server', state: 'ok', text: offerLocalServer(server)})),
    ];
  }
  const names = Object.keys(settings.providers ?? {});
  const found = await Promise.all([
    isServerSet(env) ? examineDefault(env) : [],
    ...(model === undefined ? names : []).map((name) => examineProvider(name, providers, env)),
  ]);
  return found.flat();
}

async function examineDefault(env: SessionOptions['env']): Promise<Finding[]> {
  const names = ['ANTHROPIC_AUTH_TOKEN', 'ANTHROPIC_API_KEY'].filter((name) => env[name]);
  const key: Finding =
    names.length > 0
      ? {about: 'key', state: 'ok', text: `${names[0]} is set`}
      : {about: 'key', state: 'ok', text: 'none, as ANTHROPIC_BASE_URL names a server that may want none'};
  let at: ModelServer;
  try {
    at = getModelServer(env);
  } catch (error) {
    const remedy = 'correct ANTHROPIC_BASE_URL';
    return [key, {about: 'server', state: 'missing', text: getErrorMessage(error), remedy}];
  }
  const reaching = 'check the network, ANTHROPIC_BASE_URL, and whether that server runs';
  const {host, server, refusesKey} = await examineServer('server', at, reaching);
  if (!refusesKey) return [key, server];
  const remedy = `set ${names[0] ?? 'ANTHROPIC_API_KEY'} to a key of ${host}`;
  return [{about: 'key', state: 'missing', text: `${host} does not take it`, remedy}, server];
}

async function examineProvider(name: string, providers: Providers, env: SessionOptions['env']): Promise<Finding[]> {
  const about = `provider ${name}`;
  try {
    const provider = providers.get(name);
    const {keyEnv} = provider;
    if (keyEnv !== undefined && !env[keyEnv]?.trim()) {
      return [{about, state: 'missing', text: `${keyEnv} is not set`, remedy: `export ${keyEnv}=…`}];
    }
    const at = providers.getServer(provider);
    const key = keyEnv === undefined ? 'without a key' : `${keyEnv} is set`;
    if (provider.api === 'bedrock' || provider.api === 'vertex') {
      return [{about, state: 'ok', text: `${provider.api}, ${key}; its first call shows whether it answers`}];
    }
    const reaching = `check providers.${name}.baseURL, and whether that server runs`;
    const {host, server, refusesKey} = await examineServer(about, at, reaching);
    if (server.state !== 'ok') return [server];
    if (!refusesKey) return [{...server, text: `${server.text}, ${key}`}];
    const remedy = `set ${keyEnv ?? `providers.${name}.apiKeyEnv`} to a key of ${host}`;
    return [{about, state: 'missing', text: `${host} does not take the key`, remedy}];
  } catch (error) {
    return [{about, state: 'missing', text: getErrorMessage(error), remedy: `correct providers.${name}`}];
  }
}

/** @param remedy for a server that is not reached */
async function examineServer(about: string, at: ModelServer, remedy: string) {
  const {host} = new URL(at.baseURL);
  const check = await checkServer(at);
  const server: Finding = check.reached
    ? {about, state: 'ok', text: `${host} answers`}
    : {about, state: 'missing', text: `${host} is not reached: ${check.why}`, remedy};
  return {host, server, refusesKey: check.reached && check.refusesKey};
}

type ServerCheck =
  | {readonly reached: true; readonly refusesKey: boolean}
  /** `why` completes the sentence "HOST is not reached: WHY". */
  | {readonly reached: false; readonly why: string};

const TIMEOUT_MS = 4000;

/**
 * Checks the server. It never rejects. A server without such a list answers with an error, which shows that it works,
 * too.
 */
export async function checkServer({baseURL, api, apiKey, authToken, sendsKeyAs}: ModelServer): Promise<ServerCheck> {
  const isBearer = authToken !== undefined || api === 'openai' || sendsKeyAs === 'bearer';
  const value = authToken ?? apiKey;
  const key: Record<string, string> = value
    ? isBearer
      ? {authorization: `Bearer ${value}`}
      : {'x-api-key': value}
    : {};
  const path = api === 'openai' ? '/models' : '/v1/models?limit=1';
  try {
    const response = await createFetch()(`${baseURL.replace(/\/+$/, '')}${path}`, {
      headers: {'anthropic-version': '2023-06-01', ...key},
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    await response.text();
    return {reached: true, refusesKey: [401, 403].includes(response.status)};
  } catch (error) {
    return {reached: false, why: getReason(error)};
  }
}

function getReason(error: unknown): string {
  if (error instanceof Error && error.name === 'TimeoutError') return `no answer within ${TIMEOUT_MS / 1000} s`;
  // The cause has the system's own message: `connect ECONNREFUSED 127.0.0.1:1`.
  const {cause} = error as {cause?: unknown};
  return cause instanceof Error && cause.message !== '' ? cause.message : getErrorMessage(error);
}
