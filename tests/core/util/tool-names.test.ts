import {describe, expect, it} from 'vitest';
import {openCodeIndex} from '../../../src/code-index/index.ts';
import {ALL_TOOLS} from '../../../src/compose/known-tools.ts';
import {
  formatCall,
  formatToolName,
  fromClaudeInput,
  fromClaudeRule,
  listMissingTools,
  toClaudeInput,
  toClaudeRule,
  toClaudeToolName,
} from '../../../src/core/util/tool-names.ts';
import {createSandbox} from '../../../src/sandbox/index.ts';
import {ProcessGroups} from '../../../src/sandbox/launch/process-groups.ts';
import {createBaseTools, TOOLS} from '../../../src/tools/index.ts';

describe('the name of a tool', () => {
  it.each([
    ['read_file', 'Read'],
    ['Agent', 'Task'],
    ['mcp__github__create_issue', 'github: create_issue'],
    ['constructor', 'constructor'],
  ])('%s is shown as %s', (name, shown) => {
    expect(formatToolName(name, ALL_TOOLS)).toBe(shown);
  });

  it.each([
    ['read_file', 'a.ts', 'Read a.ts'],
    ['Bash', 'npm test', 'Bash(npm test)'],
    ['bash', '', 'Bash'],
  ])('%s of %j is shown as %s', (tool, title, shown) => {
    expect(formatCall(tool, title, ALL_TOOLS)).toBe(shown);
  });
});

describe('the facts of all tools', () => {
  it('give each name to one tool', () => {
    const names = ALL_TOOLS.flatMap(({name, claude, aliases = [], replaces = []}) => [
      ...new Set([name, claude?.name ?? name, ...aliases, ...replaces]),
    ]);
    expect(names.filter((name, index) => names.indexOf(name) < index)).toEqual([]);
  });

  it('name other tools by names that these have', () => {
    const names = ALL_TOOLS.map(({name}) => name);
    expect(ALL_TOOLS.flatMap(({ruledBy}) => ruledBy ?? []).filter((name) => !names.includes(name))).toEqual([]);
  });

  it('leave the tools of Claude Code that mini-cc lacks', () => {
    const missing = listMissingTools(ALL_TOOLS);
    for (const name of ['MultiEdit', 'BashOutput', 'NotebookEdit']) expect(missing).toContain(name);
    for (const name of ['Bash', 'Agent', 'Skill', 'ToolSearch', 'TaskStop']) expect(missing).not.toContain(name);
  });

  it('are those of the tools that a session makes', () => {
    const made = createBaseTools({
      sandbox: createSandbox({home: '/x', miniCcHome: '/x'}),
      processes: new ProcessGroups(),
      web: {mayReachPrivate: () => false, searches: true},
      getIndex: (root) => openCodeIndex({root, env: {}}),
    });
    expect(made.map(({name}) => name)).toEqual(TOOLS.filter(({dispatches}) => !dispatches).map(({name}) => name));
    expect(made).toMatchObject(made.map(({name}) => TOOLS.find((tool) => tool.name === name)!));
  });

  it('say how each is shown, what it does, and what Claude Code calls it', () => {
    const rows = TOOLS.map(({name, label = name, kind = 'other', claude}) =>
      [name, label, kind, claude?.name ?? name].join(' '),
    );
    expect(rows).toEqual([
      'bash Bash execute Bash',
      'read_file Read read Read',
      'write_file Write edit Write',
      'edit_file Edit edit Edit',
      'grep Grep search Grep',
      'glob Glob search Glob',
      'symbols Symbols search symbols',
      'rename_symbol Rename edit rename_symbol',
      'todo_write Todos think TodoWrite',
      'web_fetch Fetch fetch WebFetch',
      'web_search Search fetch WebSearch',
      'Task Task think Task',
      'TaskList TaskList other TaskList',
      'TaskOutput TaskOutput other TaskOutput',
      'TaskSend TaskSend other TaskSend',
      'TaskStop TaskStop other TaskStop',
      'FanOut FanOut think FanOut',
      'AskUserQuestion Ask think AskUserQuestion',
      'ExitPlanMode Plan think ExitPlanMode',
    ]);
  });
});

describe('a call, as programs for Claude Code have it,', () => {
  it.each([
    ['bash', 'Bash', {command: 'ls', background: true, unconfined: true, timeout_seconds: 2}],
    ['read_file', 'Read', {path: 'a', offset: 3}],
    ['write_file', 'Write', {path: 'a', content: 'b'}],
    ['edit_file', 'Edit', {path: 'a'}],
    ['grep', 'Grep', {pattern: 'a', mode: 'files', limit: 5}],
    ['grep', 'Grep', {mode: 'count'}],
    ['glob', 'Glob', {pattern: 'a'}],
    ['todo_write', 'TodoWrite', {}],
    ['web_fetch', 'WebFetch', {url: 'a', timeout_seconds: 3}],
    ['web_search', 'WebSearch', {query: 'a'}],
    ['Task', 'Task', {agent_type: 'a', background: false}],
    ['mcp__files__read', 'mcp__files__read', {path: 'a', mode: 'files', timeout: 5}],
  ])('%s is %s, and its input comes back: %j', (name, claude, input) => {
    expect(toClaudeToolName(name, ALL_TOOLS)).toBe(claude);
    expect(fromClaudeInput(claude, toClaudeInput(name, input, ALL_TOOLS), ALL_TOOLS)).toEqual(input);
    // Inputs that have mini-cc's names already stay.
    expect(fromClaudeInput(name, input, ALL_TOOLS)).toEqual(input);
  });

  it.each([
    [
      ...['bash', {command: 'ls', background: true, unconfined: true, timeout_seconds: 2}],
      {command: 'ls', run_in_background: true, dangerouslyDisableSandbox: true, timeout: 2000},
    ],
    ['bash', {timeout_seconds: 'x'}, {timeout_seconds: 'x'}],
    ['read_file', {path: 'a', offset: 3}, {file_path: 'a', offset: 3}],
    ['grep', {mode: 'files', limit: 5}, {output_mode: 'files_with_matches', head_limit: 5}],
    ['grep', {mode: 'count'}, {output_mode: 'count'}],
    ['Task', {agent_type: 'a', background: true}, {subagent_type: 'a', run_in_background: true}],
    ['other', {path: 'a'}, {path: 'a'}],
    ['bash', null, null],
    ['bash', ['a'], ['a']],
    ['bash', 'text', 'text'],
  ] as readonly [string, unknown, unknown][])('of %s with %j has the input %j', (name, input, expected) => {
    expect(toClaudeInput(name, input, ALL_TOOLS)).toEqual(expected);
    expect(fromClaudeInput(name, expected, ALL_TOOLS)).toEqual(input);
  });
});

it.each([
  ['bash(npm test (all)\nnow)', {toolName: 'Bash', ruleContent: 'npm test (all)\nnow'}],
  ['read_file', {toolName: 'Read'}],
  ['mcp__a__b(c)', {toolName: 'mcp__a__b', ruleContent: 'c'}],
  ['bash()', {toolName: 'Bash', ruleContent: ''}],
])('the rule %j is %j there', (rule, expected) => {
  expect(toClaudeRule(rule, ALL_TOOLS)).toEqual(expected);
  expect(fromClaudeRule(expected, ALL_TOOLS)).toBe(rule.replace('()', ''));
});
