/**
 * Runs a call that an agent waits for, and that a person may send to the background while it is at work: it then goes on
 * as a run without an agent, and the agent gets the id of that run as its result.
 */
import type {Writer} from '../contract/checkpoints.ts';
import type {Emit} from '../contract/events.ts';
import type {OutputStore, ToolResult} from '../contract/results.ts';
import type {ToolContext} from '../contract/tool.ts';
import {followAbort} from '../util/abort.ts';

/** An allowed call that runs in the background: the agent does not wait for its end. */
export interface BackgroundCall {
  readonly callId: string;
  readonly tool: string;
  /** Describes the call for people. */
  readonly title: string;
  readonly input: unknown;
  /** When it began, by `performance.now()`, if it was at work before it went to the background. */
  readonly startedAt?: number;
  /** Runs the call on behalf of its background run, which has its own changes, output and progress. */
  run(by: Writer & {readonly output: OutputStore; readonly emit: Emit}, signal: AbortSignal): Promise<ToolResult>;
}

/** A call at work that may go on in the background. */
interface ForegroundCall extends BackgroundCall {
  /** Returns the path of the file that gets its whole output. @throws Error when the file cannot be created */
  openOutput(): string;
}

export interface BackgroundCalls {
  /** Begins the call. @returns its id and the file for its output @throws Error when that file cannot be created */
  start(call: BackgroundCall): ToolResult;
  /**
   * Lets a person send the call to the background until `withdraw`. `detached` then resolves with the result for the
   * agent.
   */
  offer(call: ForegroundCall): {readonly detached: Promise<ToolResult>; withdraw(): void};
  /** Says whether a call with this input, as JSON, waits for a run or a command that is still at work. */
  isWaitedForBy(input: string): boolean;
}

interface Foreground {
  readonly background: BackgroundCalls;
  readonly emit: Emit;
  readonly output: OutputStore & {readonly file?: string | undefined};
  /** Ends the call, unless it has gone to the background. */
  readonly signal: AbortSignal;
}

/**
 * @param work runs the call, with a signal and an `emit` that follow it into the background
 * @returns the call's own result, or that of a call in the background, whose `background` is `starts`
 * @throws what `work` throws before the call goes to the background
 */
export async function runInForeground(
  call: Omit<BackgroundCall, 'run'>,
  {background, output, ...given}: Foreground,
  work: (context: Pick<ToolContext, 'signal' | 'emit' | 'onBackground'>) => Promise<ToolResult>,
): Promise<ToolResult> {
  const control = new AbortController();
  let {emit} = given;
  let unfollow = followAbort(given.signal, control);
  let isDetached = false;
  let goOn = (): void => undefined;
  const onBackground = (listener: () => void) => {
    goOn = listener;
    if (isDetached) listener();
  };
  const running = work({signal: control.signal, emit: (event) => emit(event), onBackground});
  const startedAt = performance.now();
  const offer = background.offer({
    ...call,
    startedAt,
    openOutput() {
      if (output.file !== undefined) return output.file;
      const file = output.open(call.callId);
      file.close();
      return file.path;
    },
    run(by, signal) {
      isDetached = true;
      unfollow();
      unfollow = followAbort(signal, control);
      emit = by.emit;
      goOn();
      return running;
    },
  });
  try {
    return await Promise.race([running, offer.detached]);
  } finally {
    offer.withdraw();
    if (!isDetached) unfollow();
  }
}
