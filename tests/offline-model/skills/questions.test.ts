import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {afterAll, describe, expect, it} from 'vitest';
import {converse} from '../converse.ts';
import {project} from '../project.ts';
import {closeIndexes, EXPLORE_TOOLS, folder, MAIN_TOOLS, type ToolName} from '../simple-tools.ts';

afterAll(closeIndexes);

const NOTICE = '(offline model: rule-based. ANTHROPIC_API_KEY or ANTHROPIC_BASE_URL sets up a real one.)';
const root = project();
const main = (prompt: string, tools: readonly ToolName[] = MAIN_TOOLS) => converse(prompt, {root, tools});

/** Every `path:line` in the text exists; a quoted line of code is that line. */
function expectTrueCitations(text: string): void {
  const cited = [...text.matchAll(/([\w./-]+\.\w+):(\d+)(?: — (?:\w+ · )?`([^`]+)`)?/g)];
  expect(cited.length).toBeGreaterThan(0);
  for (const [, path, line, quoted] of cited) {
    const text = readFileSync(join(root, path!), 'utf8').split('\n')[Number(line) - 1];
    expect(text, `${path}:${line}`).toBeDefined();
    if (quoted && /[({=]/.test(quoted)) expect(text).toContain(quoted.slice(0, 20));
  }
}

describe('finding', () => {
  it('says where a name is defined, source before tests, without asking for permission', async () => {
    const {text, replies} = await main('where is track defined?');
    expect(text.split('\n')[0]).toBe('src/core/track.ts:7 — function · `export function track(id: string): string {`');
    expect(text.endsWith(NOTICE)).toBe(true);
    expect(replies.flat().map((call) => call.name)).not.toContain('bash');
    expectTrueCitations(text);
  });

  it.each([
    'where is `track`?',
    'Can you find the definition of track?',
    'où est défini track ?',
    'Где определена функция track?',
    'track在哪里定义？',
  ])('understands "%s"', async (prompt) => {
    expect((await main(prompt)).text).toContain('src/core/track.ts:7');
  });

  it('lists who calls a name, without its definition, comments and imports', async () => {
    const {text} = await main('who calls track?');
    expect(text).toContain('Calls of `track`: 3, in 3 files');
    expect(text).toContain('src/cli.ts:5');
    expect(text).not.toContain('tests/track.test.ts:2');
    expectTrueCitations(text);
  });

  it('lists the files that use a name, in the words of the README', async () => {
    const {text} = await main('find all files that use the track function', EXPLORE_TOOLS);
    expect(text).toContain('Uses of `track`: ');
    expect(text).toContain('src/cli.ts:5');
  });

  it('explains a name by its comment', async () => {
    const {text} = await main('what is track?');
    expect(text).toContain('> Finds out where a parcel is.');
    expect((await main('what is scan_label?')).text).toContain('> Reads one label.');
  });

  it('knows that "it" is the subject of the request before', async () => {
    const before = [
      {role: 'user' as const, content: 'where is retry defined?'},
      {role: 'assistant' as const, content: 'src/core/retry.ts:2'},
    ];
    const {text} = await converse('where is it used?', {root, tools: MAIN_TOOLS, before});
    expect(text).toContain('src/core/track.ts:9');
    expect(text).not.toContain(NOTICE);
  });

  it('does not explain a name when it does not understand what is asked of it', async () => {
    expect((await main('who constructs apiKey?')).text).toMatch(/^By a text search of all files/);
  });

  it.each([
    ['does track throw when the id is wrong?', 'src/core/track.ts:7–10', 'retry(() =>'],
    ['what breaks if I change track', 'Uses of `track`', 'src/cli.ts:5'],
    ['which file exports apiKey', 'src/core/config.ts:1'],
    ['whats trackAll for', 'src/core/track.ts:12', 'trackAll'],
    ['which files use APIKEY', 'By a text search', 'src/core/config.ts:1'],
    ['find all files using the track module', 'Imports of `track`', 'src/cli.ts:2'],
  ])('shows what the words of "%s" name', async (prompt, ...wanted) => {
    const {text} = await main(prompt);
    for (const one of wanted) expect(text).toContain(one);
  });

  it('says that no line has a word only when none has it in any case', async () => {
    const {text} = await main("what's todo2 here");
    expect(text).toContain('No line of any file');
    expect((await main("what's asks here")).text).toContain('src/core/track.ts:5');
  });

  it('takes no member of another thing for a name with its container', async () => {
    const {text} = await main('where is http.track defined?');
    expect(text).toMatch(/^By a text search of all files/);
    expect(text).not.toContain('Defined at');
  });

  it('says so when nothing has that name', async () => {
    expect((await main('where is parcelGhost defined?')).text).toMatch(
      /^No definition of `parcelGhost` in the \d+ files that were searched/,
    );
  });

  it('finds files by name', async () => {
    expect((await main('where is retry.ts?')).text).toContain('src/core/retry.ts');
  });

  it('says which tool is missing instead of guessing', async () => {
    const {text, replies} = await main('where is track defined?', ['write_file']);
    expect(text).toContain('no tool here that looks up names or searches');
    expect(replies).toEqual([]);
  });

  it('searches the text where there is no `symbols` tool, and says so', async () => {
    const {text} = await main('where is track defined?', ['grep', 'read_file']);
    expect(text).toMatch(/^- src\/\S+:\d+ — `.*track/m);
    expect(text).toContain('no `symbols` tool');
  });
});

