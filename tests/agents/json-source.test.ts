import {expect, test} from 'vitest';
import {parseInlineAgents, parseJsonAgent} from '../../src/agents/json-source.ts';
import {formatProblem} from '../../src/core/util/problem.ts';
import {good, json, LISTABLE, TOOLS} from './fixture.ts';

const options = {listable: LISTABLE, dialect: 'json', mayWiden: () => true} as const;
const parse = (text: string, file = '/p/reviewer.json') => parseJsonAgent(text, file, options);
const lines = (text: string, file?: string) => parse(text, file).problems.map(formatProblem);
const change = (fields: Record<string, unknown>) => json(good('reviewer', fields));

test('the example definition is read, and is read-only because none of its tools writes', () => {
  const {agent, problems} = parse(json({$schema: '../agent.schema.json', ...good()}));
  expect(problems).toEqual([]);
  expect(agent?.definition).toEqual({...good(), readOnly: true});
  expect(agent?.tools).toEqual(['bash', 'read_file']);
});

test('byte order mark, CRLF, comments and trailing commas are allowed', () => {
  const text = `\uFEFF// for reviews\r\n${json(good())
    .replace(/\n/g, '\r\n')
    .replace(/"\r\n\}/, '", /* last */\r\n}')}\r\n`;
  expect(text).toContain(', /* last */\r\n}');
  expect(parse(text)).toMatchObject({agent: {definition: good()}, problems: []});
});

test.each([
  ['', 1, 1, 'is empty'],
  [' \n', 1, 1, 'is empty'],
  ['{"name": "reviewer"', 1, 20, 'a closing } is missing'],
  ['{\n  "name": "reviewer"\n  "tools": "*"\n}', 3, 3, 'a comma is missing before "tools"'],
  ['{\r\n  "name": "reviewer"\r\n  "tools": "*"\r\n}', 3, 3, 'a comma is missing before "tools"'],
  ['{\n  "name": \'reviewer\'\n}', 2, 11, '"\'reviewer\'" is not JSON: text needs double quotes'],
  ['{"prompt": "a\n"}', 1, 12, 'this text has no closing double quote on its line'],
  ['{"name" "reviewer"}', 1, 9, 'a colon is missing before "reviewer"'],
  ['{"name": }', 1, 10, 'a value is missing before "}"'],
  ['{"path": "C:\\dir"}', 1, 10, 'unknown escape'],
  ['[]', 1, 1, 'must contain one object'],
  ['"reviewer"', 1, 1, 'must contain one object'],
  ['{} {}', 1, 4, 'the object ends before this'],
  ['{ /* no end', 1, 3, 'this comment does not end'],
  ['['.repeat(500_000), 1, 1, 'has more than 2,000 brackets'],
  [`{"outputSchema": ${'{"a":'.repeat(100_000)}`, 1, 1, 'has more than 2,000 brackets'],
])('broken JSON %# is named with its place', (text, line, column, message) => {
  const {agent, problems} = parse(text);
  expect(agent).toBeUndefined();
  expect(problems).toHaveLength(1);
  expect(problems[0]).toMatchObject({line, column, severity: 'error', file: '/p/reviewer.json'});
  expect(problems[0]?.message).toContain(message);
});

test('an unknown key is a warning with the nearest known one, and the agent works', () => {
  const {agent, problems} = parse(change({maxTurn: 3}));
  expect(agent?.definition.name).toBe('reviewer');
  expect(problems.map(formatProblem)).toEqual([
    '/p/reviewer.json:9:3: unknown key "maxTurn" is ignored (did you mean maxTurns?)',
  ]);
});

test('an unknown key that is probably meant as a missing key is one error at its place', () => {
  const {tools, ...rest} = good();
  expect(lines(json({...rest, tool: tools}))).toEqual([
    '/p/reviewer.json:5:3: "tools" is missing, and "tool" is an unknown key (did you mean tools?)',
  ]);
  expect(lines(json({...good(), prompt: undefined, system_prompt: 'x'}))).toEqual([
    '/p/reviewer.json:8:3: "prompt" is missing, and "system_prompt" is an unknown key (did you mean prompt?)',
  ]);
});

test('each missing field is reported', () => {
  expect(lines('\n{}')).toEqual(
    ['name', 'description', 'tools', 'prompt'].map((key) => `/p/reviewer.json:2:1: "${key}" is missing`),
  );
});

