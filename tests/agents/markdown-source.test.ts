import {readdirSync, readFileSync} from 'node:fs';
import path from 'node:path';
import {expect, test} from 'vitest';
import {parseMarkdownAgent, readMarkdownAgent} from '../../src/agents/markdown-source.ts';
import {measureCpu} from '../support/cpu-time.ts';
import {LISTABLE, markdown} from './fixture.ts';

const folder = path.join(import.meta.dirname, '..', 'fixtures', 'agents');
const options = {listable: LISTABLE, mayWiden: () => true};
const read = (name: string) => readMarkdownAgent(path.join(folder, name), options);
const parse = (text: string, file = '/c/helper.md') => parseMarkdownAgent(text, file, options);
const head = 'name: helper\ndescription: Explains error messages of the compiler';

test('every fixture loads or says why not, with places inside the file', () => {
  for (const name of readdirSync(folder)) {
    const {agent, problems} = read(name);
    if (name !== 'README.md') expect([name, agent !== undefined || problems.length > 0]).toEqual([name, true]);
    const lines = readFileSync(path.join(folder, name), 'utf8').split('\n');
    for (const {line, column} of problems) {
      expect(line).toBeLessThanOrEqual(lines.length);
      expect(column).toBeLessThanOrEqual(lines[line - 1]!.length + 1);
    }
  }
});

test('fields and tool names are mapped, and Bash may write unless the file says otherwise', () => {
  const {agent, problems} = read('api-reviewer.md');
  expect(problems).toEqual([]);
  expect(agent?.definition).toMatchObject({
    name: 'api-reviewer',
    description: expect.stringContaining('Reviews HTTP endpoints for naming'),
    tools: ['bash', 'read_file', 'grep', 'glob'],
    prompt: expect.stringMatching(/^You review HTTP endpoints[\s\S]*its file and line\.$/),
    model: 'opus',
    color: 'cyan',
    readOnly: false,
  });
  expect(agent?.positions.get('prompt')).toEqual({line: 9, column: 1});
});

test('an agent that names no tools gets all of them', () => {
  expect(read('all-hands.md')).toMatchObject({agent: {definition: {tools: '*', readOnly: false}}, problems: []});
});

test('\\n in a description of a single line is a new line', () => {
  const {agent, problems} = read('release-notes-writer.md');
  expect(agent?.definition.description).toContain('from the history.\n\n<example>\nContext: The user');
  expect(problems.every(({severity}) => severity === 'hint')).toBe(true);
});

test('limits and switches beside a description with colons count as they are written', () => {
  const yaml = 'name: helper\ndescription: Explains: errors\nreadOnly: true\nmaxTurns: 5\nmaxBudgetUsd: 0.5';
  const {agent, problems} = parse(`---\n${yaml}\n---\nExplain.`);
  expect(problems.map(({rule}) => rule)).toEqual(['yaml']);
  expect(agent?.definition).toMatchObject({readOnly: true, maxTurns: 5, maxBudgetUsd: 0.5});
});

test('a description with colons, which is not valid YAML, is read line by line with a warning', () => {
  const {agent, problems} = read('schema-migrator.md');
  expect(agent?.definition.description).toMatch(
    /^Plans database migrations\. Examples: <example>Context: .*<\/example>$/,
  );
  expect(agent?.definition.model).toBe('inherit');
  expect(problems.map(({rule, line}) => [rule, line])).toEqual([['yaml', 3]]);
  expect(agent?.definition.tools).toContain('mcp__postgres__query');
});

