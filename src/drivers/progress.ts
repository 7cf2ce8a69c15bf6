/** Formats what front ends without a screen say about runs: print mode's progress lines, and the titles of runs. */
import type {AgentEvent} from '../core/contract/events.ts';
import {formatProgressLine, formatRunTitle, formatTaskHeader, type ProgressState} from '../core/runs/progress-line.ts';
import type {LiveLines} from './live-lines.ts';

interface ShownRun {
  readonly line: ProgressState;
  /** Milliseconds since the epoch when the run left the queue. */
  readonly startedAt: number;
}

/**
 * Creates the progress for standard error that is not a terminal: a header and a first line when a run starts, and a
 * last line when it ends.
 * @param write gets one line without its newline
 */
export function createProgress(write: (line: string) => void): (event: AgentEvent) => void {
  const runs = new Map<string, ShownRun>();
  return inOrderOfDispatch((event) => {
    const key = getKey(event);
    const before = runs.get(key);
    const run = advance(before, event);
    if (!run) return;
    runs.set(key, run);
    if (!before || event.type === 'run_start') write(formatTaskHeader(run.line.description));
    const hasEnded = !isAtWork(run);
    if (!before || event.type === 'run_start' || hasEnded) write(formatProgressLine(run.line));
    if (hasEnded) runs.delete(key);
  });
}

/** Milliseconds between two updates of the running agents' seconds. */
const TICK_MS = 200;

/**
 * Creates the progress for a terminal: a header and a line for each run, in order of dispatch, which change in place.
 */
export function createLiveProgress(lines: LiveLines): (event: AgentEvent) => void {
  const runs = new Map<string, ShownRun>();
  let timer: NodeJS.Timeout | undefined;
  const draw = () => {
    const now = Date.now();
    lines.draw(
      [...runs.values()].flatMap((run) => [
        formatTaskHeader(run.line.description),
        formatProgressLine(withDuration(run, now)),
      ]),
    );
  };
  return inOrderOfDispatch((event) => {
    const key = getKey(event);
    const run = advance(runs.get(key), event);
    if (!run) return;
    runs.set(key, run);
    draw();
    if ([...runs.values()].some(isAtWork)) timer ??= setInterval(draw, TICK_MS);
    else {
      clearInterval(timer);
      timer = undefined;
      runs.clear();
      lines.settle();
    }
  });
}

/**
 * Passes the events of runs on in the order in which the calls began that dispatch the runs: those of a later call wait
 * until the earlier calls have a line, or have ended without one.
 */
function inOrderOfDispatch(show: (event: AgentEvent) => void): (event: AgentEvent) => void {
  const calls = new Map<string, AgentEvent[]>();
  const callOf = new Map<string, string>();
  let shown = new Set<string>();
  const release = () => {
    for (const [callId, events] of calls) {
      for (const event of events.splice(0)) show(event);
      if (!shown.has(callId)) return;
      calls.delete(callId);
    }
    if (calls.size === 0) shown = new Set();
  };
  return (event) => {
    if (event.type === 'tool_start' && event.parent === undefined && event.tool === 'Task') calls.set(event.callId, []);
    if (event.type === 'run_start' && event.callId !== undefined) callOf.set(event.agentId, event.callId);
    const callId = 'callId' in event && event.parent === undefined ? event.callId : callOf.get(event.agentId);
    const held = callId === undefined ? undefined : calls.get(callId);
    if (!held) return show(event);
    held.push(event);
    if (event.type === 'run_start' || event.type === 'repeated_task' || event.type === 'tool_end') shown.add(callId!);
    release();
  };
}

/** A call without a run of its own has a line of its own. */
const getKey = (event: AgentEvent) => (event.type === 'repeated_task' ? event.callId : event.agentId);

const isAtWork = ({line: {state}}: ShownRun) => state === 'running' || state === 'queued';

/** Returns the run after the event; undefined when the event changes no line. */
function advance(run: ShownRun | undefined, event: AgentEvent): ShownRun | undefined {
  if (event.type === 'run_start') {
    if (event.parent === undefined) return undefined;
    const {agent, description} = event;
    const state = event.queued ? 'queued' : 'running';
    return {line: {agent, description, state, tools: 0, durationMs: 0}, startedAt: event.at};
  }
  if (event.type === 'repeated_task') {
    const {agent, description, source, state, tools, durationMs, reason = ''} = event;
    const line = {agent, description, source, state, tools, durationMs, reason};
    return {line, startedAt: run?.startedAt ?? event.at};
  }
  if (!run) return undefined;
  switch (event.type) {
    case 'run_active':
      return {line: {...run.line, state: 'running'}, startedAt: event.at};
    case 'run_place':
      return {...run, line: {...run.line, worker: event.worker}};
    case 'run_note':
      return {...run, line: {...run.line, note: event.text}};
    case 'tool_end':
      return {...run, line: {...run.line, tools: run.line.tools + 1}};
    case 'run_end': {
      const {outcome, tools, durationMs, reason} = event;
      return {...run, line: {...run.line, state: outcome, tools, durationMs, ...(reason ? {reason} : {})}};
    }
    default:
      return undefined;
  }
}

function withDuration({line, startedAt}: ShownRun, now: number): ProgressState {
  return line.state === 'running' ? {...line, durationMs: now - startedAt} : line;
}

/**
 * Stores the titles of subagents' runs, so that messages to the person can name the run: `[explore] look around: …`.
 */
export class RunTitles {
  readonly #titles = new Map<string, string>();

  /** Stores the title that an event contains. It must get the events of a session in their order. */
  take(event: AgentEvent): void {
    if (event.type === 'run_start' && event.parent !== undefined)
      this.#titles.set(event.agentId, formatRunTitle(event));
  }

  /** Returns the text of a warning or an error; undefined for other events. */
  formatWarning(event: AgentEvent): string | undefined {
    return event.type === 'notice' && event.level !== 'info' ? this.prefix(event, event.text) : undefined;
  }

  /** @returns the text, preceded by the title of the subagent's run that it comes from */
  prefix({agentId}: Pick<AgentEvent, 'agentId'>, text: string): string {
    const title = this.#titles.get(agentId);
    return title === undefined ? text : `${title}: ${text}`;
  }
}
