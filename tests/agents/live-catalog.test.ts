import {mkdir, rename, rm, utimes, writeFile} from 'node:fs/promises';
import path from 'node:path';
import {expect, onTestFinished, test, vi} from 'vitest';
import {LiveCatalog, type LiveCatalogOptions} from '../../src/agents/live-catalog.ts';
import {agentWorkspace, good, json, markdown, TOOLS} from './fixture.ts';

async function liveWorkspace(change: Partial<LiveCatalogOptions> = {}) {
  const workspace = await agentWorkspace();
  const notices: string[] = [];
  const onNotice = (text: string) => void notices.push(text);
  const {cwd, home, miniCcHome} = workspace.options;
  const live = new LiveCatalog({cwd, home, miniCcHome, toolNames: () => TOOLS, onNotice, ...change});
  onTestFinished(() => live.close());
  const names = () =>
    live
      .list()
      .map(({name}) => name)
      .slice(3);
  return {...workspace, live, names, notices, taken: () => notices.splice(0)};
}

test('an agent that is written, changed and deleted by hand is there, other and gone with the next question', async () => {
  const {live, names, taken, write, project} = await liveWorkspace();
  expect(names()).toEqual([]);
  const file = await write(project, 'reviewer.json', json(good()));
  expect(names()).toEqual(['reviewer']);
  expect(taken()).toEqual(['new agent: reviewer']);
  await writeFile(file, json(good('reviewer', {description: 'Reviews code for races'})));
  expect(live.get('reviewer')?.description).toBe('Reviews code for races');
  expect(taken()).toEqual(['agent reviewer changed: the new definition holds from the next Task on']);
  await rm(file);
  expect(live.get('reviewer')).toBeUndefined();
  expect(taken()).toEqual(['agent reviewer is gone']);
  expect([names(), taken()]).toEqual([[], []]);
});

test('a mode that a project’s agent is given while mini-cc runs counts for nothing, and that is said', async () => {
  const trusts: LiveCatalogOptions['trusts'] = ({value}) => value === 'acceptEdits';
  const {live, names, taken, write, project} = await liveWorkspace({trusts});
  const file = await write(project, 'reviewer.json', json(good('reviewer', {permissionMode: 'acceptEdits'})));
  names();
  taken();
  expect(live.get('reviewer')?.permissionMode).toBe('acceptEdits');
  await writeFile(file, json(good('reviewer', {permissionMode: 'bypassPermissions'})));
  expect(live.get('reviewer')?.permissionMode).toBeUndefined();
  expect(taken().join('\n')).toContain('permissionMode "bypassPermissions" counts for nothing');
});

test('a broken edit keeps the last good definition in use and says so once, with line and column', async () => {
  const {live, names, taken, write, project} = await liveWorkspace();
  const file = await write(project, 'reviewer.json', json(good()));
  names();
  taken();
  await writeFile(file, json(good()).replace('"tools": [', '"tools": bash ['));
  expect(live.get('reviewer')?.tools).toEqual(['bash', 'read_file']);
  expect(live.snapshot().agents.at(-1)).toMatchObject({stale: true, file});
  const [notice, ...more] = taken();
  expect(notice).toBe(
    `agent reviewer changed and is broken, the last good one stays in use: ${file}:4:12: "bash" is no JSON: text stands in double quotes`,
  );
  expect(more).toEqual([]);
  await writeFile(file, json(good()));
  expect(live.snapshot().agents.at(-1)?.stale).toBeUndefined();
  expect(taken()).toEqual(['agent reviewer is in order again']);
});

test('a definition that was never right is named and not used', async () => {
  const {names, taken, write, project} = await liveWorkspace();
  names();
  const file = await write(project, 'reviewer.json', '{');
  expect(names()).toEqual([]);
  expect(taken()).toEqual([`an agent is broken and cannot be used: ${file}:1:2: a closing } is missing`]);
});

test('warnings of a new agent are part of its notice', async () => {
  const {names, taken, write, user} = await liveWorkspace();
  names();
  const file = await write(user, 'reviewer.json', json(good('reviewer', {colour: 'red', tools: ['bash', 'reed']})));
  names();
  expect(taken()).toEqual([
    `new agent: reviewer; warning: ${file}:9:3: unknown key "colour" is ignored (did you mean color?) and 1 more`,
  ]);
});