test('a description of several lines without indentation is read whole, and so are the keys after it', () => {
  const {agent, problems} = read('flaky-test-hunter.md');
  expect(agent?.definition.description).toMatch(/^Finds out why[\s\S]*user: "login[\s\S]*<\/example>$/);
  expect(agent?.definition).toMatchObject({tools: ['bash', 'read_file', 'grep'], color: 'orange'});
  expect(problems.map(({rule}) => rule)).toEqual(['yaml']);
});

test('unsupported tools and unknown keys are warnings', () => {
  const {agent, problems} = read('notebook-analyst.md');
  expect(agent?.tools).toEqual(['read_file', 'edit_file', 'glob', 'todo_write']);
  expect(problems.map(({message}) => message)).toEqual([
    'unknown key "category" is ignored',
    'tool "NotebookEdit" is left out: it has no counterpart in mini-cc',
    'tool "WebSearch" is left out: it needs a model server that searches the web (providers.NAME.webSearch)',
    'tool "Playwright" is left out: there is no such tool',
  ]);
});

test('a name with capitals and spaces is made valid, and Task is left out, each with a warning', () => {
  const {agent, problems} = read('Team Lead_v2.md');
  expect(agent?.definition.name).toBe('team-lead-v2');
  expect(problems.map(({message}) => message)).toEqual([
    'name "Team Lead_v2" is read as "team-lead-v2"',
    'tool "Task" is left out: subagents never have Task, only the main agent dispatches',
  ]);
});

test('a file without front matter is not an agent: a hint says so, except for a README', () => {
  expect(read('style-notes.md')).toMatchObject({problems: [{severity: 'hint', rule: 'no-front-matter'}]});
  expect(read('README.md')).toEqual({problems: []});
});

test('front matter without its closing line is an error', () => {
  expect(read('never-closed.md')).toMatchObject({problems: [{severity: 'error', rule: 'syntax', line: 1, column: 1}]});
});

test('byte order mark, CRLF, and patterns of tools are read', () => {
  const {agent, problems} = read('windows-lines.md');
  expect(agent?.definition.description).toBe('Knows PowerShell: scripts, modules, and how to test them');
  expect(agent?.tools).toEqual(['bash', 'read_file', 'edit_file']);
  expect(problems.map(({rule, line}) => [rule, line])).toEqual([['tool-pattern', 4]]);
});

test('tabs and unsupported keys do not prevent reading', () => {
  const {agent, problems} = read('tabbed.md');
  expect(agent?.definition).toMatchObject({name: 'tabbed', tools: ['read_file', 'edit_file']});
  expect(problems.map(({message}) => message)).toContainEqual(
    expect.stringMatching(/^hooks: must be an object of events/),
  );
});

test('a stated readOnly is used, and the permission mode of an untrusted project is ignored', () => {
  const file = path.join(folder, 'guard.md');
  const {agent, problems} = readMarkdownAgent(file, {...options, mayWiden: () => false});
  expect(agent?.definition).toMatchObject({readOnly: true, maxTurns: 30, skills: ['secret-patterns']});
  expect(problems.map(({rule}) => rule)).toEqual(['untrusted']);
});

test('an agent without a name gets the name of its file', () => {
  expect(parse(markdown('description: Explains error messages of the compiler'), '/c/Error Guide.md')).toMatchObject({
    agent: {definition: {name: 'error-guide'}},
    problems: [{rule: 'name', message: 'name is missing: the name of the file is used, "error-guide"'}],
  });
});

test('a name without a letter from a to z is an error', () => {
  expect(parse(markdown('name: 评审\ndescription: 检查代码质量并报告问题'), '/c/评审.md').problems[0]).toMatchObject({
    severity: 'error',
    line: 2,
  });
  expect(
    parse(markdown('name: Révision\ndescription: Relit le code et dit ce qui manque')).agent?.definition.name,
  ).toBe('revision');
});

test.each([
  ['name: helper', 'description: is missing'],
  ['name: helper\ndescription:', 'description: is missing'],
  ['name: helper\ndescription: [a, b]', 'description: must be text, not a list'],
  [`${head}\ntools: []`, 'tools: must be a list of tool names, and is empty'],
  [`${head}\ntools: [5]`, 'tools, entry 1: must be the name of a tool, not 5'],
  [
    `${head}\ntools: mcp__a__b\nreadOnly: true`,
    'none of its tools can be used: "mcp__a__b": a read-only agent has the tools of a server only if its mcpServers names it ("readOnly": false gives it, too)',
  ],
  [`${head}\nisolation: container`, 'isolation: must be none or worktree, not "container"'],
  ['name: plan\ndescription: Plans the work of a week', 'plan is built in: give this agent another name'],
])('front matter %j is refused: %s', (front, message) => {
  const {agent, problems} = parse(markdown(front));
  expect(agent).toBeUndefined();
  expect(problems.filter(({severity}) => severity === 'error').map((problem) => problem.message)).toEqual([message]);
});

test.each(['version: 1.2', 'author:\n  name: me', 'maxTurns: many', 'color: octarine', 'model: [a]', 'hooks: {a: b}'])(
  'front matter with %j of another program keeps the agent in use',
  (front) => {
    const {agent, problems} = parse(markdown(`${head}\n${front}`));
    expect(agent).toBeDefined();
    expect(problems.some(({severity}) => severity === 'error')).toBe(false);
    expect(problems).toHaveLength(1);
  },
);

test('an empty body is an error', () => {
  expect(parse(markdown(head, ''))).toMatchObject({problems: [{message: 'there is no prompt below the front matter'}]});
});

test.each([
  ['tools: "*"', '*'],
  ['tools: All tools', '*'],
  ['tools:', '*'],
  ['tools: >-\n  Read,\n  Grep', ['read_file', 'grep']],
  ['tools: "Read, Grep"', ['read_file', 'grep']],
  ['tools: read, grep', ['read_file', 'grep']],
  ['tools:\n- Read\n- Grep # for names', ['read_file', 'grep']],
])('%j gives %j', (tools, expected) => {
  expect(parse(markdown(`${head}\n${tools}`)).agent?.definition.tools).toEqual(expected);
});

test('endless aliases, nesting and brackets neither throw nor hang', () => {
  const bomb = Array.from(
    {length: 12},
    (_, level) => `a${level}: &a${level} [${`*a${level - 1},`.repeat(level ? 9 : 0)}]`,
  );
  const ms = measureCpu(() => {
    for (const hostile of [
      bomb.join('\n'),
      `tools: ${'['.repeat(20_000)}`,
      `tools: ${'('.repeat(500_000)}`,
      `name: ${' '.repeat(500_000)}x`,
    ]) {
      const {agent, problems} = parse(markdown(`description: x\n${hostile}`));
      expect(agent !== undefined || problems.length > 0).toBe(true);
    }
  });
  expect(ms).toBeLessThan(5000);
});

test('300 random mutations of a valid file never throw, and each one gives an agent or a problem', () => {
  const text = readFileSync(path.join(folder, 'api-reviewer.md'), 'utf8');
  let seed = 7;
  const random = (below: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return seed % below;
  };
  const pieces = [
    '"',
    "'",
    ': ',
    '\n',
    '---\n',
    '- ',
    '|',
    '>',
    '&a ',
    '*a',
    '!!x ',
    '{',
    '[',
    '#',
    '\t',
    '%',
    '@',
    '\u0000',
    '? ',
  ];
  for (let round = 0; round < 300; round++) {
    const at = random(250);
    const mutated = text.slice(0, at) + pieces[random(pieces.length)] + text.slice(at + random(9));
    const {agent, problems} = parse(mutated);
    expect(agent !== undefined || problems.length > 0, mutated).toBe(true);
  }
});
