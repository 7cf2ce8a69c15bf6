/**
 * Defines the tool by which a model gets the body of a skill. The tool exists only when there are skills for the model.
 */
import {z} from 'zod';
import type {Tool} from '../../core/contract/tool.ts';
import type {ToolFacts} from '../../core/contract/tool-facts.ts';
import {createRunPrompt, runEmbeddedCommands} from '../../core/prompt-calls.ts';
import {formatMeant} from '../../core/util/names.ts';
import {takeFitting} from '../../core/util/text.ts';
import {errorResult} from '../../core/util/tool-output.ts';
import {expandPrompt, splitPrompt} from './expand-prompt.ts';
import type {PromptFile} from './prompt-file.ts';

const input = z.object({skill: z.string().min(1), args: z.string().optional()});
type SkillInput = z.infer<typeof input>;

export const SKILL: ToolFacts = {name: 'Skill', rulePattern: 'skill', needs: 'a skill that models may call for'};
/** Characters of the names and descriptions that the model always sees, about 2,000 tokens. */
const MAX_CHARS = 8_000;
const MAX_DESCRIPTION_CHARS = 300;
const MAX_FOUND = 20;

/** Returns undefined when no skill is for the model. */
export function createSkillTool(prompts: readonly PromptFile[]): Tool<SkillInput> | undefined {
  const skills = prompts.filter(({isForModel}) => isForModel);
  if (skills.length === 0) return undefined;
  return {
    ...SKILL,
    description: describe(skills),
    input,
    title: ({skill}) => skill,
    access: ({skill}) => [{kind: 'none', name: toSkillName(skill)}],
    async run({skill: asked, args = ''}, {runCalls}) {
      const name = toSkillName(asked);
      const found = skills.find((skill) => skill.name === name);
      if (found) return {content: await runEmbeddedCommands(splitPrompt(found, args), runCalls)};
      return search(skills, name);
    },
  };
}

/**
 * Gives the main agent's tool what it may do beyond that of subagents: the calls that a skill allows pass for the rest
 * of the turn, and a skill with `context: fork` runs as a subagent.
 * @param tools the agent's tools, whose order stays
 * @param allow lets calls pass by these rules until the turn ends
 */
export function createMainSkills(
  tools: readonly Tool[],
  prompts: readonly PromptFile[],
  allow: (rules: readonly string[]) => void,
): readonly Tool[] {
  const task = tools.find(({name}) => name === 'Task');
  return tools.map((tool) => (tool.name === SKILL.name ? createMainSkillTool(tool, prompts, task, allow) : tool));
}

function createMainSkillTool(
  skillTool: Tool,
  prompts: readonly PromptFile[],
  task: Tool | undefined,
  allow: (rules: readonly string[]) => void,
): Tool {
  const find = (input: unknown) => {
    const name = toSkillName((input as SkillInput).skill);
    return prompts.find((prompt) => prompt.isForModel && prompt.name === name);
  };
  const findFork = (input: unknown) => {
    const found = task && find(input);
    return found?.forkAgent === undefined ? undefined : {...found, agent: found.forkAgent};
  };
  return {
    ...skillTool,
    access(asked, workspace) {
      const fork = findFork(asked);
      const own = skillTool.access(asked, workspace);
      return fork ? [{kind: 'dispatch', agent: fork.agent}, ...own] : own;
    },
    async run(asked, context) {
      const fork = findFork(asked);
      allow(find(asked)?.allowedTools ?? []);
      if (!fork) return skillTool.run(asked, context);
      const {name, model, agent} = fork;
      const pieces = splitPrompt(fork, (asked as SkillInput).args ?? '');
      const prompt = await createRunPrompt(pieces, false, context.workspace, context.runCalls);
      return task!.run({description: name, prompt, agent_type: agent, ...(model && {model})}, context);
    },
  };
}

/**
 * Creates a function that returns the text of a skill, for agents that have it from the start. It finds skills that the
 * model may not call, too.
 */
export function createGetSkill(prompts: readonly PromptFile[]): (name: string) => string | undefined {
  return (name) => {
    const found = prompts.find((prompt) => prompt.kind === 'skill' && prompt.name === name);
    return found && expandPrompt(found, '');
  };
}

function toSkillName(asked: string): string {
  return asked.trim().replace(/^\//, '').toLowerCase();
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
  const lines = takeFitting(skills.map(formatSkill), MAX_CHARS);
  const more = skills.length - lines.length;
  const rest = more > 0 ? `\nand ${more} more: call this tool with a few words about what you need.` : '';
  return `Gives you the instructions of a skill that users or the project wrote. Call it before work that one of these is about:\n${lines.join('\n')}${rest}`;
}

function formatSkill({name, description}: PromptFile): string {
  return `- ${name}: ${description.slice(0, MAX_DESCRIPTION_CHARS).toWellFormed()}`;
}
