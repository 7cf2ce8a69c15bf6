/** A rename by syntax: all occurrences that mean the same thing, or none, with the reason. */
import {readFileSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {describe, expect, test} from 'vitest';
import type {RenamePlan, RenameRequest} from '../../src/code-index/contract.ts';
import {createProject, type Project} from './fixture.ts';

/** Writes what a plan says. */
function apply({root}: Project, {edits}: RenamePlan): void {
  for (const file of new Set(edits.map((edit) => edit.path))) {
    const lines = readFileSync(path.join(root, file), 'utf8').split('\n');
    for (const {line, column, oldText, newText} of edits.filter((edit) => edit.path === file).reverse()) {
      const text = lines[line - 1]!;
      expect(text.slice(column - 1, column - 1 + oldText.length)).toBe(oldText);
      lines[line - 1] = text.slice(0, column - 1) + newText + text.slice(column - 1 + oldText.length);
    }
    writeFileSync(path.join(root, file), lines.join('\n'));
  }
}

interface Case {
  readonly title: string;
  readonly files: Readonly<Record<string, string>>;
  readonly request: RenameRequest;
  /** The files that change, as they are then. */
  readonly after: Readonly<Record<string, string>>;
}

const TWICE = 'public static class Tools { public static int Twice(int x) => x * 2; }\n';

const SAFE: readonly Case[] = [
  {
    title: 'TypeScript: imports, re-exports, aliases, shorthands; shadowed names, members, strings and comments stay',
    files: {
      'a.ts': 'export function load(x: number) { return x; }\n',
      'index.ts': "export {load} from './a.js';\n",
      'b.ts':
        "import {load} from './index.js';\n// load it\nexport const use = {load, other: load(1), text: 'load'};\nuse.load;\nfunction inner(load: () => void) { load(); }\n",
      'c.ts': "import {load as other} from './a.js';\nother(1);\n",
      'd.ts': 'const load = 1;\nconsole.log(load);\n',
    },
    request: {from: 'load', to: 'fetchIt', path: 'a.ts'},
    after: {
      'a.ts': 'export function fetchIt(x: number) { return x; }\n',
      'index.ts': "export {fetchIt} from './a.js';\n",
      'b.ts':
        "import {fetchIt} from './index.js';\n// load it\nexport const use = {load: fetchIt, other: fetchIt(1), text: 'load'};\nuse.load;\nfunction inner(load: () => void) { load(); }\n",
      'c.ts': "import {fetchIt as other} from './a.js';\nother(1);\n",
    },
  },
  {
    title: 'TypeScript: a member of a class and what overrides it, destructured too',
    files: {
      'a.ts':
        'export interface Store { readAll(): void }\nexport class Disk implements Store { readAll() { this.readAll(); } }\n',
      'b.ts':
        "import type {Store} from './a.ts';\nexport function f(s: Store) { s.readAll(); const {readAll} = s; readAll(); }\n",
    },
    request: {from: 'Store.readAll', to: 'readEverything'},
    after: {
      'a.ts':
        'export interface Store { readEverything(): void }\nexport class Disk implements Store { readEverything() { this.readEverything(); } }\n',
      'b.ts':
        "import type {Store} from './a.ts';\nexport function f(s: Store) { s.readEverything(); const {readEverything: readAll} = s; readAll(); }\n",
    },
  },
  {
    title: 'JavaScript: module.exports and require',
    files: {
      'a.js': 'function go() {}\nexports.go = go;\nmodule.exports = {go};\n',
      'b.js': "const {go} = require('./a');\nconst a = require('./a');\ngo(); a.go();\n",
    },
    request: {from: 'go', to: 'start'},
    after: {
      'a.js': 'function start() {}\nexports.start = start;\nmodule.exports = {start};\n',
      'b.js': "const {start} = require('./a');\nconst a = require('./a');\nstart(); a.start();\n",
    },
  },
  {
    title: 'Ruby: ? and ! belong to a name',
    files: {'a.rb': 'class Store\n  def empty? = true\n  def save! = empty? ? 1 : 2\nend\n'},
    request: {from: 'empty?', to: 'blank?', path: 'a.rb'},
    after: {'a.rb': 'class Store\n  def blank? = true\n  def save! = blank? ? 1 : 2\nend\n'},
  },
  {
    title: 'Python: a function of a module, not the parameter of that name',
    files: {
      'pkg/__init__.py': '',
      'pkg/a.py': 'def load(x):\n    return x\n',
      'b.py': 'from pkg.a import load\nfrom pkg import a\nload(a.load(1))\ndef f(load): return load()\n',
    },
    request: {from: 'load', to: 'fetch'},
    after: {
      'pkg/a.py': 'def fetch(x):\n    return x\n',
      'b.py': 'from pkg.a import fetch\nfrom pkg import a\nfetch(a.fetch(1))\ndef f(load): return load()\n',
    },
  },
  {
    title: 'Go: over the files of the package and its importers',
    files: {
      'go.mod': 'module m\n',
      's/a.go': 'package s\n\nfunc Open() int { return open() }\n',
      's/b.go': 'package s\n\nfunc open() int { return Open() }\n',
      'main.go': 'package main\n\nimport "m/s"\n\nfunc main() { s.Open() }\n',
    },
    request: {from: 'Open', to: 'Start'},
    after: {
      's/a.go': 'package s\n\nfunc Start() int { return open() }\n',
      's/b.go': 'package s\n\nfunc open() int { return Start() }\n',
      'main.go': 'package main\n\nimport "m/s"\n\nfunc main() { s.Start() }\n',
    },
  },
  {
    title: 'C: prototype, body, calls and macros; a static of another file stays',
    files: {
      'a.h': 'int size(int x);\n#define TWICE(x) (size(x) + size(x))\n',
      'a.c': '#include "a.h"\nint size(int x) { return x; }\n',
      'b.c': '#include "a.h"\nint main(void) { return size(1) + TWICE(2); }\n',
    },
    request: {from: 'size', to: 'extent'},
    after: {
      'a.h': 'int extent(int x);\n#define TWICE(x) (extent(x) + extent(x))\n',
      'a.c': '#include "a.h"\nint extent(int x) { return x; }\n',
      'b.c': '#include "a.h"\nint main(void) { return extent(1) + TWICE(2); }\n',
    },
  },
  {
    title: 'Java: a class, its constructor and its uses',
    files: {
      'x/All.java': 'package x;\npublic class Job { public Job() {} static Job make() { return new Job(); } }\n',
      'y/Main.java': 'package y;\nimport x.Job;\nclass Main { Job job = Job.make(); }\n',
    },
    request: {from: 'Job', to: 'Task'},
    after: {
      'x/All.java': 'package x;\npublic class Task { public Task() {} static Task make() { return new Task(); } }\n',
      'y/Main.java': 'package y;\nimport x.Task;\nclass Main { Task job = Task.make(); }\n',
    },
  },
  {
    title: 'Java: a public class whose file has the new name already',
    files: {'x/Task.java': 'package x;\npublic class Job {}\n'},
    request: {from: 'Job', to: 'Task'},
    after: {'x/Task.java': 'package x;\npublic class Task {}\n'},
  },
  {
    title: 'C#: a method of a class that "using static" names',
    files: {
      'Tools.cs': `namespace D;\n${TWICE}`,
      'Use.cs': 'using static D.Tools;\nnamespace E;\nclass Use { int Run() => Twice(4); }\n',
    },
    request: {from: 'Tools.Twice', to: 'Times2'},
    after: {
      'Tools.cs': `namespace D;\n${TWICE.replace('Twice', 'Times2')}`,
      'Use.cs': 'using static D.Tools;\nnamespace E;\nclass Use { int Run() => Times2(4); }\n',
    },
  },
  {
    title: 'C: a function, its declaration in a header, and its calls',
    files: {
      'a.h': 'int add_one(int x);\n',
      'a.c': '#include "a.h"\nint add_one(int x) { return x + 1; }\n',
      'm.c': '#include "a.h"\nint main(void) { return add_one(1); }\n',
    },
    request: {from: 'add_one', to: 'increment'},
    after: {
      'a.h': 'int increment(int x);\n',
      'a.c': '#include "a.h"\nint increment(int x) { return x + 1; }\n',
      'm.c': '#include "a.h"\nint main(void) { return increment(1); }\n',
    },
  },
  {
    title: 'Go: a function main of another package than main',
    files: {'a/a.go': 'package a\n\nfunc main() {}\n\nfunc Run() { main() }\n'},
    request: {from: 'main', to: 'run'},
    after: {'a/a.go': 'package a\n\nfunc run() {}\n\nfunc Run() { run() }\n'},
  },
  {
    title: 'Python: a function main, which its file calls itself',
    files: {'a.py': 'def main(): pass\n\n\nmain()\n'},
    request: {from: 'main', to: 'run'},
    after: {'a.py': 'def run(): pass\n\n\nrun()\n'},
  },
];

test.each(SAFE)('$title', async ({files, request, after}) => {
  const project = createProject(files);
  const plan = await project.index.rename(request);
  expect(plan.reasons).toEqual([]);
  expect(plan.verdict).toBe('safe');
  apply(project, plan);
  for (const [file, text] of Object.entries({...files, ...after})) {
    expect(readFileSync(path.join(project.root, file), 'utf8'), file).toBe(text);
  }
});

const MODULE = {'a.ts': 'export const total = 1;\n'};

describe('a rename is refused', () => {
  test.each<[string, Readonly<Record<string, string>>, RenameRequest, RegExp]>([
    [
      'when nothing has the name',
      MODULE,
      {from: 'nothing', to: 'x'},
      /^No definition of nothing was found in the 1 files/,
    ],
    ['when the new name is no name', MODULE, {from: 'total', to: 'a b'}, /^"a b" is no name/],
    [
      'when the new name is a word of the language',
      MODULE,
      {from: 'total', to: 'class'},
      /^class is a word of the language/,
    ],
    [
      'when several things have the name',
      {'a.ts': 'export const x = 1;\n', 'b.ts': 'export const x = 1;\n'},
      {from: 'x', to: 'y'},
      /^x has 2 definitions: a\.ts:1 \(constant\), b\.ts:1 \(constant\)\. Say which one is meant/,
    ],
    [
      'when the new name is taken in its file',
      {'a.ts': 'export const x = 1;\nconst y = 2;\n'},
      {from: 'x', to: 'y'},
      /^y is already the name of a\.ts:2/,
    ],
    [
      'when the new name would be caught by a parameter',
      {'a.ts': 'export const x = 1;\nfunction f(y: number) { return x + y; }\n'},
      {from: 'x', to: 'y'},
      /^y already means something else at a\.ts:2/,
    ],
    [
      'when an importer has the new name already',
      {...MODULE, 'b.ts': "import {total} from './a.ts';\nconst sum = total;\n"},
      {from: 'total', to: 'sum'},
      /^sum already means something else at b\.ts/,
    ],
    [
      'when members of unknown things may be meant',
      {'a.ts': 'export class A { run() {} }\n', 'b.ts': 'export function f(x) { x.run(); }\n'},
      {from: 'A.run', to: 'start'},
      /^Syntax cannot tell what run means at 1 place, first b\.ts:1/,
    ],
    [
      'when a base from elsewhere may have the member',
      {'a.ts': "import {Base} from 'pkg';\nexport class A extends Base { onStart() {} }\n"},
      {from: 'A.onStart', to: 'begin'},
      /^a\.ts:2 \(method of A\) may override a member of Base, which is not in this project/,
    ],
    [
      'when a file that is not parsed names it',
      {...MODULE, 'gen.ts': '// @generated\nimport {total} from "./a.ts";\n'},
      {from: 'total', to: 'sum'},
      /^gen\.ts contains total and is not parsed: generated/,
    ],
    [
      'when files outside of the given ones would have to change',
      {...MODULE, 'sub/b.ts': "import {total} from '../a.ts';\ntotal;\n"},
      {from: 'total', to: 'sum', within: ['sub']},
      /^a\.ts would have to change, too/,
    ],
    [
      'when a using of another file may bring a bare name in C#',
      {'A.cs': TWICE, 'G.cs': 'global using static Tools;\n', 'B.cs': 'class B { int Run() => Twice(4); }\n'},
      {from: 'Tools.Twice', to: 'Times2'},
      /^Syntax cannot tell what Twice means at 1 place, first B\.cs:1 \(a bare name, which "using static" may bring/,
    ],
    [
      'when the file of a public class in Java would have to move',
      {'x/Job.java': 'package x;\npublic class Job {}\n'},
      {from: 'Job', to: 'Task'},
      /Run "git mv x\/Job\.java x\/Task\.java" first/,
    ],
    [
      'when the language calls it by its name',
      {'a.py': 'class A:\n    def __len__(self): return 1\n'},
      {from: 'A.__len__', to: 'size'},
      /has its name from the language/,
    ],
    ...[
      {'main.go': 'package main\n\nfunc main() {}\n'},
      {'a.go': 'package a\n\nfunc init() {}\n'},
      {'main.rs': 'fn main() {}\n'},
      {'a.c': 'int main(void) { return 0; }\n'},
      {'A.java': 'class A { public static void main(String[] args) {} }\n'},
      {'A.cs': 'class A { static void Main() {} }\n'},
    ].map((files): [string, Readonly<Record<string, string>>, RenameRequest, RegExp] => {
      const [[file, source]] = Object.entries(files) as [[string, string]];
      const from = /init|main(?=\()|Main/.exec(source)![0];
      return [`when a program starts with it: ${file}`, {[file]: source}, {from, to: 'run'}, /name from the language/];
    }),
  ])('%s', async (_, files, request, reason) => {
    const {verdict, edits, reasons} = await createProject(files).index.rename(request);
    expect({verdict, edits}).toEqual({verdict: 'refused', edits: []});
    expect(reasons[0]).toMatch(reason);
  });
});

test('the plan names strings, comments and files of other kinds that have the name', async () => {
  const {index} = createProject({
    'a.ts': '// total of all\nexport const total = 1;\nconsole.log("total");\n',
    'README.md': 'Use `total`.\n',
  });
  const {verdict, mentions} = await index.rename({from: 'total', to: 'sum'});
  expect(verdict).toBe('safe');
  expect(mentions.map(({path: file, line}) => `${file}:${line}`)).toEqual(['README.md:1', 'a.ts:1', 'a.ts:3']);
});

test('a file that may not be read is not part of a rename, and its text is not shown', async () => {
  const {index, root} = createProject({...MODULE, 'secret/b.ts': "import {total} from '../a.ts';\ntotal;\n"});
  const mayRead = (file: string) => !file.startsWith(path.join(root, 'secret'));
  const plan = await index.rename({from: 'total', to: 'sum'}, {mayRead});
  expect(plan).toMatchObject({verdict: 'refused', reasons: ['Files that may not be read would have to change, too.']});
  expect(JSON.stringify(plan)).not.toContain('secret');
});
