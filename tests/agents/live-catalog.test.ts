import {mkdir, rename, rm, symlink, utimes, writeFile} from 'node:fs/promises';
import path from 'node:path';
import {expect, onTestFinished, test, vi} from 'vitest';
import {LiveCatalog, type LiveCatalogOptions} from '../../src/agents/live-catalog.ts';
import {stopTimers} from '../support/fake-time.ts';
import {agentWorkspace, good, json, LISTABLE, markdown, TOOLS} from './fixture.ts';

async function liveWorkspace(change: Partial<LiveCatalogOptions> = {}) {
  const workspace = await agentWorkspace();
  const notices: string[] = [];
  const onNotice: LiveCatalogOptions['onNotice'] = (text, level) =>
    void notices.push(level === 'warning' ? `warning: ${text}` : text);
  const {cwd, home, miniCcHome} = workspace.options;
  const live = new LiveCatalog({cwd, home, miniCcHome, listable: () => LISTABLE, onNotice, ...change});
  onTestFinished(() => live.close());
  const names = () =>
    live
      .list()
      .map(({name}) => name)
      .slice(3);
  return {...workspace, live, names, notices, takeNotices: () => notices.splice(0)};
}

test('the next call sees an agent that was created, changed or deleted by hand', async () => {
  const {live, names, takeNotices, write, project} = await liveWorkspace();
  expect(names()).toEqual([]);
  const file = await write(project, 'reviewer.json', json(good()));
  expect(names()).toEqual(['reviewer']);
  expect(takeNotices()).toEqual(['New agent reviewer.']);
  await writeFile(file, json(good('reviewer', {description: 'Reviews code for races'})));
  expect(live.get('reviewer')?.description).toBe('Reviews code for races');
  expect(takeNotices()).toEqual(['Agent reviewer changed. The next Task uses the new definition.']);
  await rm(file);
  expect(live.get('reviewer')).toBeUndefined();
  expect(takeNotices()).toEqual(['Deleted agent reviewer.']);
  expect([names(), takeNotices()]).toEqual([[], []]);
});

test('a permission mode that is added to an agent of an untrusted project is ignored, with a notice', async () => {
  const trusts: LiveCatalogOptions['trusts'] = ({value}) => value === 'acceptEdits';
  const {live, names, takeNotices, write, project} = await liveWorkspace({trusts});
  const file = await write(project, 'reviewer.json', json(good('reviewer', {permissionMode: 'acceptEdits'})));
  names();
  takeNotices();
  expect(live.get('reviewer')?.permissionMode).toBe('acceptEdits');
  await writeFile(file, json(good('reviewer', {permissionMode: 'bypassPermissions'})));
  expect(live.get('reviewer')?.permissionMode).toBeUndefined();
  expect(takeNotices().join('\n')).toContain('permissionMode "bypassPermissions" is ignored');
});

test('after a broken edit the last valid definition stays in use, and one notice gives line and column', async () => {
  const {live, names, takeNotices, write, project} = await liveWorkspace();
  const file = await write(project, 'reviewer.json', json(good()));
  names();
  takeNotices();
  await writeFile(file, json(good()).replace('"tools": [', '"tools": bash ['));
  expect(live.get('reviewer')?.tools).toEqual(['bash', 'read_file']);
  expect(live.snapshot().agents.at(-1)).toMatchObject({stale: true, file});
  const [notice, ...more] = takeNotices();
  expect(notice).toBe(
    `warning: Agent reviewer is broken; its last valid definition stays in use: ${file}:4:12: "bash" is not JSON: text needs double quotes`,
  );
  expect(more).toEqual([]);
  await writeFile(file, json(good()));
  expect(live.snapshot().agents.at(-1)?.stale).toBeUndefined();
  expect(takeNotices()).toEqual(['Agent reviewer is valid again.']);
});

test('a definition that was never valid is reported and not used', async () => {
  const {names, takeNotices, write, project} = await liveWorkspace();
  names();
  const file = await write(project, 'reviewer.json', '{');
  expect(names()).toEqual([]);
  expect(takeNotices()).toEqual([
    `warning: This agent is broken and cannot be used: ${file}:1:2: a closing } is missing`,
  ]);
});

test('the notice about a new agent includes its warnings', async () => {
  const {names, takeNotices, write, user} = await liveWorkspace();
  names();
  const file = await write(user, 'reviewer.json', json(good('reviewer', {colour: 'red', tools: ['bash', 'reed']})));
  names();
  expect(takeNotices()).toEqual([
    `New agent reviewer. Warning: ${file}:9:3: unknown key "colour" is ignored (did you mean color?) and 1 more`,
  ]);
});

test('when a file is deleted, the agent that it hid is used, with a notice', async () => {
  const {live, names, takeNotices, write, project, claudeUser} = await liveWorkspace();
  const top = await write(project, 'reviewer.json', json(good()));
  const below = await write(claudeUser, 'reviewer.md', markdown('description: Reviews pull requests of the team'));
  names();
  await rm(top);
  expect(live.get('reviewer')?.tools).toBe('*');
  expect(takeNotices()).toEqual([`Agent reviewer now comes from ${below}.`]);
});

