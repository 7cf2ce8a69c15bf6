/** One attempt of a call with a checkpoint around it: of the files that it names, or of the workspace for a command. */
import type {Checkpoints} from '../contract/checkpoints.ts';
import type {FileLedger} from '../contract/tool.ts';
import type {ToolResult} from '../contract/tool-result.ts';
import {getErrorMessage} from '../util/errors.ts';
import {errorResult} from '../util/tool-output.ts';

export interface CheckpointedCaller {
  readonly agentId: string;
  /** As people know the agent, see `Writer`. */
  readonly label: string;
  readonly files: FileLedger;
  readonly checkpoints: Checkpoints;
}

/** After an abort, the checkpoint behind a call has this long; then the result goes on without it. */
const CHECKPOINT_GRACE_MS = 500;

/**
 * @param writes the files that the call names, absolute, links resolved; none: it is a command, which may write any.
 * @param work ends by itself when `signal` is aborted.
 * @throws what `work` throws, and when a file cannot be saved: then nothing was run.
 */
export async function runCheckpointed(
  writes: readonly string[],
  caller: CheckpointedCaller,
  signal: AbortSignal,
  work: () => Promise<ToolResult>,
): Promise<ToolResult> {
  const around = writes.length > 0 ? aroundWrites : aroundCommand;
  return promptly(signal, work, (step) => around(caller, step, writes));
}

async function aroundWrites(
  {checkpoints, agentId, label}: CheckpointedCaller,
  work: () => Promise<ToolResult>,
  writes: readonly string[],
): Promise<ToolResult> {
  const by = {agentId, label};
  const begun: string[] = [];
  try {
    for (const path of writes) {
      await checkpoints.beforeWrite(by, path);
      begun.push(path);
    }
    return await work();
  } finally {
    for (const path of begun) await checkpoints.afterWrite(by, path);
  }
}

async function aroundCommand(
  {checkpoints, files, agentId, label}: CheckpointedCaller,
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

/** A stop does not wait for a checkpoint: the result of the work counts, and work that has not begun never does. */
async function promptly(
  signal: AbortSignal,
  work: () => Promise<ToolResult>,
  checkpointed: (step: () => Promise<ToolResult>) => Promise<ToolResult>,
): Promise<ToolResult> {
  let working: Promise<ToolResult> | undefined;
  const result = checkpointed(() => {
    if (signal.aborted) return Promise.resolve(notRun(signal));
    working = work();
    return working;
  });
  // An error of the checkpoint after the grace period reaches no caller any more.
  result.catch(() => undefined);
  return withAbortGrace(result, signal, async (grace) => {
    await working?.catch(() => undefined);
    await grace(CHECKPOINT_GRACE_MS);
    return working ?? notRun(signal);
  });
}

export function notRun(signal: AbortSignal): ToolResult {
  return errorResult(`Not run: ${getErrorMessage(signal.reason)}.`);
}

/**
 * Waits for `running`, and after an abort of `signal` only as long as `overdue` does.
 * @param overdue called at the abort; its result is used when `running` has none by then. `grace` waits, in milliseconds.
 */
export async function withAbortGrace<T>(
  running: Promise<T>,
  signal: AbortSignal,
  overdue: (grace: (ms: number) => Promise<void>) => Promise<T>,
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  let onAbort = (): void => undefined;
  const grace = (ms: number) =>
    new Promise<void>((resolve) => {
      timer = setTimeout(resolve, ms);
    });
  const aborted = new Promise<T>((resolve, reject) => {
    onAbort = () => void overdue(grace).then(resolve, reject);
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, {once: true});
  });
  try {
    return await Promise.race([running, aborted]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  }
}