test.each([
  [{description: 5}, 18, 'description: must be text, not 5'],
  [{description: '  '}, 18, 'description: must be text, and is empty'],
  [{prompt: ''}, 13, 'prompt: must be text, and is empty'],
  [{tools: []}, 12, 'tools: must be a list of tool names, and is empty'],
  [{tools: 'bash'}, 12, 'tools: must be "*" or a list of tool names, not "bash"'],
  [{tools: ['bash', 7]}, 5, 'tools, entry 2: must be the name of a tool, not 7'],
  [{maxTurns: 0}, 15, 'maxTurns: must be a whole number from 1 to 400, not 0'],
  [{maxTurns: 401}, 15, 'maxTurns: must be a whole number from 1 to 400, not 401'],
  [{maxTurns: '9'}, 15, 'maxTurns: must be a whole number from 1 to 400, not "9"'],
  [{timeoutSeconds: -1}, 21, 'timeoutSeconds: must be a number of seconds, 0 for no limit, not -1'],
  [{readOnly: 'yes'}, 15, 'readOnly: must be true or false, not "yes"'],
  [{thinking: 'hard'}, 15, 'thinking: must be off, low, medium or high, not "hard"'],
  [{model: null}, 12, 'model: must be the name of a model, not null'],
  [{outputSchema: []}, 19, 'outputSchema: must be a JSON Schema object, not an empty list'],
])('a wrong value is named with its place: %j', (fields, column, message) => {
  const {agent, problems} = parse(change(fields));
  expect(agent).toBeUndefined();
  expect(problems).toMatchObject([{severity: 'error', column, message}]);
});

test('an invalid name is an error that suggests a valid one', () => {
  expect(lines(json(good('Code Reviewer')), '/p/code-reviewer.json')).toEqual([
    '/p/code-reviewer.json:2:11: name: "Code Reviewer" is no name for an agent: lower-case letters, digits and hyphens, a letter first, at most 64 (did you mean code-reviewer?)',
  ]);
});

test('a name that differs from the name of the file is an error', () => {
  expect(lines(json(good('helper')))).toEqual([
    '/p/reviewer.json:2:11: name "helper" differs from the name of the file (did you mean "reviewer"?)',
  ]);
});

test.each(['explore', 'code', 'plan'])('%s is reserved', (name) => {
  expect(lines(json(good(name)), `/p/${name}.json`)).toEqual([
    `/p/${name}.json:2:11: ${name} is built in: give this agent another name`,
  ]);
});

test('names of inherited properties, such as constructor, are ordinary keys and tool names', () => {
  expect(parse(json(good('constructor')), '/p/constructor.json').agent?.definition.name).toBe('constructor');
  const {agent, problems} = parse(`{"__proto__": ${json(good())}}`);
  expect(agent).toBeUndefined();
  expect(problems.map(({message}) => message)).toContain('"tools" is missing');
});

test('each unknown tool is a warning with the nearest tool, and the agent works with the others', () => {
  const {agent, problems} = parse(change({tools: ['bash', 'reed_file', 'grp']}));
  expect(agent?.tools).toEqual(['bash']);
  expect(problems.map(formatProblem)).toEqual([
    '/p/reviewer.json:6:5: tool "reed_file" is left out: there is no such tool (did you mean read_file?)',
    '/p/reviewer.json:7:5: tool "grp" is left out: there is no such tool (did you mean grep?)',
  ]);
});

test('a tool list of which nothing can be used is an error that names the unknown entries', () => {
  const {agent, problems} = parse(change({tools: ['reed_file', 'Task']}));
  expect(agent).toBeUndefined();
  expect(problems.at(-1)).toMatchObject({
    severity: 'error',
    message:
      'none of its tools can be used: "reed_file": there is no such tool, nearest is read_file; "Task": subagents never have Task, only the main agent dispatches',
  });
});

test('tool names of other programs are mapped to ours', () => {
  const written = ['Bash', 'view_file', 'Grep', 'Glob', 'Edit', 'create_file', 'MultiEdit', 'read', 'TodoWrite'];
  const {agent, problems} = parse(change({tools: written}));
  expect(problems).toEqual([]);
  expect(agent?.tools).toEqual(['bash', 'read_file', 'write_file', 'edit_file', 'grep', 'glob', 'todo_write']);
  expect(agent?.definition.readOnly).toBe(false);
});

test('Task in a list is a warning: subagents never have it', () => {
  const {agent, problems} = parse(change({tools: ['bash', 'Task', 'Agent']}));
  expect(agent?.tools).toEqual(['bash']);
  expect(problems.map(({rule}) => rule)).toEqual(['no-dispatch', 'no-dispatch']);
});

test('"*" gives all tools but Task, also in a list', () => {
  for (const tools of ['*', ['*']]) {
    const {agent} = parse(change({tools}));
    expect(agent?.definition).toMatchObject({tools: '*', readOnly: false});
    expect(agent?.tools).toEqual(TOOLS.filter((name) => name !== 'Task'));
  }
});

test('disallowed tools are removed, and a misspelled one is an error', () => {
  const {agent} = parse(change({tools: '*', disallowedTools: ['Write', 'edit_file']}));
  expect(agent?.definition).toMatchObject({tools: ['bash', 'read_file', 'grep', 'glob', 'todo_write'], readOnly: true});
  expect(lines(change({disallowedTools: ['bahs']}))[0]).toMatch(/there is no tool "bahs" \(did you mean bash\?\)$/);
  expect(parse(change({disallowedTools: ['bahs']})).agent).toBeUndefined();
  expect(parse(change({tools: '*', disallowedTools: ['*_file']})).agent?.tools).not.toContain('write_file');
  expect(lines(change({tools: '*', disallowedTools: ['*']}))[0]).toMatch(/none of its tools can be used/);
});

