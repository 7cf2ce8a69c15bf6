import {expect, test} from 'vitest';
import {createDraftPrompt, createDraftSchema, parseDraft} from '../../src/agents/draft.ts';
import {lintAgents} from '../../src/agents/lint.ts';
import {saveAgent} from '../../src/agents/save.ts';
import {agentWorkspace, good, json, LISTABLE, readCatalog, TOOLS} from './fixture.ts';

const options = {listable: LISTABLE, taken: [] as string[]};
const wish = 'a code review agent with read-only access, focusing on code quality';

test('the request asks for one JSON object, names the tools, and delimits the description so that it cannot end its tag', () => {
  const request = createDraftPrompt(`${wish}</description> and more`, LISTABLE);
  expect(request).toContain('agent definition');
  expect(request).toContain('one JSON object');
  expect(request).toContain(`<description>\n${wish} and more\n</description>`);
  expect(request).toContain('bash, read_file, write_file, edit_file, grep, glob, todo_write, web_fetch.');
  expect(request).not.toContain('Task');
});

test('the schema of the answer allows no other keys, and offers the existing tools', () => {
  expect(createDraftSchema(LISTABLE)).toMatchObject({
    required: ['name', 'description', 'tools', 'prompt'],
    additionalProperties: false,
    properties: {tools: {anyOf: [{enum: ['*']}, {items: {enum: TOOLS.slice(0, -1)}}]}},
  });
});

test.each([
  ['bare', json(good())],
  ['in a fence', `Here it is:\n\n\`\`\`json\n${json(good())}\n\`\`\`\nShall I save it?`],
  ['between words with brackets', `A set {a, b} comes to mind. ${json(good())} That is all {really}.`],
  ['with comments and trailing commas', json(good()).replace('"\n}', '", // done\n}')],
  ['with tools as one text', json(good('reviewer', {tools: 'bash, Read'}))],
  ['with more keys than asked for', json(good('reviewer', {reason: 'because', permissionMode: 'bypassPermissions'}))],
])('an answer %s is read', (_, answer) => {
  expect(parseDraft(answer, options)).toMatchObject({
    ok: true,
    fields: good(),
    notes: [],
    agent: {definition: {readOnly: true}},
  });
});

test('a taken or built-in name gets a number, and a name with capitals is made valid', () => {
  const taken = ['reviewer', 'reviewer-2'];
  expect(parseDraft(json(good()), {...options, taken})).toMatchObject({
    fields: {name: 'reviewer-3'},
    notes: ['reviewer is taken: the draft is called reviewer-3'],
  });
  expect(parseDraft(json(good('explore')), options)).toMatchObject({fields: {name: 'explore-2'}});
  expect(parseDraft(json(good('Code Reviewer')), options)).toMatchObject({fields: {name: 'code-reviewer'}});
});

test('unknown tools are left out with a note', () => {
  expect(parseDraft(json(good('reviewer', {tools: ['bash', 'WebSearch', 'Task']})), options)).toMatchObject({
    ok: true,
    fields: {tools: ['bash']},
    notes: [
      'tool "WebSearch" is left out: it needs a model server that searches the web (providers.NAME.webSearch)',
      'tool "Task" is left out: subagents never have Task, only the main agent dispatches',
    ],
  });
});

test.each([
  ['', 'The answer has no JSON object with name, description, tools and prompt.'],
  ['I cannot do that.', 'The answer has no JSON object'],
  ['{"description": "x"', 'The answer has no JSON object'],
  ['{'.repeat(100_000), 'The answer has no JSON object'],
  [
    '{"description": "x", "prompt": ""}',
    'The answer is no agent definition: name: is missing; tools: is missing; prompt: must be text, and is empty.',
  ],
  [json(good('reviewer', {tools: ['telepathy']})), 'none of its tools can be used: "telepathy": there is no such tool'],
])('the answer %# is a clear error', (answer, error) => {
  const draft = parseDraft(answer.replace('"prompt": ""', '"prompt": ""'), options);
  expect(draft).toMatchObject({ok: false, error: expect.stringContaining(error)});
});

/** As the built-in offline model words its drafts. */
const offlineDraft = {
  name: 'reviewer',
  description: 'Code review agent with read-only access, focusing on code quality',
  tools: ['bash', 'read_file', 'grep', 'glob'],
  prompt:
    'You are an agent for this: a code review agent with read-only access, focusing on code quality. Look for bugs, unclear names, missing error handling, duplicated code and missing tests. Start from what you were asked, look at the files themselves, and do not guess names, paths or results. Never modify files; only report what you find. Report briefly: the result first, then each finding with path:line, and what you could not check.',
};

test('a saved draft has no lint findings and can be dispatched at once', async () => {
  const workspace = await agentWorkspace();
  const draft = parseDraft(json(offlineDraft), options);
  if (!draft.ok) throw new Error(draft.error);
  await saveAgent(draft.fields, workspace.project, LISTABLE.known);
  const catalog = readCatalog(workspace.options);
  expect(catalog.agents.at(-1)).toMatchObject({definition: {name: 'reviewer', readOnly: true}});
  expect((await lintAgents(catalog, LISTABLE, [])).agents.flatMap(({findings}) => findings)).toEqual([]);
});
