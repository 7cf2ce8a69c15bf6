import {deleteAgent, findDeletableFile} from '../../agents/save.ts';
import type {AgentsDesk, DeskResult} from './deps.ts';

/**
 * Asks, then removes the file.
 * @param sure the question is answered already
 * @throws UsageError for what cannot be deleted, each by its own message
 */
export async function deleteByName(name: string, sure: boolean, desk: AgentsDesk): Promise<DeskResult> {
  if (name === '') return {ok: false, text: 'Which agent? /agents delete NAME'};
  const file = await findDeletableFile(name, desk.snapshot(), desk.writableFolders);
  if (!sure) {
    const answer = await desk.ask({
      title: `delete the agent ${name}?`,
      detail: desk.shownPath(file),
      detailType: 'text',
      options: [
        {digit: 1, choice: 'yes', label: 'yes, remove the file'},
        {digit: 4, choice: 'no', label: 'no'},
      ],
      escape: 'no',
    });
    if (answer?.choice !== 'yes') return {ok: true, text: `${name} stays.`};
  }
  const gone = await deleteAgent(name, desk.snapshot(), desk.writableFolders);
  return {ok: true, text: `Deleted ${desk.shownPath(gone)}`, data: {name, file: gone}};
}