test('an edit that changes neither size nor time of the file is seen', async () => {
  const {live, write, project} = await liveWorkspace();
  const seen: (number | undefined)[] = [];
  for (let turns = 1; turns <= 9; turns++) {
    await write(project, 'reviewer.json', json(good('reviewer', {maxTurns: turns})));
    seen.push(live.get('reviewer')?.maxTurns);
  }
  expect(seen).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
});

test('a file that was replaced by one of the same size and time is seen', async () => {
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

test('there is no notice about agents that exist at the start', async () => {
  const {names, takeNotices, write, project} = await liveWorkspace();
  await write(project, 'reviewer.json', json(good()));
  await write(project, 'broken.json', '{');
  names();
  expect(takeNotices()).toEqual([]);
});

test('when the set of tools changes, agents get other tools without a notice', async () => {
  let names: readonly string[] = ['read_file'];
  const {live, takeNotices, write, project} = await liveWorkspace({listable: () => ({known: LISTABLE.known, names})});
  await write(project, 'reviewer.json', json(good()));
  expect(live.get('reviewer')?.tools).toEqual(['read_file']);
  names = TOOLS;
  expect(live.get('reviewer')?.tools).toEqual(['bash', 'read_file']);
  expect(takeNotices()).toEqual([]);
});

test('while nothing changes, each call returns the same object, in under 10 ms for fifty files', async () => {
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
  // The fastest of twenty calls, so that other work of this machine does not matter.
  expect(Math.min(...times)).toBeLessThan(10);
});

test('a listener that reads the catalogue sees the change that it is notified about', async () => {
  const found: (string | undefined)[] = [];
  const {live, names, write, project} = await liveWorkspace({
    onNotice: () => void found.push(live.get('reviewer')?.name),
  });
  names();
  await write(project, 'reviewer.json', json(good()));
  names();
  expect(found).toEqual(['reviewer']);
});

test('while watching, notices come without a call, also for folders that are created later or created again', async () => {
  const {live, takeNotices, notices, write, project, options} = await liveWorkspace();
  await mkdir(options.cwd, {recursive: true});
  live.watch();
  await write(project, 'reviewer.json', json(good()));
  await vi.waitFor(() => expect(notices).toContain('New agent reviewer.'), {timeout: 20_000});
  takeNotices();
  await rm(path.join(options.cwd, '.mini-cc'), {recursive: true});
  await vi.waitFor(() => expect(notices).toContain('Deleted agent reviewer.'), {timeout: 20_000});
  takeNotices();
  await write(project, 'tester.json', json(good('tester')));
  await vi.waitFor(() => expect(notices).toContain('New agent tester.'), {timeout: 20_000});
  live.close();
  await write(project, 'third.json', json(good('third')));
  expect(notices).not.toContain('New agent third.');
  expect(live.get('third')).toBeDefined();
});

test('while watching, a file that is emptied before it is written is told about once', async () => {
  const {live, notices, takeNotices, write, project, options} = await liveWorkspace();
  const file = await write(project, 'reviewer.json', json(good()));
  live.watch();
  takeNotices();
  // An edit shows that the watch has begun.
  await writeFile(file, json(good('reviewer', {description: 'Reviews code for races'})));
  await vi.waitFor(() => expect(notices.at(-1)).toMatch(/^Agent reviewer changed/), {timeout: 20_000});
  takeNotices();
  stopTimers();
  await writeFile(file, '');
  for (let other = 0; other < 20; other++) await write(options.home, 'other.txt', String(other));
  await vi.advanceTimersByTimeAsync(100);
  await writeFile(file, json(good('reviewer', {description: 'Reviews code for leaks'})));
  for (let other = 0; other < 20; other++) await write(options.home, 'other.txt', String(other));
  await vi.advanceTimersByTimeAsync(1_000);
  live.snapshot();
  expect(notices).toEqual(['Agent reviewer changed. The next Task uses the new definition.']);
});

test('while watching, changes are told that leave the watched folder itself alone', async () => {
  const {live, notices, takeNotices, write, project, claudeUser, options} = await liveWorkspace();
  await write(project, 'reviewer.json', json(good()));
  const head = 'name: tester\ndescription: Tests what changed';
  const target = await write(path.join(options.home, 'dotfiles'), 'tester.md', markdown(head));
  await mkdir(claudeUser, {recursive: true});
  await symlink(target, path.join(claudeUser, 'tester.md'));
  live.watch();
  takeNotices();
  const isTold = (notice: string | RegExp) =>
    vi.waitFor(() => expect(notices.join('\n')).toMatch(notice), {timeout: 20_000});
  // The file that a link leads to.
  await writeFile(target, markdown(head, 'Run all tests, then say which of them failed, with path and line.'));
  await isTold('Agent tester changed.');
  // A folder that is made again at once, and may get the number of the removed one.
  await rm(project, {recursive: true});
  await write(project, 'second.json', json(good('second')));
  await isTold('New agent second.');
  await write(project, 'third.json', json(good('third')));
  await isTold('New agent third.');
  // A folder above.
  await rename(path.dirname(project), path.join(options.cwd, 'elsewhere'));
  await isTold('Deleted agent third.');
});
