/** Puts a system prompt together: the agent's own words, where it works, the memory files. Fixed for a whole run. */

export interface Surroundings {
  readonly cwd: string;
  readonly platform: string;
  /** `2026-11-20`: a day, so that the prompt keeps its bytes. */
  readonly date: string;
  /** Current branch, or undefined outside git. */
  readonly gitBranch?: string;
  /** Contents of AGENTS.md and the like, nearest last. */
  readonly memory: readonly {readonly path: string; readonly text: string}[];
  /** `--append-system-prompt`. */
  readonly appended?: string;
}

export function systemPrompt(words: string, around: Surroundings): string {
  const lines = [
    `Working directory: ${around.cwd}`,
    `Platform: ${around.platform}. Date: ${around.date}.`,
    around.gitBranch === undefined ? 'No git repository.' : `Git branch: ${around.gitBranch}.`,
  ];
  const parts = [words.trim(), lines.join('\n')];
  for (const {path, text} of around.memory) parts.push(`# From ${path}\n\n${text.trim()}`);
  if (around.appended) parts.push(around.appended.trim());
  return parts.join('\n\n');
}
