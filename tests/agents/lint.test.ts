import {expect, test} from 'vitest';
import {type LintResult, lintAgents} from '../../src/agents/lint.ts';
import {formatProblem} from '../../src/core/util/problem.ts';
import {agentWorkspace, good, json, LISTABLE, readCatalog} from './fixture.ts';

function lintLines({agents, others}: LintResult): string[] {
  return [...agents.flatMap(({findings}) => findings), ...others].map(
    (problem) => `${formatProblem(problem)} [${problem.severity}]`,
  );
}

/** The findings about one agent of the project. */
async function getLintRules(fields: Record<string, unknown>) {
  const workspace = await agentWorkspace();
  await workspace.write(workspace.project, 'helper.json', json(good('helper', fields)));
  const {agents} = await lintAgents(readCatalog(workspace.options), LISTABLE, []);
  return agents.at(-1)!.findings.map(({rule}) => rule);
}

const prompt = (text: string) => ({prompt: `${text} Work step by step, and report with path and line.`});

test('lint shows the effective tools of each agent, and the reason for each missing tool', async () => {
  const workspace = await agentWorkspace();
  const file = await workspace.write(
    workspace.project,
    'helper.json',
    json(
      good('helper', {
        tools: ['bash', 'reed_file', 'write_file', 'web_fetch', 'Task'],
        readOnly: true,
        disallowedTools: ['grep'],
      }),
    ),
  );
  const {agents, others} = await lintAgents(readCatalog(workspace.options), LISTABLE, []);
  expect(agents.map(({name}) => name)).toEqual(['explore', 'code', 'plan', 'helper']);
  expect(agents[1]).toMatchObject({source: 'built-in', missing: [], findings: [], readOnly: false});
  expect(agents.at(-1)).toMatchObject({
    file,
    usable: true,
    readOnly: true,
    tools: ['bash'],
    missing: [
      {name: 'reed_file', reason: 'there is no such tool', meant: 'read_file', listed: true},
      {name: 'Task', reason: 'subagents never have Task, only the main agent dispatches', listed: true},
      {name: 'read_file', reason: 'it is not in its tools', listed: false},
      {name: 'write_file', reason: 'it writes, and the agent is read-only', listed: true},
      {name: 'edit_file', reason: 'it is not in its tools', listed: false},
      {name: 'grep', reason: 'it is not in its tools', listed: false},
      {name: 'glob', reason: 'it is not in its tools', listed: false},
      {name: 'todo_write', reason: 'it is not in its tools', listed: false},
      {name: 'web_fetch', reason: 'it uses the network, and the agent is read-only', listed: true},
    ],
  });
  expect(others).toEqual([]);
});

test('a read-only agent that lists web_fetch gets a warning that says how to get it', async () => {
  const workspace = await agentWorkspace();
  await workspace.write(workspace.project, 'reader.json', json(good('reader', {tools: ['read_file', 'WebFetch']})));
  const [agent] = (await lintAgents(readCatalog(workspace.options), LISTABLE, [])).agents.slice(-1);
  expect(agent).toMatchObject({name: 'reader', readOnly: true, tools: ['read_file']});
  expect(agent?.findings.map(({message}) => message)).toContain(
    'web_fetch is left out: it uses the network, and the agent is read-only ("readOnly": false gives it)',
  );
});

test('an unknown key is an error in lint', async () => {
  const workspace = await agentWorkspace();
  const file = await workspace.write(workspace.project, 'helper.json', json(good('helper', {maxTurn: 3})));
  const result = await lintAgents(readCatalog(workspace.options), LISTABLE, []);
  expect(lintLines(result)).toEqual([`${file}:9:3: unknown key "maxTurn" is ignored (did you mean maxTurns?) [error]`]);
});

