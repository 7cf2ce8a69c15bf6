/** Puts a system prompt together: the agent's own words, where it works, the memory files. Fixed for a whole run. */

export interface SystemPromptContext {
  readonly cwd: string;
  readonly platform: string;
  /** `2026-11-20`: a day, so that the prompt keeps its bytes. */
  readonly date: string;
  /** Of a run with a worktree of its own: the workspace that this is a copy of. */
  readonly worktreeOf?: string;
  /** Current branch, or undefined outside git. */
  readonly gitBranch?: string;
  /** Contents of AGENTS.md and the like, nearest last. */
  readonly memory: readonly {readonly path: string; readonly text: string}[];
  /** `--append-system-prompt`. */
  readonly appended?: string;
}

export function createSystemPrompt(words: string, around: SystemPromptContext): string {
  const lines = [
    `Working directory: ${around.cwd}`,
    `Platform: ${around.platform}. Date: ${around.date}.`,
    around.gitBranch === undefined ? 'No git repository.' : `Git branch: ${around.gitBranch}.`,
  ];
  if (around.worktreeOf !== undefined) lines.push(worktreeWords(around.worktreeOf));
  const parts = [words.trim(), lines.join('\n')];
  for (const {path, text} of around.memory) parts.push(`# From ${path}\n\n${text.trim()}`);
  if (around.appended) parts.push(around.appended.trim());
  return parts.join('\n\n');
}

function worktreeWords(workspace: string): string {
  return [
    `This is a git worktree of your own: a copy of ${workspace} as it was when you began, uncommitted changes too.`,
    'What git ignores (installed packages, build output) is not there. Work here only, with paths relative to here:',
    `what you change below ${workspace} is refused. When you end, your changes are brought there by themselves, committed`,
    'or not, as changes of files.',
  ].join(' ');
}
