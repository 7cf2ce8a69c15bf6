/** The tool by which a model gets the body of a skill. It is offered where there are skills alone. */
import {z} from 'zod';
import type {Tool} from '../../core/contract/tool.ts';
import {formatMeant} from '../../core/util/names.ts';
import {errorResult} from '../../core/util/tool-output.ts';
import {expandPrompt} from './expand.ts';
import type {PromptFile} from './prompt-file.ts';

const input = z.object({skill: z.string().min(1), args: z.string().optional()});
type SkillInput = z.infer<typeof input>;

/** Names and descriptions that the model always sees: about 2,000 tokens. */
const MAX_CHARS = 8_000;
const MAX_DESCRIPTION_CHARS = 300;
const MAX_FOUND = 20;

/** Undefined where no skill is for the model. */
export function createSkillTool(prompts: readonly PromptFile[]): Tool<SkillInput> | undefined {
  const skills = prompts.filter(({isForModel}) => isForModel);
  if (skills.length === 0) return undefined;
  return {
    name: 'Skill',
    description: describe(skills),
    input,
    title: ({skill}) => skill,
    access: () => [{kind: 'none'}],
    async run({skill: asked, args = ''}) {
      const name = asked.trim().replace(/^\//, '').toLowerCase();
      const found = skills.find((skill) => skill.name === name);
      if (found) return {content: expandPrompt(found, args)};
      return search(skills, name);
    },
  };
}

/** The text of a skill by its name, for agents that have it from the start: also of one that the model may not call for. */
export function createGetSkill(prompts: readonly PromptFile[]): (name: string) => string | undefined {
  return (name) => {
    const found = prompts.find((prompt) => prompt.kind === 'skill' && prompt.name === name);
    return found && expandPrompt(found, '');
  };
}

function search(skills: readonly PromptFile[], asked: string) {
  const words = asked.split(/\W+/).filter((word) => word.length > 2);
  const hits = skills.filter((skill) =>
    words.some((word) => `${skill.name} ${skill.description}`.toLowerCase().includes(word)),
  );
  if (hits.length > 0)
    return {
      content: `No skill has this name. Skills about it:\n${hits.slice(0, MAX_FOUND).map(formatSkill).join('\n')}`,
    };
  const names = skills.map(({name}) => name);
  return errorResult(
    `There is no skill ${JSON.stringify(asked)}${formatMeant(asked, names)}. There are: ${names.slice(0, MAX_FOUND).join(', ')}`,
  );
}

function describe(skills: readonly PromptFile[]): string {
  const lines: string[] = [];
  let left = MAX_CHARS;
  for (const skill of skills) {
    const line = formatSkill(skill);
    left -= line.length + 1;
    if (left < 0) break;
    lines.push(line);
  }
  const more = skills.length - lines.length;
  const rest = more > 0 ? `\nand ${more} more: call this tool with a few words about what you need.` : '';
  return `Gives you the instructions of a skill that users or the project wrote. Call it before work that one of these is about:\n${lines.join('\n')}${rest}`;
}

function formatSkill({name, description}: PromptFile): string {
  return `- ${name}: ${description.slice(0, MAX_DESCRIPTION_CHARS).toWellFormed()}`;
}
