/** `--record` and `--replay` of `mini-cc agents test`, by the built program. */
import {mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {expect, onTestFinished, test} from 'vitest';
import type {AgentTestResult} from '../../src/evals/result-types.ts';
import {createHome} from '../support/environment.ts';
import {callTool, type MessagesBody, type Reply, say, startMessagesServer} from '../support/messages-server.ts';
import {type CliRun, runCli} from '../support/run-cli.ts';
import {typescriptProject, type Workspace} from '../support/workspace.ts';

const FIXER = {
  name: 'fixer',
  description: 'Changes greetings as it is told.',
  model: 'claude-haiku-4-5',
  tools: ['read_file', 'write_file', 'bash'],
  prompt: 'You are a fixer.\nDo what is asked.',
};
const CASES = [
  {id: 'edit', prompt: 'Write NEW.md.', checks: [{changed: ['NEW.md']}, {answer: {contains: 'written'}}]},
  {id: 'an id/with: more', prompt: 'Write NEW.md again.'},
];

/** Reads by an absolute path, as models do, prints what differs by itself, reads a cut output, and answers. */
function work({messages}: MessagesBody): Reply {
  const all = JSON.stringify(messages);
  const [, folder = ''] = /folder=(\/[^ \\"]+)=/.exec(all) ?? [];
  const [, saved = ''] = /the whole output: ([^ \\"]+)/.exec(all) ?? [];
  return (
    [
      callTool('bash', {command: 'echo "folder=$PWD="; date; seq 1 20000', description: 'print'}),
      callTool('read_file', {path: `${folder}/src/greet.ts`}),
      callTool('read_file', {path: saved, offset: 5, limit: 3}),
      callTool('grep', {pattern: 'Do what is asked|Write NEW', output_mode: 'files_with_matches'}),
      callTool('write_file', {path: 'NEW.md', content: 'A new file.\n'}),
    ][messages.filter(({role}) => role === 'assistant').length] ?? say('It is written.')
  );
}

interface Recorded {
  readonly workspace: Workspace;
  readonly folder: string;
  readonly recording: CliRun;
  /** That of the replays. */
  readonly home: string;
  /** Calls the program where no server and no key is, and with a home that has nothing. */
  replay(...args: string[]): Promise<CliRun>;
}

async function record(...args: string[]): Promise<Recorded> {
  const workspace = await typescriptProject();
  onTestFinished(workspace.remove);
  const [home, other] = [await createHome(), await createHome()];
  onTestFinished(home.remove);
  onTestFinished(other.remove);
  await workspace.write('.mini-cc/agents/fixer.json', JSON.stringify(FIXER));
  await workspace.write('.mini-cc/evals/fixer.json', JSON.stringify({evals: CASES}));
  const server = await startMessagesServer(work);
  const options = {cwd: workspace.path, home, server, timeoutMs: 120_000};
  const all = ['agents', 'test', 'fixer', '--yes', '--record', 'recorded', '--json', ...args];
  const recording = await runCli(all, options).finally(() => server.close());
  const folder = path.join(workspace.path, 'recorded');
  return {
    workspace,
    folder,
    recording,
    home: other.path,
    replay: (...more) =>
      runCli(['agents', 'test', 'fixer', '--replay', 'recorded', ...more], {
        cwd: workspace.path,
        home: other,
        timeoutMs: 120_000,
      }),
  };
}

function getReplays({stdout}: CliRun): readonly (string | undefined)[] {
  const {agents} = JSON.parse(stdout) as AgentTestResult;
  return agents.flatMap(({cases, baseline}) => [...cases, ...(baseline?.cases ?? [])]).map(({replay}) => replay);
}

test('a recording is replayed without a server: same, in each trial and arm, and nothing is paid or kept', async () => {
  const {recording, folder, home, replay} = await record('--trials', '2', '--baseline', 'none');
  expect([recording.code, recording.stderr]).toEqual([0, expect.stringContaining('8 runs on claude-haiku-4-5')]);
  expect(readdirSync(path.join(folder, 'fixer/agent'))).toEqual(
    expect.arrayContaining([
      'edit-1.json',
      'edit-2.json',
      expect.stringMatching(/^an_id_with__more-[0-9a-f]{8}-1\.json$/),
    ]),
  );
  // It can be committed: it names no folder of this machine.
  const text = readFileSync(path.join(folder, 'fixer/baseline/edit-2.json'), 'utf8');
  expect(text).not.toContain(path.dirname(folder));
  expect(text).toContain('{{workspace}}/src/greet.ts');
  const again = await replay('--json', '--baseline', 'none');
  expect([again.code, getReplays(again)]).toEqual([0, ['same', 'same', 'same', 'same']]);
  const {agents, usd, runs_kept} = JSON.parse(again.stdout) as AgentTestResult;
  expect([usd, runs_kept, agents[0]!.model, agents[0]!.summary.k]).toEqual([0, 0, 'claude-haiku-4-5', 2]);
  expect(agents[0]!.summary.tokens.median).toBeGreaterThan(0);
  const kept = readdirSync(home, {recursive: true}).filter((name) => String(name).includes('/evals'));
  expect(kept).toEqual([]);
  const shown = await replay('--case', 'edit');
  expect(shown.stdout).toBe(
    [
      'fixer · claude-haiku-4-5 · replayed: 1 of 1 case the same',
      '  edit: same',
      '',
      'A replay shows whether anything changed that the model would see. It measures no quality.',
      '',
    ].join('\n'),
  );
}, 240_000);

test('a replay names the turn and what changed, with the line as it was and as it is', async () => {
  const {workspace, replay} = await record();
  const agent = (change: object) =>
    workspace.write('.mini-cc/agents/fixer.json', JSON.stringify({...FIXER, ...change}));
  const expectChanged = async (what: string, recorded: string, now: string) => {
    const ended = await replay('--case', 'edit', '--json');
    expect([ended.code, getReplays(ended)]).toEqual([1, [`differs at ${what}`]]);
    expect(ended.stderr).toMatch(new RegExp(`differs at ${what}\n  recorded: ${recorded}\n  now: {6}${now}\n`));
  };
  await agent({prompt: 'You are a fixer.\nDo it well.'});
  await expectChanged('turn 1: the system prompt changed', 'Do what is asked.', 'Do it well.');
  await agent({tools: ['read_file', 'bash']});
  await expectChanged('turn 1: the tools changed', 'bash, read_file, write_file', 'bash, read_file');
  await agent({});
  const cases = (prompt: string) => JSON.stringify({evals: [{...CASES[0], prompt}]});
  await workspace.write('.mini-cc/evals/fixer.json', cases('Write NEW.md now.'));
  await expectChanged('turn 1: the prompt changed', 'Write NEW.md.', 'Write NEW.md now.');
  await workspace.write('.mini-cc/evals/fixer.json', JSON.stringify({evals: CASES}));
  const source = readFileSync(path.join(workspace.path, 'src/greet.ts'), 'utf8');
  await workspace.write('src/greet.ts', `// A new first line.\n${source}`);
  await expectChanged('turn 3: the result of read_file changed', '.*', '.*A new first line.*');
  await workspace.write('src/greet.ts', source);
  // A check that fails fails the replay too, and a replay cannot pass where a turn is missing.
  const shown = await replay('--case', 'edit');
  expect([shown.code, shown.stdout]).toEqual([0, expect.stringContaining('edit: same')]);
  await agent({maxTurns: 2});
  const shorter = await replay('--case', 'edit', '--json');
  expect([shorter.code, getReplays(shorter)]).toEqual([1, [expect.stringMatching(/^differs at turn [23]: /)]]);
}, 240_000);

test('a recording that cannot be used is one line and exit 2, before anything runs', async () => {
  const {workspace, folder, replay} = await record('--case', 'edit');
  const file = path.join(folder, 'fixer/agent/edit-1.json');
  const good = readFileSync(file, 'utf8');
  const expectRefused = async (problem: string, ...args: string[]) => {
    const ended = await replay('--case', 'edit', ...args);
    expect([ended.code, ended.stdout, ended.stderr.trimEnd().split('\n').length]).toEqual([2, '', 1]);
    expect(ended.stderr).toContain(problem);
  };
  await expectRefused('edit-2.json: it does not exist', '--trials', '2');
  await expectRefused('--record and --replay cannot go together', '--record', 'other');
  await expectRefused('--regrade makes no run', '--regrade');
  await expectRefused('--replay asks no model', '--judge', 'claude-haiku-4-5');
  writeFileSync(file, good.slice(0, 200));
  await expectRefused('edit-1.json: it is no JSON');
  writeFileSync(file, good.replace('"turns": [', '"turns": [7,'));
  await expectRefused('edit-1.json: it is no recording (turns.0: ');
  writeFileSync(file, good.replace('"case": "edit"', '"case": "other"'));
  await expectRefused('edit-1.json: it is of fixer, case other, trial 1');
  writeFileSync(file, Buffer.alloc(5 * 1024 * 1024 + 1, ' '));
  await expectRefused('edit-1.json: it has 5.0 MB, and at most 5 MB are read');
  rmSync(file);
  await workspace.write('elsewhere.json', good);
  symlinkSync(path.join(workspace.path, 'elsewhere.json'), file);
  await expectRefused('edit-1.json: it is or passes a link');
  rmSync(file);
  mkdirSync(file);
  await expectRefused('edit-1.json: it is a folder');
  rmSync(folder, {recursive: true});
  await expectRefused('recorded does not exist');
}, 240_000);

test('what is recorded goes into no folder to which a link of the project leads', async () => {
  const {workspace, folder} = await record('--case', 'edit');
  rmSync(folder, {recursive: true});
  mkdirSync(folder);
  const outside = await createHome();
  onTestFinished(outside.remove);
  symlinkSync(outside.path, path.join(folder, 'fixer'));
  const before = readdirSync(outside.path);
  const server = await startMessagesServer(work);
  onTestFinished(server.close);
  const home = await createHome();
  onTestFinished(home.remove);
  const args = ['agents', 'test', 'fixer', '--case', 'edit', '--yes', '--record', 'recorded'];
  const {stderr} = await runCli(args, {cwd: workspace.path, home, server, timeoutMs: 120_000});
  expect(stderr).toMatch(/warning: fixer edit, trial 1 is not recorded: .*recorded\/fixer is a link/);
  expect(readdirSync(outside.path)).toEqual(before);
}, 120_000);
