import {existsSync, readdirSync, readFileSync} from 'node:fs';
import {mkdir, readFile, symlink, writeFile} from 'node:fs/promises';
import path from 'node:path';
import {expect, test} from 'vitest';
import {deleteAgent, findDeletableFile, saveAgent} from '../../src/agents/save.ts';
import {type AgentFile, createAgentSchema} from '../../src/agents/schema.ts';
import {AGENT_TOOLS} from '../../src/compose/known-tools.ts';
import {agentWorkspace, good, json, markdown, readCatalog} from './fixture.ts';

const fields = (change: Record<string, unknown> = {}) => good('reviewer', change) as AgentFile;

test('a saved definition is formatted, names its schema and format, and is read again unchanged', async () => {
  const {project, options} = await agentWorkspace();
  const file = await saveAgent(fields({outputSchema: {type: 'object'}, model: 'haiku'}), project, AGENT_TOOLS);
  expect(await readFile(file, 'utf8')).toBe(`{
  "$schema": "../agent.schema.json",
  "version": 1,
  "name": "reviewer",
  "description": "Code review expert focusing on code quality and improvements",
  "tools": ["bash", "read_file"],
  "prompt": "You are a code review expert. Analyze code for bugs. Never modify files, only report findings.",
  "model": "haiku",
  "outputSchema": {
    "type": "object"
  }
}
`);
  expect(readdirSync(project)).toEqual(['reviewer.json']);
  expect(readCatalog(options).agents.at(-1)).toMatchObject({
    source: 'project',
    definition: {...good(), model: 'haiku'},
  });
});

test('the schema for editors is written where $schema says, and a foreign file of that name is left alone', async () => {
  const {project, user} = await agentWorkspace();
  const schema = path.join(await saveAgent(fields(), project, AGENT_TOOLS), '..', '..', 'agent.schema.json');
  expect(JSON.parse(await readFile(schema, 'utf8'))).toEqual(createAgentSchema(AGENT_TOOLS));
  const other = path.join(user, '..', 'agent.schema.json');
  await mkdir(user, {recursive: true});
  await writeFile(other, '{"mine": true}');
  await saveAgent(fields(), user, AGENT_TOOLS);
  expect(await readFile(other, 'utf8')).toBe('{"mine": true}');
});

test('an existing file is not replaced', async () => {
  const {project} = await agentWorkspace();
  const file = await saveAgent(fields(), project, AGENT_TOOLS);
  const before = readFileSync(file, 'utf8');
  const changed = fields({description: 'Reviews code for races and locks'});
  await expect(saveAgent(changed, project, AGENT_TOOLS)).rejects.toMatchObject({
    code: 'EXISTS',
    message: `${file} exists already`,
  });
  expect([readFileSync(file, 'utf8'), readdirSync(project)]).toEqual([before, ['reviewer.json']]);
});

test('when two saves use one name at the same time, one of them fails', async () => {
  const {project} = await agentWorkspace();
  const results = await Promise.allSettled([
    saveAgent(fields(), project, AGENT_TOOLS),
    saveAgent(fields(), project, AGENT_TOOLS),
  ]);
  expect(results.map(({status}) => status).sort()).toEqual(['fulfilled', 'rejected']);
  expect(readdirSync(project)).toEqual(['reviewer.json']);
});

test('names that leave the folder, built-in names and invalid definitions are not saved', async () => {
  const {project, root} = await agentWorkspace();
  await expect(saveAgent(fields({name: '../escape'}), project, AGENT_TOOLS)).rejects.toThrow(
    'Not an agent name: "../escape"',
  );
  await expect(saveAgent(fields({name: 'plan'}), project, AGENT_TOOLS)).rejects.toThrow('plan is built in');
  await expect(saveAgent(fields({prompt: ''}), project, AGENT_TOOLS)).rejects.toThrow(
    'reviewer: prompt: must be text, and is empty',
  );
  expect(readdirSync(root)).toEqual([]);
});

test('a link, a folder and a file of a newer format are not overwritten', async () => {
  const {project, root, write} = await agentWorkspace();
  const precious = await write(root, 'precious', 'mine');
  await mkdir(path.join(project, 'tester.json'), {recursive: true});
  await symlink(precious, path.join(project, 'reviewer.json'));
  await write(project, 'newer.json', json({...good('newer'), version: 2}));
  for (const name of ['reviewer', 'tester', 'newer']) {
    await expect(saveAgent(fields({name}), project, AGENT_TOOLS)).rejects.toMatchObject({code: 'EXISTS'});
  }
  expect(readFileSync(precious, 'utf8')).toBe('mine');
});

