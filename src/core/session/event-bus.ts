/**
 * Carries events from the core to front ends. Delivery is synchronous and in order, to the listeners of that moment.
 * The bus stores and drops nothing. A listener can neither delay nor change a run: one that throws is removed and
 * reported.
 */
import type {AgentEvent, AgentEventBody, Emit, Emitters} from '../contract/events.ts';
import {EventRedaction} from '../secrets/event-redaction.ts';
import {Redactor} from '../secrets/redaction.ts';
import {getErrorMessage} from '../util/errors.ts';

type Listener = (event: AgentEvent) => void;

export class EventBus implements Emitters {
  readonly #listeners = new Set<Listener>();
  readonly #redaction: EventRedaction;
  #seq = 0;

  /** @param redactor removes known keys from every event */
  constructor(
    private readonly onListenerError: (message: string) => void,
    redactor: Redactor = new Redactor([]),
  ) {
    this.#redaction = new EventRedaction(redactor);
  }

  /** @returns a function that ends the subscription */
  subscribe(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  emitFor(agentId: string, parent?: string): Emit {
    return (body) => {
      for (const redacted of this.#redaction.redact(agentId, body)) this.#publish(redacted, agentId, parent);
    };
  }

  #publish(body: AgentEventBody, agentId: string, parent: string | undefined): void {
    const tags = {agentId, ...(parent !== undefined && {parent}), seq: ++this.#seq, at: Date.now()};
    const event: AgentEvent = {...body, ...tags};
    for (const listener of [...this.#listeners]) {
      try {
        listener(event);
      } catch (error) {
        this.#listeners.delete(listener);
        this.onListenerError(getErrorMessage(error));
      }
    }
  }
}