describe('who uses a name', () => {
  const code = folder({
    'http.py':
      'import os\nclass Session:\n    def send(self):\n        self.sock.send()\n    def get(self):\n        self.send()\nos.send()\n',
    'src/lib/run.rs':
      '#[derive(Serialize)]\nstruct S { e: Box<dyn Run> }\nimpl Run for S {}\nfn serialize() {}\ntrait Run {}\n',
    'src/stream.php': '<?php\nfinal class FileStream implements Stream {}\n',
    'web/utils.ts': 'export const more = 1;\n',
    'site/utils.ts': 'export const less = 1;\n',
    'web/a.ts':
      "import {more} from './utils';\nimport {throttle} from './utils/throttle';\nimport * as fs from 'fs-utils';\n",
    'site/b.ts': "import {less} from './utils';\nimport {more} from '../web/utils';\n",
    'keys.js': 'module.exports = {\n  kRoute: Symbol(1),\n};\n',
    'route.js': "const {kRoute} = require('./keys');\nmodule.exports = (x) => x[kRoute];\n",
    'complete/abc': 'dequote() {\n  echo\n}\n',
    'complete/a-b': 'file=$(dequote "$2")\n',
    'complete/ssh': 'file=$(dequote "$1")\n',
  });
  const answer = async (prompt: string) => (await converse(prompt, {root: code, tools: MAIN_TOOLS})).text;

  it('counts a call of a method only where the type of the object is known, and leaves out calls of something else', async () => {
    const text = await answer('who calls Session.send?');
    expect(text).toContain('Calls of `Session.send`: 1, in 1 file:\n\n- http.py:6');
    expect(text).toContain('Perhaps (1), the type of the object being unknown:\n- http.py:4');
    expect(text).not.toContain('http.py:7');
  });

  it.each([
    ['is encode tested?', 'Uses in tests of `encode`'],
    ['is encode used?', 'Uses of `encode`'],
    ['is typeset called?', 'Calls of `typeset`'],
    ['is importer used?', 'Uses of `importer`'],
    ['montre encode', 'function `encode`'],
    ['montre-moi le code de encode', 'function `encode`'],
    ['zeige den Code von encode', 'function `encode`'],
  ])('takes a name whole that begins or ends with a word of the question: %s', async (prompt, expected) => {
    const names = ['encode', 'typeset', 'importer'];
    const at = folder({
      'a.ts': names.map((name) => `export function ${name}() {}\n`).join(''),
      'tests/a.test.ts': `import {${names.join(', ')}} from '../a.ts';\n${names.map((name) => `${name}();\n`).join('')}`,
    });
    expect((await converse(prompt, {root: at, tools: MAIN_TOOLS})).text).toContain(expected);
  });

  it('takes no field for a subtype, a derived trait for one, and no class for the definition of its base', async () => {
    const run = await answer('who implements Run?');
    expect(run).toContain('Direct subtypes of `Run`: 1, in 1 file:\n\n- src/lib/run.rs:3');
    const derived = await answer('which structs derive Serialize?');
    expect(derived).toContain('Direct subtypes of `Serialize`: 1, in 1 file:\n\n- src/lib/run.rs:1');
    const base = await answer('which classes implement Stream?');
    expect(base).toContain('src/stream.php:2');
    expect(base).not.toContain('Defined at');
  });

  it.each([
    ['is track called anywhere?', 'Calls of `track`: 3'],
    ['what raises track?', 'Uses of `track`: '],
    ['is track unused?', 'Uses of `track`: '],
    ['what functions call retry or track?', 'Calls of `track`: 3'],
    ['where is track instantiated?', 'Calls of `track`: 3'],
    ['list everything that subclasses track', 'No direct subtypes of `track`'],
  ])('understands "%s"', async (prompt, expected) => {
    expect((await main(prompt)).text).toContain(expected);
  });

  it.each(['are there unused imports?', 'any dead calls?'])('takes no adjective for a name: %s', async (prompt) => {
    expect((await main(prompt)).text).not.toMatch(/of `(?:unused|dead)`/);
  });

  it('counts only imports of the whole name, in the folder that is named', async () => {
    const text = await answer('who imports utils in web/?');
    expect(text).toContain('Imports of `utils`: 1, in 1 file:\n\n- web/a.ts:1');
  });

  it('denies no definition that is the key of an object', async () => {
    const text = await answer('where is kRoute defined?');
    expect(text).not.toContain('No definition');
    expect(text).toMatch(/:\n\n- keys.js:2/);
  });

  it('does not say of lines with a method that they have its name with the type', async () => {
    expect(await answer('where is Queue.send defined?')).toContain('lines with `send`:');
  });

  it('searches files without an extension, too', async () => {
    expect(await answer('where is dequote called?')).toContain('complete/ssh:1');
  });
});

