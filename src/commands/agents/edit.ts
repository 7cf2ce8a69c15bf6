import {deleteAgent, findDeletableFile} from '../../agents/save.ts';
import {hasError} from '../../core/util/problem.ts';
import type {AgentsDeps, AgentsResult} from './deps.ts';
import {findAgent} from './show.ts';

/** Opens the agent's file in `$EDITOR`. The change takes effect with the next Task. */
export async function editAgent(name: string, deps: AgentsDeps): Promise<AgentsResult> {
  const agent = findAgent(name, deps);
  if ('ok' in agent) return agent;
  const {source, file} = agent;
  if (source === 'built-in')
    return {ok: false, text: `${name} is built in: settings may change its model and limits (agents.${name}.model)`};
  if (source === 'inline' || file === undefined)
    return {ok: false, text: `${name} comes from --agents: there is no file to edit`};
  const opened = await deps.openEditor(file);
  if (opened !== true) return {ok: false, text: opened};
  const problems = deps.snapshot().problems.filter((problem) => problem.file === file);
  const shown = deps.shownPath(file);
  // The catalog has reported each error with its line.
  return hasError(problems)
    ? {ok: false, text: `${shown} has errors: the last valid one stays in use.`}
    : {ok: true, text: `${shown} is in use as it is now.`};
}

/**
 * Asks, then removes the file.
 * @param sure true when the question is answered already
 * @throws UsageError when the agent cannot be deleted, with a message for each case
 */
export async function deleteByName(name: string, sure: boolean, deps: AgentsDeps): Promise<AgentsResult> {
  if (name === '') return {ok: false, text: 'Which agent? /agents delete NAME'};
  const file = await findDeletableFile(name, deps.snapshot(), deps.writableFolders);
  if (!sure) {
    const answer = await deps.ask({
      title: `Delete the agent ${name}?`,
      detail: deps.shownPath(file),
      detailType: 'text',
      options: [
        {digit: 1, choice: 'yes', label: 'yes, remove the file'},
        {digit: 4, choice: 'no', label: 'no'},
      ],
      escape: 'no',
    });
    if (answer?.choice !== 'yes') return {ok: true, text: `Did not delete ${name}.`};
  }
  const deleted = await deleteAgent(name, deps.snapshot(), deps.writableFolders);
  return {ok: true, text: `Deleted ${deps.shownPath(deleted)}`, data: {name, file: deleted}};
}
