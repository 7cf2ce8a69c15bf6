/** What the offline model understands of a conversation: its subject, its language, several agents, denied calls. */
import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import type {Anthropic} from '@anthropic-ai/sdk';
import {afterAll, describe, expect, it} from 'vitest';
import {OFFLINE_CANNOT} from '../../../src/offline-model/report.ts';
import {converse} from '../converse.ts';
import {project} from '../project.ts';
import {closeIndexes, EXPLORE_TOOLS, folder, MAIN_TOOLS} from '../simple-tools.ts';

afterAll(closeIndexes);

const root = project();
const ask = async (prompt: string) => (await converse(prompt, {root, tools: MAIN_TOOLS})).text;

describe('the subject of the talk', () => {
  const talk = async (...prompts: readonly string[]) => {
    let before: readonly Anthropic.MessageParam[] = [];
    let text = '';
    for (const prompt of prompts) {
      const conversation = await converse(prompt, {root, tools: MAIN_TOOLS, before});
      before = conversation.messages;
      text = conversation.text;
    }
    return text;
  };

  it.each([
    ['and where is it tested?', 'tests/track.test.ts:3'],
    ['who calls it?', 'src/cli.ts:5'],
    ['show me its code', '7  export function track(id: string): string {'],
    ['und wo wird es getestet?', 'tests/track.test.ts:3'],
    ['qui appelle ça ?', 'src/cli.ts:5'],
    ['谁调用它？', 'src/cli.ts:5'],
    ['кто вызывает его?', 'src/cli.ts:5'],
  ])('is kept: %s', async (prompt, expected) => {
    expect(await talk('where is track defined?', prompt)).toContain(expected);
  });

  it('is kept over several questions about it', async () => {
    expect(await talk('where is track defined?', 'who calls it?', 'and where is it tested?')).toContain(
      'tests/track.test.ts:3',
    );
  });
});

describe('the language of the question', () => {
  it.each([
    ['Wer ruft track auf?', 'Aufrufe von `track`: 3'],
    ['Qui appelle track ?', 'Appels de `track` : 3'],
    ['谁调用 track？', '`track` 的调用：3'],
    ['Кто вызывает track?', 'Вызовы `track`: 3'],
    ['Wo ist parcelGhost definiert?', 'Keine Definition von `parcelGhost`'],
    ['Wie funktioniert track?', 'Aufgerufen von:'],
    ['Explore ce dépôt', '**Points d’entrée**\n- package.json:4'],
    ['erkläre mir dieses Projekt', '**Einstiegspunkte**\n- package.json:4'],
    ['解释一下这个项目', '**入口**\n- package.json:4'],
    ['объясни этот проект', '**Точки входа**\n- package.json:4'],
  ])('is that of the answer: %s', async (prompt, expected) => {
    expect(await ask(prompt)).toContain(expected);
  });
});

