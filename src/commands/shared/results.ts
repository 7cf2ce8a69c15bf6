/** Creates the results that several commands return. */
import type {Answer} from '../../core/contract/events.ts';
import type {CommandResult} from '../../core/contract/session-requests.ts';

export function done(text: string): CommandResult {
  return {ok: true, text};
}

export function failed(text: string): CommandResult {
  return {ok: false, text};
}

/**
 * Creates the result of a command that did nothing, because its question was not answered with yes.
 * @param answer undefined where no person can be asked; the result is then a failure
 */
export function createDeclined(text: string, answer: Answer | undefined) {
  return answer ? done(text) : failed(`${text} Here nobody can be asked.`);
}
