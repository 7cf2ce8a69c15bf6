/** What is answered is the question that was asked: no word of it is dropped, and a count is of all files. */
import {afterAll, describe, expect, it} from 'vitest';
import {OFFLINE_CANNOT} from '../../../src/offline-model/report.ts';
import {type ConverseOptions, converse} from '../converse.ts';
import {closeIndexes, folder, MAIN_TOOLS} from '../simple-tools.ts';

afterAll(closeIndexes);

const answer = async (root: string, prompt: string, more: Partial<ConverseOptions> = {}) =>
  (await converse(prompt, {root, tools: MAIN_TOOLS, ...more})).text;

const shop = folder({
  'package.json': '{\n  "name": "shop",\n  "version": "1.2.0",\n  "license": "MIT"\n}\n',
  'README.md': '# Shop\n\nRuns on Windows.\n',
  'CHANGELOG.md': '# v1.2.0\n\n- new cart\n\n# v1.1.0 - 2020-02-03\n\n- old cart\n',
  'lib/app.ts':
    'export class App {\n  run() {\n    return LIMITS;\n  }\n  private stop() {}\n}\nexport const LIMITS = [3, 4];\n',
  'lib/file.ts': 'import {App} from "./app.ts";\nexport class File {\n  close() {}\n}\nnew App();\n',
  'lib/windows.ts': 'export const windows = [];\n',
});

describe('a word that narrows the question', () => {
  it('names a method, and not the application', async () => {
    expect(await answer(shop, 'what does App.run do')).toMatch(/^lib\/app\.ts:2 — method/);
  });

  it.each([
    ['is there a class called App?', /^lib\/app\.ts:1 — class/],
    ['what does the class called App do', /^lib\/app\.ts:1 — class/],
    ['is there a function named stopAll', /^No definition of `stopAll`|^Definition of `stopAll`: none/],
  ])('names what is called so, and asks for no calls: %s', async (prompt, expected) => {
    expect(await answer(shop, prompt)).toMatch(expected);
  });

  it('says how the code goes on', async () => {
    const root = folder({'a.py': `def load(x):\n${'    x = x + 1\n'.repeat(30)}`});
    expect(await answer(root, 'what does load do')).toContain('ask for "lines 15-31 of a.py"');
  });

  it('names the class whose methods are asked for', async () => {
    const text = await answer(shop, 'methods of class file'.replace('file', 'File'));
    expect(text).toContain('`File.close`');
    expect(text).not.toContain('`App.run`');
  });

  it('says how it knows what is public', async () => {
    const text = await answer(shop, 'which methods in lib/app.ts are public?');
    expect(text).toContain('visible or not by the line of each');
    expect(text).not.toContain('stop');
  });

  it('names the file to look into', async () => {
    const text = await answer(shop, 'does the README mention windows');
    expect(text).toContain('README.md:3');
    expect(text).not.toContain('lib/windows.ts');
    expect(await answer(shop, 'does the README mention carts')).toMatch(/^No line contains `carts` in README/);
  });

  it('asks for a date', async () => {
    expect(await answer(shop, 'when was 1.2.0 released')).toMatch(`${OFFLINE_CANNOT} the list of changes`);
    expect(await answer(shop, 'when was 1.1.0 released')).toContain('2020-02-03');
  });

  it('names one release, which ends before the next', async () => {
    const text = await answer(shop, 'what changed in 1.2.0?');
    expect(text).toContain('new cart');
    expect(text).not.toContain('old cart');
  });

  it.each(['set LIMITS to 20', 'bump the version to 2.0.0', 'is there a circular import in lib', 'increase LIMITS'])(
    'is not a search, and nothing is changed: %s',
    async (prompt) => {
      expect(await answer(shop, prompt)).toMatch(new RegExp(`^${OFFLINE_CANNOT}`));
    },
  );
});

