/**
 * Every prompt and command line that docs/ shows, without a key: in mini-cc's own repository, or in a small project that has
 * the names that they use. What needs a key, a server or another machine stands in `ELSEWHERE`, with the test that tries it.
 */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {execa} from 'execa';
import {beforeAll, expect, it, onTestFinished} from 'vitest';
import {startDriven} from '../drivers/driven.ts';
import {createHome, createUserEnvironment} from '../support/environment.ts';
import {cliPath, root, runCli} from '../support/run-cli.ts';

/** What the answer must have; for a prompt that is refused, what the refusal must say. */
type Expected = RegExp | {readonly refused: RegExp};

/** Prompts about any project, which are asked of mini-cc's own. */
const HERE: Readonly<Record<string, Expected>> = {
  'Task(explore): find all files that use the auth module': /src\/\S+\.ts|No |text search/,
  'Task(plan): design a migration strategy for the database': {refused: /language model|I would only guess/},
  'Task(code): implement the user registration form': {refused: /language model/},
  'Task: refactor auth': {refused: /language model/},
  'list the classes in src': /Not the whole list: \d+ classes in src|^\d+ classes in src/m,
  'list the tests': /test files/,
  'help me understand this project': /\*\*Languages\*\*: TypeScript/,
  'explore src': /src\/core\//,
  'plan a --json option': /src\/\S+:\d+/,
  'plan a new command': /src\/\S+:\d+/,
  'which version is this?': /package\.json:\d+ — `"version"/,
  'how do I run the tests?': /package\.json:\d+/,
  'what licence?': /^- LICENSE/m,
  'which env vars does it read?': /process\.env/,
  'what could break in the last commit?': /The last commit is/,
};

/** Prompts with names of a project, and in that project; where a prompt has a placeholder, with what is put there. */
const SMALL: readonly (readonly [recipe: string, expected: Expected, asked?: string])[] = [
  ['where is parseConfig?', /^src\/a\.ts:4 — function/m],
  ['who calls parseConfig?', /Calls of `parseConfig`: 1, in 1 file/],
  ['what uses X?', /Uses of `parseConfig`: \d+/, 'what uses parseConfig?'],
  ['which files import src/a.ts?', /lib\/b\.ts:1/],
  ['which classes extend Base?', /lib\/b\.ts:3/],
  ['where is parseConfig?', /^src\/a\.ts:4/m],
  ['and where is it tested?', /tests\/a\.test\.ts:\d+/],
  ['who calls it?', /Calls of `parseConfig`/],
  ['show me its code', /return JSON\.parse/],
  ['what is defined in src/a.ts?', /function `parseConfig`/],
  ['how does parseConfig work?', /Reads the settings/],
  ['plan X', /src\/a\.ts:4/, 'plan a second argument of parseConfig'],
  ['review src', /Review of src/],
  ['review my changes', /there is nothing to review/],
  ['run the tests', /tests pass/],
  ['use three agents to explore src, lib and tests', /In lib:[\s\S]*tests\/ \(1 file\): a\.test\.ts/],
  ['… in parallel', /lib\/b\.ts/, 'explore src and lib in parallel'],
  [
    'replace "a" with "b" in src/',
    /Replaced `old words` with `new words` in 1 place/,
    'replace "old words" with "new words" in src/',
  ],
  ['create FILE with "…"', /notes\.txt/, 'create notes.txt with "hello"'],
  ['create an agent that reviews SQL', /\.mini-cc\/agents\/\S+\.json/],
  ['rename A to B', /Renamed `?parseConfig`? to `?readConfig`?/, 'rename parseConfig to readConfig'],
  ['Rename getUser to fetchUser in all files', /Renamed `?getUser`? to `?fetchUser`?/],
];

/** Command lines that need no model, with their exit codes. They run in the small project, one after the other. */
const COMMANDS: Readonly<Record<string, readonly [code: number, printed: RegExp]>> = {
  'mini-cc doctor': [0, /offline/],
  'mini-cc -p "prompt"': [1, /^I cannot do this offline/],
  'git diff | mini-cc -p "review this change"': [0, /Review of src\/a\.ts/],
  'mini-cc -p --no-session-persistence': [0, /./],
  'mini-cc -p --output-format stream-json': [0, /"type":"result"/],
  'mini-cc -p --output-format stream-json --dangerously-skip-permissions': [0, /"type":"result"/],
  'mini-cc --output-format stream-json --verbose --input-format stream-json': [0, /^$/],
  'mini-cc -p --continue "/rewind 1 files"': [0, /./],
  'mini-cc --help': [0, /Usage/i],
  'source <(mini-cc completion bash)': [0, /^$/],
  'mini-cc completion fish > ~/.config/fish/completions/mini-cc.fish': [0, /^$/],
  'mini-cc config schema': [0, /"properties"/],
  'mini-cc config show': [0, /./],
  'mini-cc agents lint': [0, /./],
  'mini-cc review': [0, /no reviewer|Nothing/],
  'mini-cc sessions list': [0, /./],
  'mini-cc runs': [0, /./],
  'mini-cc mcp add files -- npx -y @modelcontextprotocol/server-filesystem .': [0, /files/],
  'mini-cc mcp add --transport http tracker https://example.com/mcp --header "Authorization: Bearer ${TRACKER_TOKEN}"':
    [0, /tracker/],
  'mini-cc mcp add-json notes \'{"type": "http", "url": "https://example.com/notes"}\'': [0, /notes/],
  'mini-cc plugin list': [0, /./],
};

/** Recipes that a machine without a key, a server, a terminal or a second program cannot follow, and where they are tried. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  'mini-cc --model ollama/qwen3-coder': 'a model server: tests/e2e/providers.test.ts',
  'mini-cc -p "where is runAgent defined?"': 'asked of this repository: tests/e2e/readme-recipes.test.ts',
  'mini-cc acp': 'an editor: tests/drivers/acp.test.ts',
  'mini-cc acp --model opus --permission-mode plan': 'an editor and a key: tests/drivers/acp-options.test.ts',
  'mini-cc --trust': 'a driver: tests/drivers/acp.test.ts',
  'mini-cc --continue': 'a terminal: tests/e2e/repl-resume.test.ts',
  'mini-cc --resume': 'a terminal: tests/e2e/repl-resume.test.ts',
  'mini-cc sessions delete': 'the id of a session: tests/e2e/sessions.test.ts',
  'mini-cc agents test': 'a model: tests/evals/agents-test.test.ts',
  'mini-cc agents test --json': 'a model: tests/evals/agents-test.test.ts',
  'mini-cc agents test reviewer --record recordings': 'a model: tests/evals/recordings.test.ts',
  'mini-cc agents test reviewer --replay recordings': 'recordings: tests/evals/recordings.test.ts',
  'mini-cc agents test review-correctness': 'a model: tests/evals/shipped-cases.test.ts',
  'mini-cc agents test review-correctness review-security review-tests review-api':
    'a model: tests/evals/shipped-cases.test.ts',
  'mini-cc mcp list': 'asks the servers of the recipes before it: tests/outside/mcp-more-servers.test.ts',
  'mini-cc mcp serve': 'a client: tests/drivers/mcp-serve.test.ts',
  'mini-cc plugin marketplace add owner/repo': 'the network: tests/extensions/plugins/plugins.test.ts',
  'mini-cc plugin install reviewer@that-marketplace': 'a marketplace: tests/extensions/plugins/plugins.test.ts',
  'mini-cc plugin update': 'a plugin: tests/extensions/plugins/plugins.test.ts',
  'mini-cc plugin disable reviewer': 'a plugin: tests/extensions/plugins/plugins.test.ts',
  'mini-cc plugin remove reviewer': 'a plugin: tests/extensions/plugins/plugins.test.ts',
  'mini-cc -p "/review $PR_TITLE"': 'a model: tests/e2e/review.test.ts',
  'mini-cc workers': 'a queue: tests/outside/workers/presence.test.ts',
  'OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318 mini-cc -p "explain this repository"':
    'a collector: tests/outside/collector.test.ts',
};

/** A form of a command, and no command: it has a word in capitals, or a choice. */
const isForm = (command: string) => /(?<=\s)[A-Z]{2,}\b|[…\][]|\w\|\w/.test(command.replace(/"[^"]*"/g, ''));

interface Recipes {
  readonly prompts: readonly string[];
  readonly commands: readonly string[];
}

function readRecipes(): Recipes {
  const pages = [
    'README.md',
    ...readdirSync(path.join(root, 'docs'), {encoding: 'utf8'}).map((name) => `docs/${name}`),
  ];
  const texts = pages.filter((page) => page.endsWith('.md')).map((page) => readFileSync(path.join(root, page), 'utf8'));
  const lines = texts.flatMap((text) =>
    [...text.matchAll(/^```\w*\n([\s\S]*?)^```/gm)].flatMap(([, block]) => block!.split('\n')),
  );
  const spans = texts.flatMap((text) =>
    [...text.replaceAll(/^```[\s\S]*?^```/gm, '').matchAll(/`([^`\n]+)`/g)].map(([, span]) =>
      span!.replaceAll('\\|', '|'),
    ),
  );
  const [, table] = /^## What to ask\n([\s\S]*?)^It understands/m.exec(
    readFileSync(path.join(root, 'docs/offline-model.md'), 'utf8'),
  )!;
  const asked = [...table!.matchAll(/^\| (`.*?`) \| /gm)].flatMap(([, said]) =>
    [...said!.matchAll(/`([^`]+)`/g)].map(([, prompt]) => prompt!.replaceAll('\\|', '|')),
  );
  const COMMAND = /^(?:\$ )?((?:[A-Z_]+=\S+ )?(?:[\w ]+ \| )?mini-cc(?: .*?)?)(?:\s+#.*)?$/;
  const commands = [
    ...lines.flatMap((line) => COMMAND.exec(line)?.[1] ?? []),
    ...[...spans, ...asked].filter((span) => /^(?:\w[\w ]* \| |source <\()?mini-cc \S/.test(span)),
  ].filter((command) => !isForm(command));
  const prompts = [
    ...lines.flatMap((line) => /^> (.*)/.exec(line)?.[1] ?? []),
    ...asked.filter((one) => !one.includes('mini-cc')),
  ];
  return {prompts: [...new Set(prompts)], commands: [...new Set(commands)]};
}

let recipes: Recipes;
beforeAll(() => {
  recipes = readRecipes();
});

it('knows each prompt and command line of the documentation, and none that is not there', () => {
  const sort = (names: Iterable<string>) => [...new Set(names)].sort();
  expect(sort([...Object.keys(HERE), ...SMALL.map(([recipe]) => recipe)])).toEqual(sort(recipes.prompts));
  expect(sort([...Object.keys(COMMANDS), ...Object.keys(ELSEWHERE)])).toEqual(sort(recipes.commands));
  for (const reason of Object.values(ELSEWHERE)) {
    const file = /: (tests\/\S+)$/.exec(reason)?.[1] ?? 'none';
    expect(existsSync(path.join(root, file)), reason).toBe(true);
  }
});

/** Limit of one answer: the first one about this repository reads all of its files. */
const ANSWER_MS = 300_000;

function check(prompt: string, expected: Expected, failed: boolean, text: string): void {
  const isRefused = 'refused' in expected;
  const wanted = {failed: isRefused, text: expect.stringMatching(isRefused ? expected.refused : expected)};
  expect.soft({prompt, failed, text}).toMatchObject(wanted);
}

it(
  'answers those about any project in its own repository',
  async () => {
    const home = await createHome();
    onTestFinished(home.remove);
    for (const [prompt, expected] of Object.entries(HERE)) {
      const options = {cwd: root, home, timeoutMs: ANSWER_MS};
      const {code, stdout} = await runCli(['-p', prompt, '--offline', '--permission-mode', 'plan'], options);
      check(prompt, expected, code !== 0, stdout);
    }
  },
  ANSWER_MS * 3,
);

async function createProject(): Promise<string> {
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'recipes-')));
  onTestFinished(() => rmSync(folder, {recursive: true, force: true}));
  const files = {
    'package.json': '{"name": "small", "scripts": {"test": "echo tests pass"}}\n',
    'src/a.ts':
      'export class Base {}\n// old words\n/** Reads the settings. */\nexport function parseConfig(text: string) {\n  return JSON.parse(text);\n}\n',
    'src/user.ts': 'export function getUser() {\n  return 1;\n}\n\ngetUser();\n',
    'lib/b.ts':
      "import {Base, parseConfig} from '../src/a.ts';\n\nexport class Derived extends Base {}\n\nexport const read = () => parseConfig('{}');\n",
    'tests/a.test.ts':
      "import {parseConfig} from '../src/a.ts';\n\ntest('it', () => expect(parseConfig).toBeDefined());\n",
  };
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(folder, name)), {recursive: true});
    writeFileSync(path.join(folder, name), text);
  }
  const git = (...args: string[]) =>
    execa('git', ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', ...args], {cwd: folder});
  await git('init', '--quiet');
  await git('add', '--all');
  await git('commit', '--quiet', '--message', 'First');
  return folder;
}

it('answers those with names in a project that has them', async () => {
  const args = ['--offline', '--permission-mode', 'bypassPermissions'];
  const driven = await startDriven(args, {cwd: await createProject()});
  for (const [recipe, expected, asked = recipe] of SMALL) {
    const result = await driven.prompt(asked);
    check(asked, expected, result.is_error, result.result ?? String(result.errors));
  }
}, 600_000);

it('runs the command lines as they are printed', async () => {
  await runCli(['--version']);
  const cwd = await createProject();
  writeFileSync(
    path.join(cwd, 'src/a.ts'),
    `${readFileSync(path.join(cwd, 'src/a.ts'), 'utf8')}export let more: any = 1;\n`,
  );
  const home = await createHome();
  onTestFinished(home.remove);
  const bin = path.join(home.path, 'bin');
  mkdirSync(bin);
  mkdirSync(path.join(home.path, '.config/fish/completions'), {recursive: true});
  writeFileSync(path.join(bin, 'mini-cc'), `#!/bin/sh\nexec '${process.execPath}' '${cliPath}' "$@"\n`, {mode: 0o755});
  const user = createUserEnvironment();
  const env = {...user, HOME: home.path, MINI_CC_HOME: path.join(home.path, '.mini-cc'), PATH: `${bin}:${user.PATH}`};
  for (const [command, [code, printed]] of Object.entries(COMMANDS)) {
    // A prompt that the line leaves open comes on standard input.
    const isOpen = / -p(?: --[\w-]+(?: stream-json)?)*$/.test(command);
    const options = {cwd, env, extendEnv: false, reject: false, input: isOpen ? 'where is parseConfig?' : ''} as const;
    const {stdout, stderr, exitCode} = await execa('bash', ['-c', command], options);
    expect
      .soft({command, exitCode, stderr, stdout})
      .toMatchObject({exitCode: code, stdout: expect.stringMatching(printed)});
  }
}, 600_000);
