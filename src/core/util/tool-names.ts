/** The tools of the contract, and the names that other programs give them. */

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
