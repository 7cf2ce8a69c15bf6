/** The known word that a wrong one was probably meant to be. */
import leven from 'leven';

/** The nearest of `known`, however far; undefined only when there is none. */
export function findNearest(word: string, known: readonly string[]): string | undefined {
  const folded = fold(word);
  return known.toSorted((a, b) => leven(folded, fold(a)) - leven(folded, fold(b)))[0];
}

/** The nearest of `known` if it could be a slip: letters in another order, or up to a third of them (1 to 3) differ. */
export function findTypo(word: string, known: readonly string[]): string | undefined {
  const found = findNearest(word, known);
  if (found === undefined) return undefined;
  const allowed = Math.min(3, Math.max(1, Math.floor(found.length / 3)));
  const slip = letters(word) === letters(found) || leven(fold(word), fold(found)) <= allowed;
  return slip ? found : undefined;
}

/** `max_turns`, `max-turns` and `maxTurns` are one word. Long words are cut: distance costs the product of lengths. */
function fold(word: string): string {
  return word
    .slice(0, 80)
    .replace(/[-_\s]/g, '')
    .toLowerCase();
}

function letters(word: string): string {
  return [...fold(word)].sort().join('');
}

/** What rules and definitions can name. */
export const TOOL_NAMES: readonly string[] = [
  ...['bash', 'read_file', 'write_file', 'edit_file', 'grep', 'glob', 'todo_write', 'web_fetch'],
  ...['Task', 'TaskList', 'TaskOutput', 'TaskSend', 'TaskStop'],
];

const ALIASES: Readonly<Record<string, string>> = {
  view_file: 'read_file',
  str_replace_editor: 'edit_file',
  replace_lines: 'edit_file',
  create_file: 'write_file',
  Read: 'read_file',
  Write: 'write_file',
  Edit: 'edit_file',
  Bash: 'bash',
  Grep: 'grep',
  Glob: 'glob',
  TodoWrite: 'todo_write',
  WebFetch: 'web_fetch',
  Agent: 'Task',
};

/** Our name of a tool; a name that is no alias comes back as it is. */
export function toToolName(name: string): string {
  return Object.hasOwn(ALIASES, name) ? ALIASES[name]! : name;
}
