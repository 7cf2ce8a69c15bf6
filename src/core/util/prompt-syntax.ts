/** Recognises prompts that do not go to the model as they are: commands, and Tasks that a person types. */

export interface CommandLine {
  /** Name without the slash; `!` and `#` for lines that begin with these. */
  readonly name: string;
  /** Text after the name, without white space around it. */
  readonly args: string;
}

/** Parses `/help` or `/model opus`. Undefined for other prompts, including a path such as `/etc/hosts`. */
export function parseCommandLine(prompt: string): CommandLine | undefined {
  // The pattern's classes take milliseconds when it is first used.
  if (!prompt.startsWith('/')) return undefined;
  const [, name, args = ''] = /^\/([\p{L}\p{N}_][\p{L}\p{M}\p{N}_:-]*)(?:\s+([\s\S]*))?$/u.exec(prompt) ?? [];
  return name === undefined ? undefined : {name: name.normalize('NFC'), args: args.trim()};
}

/** Returns the name of a file or folder as `parseCommandLine` recognises it after a slash: `Fix it.now` is `fix-it-now`. */
export function toCommandName(name: string): string {
  if (/^\w[\w-]*$/.test(name)) return name.toLowerCase();
  return name
    .normalize('NFC')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N}_-]+/gu, '-')
    .replace(/^-+(?=.)/, '');
}

/**
 * Parses a line that a person typed into a terminal. Besides slash commands it accepts `!ls` for the shell, a note of
 * one line (`#text`), `exit` and `quit`. Other callers must not accept these, because a program passes on texts that
 * others wrote.
 */
export function parseTypedLine(line: string): CommandLine | undefined {
  if (/^(?:exit|quit)$/i.test(line)) return {name: 'exit', args: ''};
  const [, name, args = ''] = /^(!)([\s\S]*)$/.exec(line) ?? /^(#)(.*)$/.exec(line) ?? [];
  return name === undefined ? parseCommandLine(line) : {name, args: args.trim()};
}

export function isCommandLine(prompt: string): boolean {
  return parseCommandLine(prompt) !== undefined;
}

/** Commands of other programs, and what does the same here. */
const OTHER_PROGRAMS: ReadonlyMap<string, string> = new Map([
  ['history', '/resume opens an earlier session, Ctrl+R finds an earlier prompt'],
  ['sessions', '/resume opens an earlier session'],
  ['load', '/resume opens an earlier session'],
  ['reset', '/clear begins a new conversation'],
  ['new', '/clear begins a new conversation'],
  ['stats', '/cost says what was used'],
  ['usage', '/cost says what was used'],
  ['tokens', '/context says what fills the window, /cost what was used'],
  ['save', '/export writes the conversation to a file, and each session is kept for /resume'],
  ['todo', 'Ctrl+T shows the todos'],
  ['todos', 'Ctrl+T shows the todos'],
  ['undo', '/rewind takes back the conversation, files or both'],
  ['quit', '/exit leaves'],
]);

/** Returns what does here what a command of another program does there, as a sentence without its full stop. */
export function getOurWay(name: string): string | undefined {
  return OTHER_PROGRAMS.get(name.toLowerCase());
}

export interface TypedTask {
  readonly agent: string;
  readonly prompt: string;
  /** Both are absent in a task that a person typed. */
  readonly description?: string;
  readonly model?: string;
}

/** Matches `@agent-NAME`, and `@NAME (agent)` with and without quotes. */
const AGENT_MENTION = /(?:^|(?<=[\s(]))@(?:agent-([\w:-]*\w)|"([\w:-]+) \(agent\)"|([\w:-]+) \(agent\))(?![\w/]|\.\w)/g;

/**
 * Parses `Task(agent): prompt`, and a prompt that mentions an agent: `@agent-NAME prompt`. Undefined for other texts.
 * @param isAgent says whether there is an agent of this name; other mentions may be files
 * @param isTyped true when a person typed the text, which may then mention the agent anywhere, not only first
 */
export function parseTypedTask(
  text: string,
  isAgent: (name: string) => boolean,
  isTyped: boolean,
): TypedTask | undefined {
  const [, agent, prompt] = /^Task\(\s*([^)]*?)\s*\)\s*:\s*([\s\S]*)$/.exec(text) ?? [];
  if (agent !== undefined && prompt !== undefined) return {agent, prompt: unquote(prompt)};
  const trimmed = text.trim();
  for (const {0: mention, 1: plain, 2: quoted, 3: bare, index} of trimmed.matchAll(AGENT_MENTION)) {
    const name = plain ?? quoted ?? bare!;
    if (!isAgent(name) || (index > 0 && !isTyped)) continue;
    return {agent: name, prompt: index === 0 ? trimmed.slice(mention.length).replace(/^[\s:,]+/, '') : trimmed};
  }
  return undefined;
}

/** Removes the double quotes around a prompt, which people often type as in the examples. */
function unquote(text: string): string {
  const trimmed = text.trim();
  return trimmed.length > 1 && trimmed.startsWith('"') && trimmed.endsWith('"') ? trimmed.slice(1, -1) : trimmed;
}
