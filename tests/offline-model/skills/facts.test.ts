/** What is said of a project is true, and what could not be done says so at the start of a line. */
import {describe, expect, it} from 'vitest';
import {CANNOT_PREFIX} from '../../../src/offline-model/fetch.ts';
import {converse, type Talk} from '../converse.ts';
import {EXPLORE_TOOLS, folder, MAIN_TOOLS} from '../simple-tools.ts';

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
    'use std::collections::HashMap;\n\npub trait Counter {\n    fn total(&self) -> usize;\n}\n\npub struct Words;\n\nimpl Words {\n    pub fn new() -> Self {\n        Words\n    }\n}\n\npub fn run() {}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn counts() {}\n}\n',
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
const tell = async (root: string, prompt: string, more: Partial<Talk> = {}) =>
  (await converse(prompt, {root, tools: MAIN_TOOLS, ...more})).text;
const cannotIn = (told: string) => told.split('\n').some((line) => line.startsWith(CANNOT_PREFIX));

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
  ])('is said at the start of a line: %s', async (prompt) => {
    expect(cannotIn(await tell(python, prompt))).toBe(true);
  });

  it.each(['where is hidden defined?', 'list functions', 'list TODOs', 'rename hidden to seen'])(
    'is told with the reason of the tool where a search failed: %s',
    async (prompt) => {
      const intercept = (name: string) =>
        name === 'grep'
          ? {text: 'The search failed: ./locked: Permission denied (os error 13)', isError: true}
          : undefined;
      const told = await tell(python, prompt, {intercept});
      expect(cannotIn(told)).toBe(true);
      expect(told).toContain('./locked: Permission denied (os error 13)');
      expect(told).not.toContain('no tool');
    },
  );

  it('is a plain sentence where a call was not permitted', async () => {
    const told = await tell(python, 'read shop/cart.py', {
      intercept: () => ({text: 'The user refused this call.', isError: true}),
    });
    expect(told).toMatch(/^The call of `read_file` for `shop\/cart\.py` was not permitted/);
  });
});

describe('a listing', () => {
  it('reads lists of dependencies that stand in one line, over several, or in sections of their own', async () => {
    const told = await tell(python, 'list dependencies');
    expect(told).toContain('pyproject.toml:6 — `flask>=3`');
    expect(told).toContain('pyproject.toml:6 — `uvicorn[standard]`');
    expect(told).toContain('pyproject.toml:10 — `pytest>=8`');
    expect(await tell(rust, 'list dependencies')).toContain('Cargo.toml:7 — `regex`');
    expect(await tell(python, 'list dev dependencies')).not.toContain('flask');
  });

  it('says of a manifest that it does not read that it does not, instead of "none"', async () => {
    expect(cannotIn(await tell(folder({'pom.xml': '<dependency/>'}), 'list dependencies'))).toBe(true);
  });

  it.each([
    [rust, 'which files define traits?', 'src/count.rs:3 — trait `Counter`'],
    [rust, 'list structs', 'src/count.rs:7 — struct `Words`'],
    [rust, 'list public functions', 'src/count.rs:10 — function `new`'],
    [rust, 'list modules', 'src/main.rs:1 — mod `count`'],
    [go, 'list methods', 'store/store.go:8 — function `Get`'],
    [go, 'list exported functions', 'store/store.go:6 — function `New`'],
    [python, 'list classes', 'shop/cart.py:5 — class `Cart`'],
    [python, 'what is in shop?', 'shop/cli.py'],
    [python, 'which file is the biggest?', 'pyproject.toml:1 — 14 lines'],
  ])('holds only the kind that was asked for (%#: %s %s)', async (root, prompt, expected) => {
    const told = await tell(root, prompt);
    expect(told).toContain(expected);
    expect(told).not.toContain('Cargo.toml');
  });

  it('knows tests inside code files', async () => {
    expect(await tell(rust, 'list the tests')).toContain('src/count.rs:19 (1 test)');
    expect(await tell(rust, 'Explore this codebase', {tools: EXPLORE_TOOLS})).toContain(
      'in code files: src/count.rs:19',
    );
    expect(await tell(go, 'list the tests')).toContain('store/store_test.go');
    expect(await tell(rust, 'review src')).not.toContain('Without a test');
  });
});

