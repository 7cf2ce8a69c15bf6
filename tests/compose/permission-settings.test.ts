import {expect, it} from 'vitest';
import {chooseTools, createRules} from '../../src/compose/permission-settings.ts';
import {Redactor} from '../../src/core/secrets/redaction.ts';

function rulesOf(flags: {readonly allowedTools?: readonly string[]; readonly disallowedTools?: readonly string[]}) {
  const project = {folder: '/nowhere', root: '/nowhere', redactor: new Redactor([])};
  const {rules, foreignWords} = createRules(flags as never, {origins: []} as never, project);
  return {rules: rules.list().map(({kind, tool}) => `${kind} ${tool}`), foreignWords};
}

it('a rule of the command line about an unknown tool allows nothing, and stays where it denies', () => {
  const {rules, foreignWords} = rulesOf({
    allowedTools: ['Frobnicate', 'Edit', 'MultiEdit'],
    disallowedTools: ['Frobnicate(x)', 'LS'],
  });
  expect(rules).toEqual(['allow edit_file', 'allow MultiEdit', 'deny Frobnicate', 'deny LS']);
  expect(foreignWords.map(({kind, name}) => `${kind} ${name}`)).toEqual([
    'tool Frobnicate',
    'tool MultiEdit',
    'tool Frobnicate',
    'tool LS',
  ]);
});

it('a rule of the command line that is wrong by itself is an error', () => {
  expect(() => rulesOf({disallowedTools: ['Frobnicate(x']})).toThrow('has no closing bracket');
  expect(() => rulesOf({allowedTools: ['todo_write(x)']})).toThrow('todo_write takes nothing in brackets');
});

it('the tools of --tools are those of mini-cc, by any of their names', () => {
  expect(chooseTools(undefined)).toEqual({only: undefined, foreignWords: []});
  expect(chooseTools(['Read', 'Agent', 'KillShell', 'Frobnicate'])).toEqual({
    only: ['read_file', 'Task'],
    foreignWords: [
      {kind: 'tool', name: 'KillShell', text: '--tools: mini-cc has no tool KillShell'},
      {kind: 'tool', name: 'Frobnicate', text: '--tools: mini-cc has no tool Frobnicate'},
    ],
  });
  expect(() => chooseTools(['grap'])).toThrow('--tools has no "grap" (did you mean grep?): bash, ');
});