describe('how something works', () => {
  it('is shown as the way through the code: who calls it, and what it calls', async () => {
    const text = await ask('how does track work?');
    expect(text).toContain('Called by:\n- src/cli.ts:5 in `main`');
    expect(text).toContain(
      '1. src/core/track.ts:9 `retry` → src/core/retry.ts:2 (function) — “Tries again after a failure.”',
    );
  });

  it('is not told by the definitions inside it, nor by the docstring of the function around it', async () => {
    const at = folder({
      'a.py':
        'def retry(times):\n    """Calls again."""\n    def wrap(fn):\n        return again(fn)\n    return wrap\n',
      'b.py': 'from a import again\n',
      'again.py': '# Tries once more.\ndef again(fn):\n    pass\n',
    });
    const how = async (name: string) => (await converse(`how does ${name} work?`, {root: at, tools: MAIN_TOOLS})).text;
    expect(await how('retry')).toMatch(
      /> Calls again\.[\s\S]*in this order:\n1\. a\.py:4 `again` → again\.py:2.*\n*\(/,
    );
    expect(await how('wrap')).not.toContain('Calls again');
  });

  it('is not explained by one of several things that have a plain word for their name', async () => {
    const files = {
      'docs/cache.md': 'x\n',
      'src/a.ts': 'export const cache = 1;\n',
      'src/b.ts': 'function cache() {}\n',
    };
    const {text} = await converse('how does the cache work?', {root: folder(files), tools: EXPLORE_TOOLS});
    expect(text).toMatch(/^Files that are named so:\n- docs\/cache\.md\n\nBy the words of the question alone/);
  });

  it('is said to be unknown in one paragraph, with what can be asked, when nothing is named so', async () => {
    const text = await ask('how does the quantum teleporter work?');
    expect(text.startsWith(OFFLINE_CANNOT)).toBe(true);
    expect(text).toContain('"give me an overview of this project"');
    expect(text).not.toMatch(/\.ts:\d/);
  });
});

describe('a question whose words are like a name', () => {
  const root = folder({
    'src/tools.ts': 'export interface Tools {\n  sessions(): string[];\n}\n',
    'src/build-failed.ts': '/** A failed build is told here. */\nexport const fail = 1;\n',
    'src/parser.ts': 'export class TreeParser {\n  start() {}\n}\nnew TreeParser();\n',
    'docs/more.md': 'Add a tool to the list in src/tools.ts.\n\nEach session is stored below ~/.app.\n',
  });
  const answers = async (prompt: string) => (await converse(prompt, {root, tools: MAIN_TOOLS})).text;

  it.each([
    ['how do I add a new tool?', 'docs/more.md:1'],
    ['where are sessions stored?', 'docs/more.md:3'],
    ['why does the build fail?', 'src/build-failed.ts:1'],
  ])('is answered by text search, and not by that name: %s', async (prompt, place) => {
    const text = await answers(prompt);
    expect(text).toMatch(/^By a text search of all files/);
    expect(text).toContain(place);
    expect(text).not.toMatch(/interface · |method · |named so/);
  });

  it.each(['which errors does TreeParser throw?', 'what does TreeParser use?', 'does it have a tools file?'])(
    'is not turned round, nor taken for a name: %s',
    async (prompt) => {
      expect(await answers(prompt)).not.toMatch(/^Uses of|interface ·/);
    },
  );
});

describe('several agents', () => {
  const tasks = async (prompt: string) => {
    const {replies} = await converse(prompt, {root, tools: MAIN_TOOLS});
    return (replies[0] ?? []).map(({input}) => `${input.agent_type}: ${input.prompt}`);
  };

  it.each([
    ['Use three agents to explore src, tests and tools', ['explore src', 'explore tests', 'explore tools']],
    ['explore src and tests in parallel', ['explore src', 'explore tests']],
    ['Utilise deux agents pour explorer src et tests', ['explorer src', 'explorer tests']],
    ['Nutze zwei Agenten, um src und tests zu erkunden', ['explore src', 'explore tests']],
    ['用两个代理探索 src 和 tests', ['探索 src', '探索 tests']],
  ])('%s', async (prompt, expected) => {
    expect(await tasks(prompt)).toEqual(expected.map((one) => `explore: ${one}`));
  });

  it('are fewer than asked for, and that is said, when there is less to do', async () => {
    expect(await ask('Use three agents to explore src and tests')).toContain(
      'You asked for 3 agents, and I found 2 tasks',
    );
  });

  it('explore the folder that is named', async () => {
    expect(await tasks('explore src')).toHaveLength(1);
    expect(await ask('explore src')).toContain('In src:');
  });
});

describe('an agent that is asked for', () => {
  it('is drafted and written where the agents of the project are', async () => {
    const at = folder({});
    const {text} = await converse('create an agent that reviews SQL migrations, read-only', {
      root: at,
      tools: MAIN_TOOLS,
    });
    const name = /Created the agent ([a-z-]+)/.exec(text)![1]!;
    const saved = JSON.parse(readFileSync(join(at, `.mini-cc/agents/${name}.json`), 'utf8'));
    expect(saved).toMatchObject({version: 1, name, tools: ['bash', 'read_file', 'grep', 'glob']});
  });
});

describe('a plan', () => {
  it('of a new option names the place of the option parser and of its neighbours', async () => {
    const at = folder({
      'package.json': '{"scripts": {"test": "node --test"}}',
      'src/args.ts':
        "export const table = [\n  {flag: '--verbose', key: 'verbose'},\n  {flag: '--dry-run', key: 'dryRun'},\n];\n",
      'src/git.ts': "run('--all');\nrun('--tags');\nrun('--bare');\n",
      'src/main.ts':
        "import {table} from './args.ts';\nconst options = {dryRun: true};\nif (options.dryRun) table.pop();\n",
    });
    const {text} = await converse('plan a --json option', {root: at, tools: EXPLORE_TOOLS});
    expect(text).toContain('Add the option at src/args.ts:');
    expect(text).toContain('`npm test` (package.json:1)');
  });

  it.each([
    {
      'till/exporters/__init__.py': '',
      'till/exporters/csv.py': 'class CsvExporter:\n    def export(self):\n        pass\n',
      'till/exporters/json.py': 'class JsonExporter:\n    def export(self):\n        pass\n',
      'tests/test_csv.py': 'import till\n',
    },
    {'src/out.py': 'class CsvExporter:\n    pass\n\n\nclass JsonExporter:\n    pass\n'},
  ])('of a new thing names its siblings and their shape (%#)', async (files) => {
    const at = folder(files);
    const {text} = await converse('Plan adding an XML exporter', {root: at, tools: EXPLORE_TOOLS});
    expect(text).toMatch(/class `?CsvExporter.*class `?JsonExporter/s);
    expect(text).not.toMatch(/__init__|none is named/);
  });

  it('is an honest no where no code parses options', async () => {
    const text = await ask('plan a --json flag');
    expect(text).toContain('no code here parses options');
    expect(text).not.toContain('**Steps**');
  });

  it('is an honest no where the goal names nothing', async () => {
    expect(await ask('plan y')).toContain('nothing here is named like it');
  });
});

it('A review names long functions, deep nesting and empty handlers by the syntax tree', async () => {
  const deep = `${'if (a) {\n'.repeat(6)}f();\n${'}\n'.repeat(6)}`;
  const at = folder({'src/a.js': `function big(a, f) {\n${deep}${'f();\n'.repeat(60)}}\ntry { big(); } catch {}\n`});
  const {text} = await converse('review src', {root: at, tools: EXPLORE_TOOLS});
  expect(text).toContain('**Long functions** (1)\n- src/a.js:1 — `big` takes');
  expect(text).toContain('**Deep nesting** (1)\n- src/a.js:1 — `big` nests 6 levels');
  expect(text).toContain('**Errors swallowed** (1)');
});

it('A name in code is not renamed without an index', async () => {
  const at = folder({'a.ts': 'const foo = 1;\n'});
  const {text} = await converse('Rename foo to bar in a.ts', {root: at, tools: ['read_file', 'edit_file']});
  expect(text.startsWith(OFFLINE_CANNOT)).toBe(true);
  expect(text).toContain('no `rename_symbol` tool');
  expect(readFileSync(join(at, 'a.ts'), 'utf8')).toBe('const foo = 1;\n');
});