describe('what the files name', () => {
  const at = folder({
    'package.json': '{\n  "scripts": {"build": "tsc"},\n  "dependencies": {"zod": "4.0.0"}\n}\n',
    'go.mod': 'module m\n\nrequire golang.org/x/sync v0.7.0\n',
    'net/wire/wire.go': 'package wire\n\nimport (\n\t"fmt"\n\tx "net/http"\n)\n\nvar A = fmt.Sprint(http.MethodGet)\n',
    'src/a.ts': "import {z} from 'zod';\nexport const file = 'state.json';\n",
    'src/b.ts': "import type {ZodType} from 'zod';\nimport {file} from './a.ts';\nconst help = '--take-over FILE';\n",
    'src/server.py': 'import json\n\n\ndef serve():\n    pass\n',
    'src/empty.py': '',
    'src/main.py': 'def main():\n    pass\n',
    'tests/a.test.ts': 'const loaded = {zod: 1};\nloaded.zod;\n',
  });

  it.each([
    ['is zod used?', /^Imports of `zod`: 2, in 2 files:[\s\S]*Uses of `zod`: 2/],
    ['is golang.org/x/sync used?', /go\.mod:3/],
    [
      'what does net/wire import?',
      /- net\/wire\/wire\.go:4 — `"fmt"`\n- net\/wire\/wire\.go:5 — `x "net\/http"`\n\n\(/,
    ],
    ['what is state.json?', /^No file state\.json is here[\s\S]*src\/a\.ts:2/],
    ['what does the flag --take-over do?', /lines with `--take-over`:\n- src\/b\.ts:3/],
    ['list the scripts of package.json', /^1 script:\n\n- package\.json:2/],
    ['哪些文件导入了 src/a.ts?', /^`src\/a\.ts` 的导入：1 处/],
    ['какие файлы импортируют src/a.ts?', /^Импорты `src\/a\.ts`: 1/],
    ['how many lines of Python code are there?', /^7 lines in 3 files/],
  ])('is answered by them: %s', async (prompt, expected) => {
    expect(await answer(at, prompt)).toMatch(expected);
  });

  it('starts the program, and is not a file that is only named so', async () => {
    const text = await answer(at, 'what are the entry points?');
    expect(text).toContain('src/main.py:1');
    expect(text).not.toContain('server.py');
  });
});

describe('a word that a text search would not answer', () => {
  const at = folder({
    'src/a.ts': "import {b} from './b.ts';\nclass OwnError extends Error {}\nserver.listen(b);\n",
    'src/b.ts': 'export const b = 1; // not tested\n\n\n\n',
    'large.ts': '\n'.repeat(20),
  });

  it.each(['which functions are not tested?', 'which files have no tests?', 'list the functions without comments'])(
    'is what something lacks: %s',
    async (prompt) => {
      expect(await answer(at, prompt)).toMatch(`${OFFLINE_CANNOT} I do not look for code that lacks something`);
    },
  );

  it.each([
    ['which port does it listen on?', /lines with `listen`:\n- src\/a\.ts:3.*\n\n/],
    ['list the subclasses of Error', /^Direct subtypes of `Error`: 1/],
    ['what is the largest file in src?', /^The largest of 2 code files in src:\n- src\/b\.ts/],
  ])('is a part of another word, or names a thing: %s', async (prompt, expected) => {
    expect(await answer(at, prompt)).toMatch(expected);
  });
});

describe('two questions in one', () => {
  it('are both answered, and the second may speak of the first', async () => {
    const versions = await answer(shop, 'what version is this and which licence?');
    expect(versions).toContain('package.json:3');
    expect(versions).toContain('package.json:4');
    const text = await answer(shop, 'where is LIMITS defined and who uses it?');
    expect(text).toMatch(/^lib\/app\.ts:7/);
    expect(text).toMatch(/^Uses of `LIMITS`: 1/m);
  });
});

describe('a question in another language', () => {
  it.each([
    ['wie viele Zeilen hat lib/file.ts?', /^5 lines/],
    ['was ist die größte Datei', /^The largest of 3 code files/],
    ['这个项目是做什么的', /shop/],
    ['¿quién llama a stopAll?', /stopAll/],
    ['quién usa LIMITS', /LIMITS/],
  ])('is answered: %s', async (prompt, expected) => {
    expect(await answer(shop, prompt)).toMatch(expected);
  });

  it.each([
    ['где определён класс App?', /^lib\/app\.ts:1 — class/],
    ['где определена константа LIMITS?', /^lib\/app\.ts:7 — constant/],
    ['покажи код класса App', /^lib\/app\.ts:1–6, class `App`/],
    ['какие методы у App?', /^2 methods in App[\s\S]*`App\.run`/],
    ['类 App 在哪里定义？', /^lib\/app\.ts:1 — class/],
    ['App 类在哪里？', /^lib\/app\.ts:1 — class/],
    ['App 在哪里被调用？', /^`App` 的调用：1 处/],
    ['列出所有常量', /^\d constants?:/],
    ['liste alle Dateien auf', /^6 files:/],
    ['zeige alle Klassen', /^2 classes:/],
  ])('is answered by syntax, as in English: %s', async (prompt, expected) => {
    expect(await answer(shop, prompt)).toMatch(expected);
  });

  it('is told below the list what was not searched, and not at all where the list is of one file', async () => {
    const root = folder({'a.py': 'class A:\n    pass\n', 'b.sql': 'select 1;\n'});
    expect(await answer(root, 'какие классы есть?')).toMatch(/^1 class:\n\n.*`A`\n\nНе просмотрено/);
    expect(await answer(root, 'list the classes in a.py')).toMatch(/^1 class in a\.py:\n\n.*`A`\n\n\(/);
  });
});

describe('what something contains', () => {
  it.each([
    ["what's in LIMITS", 'LIMITS = [3, 4]'],
    ['what does LIMITS contain', 'LIMITS = [3, 4]'],
    ['what does app contain', 'lib/app.ts:1 — class `App`'],
    ["what's in file", 'lib/file.ts:2 — class `File`'],
    ['who includes app.ts', 'lib/file.ts:1'],
    ["what's in nowhere", 'No line of any file has `nowhere`'],
  ])('is found by its path, by its name anywhere, or in the code: %s', async (prompt, expected) => {
    expect(await answer(shop, prompt)).toContain(expected);
  });
});

describe('a count', () => {
  it('of lines asks again where the answer is cut, and names the largest of all files', async () => {
    const long = 'x'.repeat(60);
    const files = Array.from(
      {length: 700},
      (_, index) => [`${'abcdefg'[index % 7]}${index}-${long}.ts`, '1\n'] as const,
    );
    const root = folder({...Object.fromEntries(files), 'd350.ts': '1\n'.repeat(9), tool: '#!/usr/bin/perl\n1;\n'});
    const text = await answer(root, 'what is the biggest file');
    expect(text).toMatch(/^The largest of 702 code files:\n- d350\.ts — 9 lines\n- tool — 2 lines/);
    expect(await answer(root, 'how many lines of code')).toMatch(/^711 lines in 702 text files/);
  });

  it('says that not all could be read', async () => {
    const note = '(not all could be searched: ./a: Permission denied, and 3 more)';
    const text = await answer(shop, 'list files', {
      intercept: (name) => (name === 'glob' ? {text: `b.ts\n${note}`} : undefined),
    });
    expect(text).toMatch(/^1 file:/);
    expect(text).toContain(note);
  });
});

describe('a fact about the project', () => {
  const perl = folder({
    tool: '#!/usr/bin/env perl\nuse strict;\nprint $ENV{TOOL_COLOR};\n',
    'README.md': '# Tool\n\n```\n#!/bin/sh\nfunc main() {\n```\n',
    License: 'Permission is hereby granted, free of charge\n',
    't/one.t': 'ok(1);\n',
    't/Util.pm': '1;\n',
    't/data/run.sh.txt': "#!/bin/sh\necho ENV['X']\n",
  });

  it.each([
    ['what is the license?', /License:1 — `Permission is hereby granted/],
    ['which environment variables does it use?', /^The files say \(text search\):\n\n- tool:3/],
    ['how many tests', /^1 test file:\n\n- t\/one\.t/],
    ['what is the entry point?', /^\*\*Entry points\*\*\n- tool:\d.*\n\n/],
  ])('is found in scripts without extension, and not in the data of tests: %s', async (prompt, expected) => {
    const text = await answer(perl, prompt);
    expect(text).toMatch(expected);
    expect(text).not.toMatch(/^- (?!tool).*\n- tool|README/m);
  });

  it('leaves out what only the work on the project needs', async () => {
    const gem = folder({
      Gemfile: "gem 'rubocop'\n",
      'a.gemspec': "s.name = 'a'\ns.add_development_dependency 'minitest'\ns.add_dependency 'rack', '~> 3'\n",
      'lib/a.rb': 'autoload :B, "b"\n# a hack; -xxx\n# XXX: slow\n',
      'ci/build': '#!/bin/sh\n',
      'lib/server.rb': 'x = 1\n',
      'src/sds.c': `/* Licence */\n${'\n'.repeat(80)}int main(void) {\n  return 0;\n}\n`,
    });
    expect(await answer(gem, 'what are the runtime dependencies?')).toMatch(/a\.gemspec:3 — `rack`: `~> 3`$/m);
    expect(await answer(gem, 'what are the runtime dependencies?')).not.toMatch(/rubocop|minitest/);
    expect(await answer(gem, 'what are the entry points?')).toMatch(/^\*\*Entry points\*\*\n- src\/sds\.c:82 — .*\n\n/);
    expect(await answer(gem, 'any XXX or HACK comments?')).toMatch(/^1 TODO.*\n\n- lib\/a\.rb:3/);
    expect(await answer(gem, "what's autoloaded in lib/a.rb")).toContain('lib/a.rb:1');
  });

  it('is the lowest version of a language, and not of what has its name in another', async () => {
    const root = folder({
      'pyproject.toml': '[project]\nname = "bash-tool"\nversion = "2.1"\nrequires-python = ">=3.7"\n',
    });
    expect(await answer(root, 'minimum python version')).toContain('requires-python = ">=3.7"');
    expect(await answer(root, 'minimum bash version')).not.toContain('The files say');
  });

  it('is a number, and not the digit of an address or of a word', async () => {
    const root = folder({
      'build.gradle': 'repositories {\n  maven { url "https://example.com/m2/" }\n}\n',
      'gradle.properties': 'kotlin_version=1.3.0\n',
      'mvn/wrapper/maven-wrapper.properties': 'distributionUrl=https://example.com/maven/apache-maven/3.5.3/x.zip\n',
    });
    expect(await answer(root, 'which maven version?')).toMatch(/text search\):\n\n- mvn\/[^\n]*3\.5\.3[^\n]*$/m);
    expect(await answer(root, 'which maven version?')).not.toContain('build.gradle');
    expect(await answer(root, 'which version of kotlin?')).toContain('kotlin_version=1.3.0');
  });

  it('about scripts of tests names every file of the tests, where no manifest has scripts', async () => {
    const root = folder({'Makefile.am': 'TESTS = tests/shtest\n', 'tests/shtest': '#!/bin/sh\n', 'a.c': 'int a;\n'});
    expect(await answer(root, 'which test scripts are there?')).toMatch(/with `test` in the path:\n\n- tests\/shtest/);
  });

  it('is not said to stand in a file that implies it', async () => {
    const go = folder({'go.mod': 'module a\n', 'a.go': 'package a\n'});
    expect(await answer(go, 'how do I run the tests?')).toContain('go.mod:1 — usual with this file: `go test ./...`');
  });
});
