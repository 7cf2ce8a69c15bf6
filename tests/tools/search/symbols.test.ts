import {mkdirSync, symlinkSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import {CodeIndexes} from '../../../src/code-index/code-indexes.ts';
import {createSymbols} from '../../../src/tools/search/symbols.ts';
import {type Fixture, fixture} from '../fixture.ts';

const FILES = {
  'src/parser.ts':
    'export class Parser {\n  parse(text: string) {\n    return this.#next(text);\n  }\n  #next(text: string) {\n    return text;\n  }\n}\n',
  'src/main.ts':
    "import {Parser} from './parser.js';\nimport fs from 'node:fs';\nexport function main() {\n  const parser = new Parser();\n  parser.parse(fs.name);\n}\nfunction other(Parser: unknown) {\n  return Parser;\n}\n",
  'lib/util.py': 'def parse(x):\n    return x\n',
};

function setUp(files: Readonly<Record<string, string>> = FILES) {
  const at = fixture();
  at.put(files);
  const indexes = new CodeIndexes({root: at.root, cacheFolder: join(at.outside, 'cache'), env: at.workspace.env});
  onTestFinished(() => indexes.close());
  const tool = createSymbols((root) => indexes.for(root));
  const ask = async (input: object, more?: Parameters<Fixture['call']>[2]) => (await at.call(tool, input, more)).text;
  return {...at, ask, tool};
}

describe('symbols', () => {
  test('gives definitions with path, line, kind and what they stand in', async () => {
    const {ask} = setUp();
    expect(await ask({name: 'parse'})).toBe(
      'lib/util.py:1 function parse (to 2): def parse(x):\nsrc/parser.ts:2 method Parser.parse (to 4): parse(text: string) {',
    );
    expect(await ask({name: 'Parser.parse', mode: 'definitions'})).toMatch(
      /^src\/parser\.ts:2 method Parser\.parse \(to 4\): .*$/,
    );
    expect(await ask({name: 'parse', path: 'lib'})).toBe('lib/util.py:1 function parse (to 2): def parse(x):');
  });

  test('gives uses with the function that they stand in and what they mean', async () => {
    const {ask} = setUp();
    expect(await ask({name: 'Parser', mode: 'references'})).toBe(
      [
        "src/main.ts:1 import (of src/parser.ts): import {Parser} from './parser.js';",
        'src/main.ts:4 call in main (of src/parser.ts): const parser = new Parser();',
        '(2 uses of local variables of this name left out)',
      ].join('\n'),
    );
    expect(await ask({name: 'parse', mode: 'references'})).toBe(
      'src/main.ts:5 call in main (of src/parser.ts): parser.parse(fs.name);',
    );
  });

  test('gives the outline of a file, and of a folder what is not inside of something', async () => {
    const {ask} = setUp();
    expect((await ask({path: 'src/parser.ts'})).split('\n')).toEqual([
      'src/parser.ts:1 class Parser (to 8): export class Parser {',
      'src/parser.ts:2 method Parser.parse (to 4): parse(text: string) {',
      'src/parser.ts:5 method Parser.#next (to 7): #next(text: string) {',
    ]);
    expect((await ask({path: 'src', mode: 'outline'})).split('\n')).toEqual([
      'src/main.ts:3 function main (to 6): export function main() {',
      'src/main.ts:7 function other (to 9): function other(Parser: unknown) {',
      'src/parser.ts:1 class Parser (to 8): export class Parser {',
    ]);
  });

  test('gives the importers of a file', async () => {
    const {ask} = setUp();
    expect(await ask({path: 'src/parser.ts', mode: 'importers'})).toBe('src/main.ts:1 import ./parser.js: Parser');
    expect(await ask({path: 'src/main.ts', mode: 'importers'})).toBe('No import of src/main.ts in 3 files.');
  });

  test('gives the files of a folder, the most important first', async () => {
    const test = "import {main} from './main.js';\nimport {Parser} from './parser.js';\nmain(new Parser());\n";
    const {ask} = setUp({...FILES, 'src/main.test.ts': test});
    expect((await ask({mode: 'files', path: 'src'})).split('\n')).toEqual([
      'src/parser.ts 8 lines, 3 definitions, imported by 2',
      'src/main.ts 9 lines, 2 definitions, imported by 1',
      'src/main.test.ts 3 lines, 0 definitions, imported by 0, test',
    ]);
    expect(await ask({mode: 'files', path: 'docs'})).toMatch(/^docs does not exist/);
  });

  test('gives what stands out in the syntax, the worst first under each title', async () => {
    const long = (lines: number) => 'call();\n'.repeat(lines - 2);
    const nested = (levels: number) => `${'if (a) {'.repeat(levels)}${'}'.repeat(levels)}`;
    const {ask} = setUp({
      'a.ts': [
        `function fine() {\n${long(60)}}`,
        `function long() {\n${long(61)}}`,
        `function longer() {\n${long(70)}}`,
        `function flat() { ${nested(4)} }`,
        `function deep() { ${nested(5)} }`,
        'function few(a, b, c, d, e, f) {}',
        'class Many { take(a, b, c, d, e, f, g) {} }',
        'try { fine(); } catch {}',
        'export function unused() {}',
        'export function used() {}',
      ].join('\n'),
      'b.ts': "import {used} from './a.js';\nused();\n",
    });
    const lines = (await ask({mode: 'syntax', path: 'a.ts'})).split('\n');
    expect(lines).toEqual([
      'Long functions: a.ts:122 — `longer` takes 70 lines',
      'Long functions: a.ts:61 — `long` takes 61 lines',
      'Deep nesting: a.ts:193 — `deep` nests 5 levels',
      'Many parameters: a.ts:195 — `Many.take` has 7 parameters',
      'Errors swallowed: a.ts:196 — the handler is empty',
      'Exported and not used: a.ts:197 — function `unused`, named in no other file',
      expect.stringMatching(/^\(searched \d+ files?\)$/),
    ]);
    expect(await ask({mode: 'syntax', path: 'b.ts'})).toMatch(/^No finding\./);
  });

  test('names 40 findings of a kind, and says how many there are', async () => {
    const {ask} = setUp({'a.ts': 'try { a(); } catch {}\n'.repeat(41)});
    const lines = (await ask({mode: 'syntax', path: 'a.ts'})).split('\n');
    expect(lines.filter((line) => line.startsWith('Errors swallowed:'))).toHaveLength(40);
    expect(lines).toContain('(Errors swallowed: 41 in all)');
  });

  test('refuses a mode that it does not have', async () => {
    expect(await setUp().ask({mode: 'unheard', name: 'main'})).toMatch(/unheard/);
  });

  test('says what it found nothing in, and what it does not parse', async () => {
    const {ask} = setUp({...FILES, 'a.vue': 'x', 'gen.ts': '// @generated\n', 'broken.ts': 'class { = (;\n'});
    expect(await ask({name: 'missing', mode: 'references'})).toBe(
      [
        'No use of missing in 4 files.',
        ...[
          '(not parsed: 1 .vue)',
          '(skipped: gen.ts (generated))',
          '(with syntax that was not understood: broken.ts)',
        ],
      ].join('\n'),
    );
  });

  test('says what is missing in a call', async () => {
    const {ask, put} = setUp();
    expect(await ask({})).toBe('outline needs a path.');
    put({'README.md': '# Title\n', 'empty.ts': ''});
    expect(await ask({path: 'README.md'})).toMatch(/^README\.md is not parsed\./);
    expect(await ask({path: 'empty.ts'})).toBe('No definitions.');
    expect(await ask({mode: 'references', path: 'src'})).toBe('references needs a name.');
    expect(await ask({path: 'src/pasrer.ts'})).toMatch(
      /^src\/pasrer\.ts does not exist \(cwd: .*\)\. Did you mean src\/parser\.ts\?$/,
    );
  });

  test('shows nothing of files that may not be read', async () => {
    const {ask, root} = setUp();
    const mayRead = (file: string) => file !== join(root, 'src/main.ts');
    for (const input of [
      {name: 'main'},
      {name: 'Parser', mode: 'references'},
      {path: 'src'},
      {path: 'src/parser.ts', mode: 'importers'},
      {path: 'src/main.ts'},
    ]) {
      expect(await ask(input, {mayRead}), JSON.stringify(input)).not.toMatch(/main\.ts:|new Parser/);
    }
  });

  test('follows no link out of the workspace that was not permitted', async () => {
    const {ask, root, outside} = setUp();
    writeFileSync(join(outside, 'secret.ts'), 'export const secret = 1;\n');
    symlinkSync(join(outside, 'secret.ts'), join(root, 'src/link.ts'));
    expect(await ask({name: 'secret'})).toBe('No definition of secret in 3 files.');
    expect(await ask({path: 'src/link.ts'}, {places: [join(root, 'src/link.ts')]})).toMatch(/it is not searched/);
  });

  test('reads the outline of a permitted file outside of the workspace, and nothing else there', async () => {
    const {ask, outside} = setUp();
    mkdirSync(join(outside, 'pkg'));
    writeFileSync(join(outside, 'pkg/a.py'), 'def far(): pass\n');
    const file = join(outside, 'pkg/a.py');
    expect(await ask({path: file})).toBe(`${file}:1 function far: def far(): pass`);
    expect(await ask({path: file, name: 'far', mode: 'references'})).toContain('only its outline can be read');
  });

  test('cuts a long list and says how much is left', async () => {
    const many = Array.from({length: 300}, (_, at) => `export const c${at} = 1;\n`).join('');
    const {ask} = setUp({'a.ts': many});
    const lines = (await ask({path: 'a.ts'})).split('\n');
    expect(lines).toHaveLength(251);
    expect(lines.at(-1)).toBe('(50 more lines: narrow by path)');
  });
});
