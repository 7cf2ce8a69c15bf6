/** Runs with isolation: worktree, in print mode with a scripted server and real git. */
import {existsSync, readdirSync} from 'node:fs';
import path from 'node:path';
import {expect, test} from 'vitest';
import {type MessagesBody, type Reply, say} from '../support/messages-server.ts';
import {countReplies, getFirstPrompt, getSystem, getToolResults} from '../support/request-facts.ts';
import {killGroup, runCli, spawnCli} from '../support/run-cli.ts';
import {callTools} from '../support/scripted-replies.ts';
import {until} from '../support/wait.ts';
import {emptyFolder} from '../support/workspace.ts';
import {home, isSubagent, project, serve} from './fixture.ts';

const task = (prompt: string, more: Record<string, unknown> = {}) => ({
  name: 'Task',
  input: {description: prompt, prompt, agent_type: 'code', isolation: 'worktree', ...more},
});
const write = (file: string, content: string) => ({name: 'write_file', input: {path: file, content}});
const bash = (command: string) => ({name: 'bash', input: {command}});
const ALL = ['--permission-mode', 'bypassPermissions'];

/**
 * The main agent dispatches `tasks` and answers `done`. A run makes the calls for its prompt, turn by turn, then
 * answers.
 */
const script =
  (tasks: readonly ReturnType<typeof task>[], turns: Readonly<Record<string, readonly Reply[]>>) =>
  (body: MessagesBody): Reply => {
    if (!isSubagent(body)) return countReplies(body) === 0 ? callTools(tasks) : say('done');
    return turns[getFirstPrompt(body)]?.[countReplies(body)] ?? say(`${getFirstPrompt(body)} is done`);
  };

