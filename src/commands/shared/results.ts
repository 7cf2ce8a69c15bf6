/** Asks the question, and creates the results, that several commands share. */
import type {Answer} from '../../core/contract/events.ts';
import type {CommandContext, CommandResult} from '../../core/contract/session-requests.ts';

export function done(text: string): CommandResult {
  return {ok: true, text};
}

export function failed(text: string): CommandResult {
  return {ok: false, text};
}

/** Asks for a yes or a no. @param yes label of the yes @returns undefined where no person can be asked */
export async function confirm(
  ask: CommandContext['ask'],
  title: string,
  detail = '',
  yes = 'yes',
): Promise<boolean | undefined> {
  const options = [
    {digit: 1, choice: 'yes', label: yes},
    {digit: 2, choice: 'no', label: 'no'},
  ];
  const answer = await ask({title, detail, options, escape: 'no'});
  return answer && answer.choice === 'yes';
}

/**
 * Creates the result of a command that did nothing, because its question was not answered with yes.
 * @param answer undefined where no person can be asked; the result is then a failure
 */
export function createDeclined(text: string, answer: Answer | boolean | undefined) {
  return answer === undefined ? failed(`${text} Here nobody can be asked.`) : done(text);
}
