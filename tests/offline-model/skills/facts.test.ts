/** Answers about projects in several languages are true, and failures are at the start of a line. */
import {afterAll, describe, expect, it} from 'vitest';
import {OFFLINE_CANNOT} from '../../../src/offline-model/report.ts';
import {type ConverseOptions, converse} from '../converse.ts';
import {closeIndexes, EXPLORE_TOOLS, folder, MAIN_TOOLS} from '../simple-tools.ts';

afterAll(closeIndexes);

const PYTHON = {
  'pyproject.toml':
    '[build-system]\nrequires = ["hatchling"]\n\n[project]\nname = "shop"\ndependencies = ["flask>=3", "requests", "uvicorn[standard]"]\n\n[project.optional-dependencies]\ndev = [\n  "pytest>=8",\n]\n\n[project.scripts]\nshop = "shop.cli:main"\n',
  'README.md': '# Shop\n\nSells things.\n\nA longer paragraph which says nothing of use.\n',
  'shop/cart.py':
    'import requests\nfrom collections import OrderedDict\n\n\nclass Cart:\n    def total(self):\n        return 0\n',
  'shop/cli.py':
    'from shop.cart import Cart\n\n\ndef main():\n    Cart()\n\n\nif __name__ == "__main__":\n    main()\n',
  'shop/sp ace.py': 'spaced = 1\n',
  'tests/test_cart.py': 'def test_total():\n    pass\n',
};
const RUST = {
  'Cargo.toml': '[package]\nname = "words"\n\n[dependencies]\nserde = "1"\n\n[dependencies.regex]\nversion = "1"\n',
  'src/main.rs': 'mod count;\n\nfn main() {\n    count::run();\n}\n',
  'src/count.rs':
    'use std::collections::HashMap;\n\npub trait Counter {\n    fn total(&self) -> usize;\n}\n\npub struct Words;\n\nimpl Words {\n    pub fn new() -> Self {\n        Words\n    }\n}\n\npub fn run() {}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn counts() { super::run() }\n}\n',
};
const GO = {
  'go.mod': 'module example.com/tool\n\ngo 1.22\n',
  'cmd/tool/main.go':
    'package main\n\nimport (\n\t"fmt"\n\t"example.com/tool/store"\n)\n\nfunc main() {\n\tfmt.Println(store.New())\n}\n',
  'store/store.go':
    '// Package store keeps notes.\npackage store\n\ntype Store struct{}\n\nfunc New() *Store { return nil }\n\nfunc (s *Store) Get() string {\n\treturn ""\n}\n',
  'store/store_test.go': 'package store\n\nimport "testing"\n\nfunc TestGet(t *testing.T) {\n}\n',
};
const python = folder(PYTHON);
const rust = folder(RUST);
const go = folder(GO);
const elixir = folder({'lib/a.ex': 'defmodule A do\n  def bump(n), do: n\nend\n'});
const getters = folder({...GO, 'store/getter.go': 'package store\n\ntype Getter interface {\n\tGet() string\n}\n'});
const answer = async (root: string, prompt: string, more: Partial<ConverseOptions> = {}) =>
  (await converse(prompt, {root, tools: MAIN_TOOLS, ...more})).text;
const saysCannot = (text: string) => text.split('\n').some((line) => line.startsWith(OFFLINE_CANNOT));

describe('a question with a word of a known one', () => {
  it.each([
    'is the license compatible with the GPL?',
    'why do the dependencies fail to install?',
    'should I upgrade the dependencies?',
    'which languages are the messages translated to?',
    'how many tests are in cart.test?',
    'who wrote the cart?',
    'which version removed OrderedDict?',
    'is there a better framework for tests?',
  ])('is not answered as that one: %s', async (prompt) => {
    expect(await answer(python, prompt)).not.toMatch(/^The files say|^\*\*Languages|^\d+ (?:test|depend)/m);
  });

  it.each([
    ['how do I run the tests of this project?', 'pyproject.toml:10'],
    ['which third-party libraries does it use?', '`flask>=3`'],
    ['what is this project written in?', 'Python 4 files'],
    ['any dev dependencies?', 'pyproject.toml:10'],
    ['how many lines in cart.py', '7 lines in 1 file'],
    ['whats in pyproject.toml', 'name = "shop"'],
  ])('is answered where all of its words are known: %s', async (prompt, expected) => {
    expect(await answer(python, prompt)).toContain(expected);
  });
});

