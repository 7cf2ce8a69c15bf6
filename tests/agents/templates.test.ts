import {readFileSync} from 'node:fs';
import path from 'node:path';
import {expect, test} from 'vitest';
import {definitionText} from '../../src/agents/definition-file.ts';
import {lintAgents} from '../../src/agents/lint.ts';
import {agentJsonSchema} from '../../src/agents/schema.ts';
import {templates} from '../../src/agents/templates.ts';
import {agentWorkspace, readCatalog, TOOLS} from './fixture.ts';

const root = path.resolve(import.meta.dirname, '..', '..');

test('this repository has the seven agents that are shipped, and lint finds them clean', async () => {
  const {options} = await agentWorkspace();
  const catalog = readCatalog({...options, cwd: root});
  const shipped = catalog.agents.filter(({source}) => source === 'project');
  expect(shipped.map(({definition}) => definition.name)).toEqual(Object.keys(templates()).sort());
  expect(shipped.filter(({readOnly}) => readOnly).map(({definition}) => definition.name)).toEqual([
    'architect',
    'doc-reader',
    'reviewer',
  ]);
  const {agents, others} = lintAgents(catalog, TOOLS);
  expect([...agents.flatMap(({findings}) => findings), ...others]).toEqual([]);
});

test('the reviewer has the tools of the example that people know', () => {
  expect(templates().reviewer).toMatchObject({tools: ['bash', 'read_file']});
  expect(templates().reviewer?.description).toMatch(/^Code review expert focusing on code quality and improvements/);
});

test('each is written as mini-cc writes it, and beside them lies the schema as it is now', () => {
  for (const [name, definition] of Object.entries(templates())) {
    expect(readFileSync(path.join(root, '.mini-cc', 'agents', `${name}.json`), 'utf8')).toBe(
      definitionText(definition),
    );
  }
  expect(JSON.parse(readFileSync(path.join(root, '.mini-cc', 'agent.schema.json'), 'utf8'))).toEqual(agentJsonSchema());
});
