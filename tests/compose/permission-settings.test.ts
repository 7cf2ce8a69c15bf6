import {mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync} from 'node:fs';
import {homedir, tmpdir} from 'node:os';
import path from 'node:path';
import {expect, it, onTestFinished, vi} from 'vitest';
import {AGENT_TOOLS, ALL_TOOLS} from '../../src/compose/known-tools.ts';
import {
  chooseTools,
  createPermissionSandbox,
  createRules,
  createSessionSandbox,
  getToolRules,
  getZoneFolders,
} from '../../src/compose/permission-settings.ts';
import type {Workspace} from '../../src/core/contract/permission.ts';
import {RuleBook} from '../../src/core/permissions/rules/rule-book.ts';
import {Redactor} from '../../src/core/secrets/redaction.ts';
import {createSandbox} from '../../src/sandbox/index.ts';

function rulesOf(flags: {readonly allowedTools?: readonly string[]; readonly disallowedTools?: readonly string[]}) {
  const options = {...flags, home: '/nowhere'} as never;
  const {rules, foreignWords} = createRules(options, {origins: []} as never, '/nowhere', new Redactor([]));
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

it('a hidden place is closed to file tools as places of keys are: a relative one in the home and in the workspace', () => {
  const root = '/nowhere/work';
  const hide = ['vault', './.env', '~/notes', '/srv/keys'];
  const {secretPaths} = getZoneFolders({sandbox: {hide}} as never, {miniCcHome: '/nowhere/mini-cc', root});
  expect(secretPaths).toEqual(
    expect.arrayContaining([
      ...[`${root}/vault`, `${root}/.env`, path.join(homedir(), 'vault'), path.join(homedir(), '.env')],
      ...[path.join(homedir(), 'notes'), '/srv/keys'],
    ]),
  );
});

it('a pattern as a hidden place is an error, because it would hide nothing', () => {
  const open = () => createSessionSandbox({sandbox: {hide: ['**/vault']}} as never, {miniCcHome: '/nowhere/mini-cc'});
  expect(open).toThrow('sandbox.hide: "**/vault" is a pattern: write the paths, one by one');
});

it('what a command finds is looked for once for a moment, but files that commands leave for each other at once', () => {
  const base = realpathSync(mkdtempSync(path.join(tmpdir(), 'mini-cc-visible-')));
  onTestFinished(() => rmSync(base, {recursive: true, force: true}));
  const root = path.join(base, 'work');
  mkdirSync(root);
  const sandbox = createSandbox({home: path.join(base, 'home'), miniCcHome: path.join(base, 'mini-cc')});
  onTestFinished(() => sandbox.folder.close());
  const search = vi.spyOn(sandbox, 'visibleIn');
  const clock = vi.spyOn(performance, 'now').mockReturnValue(1000);
  onTestFinished(() => clock.mockRestore());
  const workspace = {root, extraRoots: [], env: {PATH: '/usr/bin'}} as unknown as Workspace;
  const permissions = createPermissionSandbox(sandbox);
  const isVisible = (place: string) => permissions.visibleIn(workspace)(place);
  const left = path.join(sandbox.folder.temporary, 'left');
  expect([isVisible(root), isVisible(left)]).toEqual([true, false]);
  expect(search).toHaveBeenCalledTimes(1);
  writeFileSync(left, '');
  expect(isVisible(left)).toBe(true);
  clock.mockReturnValue(1100);
  expect(isVisible(root)).toBe(true);
  expect(search).toHaveBeenCalledTimes(3);
});

const rulesFor = (tools: {readonly allow?: readonly string[]; readonly deny?: readonly string[]}) =>
  getToolRules({settings: {subagents: {tools}}} as never, new RuleBook([], ALL_TOOLS));

it('subagents.tools takes names in any case and from elsewhere, patterns and "*"', () => {
  expect(rulesFor({deny: ['BASH', 'Read', 'web_fetch(*)']}).deny).toEqual(['bash', 'read_file', 'web_fetch']);
  expect(rulesFor({deny: ['write_*']}).deny).toEqual(['write_*', 'write_file']);
  expect(rulesFor({deny: ['*']}).deny).toEqual(['mcp__*', ...AGENT_TOOLS.map(({name}) => name)]);
  expect(rulesFor({allow: ['*']})).toEqual({deny: []});
  expect(rulesFor({allow: ['grep', 'READ_FILE']}).allow).toEqual(['grep', 'read_file']);
});
