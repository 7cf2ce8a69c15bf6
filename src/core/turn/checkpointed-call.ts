/**
 * Runs a call with a checkpoint: saves what the call may change, runs it, and records what it changed. For a call that
 * names its files only these are saved, and for a command the whole workspace.
 */
import type {ChangesOfWork, Checkpoints, Writer} from '../contract/checkpoints.ts';
import type {ToolFacts, ToolRecord, ToolResult} from '../contract/results.ts';
import type {FileLedger} from '../contract/tool.ts';
import {inBackground, neverRejects} from '../util/background.ts';
import {getErrorMessage} from '../util/errors.ts';
import {errorResult} from '../util/tool-output.ts';
import {RunAborted} from './run-ending.ts';

export interface CheckpointedCaller extends Writer {
  readonly files: FileLedger;
  readonly checkpoints: Checkpoints;
}

/** Milliseconds that the checkpoint may take after an abort. The result is then returned without it. */
const CHECKPOINT_GRACE_MS = 500;
/**
 * Milliseconds that the checkpoint may take at the end of the wall-clock time or of the budget, when no person waits.
 */
const CHECKPOINT_GRACE_AT_LIMIT_MS = 5_000;
/** Text of a command's receipt when the checkpoint took too long. */
const NOT_COMPARED = 'the run ended before its files were compared';

/**
 * @param writes absolute paths of the files that the call names, with links resolved; empty for a command, which may
 *   write any file
 * @param work runs the call, as `ToolContext.mayBegin` says. It ends by itself when `signal` is aborted.
 * @throws what `work` throws; MiniCcError when a file cannot be saved. The call then did not run.
 */
export async function runCheckpointed(
  writes: readonly string[],
  caller: CheckpointedCaller,
  signal: AbortSignal,
  work: (mayBegin: Promise<boolean>) => Promise<ToolResult>,
): Promise<ToolResult> {
  const mayWriteAny = writes.length === 0;
  return endSoonAfterAbort(signal, work, (step) =>
    mayWriteAny
      ? runWithSavedWorkspace(caller, signal, step)
      : runWithSavedFiles(caller.checkpoints, caller, writes, () => step(Promise.resolve())),
  );
}

/**
 * Saves the files that `work` writes before and after it. Only these files change.
 * @throws MiniCcError when one cannot be saved, and what `work` throws
 */
export async function runWithSavedFiles<T>(
  checkpoints: Checkpoints,
  by: Writer,
  writes: readonly string[],
  work: () => Promise<T>,
): Promise<T> {
  const saved: string[] = [];
  try {
    for (const path of writes) {
      await checkpoints.beforeWrite(by, path);
      saved.push(path);
    }
    return await work();
  } finally {
    for (const path of saved) await checkpoints.afterWrite(by, path);
  }
}

async function runWithSavedWorkspace(
  {checkpoints, files, agentId, label}: CheckpointedCaller,
  signal: AbortSignal,
  work: (saved: Promise<void>) => Promise<ToolResult>,
): Promise<ToolResult> {
  const {value, compared} = await checkpoints.around({agentId, label}, async (saved) => {
    const ended = files.beginCommand();
    try {
      return await work(saved);
    } finally {
      await ended();
    }
  });
  const changes = withAbortGrace(compared, signal, async (grace) => {
    await grace(getGraceMs(signal));
    return {changed: [], uncounted: NOT_COMPARED};
  });
  return {...value, laterFacts: changes.then((found) => toFacts(found, value.facts))};
}

function toFacts({changed, shared = [], uncounted}: ChangesOfWork, earlier: ToolFacts = {}): ToolFacts {
  return {
    ...(changed.length > 0 ? {changed: [...(earlier.changed ?? []), ...changed]} : {}),
    ...(shared.length > 0 ? {shared} : {}),
    ...(uncounted === undefined ? {} : {uncounted}),
  };
}

/** Waits for the facts of a call that come after its result. */
export async function withLaterFacts({laterFacts, ...record}: ToolRecord): Promise<ToolRecord> {
  return laterFacts ? {...record, facts: {...record.facts, ...(await laterFacts)}} : record;
}

/**
 * After an abort, work that has not begun does not begin, and neither the result of work that ran nor the end of the run
 * waits long for its checkpoint. The receipt of a command then says that its changes are not counted.
 */
async function endSoonAfterAbort(
  signal: AbortSignal,
  work: (mayBegin: Promise<boolean>) => Promise<ToolResult>,
  checkpointed: (step: (saved: Promise<void>) => Promise<ToolResult>) => Promise<ToolResult>,
): Promise<ToolResult> {
  let working: Promise<ToolResult> | undefined;
  let hasBegun = false;
  const result = checkpointed((saved) => {
    if (signal.aborted) return Promise.resolve(notRun(signal));
    const mayBegin = saved.then(() => {
      hasBegun = !signal.aborted;
      return hasBegun;
    });
    working = work(mayBegin);
    return working;
  });
  // After the grace period no caller awaits an error of the checkpoint.
  result.catch(() => undefined);
  return withAbortGrace(result, signal, async (grace) => {
    if (hasBegun) await working?.catch(() => undefined);
    await grace(getGraceMs(signal));
    return hasBegun && working ? working : notRun(signal);
  });
}

function getGraceMs({reason}: AbortSignal): number {
  const isAtLimit = reason instanceof RunAborted && (reason.reason === 'timeout' || reason.reason === 'budget');
  return isAtLimit ? CHECKPOINT_GRACE_AT_LIMIT_MS : CHECKPOINT_GRACE_MS;
}

/** Returns the result of a call that did not run because of the abort. */
export function notRun(signal: AbortSignal): ToolResult {
  return errorResult(`Not run: ${getErrorMessage(signal.reason)}.`);
}

/**
 * Waits for `running`. After an abort of `signal` it waits only until `onAbort` resolves, and returns the earlier
 * result.
 * @param onAbort called at the abort. Its argument waits for some milliseconds.
 */
export async function withAbortGrace<T>(
  running: Promise<T>,
  signal: AbortSignal,
  onAbort: (grace: (ms: number) => Promise<void>) => Promise<T>,
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  let listener = (): void => undefined;
  const grace = (ms: number) =>
    new Promise<void>((resolve) => {
      timer = setTimeout(resolve, ms);
    });
  const aborted = new Promise<T>((resolve, reject) => {
    listener = () => inBackground(onAbort(grace).then(resolve, reject), neverRejects);
    if (signal.aborted) listener();
    else signal.addEventListener('abort', listener, {once: true});
  });
  try {
    return await Promise.race([running, aborted]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', listener);
  }
}

/** Saves nothing. Results of commands say so. */
export const NO_CHECKPOINTS: Checkpoints = {
  beforeWrite: async () => undefined,
  afterWrite: async () => undefined,
  around: async (_by, work) => ({
    value: await work(Promise.resolve()),
    compared: Promise.resolve({changed: [], uncounted: 'no checkpoints are kept here'}),
  }),
  prepare: () => undefined,
};