test('when the file on top goes, the one below it is used, and that is said', async () => {
  const {live, names, taken, write, project, claudeUser} = await liveWorkspace();
  const top = await write(project, 'reviewer.json', json(good()));
  const below = await write(claudeUser, 'reviewer.md', markdown('description: Reviews pull requests of the team'));
  names();
  await rm(top);
  expect(live.get('reviewer')?.tools).toBe('*');
  expect(taken()).toEqual([`agent reviewer is now that of ${below}`]);
});

test('an edit of the same size at the same time is seen', async () => {
  const {live, write, project} = await liveWorkspace();
  const seen: (number | undefined)[] = [];
  for (let turns = 1; turns <= 9; turns++) {
    await write(project, 'reviewer.json', json(good('reviewer', {maxTurns: turns})));
    seen.push(live.get('reviewer')?.maxTurns);
  }
  expect(seen).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
});

test('an edit that keeps size and time is seen by its other marks', async () => {
  const {live, write, project} = await liveWorkspace();
  const past = new Date('2020-01-01');
  const file = await write(project, 'reviewer.json', json(good('reviewer', {maxTurns: 1})));
  await utimes(file, past, past);
  expect(live.get('reviewer')?.maxTurns).toBe(1);
  await writeFile(`${file}.new`, json(good('reviewer', {maxTurns: 2})));
  await utimes(`${file}.new`, past, past);
  await rename(`${file}.new`, file);
  expect(live.get('reviewer')?.maxTurns).toBe(2);
});

test('nothing is said about the agents that were there at the start', async () => {
  const {names, taken, write, project} = await liveWorkspace();
  await write(project, 'reviewer.json', json(good()));
  await write(project, 'broken.json', '{');
  names();
  expect(taken()).toEqual([]);
});

test('other tools change what agents have, without a notice', async () => {
  let tools = ['read_file'];
  const {live, taken, write, project} = await liveWorkspace({toolNames: () => tools});
  await write(project, 'reviewer.json', json(good()));
  expect(live.get('reviewer')?.tools).toEqual(['read_file']);
  tools = TOOLS;
  expect(live.get('reviewer')?.tools).toEqual(['bash', 'read_file']);
  expect(taken()).toEqual([]);
});

test('as long as nothing changed the same object is given, and fifty files cost no two milliseconds', async () => {
  const {live, write, project} = await liveWorkspace();
  const past = new Date('2020-01-01');
  for (let index = 0; index < 50; index++) {
    await utimes(await write(project, `agent-${index}.json`, json(good(`agent-${index}`))), past, past);
  }
  const first = live.snapshot();
  expect(first.agents).toHaveLength(53);
  const times = Array.from({length: 20}, () => {
    const started = performance.now();
    expect(live.snapshot()).toBe(first);
    return performance.now() - started;
  });
  // The fastest of twenty: what it costs, not what else the machine does meanwhile.
  expect(Math.min(...times)).toBeLessThan(2);
});

test('a listener that asks the catalog finds the change in place', async () => {
  const found: (string | undefined)[] = [];
  const {live, names, write, project} = await liveWorkspace({
    onNotice: () => void found.push(live.get('reviewer')?.name),
  });
  names();
  await write(project, 'reviewer.json', json(good()));
  names();
  expect(found).toEqual(['reviewer']);
});

test('watching gives notices without a question, also for a folder that is made later and made anew', async () => {
  const {live, taken, notices, write, project, options} = await liveWorkspace();
  await mkdir(options.cwd, {recursive: true});
  live.watch();
  await write(project, 'reviewer.json', json(good()));
  await vi.waitFor(() => expect(notices).toContain('new agent: reviewer'), {timeout: 5000});
  taken();
  await rm(path.join(options.cwd, '.mini-cc'), {recursive: true});
  await vi.waitFor(() => expect(notices).toContain('agent reviewer is gone'), {timeout: 5000});
  taken();
  await write(project, 'tester.json', json(good('tester')));
  await vi.waitFor(() => expect(notices).toContain('new agent: tester'), {timeout: 5000});
  live.close();
  await write(project, 'third.json', json(good('third')));
  expect(notices).not.toContain('new agent: third');
  expect(live.get('third')).toBeDefined();
});
