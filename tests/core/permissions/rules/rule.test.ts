import {describe, expect, it} from 'vitest';
import {ALL_TOOLS} from '../../../../src/compose/known-tools.ts';
import type {Access} from '../../../../src/core/contract/permission.ts';
import {
  createRule,
  getRuleWarning,
  matchesHost,
  parseRule,
  splitRules,
} from '../../../../src/core/permissions/rules/rule.ts';
import {permissionFixture, type Rules} from '../fixture.ts';

const {decide} = permissionFixture();

describe('the text of a rule', () => {
  it.each([
    ['bash', {tool: 'bash'}],
    [' Bash ', {tool: 'bash'}],
    ['bash(*)', {tool: 'bash'}],
    ['Bash(npm run test:*)', {tool: 'bash', pattern: 'npm run test:*'}],
    ['bash(echo (a))', {tool: 'bash', pattern: 'echo (a)'}],
    ['Read(*)', {tool: 'read_file', isAboutFiles: true}],
    ['Read(src/(group)/**)', {tool: 'read_file', pattern: 'src/(group)/**'}],
    ['Edit(src/**)', {tool: 'edit_file', pattern: 'src/**'}],
    ['str_replace_editor(a)', {tool: 'edit_file', pattern: 'a'}],
    ['Read(//etc/**)', {tool: 'read_file', pattern: '//etc/**'}],
    ['WebFetch(domain:*.example.com)', {tool: 'web_fetch', pattern: 'domain:*.example.com'}],
    ['Agent(reviewer)', {tool: 'Task', pattern: 'reviewer'}],
    ['Task', {tool: 'Task'}],
    ['Bash( npm test )', {tool: 'bash', pattern: 'npm test'}],
    ['*', {tool: '*'}],
    ['*_file', {tool: '*_file'}],
    ['mcp__github__*', {tool: 'mcp__github__*'}],
    ['Skill', {tool: 'Skill'}],
    ['ToolSearch', {tool: 'tool_search'}],
    ['StructuredOutput', {tool: 'StructuredOutput'}],
    ['MultiEdit(src/**)', {tool: 'MultiEdit', pattern: 'src/**'}],
  ])('%j says %j', (text, expected) => {
    expect(parseRule(text, ALL_TOOLS)).toEqual(expected);
  });

  it.each([
    ['bsh', {problem: 'there is no tool "bsh"', suggestion: 'bash'}],
    ['bash(npm test', {problem: '"bash(npm test" has no closing bracket', suggestion: '"bash(npm test)"'}],
    ['bash()', {problem: '"bash()": nothing stands in its brackets', suggestion: '"bash"'}],
    ['bash(:*)', {problem: 'bash(:*): nothing stands before :*', suggestion: 'bash'}],
    ['Read(a)(b)', {problem: '"Read(a)(b)" has more than one pair of brackets: write one rule for each'}],
    ['Bash(rm:*)(git:*)', {problem: '"Bash(rm:*)(git:*)" has more than one pair of brackets: write one rule for each'}],
    ['Read(a) Read(b)', {problem: '"Read(a) Read(b)" has more than one pair of brackets: write one rule for each'}],
    ['(npm test)', {problem: '"(npm test)" names no tool'}],
    ['', {problem: '"" names no tool'}],
    ['web_fetch(https://example.com/x)', {suggestion: 'web_fetch(domain:example.com)'}],
    ['web_fetch(domain:[::1]/x)', {problem: 'web_fetch(domain:[::1]/x): it takes the name of a host'}],
    ['web_fetch(domain:[1])', {problem: 'web_fetch(domain:[1]): it takes the name of a host'}],
    ['web_fetch(domain:a b)', {problem: 'web_fetch(domain:a b): it takes the name of a host'}],
    ['edit_file(!src)', {problem: 'edit_file(!src): a pattern that begins with ! matches nothing by itself'}],
    ['Task(my reviewer)', {problem: 'Task(my reviewer): it takes the name of an agent'}],
    ['todo_write(x)', {problem: 'todo_write takes nothing in brackets', suggestion: 'todo_write'}],
    ['x*', {problem: 'there is no tool that "x*" matches'}],
    ['*(a)', {problem: '"*": a pattern of names takes nothing in brackets'}],
  ])('%j has the problem %j', (text, expected) => {
    expect(parseRule(text, ALL_TOOLS)).toMatchObject(expected);
  });
});

it.each([
  ['bash,Read  edit_file', ['bash', 'Read', 'edit_file']],
  ['bash(npm test, a), grep', ['bash(npm test, a)', 'grep']],
  ['bash(echo (a b) c) grep', ['bash(echo (a b) c)', 'grep']],
  ['a) b', ['a)', 'b']],
  [' , ', []],
])('rules are separated by commas or white space outside of brackets: %j is %j', (text, rules) => {
  expect(splitRules(text)).toEqual(rules);
});

