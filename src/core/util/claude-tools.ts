/**
 * The one table of Claude Code's tool names and inputs, for programs that drive mini-cc and for hooks that people have
 * written for it. Tools that are not here have the same name and inputs on both sides.
 */

import {toToolName} from './names.ts';
import {isObject} from './objects.ts';

interface ToolTranslation {
  readonly claude: string;
  /** mini-cc's name of an input, and Claude Code's. */
  readonly inputs?: Readonly<Record<string, string>>;
}

const TABLE: Readonly<Record<string, ToolTranslation>> = {
  bash: {claude: 'Bash', inputs: {background: 'run_in_background', unconfined: 'dangerouslyDisableSandbox'}},
  read_file: {claude: 'Read', inputs: {path: 'file_path'}},
  write_file: {claude: 'Write', inputs: {path: 'file_path'}},
  edit_file: {claude: 'Edit', inputs: {path: 'file_path'}},
  grep: {claude: 'Grep', inputs: {mode: 'output_mode', limit: 'head_limit'}},
  glob: {claude: 'Glob'},
  todo_write: {claude: 'TodoWrite'},
  web_fetch: {claude: 'WebFetch'},
  web_search: {claude: 'WebSearch'},
  Task: {claude: 'Task', inputs: {agent_type: 'subagent_type', background: 'run_in_background'}},
};

type Input = Readonly<Record<string, unknown>>;

/** mini-cc's `bash` is `Bash`; a name that is not in the table stays. */
export function toClaudeToolName(name: string): string {
  return TABLE[toToolName(name)]?.claude ?? name;
}

/** The input of a call as Claude Code's tool has it. What is no object stays as it is. */
export function toClaudeInput(name: string, input: unknown): unknown {
  if (!isObject(input)) return input;
  const tool = toToolName(name);
  const renamed = rename(input, TABLE[tool]?.inputs ?? {});
  const {timeout_seconds: seconds, output_mode: mode, ...rest} = renamed;
  if (tool === 'bash' && typeof seconds === 'number') return {...rest, timeout: seconds * 1000};
  if (tool === 'grep' && mode === 'files') return {...rest, output_mode: 'files_with_matches'};
  return renamed;
}

/** The reverse of `toClaudeInput`; inputs that have mini-cc's names already stay. @param name in either spelling */
export function fromClaudeInput(name: string, input: unknown): unknown {
  if (!isObject(input)) return input;
  const tool = toToolName(name);
  const inputs = Object.entries(TABLE[tool]?.inputs ?? {}).map(([mine, claude]) => [claude, mine]);
  const renamed = rename(input, Object.fromEntries(inputs));
  const {timeout, mode, ...rest} = renamed;
  if (tool === 'bash' && typeof timeout === 'number') return {...rest, timeout_seconds: timeout / 1000};
  if (tool === 'grep' && mode === 'files_with_matches') return {...rest, mode: 'files'};
  return renamed;
}

/** A rule as Claude Code writes it: `bash(npm test)` is the tool `Bash` with the content `npm test`. */
export function toClaudeRule(rule: string): {readonly toolName: string; readonly ruleContent?: string} {
  const [, name = rule, content] = /^([^(]+)\((.*)\)$/s.exec(rule) ?? [];
  return {toolName: toClaudeToolName(name), ...(content !== undefined && {ruleContent: content})};
}

/** The reverse of `toClaudeRule`. */
export function fromClaudeRule({toolName, ruleContent}: {toolName: string; ruleContent?: string | undefined}): string {
  const name = toToolName(toolName);
  return ruleContent === undefined || ruleContent === '' ? name : `${name}(${ruleContent})`;
}

function rename(input: Input, names: Readonly<Record<string, string>>): Input {
  return Object.fromEntries(
    Object.entries(input).map(([key, value]) => [Object.hasOwn(names, key) ? names[key] : key, value]),
  );
}
