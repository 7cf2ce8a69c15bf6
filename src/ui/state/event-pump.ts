/**
 * Applies events to the state of the screen at most every 33 ms, the first event of a burst at once. Neighbouring deltas of
 * text become one; no event is dropped, and their order is kept. Events of subagents change only a few rows, so they
 * wait longer.
 */
import type {AgentEvent} from '../../core/contract/events.ts';

export interface EventPump {
  readonly push: (event: AgentEvent) => void;
  /** Applies the waiting events now. */
  readonly flush: () => void;
  /** Applies the waiting events and stops the timer. */
  readonly stop: () => void;
}

const FRAME_MS = 33;
/** The pause after events of subagents only. */
const SUBAGENT_FRAME_MS = 100;

export function createEventPump(apply: (events: readonly AgentEvent[]) => void): EventPump {
  let waiting: AgentEvent[] = [];
  let timer: NodeJS.Timeout | undefined;

  const flush = () => {
    if (waiting.length === 0) return;
    const events = waiting;
    waiting = [];
    apply(events);
  };
  const tick = () => {
    timer = undefined;
    if (waiting.length === 0) return;
    const isMain = waiting.some((event) => event.parent === undefined);
    flush();
    timer = setTimeout(tick, isMain ? FRAME_MS : SUBAGENT_FRAME_MS);
  };
  return {
    push: (event) => {
      const last = waiting.at(-1);
      const joined = last && joinText(last, event);
      if (joined) waiting[waiting.length - 1] = joined;
      else waiting.push(event);
      if (timer) return;
      // The first event waits until the end of this tick, so that a burst is one repaint.
      timer = setTimeout(tick, 0);
    },
    flush,
    stop: () => {
      clearTimeout(timer);
      timer = undefined;
      flush();
    },
  };
}

function joinText(last: AgentEvent, next: AgentEvent): AgentEvent | undefined {
  if (last.type !== 'text_delta' || next.type !== 'text_delta' || last.agentId !== next.agentId) return undefined;
  return {...next, text: last.text + next.text};
}
