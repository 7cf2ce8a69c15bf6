import {readFileSync} from 'node:fs';
import path from 'node:path';
import {expect, test} from 'vitest';
import {formatDefinition} from '../../src/agents/definition-file.ts';
import {lintAgents} from '../../src/agents/lint.ts';
import {createAgentSchema} from '../../src/agents/schema.ts';
import {getTemplates} from '../../src/commands/agents/create.ts';
import {agentWorkspace, LISTABLE, readCatalog} from './fixture.ts';

const root = path.resolve(import.meta.dirname, '..', '..');

test('this repository has the seven agents that mini-cc ships, and lint finds nothing in them', async () => {
  const {options} = await agentWorkspace();
  const catalog = readCatalog({...options, cwd: root});
  const shipped = catalog.agents.filter(({source}) => source === 'project');
  expect(shipped.map(({definition}) => definition.name)).toEqual(Object.keys(getTemplates()).sort());
  expect(shipped.filter(({definition}) => definition.readOnly).map(({definition}) => definition.name)).toEqual([
    'architect',
    'doc-reader',
    'reviewer',
  ]);
  const {agents, others} = await lintAgents(catalog, LISTABLE, []);
  expect([...agents.flatMap(({findings}) => findings), ...others]).toEqual([]);
});

test('the reviewer has the tools of the documented example', () => {
  expect(getTemplates().reviewer).toMatchObject({tools: ['bash', 'read_file']});
  expect(getTemplates().reviewer?.description).toMatch(/^Code review expert focusing on code quality and improvements/);
});

test('each is formatted as mini-cc writes it, and the schema beside them is up to date', () => {
  for (const [name, definition] of Object.entries(getTemplates())) {
    expect(readFileSync(path.join(root, '.mini-cc', 'agents', `${name}.json`), 'utf8')).toBe(
      formatDefinition(definition),
    );
  }
  expect(JSON.parse(readFileSync(path.join(root, '.mini-cc', 'agent.schema.json'), 'utf8'))).toEqual(
    createAgentSchema(LISTABLE.known),
  );
});
