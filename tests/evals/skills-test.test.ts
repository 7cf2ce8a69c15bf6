/** `mini-cc skills test` of the built program, with the scripted server as the model. */
import {existsSync} from 'node:fs';
import path from 'node:path';
import {expect, onTestFinished, test} from 'vitest';
import {createHome} from '../support/environment.ts';
import {callTool, say, startMessagesServer} from '../support/messages-server.ts';
import {runCli} from '../support/run-cli.ts';
import {emptyFolder} from '../support/workspace.ts';

test('a skill is tested with and without its text, by cases of its folder, which no trial sees', async () => {
  const workspace = await emptyFolder();
  onTestFinished(workspace.remove);
  const home = await createHome();
  onTestFinished(home.remove);
  const skill = '.mini-cc/skills/greeting';
  await workspace.write(`${skill}/SKILL.md`, '---\ndescription: How we greet.\n---\nWe say AHOY.\n');
  await workspace.write(`${skill}/evals/start.txt`, 'hello');
  const evals = [
    {
      id: 1,
      prompt: 'Greet.',
      files: [{from: 'evals/start.txt', to: 'start.txt'}],
      checks: [{answer: {contains: 'AHOY'}}, {file: {path: `${skill}/evals/evals.json`, exists: false}}],
      expectations: ['It is friendly'],
    },
    {id: 2, prompt: 'Greet again.', checks: [{answer: {contains: 'AHOY'}}]},
  ];
  await workspace.write(`${skill}/evals/evals.json`, JSON.stringify({skill_name: 'greeting', evals}));
  const server = await startMessagesServer((body) => {
    if (body.messages.length === 1) return callTool('glob', {pattern: '**/*'});
    return say(JSON.stringify(body.system).includes('We say AHOY') ? 'AHOY' : 'hello');
  });
  onTestFinished(server.close);
  const at = {cwd: workspace.path, home, server};
  const out = path.join(home.path, 'out');
  const run = await runCli(['skills', 'test', 'greeting', '--yes', '--json', '--out', out], at);
  const {skills, runs_made: made} = JSON.parse(run.stdout);
  expect(skills[0]).toMatchObject({
    agent: 'greeting',
    summary: {cases: 2, passed: 2},
    baseline: {name: 'none', summary: {passed: 0}, verdict: 'better'},
  });
  expect([run.code, made]).toEqual([0, 4]);
  for (const {body} of server.requests) {
    expect(body.tools?.map(({name}) => name)).not.toContain('Skill');
    expect(JSON.stringify(body.messages)).not.toContain('evals.json');
  }
  expect(existsSync(path.join(out, 'greeting/eval-1/without_skill/trial-1/grading.json'))).toBe(true);
  expect(existsSync(path.join(out, 'greeting/eval-1/with_skill/trial-1/timing.json'))).toBe(true);
  const changed = await runCli(['skills', 'test', '--yes', '--json', '--baseline', 'v1'], at);
  expect([changed.code, changed.stderr]).toEqual([2, expect.stringContaining('--baseline takes none alone')]);
  const wrong = await runCli(['skills', 'test', 'greetin'], at);
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('No skill greetin (did you mean greeting?)')]);
  expect((await runCli(['skills', 'list'], at)).stderr).toContain('mini-cc skills test [NAME…]');
});

test('agents lint says what is wrong with the cases of a skill', async () => {
  const workspace = await emptyFolder();
  onTestFinished(workspace.remove);
  const skill = '.mini-cc/skills/greeting';
  await workspace.write(`${skill}/SKILL.md`, '---\ndescription: How we greet.\n---\nWe say AHOY.\n');
  await workspace.write(
    `${skill}/evals/evals.json`,
    '{"evals": [{"id": 1, "prompt": "x", "checks": [{"anwser": {}}]}]}',
  );
  const {code, stdout} = await runCli(['agents', 'lint'], {cwd: workspace.path});
  expect([code, stdout]).toEqual([
    2,
    expect.stringContaining(`${skill}/evals/evals.json:1:49: unknown check "anwser"`),
  ]);
});

test('agents lint reads the agents and skills of plugins, and the cases of their skills', async () => {
  const [workspace, home, plugin] = [await emptyFolder(), await createHome(), await emptyFolder()];
  for (const {remove} of [workspace, home, plugin]) onTestFinished(remove);
  await plugin.write('.claude-plugin/plugin.json', '{"name": "helpful"}');
  await plugin.write('agents/porter.md', '---\nname: porter\ndescription: helps\n---\nYou port.\n');
  await plugin.write('skills/greeting/SKILL.md', '---\ndescription: How we greet.\n---\nWe say AHOY.\n');
  await plugin.write('skills/greeting/evals/evals.json', '{"evals": [{"id": 1, "promt": "x"}]}');
  const options = {cwd: workspace.path, home};
  const installed = await runCli(['plugin', 'install', plugin.path, '--yes'], options);
  expect(installed.code, installed.stderr).toBe(0);
  const {code, stdout} = await runCli(['agents', 'lint'], options);
  expect([code, stdout]).toEqual([2, expect.stringContaining('skills/greeting/evals/evals.json:1:')]);
  expect(stdout).toMatch(/helpful:porter.*\n.*description is too vague/);
});
