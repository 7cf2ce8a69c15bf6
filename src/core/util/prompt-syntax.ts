/** What a prompt is besides plain words: a slash command, or a Task that a person typed. */

/** `/help` or `/model opus`; not a path such as `/etc/hosts`. */
export function isCommandLine(prompt: string): boolean {
  return /^\/[a-z-]+(\s|$)/i.test(prompt);
}

export interface TypedTask {
  readonly agent: string;
  readonly prompt: string;
}

/** Parses `Task(agent): prompt`. Undefined when the text is no typed Task. */
export function parseTypedTask(text: string): TypedTask | undefined {
  const [, agent, prompt] = /^Task\(\s*([^)]*?)\s*\)\s*:\s*([\s\S]*)$/.exec(text) ?? [];
  return agent === undefined || prompt === undefined ? undefined : {agent, prompt: unquote(prompt)};
}

/** People quote the prompt, as the examples do. */
function unquote(text: string): string {
  const trimmed = text.trim();
  return trimmed.length > 1 && trimmed.startsWith('"') && trimmed.endsWith('"') ? trimmed.slice(1, -1) : trimmed;
}
