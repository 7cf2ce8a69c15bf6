import {describe, expect, it} from 'vitest';
import {openCodeIndex} from '../../../src/code-index/index.ts';
import {ALL_TOOLS} from '../../../src/compose/known-tools.ts';
import {formatCall, formatToolName, listMissingTools} from '../../../src/core/util/tool-names.ts';
import {createSandbox} from '../../../src/sandbox/index.ts';
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
    for (const name of ['ExitPlanMode', 'MultiEdit', 'BashOutput', 'NotebookEdit']) expect(missing).toContain(name);
    for (const name of ['Bash', 'Agent', 'Skill', 'ToolSearch', 'TaskStop']) expect(missing).not.toContain(name);
  });

  it('are those of the tools that a session makes', () => {
    const made = createBaseTools({
      sandbox: createSandbox({home: '/x', miniCcHome: '/x'}),
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
      'todo_write Todos think TodoWrite',
      'web_fetch Fetch fetch WebFetch',
      'web_search Search fetch WebSearch',
      'Task Task think Task',
      'TaskList TaskList other TaskList',
      'TaskOutput TaskOutput other TaskOutput',
      'TaskSend TaskSend other TaskSend',
      'TaskStop TaskStop other TaskStop',
      'FanOut FanOut think FanOut',
    ]);
  });
});
