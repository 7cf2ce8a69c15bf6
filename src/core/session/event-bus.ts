/**
 * One way out for progress. Delivery is synchronous and in order, to those who listen now; nothing is stored or
 * dropped here, and a listener can neither delay nor change the run: one that throws is taken off and reported.
 */

import type {AgentEvent, AgentEventBody, Emit} from '../contract/events.ts';
import {EventRedaction} from '../secrets/event-redaction.ts';
import {Redactor} from '../secrets/redaction.ts';
import {messageOf} from '../util/errors.ts';

type Listener = (event: AgentEvent) => void;

export class EventBus {
  readonly #listeners = new Set<Listener>();
  readonly #redaction: EventRedaction;
  #seq = 0;

  /** @param redactor takes keys out of all that is told */
  constructor(
    private readonly onListenerError: (message: string) => void,
    redactor: Redactor = new Redactor([]),
  ) {
    this.#redaction = new EventRedaction(redactor);
  }

  subscribe(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** The emit of one agent. `parent` is the agent that dispatched it. */
  emitFor(agentId: string, parent?: string): Emit {
    return (body) => {
      for (const told of this.#redaction.told(agentId, body)) this.#tell(told, agentId, parent);
    };
  }

  #tell(body: AgentEventBody, agentId: string, parent: string | undefined): void {
    const event: AgentEvent = {
      ...body,
      agentId,
      ...(parent === undefined ? {} : {parent}),
      seq: ++this.#seq,
      at: Date.now(),
    };
    for (const listener of [...this.#listeners]) {
      try {
        listener(event);
      } catch (error) {
        this.#listeners.delete(listener);
        this.onListenerError(messageOf(error));
      }
    }
  }
}
