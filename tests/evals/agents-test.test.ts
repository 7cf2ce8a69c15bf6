/** `mini-cc agents test` of the built program, with the scripted server as the model. */
import {execFileSync, spawnSync} from 'node:child_process';
import {once} from 'node:events';
import {existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {expect, onTestFinished, test} from 'vitest';
import type {AgentTestResult} from '../../src/evals/result-types.ts';
import {createHome, type Home} from '../support/environment.ts';
import {callTool, type MessagesBody, type Reply, say, startMessagesServer} from '../support/messages-server.ts';
import {type CliRun, killGroup, runCli, spawnCli} from '../support/run-cli.ts';
import {until} from '../support/wait.ts';
import {typescriptProject, type Workspace} from '../support/workspace.ts';

interface Project {
  readonly workspace: Workspace;
  readonly home: Home;
  run(args: readonly string[], script?: (body: MessagesBody) => Reply): Promise<CliRun & {readonly requests: number}>;
}

const FIXER = {
  name: 'fixer',
  description: 'Changes greetings as it is told.',
  tools: ['read_file', 'write_file', 'edit_file', 'bash'],
  prompt: 'You are a fixer. Do what is asked.',
};

/** A project with the agent `fixer` and these cases of it. */
async function createProject(evals: unknown, definition: object = FIXER): Promise<Project> {
  const workspace = await typescriptProject();
  onTestFinished(workspace.remove);
  const home = await createHome();
  onTestFinished(home.remove);
  await workspace.write('.mini-cc/agents/fixer.json', JSON.stringify(definition));
  if (evals !== undefined) {
    const text = typeof evals === 'string' ? evals : JSON.stringify({agent_name: 'fixer', evals}, null, 2);
    await workspace.write('.mini-cc/evals/fixer.json', text);
  }
  return {
    workspace,
    home,
    async run(args, script = () => say('done')) {
      const server = await startMessagesServer(script);
      try {
        const ended = await runCli(['agents', 'test', ...args], {
          cwd: workspace.path,
          home,
          server,
        });
        return {...ended, requests: server.requests.length};
      } finally {
        await server.close();
      }
    },
  };
}

function parse({stdout}: CliRun): AgentTestResult {
  return JSON.parse(stdout) as AgentTestResult;
}

/** Number of the reply in its run. */
function getTurn({messages}: MessagesBody): number {
  return messages.filter(({role}) => role === 'assistant').length;
}

const READS_AND_WRITES = (body: MessagesBody): Reply =>
  [
    callTool('read_file', {path: 'src/greet.ts'}),
    callTool('write_file', {path: 'NEW.md', content: 'A new file.\n'}),
    say('See src/greet.ts:4 for {"greeting": true}.'),
  ][getTurn(body)] ?? say('done');

test('each kind of check passes on what the runtime saw, and fails with what a person needs', async () => {
  const good = [
    {outcome: 'success'},
    {answer: {contains: 'greet.ts', matches: 'See .*:\\d', lacks: 'tests'}},
    {cites: 'src/greet.ts:3-5'},
    {citations: 'all'},
    {command: 'grep -q new NEW.md'},
    {changed: ['*.md']},
    {unchanged: ['src/**']},
    {file: {path: 'NEW.md', contains: 'new file', exists: true}},
    {file: {path: 'GONE.md', exists: false}},
    {reads: ['src/*.ts']},
    {calls: {Read: {min: 1, max: 1}, bash: {max: 0}}},
    {max: {turns: 3, tokens: 1_000_000, seconds: 600}},
  ];
  const bad = [
    {outcome: 'limit'},
    {answer: {contains: 'I ran the tests'}},
    {cites: 'src/greet.ts:40'},
    {command: 'echo broken; exit 3'},
    {changed: ['src/**']},
    {unchanged: ['**']},
    {file: {path: 'NEW.md', lacks: 'new'}},
    {reads: ['tests/**']},
    {calls: {Bash: {min: 1}}},
    {schema: {type: 'object'}},
    {max: {turns: 2}},
    {answer: {matches: '^(\\w+\\s?)*$.'}},
  ];
  const {run, workspace} = await createProject([
    {id: 'good', prompt: 'Write NEW.md.', checks: good},
    {id: 2, prompt: 'Write NEW.md again.', checks: bad},
  ]);
  const before = await workspace.git('status', '--porcelain');
  const ended = await run(['fixer', '--json', '--yes', '--trust'], READS_AND_WRITES);
  const [agent] = parse(ended).agents;
  const [first, second] = agent!.cases;
  expect(first!.runs[0]!.checks.filter(({passed}) => !passed)).toEqual([]);
  expect(second!.id).toBe(2);
  const failed = second!.runs[0]!.checks;
  expect(failed.filter(({passed}) => passed)).toEqual([]);
  const words = failed.map(({check, expected, seen, where}) => `${check}: ${expected} | ${seen} | ${where}`);
  expect(words[0]).toBe('outcome: the run ends with limit | success | the end of the run');
  expect(words[3]).toContain('command: the command ends with exit code 0 | ends with exit code 3: broken');
  expect(words[4]).toContain('NEW.md');
  expect(words[8]).toBe('calls: bash called at least 1 times | bash called 0 times | the receipt');
  for (const line of words) expect(line).not.toMatch(/\| {2}|\|\s*$/);
  expect(ended.code).toBe(1);
  expect(agent!.summary).toMatchObject({cases: 2, runs: 2, passed: 1, pass_rate: 0.5, k: 1});
  // The real workspace is as it was.
  expect(existsSync(path.join(workspace.path, 'NEW.md'))).toBe(false);
  expect(await workspace.git('status', '--porcelain')).toBe(before);
});

test('what was made is not paid for twice, whatever its checks are; --fresh makes it anew, --regrade makes nothing', async () => {
  const cases = (text: string) => [{id: 'a', prompt: 'Say done.', checks: [{answer: {contains: text}}]}];
  const {run, workspace} = await createProject(cases('done'));
  const first = await run(['fixer', '--trials', '2', '--yes', '--json']);
  expect([first.code, first.requests, parse(first).runs_made, parse(first).runs_kept]).toEqual([0, 2, 2, 0]);
  const second = await run(['fixer', '--trials', '3', '--yes', '--json']);
  expect([second.code, second.requests, parse(second).runs_made, parse(second).runs_kept]).toEqual([0, 1, 1, 2]);
  await workspace.write('.mini-cc/evals/fixer.json', JSON.stringify({evals: cases('something else')}));
  const changed = await run(['fixer', '--trials', '3', '--json']);
  expect([changed.code, changed.requests]).toEqual([1, 0]);
  expect(parse(changed).agents[0]!.cases[0]!.runs[0]!.checks[1]).toMatchObject({passed: false, seen: '"done"'});
  const fresh = await run(['fixer', '--fresh', '--yes']);
  expect(fresh.requests).toBe(1);
  await workspace.write('.mini-cc/agents/fixer.json', JSON.stringify({...FIXER, prompt: 'You are another fixer.'}));
  await workspace.write(
    '.mini-cc/evals/fixer.json',
    JSON.stringify({evals: [...cases('done'), {id: 'b', prompt: 'x'}]}),
  );
  const regraded = await run(['fixer', '--regrade', '--json']);
  expect([regraded.code, regraded.requests]).toEqual([1, 0]);
  expect(parse(regraded).agents[0]!.cases.map(({runs}) => runs[0]!.outcome)).toEqual(['success', 'not run']);
});

test('what a test writes into the workspace makes no other trial, and no later trial sees it', async () => {
  const isGone = ['out.xml', 'out.html', 'results/fixer', 'tape'].map((name) => ({file: {path: name, exists: false}}));
  const checks = [...isGone, {file: {path: 'results/mine.md', exists: true}}];
  const {workspace, run} = await createProject([{id: 'a', prompt: 'Say it.', checks}]);
  await workspace.write('results/mine.md', 'Mine.\n');
  const place = (name: string) => path.join(workspace.path, name);
  const reports = ['--junit', place('out.xml'), '--html', place('out.html'), '--out', place('results')];
  const made = async (...args: string[]) => {
    const {code, requests} = await run(['fixer', '--yes', ...args]);
    return [code, requests];
  };
  expect(await made(...reports)).toEqual([0, 1]);
  expect(await made(...reports)).toEqual([0, 0]);
  expect(await made()).toEqual([0, 0]);
  expect(await made('--record', place('tape'))).toEqual([0, 1]);
  expect(await made()).toEqual([0, 0]);
  expect(await made('--fresh')).toEqual([0, 1]);
  // A file that the user has made of it is one of the workspace.
  await workspace.write('out.xml', 'Mine, too.\n');
  expect(await made()).toEqual([1, 1]);
});

test('a trial sees no cases, and has its files, commit, patch and setup; the rest of its workspace goes', async () => {
  const {run, workspace} = await createProject(undefined);
  await workspace.write('src/greet.ts', 'export const later = true;\n');
  await workspace.write('.mini-cc/evals/given.txt', 'given\n');
  await workspace.write(
    '.mini-cc/evals/readme.patch',
    '--- a/README.md\n+++ b/README.md\n@@ -1,3 +1,3 @@\n-# Greeter\n+# Patched\n \n Greets people by their name, in several languages.\n',
  );
  const checks = [
    {file: {path: 'given/here.txt', contains: 'given'}},
    {file: {path: 'README.md', contains: '# Patched'}},
    {file: {path: 'src/greet.ts', lacks: 'later'}},
    {file: {path: 'made.txt', contains: 'by setup'}},
    {file: {path: '.mini-cc/evals/fixer.json', exists: false}},
    {changed: []},
    {answer: {lacks: 'evals'}},
  ];
  const all = {
    files: [{from: 'given.txt', to: 'given/here.txt'}],
    commit: 'HEAD',
    patch: 'readme.patch',
    setup: ['echo by setup > made.txt'],
  };
  const evals = [
    {id: 'state', prompt: 'ls', checks, ...all},
    {id: 'broken', prompt: 'ls', setup: ['exit 7']},
  ];
  await workspace.write('.mini-cc/evals/fixer.json', JSON.stringify({evals}));
  const script = (body: MessagesBody) =>
    getTurn(body) === 0 ? callTool('bash', {command: 'ls -a .mini-cc'}) : say(JSON.stringify(body.messages.at(-1)));
  const untrusted = await run(['--yes'], script);
  expect([untrusted.code, untrusted.requests]).toEqual([2, 0]);
  expect(untrusted.stderr).toContain('trusted directory: say --trust');
  const ended = await run(['--yes', '--trust', '--json'], script);
  const [state, broken] = parse(ended).agents[0]!.cases;
  expect(state!.runs[0]!.checks.filter(({passed}) => !passed)).toEqual([]);
  expect(ended.requests).toBe(2);
  expect(broken!.runs[0]).toMatchObject({outcome: 'not run', passed: false, turns: 0});
  expect(broken!.runs[0]!.checks[0]!.seen).toContain('exit code 7');
  expect(ended.stderr).toContain('$ echo by setup > made.txt');
  // Its exit code is 1 where another test removes a folder meanwhile.
  const left = spawnSync('find', [process.env.TMPDIR ?? '/tmp', '-maxdepth', '4', '-name', 'made.txt']);
  expect([left.error, left.stdout.toString()]).toEqual([undefined, '']);
});

test('the checks that count are those read before the trial, whatever happens to their file; an agent cannot change it', async () => {
  const write = (checks: readonly object[]) => JSON.stringify({evals: [{id: 'a', prompt: 'Work.', checks}]});
  const {run, workspace} = await createProject(undefined);
  const file = await workspace.write('.mini-cc/evals/fixer.json', write([{answer: {contains: 'right'}}]));
  const before = await workspace.git('status', '--porcelain');
  const easy = write([]);
  const tries = [
    callTool('write_file', {path: '.mini-cc/evals/fixer.json', content: easy}),
    callTool('write_file', {path: file, content: easy}),
    callTool('bash', {command: `echo '${easy}' > ${file}`, description: 'write'}),
  ];
  const meanwhile = write([{outcome: 'success'}]);
  const ended = await run(['fixer', '--yes', '--json'], (body) => {
    // Another program changes the file while the trial runs.
    if (getTurn(body) === 0) writeFileSync(file, meanwhile);
    return tries[getTurn(body)] ?? say('wrong');
  });
  const [trial] = parse(ended).agents[0]!.cases[0]!.runs;
  expect([ended.code, ended.requests, trial!.outcome, trial!.passed]).toEqual([1, 4, 'success', false]);
  expect(trial!.checks.map(({check, passed}) => [check, passed])).toEqual([
    ['outcome', true],
    ['answer', false],
  ]);
  expect(readFileSync(file, 'utf8')).toBe(meanwhile);
  expect(await workspace.git('status', '--porcelain')).toBe(before);
  // The run is kept, and the checks of today count for it.
  const again = await run(['fixer', '--json']);
  expect([again.code, again.requests]).toEqual([0, 0]);
});

test('a patch of git diff is applied whole, also where the workspace is below the top of its repository', async () => {
  const {workspace, home} = await createProject(undefined);
  const sub = path.join(workspace.path, 'packages/a');
  await workspace.write('packages/a/own.txt', 'one\n');
  await workspace.write('packages/a/.mini-cc/agents/fixer.json', JSON.stringify(FIXER));
  await workspace.git('add', '-A');
  await workspace.git('commit', '-qm', 'add a package');
  await workspace.write('packages/a/own.txt', 'two\n');
  await workspace.write('README.md', 'Patched.\n');
  const patch = await workspace.git('diff');
  await workspace.git('checkout', '-q', '.');
  await workspace.write('packages/a/.mini-cc/evals/both.patch', `${patch.trimEnd()}\n`);
  const checks = [{file: {path: 'own.txt', contains: 'two'}}, {answer: {contains: 'Patched.'}}];
  const evals = [{id: 'a', prompt: 'Read.', patch: 'both.patch', checks}];
  await workspace.write('packages/a/.mini-cc/evals/fixer.json', JSON.stringify({evals}));
  const server = await startMessagesServer((body) =>
    getTurn(body) === 0
      ? callTool('bash', {command: 'cat ../../README.md'})
      : say(JSON.stringify(body.messages.at(-1))),
  );
  onTestFinished(server.close);
  const {code, stdout} = await runCli(['agents', 'test', 'fixer', '--yes'], {cwd: sub, home, server});
  expect([code, stdout]).toEqual([0, expect.stringContaining('pass rate 100 %')]);
});

test('wrong files of cases are exit 2 with line and column, and lint says the same', async () => {
  const evals = `{
  "agent_name": "fixer",
  "evals": [
    {"id": "a", "prompt": "x", "promt": "y", "checks": [{"anwser": {"contains": "x"}}]},
    {"id": "a", "prompt": ""},
    {"id": "b", "prompt": "x", "files": ["../outside", "link.txt", "pipe", "large.bin", {"from": "ok.txt", "to": "../up"}]},
    {"id": "c", "prompt": "x", "checks": [{"answer": {"matches": "("}}]},
    {"id": "d", "prompt": "x", "checks": [{"calls": {"bsh": {"max": 0}}}, {"calls": {"Bash": {"min": 3, "max": 2}}}]},
    {"id": "e", "prompt": "x", "checks": [{"cites": "src/pay.ts:9-3"}, {"cites": "src/pay.ts:0"}]},
    {"id": "f", "prompt": "  \\n", "checks": [{"schema": {"type": "nonsense"}}]}
  ]
}`;
  const {run, workspace, home} = await createProject(evals);
  const folder = path.join(workspace.path, '.mini-cc/evals');
  writeFileSync(path.join(folder, 'ok.txt'), 'ok');
  writeFileSync(path.join(folder, 'large.bin'), Buffer.alloc(5 * 1024 * 1024 + 1));
  symlinkSync('/etc/passwd', path.join(folder, 'link.txt'));
  execFileSync('mkfifo', [path.join(folder, 'pipe')]);
  const {code, stderr, requests} = await run(['fixer', '--yes']);
  expect([code, requests]).toEqual([2, 0]);
  const expected = [
    ':4:32: unknown key "promt" is ignored (did you mean prompt?)',
    ':4:58: unknown check "anwser"',
    ':5:27: prompt: must not be empty',
    ':6:42: "../outside" leads out of the folder of the cases',
    ':6:56: "link.txt" is or passes a link',
    ':6:68: "pipe" is not a regular file',
    ':6:76: "large.bin" has 5.0 MB, and at most 5 MB are read',
    ':6:89: "../up" leads out of the workspace',
    ':8:61: there is no tool "bsh" (did you mean bash?)',
    ':8:94: calls.Bash: min is above max',
    ':9:53: cites: the last line comes before the first one',
    ':9:82: cites: must be PATH:LINE or PATH:LINE-LINE',
    ':10:27: prompt: must not be empty',
    ':10:57: schema is no JSON Schema: ',
  ];
  for (const line of expected) expect(stderr).toContain(`.mini-cc/evals/fixer.json${line}`);
  expect(stderr).toMatch(/fixer\.json:7:\d+: answer\.matches: is no JavaScript regular expression/);
  const lint = await runCli(['agents', 'lint'], {cwd: workspace.path, home});
  expect(lint.code).toBe(2);
  for (const line of expected) expect(lint.stdout).toContain(`.mini-cc/evals/fixer.json${line}`);
});

test("a baseline is compared in pairs, and none has none of the agent's prompt", async () => {
  const evals = ['a', 'b', 'c'].map((id) => ({id, prompt: `Case ${id}.`, checks: [{answer: {contains: 'good'}}]}));
  const {run} = await createProject(evals);
  const script = (body: MessagesBody) => say(JSON.stringify(body.system).includes('You are a fixer') ? 'good' : 'bad');
  const ended = await run(['fixer', '--baseline', 'none', '--yes', '--json'], script);
  const {summary, baseline} = parse(ended).agents[0]!;
  expect([summary.pass_rate, baseline!.name, baseline!.summary.pass_rate]).toEqual([1, 'none', 0]);
  expect([baseline!.difference, baseline!.verdict]).toEqual([1, 'better']);
  const table = await run(['fixer', '--baseline', 'none', '--yes'], script);
  expect([ended.code, table.code, table.requests]).toEqual([0, 0, 0]);
  expect(table.stdout).toMatch(/baseline none: pass rate 0 %\n {2}difference \+100 points \(95 %: \+/);
  expect(table.stdout).toContain('pass^1 100 %');
  expect(table.stdout.split('\n').filter((line) => line.length > 80)).toEqual([]);
});

test('it asks before it spends, and ends with its own codes', async () => {
  const evals = [
    {id: 'a', prompt: 'x', checks: [{answer: {contains: 'done'}}]},
    {id: 'b', prompt: 'y', checks: [{answer: {contains: 'no'}}]},
  ];
  const {run, home, workspace} = await createProject(evals, {...FIXER, model: 'claude-haiku-4-5'});
  await workspace.write('.mini-cc/agents/idle.json', JSON.stringify({...FIXER, name: 'idle'}));
  const asked = await run(['fixer']);
  expect([asked.code, asked.requests]).toEqual([2, 0]);
  expect(asked.stderr).toMatch(/2 runs on claude-haiku-4-5, at most \$\d+\.\d\d/);
  expect(asked.stderr).toContain('say --yes');
  const bounded = await run(['fixer', '--yes', '--max-budget-usd', '0.00001']);
  expect([bounded.code, bounded.stdout]).toEqual([3, expect.stringContaining(' · no case has a result\n')]);
  expect(bounded.stdout).not.toMatch(/null|pass\^/);
  const asJson = await run(['fixer', '--yes', '--max-budget-usd', '0.00001', '--json']);
  expect(parse(asJson).agents[0]!.summary).toMatchObject({cases: 0, runs: 0, turns: {median: null}});
  const saved = path.join(home.path, 'saved-copy.json');
  writeFileSync(saved, JSON.stringify(FIXER));
  const compared = await run(['fixer', '--case', 'a', '--yes', '--baseline', saved]);
  expect([compared.code, compared.stdout]).toEqual([
    0,
    expect.stringContaining('with 1 case; every case came out the same'),
  ]);
  const enough = await run(['fixer', '--yes', '--fail-under', '0.5']);
  expect([enough.code, enough.stdout.includes('1/1')]).toEqual([0, true]);
  expect((await run(['fixer', '--case', 'a', '--yes', '--junit', path.join(home.path, 'r.xml')])).code).toBe(0);
  expect(readFileSync(path.join(home.path, 'r.xml'), 'utf8')).toContain('<testcase classname="fixer" name="a"');
  for (const [args, text] of [
    [['fxer'], 'did you mean fixer?'],
    [['fixer', '--case', 'z'], 'there is no case z'],
    [['idle'], 'idle has no cases'],
    [['fixer', '--replay', 'x'], '--replay'],
    [['fixer', '--baseline', 'nowhere'], 'is no file, and no git revision'],
  ] as const) {
    const wrong = await run(args);
    expect([wrong.code, wrong.requests]).toEqual([2, 0]);
    expect(wrong.stderr).toContain(text);
  }
});

test('an interrupt ends the trials with exit code 130, and leaves no workspace', async () => {
  const {workspace, home} = await createProject([{id: 'a', prompt: 'x'}]);
  const server = await startMessagesServer([{type: 'hang'}]);
  onTestFinished(server.close);
  const temporary = path.join(home.path, 'temporary');
  mkdirSync(temporary);
  const options = {cwd: workspace.path, home, server, env: {TMPDIR: temporary}};
  const child = await spawnCli(['agents', 'test', 'fixer', '--yes'], options);
  onTestFinished(() => killGroup(child));
  const ended = once(child, 'exit');
  await until(() => server.requests.length === 1);
  expect(readdirSync(temporary).length).toBeGreaterThan(0);
  child.kill('SIGINT');
  expect(await ended).toEqual([130, null]);
  expect(readdirSync(temporary).filter((name) => existsSync(path.join(temporary, name, 'trials')))).toEqual([]);
});
