/** `mini-cc agents test --from RUN` of the built program: a run that happened becomes a case. */
import {existsSync, readFileSync} from 'node:fs';
import path from 'node:path';
import {expect, onTestFinished, test} from 'vitest';
import type {AgentTestResult} from '../../src/evals/result-types.ts';
import {createHome} from '../support/environment.ts';
import {callTool, callTools, type MessagesBody, say, startMessagesServer} from '../support/messages-server.ts';
import {runCli} from '../support/run-cli.ts';
import {typescriptProject} from '../support/workspace.ts';

const FIXER = {
  name: 'fixer',
  description: 'Changes greetings.',
  tools: ['read_file', 'write_file'],
  prompt: 'You are a fixer.',
};

/** A model whose agent works only with the second definition. The main agent dispatches it once. */
function answer(body: MessagesBody) {
  const system = JSON.stringify(body.system);
  const turn = body.messages.filter(({role}) => role === 'assistant').length;
  if (!system.includes('You are a fixer')) {
    const task = {subagent_type: 'fixer', description: 'Fix the greeting', prompt: 'Make src/greet.ts polite.'};
    return turn === 0 ? callTools([{name: 'Task', input: task}]) : say('The agent says that it is done.');
  }
  if (!system.includes('with write_file')) return say('I made it polite, and ran the tests.');
  const calls = [
    callTool('read_file', {path: 'src/greet.ts'}),
    callTool('write_file', {path: 'src/greet.ts', content: 'polite\n'}),
  ];
  return calls[turn] ?? say('It is polite now.');
}

async function createProject() {
  const workspace = await typescriptProject();
  onTestFinished(workspace.remove);
  const home = await createHome();
  onTestFinished(home.remove);
  const server = await startMessagesServer(answer);
  onTestFinished(server.close);
  const run = (...args: string[]) => runCli(args, {cwd: workspace.path, home, server});
  const define = (prompt: string) => workspace.write('.mini-cc/agents/fixer.json', JSON.stringify({...FIXER, prompt}));
  const read = (name: string) => readFileSync(path.join(workspace.path, name), 'utf8');
  return {workspace, run, define, read};
}

test('a failure becomes a case, which fails, and passes with a better definition; the baseline says what it can tell', async () => {
  const {workspace, run, define, read} = await createProject();
  await define('You are a fixer.');
  await workspace.git('add', '-A');
  await workspace.git('commit', '-qm', 'An agent');
  const commit = (await workspace.git('rev-parse', 'HEAD')).trim();
  await workspace.write('README.md', '# As it was when the run began\n');
  expect((await run('-p', 'make the greeting polite')).code).toBe(0);
  // What happens afterwards is no part of the case.
  await workspace.write('src/greet.ts', 'fixed by hand\n');
  await workspace.git('commit', '-qam', 'Fixed by hand');

  const shown = await run('agents', 'test', '--from', '1');
  expect([shown.code, shown.stderr]).toEqual([2, expect.stringContaining('--yes')]);
  expect(shown.stdout).toContain('Make src/greet.ts polite.');
  expect(existsSync(path.join(workspace.path, '.mini-cc/evals'))).toBe(false);

  const added = await run('agents', 'test', '--from', '1', '--yes');
  expect([added.code, added.stderr]).toEqual([0, expect.stringContaining('added to .mini-cc/evals/fixer.json')]);
  const {agent_name: name, evals} = JSON.parse(read('.mini-cc/evals/fixer.json'));
  expect(name).toBe('fixer');
  expect(evals).toMatchObject([{id: 'fix-the-greeting', prompt: 'Make src/greet.ts polite.', commit}]);
  const patch = read(`.mini-cc/evals/${evals[0].patch}`);
  expect(patch).toContain('+# As it was when the run began');
  expect(patch).not.toContain('by hand');

  const failed = await run('agents', 'test', 'fixer', '--yes', '--json');
  const [check] = (JSON.parse(failed.stdout) as AgentTestResult).agents[0]!.cases[0]!.runs[0]!.checks.filter(
    ({passed}) => !passed,
  );
  expect([failed.code, check]).toMatchObject([1, {check: 'reads', seen: 'read no file', where: 'the receipt'}]);
  await define('You are a fixer. Change files with write_file.');
  const better = await run('agents', 'test', 'fixer', '--yes', '--json', '--baseline', 'HEAD');
  const {summary, baseline} = (JSON.parse(better.stdout) as AgentTestResult).agents[0]!;
  expect([better.code, summary.passed, baseline!.summary.passed]).toEqual([0, 1, 0]);
  expect(baseline!.verdict).toMatch(/^better$|^no difference can be seen with 1 case\b/);
});

test('what agents changed since the run began is taken back, and a second case gets its own id', async () => {
  const {workspace, run, define, read} = await createProject();
  await define('You are a fixer. Change files with write_file.');
  await workspace.write(
    '.mini-cc/evals/fixer.json',
    '{\n  // Kept.\n  "evals": [{"id": "fix-the-greeting", "prompt": "x"}]\n}\n',
  );
  await workspace.git('add', '-A');
  await workspace.git('commit', '-qm', 'An agent');
  await workspace.write('src/greet.ts', 'not committed\n');
  expect((await run('-p', 'make it polite', '--permission-mode', 'acceptEdits')).code).toBe(0);
  expect(read('src/greet.ts')).toBe('polite\n');
  expect((await run('agents', 'test', 'fixer', '--from', '1', '--yes')).code).toBe(0);
  const text = read('.mini-cc/evals/fixer.json');
  expect(text).toContain('// Kept.');
  expect(text).toContain('"id": "fix-the-greeting-2"');
  expect(text).toMatch(/"changed": \[\s*"src\/greet.ts"\s*\]/);
  const patch = read('.mini-cc/evals/fixer-fix-the-greeting-2.patch');
  expect(patch).toContain('+not committed');
  expect(patch).not.toContain('polite');
  const passed = await run('agents', 'test', 'fixer', '--case', 'fix-the-greeting-2', '--yes');
  expect(passed.code).toBe(0);
  for (const [args, problem] of [
    [['--from', '7'], 'no run 7 in this directory: it has 1'],
    [['explore', '--from', '1'], 'is one of fixer, and not of explore'],
  ] as const) {
    const wrong = await run('agents', 'test', ...args, '--yes');
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining(problem)]);
  }
});
