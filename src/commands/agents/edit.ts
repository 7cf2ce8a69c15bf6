import {hasError} from '../../core/util/problem.ts';
import type {AgentsDesk, DeskResult} from './deps.ts';
import {findAgent} from './show.ts';

/** Opens the agent's file in `$EDITOR`; what was changed holds from the next Task on. */
export async function editAgent(name: string, desk: AgentsDesk): Promise<DeskResult> {
  const agent = findAgent(name, desk);
  if ('ok' in agent) return agent;
  const {source, file} = agent;
  if (source === 'built-in')
    return {ok: false, text: `${name} is built in: settings may change its model and limits (agents.${name}.model)`};
  if (source === 'inline' || file === undefined)
    return {ok: false, text: `${name} comes from --agents: there is no file to edit`};
  const opened = await desk.openEditor(file);
  if (opened !== true) return {ok: false, text: opened};
  const problems = desk.snapshot().problems.filter((problem) => problem.file === file);
  const shown = desk.shownPath(file);
  // The catalog has told what is wrong, with its place.
  return hasError(problems)
    ? {ok: false, text: `${shown} has errors: the last good one stays in use.`}
    : {ok: true, text: `${shown} is in use as it is now.`};
}
