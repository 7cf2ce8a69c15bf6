import {existsSync, readFileSync} from 'node:fs';
import path from 'node:path';
import {describe, expect, it, onTestFinished} from 'vitest';
import {SubagentManager} from '../../src/library/index.ts';
import {runCli} from '../support/run-cli.ts';
import {emptyFolder, manyFiles, typescriptProject} from '../support/workspace.ts';
import {project, serve} from './fixture.ts';

/** `npm run soak`: 20,000. */
const FILES = Number(process.env.MINI_CC_FILES ?? 3_000);

describe('without a key and a server', () => {
  it("prints file:line of a symbol's definition first on standard output", async () => {
    const run = await runCli(['-p', 'where is greet defined?'], {cwd: (await project()).path});
    expect(run.code).toBe(0);
    expect(run.stdout.split('\n')[0]).toMatch(/^src\/greet\.ts:4 /);
    expect(run.stderr).toContain(
      'mini-cc: no API key or server is set: the offline model answers. For a real one: export ANTHROPIC_API_KEY=… (or ANTHROPIC_BASE_URL=… for a server of yours), then start again.\n',
    );
  });

  it('explores with subagents, and each file:line that it names exists', async () => {
    const workspace = await project();
    const run = await runCli(['-p', 'Explore this codebase'], {cwd: workspace.path});
    expect(run.code).toBe(0);
    expect(run.stderr).toMatch(/^ {2}\[explore\] .* - done \(\d+ tools, \d+\.\ds\)$/m);
    expect(run.stdout).toContain('TypeScript');
    const cited = [...run.stdout.matchAll(/([\w./-]+\.\w+):(\d+)/g)];
    expect(cited.length).toBeGreaterThan(2);
    for (const [, file, line] of cited) {
      const lines = readFileSync(path.join(workspace.path, file!), 'utf8').split('\n');
      expect(lines.length, `${file}:${line}`).toBeGreaterThanOrEqual(Number(line));
    }
  });

  it('exits with 1 when it cannot do the task, or has no permission', async () => {
    const cannot = await runCli(['-p', 'write me a poem about monads'], {cwd: (await project()).path});
    expect(cannot).toMatchObject({code: 1, stdout: expect.stringMatching(/^I cannot do this offline: /)});
    const denied = await runCli(['-p', 'run touch x'], {cwd: (await project()).path});
    expect(denied).toMatchObject({code: 1, stdout: expect.stringContaining('not permitted')});
  });

  it('says failed in exit code, JSON, progress line and library alike when it cannot do the task', async () => {
    const workspace = await project();
    const json = await runCli(['-p', 'run touch x', '--output-format', 'json'], {cwd: workspace.path});
    expect(json.code).toBe(1);
    expect(JSON.parse(json.stdout)).toMatchObject({is_error: true, subtype: 'error_during_execution'});
    const task = await runCli(['-p', 'Task(code): write a poem'], {cwd: workspace.path});
    expect(task.stderr).toMatch(/^ {2}\[code\] .* - failed: the offline model: to write or change code .* \(/m);
    const manager = new SubagentManager({cwd: workspace.path, home: path.join(workspace.path, '.home')});
    const spawned = await manager.spawn({agent_type: 'code', prompt: 'write a poem about monads'});
    expect(spawned).toMatchObject({success: false, error: expect.stringContaining('needs a language model')});
    await manager.close();
  });

  it('runs, creates and renames as told, with permission', async () => {
    const workspace = await project();
    const at = {cwd: workspace.path};
    const run = await runCli(['-p', 'run `echo it ran > ran.txt; cat ran.txt`', '--dangerously-skip-permissions'], at);
    expect(run).toMatchObject({code: 0, stdout: expect.stringContaining('it ran')});
    await runCli(['-p', 'create notes.md with "# Notes"', '--permission-mode', 'acceptEdits'], at);
    expect(await workspace.read('notes.md')).toContain('# Notes');
    await runCli(['-p', 'rename greet to salute', '--permission-mode', 'acceptEdits'], at);
    expect(await workspace.read('src/greet.ts')).toContain('export function salute(');
    expect(await workspace.read('tests/greet.test.ts')).toContain("salute('Ada', 'fr')");
  });

  it(`works in an empty folder, without git, and among ${FILES} files`, async () => {
    const empty = await emptyFolder();
    onTestFinished(empty.remove);
    expect(await runCli(['-p', 'explore this codebase'], {cwd: empty.path})).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('empty'),
    });
    const plain = await typescriptProject({git: false});
    onTestFinished(plain.remove);
    expect((await runCli(['-p', 'where is wordFor?'], {cwd: plain.path})).stdout).toContain('src/languages.ts:3');
    const many = await manyFiles(FILES, {git: false});
    onTestFinished(many.remove);
    const run = await runCli(['-p', 'where is work1234 defined?'], {cwd: many.path});
    expect(run.stdout).toContain('src/012/file-01234.ts:1');
    expect(await runCli(['-p', 'explore this codebase'], {cwd: many.path})).toMatchObject({code: 0});
  });

  it('never answers after a failed call of a real model', async () => {
    const server = await serve([]);
    const run = await runCli(['-p', 'where is greet defined?'], {server, cwd: (await project()).path});
    expect(run).toMatchObject({code: 1, stdout: ''});
  });

  it('answers with --offline, also when keys are set', async () => {
    const server = await serve([]);
    const run = await runCli(['-p', 'where is greet defined?', '--offline'], {server, cwd: (await project()).path});
    expect(run).toMatchObject({code: 0, stderr: expect.not.stringContaining('API key')});
    expect(server.requests).toHaveLength(0);
  });
});

describe('an escape sequence', () => {
  it('on standard error is shown as text', async () => {
    const workspace = await project();
    const name = 'evil\u001b]0;title\u0007';
    const run = await runCli(['-p', `Task(explore): look at ${name}`], {cwd: workspace.path});
    expect(run.stderr).not.toContain('\u001b');
    expect(existsSync(workspace.path)).toBe(true);
  });
});
