import {describe, expect, it} from 'vitest';
import {ALL_TOOLS} from '../../../src/compose/known-tools.ts';
import {
  fromClaudeInput,
  fromClaudeRule,
  toClaudeInput,
  toClaudeRule,
  toClaudeToolName,
} from '../../../src/core/util/claude-tools.ts';

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
