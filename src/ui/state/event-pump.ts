/**
 * Applies events to the state of the screen at most every 33 ms, the first event of a burst at once. When frames take
 * long, the pause grows with them, so that a streaming answer leaves most of the time to the keys and to other
 * programs. Neighbouring text deltas are joined; no event is dropped, and the order stays. Events of subagents change
 * only a few rows, so they wait longer.
 */
import type {AgentEvent} from '../../core/contract/events.ts';

interface EventPump {
  readonly push: (event: AgentEvent) => void;
  /** Applies the waiting events now. */
  readonly flush: () => void;
  /** Applies the waiting events and stops the timer. */
  readonly stop: () => void;
}

const FRAME_MS = 33;
/** Milliseconds of the pause after events of subagents only. */
const SUBAGENT_FRAME_MS = 100;
/**
 * Ratio of the pause to the time that a frame takes, with drawing. The pause is at most `MAX_FRAME_MS`. The cheaper one of
 * the last two frames counts, so that one that loads code or draws the whole screen does not delay the next one.
 */
const PAUSE_SHARE = 15;
/** Milliseconds. It is shorter than `TICK_MS`, so that parts which move by themselves are drawn with these frames. */
const MAX_FRAME_MS = 180;

export function createEventPump(apply: (events: readonly AgentEvent[]) => void): EventPump {
  let waiting: AgentEvent[] = [];
  let timer: NodeJS.Timeout | undefined;
  let drawn: NodeJS.Immediate | undefined;
  let lastCost = 0;

  const flush = () => {
    if (waiting.length === 0) return;
    const events = waiting;
    waiting = [];
    apply(events);
  };
  const tick = () => {
    timer = undefined;
    if (waiting.length === 0) return;
    const shortest = waiting.some((event) => event.parent === undefined) ? FRAME_MS : SUBAGENT_FRAME_MS;
    const began = performance.now();
    flush();
    // React and Ink draw in microtasks, so the frame is written before this callback runs.
    drawn = setImmediate(() => {
      drawn = undefined;
      const cost = performance.now() - began;
      const pause = Math.min(cost, lastCost) * PAUSE_SHARE;
      lastCost = cost;
      timer = setTimeout(tick, Math.max(shortest, Math.min(MAX_FRAME_MS, pause)));
    });
  };
  return {
    push: (event) => {
      const last = waiting.at(-1);
      const joined = last && joinText(last, event);
      if (joined) waiting[waiting.length - 1] = joined;
      else waiting.push(event);
      if (timer || drawn) return;
      // The first event waits until the end of this tick, so that a burst is one repaint.
      timer = setTimeout(tick, 0);
    },
    flush,
    stop: () => {
      clearTimeout(timer);
      clearImmediate(drawn);
      timer = undefined;
      drawn = undefined;
      flush();
    },
  };
}

function joinText(last: AgentEvent, next: AgentEvent): AgentEvent | undefined {
  if (last.agentId !== next.agentId) return undefined;
  if (last.type === 'text_delta' && next.type === 'text_delta') return {...next, text: last.text + next.text};
  if (last.type === 'thinking_delta' && next.type === 'thinking_delta') return {...next, text: last.text + next.text};
  return undefined;
}
