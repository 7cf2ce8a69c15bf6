/** Represents a run that waits for a slot or is at work. It can be stopped, detached, awaited, and sent messages. */

import type {Clock} from '../contract/results.ts';
import type {RunSpec} from '../contract/run-spec.ts';
import type {OpenRun, SubagentResult} from '../contract/runs.ts';
import type {History} from '../turn/history.ts';
import {Inbox} from '../turn/inbox.ts';
import {RunAborted} from '../turn/run-ending.ts';
import {followAbort} from '../util/abort.ts';
import type {OpenedRun} from './run-record.ts';

export class LiveRun {
  readonly inbox = new Inbox();
  /** Whether the last line of the run is being written. */
  isEnding = false;
  /** Whether the session ends while the run continues at a worker. No end is written then. */
  isLeft = false;
  /** Whether the run was sent to the background while a call awaited it. */
  isDetached = false;
  readonly #abort = new AbortController();
  #unlink: () => void = () => undefined;
  readonly #detachment = Promise.withResolvers<void>();
  /** Resolves when the run is sent to the background. Callers then stop waiting for its end. */
  readonly detached = this.#detachment.promise;
  #ended: Promise<SubagentResult> | undefined;

  readonly spec: RunSpec;
  readonly round: number;
  readonly transcript: OpenRun;
  /** Already begins with the task, or ends with the message that makes the run continue. */
  readonly history: History;

  /** @param parent signal of the turn that dispatched the run; absent for a background run, which outlives the turn */
  constructor(
    {spec, round, transcript, history}: OpenedRun,
    parent: AbortSignal | undefined,
    /** When true, a message after the last turn does not make the run continue. */
    readonly endsForGood = false,
  ) {
    this.spec = spec;
    this.round = round;
    this.transcript = transcript;
    this.history = history;
    if (parent) this.#unlink = followAbort(parent, this.#abort);
  }

  get runId(): string {
    return this.spec.runId;
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  get isStopping(): boolean {
    return this.#abort.signal.aborted;
  }

  /** Whether the run can no longer be joined or sent to the background. */
  get isOver(): boolean {
    return this.isStopping || this.isEnding;
  }

  /** Result of the run. Never rejects. */
  get ended(): Promise<SubagentResult> {
    if (!this.#ended) throw new Error(`run ${this.runId} has not begun`);
    return this.#ended;
  }

  begin(work: () => Promise<SubagentResult>): void {
    this.#ended = work().finally(() => this.#unlink());
  }

  /** Waits for the end of the run, at most `ms` milliseconds, and only until `signal` is aborted. */
  async endsWithin(ms: number, clock: Clock, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    const over = Promise.withResolvers<void>();
    const giveUp = () => over.resolve();
    const cancelTimer = clock.setTimer(giveUp, ms);
    signal.addEventListener('abort', giveUp);
    await Promise.race([this.ended, over.promise]);
    cancelTimer();
    signal.removeEventListener('abort', giveUp);
  }

  /** Stops the run. The first reason wins. */
  stop(why: 'stop' | 'close'): void {
    this.#abort.abort(new RunAborted(why));
  }

  /** Detaches the run from its parent's turn, so that the end of that turn does not stop it. */
  outlive(): void {
    this.#unlink();
  }

  /** Sends the run to the background: it outlives its parent's turn, and `detached` resolves. */
  detach(): void {
    this.outlive();
    this.isDetached = true;
    this.#detachment.resolve();
  }
}
