/** Words that a newer Claude Code or SDK may send: none ends the session, and each is a warning. */

import {describe, expect, it} from 'vitest';
import type {ForeignWord} from '../../src/core/contract/events.ts';
import {project, serve} from '../e2e/fixture.ts';
import {say} from '../support/messages-server.ts';
import {startDriven} from './driven.ts';

/** Drives a session to its first answer. @returns the answer, and the warnings */
async function answer(args: readonly string[], initialize: object = {}, files: Readonly<Record<string, string>> = {}) {
  const work = await project();
  for (const [file, text] of Object.entries(files)) await work.write(file, text);
  const server = await serve([say('ok')]);
  const driven = await startDriven(args, {server, cwd: work.path});
  const ready = await driven.request({subtype: 'initialize', ...initialize});
  const {result} = await driven.prompt('go');
  const agents: string[] = ready.agents.map(({name}: {name: string}) => name);
  const {warnings = []} = driven.lines.find(({subtype}) => subtype === 'init');
  return {
    result,
    agents,
    stderr: driven.stderr(),
    warnings: warnings.map((each: ForeignWord) => `${each.kind} ${each.name}`),
  };
}

const agent = {description: 'Looks after the build', prompt: 'Look after it.'};
const settings = (value: object) => [`--settings=${JSON.stringify(value)}`];

describe('a session with words that it does not know', () => {
  it('works without values of --settings that it does not understand', async () => {
    const values = {
      theme: 'dark-daltonized',
      model: null,
      permissions: null,
      env: {GOOD: 'yes', COUNT: 1},
      hooks: {PreToolUse: {new: 'shape'}, NewEvent: []},
      statusLine: {type: 'http', url: 'x'},
      title: 'x',
      limits: 'x',
      roles: [],
    };
    const {result, stderr, warnings} = await answer(settings(values));
    expect(result).toBe('ok');
    expect(warnings).toEqual(expect.arrayContaining(['key theme', 'key env.COUNT', 'key title']));
    for (const key of ['theme', 'env.COUNT', 'hooks.PreToolUse', 'statusLine.type', 'title', 'limits', 'roles']) {
      expect(stderr).toMatch(new RegExp(`: ${key}: must be .*; it is ignored`));
    }
  });

  it.each([
    ['a list of rules that is none', {permissions: {deny: 'Bash'}}],
    ['a sandbox of another shape', {sandbox: 'sometimes'}],
  ])('ends instead of leaving out what restricts: %s', async (_, value) => {
    const driven = await startDriven(settings(value), {cwd: (await project()).path});
    await expect(driven.request({subtype: 'initialize'})).rejects.toThrow(/permissions\.deny|sandbox/);
  });

  it('has agents with newer values, and leaves out only those that it cannot use', async () => {
    const {result, agents, stderr, warnings} = await answer([], {
      agents: {
        helper: {...agent, tools: ['Read', 'Zork'], zork: 1},
        newer: {
          ...agent,
          effort: 'ultra',
          memory: 'team',
          permissionMode: 'auto',
          color: 'teal',
          maxTurns: 1000,
          background: 'yes',
          skills: 'all',
          hooks: [],
          initialPrompt: ['x'],
          newField: 1,
        },
        'no name!': agent,
        explore: agent,
        empty: {description: 'x'},
        nothing: {...agent, tools: ['NewTool']},
      },
    });
    expect(result).toBe('ok');
    expect(agents).toContain('newer');
    expect(agents).not.toContain('nothing');
    const named = ['tool Zork', 'key zork', 'key effort', 'key name', 'key prompt', 'tool NewTool'];
    expect(warnings).toEqual(expect.arrayContaining(named));
    for (const words of ['"Zork" is left out', 'unknown key "zork"']) expect(stderr).toContain(words);
    for (const words of ['"no name!" is no name', 'explore is built in', '"prompt" is missing', '"NewTool"'])
      expect(stderr).toContain(words);
  });

  it('takes an initialize of a newer shape', async () => {
    const {result, stderr} = await answer([], {
      skills: 'all',
      agents: null,
      jsonSchema: null,
      appendSystemPrompt: null,
      hooks: {NewEvent: {new: 'shape'}, PreToolUse: [{hookCallbackIds: [], newField: 1}]},
      plugins: [{type: 'git', url: 'https://example.com/x'}],
      mcpServers: {a: {type: 'new', url: 'x'}},
      newField: {a: 1},
    });
    expect(result).toBe('ok');
    for (const words of ['no event NewEvent', 'names no folder', 'mcpServers.a: type "new"'])
      expect(stderr).toContain(words);
  });

  it('takes flags with newer values', async () => {
    const servers = JSON.stringify({mcpServers: {a: {type: 'new'}, b: {command: 5}}});
    const args = [
      '--effort=ultra',
      '--setting-sources=user,team',
      `--mcp-config=${servers}`,
      '--frob',
      'x',
      '--other=1',
    ];
    const {result, stderr} = await answer(args);
    expect(result).toBe('ok');
    for (const words of ['no "ultra"', 'no "team"', 'no --frob', 'no --other', 'mcpServers.a', 'mcpServers.b'])
      expect(stderr).toContain(words);
  });

  it('reads agents, skills, commands, rules and hooks of a project with fields of newer shapes', async () => {
    const front = (...lines: string[]) => ['---', ...lines, '---', 'Body'].join('\n');
    const {result, agents} = await answer(
      [],
      {},
      {
        '.claude/agents/newer.md': front(
          ...['name: newer', 'description: Looks after the build', 'effort: ultra', 'memory: team', 'maxTurns: many'],
          ...['hooks: 5', 'skills: {a: 1}', 'mcpServers: 7', 'model: [x]', 'newField: {a: b}', 'tools: NewTool, Read'],
        ),
        '.claude/skills/a/SKILL.md': front(
          'name: a',
          'description: b',
          'allowed-tools: 5',
          'model: [x]',
          'context: new',
        ),
        '.claude/commands/a.md': front('description: [a]', 'allowed-tools: {a: 1}', 'model: 5', 'newField: x'),
        '.claude/rules/a.md': front('paths: {a: 1}', 'new: x'),
        '.claude/settings.json': JSON.stringify({
          hooks: {NewEvent: [{}], PreToolUse: [{matcher: 5, hooks: [{type: 'new'}]}]},
          permissions: {allow: ['NewTool(x)', 5], defaultMode: 'new', newList: 1},
          newKey: 1,
        }),
      },
    );
    expect(result).toBe('ok');
    expect(agents).toContain('newer');
  });
});
