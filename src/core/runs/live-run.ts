/** A run that waits for a slot or is at work, for those who stop it, write to it, detach it or wait for it. */

import type {Clock} from '../contract/results.ts';
import type {RunSpec} from '../contract/run-spec.ts';
import type {OpenRun, SubagentResult} from '../contract/runs.ts';
import type {History} from '../turn/history.ts';
import {Inbox} from '../turn/inbox.ts';
import {RunAborted} from '../turn/run-ending.ts';
import type {OpenedRun} from './run-record.ts';

export class LiveRun {
  /** Messages that are sent to it while it works. */
  readonly inbox = new Inbox();
  /** Its last line is being written. */
  isEnding = false;
  /** The session ends while the run goes on at a worker: no end is written. */
  isLeft = false;
  /** It was sent to the background while it was awaited. */
  isDetached = false;
  readonly #abort = new AbortController();
  #unlink: () => void = () => undefined;
  #toBackground: () => void = () => undefined;
  /** Resolves when it is sent to the background: callers stop waiting for its end. */
  readonly detached = new Promise<void>((resolve) => {
    this.#toBackground = resolve;
  });
  #ended: Promise<SubagentResult> | undefined;

  readonly spec: RunSpec;
  readonly round: number;
  readonly transcript: OpenRun;
  /** It already begins with the task, or ends with the message that makes the run go on. */
  readonly history: History;

  /** @param parent the signal of the turn that dispatched it; absent for a background run, which outlives the turn. */
  constructor(
    {spec, round, transcript, history}: OpenedRun,
    parent: AbortSignal | undefined,
    /** A message that comes after its last turn does not make it go on. */
    readonly endsForGood = false,
  ) {
    this.spec = spec;
    this.round = round;
    this.transcript = transcript;
    this.history = history;
    if (!parent) return;
    const follow = () => this.#abort.abort(parent.reason);
    if (parent.aborted) follow();
    parent.addEventListener('abort', follow);
    this.#unlink = () => parent.removeEventListener('abort', follow);
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

  /** It can no longer be joined or sent to the background. */
  get isOver(): boolean {
    return this.isStopping || this.isEnding;
  }

  /** How it ends. Never rejects. */
  get ended(): Promise<SubagentResult> {
    if (!this.#ended) throw new Error(`run ${this.runId} has not begun`);
    return this.#ended;
  }

  begin(work: () => Promise<SubagentResult>): void {
    this.#ended = work().finally(() => this.#unlink());
  }

  /** Waits for its end, at most so many milliseconds, and no longer than until `signal` is aborted. */
  async endsWithin(ms: number, clock: Clock, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    let giveUp = (): void => undefined;
    const over = new Promise<void>((resolve) => {
      giveUp = resolve;
    });
    const cancelTimer = clock.setTimer(giveUp, ms);
    signal.addEventListener('abort', giveUp);
    await Promise.race([this.ended, over]);
    cancelTimer();
    signal.removeEventListener('abort', giveUp);
  }

  /** The first reason wins. */
  stop(why: 'stop' | 'close'): void {
    this.#abort.abort(new RunAborted(why));
  }

  /** From now on the end of its parent's turn does not stop it. */
  outlive(): void {
    this.#unlink();
  }

  /** Sends it to the background: it outlives its parent's turn, and `detached` resolves. */
  detach(): void {
    this.outlive();
    this.isDetached = true;
    this.#toBackground();
  }
}
