import {expect, test} from 'vitest';
import {z} from 'zod';
import {createSandbox} from '../../src/sandbox/index.ts';
import {createBaseTools} from '../../src/tools/index.ts';

const tools = createBaseTools(createSandbox({home: '/x', miniCcHome: '/x'}), {mayReachPrivate: () => false});

test('the base tools have a fixed order', () => {
  const names = ['bash', 'read_file', 'write_file', 'edit_file', 'grep', 'glob', 'todo_write', 'web_fetch'];
  expect(tools.map(({name}) => name)).toEqual(names);
});

test('their descriptions and schemas cost less than 5.5 KB in each request', () => {
  const specs = tools.map(({name, description, input}) => ({
    ...{name, description},
    input_schema: z.toJSONSchema(input, {io: 'input'}),
  }));
  expect(JSON.stringify(specs).length).toBeLessThan(5500);
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
    ['todos'],
    ['url', 'prompt'],
  ]);
});
