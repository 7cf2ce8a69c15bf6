/** Tests of agents by the built library and in a session; the offline model answers, and the cases are those that ship. */
import {execFile} from 'node:child_process';
import path from 'node:path';
import {promisify} from 'node:util';
import {expect, onTestFinished, test} from 'vitest';
import {startDriven} from '../drivers/driven.ts';
import {createHome, createUserEnvironment} from '../support/environment.ts';
import {buildOnce, root} from '../support/run-cli.ts';
import {PATIENCE_MS} from '../support/wait.ts';
import {emptyFolder} from '../support/workspace.ts';

async function place() {
  const [workspace, home] = [await emptyFolder(), await createHome()];
  onTestFinished(workspace.remove);
  onTestFinished(home.remove);
  return {workspace, home};
}

const PROGRAM = `
import {testAgent, UsageError} from ${JSON.stringify(path.join(root, 'dist', 'index.js'))};
const lines = [];
const first = await testAgent('explore', {trials: 2, onLine: (line) => lines.push(line)});
const second = await testAgent('explore', {trials: 2});
const errors = [];
for (const [name, config] of [['code'], ['code', {yes: true}], ['explor'], [''], ['code', {model: 'sonnet', yes: true}]]) {
  await testAgent(name, config).catch((error) => errors.push([error instanceof UsageError, error.message]));
}
console.log(JSON.stringify({lines, first, second, errors}));`;

test('the library gives the object of --json, keeps runs, and asks nobody', async () => {
  const {workspace, home} = await place();
  await buildOnce();
  const env = {...createUserEnvironment(), ...home.env, ANTHROPIC_API_KEY: 'unread'} as NodeJS.ProcessEnv;
  const options = {cwd: workspace.path, env, timeout: 4 * PATIENCE_MS};
  const program = await workspace.write('program.mjs', PROGRAM);
  const {stdout} = await promisify(execFile)(process.execPath, [program], options);
  const {lines, first, second, errors} = JSON.parse(stdout) as Record<string, readonly unknown[]>;
  expect(first).toMatchObject({
    agents: [{agent: 'explore', model: 'offline', summary: {cases: 2, runs: 4, passed: 4, k: 2}}],
    runs_made: 4,
    runs_kept: 0,
  });
  expect(lines!.filter((line) => /^\d\/4 explore .*, trial \d: passed$/.test(String(line)))).toHaveLength(4);
  expect(second).toMatchObject({runs_made: 0, runs_kept: 4, usd: 0});
  // The cases of code run a command, which needs a yes and trust.
  expect(errors).toEqual([
    [true, expect.stringContaining('agents test asks before it runs this')],
    [true, expect.stringContaining('run only in a trusted directory')],
    [true, expect.stringContaining('No agent explor (did you mean explore?)')],
    [true, expect.any(String)],
    [true, expect.stringContaining('the model sonnet needs a key: pass it as apiKey')],
  ]);
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