describe('a question about the project', () => {
  it.each(['which model is used by default?', 'how do I use this?', 'how can I change the cart'])(
    'is neither taken for one about mini-cc nor for a plan: %s',
    async (prompt) => {
      expect(await answer(python, prompt)).not.toMatch(/offline model built into|^Plan for|^The files say/);
    },
  );

  it('is told that the manifest names no such dependency', async () => {
    expect(await answer(go, 'does this have any dependencies')).toContain('No dependencies in go.mod');
    const tool = folder({'package.json': '{"name": "a", "devDependencies": {"ava": "6"}}', 'a.js': 'a();\n'});
    expect(await answer(tool, 'any runtime dependencies?')).toContain('No runtime dependencies in package.json');
  });

  it('finds the version in a constant, where no manifest has it', async () => {
    const header = folder({'a.h': '#define A_VERSION_MAJOR 3\n', 'CMakeLists.txt': 'project(a)\n'});
    expect(await answer(header, "where's the version?")).toContain('a.h:1');
  });

  it('keeps the mark of a Ruby method', async () => {
    const ruby = folder({'a.rb': 'def reset(key)\n  1\nend\n\ndef reset!\n  2\nend\n'});
    expect(await answer(ruby, 'what does reset! do')).toMatch(/^a\.rb:5/);
  });

  it('names the source and the header of what a file implements', async () => {
    const c = folder({
      'src/table.h': 'typedef struct table {\n  int n;\n} table;\nint table_add(table *t);\n',
      'src/table.c': '#include "table.h"\n\nint table_add(table *t) {\n  return t->n;\n}\n',
    });
    expect(await answer(c, 'which file implements the table?')).toContain('src/table.c:3');
  });
});

describe('what could not be done', () => {
  it.each([
    'read nope.py',
    'explain nope.py',
    'review nope.py',
    'list files in nope',
    'list functions in nope.py',
    'read shop/cart.py and nope.py',
    'show lines 50-60 of shop/cart.py',
    'list files bigger than 1 MB',
    'which functions are longest?',
    'list outdated dependencies',
    'use the nope agent to explore',
  ])('is at the start of a line: %s', async (prompt) => {
    expect(saysCannot(await answer(python, prompt))).toBe(true);
  });

  it.each([
    'where is hidden defined?',
    'list functions',
    'list TODOs',
    'rename hidden to seen',
    'replace hidden with seen',
  ])('has the reason of the tool when a search failed: %s', async (prompt) => {
    const intercept = (name: string) =>
      name === 'grep' || name === 'symbols'
        ? {text: 'The search failed: ./locked: Permission denied (os error 13)', isError: true}
        : undefined;
    const text = await answer(python, prompt, {intercept});
    expect(saysCannot(text)).toBe(true);
    expect(text).toContain('./locked: Permission denied (os error 13)');
    expect(text).not.toContain('no tool');
  });

  it.each([
    'delete all tests',
    'kill all tests',
    'drop the class Cart',
    'uninstall zod',
    'stop the server',
    'clear the carts',
    'install the dependencies',
    'undo the last commit',
    'supprime tous les tests',
    'lösche alle Tests',
    'удали все тесты',
    '删除所有测试',
  ])('is an order that no skill carries out, which is no search for its verb: %s', async (prompt) => {
    const {text, replies} = await converse(prompt, {root: python, tools: MAIN_TOOLS});
    expect(text.startsWith(`${OFFLINE_CANNOT} to write or change code or to do what is only described`)).toBe(true);
    expect(replies).toEqual([]);
  });

  it.each(['install script', 'how do I install the dependencies?', 'clear text', 'is stop called?'])(
    'is no question whose words may order something: %s',
    async (prompt) => {
      expect(await answer(python, prompt)).not.toContain('what is only described');
    },
  );

  it('is a plain sentence when a call was not permitted', async () => {
    const text = await answer(python, 'read shop/cart.py', {
      intercept: () => ({text: 'The user refused this call.', isError: true}),
    });
    expect(text).toMatch(/^The call of `read_file` for `shop\/cart\.py` was not permitted/);
  });
});

