/** Renames and replacements do exactly what the request says, or nothing. */
import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {afterAll, describe, expect, it} from 'vitest';
import {OFFLINE_CANNOT} from '../../../src/offline-model/report.ts';
import {converse} from '../converse.ts';
import {closeIndexes, folder, MAIN_TOOLS} from '../simple-tools.ts';

afterAll(closeIndexes);

const at = (root: string, prompt: string) => converse(prompt, {root, tools: MAIN_TOOLS});
const text = (root: string, path: string) => readFileSync(join(root, path), 'utf8');
const saysCannot = (answer: string) => answer.split('\n').some((line) => line.startsWith(OFFLINE_CANNOT));

describe('a name that ends with a word like "to"', () => {
  it.each([
    ['replace Photo with Image in src/p.js', 'Photo Pho', 'Image Pho'],
    ['rename Token to Tok in src/p.js', 'let Token, en;', 'let Tok, en;'],
    ['rename isOpen to isOp', 'let isOpen, Op;', 'let isOp, Op;'],
    ['rename Canvas to Board in src/', 'let Canvas, Canv;', 'let Board, Canv;'],
    ['rename Screen to View', 'let Screen, Scre;', 'let View, Scre;'],
    ['rename Children to Kids', 'let Children, Childr;', 'let Kids, Childr;'],
    ['change Auto to Car in src/p.js', 'Auto Au', 'Car Au'],
    ['rename Token->Tok', 'let Token;', 'let Tok;'],
    ['rename Token → Tok', 'let Token;', 'let Tok;'],
    ['重命名 Token 为 Tok', 'let Token;', 'let Tok;'],
    ['把Token重命名为Tok', 'let Token;', 'let Tok;'],
  ])('is not split: %s', async (prompt, before, after) => {
    const root = folder({'src/p.js': before});
    expect(saysCannot((await at(root, prompt)).text)).toBe(false);
    expect(text(root, 'src/p.js')).toBe(after);
  });
});

describe('a text of several words', () => {
  it.each([
    ['replace pass with return None in cart.py', 'if x:\n  pass\nbypass\n', 'if x:\n  return None\nbypass\n'],
    ['replace pass with "return None"', 'pass', 'return None'],
    ['replace hello world with good bye in cart.py.', 'hello world', 'good bye'],
    ['replace "a with b" with "in c" in cart.py', 'a with b', 'in c'],
    ['replace print("x") with log("x", 1) in cart.py', 'print("x")', 'log("x", 1)'],
    ['replace for x of y with for x in y in cart.py', 'for x of y', 'for x in y'],
  ])('is replaced as a whole: %s', async (prompt, before, after) => {
    const root = folder({'cart.py': before});
    await at(root, prompt);
    expect(text(root, 'cart.py')).toBe(after);
  });

  it.each([
    'replace foo with bar in a.py and run the tests',
    'replace foo with bar and run the tests',
    'replace foo with bar only where x is null',
    'replace "foo" with "bar" on line 1 of a.py',
    'replace the foo with a better one in a.py',
    'replace foo with bar with baz in a.py',
    'replace foo with bar in comments of a.py',
    'rename foo to bar and baz to qux',
    'rename foo to bar in a.py on line 1',
    'rename foo to bar in a.py\nAlso add a comment.',
    'change foo to 30 in a.py',
    'change the foo to be blue',
  ])('is refused when a part of the request is not understood: %s', async (prompt) => {
    const root = folder({'a.py': 'foo baz the foo\n'});
    const {text: answer, replies} = await at(root, prompt);
    expect(saysCannot(answer)).toBe(true);
    expect(replies.flat().map((call) => call.name)).not.toContain('edit_file');
    expect(text(root, 'a.py')).toBe('foo baz the foo\n');
  });
});

describe('the scope of a change', () => {
  const files = {'src/a.ts': 'foo', 'lib/b.ts': 'foo', 'lib/c.py': 'foo', 'd.md': 'foo'};
  const changed = (root: string) => Object.keys(files).filter((path) => text(root, path) === 'bar');

  it.each([
    ['replace foo with bar in src/ and lib/', ['src/a.ts', 'lib/b.ts', 'lib/c.py']],
    ['replace "foo" with "bar" in src and lib', ['src/a.ts', 'lib/b.ts', 'lib/c.py']],
    ['replace foo with bar in d.md and lib/', ['lib/b.ts', 'lib/c.py', 'd.md']],
    ['replace foo with bar in all TypeScript files', ['src/a.ts', 'lib/b.ts']],
    ['replace foo with bar in all py files in lib', ['lib/c.py']],
    ['replace foo with bar in the lib folder', ['lib/b.ts', 'lib/c.py']],
    ['replace foo with bar everywhere', ['src/a.ts', 'lib/b.ts', 'lib/c.py', 'd.md']],
  ])('may be several folders, files and kinds of files: %s', async (prompt, expected) => {
    const root = folder(files);
    await at(root, prompt);
    expect(changed(root)).toEqual(expected);
  });

  it.each(['rename x to y in nope.py', 'rename x to y in nope/', 'rename foo to bar in src/ and nope/'])(
    'changes nothing when a part of it does not exist: %s',
    async (prompt) => {
      const root = folder(files);
      const {text: answer} = await at(root, prompt);
      expect(saysCannot(answer)).toBe(true);
      expect(answer).toContain('Nothing was changed');
      expect(changed(root)).toEqual([]);
    },
  );

  it('is reported when a part of it could not be changed, and the answer says that not all was done', async () => {
    const root = folder(files);
    const {text: answer} = await at(root, 'replace foo with bar in nope.py and d.md');
    expect(answer).toContain('d.md: 1');
    expect(answer).toContain('nope.py: ');
    expect(saysCannot(answer)).toBe(true);
  });
});

it('A member that is named with its class is renamed', async () => {
  const root = folder({'a.ts': 'export class Parser {\n  parseAll() {}\n}\nnew Parser().parseAll();\n'});
  const {text: answer} = await at(root, 'rename Parser.parseAll to readAll');
  expect(answer).toContain('Renamed `Parser.parseAll` to `readAll` in 2 places');
  expect(readFileSync(join(root, 'a.ts'), 'utf8')).toBe(
    'export class Parser {\n  readAll() {}\n}\nnew Parser().readAll();\n',
  );
});

it('A later request of the same message sees what an earlier one changed', async () => {
  const root = folder({'a.py': 'foo = 1\n'});
  const {text: answer} = await at(root, 'rename foo to bar in a.py, then rename bar to baz in a.py, then read a.py');
  expect(saysCannot(answer)).toBe(false);
  expect(text(root, 'a.py')).toBe('baz = 1\n');
  expect(answer).toContain('1  baz = 1');
});

it('A file is not renamed, and the answer says how to do it', async () => {
  const root = folder({'a.ts': 'a'});
  const {text: answer, replies} = await at(root, 'rename a.ts to b.ts');
  expect(saysCannot(answer)).toBe(true);
  expect(answer).toContain('run `git mv a.ts b.ts`');
  expect(replies).toEqual([]);
});

it('A name of Ruby keeps its mark, which is no end of the sentence', async () => {
  const root = folder({'a.rb': 'class Store\n  def empty? = true\n  def size = empty? ? 0 : 1\nend\n'});
  await at(root, 'rename empty? to blank?');
  expect(text(root, 'a.rb')).toBe('class Store\n  def blank? = true\n  def size = blank? ? 0 : 1\nend\n');
});
