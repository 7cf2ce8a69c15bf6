/**
 * Starts a command of a shell as its decision says: plainly, or confined by the operating system. All commands of tools
 * start here, and nothing is judged here.
 */
import {existsSync} from 'node:fs';
import {constants} from 'node:os';
import type {Attempt, Confinement, Workspace} from '../../core/contract/permission.ts';
import {resolveLinks} from '../../core/permissions/files/resolve-links.ts';
import {inBackground, neverRejects} from '../../core/util/background.ts';
import {MiniCcError, tryOr} from '../../core/util/errors.ts';
import {withGitSettings} from '../../core/util/files/git-folder.ts';
import {prepareToStart} from '../../core/util/processes.ts';
import type {ConfinedCommand, Sandbox} from '../sandbox.ts';
import {CommandStarter} from './command-starter.ts';
import type {ProcessGroups} from './process-groups.ts';
import {getShellArguments, MAX_MEMORY, MAX_PROCESSES, runShell, type ShellEnd, type ShellRun} from './run-shell.ts';
import type {ShellProcess} from './shell-process.ts';
import {SpareShell} from './spare-shell.ts';
import {startAhead} from './waiting-shell.ts';

interface LaunchRequest extends Pick<ShellRun, 'timeoutMs' | 'onTimed' | 'signal' | 'outlivesSignal' | 'onText'> {
  readonly command: string;
  readonly attempt: Attempt;
  /** Resolves when the command may begin, to false when it must not begin any more. Absent: it may begin at once. */
  readonly mayBegin?: Promise<boolean> | undefined;
  /** Gives the folder in which the command starts, its environment, and what it may write when it is confined. */
  readonly workspace: Workspace;
}

export interface LaunchEnd extends ShellEnd {
  /** Lines about what the sandbox had to repair after the command. */
  readonly notes: readonly string[];
  /** True when the command ended in a directory that only it could see and that no longer exists. */
  readonly isCwdPrivate: boolean;
  readonly plan: LaunchPlan;
}

/** How the command starts. For a plain one, nothing is confined and `release` does nothing. */
export interface LaunchPlan extends ConfinedCommand {
  readonly launch: Attempt['launch'];
  readonly confinement: Confinement;
  /** Whether its memory and its number of processes are limited. */
  readonly isBounded?: boolean;
  /**
   * Returns the place that a path names when it exists but is hidden from this command: absolute, with links resolved.
   */
  readonly findHidden: (named: string) => string | undefined;
}

/** Milliseconds for which a shell waits for a command that reads. */
const READING_MS = 30_000;
/** Milliseconds for which a shell waits for the command that the model is writing. */
const EXPECTED_MS = 5_000;

export class Launcher {
  readonly #starter: CommandStarter | undefined;
  /** A ready shell for commands that read. */
  readonly #reading = new SpareShell(READING_MS);
  /**
   * A ready shell for the command that the model is writing, unless it reads in the sandbox. It does not wait long, since
   * its sandbox may put placeholders into the workspace.
   */
  readonly #expected = new SpareShell(EXPECTED_MS);
  /** The workspace of the agent whose command that is. */
  #expectedBy: Workspace | undefined;
  /** Time of the last preparation, by a monotonic clock in milliseconds. */
  #preparedAt: number | undefined;