describe('a listing', () => {
  it('reads dependencies in one line, in several lines, or in sections of their own', async () => {
    const text = await answer(python, 'list dependencies');
    expect(text).toContain('pyproject.toml:6 — `flask>=3`');
    expect(text).toContain('pyproject.toml:6 — `uvicorn[standard]`');
    expect(text).toContain('pyproject.toml:10 — `pytest>=8`');
    expect(await answer(rust, 'list dependencies')).toContain('Cargo.toml:7 — `regex`');
    expect(await answer(python, 'list dev dependencies')).not.toContain('flask');
  });

  it('shows the lines of a manifest that it does not parse, instead of "none"', async () => {
    expect(await answer(folder({'pom.xml': '<dependency/>'}), 'list dependencies')).toContain('pom.xml:1');
  });

  it.each([
    [rust, 'which files define traits?', 'src/count.rs:3 — trait `Counter`'],
    [elixir, 'list the functions in lib/a.ex', 'lib/a.ex:2 — `def bump(n), do: n`'],
    [rust, 'list structs', 'src/count.rs:7 — struct `Words`'],
    [rust, 'list public functions', 'src/count.rs:15 — function `run`'],
    [rust, 'list modules', 'src/count.rs:18 — module `tests`'],
    [go, 'list methods', 'store/store.go:8 — method `Store.Get`'],
    [go, 'list exported functions', 'store/store.go:6 — function `New`'],
    [python, 'list classes', 'shop/cart.py:5 — class `Cart`'],
    [python, 'what is in shop?', 'shop/cli.py'],
  ])('contains only the kind in the request (%#: %s %s)', async (root, prompt, expected) => {
    const text = await answer(root, prompt);
    expect(text).toContain(expected);
    expect(text).not.toContain('Cargo.toml');
  });

  it('counts all definitions of the kind, also those that it does not show', async () => {
    const lines = Array.from({length: 400}, (_, index) => `export function f${index}() {}\nclass C${index} {}\n`);
    const text = await answer(folder({'src/a.ts': lines.join('')}), 'which functions are exported?');
    expect(text).toMatch(/^400 exported functions:/);
    expect(text).toContain('… and 340 more');
  });

  it.each([
    [go, 'list the methods of Store', /^1 method in Store.*\n\n- store\/store\.go:8 — method `Store\.Get`/],
    [python, 'what methods does Cart have?', /^\d methods? in Cart/],
    [getters, 'which types implement Getter?', /^Go types do not name what they implement/],
  ])('names what a class has, and says what syntax does not tell (%#)', async (root, prompt, expected) => {
    expect(await answer(root, prompt)).toMatch(expected);
  });

  it('of definitions that the request narrows further is not a list of all of them', async () => {
    const root = folder({'a.ts': 'export async function load() {}\nexport function doIt() {}\nfunction two() {}\n'});
    expect(await answer(root, 'list the async functions in a.ts')).toMatch(/^1 async function in a\.ts/);
    for (const prompt of ['list the functions in a.ts that are tests', 'list abstract functions in a.ts'])
      expect(await answer(root, prompt)).not.toContain('`two`');
  });

  it('knows tests inside code files', async () => {
    expect(await answer(rust, 'which tests cover run?')).toContain(
      'Uses in tests of `run`: 1, in 1 file:\n\n- src/count.rs:20',
    );
    expect(await answer(rust, 'list the tests')).toContain('src/count.rs:19 (1 test)');
    expect(await answer(rust, 'Explore this codebase', {tools: EXPLORE_TOOLS})).toContain('- src/count.rs:19 (1 test)');
    expect(await answer(go, 'list the tests')).toContain('store/store_test.go');
    expect(await answer(rust, 'review src')).not.toContain('Without a test');
  });
});

