import type {Answer} from '../../core/contract/events.ts';

/**
 * Creates the result of a command that did nothing, because its question was not answered with yes.
 * @param answer undefined where no person can be asked; the result is then a failure
 */
export function createDeclined(
  text: string,
  answer: Answer | undefined,
): {readonly ok: boolean; readonly text: string} {
  return answer ? {ok: true, text} : {ok: false, text: `${text} Here nobody can be asked.`};
}
