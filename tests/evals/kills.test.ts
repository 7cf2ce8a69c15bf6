/** Trials and tests of agents that are killed. */
import {once} from 'node:events';
import {mkdirSync, readdirSync, readFileSync} from 'node:fs';
import path from 'node:path';
import {expect, onTestFinished, test} from 'vitest';
import type {AgentTestResult} from '../../src/evals/result-types.ts';
import {listProcesses} from '../../src/sandbox/launch/process-groups.ts';
import {createHome} from '../support/environment.ts';
import {callTool, type MessagesBody, type Reply, say, startMessagesServer} from '../support/messages-server.ts';
import {killGroup, runCli, spawnCli} from '../support/run-cli.ts';
import {until} from '../support/wait.ts';
import {typescriptProject} from '../support/workspace.ts';

const AGENT = {name: 'fixer', description: 'Fixes.', tools: ['read_file', 'bash'], prompt: 'You are a fixer.'};

async function createProject(evals: readonly object[], script: (body: MessagesBody) => Reply) {
  const [workspace, home] = [await typescriptProject(), await createHome()];
  onTestFinished(workspace.remove);
  onTestFinished(home.remove);
  await workspace.write('.mini-cc/agents/fixer.json', JSON.stringify(AGENT));
  await workspace.write('.mini-cc/evals/fixer.json', JSON.stringify({evals}));
  const server = await startMessagesServer(script);
  onTestFinished(server.close);
  const temporary = path.join(home.path, 'temporary');
  mkdirSync(temporary);
  const options = {cwd: workspace.path, home, server, env: {TMPDIR: temporary}, timeoutMs: 240_000};
  return {workspace, home, server, temporary, options};
}

const isPrompt = ({messages}: MessagesBody, ...ids: readonly string[]) =>
  ids.some((id) => JSON.stringify(messages[0]).includes(`Case ${id}.`));

/** Workspaces of trials below a folder for temporary files. */
const listTrials = (temporary: string) =>
  readdirSync(temporary, {recursive: true}).filter((name) => /\/trials\/\d/.test(String(name)));

test('after a kill in the middle, a second call pays for the rest alone, and removes what the first one left', async () => {
  const ids = ['1', '2', '3', '4', '5', '6'];
  let hangs = true;
  const evals = ids.map((id) => ({id, prompt: `Case ${id}.`, checks: [{answer: {contains: 'done'}}]}));
  const {home, server, temporary, options} = await createProject(evals, (body) =>
    hangs && isPrompt(body, '4', '5', '6') ? {type: 'hang'} : say('done'),
  );
  const child = await spawnCli(['agents', 'test', 'fixer', '--yes'], options);
  onTestFinished(() => killGroup(child));
  const ended = once(child, 'exit');
  const listKept = () =>
    readdirSync(home.path, {recursive: true}).filter((name) => /\/evals\/[0-9a-f]+-1\.json$/.test(String(name)));
  await until(() => server.requests.length === 6 && listKept().length === 3);
  killGroup(child);
  await ended;
  expect(listTrials(temporary).length).toBeGreaterThan(0);
  hangs = false;
  const again = await runCli(['agents', 'test', 'fixer', '--yes', '--json'], options);
  const {runs_made: made, runs_kept: kept, agents} = JSON.parse(again.stdout) as AgentTestResult;
  expect([again.code, made, kept, agents[0]!.summary.passed, server.requests.length]).toEqual([0, 3, 3, 6, 9]);
  expect(listTrials(temporary)).toEqual([]);
});

/** Processes whose command line has this text. */
function findProcesses(text: string): number[] {
  return readdirSync('/proc').flatMap((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(text) ? [Number(pid)] : [];
    } catch {
      // The process has ended meanwhile.
      return [];
    }
  });
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It ended with the one that was killed before.
  }
}

test('a trial whose processes are killed fails by its checks; the others go on, and nothing is left', async () => {
  const marker = `7${process.pid}.25`;
  const claim = [
    {answer: {contains: 'All tests pass'}},
    {calls: {bash: {min: 1}}},
    {command: 'grep -q "tests ran" report.txt'},
  ];
  const evals = [
    {id: 'killed', prompt: 'Case killed.', checks: [{answer: {contains: 'exit code 0'}}]},
    {id: 'other', prompt: 'Case other.', checks: [{answer: {contains: 'fine'}}]},
    {id: 'claims', prompt: 'Case claims.', checks: claim},
    {id: 'json', prompt: 'Case json.', checks: [{schema: {type: 'object', required: ['verdict']}}]},
    {id: 'no json', prompt: 'Case wrong.', checks: [{schema: {type: 'object', required: ['verdict', 'why']}}]},
  ];
  const {workspace, server, temporary, options} = await createProject(evals, (body) => {
    if (isPrompt(body, 'killed') && body.messages.length === 1)
      return callTool('bash', {command: `touch X; sleep ${marker}`});
    if (isPrompt(body, 'claims')) return say('I ran the tests. All tests pass.');
    if (isPrompt(body, 'json', 'wrong')) return say('{"verdict": "good"}');
    return isPrompt(body, 'other') ? say('fine') : say(JSON.stringify(body.messages.at(-1)));
  });
  const before = await workspace.git('status', '--porcelain');
  const child = await spawnCli(['agents', 'test', 'fixer', '--yes', '--trust', '--json'], options);
  onTestFinished(() => killGroup(child));
  let stdout = '';
  child.stdout?.on('data', (data) => {
    stdout += String(data);
  });
  const ended = once(child, 'close');
  await until(() => server.requests.length >= 5 && findProcesses(marker).length > 0);
  // The shell of the command and its processes are one group in the sandbox.
  for (const {group} of listProcesses().filter(({pid}) => findProcesses(marker).includes(pid))) kill(-group);
  expect(await ended).toEqual([1, null]);
  const {agents} = JSON.parse(stdout) as AgentTestResult;
  const cases = agents[0]!.cases.map(({id, runs}) => ({id, ...runs[0]!}));
  expect(cases.map(({id, passed}) => [id, passed])).toEqual([
    ['killed', false],
    ['other', true],
    ['claims', false],
    ['json', true],
    ['no json', false],
  ]);
  // What the agent says counts for nothing: the runtime saw that no command ran.
  const [, , claims, , noJson] = cases;
  const words = claims!.checks.map(({check, passed, expected, seen, where}) => [check, passed, expected, seen, where]);
  expect(words.slice(1)).toEqual([
    ['answer', true, expect.any(String), expect.any(String), 'the answer'],
    ['calls', false, 'bash called at least 1 times', 'bash called 0 times', 'the receipt'],
    [
      'command',
      false,
      'the command ends with exit code 0',
      expect.stringMatching(/^ends with exit code 2/),
      expect.any(String),
    ],
  ]);
  expect(noJson!.checks[1]).toMatchObject({check: 'schema', seen: expect.stringContaining('why')});
  expect(await workspace.git('status', '--porcelain')).toBe(before);
  expect([findProcesses(marker), listTrials(temporary)]).toEqual([[], []]);
});