describe('listing and reading', () => {
  it.each([
    ['list files in src/core', 'src/core/config.ts'],
    ['list all *.py files', 'tools/scan.py'],
    ['how many TypeScript files are there?', '5 files'],
    ['列出 src/core 的文件', 'src/core/track.ts'],
    ['list the scripts', 'package.json:7 — `test`: `vitest run`'],
    ['list dependencies', 'package.json:9 — `zod`: `4.0.0`'],
    ['list the tests', 'tests/track.test.ts'],
    ['list TODOs', 'src/core/track.ts:8'],
    ['list functions in src/core/track.ts', 'src/core/track.ts:7 — function `track`'],
    ['list folders', 'src/core/ (3 files)'],
  ])('%s', async (prompt, expected) => {
    expect((await main(prompt)).text).toContain(expected);
  });

  it('shows a file with line numbers, or only the lines in the request', async () => {
    expect((await main('read src/core/retry.ts')).text).toContain('2  export function retry');
    const {text} = await main('show lines 2-3 of src/core/track.ts');
    expect(text).toContain('3  /**');
    expect(text).not.toContain('7  export');
  });

  it('finds the file when only its name is given', async () => {
    expect((await main('summarise retry.ts')).text).toContain('src/core/retry.ts:2 — function `retry`');
    expect((await main('read nowhere.ts')).text).toContain('I could not read nowhere.ts');
  });

  it('says what a file does by its header and definitions', async () => {
    const {text} = await main('what does src/cli.ts do?');
    expect(text).toContain('> The command line of parcel tracker.');
    expect(text).toContain('src/cli.ts:4 — function `main`');
  });
});

describe('exploring', () => {
  it('starts explore agents side by side and answers with their results', async () => {
    const {text, replies} = await main('help me understand this project');
    expect(replies.map((calls) => calls.map((call) => call.name))).toEqual([['Task', 'Task']]);
    expect(text.endsWith(NOTICE)).toBe(true);
    expect(text).toContain('**parcel-tracker** (package.json:2)');
    expect(text).toContain('TypeScript 5 files');
    expect(text).toContain('src/cli.ts:4 — “The command line of parcel tracker.”');
    expect(text).toContain('README.md:3 says: “Parcel tracker tracks parcels.”');
    expect(text).toContain('Run with `npm test` (`vitest run`), package.json:7.');
    expect(text).not.toMatch(/Receipt:|Run: abc/);
    expectTrueCitations(text);
  });

  it('explores by itself as a subagent, in a short report without the notice', async () => {
    const {text, replies} = await main('Explore this codebase', EXPLORE_TOOLS);
    expect(text).not.toContain(NOTICE);
    expect(text).toContain('README.md:7 “holds the tracking rules”');
    expect(replies.flat().length).toBeLessThanOrEqual(16);
    expect(text.length).toBeLessThan(4000);
    expectTrueCitations(text);
  });

  it('shows what it finds for an open question, with the comments in the code', async () => {
    const {text} = await main('how does the retry logic work?');
    expect(text).toContain('src/core/retry.ts:2');
    expect(text).toContain('Tries again after a failure.');
    expectTrueCitations(text);
  });
});

describe('planning and reviewing', () => {
  it('gives a plan to the plan agent, and its steps name files with lines', async () => {
    const {text, replies} = await main('plan a limit for retries of track');
    expect(replies[0]![0]!.input).toMatchObject({agent_type: 'plan'});
    expect(text).toContain('**Steps**\n1. Read ');
    expect(text).toContain('tests/track.test.ts:');
    expect(text).toContain('`npm test` (package.json:7)');
    expectTrueCitations(text);
  });

  it('reviews by simple checks', async () => {
    const {text} = await main('review src/');
    expect(text).toContain('src/core/config.ts:1');
    expect(text).toMatch(/\*\*Errors swallowed\*\* \(1\)\n- src\/core\/retry.ts:5/);
    expect(text).toContain('checks by rule');
    expectTrueCitations(text);
  });

  it('gives a review to a reviewer agent when there is one', async () => {
    const {replies} = await converse('review src/core', {root, tools: MAIN_TOOLS, agents: ['explore', 'reviewer']});
    expect(replies[0]).toMatchObject([{name: 'Task', input: {agent_type: 'reviewer', prompt: 'review src/core'}}]);
  });

  it('plans or reviews, by the role of its agent, when the prompt has no verb', async () => {
    const plan = await converse('limit the retries of track', {
      root,
      tools: EXPLORE_TOOLS,
      system: 'You design a change.',
    });
    expect(plan.text).toContain('**Steps**');
    const review = await converse('src/core', {
      root,
      tools: ['grep', 'read_file'],
      system: 'You are a code review expert.',
    });
    expect(review.text).toContain('src/core/config.ts:1');
    expect(review.text).toContain('this agent has no `symbols` tool');
  });
});
