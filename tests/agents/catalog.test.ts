import {mkdir, symlink, writeFile} from 'node:fs/promises';
import path from 'node:path';
import {expect, test} from 'vitest';
import {type CatalogOptions, listAgentClaims} from '../../src/agents/catalog.ts';
import {AGENT_TOOLS} from '../../src/compose/known-tools.ts';
import type {Claim} from '../../src/core/contract/permission.ts';
import {formatProblem} from '../../src/core/util/problem.ts';
import {agentWorkspace, good, json, markdown, readCatalog, TOOLS} from './fixture.ts';

const described = (text: string) => markdown(`description: ${text}`);

test('without any agent folder, the catalogue has the built-in agents with the tools that they really have', async () => {
  const {options} = await agentWorkspace();
  const {agents, hidden, problems} = readCatalog(options);
  expect(agents.map(({definition: {name, readOnly}, source}) => [name, source, readOnly])).toEqual([
    ['explore', 'built-in', true],
    ['code', 'built-in', false],
    ['plan', 'built-in', true],
  ]);
  expect(agents[1]?.tools).toEqual(TOOLS.filter((name) => name !== 'Task'));
  expect([hidden, problems]).toEqual([[], []]);
});

test('an agent hides agents of the same name from sources of lower precedence, and the catalogue lists the hidden ones', async () => {
  const workspace = await agentWorkspace();
  const extra = json({same: {description: 'From the command line alone', prompt: 'Read the log.'}});
  const files = [
    await workspace.write(workspace.project, 'same.json', json(good('same'))),
    await workspace.write(workspace.user, 'same.json', json(good('same'))),
    await workspace.write(workspace.claudeProject, 'same.md', described('Of the project, for Claude')),
    await workspace.write(workspace.claudeUser, 'same.md', described('Of the user, for Claude')),
  ];
  const sources = ['project', 'user', 'claude-project', 'claude-user'];
  const all = readCatalog({...workspace.options, extra});
  expect(all.agents.at(-1)).toMatchObject({source: 'inline', file: '--agents'});
  expect(all.hidden).toEqual(
    files.map((file, index) => ({
      name: 'same',
      source: sources[index],
      file,
      by: {source: 'inline', file: '--agents'},
    })),
  );
  const without = readCatalog(workspace.options);
  expect(without.agents.at(-1)).toMatchObject({source: 'project', file: files[0]});
  expect(without.hidden.map(({source}) => source)).toEqual(['user', 'claude-project', 'claude-user']);
});

test('a broken file never hides other agents', async () => {
  const workspace = await agentWorkspace();
  const broken = await workspace.write(workspace.project, 'broken.json', '{\n  "name": "broken",\n  oops\n}');
  await workspace.write(workspace.project, 'fine.json', json(good('fine')));
  await workspace.write(workspace.user, 'broken.json', json(good('broken')));
  const {agents, problems} = readCatalog(workspace.options);
  expect(agents.map(({definition, source}) => `${definition.name} ${source}`).slice(3)).toEqual([
    'fine project',
    'broken user',
  ]);
  expect(problems.map(formatProblem)).toEqual([`${broken}:3:3: "oops" is not JSON: text needs double quotes`]);
});

test('folders and links with the name of a definition, and files that look like one, are reported', async () => {
  const workspace = await agentWorkspace();
  const at = (name: string) => path.join(workspace.project, name);
  await mkdir(at('folder.json'), {recursive: true});
  await mkdir(at('more'));
  await symlink('gone', at('link.json'));
  await symlink('loop.json', at('loop.json'));
  for (const name of ['old.jsonc', 'one.yaml', 'README.md', 'notes.txt', '.swap.json', 'Upper.JSON'])
    await writeFile(at(name), '');
  const {agents, problems} = readCatalog(workspace.options);
  expect(agents).toHaveLength(3);
  expect(problems.map(({file, message}) => `${path.basename(file)} ${message}`)).toEqual([
    'Upper.JSON is not read: the name of an agent file ends in .json',
    'more is a folder: agent files are not read from subfolders',
    'old.jsonc is not read: the name of an agent file ends in .json',
    'one.yaml is not read: the name of an agent file ends in .json',
    'folder.json is a folder, not a file',
    'link.json is a link to "gone", which is not there',
    'loop.json is a link that leads back to itself',
  ]);
});

test('a file in the place of an agent folder is reported', async () => {
  const workspace = await agentWorkspace();
  await workspace.write(path.dirname(workspace.project), 'agents', 'not a folder');
  expect(readCatalog(workspace.options).problems.map(formatProblem)).toEqual([
    `${workspace.project}:1:1: is not a folder`,
  ]);
});

test('agents for Claude are read from subfolders, and the first of two with the same name is used', async () => {
  const workspace = await agentWorkspace();
  const first = await workspace.write(
    workspace.claudeProject,
    'a/one.md',
    markdown('name: same\ndescription: The first of two'),
  );
  const second = await workspace.write(
    workspace.claudeProject,
    'b/two.md',
    markdown('name: same\ndescription: The second of two'),
  );
  await symlink(workspace.root, path.join(workspace.claudeProject, 'linked'));
  const {agents, hidden, problems} = readCatalog(workspace.options);
  expect(agents.at(-1)?.file).toBe(first);
  expect(hidden).toMatchObject([{name: 'same', file: second, by: {file: first}}]);
  expect(problems.map(({message}) => message)).toEqual([
    'is a link to a folder: links to folders are not followed',
    `another file has an agent same: ${first} is used, this one is not`,
  ]);
});

