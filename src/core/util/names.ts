/** Names that people and models write: suggestions for misspelt ones, and the names of tools. */
import leven from 'leven';

/**
 * The known word with the least edit distance, however far away; undefined only when `known` is empty. For keys, whose
 * message names the nearest one; elsewhere `findMeant`.
 */
export function findNearest(word: string, known: readonly string[]): string | undefined {
  const folded = fold(word);
  return known.toSorted((a, b) => leven(folded, fold(a)) - leven(folded, fold(b)))[0];
}

/**
 * The known word that `word` is probably a typo of: some letters differ, or their order.
 * @param most how many letters may differ; without it a third of them, 1 to 3
 */
export function findTypo(word: string, known: readonly string[], most?: number): string | undefined {
  const letters = sortLetters(word);
  const mixed = known.find((each) => sortLetters(each) === letters);
  if (mixed !== undefined) return mixed;
  const found = findNearest(word, known);
  if (found === undefined) return undefined;
  const allowed = most ?? Math.min(3, Math.max(1, Math.floor(found.length / 3)));
  return leven(fold(word), fold(found)) <= allowed ? found : undefined;
}

/** Makes `max_turns`, `max-turns` and `maxTurns` equal. Cuts long words, since leven takes time by both lengths. */
function fold(word: string): string {
  return word
    .slice(0, 80)
    .replace(/[-_\s]/g, '')
    .toLowerCase();
}

/**
 * The known word that a person who typed `word` can have had in mind: a typo of it, or another form of it (`budget` for
 * `max-budget-usd`, `denied` for `deny`). Undefined where none is near: a wrong guess helps less than none.
 */
export function findMeant(word: string, known: readonly string[]): string | undefined {
  const typed = fold(word);
  const forms = known.filter((each) => isOtherForm(typed, fold(each)));
  return findTypo(word, known) ?? findNearest(word, forms);
}

function isOtherForm(one: string, other: string): boolean {
  if (Math.min(one.length, other.length) < 4) return false;
  if (one.includes(other) || other.includes(one)) return true;
  return one.slice(0, 3) === other.slice(0, 3) && leven(one, other) <= Math.max(one.length, other.length) / 2;
}

/** ` (did you mean list?)`; empty where no known word is near. @param show how the word is written */
export function formatMeant(word: string, known: readonly string[], show = (name: string) => name): string {
  const meant = findMeant(word, known);
  return meant === undefined ? '' : ` (did you mean ${show(meant)}?)`;
}

function sortLetters(word: string): string {
  return [...fold(word)].sort().join('');
}

/** The tools that rules and definitions can name. */
export const TOOL_NAMES: readonly string[] = [
  'bash',
  'read_file',
  'write_file',
  'edit_file',
  'grep',
  'glob',
  'symbols',
  'todo_write',
  'web_fetch',
  'web_search',
  'Task',
  'TaskList',
  'TaskOutput',
  'TaskSend',
  'TaskStop',
  'FanOut',
];

/** Names of the same tools in other programs. */
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
  WebSearch: 'web_search',
  Agent: 'Task',
};

/** What people read in place of a tool's name. */
const SHOWN: Readonly<Record<string, string>> = {
  bash: 'Bash',
  read_file: 'Read',
  write_file: 'Write',
  edit_file: 'Edit',
  grep: 'Grep',
  glob: 'Glob',
  symbols: 'Symbols',
  todo_write: 'Todos',
  web_fetch: 'Fetch',
  web_search: 'Search',
};

/** `Read` for `read_file`; `github: create_issue` for `mcp__github__create_issue`; other names as they are. */
export function formatToolName(name: string): string {
  const tool = toToolName(name);
  if (Object.hasOwn(SHOWN, tool)) return SHOWN[tool]!;
  const [, server, rest] = /^mcp__(.+?)__(.+)$/s.exec(tool) ?? [];
  return server === undefined ? tool : `${server}: ${rest}`;
}

/** A call as people read it: `Read src/a.ts`, `Bash(npm test)`. @param title what the tool says of the call */
export function formatCall(tool: string, title: string): string {
  const name = formatToolName(tool);
  if (title === '') return name;
  return toToolName(tool) === 'bash' ? `${name}(${title})` : `${name} ${title}`;
}

/** The name of the tool in mini-cc: aliases are resolved, other names are returned unchanged. */
export function toToolName(name: string): string {
  return Object.hasOwn(ALIASES, name) ? ALIASES[name]! : name;
}
