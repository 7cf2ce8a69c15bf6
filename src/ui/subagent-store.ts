/**
 * The subagents' lines, in order of dispatch. What they write and which tools they call stays in their transcripts:
 * here their tool calls are counted. When all of a group have ended, it is finished and printed.
 */
import type {AgentEvent} from '../core/events.ts';
import type {ProgressState} from '../core/progress-line.ts';
import {addItem} from './finished.ts';
import {screenLine} from './screen-text.ts';
import type {SubagentRun, UiState} from './ui-state.ts';

export function reduceSubagent(state: UiState, event: AgentEvent): UiState {
  switch (event.type) {
    case 'run_start': {
      const run: SubagentRun = {
        agentId: event.agentId,
        callId: event.callId,
        agent: screenLine(event.agent),
        description: screenLine(event.description),
        state: event.queued ? 'queued' : 'running',
        tools: 0,
        startedAt: event.at,
        durationMs: 0,
        reason: '',
        note: '',
      };
      const dispatched = event.callId ? [...state.dispatched, event.callId] : state.dispatched;
      return {...state, dispatched, subagents: [...state.subagents, run]};
    }
    case 'run_active':
      return update(state, event.agentId, (run) => ({...run, state: 'running', startedAt: event.at}));
    case 'tool_end':
      return update(state, event.agentId, (run) => ({...run, tools: run.tools + 1, note: ''}));
    case 'retry':
      return update(state, event.agentId, (run) => ({...run, note: retryText(event.waitMs, event.reason)}));
    case 'message':
    case 'tool_start':
      return update(state, event.agentId, (run) => (run.note === '' ? run : {...run, note: ''}));
    case 'run_end': {
      const ended = update(state, event.agentId, (run) => ({
        ...run,
        state: event.outcome,
        tools: event.tools,
        durationMs: event.durationMs,
        reason: screenLine(event.reason ?? ''),
        note: '',
      }));
      const isGroupOver = ended.subagents.every(hasEnded);
      return isGroupOver || !ended.busy ? settleSubagents(ended) : ended;
    }
    default:
      return state;
  }
}

/** Prints those that have ended; those at work in the background stay live. */
export function settleSubagents(state: UiState): UiState {
  const ended = state.subagents.filter(hasEnded);
  if (ended.length === 0) return state;
  const next = {...state, subagents: state.subagents.filter((run) => !hasEnded(run))};
  return addItem(next, {kind: 'subagents', title: groupTitle(ended), runs: ended.map((run) => progressOf(run, 0))});
}

/** What stands after `> Task: ` over the lines. */
export function groupTitle(runs: readonly {description: string}[]): string {
  return runs.length === 1 ? runs[0]!.description : `${runs.length} agents`;
}

/** A run as `progressLine` takes it; a run at work is measured up to `now`. */
export function progressOf(run: SubagentRun, now: number): ProgressState {
  return {
    agent: run.agent,
    description: run.description,
    state: run.state,
    tools: run.tools,
    durationMs: hasEnded(run) ? run.durationMs : Math.max(0, now - run.startedAt),
    reason: run.reason,
  };
}

export function hasEnded(run: SubagentRun): boolean {
  return run.state !== 'queued' && run.state !== 'running';
}

function update(state: UiState, agentId: string, change: (run: SubagentRun) => SubagentRun): UiState {
  const index = state.subagents.findIndex((run) => run.agentId === agentId);
  const run = state.subagents[index];
  if (!run) return state;
  const changed = change(run);
  return changed === run ? state : {...state, subagents: state.subagents.with(index, changed)};
}

/** `retrying in 4s (429)` */
export function retryText(waitMs: number, reason: string): string {
  return `retrying in ${Math.max(0, Math.round(waitMs / 1000))}s (${screenLine(reason)})`;
}
