/** Assertions graded by `mini-cc agents test --judge`. The scripted server plays the agent and the judge. */
import {expect, onTestFinished, test} from 'vitest';
import type {AgentTestResult} from '../../src/evals/result-types.ts';
import {createHome} from '../support/environment.ts';
import {callTool, type MessagesBody, type Reply, say, startMessagesServer} from '../support/messages-server.ts';
import {runCli} from '../support/run-cli.ts';
import {typescriptProject} from '../support/workspace.ts';

const JUDGE = 'claude-opus-4-5';
const AGENT = {
  name: 'fixer',
  description: 'Fixes.',
  tools: ['write_file'],
  prompt: 'SECRET-DEFINITION',
  model: 'claude-haiku-4-5',
};

async function createProject() {
  const [workspace, home] = [await typescriptProject(), await createHome()];
  onTestFinished(workspace.remove);
  onTestFinished(home.remove);
  const cases = [
    {
      id: 'a',
      prompt: 'Write NEW.md.',
      expected_output: 'a file about wind',
      checks: [{answer: {contains: 'wrote'}}],
      assertions: ['Names the file', 'Is about wind', 'Says why', 'Is short', 'Is a poem', 'Is forgotten'],
    },
  ];
  await workspace.write('.mini-cc/agents/fixer.json', JSON.stringify(AGENT));
  await workspace.write('.mini-cc/evals/fixer.json', JSON.stringify({evals: cases}));
  return {workspace, home};
}

const MARKS = [
  {assertion: 1, passed: true, quote: 'I wrote  NEW.md'},
  {assertion: 2, passed: true, quote: 'the wind blows'},
  {assertion: 3, passed: true, quote: 'because nobody said so'},
  {assertion: 4, passed: true, quote: 'NEW.md'},
  {assertion: 5, passed: false, quote: 'the wind blows'},
];

function isQuestion({model}: MessagesBody): boolean {
  return model === JUDGE;
}

function play(answer: string) {
  return (body: MessagesBody): Reply => {
    if (isQuestion(body)) return say(answer);
    const turn = body.messages.filter(({role}) => role === 'assistant').length;
    return turn === 0
      ? callTool('write_file', {path: 'NEW.md', content: 'And\nthe wind\nblows.\n'})
      : say('I wrote NEW.md.');
  };
}

async function run(project: Awaited<ReturnType<typeof createProject>>, args: readonly string[], answer: string) {
  const server = await startMessagesServer(play(answer));
  try {
    const options = {cwd: project.workspace.path, home: project.home, server};
    const ended = await runCli(['agents', 'test', 'fixer', ...args], options);
    const bodies = server.requests.map(({body}) => body as MessagesBody);
    return {...ended, questions: bodies.filter(isQuestion), others: bodies.filter((body) => !isQuestion(body))};
  } finally {
    await server.close();
  }
}

test('a judge is asked once a run, believed only with a quote that is there, and never counts in the rate', async () => {
  const project = await createProject();
  const args = ['--judge', JUDGE, '--trials', '2', '--yes', '--json'];
  const first = await run(project, args, JSON.stringify({marks: MARKS}));
  expect(first.stderr).toMatch(/2 runs on claude-haiku-4-5, 2 to grade by claude-opus-4-5, at most \$/);
  expect([first.code, first.questions.length]).toEqual([0, 2]);
  const asked = JSON.stringify(first.questions[0]);
  for (const part of ['Write NEW.md.', 'a file about wind', '3. Says why', 'I wrote NEW.md.', 'blows.'])
    expect(asked).toContain(part);
  expect(asked).not.toContain(AGENT.prompt);
  const result = JSON.parse(first.stdout) as AgentTestResult;
  const [agent] = result.agents;
  const marks = agent!.cases[0]!.runs[1]!.assertions.map(({mark}) => mark);
  expect(marks).toEqual(['passed', 'passed', 'no evidence', 'no evidence', 'failed', 'not graded']);
  expect(agent!.summary).toMatchObject({pass_rate: 1, assertions: {passed: 4, failed: 2, no_evidence: 4}});
  const runs = agent!.cases[0]!.runs.reduce((sum, {usd}) => sum + (usd ?? 0), 0);
  expect(result.usd).toBeGreaterThan(runs);
  // What was graded is kept with its run; another judge, or none, is another question.
  const again = await run(project, ['--judge', JUDGE, '--trials', '2'], 'nothing');
  expect([again.code, again.questions.length, again.others.length]).toEqual([0, 0, 0]);
  expect(again.stdout).toContain('assertions by the judge: 4 passed, 2 failed, 4 without evidence');
  expect(again.stdout).toContain('1 assertion not graded (--judge MODEL)');
  expect((await run(project, ['--trials', '2'], 'nothing')).stdout).toContain('6 assertions not graded');
  const regraded = await run(project, ['--regrade', '--judge', JUDGE], 'nothing');
  expect([regraded.questions.length, regraded.stdout.includes('4 passed, 2 failed')]).toEqual([0, true]);
});

test('a judge that gives no marks is a warning; its price needs a yes, and its budget ends the test', async () => {
  const project = await createProject();
  expect((await run(project, ['--yes'], '')).code).toBe(0);
  const unasked = await run(project, ['--judge', JUDGE], '{}');
  expect([unasked.code, unasked.questions.length]).toEqual([2, 0]);
  expect(unasked.stderr).toMatch(/0 runs, 1 to grade by claude-opus-4-5, at most \$/);
  const wordy = await run(project, ['--judge', JUDGE, '--yes'], 'I like it.');
  expect([wordy.code, wordy.questions.length]).toEqual([0, 1]);
  expect(wordy.stderr).toContain('the judge claude-opus-4-5 did not grade case a: no JSON with marks');
  expect(wordy.stdout).toContain('6 assertions not graded');
  const poor = await run(project, ['--judge', JUDGE, '--yes', '--max-budget-usd', '0.000001'], '{}');
  expect([poor.code, poor.questions.length]).toEqual([3, 0]);
  const unpriced = await run(project, ['--judge', 'some/unknown', '--yes', '--max-budget-usd', '1'], '{}');
  expect([unpriced.code, unpriced.questions.length]).toEqual([2, 0]);
});
