/** Progress lines of subagents on standard error, while print mode works. */
import type {AgentEvent} from '../core/events.ts';
import {type ProgressState, progressLine, taskHeader} from '../core/progress-line.ts';

/**
 * Each run's lines: the header and the first form at its start, the last form at its end.
 * @param write gets one line without its newline.
 */
export function createProgress(write: (line: string) => void): (event: AgentEvent) => void {
  const runs = new Map<string, ProgressState>();
  return (event) => {
    if (event.type === 'run_start' && event.parent !== undefined) {
      const {agent, description} = event;
      runs.set(event.agentId, {
        agent,
        description,
        state: event.queued ? 'queued' : 'running',
        tools: 0,
        durationMs: 0,
      });
      write(taskHeader(description));
      write(progressLine(runs.get(event.agentId)!));
      return;
    }
    const run = runs.get(event.agentId);
    if (!run || event.type !== 'run_end') return;
    runs.delete(event.agentId);
    const {outcome, tools, durationMs, reason} = event;
    write(progressLine({...run, state: outcome, tools, durationMs, ...(reason ? {reason} : {})}));
  };
}
