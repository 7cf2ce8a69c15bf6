/** The titles of subagents' runs, so that what a run says to the person names the run: `[explore] look around: …`. */
import type {AgentEvent} from '../core/contract/events.ts';
import {formatRunTitle} from '../core/runs/progress-line.ts';

export class RunTitles {
  readonly #titles = new Map<string, string>();

  /** Learns the titles from the events of a session, in their order. */
  take(event: AgentEvent): void {
    if (event.type === 'run_start' && event.parent !== undefined)
      this.#titles.set(event.agentId, formatRunTitle(event));
  }

  /** @returns the text, and before it the title of the subagent's run that said it */
  prefix({agentId}: Pick<AgentEvent, 'agentId'>, text: string): string {
    const title = this.#titles.get(agentId);
    return title === undefined ? text : `${title}: ${text}`;
  }
}