describe('imports', () => {
  const shop = folder({...PYTHON, 'shop/near.py': 'from . import cart\n'});
  it.each([
    [rust, 'where is HashMap used?', 'src/count.rs:1 — `use std::collections::HashMap;`'],
    [rust, 'grep HashMap', 'src/count.rs:1'],
    [python, 'where is requests imported?', 'shop/cart.py:1 — `import requests`'],
    [python, 'which files import OrderedDict?', 'shop/cart.py:2'],
    [go, 'where is fmt imported?', 'cmd/tool/main.go:4'],
    [go, 'where is fmt used?', 'cmd/tool/main.go:9'],
    [python, 'what depends on shop.cart?', 'shop/cli.py:1'],
    [shop, 'what depends on shop.cart?', 'shop/near.py:1'],
    [elixir, 'which files import A?', 'lib/a.ex:1'],
    [rust, 'what depends on crate::count?', 'src/main.rs:1'],
  ])('are uses (%#: %s %s)', async (root, prompt, expected) => {
    const text = await answer(root, prompt);
    expect(text).toContain(expected);
    expect(text).not.toMatch(/not found|Similar/);
  });

  it('do not split a name that ends with the name of a kind', async () => {
    const root = folder({'a.ts': 'export const useHook = 1;\nexport const use = 2;\n'});
    expect(await answer(root, 'where is useHook defined?')).toMatch(/^a\.ts:1/);
  });
});

describe('a question about the project', () => {
  it.each([
    [python, 'what are the entry points?', 'pyproject.toml:14 — script shop'],
    [rust, 'what is the entry point?', 'src/main.rs:3'],
    [go, 'what language is this?', 'Go 3 files'],
    [python, 'what languages are used here?', 'Python 4 files'],
    [rust, 'list the languages', 'Rust 2 files'],
    [python, 'how do I build this?', 'pyproject.toml:1 — usual with this file: `pip install .`'],
    [rust, 'how do I build it?', 'Cargo.toml:1 — usual with this file: `cargo build`'],
    [go, 'how do I run this?', 'cmd/tool/main.go:8'],
    [python, 'how do I run the tests?', 'pyproject.toml:10 — usual with this file: `pytest`'],
    [rust, 'what is the test command?', '`cargo test`'],
    [go, 'what scripts are there?', 'go.mod:1 — usual with this file: `go test ./...`'],
    [python, 'what scripts are there?', 'pyproject.toml:14 — `shop`'],
  ])('gets a short answer with file and line (%#: %s %s)', async (root, prompt, expected) => {
    const {text, replies} = await converse(prompt, {root, tools: MAIN_TOOLS});
    expect(text).toContain(expected);
    expect(saysCannot(text)).toBe(false);
    expect(replies.flat().map((call) => call.name)).not.toContain('Task');
  });

  it('names the files of a folder without further folders', async () => {
    const text = await answer(python, 'Explore shop/', {tools: EXPLORE_TOOLS});
    expect(text).toContain('- shop/cart.py\n- shop/cli.py\n');
  });

  it('includes the first paragraph of the README, even a short one', async () => {
    const explored = await answer(python, 'Explore this codebase', {tools: EXPLORE_TOOLS});
    expect(explored).toContain('README.md:3 says: “Sells things.”');
    const root = folder({
      'README.md':
        'Title\n=====\n\n[![build](x)](y)\n<img\n  src="a.png"\n/>\n\n```\ncode here\n```\n\nIt [does](http://x) it.\n',
    });
    expect(await answer(root, 'Explore this codebase', {tools: EXPLORE_TOOLS})).toContain(
      'README.md:13 says: “It does it.”',
    );
  });
});

