/** The system prompt: the agent's prompt, its workplace and the memory files. It stays the same for a whole run. */

import type {AgentDefinition} from '../agent-types.ts';
import type {AgentNotes} from '../contract/permission.ts';

/** Content of a system prompt besides the agent's own prompt. */
export interface SystemPromptContext {
  readonly cwd: string;
  readonly platform: string;
  /** For example `2026-11-20`, without a time, so that the prompt keeps its bytes for the server's prompt cache. */
  readonly date: string;
  /** For a run in a worktree: the workspace of which the worktree is a copy. */
  readonly worktreeSource?: string;
  /** Current branch, or undefined outside git. */
  readonly gitBranch?: string;
  /** Contents of AGENTS.md and similar files, nearest last. */
  readonly memory: readonly {readonly path: string; readonly text: string}[];
  readonly notes?: AgentNotes | undefined;
  /** Text of `--append-system-prompt`. */
  readonly appended?: string;
}

/** @param prompt the agent's own prompt */
export function createSystemPrompt(prompt: string, context: SystemPromptContext): string {
  const lines = [
    `Working directory: ${context.cwd}`,
    `Platform: ${context.platform}. Date: ${context.date}.`,
    context.gitBranch === undefined ? 'No git repository.' : `Git branch: ${context.gitBranch}.`,
  ];
  if (context.worktreeSource !== undefined) lines.push(describeWorktree(context.worktreeSource));
  const parts = [prompt.trim(), lines.join('\n')];
  for (const {path, text} of context.memory) parts.push(`# From ${path}\n\n${text.trim()}`);
  if (context.notes) parts.push(formatNotes(context.notes));
  if (context.appended) parts.push(context.appended.trim());
  return parts.join('\n\n');
}

function formatNotes({folder, text}: AgentNotes): string {
  const lines = [
    `The folder ${folder} is for your notes. It is kept when you end, and your later runs begin with its MEMORY.md.`,
    'Write there what will help them, with write_file or edit_file, and keep MEMORY.md below 200 lines.',
    text === '' ? 'There is no MEMORY.md yet.' : `Its MEMORY.md now:\n\n${text}`,
  ];
  return `# Your notes\n\n${lines.join('\n')}`;
}

function describeWorktree(workspace: string): string {
  return [
    `This is a git worktree of your own: a copy of ${workspace} as it was when you began, with uncommitted changes.`,
    'Files that git ignores (installed packages, build output) are missing. Work only here, with relative paths:',
    `commands cannot use ${workspace}. When you end, the runtime copies your changes to the workspace, committed`,
    'or not, as changes of files.',
  ].join(' ');
}

/** Returns the text of a skill, or undefined when there is no skill of this name. */
export type GetSkill = (name: string) => string | undefined;

/** Returns the agent's own prompt with the skills that it names. @param warn gets a text for each missing skill */
export function createAgentPrompt(
  {name, prompt, skills = []}: Pick<AgentDefinition, 'name' | 'prompt' | 'skills'>,
  getSkill: GetSkill,
  warn: (text: string) => void,
): string {
  const texts = skills.flatMap((skill) => {
    const text = getSkill(skill);
    if (text === undefined) warn(`the agent ${name} names the skill ${skill}, which is not there (/skills lists them)`);
    return text === undefined ? [] : [`# Skill ${skill}\n\n${text.trim()}`];
  });
  return [prompt.trim(), ...texts].join('\n\n');
}
