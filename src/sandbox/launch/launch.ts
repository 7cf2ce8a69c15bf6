/**
 * Starts a command of a shell as its decision says: plainly, or confined by the operating system. The one place where
 * commands of tools start; nothing is judged here.
 */
import type {Duplex} from 'node:stream';
import type {Attempt, Confinement, Workspace} from '../../core/contract/permission.ts';
import {MiniCcError} from '../../core/util/errors.ts';
import type {Sandbox} from '../sandbox.ts';
import type {ProcessGroups} from './process-groups.ts';
import {getShellArguments, runShell, type ShellEnd, type ShellRun} from './run-shell.ts';

export interface LaunchRequest extends Pick<ShellRun, 'timeoutMs' | 'signal' | 'onText'> {
  readonly command: string;
  readonly attempt: Attempt;
  /** Where it starts, with which environment, and what it may write where it is confined. */
  readonly workspace: Workspace;
}

export interface LaunchEnd extends ShellEnd {
  /** Lines about what the sandbox had to put back after the command. */
  readonly notes: readonly string[];
  /** The directory that it ended in was its own and is not there any more. */
  readonly isCwdPrivate: boolean;
  readonly plan: LaunchPlan;
}

/** How one command starts. */
export interface LaunchPlan {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly input?: Uint8Array;
  readonly launch: Attempt['launch'];
  readonly confinement: Confinement;
  readonly link?: (stream: Duplex) => void;
  /** Hosts that it can reach, where it is confined. */
  readonly reaches: readonly string[];
  /** Places that the command finds empty, absolute. */
  readonly hidden: readonly string[];
  /** To be called once when the command has ended. @returns lines about what had to be put back. */
  readonly release: () => readonly string[];
}

export class Launcher {
  /** @param processes shared by all agents, so that everything they started ends with mini-cc. */
  constructor(
    private readonly sandbox: Sandbox,
    private readonly processes: ProcessGroups,
  ) {}

  /** @throws MiniCcError when the program cannot be started, or the workspace cannot be confined: then nothing was run. */
  async run({command, attempt, workspace, ...run}: LaunchRequest): Promise<LaunchEnd> {
    const plan = await this.#plan(command, attempt, workspace);
    const {file, args, env, input, link} = plan;
    let notes: readonly string[] = [];
    let end: ShellEnd;
    try {
      end = await runShell({...run, file, args, env, input, link, cwd: workspace.cwd, processes: this.processes});
    } finally {
      notes = plan.release();
    }
    const isCwdPrivate = plan.launch !== 'plain' && Boolean(end.cwd) && !this.sandbox.outlives(end.cwd!, workspace);
    return {...end, notes, isCwdPrivate, plan};
  }

  async #plan(command: string, {launch, masked}: Attempt, workspace: Workspace): Promise<LaunchPlan> {
    const {confinement, env} = workspace;
    const argv = getShellArguments(command);
    if (launch === 'plain') {
      const [file = '', ...args] = argv;
      return {
        file,
        args,
        env: {...env, TMPDIR: this.sandbox.folder.temporary},
        launch,
        confinement,
        reaches: [],
        hidden: [],
        release: () => [],
      };
    }
    const status = await this.sandbox.status();
    if (!status.available) {
      const why = `${status.reason}: ${status.remedy}`;
      throw new MiniCcError('SANDBOX_UNAVAILABLE', `This command runs only in a sandbox, and ${why}. Nothing was run.`);
    }
    const confined = this.sandbox.confine(launch, argv, {...workspace, ...(masked && {masked: masked.paths})});
    const offline = confined.reaches.length === 0 ? WITHOUT_NETWORK : {};
    const release = () => [...confined.release(), ...(masked?.note === undefined ? [] : [masked.note])];
    return {...confined, release, env: {...confined.env, ...offline}, launch, confinement};
  }
}

/** Without a network npm would retry its requests for two minutes. */
const WITHOUT_NETWORK = {npm_config_fetch_retries: '0'};

const CONFINEMENT_SIGNS =
  /read-only file system|permission denied|operation not permitted|device or resource busy|network is unreachable|could not resolve host|name resolution|connection refused|address family not supported|\b(?:EROFS|EACCES|EPERM|EBUSY|ENETUNREACH|EAI_AGAIN|ECONNREFUSED|EAFNOSUPPORT)\b/i;

const NO_UNIX_SOCKETS = /address family not supported|\bEAFNOSUPPORT\b/i;
const UNIX_SOCKETS_HINT =
  '(Unix sockets cannot be used here; ports of 127.0.0.1 can. `tsx FILE` runs as `node --import tsx FILE`, ' +
  "Python's multiprocessing with the start method fork or spawn)";

/** Programs that may fail without a network and print nothing about it. */
const NEEDS_NETWORK = /\b(?:curl|wget)\b/;

/** What the model reads of the confinement. @param network which hosts the command reaches */
const CONFINEMENT_HINTS = {
  'read-only': () => '(this agent is read-only: the file system cannot be written and there is no network)',
  'workspace-write': (network: string) =>
    '(the sandbox confined this command: only the workspace can be written, not .git/hooks, .git/config, .mini-cc, .claude; ' +
    `${network}; keys are hidden. unconfined: true asks the user to run it outside)`,
  worktree: (network: string) =>
    '(the sandbox confined this command: only your worktree can be written, not .git/hooks, .git/config, .mini-cc, .claude ' +
    `in it; ${network}; keys are hidden)`,
};

/** The command, or a program that it names, did not start: the sandbox may not show the folder. */
const NOT_STARTED = /^bwrap: |: command not found$/m;

/** Its end or its output shows that the sandbox kept the command from something. */
export function isConfinementHit(
  command: string,
  output: string,
  {exitCode, plan: {launch, hidden}}: Pick<LaunchEnd, 'exitCode' | 'plan'>,
): boolean {
  if (launch === 'plain') return false;
  if (CONFINEMENT_SIGNS.test(output) || findMissed(output, hidden) !== undefined) return true;
  return exitCode !== 0 && (NOT_STARTED.test(output) || NEEDS_NETWORK.test(command));
}

function findMissed(output: string, hidden: readonly string[]): string | undefined {
  return /no such file|permission denied/i.test(output) ? hidden.find((place) => output.includes(place)) : undefined;
}

/** Lines that explain a failure whose cause lies in how mini-cc runs commands. */
export function explainFailure(command: string, output: string, plan: LaunchPlan): string[] {
  const {launch, confinement, hidden, reaches} = plan;
  const found: string[] = [];
  const missed = findMissed(output, hidden);
  // The folder of cut outputs and transcripts, whose paths mini-cc prints for agents.
  const hint = output.includes(`${missed}/projects/`) ? '. Outputs and transcripts there: use read_file' : '';
  if (missed) found.push(`(${missed} is hidden from this agent: keys are kept there${hint})`);
  if (launch !== 'plain' && (CONFINEMENT_SIGNS.test(output) || NEEDS_NETWORK.test(command))) {
    const network = reaches.length === 0 ? 'there is no network' : `of the network only ${reaches.join(', ')}`;
    found.push(CONFINEMENT_HINTS[confinement === 'worktree' ? 'worktree' : launch](network));
  }
  if (launch !== 'plain' && NO_UNIX_SOCKETS.test(output)) found.push(UNIX_SOCKETS_HINT);
  if (/\/dev\/std(?:out|err): No such device or address/.test(output)) {
    found.push('(the output is a socket here: write >&1 or >&2 in place of /dev/stdout or /dev/stderr)');
  }
  return found;
}