describe('imports', () => {
  it.each([
    [rust, 'where is HashMap used?', 'src/count.rs:1 — `use std::collections::HashMap;`'],
    [rust, 'grep HashMap', 'src/count.rs:1'],
    [python, 'where is requests imported?', 'shop/cart.py:1 — `import requests`'],
    [python, 'which files import OrderedDict?', 'shop/cart.py:2'],
    [go, 'where is fmt imported?', 'cmd/tool/main.go:4'],
    [go, 'where is fmt used?', 'cmd/tool/main.go:9'],
  ])('are uses (%#: %s %s)', async (root, prompt, expected) => {
    const told = await tell(root, prompt);
    expect(told).toContain(expected);
    expect(told).not.toMatch(/not found|Similar/);
  });

  it('keeps a name whole that ends in a kind of thing', async () => {
    const root = folder({'a.ts': 'export const useHook = 1;\nexport const use = 2;\n'});
    expect(await tell(root, 'where is useHook defined?')).toMatch(/^a\.ts:1/);
  });
});

describe('a question about the project', () => {
  it.each([
    [python, 'what are the entry points?', 'pyproject.toml:14 — script shop'],
    [rust, 'what is the entry point?', 'src/main.rs:3'],
    [go, 'what language is this?', 'Most of the source is Go, e.g. cmd/tool/main.go:8'],
    [python, 'what languages are used here?', 'Python 4 files'],
    [rust, 'list the languages', 'Rust 2 files'],
    [python, 'how do I build this?', '`pip install .` — pyproject.toml:1'],
    [rust, 'how do I build it?', '`cargo build` — Cargo.toml:1'],
    [go, 'how do I run this?', '`go run ./cmd/tool` — cmd/tool/main.go:8'],
    [python, 'how do I run the tests?', '`pytest`, pyproject.toml:10'],
    [rust, 'what is the test command?', '`cargo test`'],
    [go, 'what scripts are there?', '`go test ./...` — go.mod:1'],
    [python, 'what scripts are there?', 'pyproject.toml:14 — `shop`'],
    [go, 'what go version is needed?', 'go.mod:3 — `go 1.22`'],
    [go, 'what is the module name?', 'go.mod:1'],
  ])('is answered shortly with its place (%#: %s %s)', async (root, prompt, expected) => {
    const {text, replies} = await converse(prompt, {root, tools: MAIN_TOOLS});
    expect(text).toContain(expected);
    expect(cannotIn(text)).toBe(false);
    expect(replies.flat().map((call) => call.name)).not.toContain('Task');
  });

  it('quotes the first paragraph of the README, however short', async () => {
    const explored = await tell(python, 'Explore this codebase', {tools: EXPLORE_TOOLS});
    expect(explored).toContain('README.md:3 says: “Sells things.”');
    const root = folder({
      'README.md': 'Title\n=====\n\n[![build](x)](y)\n<p>logo</p>\n\n```\ncode here\n```\n\nIt [does](http://x) it.\n',
    });
    expect(await tell(root, 'Explore this codebase', {tools: EXPLORE_TOOLS})).toContain(
      'README.md:11 says: “It does it.”',
    );
  });
});

describe('reading', () => {
  it.each(['read shop/sp ace.py', 'read "shop/sp ace.py"', 'show me the file shop/sp ace.py'])(
    'takes a path with a space as one: %s',
    async (prompt) => {
      expect(await tell(python, prompt)).toContain('1  spaced = 1');
    },
  );

  it('shows the lines around FILE:LINE', async () => {
    const root = folder({'a.py': Array.from({length: 50}, (_, index) => `line${index + 1}`).join('\n')});
    const told = await tell(root, 'read a.py:20');
    expect(told).toContain('20  line20');
    expect(told).not.toMatch(/line(5|40)\n/);
    expect(await tell(root, 'read a.py:1')).toContain('1  line1\n');
  });

  it('shows each file that is named, and the README by its bare name', async () => {
    const told = await tell(python, 'read shop/cart.py and shop/cli.py');
    expect(told).toContain('class Cart');
    expect(told).toContain('def main');
    expect(await tell(python, 'show me the readme')).toContain('Sells things.');
    expect(await tell(python, 'read README')).toContain('Sells things.');
  });
});

it('takes code whose name is readme for no document', async () => {
  const root = folder({...PYTHON, 'shop/readme.py': 'x = 1\n', 'docs/README': 'old\n'});
  const told = await tell(root, 'Explore this codebase', {tools: EXPLORE_TOOLS});
  const documents = told.split('\n').find((line) => line.includes('Documents'));
  expect(documents).toContain('README.md, docs/README');
  expect(documents).not.toContain('readme.py');
});
