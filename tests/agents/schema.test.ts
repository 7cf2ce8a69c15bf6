import {expect, test} from 'vitest';
import {
  AGENT_KEYS,
  agentFileSchema,
  createAgentSchema,
  SCHEMA_ID,
  toAgentName,
  toUnusedName,
} from '../../src/agents/schema.ts';
import {findNearest, findTypo} from '../../src/core/util/names.ts';
import {positionAt, quote} from '../../src/core/util/problem.ts';

test('the JSON Schema has each field, the required ones, and allows no others', () => {
  const schema = createAgentSchema([{name: 'bash'}, {name: 'own_tool'}, {name: 'Task', dispatches: true}]);
  expect(schema).toMatchObject({
    $id: SCHEMA_ID,
    type: 'object',
    required: ['name', 'description', 'tools', 'prompt'],
    additionalProperties: false,
    properties: {
      name: {pattern: '^[a-z][a-z0-9-]{0,63}$', not: {enum: ['explore', 'code', 'plan']}},
      tools: {anyOf: [{const: '*'}, {minItems: 1, items: {anyOf: [{enum: ['bash', 'own_tool']}, {type: 'string'}]}}]},
      maxTurns: {minimum: 1, maximum: 400},
      timeoutSeconds: {minimum: 0},
      isolation: {enum: ['none', 'worktree']},
    },
  });
  const properties = schema.properties as Record<string, {description?: string}>;
  expect(Object.keys(properties)).toEqual(AGENT_KEYS);
  expect(AGENT_KEYS.filter((key) => !properties[key]?.description)).toEqual([]);
});

test('every documented field is in the schema', () => {
  const contract =
    'name description tools prompt disallowedTools model thinking maxTurns timeoutSeconds maxTokens maxBudgetUsd contextTokens readOnly isolation background permissionMode outputSchema color $schema version';
  expect(contract.split(' ').filter((key) => !(key in agentFileSchema.shape))).toEqual([]);
});

test('names are made valid, and unused', () => {
  expect(
    ['Code Reviewer', 'research_agent', 'XMLParser2', '2nd-look', 'Ärger', '评审', '--', 'a'.repeat(99)].map(
      toAgentName,
    ),
  ).toEqual([
    'code-reviewer',
    'research-agent',
    'xmlparser2',
    'nd-look',
    'arger',
    undefined,
    undefined,
    'a'.repeat(64),
  ]);
  expect(toUnusedName('a', ['a', 'a-2'])).toBe('a-3');
  expect(toUnusedName('a'.repeat(64), ['a'.repeat(64)])).toBe(`${'a'.repeat(62)}-2`);
});

test('the nearest word is found regardless of case and hyphens, and a misspelling is distinguished from another word', () => {
  expect(findNearest('max_turns', AGENT_KEYS)).toBe('maxTurns');
  expect(findNearest('x', [])).toBeUndefined();
  expect(['bahs', 'bsh', 'Bash', 'zsh', 'Playwright'].map((word) => findTypo(word, ['bash', 'grep']))).toEqual([
    'bash',
    'bash',
    'bash',
    undefined,
    undefined,
  ]);
});

test('lines and columns count from 1, with LF, CRLF and CR', () => {
  expect([0, 2, 3, 5, 7].map((offset) => positionAt('a\r\nb\nc\rd', offset))).toEqual([
    {line: 1, column: 1},
    {line: 2, column: 1},
    {line: 2, column: 1},
    {line: 3, column: 1},
    {line: 4, column: 1},
  ]);
});

test('quoted text is cut, and its control characters are escaped', () => {
  expect(quote('\u001b[2J')).toBe('"\\u001b[2J"');
  expect(quote('x'.repeat(100))).toBe(`"${'x'.repeat(59)}…"`);
});