  /** @param processes shared by all agents, so that everything they started ends with mini-cc */
  constructor(
    private readonly sandbox: Sandbox,
    private readonly processes: ProcessGroups,
  ) {
    // Only Linux forks to start a program, and has named pipes that can be opened without waiting.
    this.#starter = process.platform === 'linux' ? new CommandStarter(processes.helper, sandbox.folder) : undefined;
    processes.onClose(() => {
      this.#expectedBy = undefined;
      inBackground(Promise.all([this.#reading.close(), this.#expected.close()]), neverRejects);
    });
  }

  /**
   * Gets ready what a first command needs: the helper shell, and where the sandbox works a shell for a command that reads,
   * which ends when it has waited for too long. Never rejects: the command reports what fails.
   * @param unasked how a command starts that may write; undefined when it is asked about
   */
  async prepare(workspace: Workspace, unasked?: Attempt['launch']): Promise<void> {
    const [last, now] = [this.#preparedAt, performance.now()];
    if (!this.#starter || (last !== undefined && now - last < READING_MS)) return;
    this.#preparedAt = now;
    this.#starter.prepare();
    // Without a sandbox, a command that reads is not confined either.
    if (unasked === 'plain') return;
    try {
      // The helper shell starts as soon as this has loaded, and then makes pipes while the sandbox is planned.
      await prepareToStart();
      if (!(await this.sandbox.status()).available) return;
      await this.#prepareSpare(this.#reading, {launch: 'read-only', checkpoint: false}, workspace);
      if (unasked === 'workspace-write' && last === undefined) this.sandbox.prepare?.(workspace);
    } catch {
      // A folder that was removed, or a full disk.
    }
  }

  /** Starts the shell of a command that the model is still writing. Never rejects: the command reports what fails. */
  async expect(workspace: Workspace, attempt: Attempt): Promise<void> {
    const {launch} = attempt;
    if (!this.#starter || launch === 'read-only' || this.#expected.isWaiting) return;
    this.#expectedBy = workspace;
    try {
      if (launch !== 'plain' && this.sandbox.addsFiles(launch, workspace)) return;
      await this.#prepareSpare(this.#expected, attempt, workspace, () => this.#expectedBy === workspace);
    } catch {
      // As above.
    }
  }

  /** Ends a shell that `expect` started and no command has used. */
  async expectNothing(workspace: Workspace): Promise<void> {
    if (this.#expectedBy !== workspace) return;
    this.#expectedBy = undefined;
    await this.#expected.close();
  }

  /** @param isWanted asked when the plan is made */
  async #prepareSpare(spare: SpareShell, attempt: Attempt, workspace: Workspace, isWanted = () => true): Promise<void> {
    const plan = await this.#plan('', attempt, workspace, undefined);
    const release = () => plan.release(false);
    if (!isWanted() || plan.link) release();
    else spare.prepare({...plan, cwd: workspace.cwd, starter: this.#starter}, release);
  }

  /**
   * @throws MiniCcError when the program cannot be started, or the workspace cannot be confined. Nothing has run then.
   */
  async run({command, attempt, workspace, mayBegin, ...run}: LaunchRequest): Promise<LaunchEnd> {
    this.#starter?.prepare();
    const plan = await this.#plan(command, attempt, workspace, mayBegin);
    const {file, args, env, input, link} = plan;
    const mayWrite = attempt.launch !== 'read-only' && !workspace.copyOf;
    const start = {file, args, env, input, link, cwd: workspace.cwd, starter: this.#starter};
    const endsAtReport = attempt.launch === 'read-only' && this.#starter !== undefined;
    const shell = {...run, ...start, processes: this.processes, mayWrite, endsAtReport};
    let notes: readonly string[] = [];
    let end: ShellEnd;
    try {
      end = await (mayBegin ? this.#runAhead(shell, mayBegin) : this.#runNow(shell, attempt));
    } finally {
      notes = plan.release();
    }
    return {...end, notes, isCwdPrivate: this.#isPrivate(end.cwd, plan, workspace), plan};
  }

  async #runNow(shell: ShellRun, {launch}: Attempt): Promise<ShellEnd> {
    // On other systems than Linux a sandbox is made at once.
    if (!this.#starter) return runShell(shell);
    if (launch !== 'read-only') return this.#runAhead(shell);
    const {shell: started, prepareNext} = await this.#reading.take(shell);
    started?.input?.give(shell.args.at(-1)!);
    try {
      return await (started ? runStarted(shell, started) : runShell(shell));
    } finally {
      // Making a sandbox at this point would slow the command down. The next shell starts while the model reads the
      // result.
      prepareNext();
    }
  }

  /** Starts the shell at once if none is ready, and the command when it may begin. Without `mayBegin`, that is now. */
  async #runAhead(shell: ShellRun, mayBegin?: Promise<boolean>): Promise<ShellEnd> {
    const {shell: spare} = await this.#expected.take(shell);
    if (!spare && !mayBegin) return runShell(shell);
    const started = await startAhead(shell, mayBegin ?? Promise.resolve(true), spare);
    return started ? runStarted(shell, started) : NOT_BEGUN;
  }

  /** Whether the command ended in a folder that only it could see. The folder in which it started never counts. */
  #isPrivate(cwd: string | undefined, {launch}: LaunchPlan, workspace: Workspace): boolean {
    if (isOpen(launch) || cwd === undefined || cwd === workspace.cwd) return false;
    return !this.sandbox.outlives(cwd, workspace);
  }

  async #plan(
    command: string,
    {launch, checkpoint, masked}: Attempt,
    workspace: Workspace,
    mayBegin: Promise<boolean> | undefined,
  ): Promise<LaunchPlan> {
    const {confinement, env} = workspace;
    const isPlain = launch === 'plain';
    // No rule or answer allowed a confined command, nor a plain one that only reads.
    const unasked = isPlain ? 'memory' : 'memory and processes';
    const bounds = launch === 'guarded' || (isPlain && checkpoint) ? undefined : unasked;
    const argv = getShellArguments(command, {searchPath: env.PATH, bounds});
    if (isPlain) {
      const [file = '', ...args] = argv;
      return {
        file,
        args,
        env: withSafeGit({...env, TMPDIR: this.sandbox.folder.temporary}, !checkpoint),
        launch,
        confinement,
        isBounded: bounds !== undefined,
        reaches: [],
        findHidden: () => undefined,
        release: () => [],
      };
    }
    const status = await this.sandbox.status();
    if (!status.available) {
      const why = `${status.reason}: ${status.remedy}`;
      throw new MiniCcError('SANDBOX_UNAVAILABLE', `This command runs only in a sandbox, and ${why}. Nothing was run.`);
    }
    const options = {...workspace, ...(masked && {masked: masked.paths})};
    if (mayBegin && this.sandbox.addsFiles(launch, options)) await mayBegin;
    const confined = this.sandbox.confine(launch, argv, options);
    const offline = confined.reaches.length === 0 ? WITHOUT_NETWORK : {};
    const release = (hasBegun = true) => {
      const notes = confined.release(hasBegun);
      return hasBegun && masked?.note !== undefined ? [...notes, masked.note] : notes;
    };
    const {cwd} = workspace;
    return {
      ...confined,
      release,
      env: launch === 'guarded' ? withSafeGit(confined.env, false) : {...confined.env, ...offline},
      launch,
      confinement,
      isBounded: bounds !== undefined,
      findHidden: (named) => {
        if (isOpen(launch)) return undefined;
        const place = findExisting(named, cwd);
        return place === undefined || this.sandbox.visibleIn(workspace)(place) ? undefined : place;
      },
    };
  }
}

/** Runs the command in a shell that has started. One that was killed before it began the command is replaced. */
async function runStarted(shell: ShellRun, started: ShellProcess): Promise<ShellEnd> {
  const end = await runShell({...shell, started});
  return !end.hasBegun && end.ended === 'itself' ? runShell(shell) : end;
}

const NOT_BEGUN: ShellEnd = {ended: 'abort', hasBegun: false, exitCode: 128 + constants.signals.SIGINT};

/** Whether the command sees the files and the network of the machine. */
function isOpen(launch: Attempt['launch']): boolean {
  return launch === 'plain' || launch === 'guarded';
}

/** Resolves the links of the path; undefined when nothing is there, or it cannot be examined. */
function findExisting(named: string, cwd: string): string | undefined {
  const place = tryOr(() => resolveLinks(named, cwd), '/');
  return place !== '/' && existsSync(place) ? place : undefined;
}

/**
 * Settings of git for a command without a checkpoint, which only reads. Git then does not refresh its index, and does
 * not start itself in a repository inside, where it would use the settings of that one.
 */
const SETTINGS_FOR_READING = [
  ['diff.autoRefreshIndex', 'false'],
  ['diff.submodule', 'short'],
  ['submodule.recurse', 'false'],
  ['status.submoduleSummary', 'false'],
] as const;
/**
 * A project may contain files that make one of its folders look like a bare repository, and git would run programs that
 * its settings name. With this setting git uses such a folder only where the command names it (`--git-dir`).
 */
const SETTINGS_FOR_ALL = [['safe.bareRepository', 'explicit']] as const;

/** Settles how git works in a command. @param reads whether the command only reads */
function withSafeGit(env: Readonly<Record<string, string>>, reads: boolean): Readonly<Record<string, string>> {
  const settings = [...SETTINGS_FOR_ALL, ...(reads ? SETTINGS_FOR_READING : [])];
  return withGitSettings({...env, ...(reads && {GIT_OPTIONAL_LOCKS: '0'})}, settings);
}

/** Without a network npm would retry its requests for two minutes, and look for a newer npm at each start. */
const WITHOUT_NETWORK = {npm_config_fetch_retries: '0', npm_config_update_notifier: 'false'};

const CODES = 'EROFS|EACCES|EPERM|EBUSY|ENETUNREACH|EAI_AGAIN|ENOTFOUND|ECONNREFUSED|EAFNOSUPPORT';
const SIGNS = new RegExp(
  `read-only file system|permission denied|operation not permitted|device or resource busy|network is unreachable|(?:could not|unable to) resolve host|name resolution|connection refused|address family not supported|\\b(?:${CODES})\\b`,
  'i',
);
const WORDS =
  '(?:read-only file system|permission denied|not permitted|is unreachable|name resolution|(?:could not|unable to) resolve host.*|no such file or directory|command not found)';
/** Messages of Python, Node.js, Rust and Ruby: the number or the code of the error tells them from prose. */
const CODED_MESSAGES = [
  String.raw`\[Errno -?\d+\] .*${WORDS}(?:: (?:'.*'|".*"))?[)>\]'"]*(?::? \S*\/\S*)?`,
  String.raw`(?:${CODES}|ENOENT): [\w -]+, \w+(?: '.*')?`,
  String.raw`(?:getaddrinfo|connect) (?:${CODES}) \S+(?: - Local .*)?`,
  `(?:code|errno) (?:${CODES})`,
  String.raw`${WORDS} \(os error \d+\)`,
  String.raw`${WORDS} .*\(Errno::E\w+\)`,
];
/**
 * Lines that look like messages of programs: `program: …message`, or one with a code, alone or as programs wrap it. A
 * command that succeeds may also print the words above from a file.
 */
const MESSAGES = new RegExp(
  String.raw`^(?:[\w.+/-]+: .*${WORDS}|[ \t]{0,8}(?:(?:[\w.+/-]+|\[cause\]|\S+:in .*): .*|npm (?:error|ERR!) .*|.*failed, reason: |<urlopen error |HTTPS?ConnectionPool\(.*)?(?:${CODED_MESSAGES.join('|')}))$`,
  'gim',
);
const MISSING = /no such file|permission denied|cannot access|not found/i;
/** The command, or a program that it names, did not start, perhaps because the sandbox hides its folder. */
const NOT_STARTED = /^bwrap: |: command not found$/m;
/** Programs that may fail without a network and print no reason. */
const NEEDS_NETWORK = /\b(?:curl|wget)\b/;

interface ConfinedEnd {
  readonly command: string;
  /** Standard output and standard error. */
  readonly output: string;
  readonly exitCode: number;
  readonly plan: LaunchPlan;
}

/**
 * Names in one line the limit of the sandbox that stopped the command, or a part of it when it succeeded in the end.
 * @returns undefined when its output and its end show none
 */
export function explainConfinement({command, output: all, exitCode, plan}: ConfinedEnd): string | undefined {
  const {launch, confinement} = plan;
  if (launch === 'plain') return undefined;
  const output = exitCode === 0 ? (all.match(MESSAGES) ?? []).join('\n') : all;
  const limits = [
    ...describeHidden(output, plan),
    ...(NOT_STARTED.test(output) ? ['of PATH it sees the folders of the system and those that the settings show'] : []),
    ...(SIGNS.test(output) || (exitCode !== 0 && NEEDS_NETWORK.test(command)) ? [describeLimits(plan)] : []),
    ...(/address family not supported|\bEAFNOSUPPORT\b/i.test(output) ? [UNIX_SOCKETS] : []),
  ];
  if (limits.length === 0) return undefined;
  const start = confinement === 'read-only' ? 'this agent is read-only' : 'the sandbox confined this command';
  const way = confinement === 'none' || confinement === 'workspace-write' ? UNCONFINED : '';
  return `(${start}: ${limits.join('; ')}${way})`;
}

const NO_MEMORY =
  /cannot allocate|failed to allocate|memory exhausted|out of memory|MemoryError|bad_alloc|ENOMEM|fork: (?:retry: )?Resource temporarily/i;
/** Matches what bash prints when it cannot start a process in the background. Its exit code may still be 0. */
const NO_PROCESS = /^bash: (?:line \d+: )?fork: (?:retry: )?Resource temporarily/m;

/** Names the limit of memory or processes that ended the command; undefined when none did. */
export function explainBounds({output, exitCode, plan}: Omit<ConfinedEnd, 'command'>): string | undefined {
  if (!plan.isBounded || !(exitCode === 0 ? NO_PROCESS : NO_MEMORY).test(output)) return undefined;
  const memory = `${(MAX_MEMORY / 1024 ** 3).toFixed(1).replace('.0', '')} GB of memory`;
  return `(a command that runs without a question has at most ${memory} for each process, and ${MAX_PROCESSES} processes in the sandbox)`;
}

const UNIX_SOCKETS =
  'Unix sockets cannot be used here; ports of 127.0.0.1 can: `tsx FILE` runs as `node --import tsx FILE`, ' +
  "Python's multiprocessing with the start method fork or spawn";
/** An agent in a worktree never runs outside of the sandbox, so it does not get this hint. */
const UNCONFINED = '. unconfined: true asks the user to run it outside';

function describeLimits({launch, confinement, reaches}: LaunchPlan): string {
  if (launch === 'guarded') return 'hooks and settings of git, .mini-cc, .claude and start-up files cannot be written';
  if (launch === 'read-only') return 'the file system cannot be written and there is no network';
  if (confinement === 'files') {
    return 'only the files of your part can be written, in place (tools that replace a file fail: use edit_file); there is no network';
  }
  const place = confinement === 'worktree' ? 'your worktree' : 'the workspace';
  const network = reaches.length === 0 ? 'there is no network' : `of the network only ${reaches.join(', ')}`;
  return `only ${place} can be written, not .git/hooks, .git/config, .mini-cc, .claude in it; ${network}; keys are hidden`;
}

/** Describes a place that a message names and that exists only outside of the sandbox. */
function describeHidden(output: string, {findHidden}: LaunchPlan): string[] {
  for (const line of output.split('\n').filter((each) => MISSING.test(each))) {
    const [, named = ''] = /^[\w.+/-]+: (?:line \d+: )?(?:cannot \w+ )?['\u2018]?([^'\u2019:]+)/.exec(line) ?? [];
    const paths = line.match(/(?<![\w.])[.~]{0,2}\/[^\s'"\u2019:),]+/g) ?? [];
    const place = [named, ...paths].map((each) => findHidden(each)).find((each) => each !== undefined);
    if (place === undefined) continue;
    // This folder has cut outputs and transcripts, whose paths mini-cc prints for agents.
    const hint = line.includes('/projects/') ? '; outputs and transcripts there: use read_file' : '';
    return [`${place} is hidden${hint}`];
  }
  return [];
}
