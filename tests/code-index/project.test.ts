/** What names mean across the files of a project, language by language. */
import {describe, expect, test} from 'vitest';
import {createProject, formatDefinition, formatReference} from './fixture.ts';

interface Case {
  readonly title: string;
  readonly files: Readonly<Record<string, string>>;
  /** By name: its references, as `formatReference` has them. */
  readonly references?: Readonly<Record<string, readonly string[]>>;
  /** By file: the files that import it, with lines. */
  readonly importers?: Readonly<Record<string, readonly string[]>>;
}

const CASES: readonly Case[] = [
  {
    title: 'TypeScript: .js names the .ts file, re-exports are followed, aliases and packages of a monorepo are known',
    files: {
      'package.json': '{"workspaces": ["packages/*"]}',
      'tsconfig.json': '{\n // aliases\n "compilerOptions": {"baseUrl": ".", "paths": {"@/*": ["app/*"]},},}',
      'packages/lib/package.json': '{"name": "@x/lib", "main": "dist/index.js"}',
      'packages/lib/src/index.ts': "export * from './parse.js';\nexport {parse as read} from './parse.js';\n",
      'packages/lib/src/parse.ts': 'export function parse(text: string) { return text; }\n',
      'app/main.ts':
        "import {parse} from '@x/lib';\nimport * as lib from '@x/lib';\nimport {help} from '@/help';\nexport const a = parse(lib.parse(help()));\n",
      'app/help.tsx': "const {parse} = await import('@x/lib');\nexport const help = () => parse('x');\n",
      'app/other.ts': 'function main(parse: () => void) { parse(); }\n',
    },
    references: {
      parse: [
        'app/help.tsx:1 import → packages/lib/src/parse.ts',
        'app/help.tsx:2 call in help → packages/lib/src/parse.ts',
        'app/main.ts:1 import → packages/lib/src/parse.ts',
        'app/main.ts:4 call in a → packages/lib/src/parse.ts',
        'app/main.ts:4 call in a → packages/lib/src/parse.ts',
        'app/other.ts:1 read in main → local',
        'app/other.ts:1 call in main → local',
        'packages/lib/src/index.ts:2 import → packages/lib/src/parse.ts',
      ],
    },
    importers: {
      'packages/lib/src/index.ts': ['app/help.tsx:1', 'app/main.ts:1', 'app/main.ts:2'],
      'packages/lib/src/parse.ts': ['packages/lib/src/index.ts:1', 'packages/lib/src/index.ts:2'],
      'app/help.tsx': ['app/main.ts:3'],
    },
  },
  {
    title: 'JavaScript: require and module.exports',
    files: {
      'lib/run.js': 'function run() {}\nmodule.exports = {run};\n',
      'main.js': "const {run} = require('./lib/run');\nconst all = require('./lib/run.js');\nrun(); all.run();\n",
    },
    references: {
      run: [
        ...['lib/run.js:2 read → this file', 'main.js:1 import → lib/run.js'],
        ...['main.js:3 call → lib/run.js', 'main.js:3 call → lib/run.js'],
      ],
    },
    importers: {'lib/run.js': ['main.js:1', 'main.js:2']},
  },
  {
    title: 'Python: packages, modules, relative and star imports, methods of typed and made variables',
    files: {
      'src/pkg/__init__.py': 'from .core import Engine\n',
      'src/pkg/core.py':
        'class Base:\n    def stop(self): pass\nclass Engine(Base):\n    def start(self): self.stop()\n',
      'src/pkg/util.py': 'from .core import *\ndef go(e: Engine):\n    e.start()\n',
      'tests/test_a.py':
        'from pkg import Engine, util\nimport pkg.core\ne = Engine()\ne.start()\nutil.go(e)\npkg.core.Engine()\n',
    },
    references: {
      start: ['src/pkg/util.py:3 call in go → src/pkg/core.py', 'tests/test_a.py:4 call → src/pkg/core.py'],
      stop: ['src/pkg/core.py:4 call in Engine.start → this file'],
      go: ['tests/test_a.py:5 call → src/pkg/util.py'],
      Engine: [
        ...['src/pkg/__init__.py:1 import → src/pkg/core.py', 'src/pkg/util.py:2 type in go → src/pkg/core.py'],
        ...['tests/test_a.py:1 import → src/pkg/core.py', 'tests/test_a.py:3 call in e → src/pkg/core.py'],
        'tests/test_a.py:6 call → src/pkg/core.py',
      ],
    },
    importers: {'src/pkg/core.py': ['src/pkg/__init__.py:1', 'src/pkg/util.py:1', 'tests/test_a.py:2']},
  },
  {
    title: 'Go: files of one package see each other, others by the module',
    files: {
      'go.mod': 'module example.com/app\n\ngo 1.22\n',
      'store/a.go': 'package store\n\ntype Store struct{}\n\nfunc New() *Store { return open() }\n',
      'store/b.go': 'package store\n\nfunc open() *Store { return &Store{} }\n\nfunc (s *Store) Close() {}\n',
      'main.go':
        'package main\n\nimport "example.com/app/store"\n\nfunc main() {\n\ts := &store.Store{}\n\ts.Close()\n\tstore.New()\n}\n',
    },
    references: {
      open: ['store/a.go:5 call in New → store/b.go'],
      New: ['main.go:8 call in main → store/a.go'],
      Close: ['main.go:7 call in main → store/b.go'],
    },
    importers: {'store/a.go': ['main.go:3']},
  },
  {
    title: 'Rust: crate, super and self; modules and crates of a workspace',
    files: {
      'Cargo.toml': '[workspace]\nmembers = ["core", "cli"]\n',
      'core/Cargo.toml': '[package]\nname = "my-core"\n',
      'core/src/lib.rs': 'pub mod parse;\nmod read;\npub use parse::Parser;\n',
      'core/src/read.rs': 'use crate::parse;\n',
      'core/src/parse.rs': 'pub struct Parser;\nimpl Parser { pub fn run(&self) { helper() } }\nfn helper() {}\n',
      'cli/Cargo.toml': '[package]\nname = "cli"\n',
      'cli/src/main.rs': 'use my_core::Parser;\nfn main() { let p: Parser = Parser; p.run(); }\n',
    },
    references: {
      Parser: [
        ...['cli/src/main.rs:1 import → core/src/parse.rs', 'cli/src/main.rs:2 type in main → core/src/parse.rs'],
        ...['cli/src/main.rs:2 read in main → core/src/parse.rs', 'core/src/lib.rs:3 import → core/src/parse.rs'],
        'core/src/parse.rs:2 type → this file',
      ],
      run: ['cli/src/main.rs:2 call in main → core/src/parse.rs'],
    },
    importers: {'core/src/parse.rs': ['core/src/lib.rs:1', 'core/src/lib.rs:3', 'core/src/read.rs:1']},
  },
  {
    title: 'Java: packages, inherited members, typed fields',
    files: {
      'src/com/x/Base.java': 'package com.x;\npublic class Base { protected void log() {} }\n',
      'src/com/x/Job.java': 'package com.x;\npublic class Job extends Base { public void run() { log(); } }\n',
      'src/com/y/Main.java':
        'package com.y;\nimport com.x.Job;\nclass Main { private Job job; void go() { job.run(); this.job.run(); } }\n',
    },
    references: {
      log: ['src/com/x/Job.java:2 call in Job.run → src/com/x/Base.java'],
      Base: ['src/com/x/Job.java:2 inherit in Job → src/com/x/Base.java'],
      run: [
        'src/com/y/Main.java:3 call in Main.go → src/com/x/Job.java',
        'src/com/y/Main.java:3 call in Main.go → src/com/x/Job.java',
      ],
    },
    importers: {'src/com/x/Job.java': ['src/com/y/Main.java:2']},
  },
  {
    title: 'C: a prototype in a header is what is defined in a source',
    files: {
      'include/list.h':
        '#ifndef LIST_H\n#define LIST_H\nstruct list { int size; };\nint list_size(struct list *l);\n#endif\n',
      'src/list.c':
        '#include "list.h"\nstatic int add(int a) { return a; }\nint list_size(struct list *l) { return add(l->size); }\n',
      'src/main.c':
        '#include <list.h>\nstatic int add(int a);\nint main(void) { struct list l; return list_size(&l); }\n',
    },
    references: {
      list_size: ['src/main.c:3 call in main → include/list.h'],
      size: ['src/list.c:3 read in list_size → include/list.h'],
      add: ['src/list.c:3 call in list_size → this file'],
    },
    importers: {'include/list.h': ['src/list.c:1', 'src/main.c:1']},
  },
  {
    title: 'C++: members of a class in a header and a source',
    files: {
      'shape.hpp': '#pragma once\nnamespace geo { class Shape { public: double area() const; double side_; }; }\n',
      'shape.cpp': '#include "shape.hpp"\ndouble geo::Shape::area() const { return side_ * side_; }\n',
      'main.cpp': '#include "shape.hpp"\nint main() { geo::Shape s; return s.area(); }\n',
    },
    references: {
      side_: ['shape.cpp:2 read in geo.Shape.area → shape.hpp', 'shape.cpp:2 read in geo.Shape.area → shape.hpp'],
    },
    importers: {'shape.hpp': ['main.cpp:1', 'shape.cpp:1']},
  },
  {
    title: 'A qualified name: calls of other types, of modules from outside and of bare functions are left out',
    files: {
      'http.py': `import os
class Base:
    def send(self): ...
    def loop(self): self.send()
class Session(Base):
    def send(self): self.sock.send()
class Other:
    def send(self): self.send()
def send(): os.send()
s = Session()
s.send()
Queue.send(send())
`,
    },
    references: {
      'Session.send': [
        ...['http.py:4 call in Base.loop → unknown', 'http.py:6 call in Session.send → unknown'],
        'http.py:11 call → this file',
      ],
      'os.send': ['http.py:9 call in send → unknown'],
    },
  },
  {
    title: 'Ruby: files by their path, classes by their name',
    files: {
      'lib/app/user.rb': 'module App\n  class User < Base\n    def save = log(1)\n  end\nend\n',
      'lib/app/base.rb': 'module App\n  class Base\n    def log(x) = x\n  end\nend\n',
      'bin/run.rb': "require 'app/user'\nApp::User.new.save\n",
    },
    references: {
      log: ['lib/app/user.rb:3 call in App.User.save → lib/app/base.rb'],
      User: ['bin/run.rb:2 read → lib/app/user.rb'],
    },
    importers: {'lib/app/user.rb': ['bin/run.rb:1']},
  },
  {
    title: 'PHP: namespaces and use',
    files: {
      'src/Model.php':
        '<?php\nnamespace App;\nclass Model { public function save() { return helper(); } }\nfunction helper() {}\n',
      'src/User.php':
        '<?php\nnamespace App\\Models;\nuse App\\Model;\nclass User extends Model { function go() { $this->save(); } }\n',
    },
    references: {
      Model: ['src/User.php:3 import → src/Model.php', 'src/User.php:4 inherit in User → src/Model.php'],
      save: ['src/User.php:4 call in User.go → src/Model.php'],
      helper: ['src/Model.php:3 call in Model.save → this file'],
    },
    importers: {'src/Model.php': ['src/User.php:3']},
  },
  {
    title: 'C#: namespaces, partial classes, fields with types',
    files: {
      'A.cs': 'namespace App;\npublic partial class Repo { public int Count() => size; }\n',
      'B.cs': 'namespace App;\npublic partial class Repo { private int size; }\n',
      'C.cs': 'using App;\nnamespace Web;\nclass Page { private Repo repo; int Show() { return repo.Count(); } }\n',
    },
    references: {
      Count: ['C.cs:3 call in Page.Show → A.cs'],
      size: ['A.cs:2 read in Repo.Count → B.cs'],
      Repo: ['C.cs:3 type in Page → A.cs'],
    },
  },
  {
    title: 'JavaScript: a private name keeps its sign',
    files: {'a.js': 'class Box {\n  #size = 1;\n  grow() { return this.#size; }\n}\n'},
    references: {
      '#size': ['a.js:3 read in Box.grow → this file'],
      'Box.#size': ['a.js:3 read in Box.grow → this file'],
    },
  },
];

