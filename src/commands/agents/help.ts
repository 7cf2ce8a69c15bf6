/** `/agents help`: the forms, and a file to begin with. */
import {formatDefinition} from '../../agents/definition-file.ts';
import {getTemplates} from '../../agents/templates.ts';
import type {DeskResult} from './deps.ts';

export function agentsHelp(): DeskResult {
  const all = getTemplates();
  return {
    ok: true,
    text: `Agents are JSON files in .mini-cc/agents/ (of the project) and ~/.mini-cc/agents/ (yours). An edit holds from
the next Task on.

  /agents                      which there are
  /agents create               asks what it is for, drafts it, and shows it before it is saved
  /agents create TEXT          drafts it from the text
  /agents create --template N  from one that ships: ${Object.keys(all).join(', ')}
  /agents show NAME            its definition, and the tools that it really has
  /agents edit NAME            opens $EDITOR
  /agents lint [NAME]          what is wrong, and what is unwise
  /agents delete NAME          asks, then removes the file
  Task(NAME): PROMPT           dispatches it at once

Required: name (that of the file), description (when to choose it), tools ("*" or a list), prompt.
Optional: disallowedTools, model, maxTurns, timeoutSeconds, readOnly, color.

.mini-cc/agents/reviewer.json, for example:

${formatDefinition(all.reviewer!)}`,
  };
}
