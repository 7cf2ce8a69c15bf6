import {expect, test} from 'vitest';
import {z} from 'zod';
import {openCodeIndex} from '../../src/code-index/index.ts';
import {ToolSpecs} from '../../src/core/turn/model-request.ts';
import {createSandbox} from '../../src/sandbox/index.ts';
import {ProcessGroups} from '../../src/sandbox/launch/process-groups.ts';
import {createBaseTools} from '../../src/tools/index.ts';

const tools = createBaseTools({
  sandbox: createSandbox({home: '/x', miniCcHome: '/x'}),
  processes: new ProcessGroups(),
  web: {mayReachPrivate: () => false},
  getIndex: (root) => openCodeIndex({root, env: {}}),
});

test('the base tools have a fixed order', () => {
  const names = [
    ...['bash', 'read_file', 'write_file', 'edit_file', 'grep', 'glob', 'symbols', 'rename_symbol'],
    ...['todo_write', 'web_fetch'],
  ];
  expect(tools.map(({name}) => name)).toEqual(names);
});

test('their descriptions and schemas cost less than 4.6 KB in each request', () => {
  const specs = new ToolSpecs().create(tools);
  expect(JSON.stringify(specs).length).toBeLessThan(4600);
});

test('a schema says no bounds that a model keeps to anyway, and the check of a call has them', () => {
  const sent = JSON.stringify(new ToolSpecs().create(tools));
  expect(sent).not.toMatch(/minLength|minimum|pattern":"|9007199254740991|additionalProperties":\{\}/i);
  // Bounds that it could not guess.
  expect(sent).toContain('"maximum":3600');
  const grep = tools.find(({name}) => name === 'grep')!;
  expect(grep.input.safeParse({pattern: ''}).success).toBe(false);
});

test('the symbols tool costs less than 300 bytes of them', () => {
  const {name, description, input} = tools.find((tool) => tool.name === 'symbols')!;
  const {$schema: _, ...input_schema} = z.toJSONSchema(input, {io: 'input'});
  expect(JSON.stringify({name, description, input_schema}).length).toBeLessThan(300);
});

test('rename_symbol costs less than 480 bytes of them, which are about 120 tokens', () => {
  const [spec] = new ToolSpecs().create(tools.filter(({name}) => name === 'rename_symbol'));
  expect(JSON.stringify(spec).length).toBeLessThan(480);
});

test('their inputs have the names that the documentation gives', () => {
  const inputs = tools.map(({input}) => Object.keys(z.toJSONSchema(input, {io: 'input'}).properties ?? {}));
  expect(inputs).toEqual([
    ['command', 'description', 'timeout_seconds', 'unconfined'],
    ['path', 'offset', 'limit'],
    ['path', 'content'],
    ['path', 'old_string', 'new_string', 'replace_all', 'edits'],
    ['pattern', 'path', 'glob', 'type', 'mode', '-A', '-B', '-C', '-i', '-n', 'limit'],
    ['pattern', 'path', 'limit'],
    ['name', 'path', 'mode'],
    ['path', 'line', 'name', 'new_name', 'apply'],
    ['todos'],
    ['url', 'prompt'],
  ]);
});
