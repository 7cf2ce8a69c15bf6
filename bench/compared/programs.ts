/** The programs that are compared: how each is found, set up in an empty home, started, and asked to call its tools. */
import {spawnSync} from 'node:child_process';
import {accessSync, constants, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync} from 'node:fs';
import {homedir} from 'node:os';
import path from 'node:path';
import {rgPath} from '@vscode/ripgrep';
import {cliPath} from '../../tests/support/run-cli.ts';
import {callTools, type MessageReply, type ScriptedCall, say} from '../../tests/support/scripted-replies.ts';
import {listProcessesOf} from '../process-tree.ts';
import type {Launch} from './screen.ts';

export const PROGRAM_NAMES = ['mini-cc', 'claude', 'codex', 'pi'] as const;
export type ProgramName = (typeof PROGRAM_NAMES)[number];

export interface Program {
  readonly name: ProgramName;
  readonly version: string;
  readonly home: string;
  readonly cwd: string;
  /** In a terminal, as people start it. */
  readonly plain: Launch;
  /** In a terminal, without questions about permissions. */
  readonly interactive: Launch;
  /** In a terminal, with its questions about permissions. */
  readonly asking: Launch;
  readonly showVersion: Launch;
  print(prompt: string, mode?: Mode): Launch;
  /** Whether it confines commands in the modes that do not bypass its permissions. */
  readonly confines: boolean;
  /** Matches the window once the prompt is shown. */
  readonly prompt: RegExp;
  runCommand(command: string, id: string): ScriptedCall;
  /** Undefined where the program has no subagents. */
  readonly startSubagent?: (prompt: string, id: string) => ScriptedCall;
  /** What the main agent says while its subagents work; undefined when all have ended. */
  readonly goOn?: (body: string, id: string) => MessageReply | undefined;
  readonly remove: () => void;
}

/** `default` and `sandbox` are mini-cc's own: commands that only read, and those that write in the workspace, confined. */
export type Mode = 'bypass' | 'default' | 'sandbox';

interface Setup {
  /** Writes what keeps a first start from asking, and names the server. */
  prepare(home: string, cwd: string, url: string): void;
  readonly env: (url: string) => Readonly<Record<string, string>>;
  readonly interactive: readonly string[];
  print(prompt: string, mode: Mode): readonly string[];
  /** Arguments of a plain start, where they differ from those of `interactive`. */
  readonly plain?: readonly string[];
  /** Arguments with which it asks, where a plain start does not. */
  readonly asking?: readonly string[];
  readonly prompt: RegExp;
  runCommand(command: string, id: string): ScriptedCall;
  readonly startSubagent?: (prompt: string, id: string) => ScriptedCall;
  readonly goOn?: (body: string, id: string) => MessageReply | undefined;
}

const KEY = 'test-key';

const MODE_FLAGS: Readonly<Record<Mode, readonly string[]>> = {
  bypass: ['--dangerously-skip-permissions'],
  default: [],
  sandbox: ['--settings', '{"sandbox": "auto"}'],
};

const SETUPS: Readonly<Record<ProgramName, Setup>> = {
  'mini-cc': {
    prepare: (home) => mkdirSync(path.join(home, '.mini-cc')),
    env: (url) => ({ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: KEY}),
    interactive: ['--dangerously-skip-permissions'],
    plain: [],
    print: (prompt, mode) => ['-p', prompt, ...MODE_FLAGS[mode]],
    prompt: /^\W*[>❯›]/m,
    runCommand: (command, id) => ({id, name: 'bash', input: {command}}),
    startSubagent: (prompt, id) => ({id, name: 'Task', input: {description: prompt, prompt, agent_type: 'code'}}),
  },
  claude: {
    prepare: (home, cwd) =>
      writeJson(path.join(home, '.claude.json'), {
        hasCompletedOnboarding: true,
        bypassPermissionsModeAccepted: true,
        theme: 'dark',
        customApiKeyResponses: {approved: [KEY], rejected: []},
        projects: {[cwd]: {hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true}},
      }),
    env: (url) => ({
      ...{ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: KEY, DISABLE_AUTOUPDATER: '1', IS_SANDBOX: '1'},
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    }),
    interactive: ['--dangerously-skip-permissions'],
    asking: ['--permission-mode', 'manual'],
    print: (prompt) => ['-p', prompt, '--dangerously-skip-permissions'],
    prompt: /^\W*❯/m,
    runCommand: (command, id) => ({id, name: 'Bash', input: {command, description: 'bench'}}),
    startSubagent: (prompt, id) => ({
      id,
      name: 'Agent',
      input: {description: 'bench', prompt, subagent_type: 'general-purpose', run_in_background: false},
    }),
    goOn: waitForNotifications,
  },
  codex: {
    prepare: (home, cwd, url) => {
      mkdirSync(path.join(home, '.codex'));
      writeFileSync(path.join(home, '.codex', 'config.toml'), codexSettings(cwd, url));
    },
    env: () => ({OPENAI_API_KEY: KEY}),
    interactive: [],
    asking: ['--ask-for-approval', 'on-request', '--sandbox', 'read-only'],
    print: (prompt) => ['exec', '--skip-git-repo-check', prompt],
    prompt: /^› /m,
    runCommand: (cmd, id) => ({id, name: 'exec_command', input: {cmd}}),
    startSubagent: (message, id) => ({id, name: 'spawn_agent', input: {message}, namespace: 'multi_agent_v1'}),
    goOn: waitForAgents,
  },
  pi: {
    prepare: (home, _, url) => {
      mkdirSync(path.join(home, '.pi', 'agent'), {recursive: true});
      writeJson(path.join(home, '.pi', 'agent', 'models.json'), {providers: {anthropic: {baseUrl: url}}});
    },
    env: () => ({ANTHROPIC_API_KEY: KEY, PI_OFFLINE: '1'}),
    interactive: ['--provider', 'anthropic', '--model', 'claude-sonnet-4-5'],
    print: (prompt) => ['--provider', 'anthropic', '--model', 'claude-sonnet-4-5', '-p', prompt],
    prompt: /^─{20,}\n[^─]*\n─{20,}/m,
    runCommand: (command, id) => ({id, name: 'bash', input: {command}}),
  },
};

