import {describe, expect, it} from 'vitest';
import {isCommandLine, parseCommandLine, parseTypedLine, parseTypedTask} from '../../../src/core/util/prompt-syntax.ts';

describe('a line', () => {
  it.each([
    ['/model  opus ', {name: 'model', args: 'opus'}],
    ['/team:deploy now', {name: 'team:deploy', args: 'now'}],
    ['/mcp__files__read', {name: 'mcp__files__read', args: ''}],
    ['/修复 a', {name: '修复', args: 'a'}],
    ['/ve\u0301rifie', {name: 'v\u00e9rifie', args: ''}],
    ['/etc/hosts is what?', undefined],
    ['/README.md', undefined],
  ])('%j is a slash command, or a prompt with a path', (line, command) => {
    expect(parseCommandLine(line)).toEqual(command);
    expect(parseTypedLine(line)).toEqual(command);
    expect(isCommandLine(line)).toBe(command !== undefined);
  });

  it.each([
    ['!ls -l\npwd', {name: '!', args: 'ls -l\npwd'}],
    ['# use pnpm ', {name: '#', args: 'use pnpm'}],
    ['exit', {name: 'exit', args: ''}],
    ['QUIT', {name: 'exit', args: ''}],
  ])('%j is a command where a person typed it, and a prompt from elsewhere', (line, command) => {
    expect(parseTypedLine(line)).toEqual(command);
    expect(parseCommandLine(line)).toBeUndefined();
  });

  it.each(['# A heading\n\nand its text', 'exit the loop', 'why! now'])('%j is a prompt', (line) => {
    expect(parseTypedLine(line)).toBeUndefined();
  });
});

it.each([
  ['Task( reviewer ) : "look at\na.ts" ', {agent: 'reviewer', prompt: 'look at\na.ts'}],
  ['Task(a):b', {agent: 'a', prompt: 'b'}],
  ['Task(a): "b" or "', {agent: 'a', prompt: 'b" or '}],
  ['Task(a): say "b"', {agent: 'a', prompt: 'say "b"'}],
  ['Task(a): "b" it is', {agent: 'a', prompt: '"b" it is'}],
  ['Task(a): "', {agent: 'a', prompt: '"'}],
  ['Task(a)', undefined],
  ['a Task(a): b', undefined],
  ['@agent-a b', {agent: 'a', prompt: 'b'}],
  ['@"a (agent)": b', {agent: 'a', prompt: 'b'}],
  ['@a (agent) b', {agent: 'a', prompt: 'b'}],
  ['ask @agent-a to look', {agent: 'a', prompt: 'ask @agent-a to look'}],
  ['read @agent-a/b.ts and @agent-a.md', undefined],
  ['me@agent-a @agent-b @a', undefined],
])('%j is a typed Task, or a prompt', (text, task) => {
  expect(parseTypedTask(text, (name) => name === 'a', true)).toEqual(task);
});

it('an agent that a text of others mentions counts only at its beginning', () => {
  const isAgent = () => true;
  expect(parseTypedTask('say @agent-a', isAgent, false)).toBeUndefined();
  expect(parseTypedTask('@agent-a say', isAgent, false)).toEqual({agent: 'a', prompt: 'say'});
});