test.each([
  ['x y z', true],
  ['Reviews code', true],
  ['A helpful agent that helps you with various tasks', true],
  ['An expert assistant for everything', true],
  ['检查代码质量并报告问题', false],
  ['Проверяет код и находит ошибки', false],
  ['Explains compiler errors', false],
  ['Code review agent with read-only access, focusing on code quality', false],
])('the description %j is too vague: %s', async (description, vague) => {
  expect(await getLintRules({description})).toEqual(vague ? ['vague-description'] : []);
});

test.each([
  [{type: 'strnig'}, 1],
  [{type: 'object', properties: {a: {$ref: '#/definitions/none'}}}, 1],
  [{type: 'object', properties: {a: {type: 'string'}}, required: ['a']}, 0],
  [{$schema: 'http://json-schema.org/draft-07/schema#', type: 'array', items: [{type: 'string'}]}, 0],
])('the outputSchema %j is compiled: a bad one is an error in one line', async (outputSchema, count) => {
  const workspace = await agentWorkspace();
  await workspace.write(workspace.project, 'helper.json', json(good('helper', {outputSchema})));
  const lines = lintLines(await lintAgents(readCatalog(workspace.options), LISTABLE, []));
  expect(lines).toHaveLength(count);
  if (count > 0) expect(lines[0]).toMatch(/helper\.json:\d+:\d+: outputSchema is no JSON Schema: [^\n]+ \[error\]$/);
});

test.each([
  ['Find the bugs and fix them.', true],
  ['Fix the file.', true],
  ['- Write unit tests for each function.', true],
  ['You may edit files that are wrong.', true],
  ['Then update the documentation.', true],
  ['Never fix the code yourself.', false],
  ['Suggest how to fix the bugs.', false],
  ['Do not write files.', false],
  ['Report which tests to add.', false],
  ['Write a short summary.', false],
])('in a read-only agent, %j promises writing: %s', async (text, promises) => {
  expect(await getLintRules(prompt(text))).toEqual(promises ? ['promises-writing'] : []);
});

test('a prompt that runs commands is a warning when the agent has no bash', async () => {
  expect(await getLintRules({tools: ['read_file'], ...prompt('Run the tests.')})).toEqual(['promises-running']);
  expect(await getLintRules({tools: ['read_file'], ...prompt('Look at git log.')})).toEqual(['promises-running']);
  expect(await getLintRules({tools: ['read_file'], ...prompt('Never run the tests.')})).toEqual([]);
});

test('lint lists hidden and broken files with their findings', async () => {
  const workspace = await agentWorkspace();
  await workspace.write(workspace.project, 'helper.json', json(good('helper')));
  const hidden = await workspace.write(workspace.user, 'helper.json', json(good('helper')));
  const broken = await workspace.write(workspace.user, 'broken.json', '{');
  const {agents} = await lintAgents(readCatalog(workspace.options), LISTABLE, []);
  expect(agents.slice(4)).toMatchObject([
    {name: 'helper', source: 'user', file: hidden, usable: false, findings: [{rule: 'hidden', severity: 'warning'}]},
    {name: 'broken', file: broken, usable: false, findings: [{rule: 'syntax', severity: 'error'}]},
  ]);
});

test('lint names MCP servers that are not there, and tools of such', async () => {
  const workspace = await agentWorkspace();
  const fields = {mcpServers: ['notes', 'nots', {own: {command: 'x'}}], tools: ['edit_file', 'mcp__own__x']};
  await workspace.write(workspace.project, 'first.json', json(good('first', fields)));
  const tools = ['edit_file', 'mcp__notes__add', 'mcp__gone__y', 'mcp__gone__z'];
  await workspace.write(workspace.project, 'second.json', json(good('second', {tools})));
  const lines = lintLines(await lintAgents(readCatalog(workspace.options), LISTABLE, ['notes']));
  expect(lines.filter((line) => line.includes('MCP'))).toEqual([
    expect.stringMatching(
      /first\.json:\d+:\d+: there is no MCP server "nots": mini-cc mcp list \(did you mean notes\?\) \[error\]/,
    ),
    expect.stringMatching(/second\.json:\d+:\d+: there is no MCP server "gone": mini-cc mcp list \[error\]/),
  ]);
});
