/** Describes in a few words what the main agent does. The person reads it beside the time it has taken. */
import {formatRetry} from '../../core/util/text.ts';
import {isEmpty} from '../text/answer-stream.ts';
import {screenLine} from '../text/screen-text.ts';
import {awaitedRuns, hasEnded} from './subagent-store.ts';
import type {UiState} from './ui-state.ts';

/** @param now milliseconds since the epoch */
export function describeWork(ui: UiState, now: number): string {
  const {retry, session} = ui;
  const model = session?.model ?? 'the model';
  if (retry) return screenLine(`${model}: ${formatRetry({...retry, waitMs: retry.until - now})}`);
  if (ui.thought !== '') return 'Thinking';
  if (!isEmpty(ui.stream)) return 'Writing';
  const running = getRunning(ui);
  if (running.length === 1) return `Running ${running[0]!.call}`;
  if (running.length > 1) return `Running ${running.length} calls`;
  const agents = awaitedRuns(ui).filter((run) => !hasEnded(run)).length;
  if (agents > 0) return `Waiting for ${agents === 1 ? '1 agent' : `${agents} agents`}`;
  return ui.busy ? `Waiting for ${model}` : 'Working';
}

/**
 * Returns when the described work began, in milliseconds since the epoch. A single call has its own time; otherwise the
 * turn's time counts.
 */
export function getWorkStart(ui: UiState): number {
  const {retry, thought, stream, busySince} = ui;
  const running = getRunning(ui);
  return retry || thought !== '' || !isEmpty(stream) || running.length !== 1 ? busySince : running[0]!.since;
}

function getRunning({tools, dispatched}: UiState): UiState['tools'] {
  return tools.filter(({callId}) => !dispatched.includes(callId));
}