test('the changes of a run, committed or not, are in the workspace at its end, uncommitted', async () => {
  const workspace = await project();
  await workspace.write('README.md', '# Changed by a person\n');
  await workspace.git('config', 'user.name', 'Ann');
  await workspace.git('config', 'user.email', 'ann@example.com');
  const before = await workspace.git('rev-parse', 'HEAD');
  const server = await serve(
    script([task('one')], {
      one: [
        callTools([bash('cat README.md && pwd && git status --short'), write('src/new.ts', 'export {};\n')]),
        callTools([
          bash('git add src/new.ts && git commit --quiet -m work && git log --oneline | wc -l && rm src/greet.ts'),
        ]),
        say(`See ${'src/new.ts'}:1.`),
      ],
    }),
  );
  const run = await runCli(['-p', 'go', '--output-format', 'json', ...ALL], {server, cwd: workspace.path});
  expect(run.code).toBe(0);
  const ofRun = server.requests.map(({body}) => body).filter(isSubagent);
  const [looked] = getToolResults(ofRun[1]!);
  expect(looked!.text).toMatch(/^# Changed by a person\n\/.*\/worktrees\/[^/]+\/tree\/[^/]+\n M README\.md$/);
  expect(getToolResults(ofRun[2]!)[0]!.text).toBe('2');
  const tree = looked!.text.split('\n')[1]!;
  expect(getSystem(ofRun[0]!)).toContain(`Working directory: ${tree}`);
  expect(getSystem(ofRun[0]!)).toContain(`a copy of ${workspace.path} as it was when you began`);
  const report = getToolResults(server.requests.at(-1)!.body)[0]!.text;
  expect(report).toContain('See src/new.ts:1.');
  expect(report).toContain(
    ' · changed 2 files: src/greet.ts, src/new.ts · commands 2 (exit 0, 0) · citations 1/1 exist',
  );
  expect(await workspace.git('status', '--short')).toBe(' M README.md\n D src/greet.ts\n?? src/new.ts\n');
  expect(await workspace.git('rev-parse', 'HEAD')).toBe(before);
  expect(existsSync(tree)).toBe(false);
});

test('changes from a worktree are shown and undone like other changes of a run', async () => {
  const workspace = await project();
  const mine = await home();
  const change = 'echo new > new.ts; rm src/greet.ts; echo more >> README.md; chmod +x src/main.ts';
  const server = await serve(script([task('one')], {one: [callTools([bash(change)])]}));
  await runCli(['-p', 'go', ...ALL], {server, cwd: workspace.path, home: mine});
  const diff = await runCli(['-c', '-p', '/subagents diff 1'], {server, cwd: workspace.path, home: mine});
  expect(diff.stdout).toContain('[code] one changed 4 files.');
  expect(diff.stdout).toContain('+more');
  const undone = await runCli(['-c', '-p', '/subagents undo 1'], {server, cwd: workspace.path, home: mine});
  expect(undone.stdout).toContain('[code] one: 2 files restored:');
  expect(await workspace.git('status', '--short')).toBe('');
});

test('when two runs change the same file, the changes of the second are kept as a patch that its result names', async () => {
  const workspace = await project();
  const change = (word: string) => [callTools([bash(`sleep 0.3; echo ${word} > README.md`)])];
  const server = await serve(script([task('one'), task('two')], {one: change('one'), two: change('two')}));
  const run = await runCli(['-p', 'go', ...ALL], {server, cwd: workspace.path, home: await home()});
  const reports = getToolResults(server.requests.at(-1)!.body).map(({text}) => text);
  const [kept, applied] = reports[0]!.includes('kept') ? [reports[0]!, reports[1]!] : [reports[1]!, reports[0]!];
  expect(applied).toContain(' · changed 1 file: README.md · ');
  const [, patch] = / · changed none · changes kept in (\S+\/changes\.patch) \(conflict in README\.md\) · /.exec(kept)!;
  expect(kept).toMatch(/^Not all that this run changed is in the workspace\. Nothing was applied: README\.md changed/);
  expect(run.stderr).toContain(`changes kept in ${patch} (conflict in README.md)`);
  expect(await workspace.read('README.md')).toBe(applied.includes('one is done') ? 'one\n' : 'two\n');
  await workspace.git('checkout', 'README.md');
  await workspace.git('apply', patch!);
  expect(await workspace.read('README.md')).toBe(kept.includes('one is done') ? 'one\n' : 'two\n');
});

test('in a subdirectory of the repository, the run works in that subdirectory of the worktree', async () => {
  const workspace = await project();
  await workspace.git('config', 'user.name', 'Ann');
  await workspace.git('config', 'user.email', 'ann@example.com');
  const server = await serve(
    script([task('one')], {
      one: [
        callTools([
          bash(
            'pwd; cat ../README.md | head -1; echo x > x.ts; git add x.ts; git commit -q -m x; git status -s; git log --oneline | wc -l',
          ),
        ]),
      ],
    }),
  );
  await runCli(['-p', 'go', ...ALL], {server, cwd: path.join(workspace.path, 'src')});
  const [result] = getToolResults(server.requests.map(({body}) => body).filter(isSubagent)[1]!);
  expect(result!.text).toMatch(/\/tree\/[^/]+\/src\n# Greeter\n2$/);
  expect(getToolResults(server.requests.at(-1)!.body)[0]!.text).toContain(' · changed 1 file: x.ts · ');
  expect(await workspace.git('status', '--short')).toBe('?? src/x.ts\n');
});

test('the changes of a run that a limit ended come back', async () => {
  const workspace = await project();
  const turns = {one: [callTools([write('a.txt', 'a\n')]), callTools([write('b.txt', 'b\n')])]};
  const server = await serve(script([task('one', {max_turns: 1})], turns));
  await runCli(['-p', 'go', ...ALL], {server, cwd: workspace.path});
  const report = getToolResults(server.requests.at(-1)!.body)[0]!.text;
  expect(report).toContain('The run did not finish: limit reached: 1 turn.');
  expect(report).toContain('changed none');
  const longer = await serve(script([task('one', {max_turns: 2})], turns));
  await runCli(['-p', 'go', ...ALL], {server: longer, cwd: workspace.path});
  expect(getToolResults(longer.requests.at(-1)!.body)[0]!.text).toContain('changed 1 file: a.txt');
  expect(await workspace.git('status', '--short')).toBe('?? a.txt\n');
});

test('without a repository, the run fails before any model call and says what is needed', async () => {
  const workspace = await emptyFolder();
  const server = await serve(script([task('one')], {}));
  const run = await runCli(['-p', 'go', ...ALL], {server, cwd: workspace.path});
  await workspace.remove();
  const why = `isolation: worktree needs a git repository: ${workspace.path} is not in one (git init creates one)`;
  expect(run.stderr).toContain(`[code] one - failed: ${why}`);
  expect(getToolResults(server.requests.at(-1)!.body)[0]!.text).toContain(`The run did not finish: ${why}.`);
  expect(server.requests.filter(({body}) => isSubagent(body))).toEqual([]);
});

test('isolation can be set in the definition of an agent, and an invalid value is an error', async () => {
  const workspace = await project();
  const agents = {helper: {description: 'Helps', prompt: 'Help.', tools: '*', isolation: 'worktree'}};
  const server = await serve(
    script([{...task('one'), input: {description: 'one', prompt: 'one', agent_type: 'helper', isolation: 'none'}}], {
      one: [callTools([bash('pwd')])],
    }),
  );
  await runCli(['-p', 'go', '--agents', JSON.stringify(agents), ...ALL], {server, cwd: workspace.path});
  const [result] = getToolResults(server.requests.map(({body}) => body).filter(isSubagent)[1]!);
  expect(result!.text).toContain('/worktrees/');
  const wrong = await serve(script([task('one', {isolation: 'container'})], {}));
  await runCli(['-p', 'go', ...ALL], {server: wrong, cwd: workspace.path});
  expect(getToolResults(wrong.requests.at(-1)!.body)[0]!.text).toContain(
    'isolation must be none or worktree, not "container"',
  );
});

test('after a kill, the next start keeps the changes of the run as a patch, and says so once', async () => {
  const workspace = await project();
  const mine = await home();
  const server = await serve(
    script([task('one')], {one: [callTools([write('new.ts', 'new\n')]), callTools([bash('touch began; sleep 600')])]}),
  );
  const child = await spawnCli(['-p', 'go', ...ALL], {server, cwd: workspace.path, home: mine});
  const found = () => readdirSync(mine.path, {recursive: true, encoding: 'utf8'});
  await until(async () => found().some((name) => name.endsWith('/began')));
  killGroup(child);
  await until(async () => child.signalCode !== null);
  expect(existsSync(path.join(workspace.path, 'new.ts'))).toBe(false);
  const plain = await serve(() => say('hello'));
  const next = await runCli(['-p', 'hello'], {server: plain, cwd: workspace.path, home: mine});
  const [, patch] = /\[code\] one: mini-cc ended before the run did\. .* apply --reject (\S+)/.exec(next.stderr)!;
  await workspace.git('apply', patch!);
  expect(await workspace.read('new.ts')).toBe('new\n');
  expect(found().filter((name) => name.includes('/worktrees'))).toEqual([]);
  const third = await runCli(['-p', 'hello'], {server: plain, cwd: workspace.path, home: mine});
  expect(third.stderr).not.toContain('changes are kept');
});

test('a continued run has a new worktree with the current state of the workspace', async () => {
  const workspace = await project();
  const mine = await home();
  const server = await serve(script([task('one')], {one: [callTools([write('new.ts', 'new\n')])]}));
  const first = await runCli(['-p', 'go', '--output-format', 'json', ...ALL], {
    server,
    cwd: workspace.path,
    home: mine,
  });
  const {session_id: id, subagents} = JSON.parse(first.stdout);
  await workspace.write('new.ts', 'newer\n');
  const next = await serve((body) => {
    if (isSubagent(body)) return countReplies(body) === 2 ? callTools([bash('cat new.ts; pwd')]) : say('saw it');
    const send = {name: 'TaskSend', input: {run_id: subagents[0].runId, message: 'look again'}};
    return JSON.stringify(body.messages.at(-1)).includes('more') ? callTools([send]) : say('done');
  });
  await runCli(['-p', 'more', '--resume', id, ...ALL], {server: next, cwd: workspace.path, home: mine});
  const [seen] = getToolResults(next.requests.map(({body}) => body).filter(isSubagent)[1]!);
  expect(seen!.text).toMatch(/^newer\n\/.*\/worktrees\//);
});

test('a run that goes to the main checkout works in its worktree all the same, and is told each time', async () => {
  const workspace = await project();
  const main = workspace.path;
  const file = `${main}/src/greet.ts`;
  const server = await serve(
    script([task('one')], {
      one: [
        callTools([bash(`cd ${main}/.. && cd ${main} && ls`)]),
        callTools([
          bash('pwd && ls src'),
          {name: 'read_file', input: {path: file}},
          {name: 'glob', input: {pattern: `${main}/src/g*.ts`}},
          {name: 'grep', input: {pattern: 'export', path: `${main}/tests`, mode: 'count'}},
          {name: 'read_file', input: {path: `${main}/missing.ts`}},
        ]),
        callTools([
          {name: 'edit_file', input: {path: file, old_string: 'export', new_string: '/* seen */ export'}},
          write(`${main}/new.ts`, 'export {};\n'),
          bash(`git -C ${main} status --short`),
          bash('git status --short'),
        ]),
      ],
    }),
  );
  const run = await runCli(['-p', 'go', ...ALL], {server, cwd: main});
  expect(run.stderr).not.toContain('denied');
  const ofRun = server.requests.map(({body}) => body).filter(isSubagent);
  const [left] = getToolResults(ofRun[1]!);
  expect(left!.text).toMatch(/\(cd led out of your worktree, to (\S+); cwd is still (\S+\/tree\/[^/]+)\)$/);
  expect(left!.text).toContain(`(${main} is the main checkout, not your worktree: use relative paths)`);
  const [listed, read, globbed, counted, missing] = getToolResults(ofRun[2]!).slice(-5);
  expect(listed!.text).toMatch(/\/tree\/[^/]+\ngreet\.ts\n/);
  const taken = (name: string) => `${main}/${name} is in the main checkout; used: ${name} of your worktree\n`;
  expect(read!.text).toMatch(new RegExp(`^${taken('src/greet.ts')} +1\t`));
  expect(globbed!.text).toBe(`${taken('src/g*.ts')}src/greet.ts`);
  expect(counted!.text).toContain(taken('tests'));
  expect(missing!.text).toContain(taken('missing.ts'));
  const [edited, written, outside, status] = getToolResults(ofRun[3]!).slice(-4);
  expect(edited!.text).toContain(taken('src/greet.ts'));
  expect(written!.text).toContain(taken('new.ts'));
  expect(outside!.text).toContain(`(${main} is the main checkout, not your worktree: use relative paths)`);
  expect(status!.text).toBe(' M src/greet.ts\n?? new.ts');
  expect(await workspace.git('status', '--short')).toBe(' M src/greet.ts\n?? new.ts\n');
});

test('a reading command that names the main checkout asks nobody: it runs in the worktree, which is said', async () => {
  const workspace = await project();
  const server = await serve(script([task('one')], {one: [callTools([bash(`cd ${workspace.path} && ls src`)])]}));
  const run = await runCli(['-p', 'go', '--permission-mode', 'acceptEdits'], {server, cwd: workspace.path});
  expect(run.stderr).not.toContain('denied');
  const [left] = getToolResults(server.requests.map(({body}) => body).filter(isSubagent)[1]!);
  expect(left!.text).toContain(`(${workspace.path} is the main checkout, not your worktree: use relative paths)`);
});
