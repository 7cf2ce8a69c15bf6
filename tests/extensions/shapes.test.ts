/** Skills, commands and hooks in the shapes in which people have them: each loads, or is named with the reason. */

import {mkdirSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {beforeAll, describe, expect, it} from 'vitest';
import {ALL_TOOLS} from '../../src/compose/known-tools.ts';
import {readHookSettings} from '../../src/config/hook-settings.ts';
import {type FoundPrompts, findPrompts} from '../../src/extensions/prompts/find-prompts.ts';
import {emptyFolder} from '../support/workspace.ts';

const front = (yaml: string, body = 'Body') => `---\n${yaml}\n---\n${body}`;

/** The file below `.claude`, its text, and what it becomes; a pattern: why it is not used, or not all of it. */
const FILES: readonly (readonly [string, string, object | RegExp])[] = [
  ['skills/s1/SKILL.md', front('name: s1\ndescription: One'), {name: 's1', description: 'One', isForModel: true}],
  ['skills/s2/SKILL.md', front('name: s2\ndescription: "Quoted: with a colon"'), {description: 'Quoted: with a colon'}],
  ['skills/s3/SKILL.md', front('name: s3\ndescription: |\n  Two\n  lines'), {description: 'Two lines'}],
  [
    'skills/s4/SKILL.md',
    front('name: s4\ndescription: D\nallowed-tools: Read, Grep'),
    {allowedTools: ['Read', 'Grep']},
  ],
  [
    'skills/s5/SKILL.md',
    front('name: s5\ndescription: D\nallowed-tools: [Read, "Bash(ls:*)"]'),
    {allowedTools: ['Read', 'Bash(ls:*)']},
  ],
  ['skills/s6/SKILL.md', front('name: s6\ndescription: D\ndisable-model-invocation: true'), {isForModel: false}],
  [
    'skills/s7/SKILL.md',
    front('name: s7\ndescription: D\nuser-invocable: false'),
    {isForUser: false, isForModel: true},
  ],
  ['skills/s8/SKILL.md', front('name: s8\ndescription: D\ncontext: fork\nagent: explore'), {forkAgent: 'explore'}],
  ['skills/s9/SKILL.md', front('name: s9\ndescription: D\ncontext: fork'), {forkAgent: 'code'}],
  [
    'skills/s10/SKILL.md',
    front('name: s10\ndescription: D\nmodel: inherit\nlicense: MIT\nmetadata:\n  a: b'),
    {name: 's10'},
  ],
  ['skills/s11/SKILL.md', front('name: other-name\ndescription: D'), {name: 's11'}],
  ['skills/s12/SKILL.md', front('description: No name'), {name: 's12'}],
  ['skills/S13-Upper/SKILL.md', front('name: S13\ndescription: D'), {name: 's13-upper'}],
  ['skills/s14/SKILL.md', 'No front matter, but a first line', {description: 'No front matter, but a first line'}],
  ['skills/s15/SKILL.md', front('name: s15\ndescription: D\nversion: 1.2.0\ncompatibility: any'), {name: 's15'}],
  ['skills/s16/SKILL.md', front('name: s16\nwhen_to_use: When it rains'), {description: 'When it rains'}],
  ['skills/s17/SKILL.md', '---\nname: s17\ndescription: never closed\nBody', /s17.*no closing line/],
  ['skills/s18/SKILL.md', front('name: s18\ndescription: D', ''), /s18.*nothing below/],
  ['skills/s19/SKILL.md', '', /s19/],
  ['skills/s20/SKILL.md', front('name: s20\ndescription: D\ntools: Read'), /s20.*unknown key "tools".*allowed-tools/],
  ['commands/c1.md', front('description: D\nargument-hint: <file>'), {name: 'c1', argumentHint: '<file>'}],
  ['commands/c2.md', front('description: D\nargument-hint: [pr-number]'), {argumentHint: '[pr-number]'}],
  ['commands/c3.md', front('model: claude-sonnet-5-5'), {model: 'claude-sonnet-5-5'}],
  ['commands/c4.md', front("description: 'It''s quoted'"), {description: "It's quoted"}],
  ['commands/c5.md', '# A heading first\n\nThen text', {description: 'A heading first'}],
  ['commands/c6.md', front('description: [a, list'), {name: 'c6'}],
  ['commands/c7.MD', 'Upper ending', {name: 'c7'}],
  ['commands/deep/er/c8.md', 'Body', {name: 'deep:er:c8'}],
  ['commands/c9.md', front('allowed-tools: "*"'), {name: 'c9'}],
  ['commands/c10.md', front('description: Émoji 🚀 and 中文'), {description: 'Émoji 🚀 and 中文'}],
];

const hook = (more: object) => ({type: 'command', command: 'true', ...more});
const HOOKS: readonly (readonly [string, unknown, object | RegExp])[] = [
  ['plain', {PreToolUse: [{matcher: 'Bash', hooks: [hook({})]}]}, {matcher: 'Bash', timeoutSeconds: 60}],
  ['without a matcher', {Stop: [{hooks: [hook({})]}]}, {event: 'Stop', matcher: ''}],
  ['with a star', {PostToolUse: [{matcher: '*', hooks: [hook({timeout: 5})]}]}, {matcher: '*', timeoutSeconds: 5}],
  [
    'with a pattern',
    {PreToolUse: [{matcher: 'Edit|Write|mcp__.*', hooks: [hook({})]}]},
    {matcher: 'Edit|Write|mcp__.*'},
  ],
  ['without a type', {SessionStart: [{hooks: [{command: 'true'}]}]}, {command: 'true'}],
  ['a broken pattern', {PreToolUse: [{matcher: '(', hooks: [hook({})]}]}, /PreToolUse\[0\].*no regular expression/],
  ['another type', {Stop: [{hooks: [{type: 'prompt', prompt: 'x'}]}]}, /only hooks of the types command and http/],
  ['no command', {Stop: [{hooks: [{type: 'command'}]}]}, /command is missing/],
  ['a timeout of 0', {Stop: [{hooks: [hook({timeout: 0})]}]}, /timeout must be/],
  ['an unknown event', {BeforeTheFlood: [{hooks: [hook({})]}]}, /BeforeTheFlood/],
  ['a misspelt event', {PreTooluse: [{hooks: [hook({})]}]}, /did you mean PreToolUse/],
];

describe('skills and commands', () => {
  let found: FoundPrompts;
  beforeAll(async () => {
    const {path: cwd, remove} = await emptyFolder();
    for (const [file, text] of FILES) {
      const place = path.join(cwd, '.claude', file);
      mkdirSync(path.dirname(place), {recursive: true});
      writeFileSync(place, text);
    }
    const home = path.join(cwd, 'home');
    found = findPrompts({cwd, home, miniCcHome: path.join(home, '.mini-cc'), tools: ALL_TOOLS}, () => true);
    return remove;
  });

  it.each(FILES)('%s loads, or is named with the reason', (file, _, expected) => {
    if (expected instanceof RegExp) {
      expect(found.problems.filter((problem) => problem.includes(file)).join('\n')).toMatch(expected);
    } else {
      expect(found.prompts.find((prompt) => prompt.file.endsWith(file))).toMatchObject(expected);
    }
  });
});

describe('hooks', () => {
  it.each(HOOKS)('%s: loads, or is named with the reason', (_, value, expected) => {
    const {hooks, problems} = readHookSettings(value, 'settings.json');
    if (expected instanceof RegExp)
      expect([hooks.length, problems.join('\n')]).toEqual([0, expect.stringMatching(expected)]);
    else expect([problems, hooks]).toEqual([[], [expect.objectContaining(expected)]]);
  });
});
