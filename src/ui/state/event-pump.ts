/**
 * Applies events to the state of the screen at most every 33 ms, the first event of a burst at once. Where a frame takes
 * long, the pause grows with it: an answer that streams leaves most of the time to the keys and to other programs.
 * Neighbouring deltas of text become one; no event is dropped, and their order is kept. Events of subagents change only
 * a few rows, so they wait longer.
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
/** The pause after events of subagents only. */
const SUBAGENT_FRAME_MS = 100;
/** The pause is so many times as long as the frame before it took, drawing included, up to `MAX_FRAME_MS`. */
const PAUSE_SHARE = 15;
/** Shorter than the time of what moves by itself (`TICK_MS`), which is then drawn along with these frames. */
const MAX_FRAME_MS = 180;

export function createEventPump(apply: (events: readonly AgentEvent[]) => void): EventPump {
  let waiting: AgentEvent[] = [];
  let timer: NodeJS.Timeout | undefined;
  let drawn: NodeJS.Immediate | undefined;

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
    // React and Ink draw in microtasks: when this runs, the frame is written.
    drawn = setImmediate(() => {
      drawn = undefined;
      const pause = Math.min(MAX_FRAME_MS, (performance.now() - began) * PAUSE_SHARE);
      timer = setTimeout(tick, Math.max(shortest, pause));
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
