/** One call of a tool with checkpoints around it: of the files that it names, or of the workspace for a command. */

import type {Access, Workspace} from './contract/access.ts';
import type {Checkpoints} from './contract/checkpoints.ts';
import type {FileLedger} from './contract/tool.ts';
import type {ToolResult} from './contract/tool-result.ts';
import {resolveLinks} from './permissions/files/paths.ts';
import {messageOf} from './util/errors.ts';
import {errorResult} from './util/tool-result.ts';

export interface KeptCaller {
  readonly agentId: string;
  /** As people know the agent, see `Writer`. */
  readonly label: string;
  readonly workspace: Workspace;
  readonly files: FileLedger;
  readonly checkpoints: Checkpoints;
}

/** After an abort, the checkpoint behind a call has this long; then the result goes on without it. */
const CHECKPOINT_GRACE_MS = 500;

/** @param work heeds `signal` by itself. @throws what `work` throws, and when what is there cannot be kept. */
export async function runKept(
  accesses: readonly Access[],
  caller: KeptCaller,
  signal: AbortSignal,
  work: () => Promise<ToolResult>,
): Promise<ToolResult> {
  const {workspace} = caller;
  if (workspace.confinement === 'worktree') return work();
  const paths = accesses.flatMap((access) =>
    access.kind === 'write' ? [resolveLinks(access.path, workspace.cwd)] : [],
  );
  if (paths.length > 0) return promptly(signal, work, (step) => aroundWrites([...new Set(paths)], caller, step));
  const commands = accesses.flatMap((access) => (access.kind === 'run' ? [access.command] : []));
  const writesNothing = commands.length === 0 || workspace.confinement === 'read-only';
  if (writesNothing || (await onlyRead(commands))) return work();
  return promptly(signal, work, (step) => aroundCommand(caller, step));
}

/** What is proven to read needs no snapshot, which costs some milliseconds. */
async function onlyRead(commands: readonly string[]): Promise<boolean> {
  // The parser is loaded with the first command.
  const {proveReadOnly} = await import('./permissions/shell/read-only-command.ts');
  const proofs = await Promise.all(commands.map(proveReadOnly));
  return proofs.every(({proven}) => proven);
}

async function aroundWrites(
  paths: readonly string[],
  {checkpoints, agentId, label}: KeptCaller,
  work: () => Promise<ToolResult>,
): Promise<ToolResult> {
  const by = {agentId, label};
  const begun: string[] = [];
  try {
    for (const path of paths) {
      await checkpoints.beforeWrite(by, path);
      begun.push(path);
    }
    return await work();
  } finally {
    for (const path of begun) await checkpoints.afterWrite(by, path);
  }
}

async function aroundCommand(
  {checkpoints, files, agentId, label}: KeptCaller,
  work: () => Promise<ToolResult>,
): Promise<ToolResult> {
  const {
    value,
    changed,
    shared = [],
    uncounted,
  } = await checkpoints.around({agentId, label}, async () => {
    const ended = files.commandBegins();
    try {
      return await work();
    } finally {
      await ended();
    }
  });
  const facts = {
    ...value.facts,
    ...(changed.length > 0 ? {changed: [...(value.facts?.changed ?? []), ...changed]} : {}),
    ...(shared.length > 0 ? {shared} : {}),
    ...(uncounted === undefined ? {} : {uncounted}),
  };
  return {...value, facts};
}

/** Stopping must not wait for a checkpoint: what the work returned counts, and work that has not begun never does. */
async function promptly(
  signal: AbortSignal,
  work: () => Promise<ToolResult>,
  keep: (step: () => Promise<ToolResult>) => Promise<ToolResult>,
): Promise<ToolResult> {
  let working: Promise<ToolResult> | undefined;
  const kept = keep(() => {
    if (signal.aborted) return Promise.resolve(notRun(signal));
    working = work();
    return working;
  });
  let timer: NodeJS.Timeout | undefined;
  let onAbort = (): void => undefined;
  const overdue = new Promise<ToolResult>((resolve, reject) => {
    const giveUp = () => {
      const result = working ?? Promise.resolve(notRun(signal));
      timer = setTimeout(() => result.then(resolve, reject), CHECKPOINT_GRACE_MS);
    };
    onAbort = () => void (working ?? Promise.resolve()).then(giveUp, giveUp);
    signal.addEventListener('abort', onAbort, {once: true});
  });
  try {
    return await Promise.race([kept, overdue]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
    // Its failure after the result went on has nobody left to be told.
    kept.catch(() => undefined);
  }
}

function notRun(signal: AbortSignal): ToolResult {
  return errorResult(`Not run: ${messageOf(signal.reason)}.`);
}
