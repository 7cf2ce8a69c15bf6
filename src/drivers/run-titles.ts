/**
 * Stores the titles of subagents' runs, so that messages to the person can name the run: `[explore] look around: …`.
 */
import type {AgentEvent} from '../core/contract/events.ts';
import {formatRunTitle} from '../core/runs/progress-line.ts';

export class RunTitles {
  readonly #titles = new Map<string, string>();

  /** Stores the title that an event contains. It must get the events of a session in their order. */
  take(event: AgentEvent): void {
    if (event.type === 'run_start' && event.parent !== undefined)
      this.#titles.set(event.agentId, formatRunTitle(event));
  }

  /** @returns the text, preceded by the title of the subagent's run that it comes from */
  prefix({agentId}: Pick<AgentEvent, 'agentId'>, text: string): string {
    const title = this.#titles.get(agentId);
    return title === undefined ? text : `${title}: ${text}`;
  }
}