test.each(CASES)('$title', async ({files, references = {}, importers = {}}) => {
  const {index} = createProject(files);
  for (const [name, expected] of Object.entries(references)) {
    const {found} = await index.references({name});
    expect(found.map(formatReference), name).toEqual(expected);
  }
  for (const [file, expected] of Object.entries(importers)) {
    const {found} = await index.importers(file);
    expect(
      found.map(({path, line}) => `${path}:${line}`),
      file,
    ).toEqual(expected);
  }
});

describe('a project', () => {
  const files = {
    'src/core.ts': 'export class Core { start() {} }\nexport const unused = 1;\nexport class Sub extends Core {}\n',
    'src/a.ts': "import {Core, Sub} from './core.ts';\nexport const a = new Core();\nnew Sub();\n",
    'src/b.ts':
      "import {Core} from './core.ts';\nimport {a} from './a.ts';\nexport function b(core: Core) { a; core.start(); }\n",
    'src/index.ts': "export {b} from './b.ts';\n",
    'test/core.test.ts': "import {Core} from '../src/core.ts';\nnew Core().start();\n",
  };

  test('puts the file first that most others import', async () => {
    const {found} = await createProject(files).index.files({});
    expect(found[0]).toMatchObject({path: 'src/core.ts', importers: 3, isTest: false});
    expect(found.find(({path}) => path === 'test/core.test.ts')?.isTest).toBe(true);
  });

  test('knows what nobody names', async () => {
    const {index} = createProject(files);
    expect((await index.syntax('')).unusedExports.map(formatDefinition)).toEqual(['2 constant unused exported']);
  });

  test('finds a method by its class, and tells the uses of two methods of one name apart', async () => {
    const {index} = createProject({
      'a.ts': 'export class A { run() {} }\nexport class B { run() {} }\n',
      'b.ts': "import {A, B} from './a.ts';\nconst a = new A(); const b = new B();\na.run();\nb.run();\n",
    });
    expect((await index.definitions({name: 'B.run'})).found.map(formatDefinition)).toEqual(['2 method B.run']);
    const ofB = (await index.references({name: 'B.run'})).found.filter(({target}) => target !== 'unknown');
    expect(ofB.map(({line}) => line)).toEqual([4]);
  });
});
