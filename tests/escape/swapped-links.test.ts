/**
 * A program exchanges folders and files of the workspace with links to places that are hidden, without a pause, while
 * tools, undo, worktrees and searches work there. MINI_CC_RACES: tries of each; `npm run soak` makes 2,000.
 */
import {randomUUID} from 'node:crypto';
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import {readFile, realpath, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {afterAll, afterEach, beforeEach, describe, expect, test} from 'vitest';
import {CodeIndexes} from '../../src/code-index/code-indexes.ts';
import {ALL_TOOLS} from '../../src/compose/known-tools.ts';
import type {ToolUse} from '../../src/core/contract/model.ts';
import type {Workspace} from '../../src/core/contract/permission.ts';
import {createPermit} from '../../src/core/permissions/decision.ts';
import {PermissionPolicy} from '../../src/core/permissions/policy.ts';
import {RuleBook} from '../../src/core/permissions/rules/rule-book.ts';
import {runToolCalls} from '../../src/core/tool-calls.ts';
import {createSandbox} from '../../src/sandbox/index.ts';
import {ProcessGroups} from '../../src/sandbox/launch/process-groups.ts';
import {since} from '../../src/storage/checkpoints/changes.ts';
import {CheckpointStore} from '../../src/storage/checkpoints/checkpoint-store.ts';
import {restoreFiles} from '../../src/storage/checkpoints/restore.ts';
import {GitWorktrees} from '../../src/storage/worktrees/git-worktrees.ts';
import {createBaseTools} from '../../src/tools/index.ts';
import {runFixture} from '../core/run-fixture.ts';
import {ScriptedModel} from '../core/scripted-model.ts';
import {git} from '../storage/worktrees/fixture.ts';
import {hasSandbox} from '../support/sandbox.ts';
import {hasSwapper, startSwapper} from '../support/swapper.ts';
import {becomesTrue} from '../support/wait.ts';

const TRIES = Number(process.env.MINI_CC_RACES ?? 12);
const MAX_WAIT_MS = 30_000;
const SECRET = 'hidden-value-81f3';
/** What each name means changes without a pause: what is there, or a link. */
const PAIRS = [
  ['dir', 'dir-link'],
  ['file.ts', 'file-link'],
] as const;

const canRun = hasSwapper() && (await hasSandbox());
const base = realpathSync(mkdtempSync(path.join(tmpdir(), 'mini-cc-swapped-')));
afterAll(() => rmSync(base, {recursive: true, force: true}));

let count = 0;
let stopSwapper: (() => Promise<void>) | undefined;
let world: Awaited<ReturnType<typeof createWorld>>;

/** A workspace, and a folder with keys beside it, to which the links lead. */
async function createWorld(launch: 'plain' | 'workspace-write') {
  count += 1;
  const at = path.join(base, String(count));
  const [root, home, miniCcHome] = ['work', 'home', 'mini-cc'].map((name) => path.join(at, name)) as [
    string,
    string,
    string,
  ];
  const keys = path.join(home, '.ssh');
  for (const folder of [path.join(root, 'dir'), keys, miniCcHome]) mkdirSync(folder, {recursive: true});
  writeFileSync(path.join(root, '.gitignore'), '');
  for (const place of [path.join(root, 'dir/a.ts'), path.join(root, 'file.ts')])
    writeFileSync(place, 'export const plain = 1;\n');
  writeFileSync(path.join(keys, 'a.ts'), `export const ${SECRET.replaceAll('-', '_')} = "${SECRET}";\n`);
  symlinkSync(keys, path.join(root, 'dir-link'));
  symlinkSync(path.join(keys, 'a.ts'), path.join(root, 'file-link'));
  git(root, 'init', '-q');
  git(root, 'add', 'dir', 'file.ts');
  git(root, '-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-q', '-m', 'x');
  // The swapper is no part of the project, and git must not count what it does as work of the user.
  const env = {PATH: '/usr/bin:/bin', HOME: home, LANG: 'C.UTF-8'};
  const workspace: Workspace = {root, extraRoots: [], cwd: root, confinement: 'none', env};
  const sandbox = createSandbox({home, miniCcHome, searchPath: process.env.PATH ?? ''});
  await sandbox.status();
  const before = readKeys(keys);
  const stop = await startSwapper(sandbox, workspace, PAIRS, launch);
  return {root, home, miniCcHome, keys, workspace, sandbox, stop, before};
}

function readKeys(keys: string): Record<string, string> {
  return Object.fromEntries(readdirSync(keys).map((name) => [name, readFileSync(path.join(keys, name), 'utf8')]));
}

/** A session without a person, in the mode acceptEdits: what would ask is refused. */
function createCalls({home, miniCcHome, keys, workspace, sandbox}: typeof world) {
  const indexes = new CodeIndexes({
    root: workspace.root,
    env: workspace.env,
    cacheFolder: path.join(miniCcHome, 'index'),
  });
  const tools = createBaseTools({
    sandbox,
    processes: new ProcessGroups(),
    web: {mayReachPrivate: () => false},
    getIndex: (place) => indexes.for(place),
  });
  const policy = new PermissionPolicy('acceptEdits', new RuleBook([], ALL_TOOLS), {
    ownFolders: () => [],
    secretPaths: [keys],
  });
  const permit = createPermit(
    {
      policy,
      questions: undefined,
      onDenied: () => undefined,
      sandbox: {
        available: async () => true,
        visibleIn: (options) => sandbox.visibleIn(options),
        keepsVariable: () => true,
      },
    },
    'main',
    workspace,
    () => undefined,
  );
  const store = new CheckpointStore({
    sessionFolder: () => path.join(miniCcHome, 'session'),
    root: workspace.root,
    home,
    redact: (label) => label,
    onNone: () => undefined,
  });
  const {run} = runFixture(new ScriptedModel([]), tools, {agentId: 'main', workspace, permit, checkpoints: store});
  const call = async (name: string, input: object): Promise<string> => {
    const use: ToolUse = {type: 'tool_use', id: 'call-1', name, input: {...input}, caller: {type: 'direct'}};
    const [outcome] = await runToolCalls([use], run, new AbortController().signal, new Map());
    return JSON.stringify(outcome?.block.content);
  };
  return {call, store, close: () => indexes.close()};
}

describe.skipIf(!canRun).each(['plain', 'workspace-write'] as const)('links that a %s program exchanges', (launch) => {
  beforeEach(async () => {
    world = await createWorld(launch);
    stopSwapper = world.stop;
  });
  afterEach(async () => {
    await stopSwapper?.();
  });

  /** Tries until it is enough, and counts the tries that reached what the links lead to. */
  async function countEffects(tries: number, attempt: (index: number) => Promise<string>) {
    const effects: string[] = [];
    let keys = JSON.stringify(world.before);
    for (let index = 0; index < tries; index += 1) {
      const text = await attempt(index);
      if (text.includes(SECRET)) effects.push(`shown: ${text.slice(0, 300)}`);
      const now = JSON.stringify(readKeys(world.keys));
      if (now !== keys) effects.push(`written: ${now}`);
      keys = now;
    }
    return effects;
  }

  test('are reached by a reader and a writer that look first and open by path (control)', {
    timeout: 90_000,
  }, async () => {
    const file = path.join(world.root, 'dir/a.ts');
    const naive = (use: () => Promise<string>) => async () => {
      try {
        return (await realpath(file)) === file ? await use() : '';
      } catch {
        // The path led nowhere at this moment.
        return '';
      }
    };
    const read = naive(() => readFile(file, 'utf8'));
    const write = naive(async () => {
      await writeFile(path.join(world.root, `dir/naive-${randomUUID()}`), 'x');
      return '';
    });
    // On a busy machine the program that exchanges may not run at all for a while.
    const reaches = async (attempt: () => Promise<string>) => (await countEffects(200, attempt)).length > 0;
    expect(await becomesTrue(() => reaches(read), MAX_WAIT_MS)).toBe(true);
    expect(await becomesTrue(() => reaches(write), MAX_WAIT_MS)).toBe(true);
  });

  const CALLS: readonly [string, (index: number) => object, works: RegExp][] = [
    ['read_file', (index) => ({path: index % 2 ? 'dir/a.ts' : 'file.ts'}), /plain/],
    ['write_file', (index) => ({path: `dir/new-${index}.ts`, content: 'x\n'}), /^"Created/],
    [
      'edit_file',
      (index) => ({path: index % 2 ? 'dir/a.ts' : 'file.ts', old_string: 'export', new_string: 'export '}),
      /^"Edited/,
    ],
    ['grep', (index) => ({pattern: 'export', mode: 'content', ...(index % 2 && {path: 'dir'})}), /plain/],
    ['glob', () => ({pattern: '**/*.ts'}), /\.ts/],
    ['symbols', (index) => ({path: index % 2 ? 'dir/a.ts' : 'file.ts', mode: 'outline'}), /plain/],
    ['bash', (index) => ({command: index % 2 ? 'cat dir/a.ts' : 'cat file.ts'}), /plain/],
  ];

  test.each(CALLS)('are not followed by %s', {timeout: 300_000 + TRIES * 1000}, async (tool, getInput, works) => {
    const {call, close} = createCalls(world);
    const texts: string[] = [];
    let done = 0;
    const attempt = async () => {
      const input = getInput(texts.length);
      if (tool === 'edit_file') await call('read_file', input);
      const text = await call(tool, input);
      texts.push(text);
      if (works.test(text)) done += 1;
      return text;
    };
    const effects = await countEffects(TRIES, attempt);
    // Calls that all fail would show nothing.
    const hasWorked = async () => {
      if (done === 0) effects.push(...(await countEffects(1, attempt)));
      return done > 0;
    };
    expect(await becomesTrue(hasWorked, MAX_WAIT_MS), texts.slice(-4).join('\n')).toBe(true);
    await close();
    expect(effects).toEqual([]);
  });

  test('are not followed by undo', {timeout: 300_000 + TRIES * 1000}, async () => {
    const {call, store} = createCalls(world);
    const effects = await countEffects(TRIES, async (index) => {
      const begun = since(Date.now());
      await call('write_file', {path: `dir/new-${index}.ts`, content: 'x\n'});
      // What undo would remove or write, if it followed the link.
      writeFileSync(path.join(world.keys, `new-${index}.ts`), 'x\n');
      const before = readKeys(world.keys);
      const options = {by: {agentId: 'undo', label: 'undo'}, command: {undo: 'undo'}};
      const {restored, left} = await restoreFiles(store.current, begun, options);
      const isSame = JSON.stringify(before) === JSON.stringify(readKeys(world.keys));
      rmSync(path.join(world.keys, `new-${index}.ts`));
      return isSame ? JSON.stringify([restored, left]) : SECRET;
    });
    expect(effects).toEqual([]);
  });

  test('are not followed where a worktree begins, nor where it is brought back', {
    timeout: 60_000 + TRIES * 3000,
  }, async () => {
    const {root, miniCcHome} = world;
    const trees = new GitWorktrees({
      root,
      sessionFolder: () => path.join(miniCcHome, 'session'),
      hidden: () => [],
      isProtected: () => false,
      writing: (_owner, _files, work) => work(),
      warn: () => undefined,
    });
    const effects = await countEffects(Math.ceil(TRIES / 4), async (index) => {
      const tree = await trees.open({agentId: `run-${index}`, label: 'run'}, new AbortController().signal);
      const seen = ['dir/a.ts', 'dir-link/a.ts', 'file.ts', 'file-link'].map((name) =>
        readPlain(path.join(tree.top, name)),
      );
      for (const name of ['dir', 'dir-link']) {
        const folder = path.join(tree.top, name);
        if (lstatSync(folder, {throwIfNoEntry: false})?.isDirectory())
          writeFileSync(path.join(folder, `new-${index}.ts`), 'x\n');
      }
      const brought = await tree.bringBack([]);
      tree.discard();
      await trees.settled();
      return JSON.stringify([seen, brought]);
    });
    expect(effects).toEqual([]);
  });
});

/** Reads a file, and nothing through links. */
function readPlain(file: string): string {
  try {
    return realpathSync(file) === file ? readFileSync(file, 'utf8') : '';
  } catch {
    return '';
  }
}