/** @throws Error when the program is not on PATH or does not say its version */
export function createProgram(name: ProgramName, url: string): Program {
  const setup = SETUPS[name];
  const file = name === 'mini-cc' ? process.execPath : findOnPath(name);
  const first = name === 'mini-cc' ? [cliPath] : [];
  // Not below /tmp: Codex does less there.
  const folder = path.join(homedir(), '.cache');
  mkdirSync(folder, {recursive: true});
  const home = realpathSync(mkdtempSync(path.join(folder, 'mini-cc-bench-')));
  const cwd = path.join(home, 'work');
  mkdirSync(cwd);
  setup.prepare(home, cwd, url);
  const {PATH = ''} = process.env;
  // All that run on Node run on the same one.
  const env = {
    PATH: [path.dirname(process.execPath), PATH, path.dirname(rgPath)].join(path.delimiter),
    ...{HOME: home, TERM: 'xterm-256color', LANG: 'C.UTF-8', COLORTERM: 'truecolor', SHELL: '/bin/bash'},
    ...setup.env(url),
  };
  const launch = (args: readonly string[]): Launch => ({file, args: [...first, ...args], env, cwd});
  const {stdout, stderr} = spawnSync(file, [...first, '--version'], {env, encoding: 'utf8', timeout: 20_000});
  return {
    ...{name, home, cwd, prompt: setup.prompt, runCommand: setup.runCommand},
    ...(setup.startSubagent && {startSubagent: setup.startSubagent}),
    ...(setup.goOn && {goOn: setup.goOn}),
    version: /\d+\.\d+\.\d+\S*/.exec(`${stdout}${stderr}`)?.[0] ?? 'unknown',
    plain: launch(setup.plain ?? setup.interactive),
    interactive: launch(setup.interactive),
    asking: launch(setup.asking ?? setup.plain ?? setup.interactive),
    confines: name === 'mini-cc',
    showVersion: launch(['--version']),
    print: (prompt, mode = 'bypass') => launch(setup.print(prompt, mode)),
    remove: () => {
      // Codex leaves servers of its own.
      for (const pid of listProcessesOf(home)) endProcess(pid);
      rmSync(home, {recursive: true, force: true, maxRetries: 5});
    },
  };
}

function endProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Whether a folder of PATH has it. */
export function isOnPath(name: string): boolean {
  try {
    findOnPath(name);
    return true;
  } catch {
    return false;
  }
}

function findOnPath(name: string): string {
  for (const folder of (process.env.PATH ?? '').split(path.delimiter)) {
    const file = path.join(folder, name);
    try {
      accessSync(file, constants.X_OK);
      return file;
    } catch {
      // The next folder may have it.
    }
  }
  throw new Error(`${name} is not on PATH`);
}

function writeJson(file: string, value: unknown): void {
  writeFileSync(file, JSON.stringify(value));
}

/** Codex's `spawn_agent` returns at once: its main agent then waits for those that have not ended. */
function waitForAgents(body: string, id: string): MessageReply | undefined {
  const ids = (pattern: RegExp) => [...new Set([...body.matchAll(pattern)].map(([, each]) => each!))];
  const ended = ids(/"([0-9a-f-]{36})[\\"]+:\s*\{[\\"]+completed/g);
  const targets = ids(/agent_id[\\"]+:\s*[\\"]+([0-9a-f-]{36})/g).filter((each) => !ended.includes(each));
  if (targets.length === 0) return undefined;
  return callTools([{id, name: 'wait_agent', input: {targets, timeout_ms: 60_000}, namespace: 'multi_agent_v1'}]);
}

/** Claude Code runs all its agents in the background: its main agent ends its turn, and is told of each end. */
function waitForNotifications(body: string): MessageReply | undefined {
  const count = (pattern: RegExp) => new Set([...body.matchAll(pattern)].map(([, id]) => id)).size;
  const started = count(/Async agent launched[^"]{0,200}?agentId: (\w+)/g);
  return count(/<task-notification>\\n<task-id>(\w+)/g) < started ? say('They work.') : undefined;
}

function codexSettings(cwd: string, url: string): string {
  return `model = "gpt-5.2-codex"
model_provider = "bench"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false
[agents]
max_threads = 20
[model_providers.bench]
name = "bench"
base_url = "${url}/v1"
wire_api = "responses"
env_key = "OPENAI_API_KEY"
[projects."${cwd}"]
trust_level = "trusted"
`;
}
