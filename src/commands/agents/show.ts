/** One agent, whole: what its file says, and what it really has. */
import type {LoadedAgent} from '../../agents/catalog.ts';
import {slipOf} from '../../core/util/nearest.ts';
import {type AgentsDesk, type DeskResult, SOURCE_WORDS} from './deps.ts';

export function showAgent(name: string, desk: AgentsDesk): DeskResult {
  const agent = findAgent(name, desk);
  if ('ok' in agent) return agent;
  return {ok: true, text: agentText(agent, desk)};
}

/** The agent, or why there is none. */
export function findAgent(name: string, desk: AgentsDesk): LoadedAgent | DeskResult {
  const {agents} = desk.snapshot();
  const names = agents.map(({definition}) => definition.name);
  if (name === '') return {ok: false, text: `Which agent? There are: ${names.join(', ')}`};
  const agent = agents.find(({definition}) => definition.name === name);
  if (agent) return agent;
  const meant = slipOf(name, names);
  return {ok: false, text: `No agent ${name}.${meant ? ` Did you mean ${meant}?` : ''} There are: ${names.join(', ')}`};
}

function agentText({definition, source, file, tools, missing, readOnly}: LoadedAgent, desk: AgentsDesk): string {
  const lines = [
    `${definition.name} · ${file ? desk.shownPath(file) : SOURCE_WORDS[source]}`,
    definition.description,
    '',
    `tools: ${tools.join(', ')}`,
    ...missing.map((tool) => `  without ${tool.name}: ${tool.reason}`),
    `read-only: ${readOnly ? 'yes, its bash is held by the operating system' : 'no'}`,
    `model: ${definition.model ?? 'inherit'}`,
    ...(definition.permissionMode === undefined ? [] : [`mode: ${definition.permissionMode}`]),
    ...(definition.maxTurns === undefined ? [] : [`turns: ${definition.maxTurns}`]),
    ...(definition.timeoutSeconds === undefined ? [] : [`seconds: ${definition.timeoutSeconds}`]),
    '',
    definition.prompt.trim(),
  ];
  return lines.join('\n');
}
