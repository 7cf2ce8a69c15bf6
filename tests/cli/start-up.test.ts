/** Counts that keep starts fast: what each loads and starts. Times are measured by `npm run bench`. */
import {mkdtempSync, readFileSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {expect, it, onTestFinished} from 'vitest';
import {home, project, serve} from '../e2e/fixture.ts';
import {say} from '../support/messages-server.ts';
import {runCli, startCli} from '../support/run-cli.ts';

interface Counts {
  /** Names of files of dist/, without hashes. */
  readonly files: readonly string[];
  /** Processes that were started before the first request was sent. */
  readonly processes: number;
  readonly requests: number;
  /** The implementation of the global `fetch`, which takes 45 ms. */
  readonly loadsFetch: boolean;
}

/** Node.js itself tells each load, each process and each request. */
const COUNTER = `
// An import would load what the program does not.
const [{subscribe}, {writeFileSync}, {registerHooks}] = ['diagnostics_channel', 'fs', 'module'].map((name) =>
  process.getBuiltinModule('node:' + name),
);
const [files, counts] = [[], {processes: 0, requests: 0}];
registerHooks({
  load(url, context, next) {
    const name = /dist\\/(?:chunks\\/)?([\\w.]+?(?:-\\w+)*?)(?:-[\\w-]{8})?\\.js$/.exec(url)?.[1];
    if (name) files.push(name);
    return next(url, context);
  },
});
subscribe('child_process', () => void (counts.requests || counts.processes++));
subscribe('http.client.request.start', () => void counts.requests++);
process.on('exit', () => {
  const loadsFetch = process.moduleLoadList.includes('NativeModule internal/deps/undici/undici');
  writeFileSync(process.env.COUNTS, JSON.stringify({files, ...counts, loadsFetch}));
});`;

function counting() {
  const folder = mkdtempSync(path.join(tmpdir(), 'start-up-'));
  const [preload, file] = [path.join(folder, 'counter.mjs'), path.join(folder, 'counts.json')];
  writeFileSync(preload, COUNTER);
  return {
    env: {NODE_OPTIONS: `--import=${preload}`, COUNTS: file},
    read: () => JSON.parse(readFileSync(file, 'utf8')) as Counts,
  };
}

it.each([
  ['--version', ['--version'], 0, 1],
  ['--help', ['--help'], 0, 6],
  ['a wrong flag', ['--hlep'], 2, 6],
  ['no prompt and no terminal', [], 2, 7],
])('%s loads the entry and little else', async (_, args, code, files) => {
  const {env, read} = counting();
  expect(await runCli(args, {env, home: await home()})).toMatchObject({code});
  const counts = read();
  expect(counts.files.length, counts.files.join(' ')).toBeLessThanOrEqual(files);
  expect(counts).toMatchObject({processes: 0, requests: 0, loadsFetch: false});
});

it('a prompt in print mode loads a few large files, and starts no process before its request', async () => {
  const {env, read} = counting();
  const server = await serve([say('hi'), say('hi')]);
  const options = {env, server, home: await home(), cwd: (await project()).path};
  // The first start with a home tries the sandbox, and keeps what it found.
  for (let start = 0; start < 2; start++) {
    expect(await runCli(['-p', 'hello'], options)).toMatchObject({code: 0, stdout: 'hi\n'});
  }
  const counts = read();
  expect(counts.files.length, counts.files.join(' ')).toBeLessThanOrEqual(15);
  expect(counts).toMatchObject({processes: 0, requests: 1});
  // What splits prompts over many files is off here.
  expect(counts.files).not.toContain('detection');
  // The idle prompt must not load it: there it would be missed if it had another name.
  expect(counts.files).toContain('model');
});

it('the idle prompt loads no client of a model', async () => {
  const {env, read} = counting();
  const server = {url: 'http://127.0.0.1:9'};
  const terminal = await startCli([], {env, server, home: await home(), cwd: (await project()).path});
  onTestFinished(terminal.close);
  await terminal.waitFor(/^default · /m);
  terminal.press('ctrl-d');
  await terminal.waitForExit();
  const counts = read();
  expect(counts.files.length, counts.files.join(' ')).toBeLessThanOrEqual(24);
  expect(counts).toMatchObject({requests: 0});
  expect(counts.files).not.toContain('model');
});

it('a Node.js that is too old gets one line', async () => {
  // The newest that has no call for its own modules was 20.15.
  const run = await runCli(['--help'], {
    env: {NODE_OPTIONS: '--import=data:text/javascript,delete%20process.getBuiltinModule'},
  });
  expect(run).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringMatching(/^mini-cc needs Node\.js 22\.12 or newer; .*\n$/),
  });
});