it.each([
  ['MultiEdit(src/**)', 'mini-cc has no tool MultiEdit, so that this rule has no effect (its own is edit_file)'],
  ['LS', 'mini-cc has no tool LS, so that this rule has no effect (its own is glob)'],
  ...['NotebookEdit', 'SlashCommand', 'TaskCreate'].map((name) => [
    name,
    `mini-cc has no tool ${name}, so that this rule has no effect`,
  ]),
  ['KillShell', 'mini-cc has no tool KillShell, so that this rule has no effect (its own is bash)'],
  ['Edit', undefined],
  ['Skill', undefined],
  ['mcp__a__b', undefined],
] as [string, string | undefined][])('the rule %j is known, with the warning %j', (text, warning) => {
  expect(getRuleWarning(createRule(text, 'deny', 'a flag', ALL_TOOLS), ALL_TOOLS)).toBe(warning);
});

it('a rule about a tool of Claude Code that mini-cc lacks allows nothing else', async () => {
  const asked: Access = {kind: 'run', command: 'make'};
  expect((await decide(asked, {rules: {allow: ['KillShell', 'BashOutput']}})).verdict).toBe('ask');
  const edit: Access = {kind: 'write', path: 'a.ts'};
  expect((await decide(edit, {rules: {allow: ['MultiEdit']}})).verdict).toBe('ask');
});

it('a text that is no rule is an error that names where it stands', () => {
  expect(() => createRule('bsh', 'allow', 'a flag', ALL_TOOLS)).toThrow('a flag: there is no tool "bsh"');
});

it('a host that is no address matches nothing', () => {
  expect(matchesHost('domain:[1', 'x')).toBe(false);
});

describe('a rule about a host or an agent', () => {
  const fetch = (host: string, rules: Rules) => decide({kind: 'fetch', host}, {rules});

  it('matches that host, or with a star the hosts below it', async () => {
    const rules = {allow: ['web_fetch(domain:example.com)', 'web_fetch(domain:*.example.org)']};
    for (const host of ['example.com', 'EXAMPLE.com.', 'a.example.org', 'b.a.example.org']) {
      expect((await fetch(host, rules)).verdict, host).toBe('allow');
    }
    for (const host of ['a.example.com', 'example.org', 'xexample.org', 'example.com.evil.net']) {
      expect((await fetch(host, rules)).verdict, host).toBe('ask');
    }
    expect((await fetch('example.com', {...rules, deny: ['web_fetch(domain:*)']})).verdict).toBe('deny');
    expect(await fetch('example.net', {})).toMatchObject({rules: ['web_fetch(domain:example.net)']});
    const rule = 'web_fetch(domain:[2606:4700::1111])';
    expect(await decide({kind: 'fetch', host: '2606:4700::1111'})).toMatchObject({rules: [rule]});
    expect((await decide({kind: 'fetch', host: '2606:4700::1111'}, {rules: {allow: [rule]}})).verdict).toBe('allow');
  });

  it('matches an IPv6 address in brackets, in each of its spellings', async () => {
    const rules = {deny: ['web_fetch(domain:[2001:DB8:0::1])']};
    expect((await fetch('2001:db8::1', rules)).verdict).toBe('deny');
    expect((await fetch('2001:db8::2', rules)).verdict).toBe('ask');
  });

  it('refuses a dispatch of that agent, or asks about it', async () => {
    const access: Access = {kind: 'dispatch', agent: 'reviewer'};
    expect((await decide(access)).verdict).toBe('allow');
    expect((await decide(access, {rules: {deny: ['Task(reviewer)']}})).verdict).toBe('deny');
    expect((await decide(access, {rules: {deny: ['Task(review*)']}, mode: 'bypassPermissions'})).verdict).toBe('deny');
    expect((await decide(access, {rules: {ask: ['Task(reviewer)']}})).verdict).toBe('ask');
    expect((await decide(access, {rules: {deny: ['Task(code)']}})).verdict).toBe('allow');
    expect((await decide(access, {rules: {deny: ['Task']}})).verdict).toBe('deny');
    // A skill may start one too.
    const skill = {tool: 'Skill'};
    expect((await decide(access, {...skill, rules: {deny: ['Task']}})).verdict).toBe('deny');
    expect((await decide(access, {...skill, rules: {ask: ['Task']}})).verdict).toBe('ask');
    expect((await decide(access, {...skill, rules: {ask: ['Task'], deny: ['Task(reviewer)']}})).verdict).toBe('deny');
  });
});