test('a read-only agent gets no writing tool, and a warning says so', () => {
  const {agent, problems} = parse(change({tools: ['read_file', 'write_file'], readOnly: true}));
  expect(agent?.tools).toEqual(['read_file']);
  expect(problems.map(({rule}) => rule)).toEqual(['read-only']);
  expect(parse(change({tools: '*', readOnly: true})).agent?.tools).not.toContain('write_file');
});

test('the limits of tokens and money, background and the schema of answers are part of the agent', () => {
  const fields = {maxTokens: 9000, maxBudgetUsd: 0.5, background: true, outputSchema: {type: 'object'}};
  const {agent, problems} = parse(change(fields));
  expect(problems).toEqual([]);
  expect(agent?.definition).toMatchObject(fields);
});

test('thinking and a key of its own are part of the agent; the key of an agent that may not widen is not', () => {
  const fields = {thinking: 'low', apiKeyEnv: 'MY_KEY'} as const;
  expect(parse(change(fields)).agent?.definition).toMatchObject(fields);
  expect(
    parseJsonAgent(change(fields), '/p/reviewer.json', {...options, mayWiden: () => false}).agent?.definition,
  ).not.toHaveProperty('apiKeyEnv');
});

test('isolation: worktree is part of the agent', () => {
  const {agent, problems} = parse(change({isolation: 'worktree'}));
  expect(problems).toEqual([]);
  expect(agent?.definition).toMatchObject({isolation: 'worktree'});
  expect(parse(change({isolation: 'none'})).agent?.definition).not.toHaveProperty('isolation');
});

test('in a project that is not trusted, a field that widens permissions is ignored, and one that narrows them is used', () => {
  const {agent, problems} = parseJsonAgent(
    change({permissionMode: 'bypassPermissions', apiKeyEnv: 'K'}),
    '/p/reviewer.json',
    {
      ...options,
      mayWiden: () => false,
    },
  );
  expect(problems.map(({message}) => message)).toEqual([
    'permissionMode "bypassPermissions" is ignored: this project is not trusted (mini-cc --trust trusts it)',
    'apiKeyEnv "K" is ignored: this project is not trusted (mini-cc --trust trusts it)',
  ]);
  expect(agent?.definition).not.toHaveProperty('permissionMode');
  for (const permissionMode of ['plan', 'default']) {
    const narrow = parseJsonAgent(change({permissionMode}), '/p/reviewer.json', {...options, mayWiden: () => false});
    expect(narrow).toMatchObject({agent: {definition: {permissionMode}}, problems: []});
  }
});

test('an unknown colour, a key that appears twice, and a newer format are warnings', () => {
  expect(parse(change({color: 'beige', version: 2}))).toMatchObject({
    agent: {definition: good()},
    problems: [{rule: 'wrong-value'}, {rule: 'newer-format'}],
  });
  const twice = json(good()).replace('{', '{"tools": ["grep"],');
  expect(parse(twice)).toMatchObject({agent: {tools: ['bash', 'read_file']}, problems: [{rule: 'double-key'}]});
});

test('an inline agent has its key as its name, and all tools unless it lists some', () => {
  const text = json({
    helper: {description: 'Helps to read logs', prompt: 'Read the log.'},
    other: {prompt: 5},
    third: 1,
  });
  const results = parseInlineAgents(text, '--agents', options);
  expect(results.map(({agent}) => agent?.definition.name)).toEqual(['helper', undefined, undefined]);
  expect(results[0]?.agent?.definition.tools).toBe('*');
  expect(results.flatMap(({problems}) => problems).map(formatProblem)).toEqual([
    '--agents:6:12: "description" is missing',
    '--agents:7:15: prompt: must be text, not 5',
    '--agents:9:12: "third" must be an object with description and prompt',
  ]);
  expect(parseInlineAgents('{', '--agents', options)[0]?.problems[0]).toMatchObject({
    rule: 'syntax',
    line: 1,
    column: 2,
  });
});

test('control characters of a file appear in messages only as escapes', () => {
  expect(lines(json({...good(), '\u001b[2J': 1}))[0]).toContain('unknown key "\\u001b[2J"');
});

test('500 random mutations of a valid file never throw, and each one gives an agent or a problem', () => {
  const text = json({...good(), maxTurns: 20, model: 'haiku'});
  let seed = 20_240_601;
  const random = (below: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return seed % below;
  };
  const pieces = [
    '"',
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '\\',
    '\u0000',
    '\n',
    '//',
    '/*',
    'null',
    '-1e999',
    '\uFEFF',
    '\uD800',
    '__proto__',
  ];
  for (let round = 0; round < 500; round++) {
    let mutated = text;
    for (let times = 1 + random(4); times > 0; times--) {
      const at = random(mutated.length + 1);
      const piece = random(3) === 0 ? '' : pieces[random(pieces.length)]!;
      mutated = mutated.slice(0, at) + piece + mutated.slice(at + random(12));
    }
    const {agent, problems} = parse(mutated);
    const failed = problems.some(({severity}) => severity === 'error');
    expect(agent !== undefined, mutated).toBe(!failed);
    for (const {line, column, message} of problems)
      expect([line > 0, column > 0, message !== '']).toEqual([true, true, true]);
  }
});
