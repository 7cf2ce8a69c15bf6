/** How a command starts: plainly, held by the operating system, or not at all. */
import type {Duplex} from 'node:stream';
import type {Confinement} from '../core/contract/access.ts';
import type {ToolContext} from '../core/contract/tool.ts';
import {holdOf} from '../core/permissions/confinement.ts';
import {provenEnvironment} from '../core/permissions/shell/proven-environment.ts';
import {type ConfinedCommand, heldEnvironment, type Sandbox} from '../sandbox/index.ts';
import {shellArguments} from './run-shell.ts';

export interface ShellStart {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly input?: Uint8Array;
  readonly hold: 'plain' | 'read-only' | 'workspace-write';
  readonly confinement: Confinement;
  readonly link?: (stream: Duplex) => void;
  /** Hosts that it can reach, where it is held. */
  readonly reaches: readonly string[];
  /** Places that the command finds empty, absolute. */
  readonly hidden: readonly string[];
  /** To be called once when the command has ended. @returns what to say about it. */
  readonly release: () => readonly string[];
}

/** @returns why it does not start, or how. @throws MiniCcError for a workspace that cannot be held */
export async function startOf(
  command: string,
  unconfined: boolean,
  {workspace, permitted}: Pick<ToolContext, 'workspace' | 'permitted'>,
  sandbox: Sandbox,
): Promise<{readonly refused: string} | ShellStart> {
  const {confinement, env} = workspace;
  const argv = shellArguments(command);
  const [file = '', ...args] = argv;
  // Without confinement nobody waits for the sandbox to be tried.
  const status = confinement === 'none' ? undefined : await sandbox.status();
  const hold = holdOf(confinement, status?.available ?? false, unconfined);
  const missing = status?.available === false ? `${status.reason}: ${status.remedy}` : 'it was not tried';
  const plain = {file, args, hold: 'plain', confinement, reaches: [], hidden: [], release: () => []} as const;
  // The proof holds in this environment only.
  const proven = permitted?.proven && provenEnvironment(env, workspace);
  switch (hold) {
    case 'plain':
      return {...plain, env: proven || env};
    case 'read-only':
    case 'workspace-write':
      return held(sandbox.confine(hold, argv, workspace), env, hold, confinement);
    case 'proven-only':
      if (proven) return {...plain, env: proven};
      return {refused: `bash of ${WHOSE[confinement]} needs a sandbox, and ${missing}. Nothing was run.`};
    case 'refused':
      return {refused: `bash needs the sandbox (the settings say sandbox: required), and ${missing}. Nothing was run.`};
  }
}

function held(
  command: ConfinedCommand,
  env: Readonly<Record<string, string>>,
  hold: 'read-only' | 'workspace-write',
  confinement: Confinement,
): ShellStart {
  const more = command.reaches.length === 0 ? WITHOUT_NETWORK : {};
  return {...command, env: {...heldEnvironment(env), ...more}, hold, confinement};
}

/** Npm would ask again and again, for two minutes, where there is nobody to answer. */
const WITHOUT_NETWORK = {npm_config_fetch_retries: '0'};

const CONFINEMENT_SIGNS =
  /read-only file system|permission denied|operation not permitted|device or resource busy|network is unreachable|could not resolve host|name resolution|connection refused|address family not supported|\b(?:EROFS|EACCES|EPERM|EBUSY|ENETUNREACH|EAI_AGAIN|ECONNREFUSED|EAFNOSUPPORT)\b/i;

const NO_UNIX_SOCKETS = /address family not supported|\bEAFNOSUPPORT\b/i;
const IN_PLACE_OF_UNIX_SOCKETS =
  '(Unix sockets cannot be used here; ports of 127.0.0.1 can. `tsx FILE` runs as `node --import tsx FILE`, ' +
  "Python's multiprocessing with the start method fork or spawn)";

/** Programs that may fail for want of a network without a word. */
const NEEDS_NETWORK = /\b(?:curl|wget)\b/;

/** Of agents whose commands run only where they are held. */
const WHOSE: Partial<Record<Confinement, string>> = {
  'read-only': 'a read-only agent',
  worktree: 'an agent in a worktree',
};

/** @param network what the command reaches of it, in words */
const HELD_WORDS = {
  'read-only': () => '(this agent is read-only: the file system cannot be written and there is no network)',
  'workspace-write': (network: string) =>
    '(the sandbox held this command: only the workspace can be written, not .git/hooks, .git/config, .mini-cc, .claude; ' +
    `${network}; keys are hidden. unconfined: true asks the user to run it outside)`,
  worktree: (network: string) =>
    '(the sandbox held this command: only your worktree can be written, not .git/hooks, .git/config, .mini-cc, .claude ' +
    `in it; ${network}; keys are hidden)`,
};

/** Lines that explain a failure whose cause lies in how mini-cc runs commands. */
export function hints(command: string, output: string, start: ShellStart): string[] {
  const {hold, confinement, hidden, reaches} = start;
  const found: string[] = [];
  const missed = /no such file|permission denied/i.test(output) && hidden.find((place) => output.includes(place));
  // Where mini-cc keeps cut outputs and transcripts, to which it points agents itself.
  const pointed = output.includes(`${missed}/projects/`) ? '. Outputs and transcripts there: use read_file' : '';
  if (missed) found.push(`(${missed} is hidden from this agent: keys are kept there${pointed})`);
  if (hold !== 'plain' && (CONFINEMENT_SIGNS.test(output) || NEEDS_NETWORK.test(command))) {
    const network = reaches.length === 0 ? 'there is no network' : `of the network only ${reaches.join(', ')}`;
    found.push(HELD_WORDS[confinement === 'worktree' ? 'worktree' : hold](network));
  }
  if (hold !== 'plain' && NO_UNIX_SOCKETS.test(output)) found.push(IN_PLACE_OF_UNIX_SOCKETS);
  if (/\/dev\/std(?:out|err): No such device or address/.test(output)) {
    found.push('(the output is a socket here: write >&1 or >&2 in place of /dev/stdout or /dev/stderr)');
  }
  return found;
}
