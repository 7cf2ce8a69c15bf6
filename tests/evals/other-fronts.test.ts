/** Tests of agents by the library and in a session; the offline model answers, and the cases are those that ship. */
import {expect, onTestFinished, test} from 'vitest';
import {testAgent, UsageError} from '../../src/library/index.ts';
import {startDriven} from '../drivers/driven.ts';
import {createHome} from '../support/environment.ts';
import {emptyFolder} from '../support/workspace.ts';

async function place() {
  const [workspace, home] = [await emptyFolder(), await createHome()];
  onTestFinished(workspace.remove);
  onTestFinished(home.remove);
  return {workspace, home};
}

test('the library gives the object of --json, keeps runs, and asks nobody', async () => {
  const {workspace, home} = await place();
  const config = {cwd: workspace.path, home: home.path};
  const lines: string[] = [];
  const first = await testAgent('explore', {...config, trials: 2, onLine: (line) => lines.push(line)});
  expect(first).toMatchObject({
    agents: [{agent: 'explore', model: 'offline', summary: {cases: 2, runs: 4, passed: 4, k: 2}}],
    runs_made: 4,
    runs_kept: 0,
  });
  expect(lines.filter((line) => /^\d\/4 explore .*, trial \d: passed$/.test(line))).toHaveLength(4);
  expect(await testAgent('explore', {...config, trials: 2})).toMatchObject({runs_made: 0, runs_kept: 4, usd: 0});
  // The cases of code run a command, which needs a yes and trust.
  await expect(testAgent('code', config)).rejects.toThrow(/agents test asks before it runs this/);
  await expect(testAgent('code', {...config, yes: true})).rejects.toThrow(/run only in a trusted directory/);
  await expect(testAgent('explor', config)).rejects.toThrow(/No agent explor \(did you mean explore\?\)/);
  await expect(testAgent('', config)).rejects.toThrow(UsageError);
});

test('/agents test shows progress and the table, and refuses flags that it has not', async () => {
  const {workspace} = await place();
  const session = await startDriven(['--offline'], {cwd: workspace.path});
  const done = await session.prompt('/agents test explore --trials 1');
  expect(done.result).toMatch(/^explore · offline · 2 cases × 1 trial$(?:.|\n)*pass rate 100 %/m);
  expect((await session.prompt('/agents test code')).errors?.join()).toContain('Nothing was run.');
  expect((await session.prompt('/agents test --trial 2')).errors?.join()).toContain('not --trial');
  expect((await session.prompt('/agents test explore --trials x')).errors?.join()).toContain('--trials takes a whole');
  await session.end();
});