test('when mini-cc starts in the home directory, the folders of the user are read once', async () => {
  const workspace = await agentWorkspace();
  await workspace.write(workspace.user, 'mine.json', json(good('mine', {color: 'mauve'})));
  await workspace.write(
    workspace.claudeUser,
    'other.md',
    markdown('name: other\ndescription: Explains what a log says'),
  );
  const {agents, hidden, problems} = readCatalog({...workspace.options, cwd: workspace.options.home});
  expect(agents.slice(3).map(({source}) => source)).toEqual(['user', 'claude-user']);
  expect(hidden).toEqual([]);
  expect(problems).toHaveLength(1);
});

test('agents of a project can only narrow permissions; agents of the user and of a trusted project can widen them', async () => {
  const workspace = await agentWorkspace();
  await workspace.write(workspace.project, 'a.json', json(good('a', {permissionMode: 'bypassPermissions'})));
  expect(readCatalog(workspace.options).problems.map(({rule}) => rule)).toEqual(['untrusted']);
  const modes = (options: CatalogOptions) =>
    readCatalog(options).agents.map(({definition}) => definition.permissionMode);
  expect(modes(workspace.options)).toEqual([undefined, undefined, undefined, undefined]);
  const asked: Claim[] = [];
  const trusting = {...workspace.options, trusts: (claim: Claim) => asked.push(claim) > 0};
  expect([readCatalog(trusting).problems, modes(trusting).at(-1)]).toEqual([[], 'bypassPermissions']);
  expect(asked[0]).toEqual({
    file: path.join(workspace.project, 'a.json'),
    key: 'permissionMode',
    value: 'bypassPermissions',
  });
  await workspace.write(workspace.user, 'b.json', json(good('b', {permissionMode: 'acceptEdits'})));
  const extra = json({c: {...good('c', {permissionMode: 'bypassPermissions'}), name: undefined}});
  expect(modes({...workspace.options, extra}).slice(3)).toEqual(['bypassPermissions', undefined, 'acceptEdits']);
});

test('settings replace the model and limits of built-in agents, and supply those that other agents do not set', async () => {
  const workspace = await agentWorkspace();
  await workspace.write(workspace.project, 'a.json', json(good('a', {model: 'opus'})));
  const overrides = {explore: {model: 'haiku', maxTurns: 9}, a: {model: 'haiku', timeoutSeconds: 5}, constructor: {}};
  const {agents} = readCatalog({...workspace.options, overrides});
  expect(agents[0]?.definition).toMatchObject({model: 'haiku', maxTurns: 9});
  expect(agents[3]?.definition).toMatchObject({model: 'opus', timeoutSeconds: 5});
});

test('an error in --agents is reported, and the valid agents of --agents work', async () => {
  const {options} = await agentWorkspace();
  const extra =
    '{"good": {"description": "Reads logs for errors", "prompt": "Read."}, "explore": {"description": "x", "prompt": "y"}}';
  const {agents, problems} = readCatalog({...options, extra});
  expect(agents.map(({definition}) => definition.name)).toEqual(['explore', 'code', 'plan', 'good']);
  expect(problems.map(formatProblem)).toEqual(['--agents:1:71: explore is built in: give this agent another name']);
});

test('what an agent of the project asks for needs trust however its key is spelled', async () => {
  const workspace = await agentWorkspace();
  const {options, project, claudeProject} = workspace;
  const text = json(good('a')).replace('"name"', '"permission\\u004dode": "bypassPermissions", "name"');
  await workspace.write(project, 'a.json', text);
  const heads = [
    '"permission\\x4dode": acceptEdits',
    '? &key permissionMode\n: &mode acceptEdits',
    '!!str permissionMode: acceptEdits',
  ];
  for (const [index, head] of heads.entries()) {
    await workspace.write(
      claudeProject,
      `b${index}.md`,
      markdown(`name: b${index}\ndescription: Reads all the code\n${head}`),
    );
  }
  const claims = listAgentClaims(options, AGENT_TOOLS).map(({file, key, value}) => [path.basename(file), key, value]);
  expect(claims).toEqual([
    ['a.json', 'permissionMode', 'bypassPermissions'],
    ...heads.map((_, index) => [`b${index}.md`, 'permissionMode', 'acceptEdits']),
  ]);
  const merged = markdown('name: c\ndescription: Reads all the code\nx: &x {permissionMode: acceptEdits}\n<<: *x');
  await workspace.write(claudeProject, 'c.md', merged);
  const {agents} = readCatalog(options);
  expect(agents.flatMap(({definition}) => definition.permissionMode ?? [])).toEqual([]);
});

test('links of the project that lead out of it are not followed', async () => {
  const workspace = await agentWorkspace();
  const outside = await workspace.write(path.join(workspace.root, 'outside'), 'a.json', json(good('a')));
  await workspace.write(workspace.project, 'b.json', json(good('b')));
  await workspace.write(path.join(workspace.project, '../../shared'), 'c.json', json(good('c')));
  await symlink(outside, path.join(workspace.project, 'a.json'));
  await symlink('../../shared/c.json', path.join(workspace.project, 'c.json'));
  await mkdir(path.dirname(workspace.claudeProject), {recursive: true});
  await symlink(path.dirname(outside), workspace.claudeProject);
  await mkdir(workspace.user, {recursive: true});
  await symlink(outside, path.join(workspace.user, 'a.json'));
  const {agents, problems} = readCatalog(workspace.options);
  expect(
    agents.flatMap(({source, definition}) => (source === 'built-in' ? [] : [`${source} ${definition.name}`])),
  ).toEqual(['project b', 'project c', 'user a']);
  expect(problems.map(({message}) => message)).toEqual([
    `is a link out of the project, to ${outside}: it is not followed`,
    `is a link out of the project, to ${path.dirname(outside)}: it is not followed`,
  ]);
});