const GEM = {Gemfile: "gem 'rspec', '~> 3'\n", 'spec/spec_helper.rb': 'x\n', 'spec/a_spec.rb': 'it\n'};
const DOTNET = {
  'src/App/App.csproj': '<Project></Project>\n',
  'tests/App.Tests/App.Tests.csproj': '<Project>\n<PackageReference Include="xunit" />\n</Project>\n',
  'tests/App.Tests/CartTests.cs': 'class CartTests {}\n',
};
describe('the command of the tests', () => {
  it.each([
    [GEM, '`bundle exec rspec`, Gemfile:1'],
    [{'.rspec': '--color\n', 'spec/a_spec.rb': 'it\n'}, '`bundle exec rspec`, .rspec:1'],
    [DOTNET, '`dotnet test tests/App.Tests/App.Tests.csproj`, tests/App.Tests/App.Tests.csproj:2'],
    [{...DOTNET, 'App.sln': 'x\nProject("{1}") = "T", "tests\\App.Tests.csproj", "{2}"\n'}, '`dotnet test`, App.sln:2'],
  ])('is found by its manifest (%#)', async (files, expected) => {
    const root = folder(files);
    expect(await answer(root, 'Explore the tests and scripts', {tools: EXPLORE_TOOLS})).toContain(
      `1 test file. Run with ${expected}.`,
    );
    const command = expected.split('`')[1]!;
    expect(await answer(root, 'how do I run the tests?')).toContain(command);
    const ran: unknown[] = [];
    await answer(root, 'run the tests', {
      intercept: (name, input) => {
        if (name !== 'bash') return undefined;
        ran.push(input.command);
        return {text: 'ok'};
      },
    });
    expect(ran).toEqual([command]);
  });
});

describe('reading', () => {
  it('understands a path with a space in quotes', async () => {
    expect(await answer(python, 'read "shop/sp ace.py"')).toContain('1  spaced = 1');
  });

  it('shows the lines around FILE:LINE', async () => {
    const root = folder({'a.py': Array.from({length: 50}, (_, index) => `line${index + 1}`).join('\n')});
    const text = await answer(root, 'read a.py:20');
    expect(text).toContain('20  line20');
    expect(text).not.toMatch(/line(5|40)\n/);
    expect(await answer(root, 'read a.py:1')).toContain('1  line1\n');
  });

  it.each([
    ['show lines 9-7 of a.py', 'a.py:7–9:'],
    ['show line 0 of a.py', 'a.py:1–1:'],
  ])('shows existing lines for "%s"', async (prompt, title) => {
    const root = folder({'a.py': Array.from({length: 50}, (_, index) => `line${index + 1}`).join('\n')});
    expect((await answer(root, prompt)).split('\n')[0]).toBe(title);
  });

  it('shows each file in the request, and the README by its name without extension', async () => {
    const text = await answer(python, 'read shop/cart.py and shop/cli.py');
    expect(text).toContain('class Cart');
    expect(text).toContain('def main');
    expect(await answer(python, 'show me the readme')).toContain('Sells things.');
    expect(await answer(python, 'read README')).toContain('Sells things.');
  });
});

it('does not list a code file named readme as a document', async () => {
  const root = folder({...PYTHON, 'shop/readme.py': 'x = 1\n', 'docs/README': 'old\n'});
  const text = await answer(root, 'Explore this codebase', {tools: EXPLORE_TOOLS});
  const documents = text.split('\n').find((line) => line.includes('Documents'));
  expect(documents).toContain('README.md, docs/README');
  expect(documents).not.toContain('readme.py');
});
