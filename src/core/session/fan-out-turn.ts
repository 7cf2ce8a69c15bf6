/** A turn in which a fan-out replaces the main model. Its summary is the answer. */
import {randomUUID} from 'node:crypto';
import type {AgentRun} from '../agent-loop.ts';
import type {FanOutReport} from '../contract/fan-out.ts';
import type {RunResult} from '../contract/results.ts';
import type {ApprovedFanOut, FanOuts} from '../fan-out/fan-outs.ts';
import {formatTimeout, NO_TOTALS, RunAborted} from '../turn/run-ending.ts';
import {Deadline} from '../turn/run-limits.ts';
import {NO_USAGE} from '../util/messages.ts';

/** Model name of an answer that the runtime wrote. Claude Code uses the same name. */
const BY_RUNTIME = '<synthetic>';

/** Runs the fan-out. The prompt is already in the history. @throws what `FanOuts.run` throws */
export async function runFanOutTurn(fanOuts: FanOuts, approved: ApprovedFanOut, run: AgentRun): Promise<RunResult> {
  const startedAt = run.clock.now();
  const timeout = new AbortController();
  const {timeoutSeconds} = run.limits;
  const deadline = new Deadline(run.clock, timeoutSeconds * 1000, () =>
    timeout.abort(new RunAborted('timeout', formatTimeout(timeoutSeconds))),
  );
  const signal = AbortSignal.any([run.signal, timeout.signal]);
  try {
    const report = await fanOuts.run(approved, signal);
    appendAnswer(report.text, run);
    const durationMs = run.clock.now() - startedAt;
    return {...NO_TOTALS, ...getEnding(report, signal), text: report.text, durationMs};
  } finally {
    deadline.stop();
  }
}

function appendAnswer(text: string, {history, emit}: AgentRun): void {
  const content = [{type: 'text' as const, text, citations: null}];
  history.append({role: 'assistant', content});
  const facts = {model: BY_RUNTIME, usage: NO_USAGE, stopReason: 'end_turn'};
  emit({type: 'message', role: 'assistant', id: `msg_${randomUUID().replaceAll('-', '')}`, content, ...facts});
}

/** Returns how the turn ended. It fails when all parts failed. The summary lists the parts that failed. */
function getEnding({results, parts}: FanOutReport, signal: AbortSignal) {
  if (signal.aborted) {
    const {reason} = signal;
    const isTimeout = reason instanceof RunAborted && reason.reason === 'timeout';
    return isTimeout ? {outcome: 'timeout' as const, timeout: reason.message} : {outcome: 'stopped' as const};
  }
  if (results.successful > 0) return {outcome: 'success' as const};
  const error = `no part of the fan-out succeeded: ${parts[0]?.reason ?? 'unknown'}`;
  return {outcome: 'error' as const, code: 'FAN_OUT', error};
}
