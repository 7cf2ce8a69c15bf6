/** Creates a slash command for each command and skill that the user may type. */
import type {Command} from '../../core/contract/session-requests.ts';
import {toShortLine} from '../../core/util/text.ts';
import {expandPrompt, splitPrompt} from './expand-prompt.ts';
import type {FoundPrompts} from './find-prompts.ts';
import type {PromptFile} from './prompt-file.ts';

export function createPromptCommands({prompts, broken}: FoundPrompts, taken: readonly string[]): Command[] {
  const unusable = broken
    .filter(({name}) => !taken.includes(name) && !prompts.some((prompt) => prompt.name === name))
    .map(({name, problem}): Command => {
      const text = `/${name} cannot be used: ${problem}`;
      return {name, description: text, isBroken: true, run: () => ({ok: false, text})};
    });
  const usable = prompts
    .filter(({name, isForUser}) => isForUser && !taken.includes(name))
    .map(
      (prompt): Command => ({
        name: prompt.name,
        description: prompt.description,
        argumentHint: prompt.argumentHint,
        run({args}) {
          const {allowedTools, model, forkAgent} = prompt;
          const fork = forkAgent === undefined ? undefined : {agent: forkAgent, description: prompt.name};
          const line = `/${prompt.name} ${args}`.trim();
          const pieces = splitPrompt(prompt, args);
          const command = {line, pieces, allowedTools, fork, ...(model !== undefined && {model})};
          return {ok: true, text: '', prompt: {content: expandPrompt(prompt, args), typed: true, command}};
        },
      }),
    );
  return [...usable, ...unusable];
}

/** Creates `/skills`, which lists skills and custom commands. */
export function createSkillsCommand(
  prompts: readonly PromptFile[],
  problems: readonly string[],
  isTaken: (name: string) => boolean,
): Command {
  return {
    name: 'skills',
    description: 'skills and commands: your own, and where they come from',
    run() {
      const lines = prompts.map(({kind, name, description, from, isForModel, isForUser}) => {
        const hidden = isForUser && isTaken(name) ? ", hidden by mini-cc's own command" : '';
        const note = `${kind === 'skill' && !isForModel ? ', not for the model' : ''}${hidden}`;
        return `  /${name}  ${toShortLine(description, 80)}  [${kind} of ${from}${note}]`;
      });
      const none =
        'No skills and no custom commands. They are read from .mini-cc and .claude, of the project and yours.';
      const wrong =
        problems.length === 0 ? [] : ['', 'Not used, or used in part:', ...problems.map((each) => `  ${each}`)];
      return {
        ok: true,
        text: [lines.length === 0 ? none : 'Skills and custom commands:', ...lines, ...wrong].join('\n'),
      };
    },
  };
}
