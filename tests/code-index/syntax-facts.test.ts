/** What a reviewer asks of the syntax: nesting, parameters, empty catches; and what is read of broken code. */
import {expect, test} from 'vitest';
import {getLanguage} from '../../src/code-index/languages/index.ts';
import {SourceParser} from '../../src/code-index/syntax/parser.ts';

const parser = new SourceParser();

async function read({file, source}: {readonly file: string; readonly source: string}) {
  return (await parser.parse(source, getLanguage(file)!))!;
}

test.each([
  [
    'a.ts',
    'function f(a, b) {\n  if (a) {\n    for (const x of b) {\n      try { x(); } catch {}\n    }\n  } else if (b) {}\n}\n',
    3,
    2,
  ],
  [
    'a.py',
    'def f(a, b):\n    if a:\n        for x in b:\n            try:\n                x()\n            except ValueError:\n                pass\n',
    3,
    2,
  ],
  ['a.go', 'package a\nfunc f(a bool, b []int) {\n  if a {\n    for range b { switch { } }\n  }\n}\n', 3, 2],
  [
    'a.rb',
    'def f(a, b)\n  if a\n    while b\n      begin\n        x\n      rescue A\n      end\n    end\n  end\nend\n',
    3,
    2,
  ],
  [
    'A.java',
    'class A { void f(int a, int b) {\n if (a > 0) { while (b > 0) { try { g(); } catch (E e) {} } }\n} }\n',
    3,
    2,
  ],
])('%s: nesting, parameters and empty catches', async (file, source, nesting, parameters) => {
  const {functions, emptyCatches} = await read({file, source});
  expect(functions.map((each) => [each.name, each.nesting, each.parameters])).toEqual([['f', nesting, parameters]]);
  expect(emptyCatches).toHaveLength(file === 'a.go' ? 0 : 1);
});

test('a comment in a catch says why it is empty', async () => {
  const source = 'try { f(); } catch {\n  // Gone already.\n}\n';
  expect((await read({file: 'a.ts', source})).emptyCatches).toEqual([]);
});

test('code that is broken gives what can be read of it, and where it is broken', async () => {
  const facts = await read({
    file: 'a.ts',
    source: 'export function good() {}\nclass { ( = ;\nexport const after = 1;\n',
  });
  expect(facts.definitions.map(({name}) => name)).toContain('good');
  expect(facts.errors.length).toBeGreaterThan(0);
});