test('the agent of the project is deleted before that of the user, also when it is broken', async () => {
  const workspace = await agentWorkspace();
  const folders = [workspace.project, workspace.user];
  const first = await workspace.write(workspace.project, 'reviewer.json', '{ broken');
  const second = await workspace.write(workspace.user, 'reviewer.json', json(good()));
  const remove = () => deleteAgent('reviewer', readCatalog(workspace.options), folders);
  expect(await findDeletableFile('reviewer', readCatalog(workspace.options), folders)).toBe(first);
  expect([existsSync(first), await remove(), existsSync(first)]).toEqual([true, first, false]);
  expect(await remove()).toBe(second);
  await expect(remove()).rejects.toThrow('No agent reviewer. There are no agents to delete');
});

test('each reason why an agent cannot be deleted has its own message, and nothing is removed', async () => {
  const workspace = await agentWorkspace();
  const kept = [
    await workspace.write(workspace.root, 'package.json', '{}'),
    await workspace.write(workspace.project, 'reviewer.json', json(good())),
    await workspace.write(workspace.claudeProject, 'helper.md', markdown('name: helper\ndescription: Reads long logs')),
  ];
  await mkdir(path.join(workspace.project, 'folder.json'));
  const catalog = readCatalog({
    ...workspace.options,
    extra: '{"inline": {"description": "Reads long logs", "prompt": "Read."}}',
  });
  const refused = (name: string) =>
    deleteAgent(name, catalog, [workspace.project, workspace.user]).then(
      () => 'deleted',
      (error: Error) => error.message,
    );
  const rule = 'A name is lower-case letters, digits and hyphens, a letter first, at most 64';
  expect(await refused('../../package')).toBe(`Not an agent name: "../../package". ${rule}`);
  for (const name of ['..', 'a/b', '/etc/passwd', '', 'Reviewer', 'reviewer.json', '__proto__']) {
    expect(await refused(name)).toContain('Not an agent name: ');
  }
  expect(await refused('explore')).toBe('explore is built in and cannot be deleted');
  expect(await refused('reviewr')).toBe(
    'No agent reviewr. Did you mean reviewer? Agents that can be deleted: reviewer',
  );
  expect(await refused('helper')).toBe(
    `helper is in ${kept[2]}: mini-cc reads files of .claude, and never writes or deletes them. Delete it yourself`,
  );
  expect(await refused('inline')).toBe('inline comes from --agents: there is no file to delete');
  expect(await refused('folder')).toContain('is a folder: it is not deleted');
  expect(kept.map((file) => existsSync(file))).toEqual([true, true, true]);
});

test.each(['.mini-cc', '.mini-cc/agents'])(
  'nothing is written through %s when it is a link out of the project',
  async (name) => {
    const {project, options} = await agentWorkspace();
    const top = path.join(project, '..', '..');
    const outside = path.join(top, '..', 'outside');
    await mkdir(path.join(outside, 'agents'), {recursive: true});
    await mkdir(path.dirname(path.join(top, name)), {recursive: true});
    await symlink(outside, path.join(top, name));
    await expect(saveAgent(fields(), project, AGENT_TOOLS)).rejects.toMatchObject({
      code: 'NOT_OURS',
      message: expect.stringContaining('is a link that leads out of'),
    });
    expect(readdirSync(outside, {recursive: true})).toEqual(['agents']);
    expect(readCatalog(options).agents.filter(({source}) => source === 'project')).toEqual([]);
  },
);

test('a link to another folder of the project is followed', async () => {
  const {project} = await agentWorkspace();
  const top = path.join(project, '..', '..');
  await mkdir(path.join(top, 'shared', 'agents'), {recursive: true});
  await mkdir(path.dirname(project), {recursive: true});
  await symlink(path.join(top, 'shared', 'agents'), project);
  await saveAgent(fields(), project, AGENT_TOOLS);
  expect(readdirSync(path.join(top, 'shared', 'agents'))).toEqual(['reviewer.json']);
});
