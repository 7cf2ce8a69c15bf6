/** Sessions, runs and announcements survive the end of a process; only one process at a time writes a session. */
import {readdirSync, readFileSync, truncateSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {describe, expect, it, onTestFinished, test} from 'vitest';
import {getProcessPlace} from '../../src/core/util/process-owner.ts';
import {type MessagesBody, say} from '../support/messages-server.ts';
import {answer} from '../support/questions.ts';
import {countReplies, getFirstPrompt, getToolResults} from '../support/request-facts.ts';
import {killGroup, runCli, spawnCli, startCli} from '../support/run-cli.ts';
import {callTool, callTools, slow} from '../support/scripted-replies.ts';
import {countAnnouncements, findTranscripts, isRun, readLines} from '../support/session-files.ts';
import {until} from '../support/wait.ts';
import {home, isSubagent, project, serve} from './fixture.ts';

const task = (prompt: string, more: Record<string, unknown> = {}) => ({
  name: 'Task',
  input: {description: prompt, prompt, agent_type: 'explore', ...more},
});
const isStart = (body: MessagesBody) => getFirstPrompt(body) === 'start' && countReplies(body) === 0;
const runsIn = (place: string) => findTranscripts(place).filter(isRun);

/** Starts a session by the prompt `start`, and kills it once a run has ended. @param alsoUntil what else must have come */
async function killAfterRun(
  options: Parameters<typeof spawnCli>[1],
  alsoUntil?: () => Promise<unknown>,
): Promise<void> {
  const child = await spawnCli(['-p', 'start'], options);
  child.stdin.end();
  const exited = new Promise((resolve) => child.once('exit', resolve));
  await until(async () => runsIn(options.home.path).some((file) => readLines(file).at(-1)?.type === 'end'));
  await alsoUntil?.();
  child.kill('SIGKILL');
  await exited;
}

describe('after kill -9 between the end of a background run and its announcement', () => {
  it('the run is announced once after the restart, and is in the list', async () => {
    let restarted = false;
    const server = await serve((body) => {
      if (isSubagent(body)) return say('found it in src/greet.ts:4');
      if (isStart(body)) return callTools([task('look', {background: true, label: 'greeting'})]);
      // The main agent is giving a long answer when the run ends.
      return restarted ? say('noted') : {type: 'hang'};
    });
    const {path: cwd} = await project();
    const place = await home();
    await killAfterRun({server, cwd, home: place});
    restarted = true;

    const list = await runCli(['-c', '-p', '/subagents list'], {server, cwd, home: place});
    expect(list.stdout).toMatch(
      /^1 {2}done {2}explore {2}greeting {2}0 tools {2}\S+ tokens {2}cost \$0\.\d+ {2}\S+ ago {2}-\n$/,
    );
    expect(await runCli(['-c', '-p', 'go on'], {server, cwd, home: place})).toMatchObject({stdout: 'noted\n'});
    await runCli(['-c', '-p', 'and on'], {server, cwd, home: place});
    const [main] = findTranscripts(place.path).filter((file) => !isRun(file));
    expect([...countAnnouncements(main!).values()]).toEqual([1]);
    // In order: the announcement comes before the new prompt.
    const asked = server.requests
      .map(({body}) => JSON.stringify(body.messages))
      .find((text) => text.includes('go on'))!;
    expect(asked.indexOf('found it in')).toBeLessThan(asked.indexOf('go on'));
  });
});

describe('after kill -9 during a run', () => {
  it('the model gets the result of the run that had ended, and what the other had by then, with its id', async () => {
    let restarted = false;
    const server = await serve((body) => {
      if (!isSubagent(body)) return restarted ? say('noted') : callTools([task('first'), task('second')]);
      if (getFirstPrompt(body) === 'first') return say('found it in src/greet.ts:4');
      const step = countReplies(body);
      return step < 2 ? callTool('glob', {pattern: `*.${step}`}, undefined, `Step ${step} is done.`) : {type: 'hang'};
    });
    const {path: cwd} = await project();
    const place = await home();
    await killAfterRun({server, cwd, home: place}, () => server.waitForRequests(5));
    restarted = true;

    await runCli(['-c', '-p', 'go on'], {server, cwd, home: place});
    const {body} = server.requests.at(-1)!;
    const results = body.messages.flatMap((message) => getToolResults({...body, messages: [message]}));
    expect(results.map(({isError}) => isError)).toEqual([false, true]);
    expect(results[0]!.text).toMatch(/^found it in src\/greet\.ts:4\n\n<task_receipt>\nReceipt: 0 tools .*\nRun: /);
    expect(results[1]!.text).toMatch(
      /^The run did not finish: mini-cc ended before this run did\.\nWhat it had by then:\nStep 0 is done\.\n\nStep 1 is done\.\n\n<task_receipt>\nRun: [\w-]+ · transcript /,
    );
    const list = await runCli(['-c', '-p', '/subagents list'], {server, cwd, home: place});
    expect(list.stdout).toMatch(/^1 {2}unknown [^2]*\n? .* glob\n2 {2}done /);
  });

  it('the run is unknown, its transcript is complete up to its last event, and it can be continued', async () => {
    let restarted = false;
    const server = await serve((body) => {
      if (isSubagent(body)) {
        if (countReplies(body) === 0) return callTool('glob', {pattern: '**/*.ts'});
        return restarted ? say('greet is in src/greet.ts:4') : {type: 'hang'};
      }
      return isStart(body) ? callTools([task('look')]) : say('noted');
    });
    const {path: cwd} = await project();
    const place = await home();
    const child = await spawnCli(['-p', 'start'], {server, cwd, home: place});
    child.stdin.end();
    const exited = new Promise((resolve) => child.once('exit', resolve));
    await server.waitForRequests(3);
    child.kill('SIGKILL');
    await exited;
    restarted = true;
    const [transcript] = runsIn(place.path);
    const types = readLines(transcript!).map(({type}) => type);
    expect(types.filter((type) => type !== 'usage_so_far')).toEqual(['session', 'message', 'message', 'message']);

    const info = await runCli(['-c', '-p', '/subagents info 1'], {server, cwd, home: place});
    expect(info.stdout).toMatch(/^status: {5}unknown\n/);
    expect(info.stdout).toMatch(/^outcome: {4}unknown: mini-cc ended before this run did\n/m);
    expect(info.stdout).toContain(transcript);
    // The result of its Task call reports the end, so there is no announcement.
    const sent = await runCli(['-c', '-p', '/subagents send 1 go on'], {server, cwd, home: place});
    expect(sent).toMatchObject({code: 0, stdout: 'noted\n'});
    const [main] = findTranscripts(place.path).filter((file) => !isRun(file));
    expect([...countAnnouncements(main!).keys()]).toEqual([expect.stringMatching(/#2$/)]);
    const log = await runCli(['-c', '-p', '/subagents log 1 tools'], {server, cwd, home: place});
    expect(log.stdout).toMatch(/user: look\n\n.*\* glob \{"pattern":"\*\*\/\*\.ts"\}/);
    expect(log.stdout).toMatch(/user: go on\n\n\S+ assistant: greet is in src\/greet\.ts:4\n$/);
  });
});

describe('ending mini-cc while background runs work', () => {
  it('stops them, and they are announced when the session is continued', async () => {
    let restarted = false;
    const server = await serve((body) => {
      if (isSubagent(body)) return {type: 'hang'};
      if (isStart(body)) return callTools([task('look', {background: true})]);
      return restarted ? say('noted') : say('at work');
    });
    const {path: cwd} = await project();
    const place = await home();
    const child = await spawnCli(['-p', 'start', '--output-format', 'json'], {server, cwd, home: place});
    child.stdin.end();
    let output = '';
    child.stdout.on('data', (chunk) => {
      output += chunk;
    });
    const exited = new Promise((resolve) => child.once('close', resolve));
    await server.waitForRequests(3);
    child.kill('SIGTERM');
    expect(await exited).toBe(143);
    // There may or may not be a result, but it is not a success.
    expect(output).not.toContain('"success"');
    const [transcript] = runsIn(place.path);
    expect(readLines(transcript!).at(-1)).toMatchObject({type: 'end', outcome: 'stopped'});
    restarted = true;
    await runCli(['-c', '-p', 'go on'], {server, cwd, home: place});
    expect(JSON.stringify(server.requests.at(-1)?.body.messages)).toContain('Notes: - Error: stopped by user');
  });
});

describe('a session that is open in another mini-cc', () => {
  it('cannot be continued or resumed: one clear line, exit 2; a new session can start beside it', async () => {
    const server = await serve((body) => (getFirstPrompt(body) === 'start' ? {type: 'hang'} : slow(say('other'), 1)));
    const {path: cwd} = await project();
    const place = await home();
    const child = await spawnCli(['-p', 'start'], {server, cwd, home: place});
    child.stdin.end();
    await server.waitForRequests(1);
    const words =
      /^mini-cc: Session [0-9a-f-]{36} is open in another mini-cc \(process \d+\): leave that one first, or start a new session\n$/;
    const second = await runCli(['--continue', '-p', 'x'], {server, cwd, home: place});
    expect(second).toMatchObject({code: 2, stdout: ''});
    expect(second.stderr).toMatch(words);
    const [id] = readdirSync(
      path.join(place.path, '.mini-cc/projects', readdirSync(path.join(place.path, '.mini-cc/projects'))[0]!),
    );
    expect((await runCli(['--resume', id!, '-p', 'x'], {server, cwd, home: place})).stderr).toMatch(words);
    expect(await runCli(['-p', 'beside it'], {server, cwd, home: place})).toMatchObject({code: 0, stdout: 'other\n'});
    killGroup(child);
    const files = findTranscripts(place.path);
    expect(files).toHaveLength(2);
    // Neither transcript contains text of the other session.
    const texts = files.map((file) => readFileSync(file, 'utf8'));
    expect(texts.filter((text) => text.includes('start') && text.includes('beside it'))).toEqual([]);
    // The lock of a killed process does not block the next one.
    await until(
      async () =>
        (await runCli(['--resume', id!, '-p', 'x', '--max-turns', '1', '--timeout', '1'], {server, cwd, home: place}))
          .code !== 2,
    );
  });
});

test('a session with an empty transcript, as a full disk leaves it, starts again and says so', async () => {
  const server = await serve(() => say('hello'));
  const {path: cwd} = await project();
  const place = await home();
  await runCli(['-p', 'x'], {server, cwd, home: place});
  const [file] = findTranscripts(place.path);
  truncateSync(file!, 0);
  const id = path.basename(path.dirname(file!));
  const again = await runCli(['--resume', id, '-p', 'y'], {server, cwd, home: place});
  expect(again).toMatchObject({code: 0, stdout: 'hello\n'});
  expect(again.stderr).toContain(`session ${id} is empty: it starts from the beginning`);
  expect(readLines(file!)[0]).toMatchObject({type: 'session', id});
});

describe('a session that is locked in another container', () => {
  async function locked() {
    const server = await serve(() => say('hello'));
    const at = {server, cwd: (await project()).path, home: await home()};
    await runCli(['-p', 'start'], at);
    const [file] = findTranscripts(at.home.path);
    const holder = {version: 1, pid: 1, started: '1', ...getProcessPlace(), pidNamespace: 'pid:[1]'};
    writeFileSync(path.join(path.dirname(file!), 'lock'), JSON.stringify(holder));
    return at;
  }

  it('is named with its age in print mode, exit 2; --take-over goes on with it', async () => {
    const at = await locked();
    const refused = await runCli(['-c', '-p', 'x'], at);
    expect(refused).toMatchObject({code: 2, stdout: ''});
    expect(refused.stderr).toMatch(
      /^mini-cc: Session \S+ is locked by mini-cc in another container \(\S+, process 1\), since 0 min\. .*--take-over.*\n$/,
    );
    expect(await runCli(['-c', '-p', 'x', '--take-over'], at)).toMatchObject({code: 0, stdout: 'hello\n'});
    expect(await runCli(['-c', '-p', 'x'], at)).toMatchObject({code: 0});
    const alone = await runCli(['-p', 'x', '--take-over'], at);
    expect(alone).toMatchObject({code: 2, stderr: 'mini-cc: --take-over goes with --continue and --resume\n'});
  });

  it('is a question in a terminal', async () => {
    const at = await locked();
    const terminal = await startCli(['-c'], at);
    onTestFinished(terminal.close);
    await terminal.waitFor('in another container');
    await answer(terminal, 'Take over this session?', '1');
    await terminal.waitFor('▌ start');
    await terminal.waitFor('hello');
  });
});

test('--continue names a damaged session that it passes over, and --resume goes on with that one', async () => {
  const server = await serve(() => say('hello'));
  const at = {server, cwd: (await project()).path, home: await home()};
  await runCli(['-p', 'the whole one'], at);
  const [whole] = findTranscripts(at.home.path);
  await runCli(['-p', 'the damaged one'], at);
  const damaged = findTranscripts(at.home.path).find((file) => file !== whole)!;
  const id = path.basename(path.dirname(damaged));
  writeFileSync(damaged, readFileSync(damaged, 'utf8').slice(9));
  const run = await runCli(['-c', '-p', 'x'], at);
  expect(run).toMatchObject({code: 0, stdout: 'hello\n'});
  expect(run.stderr).toBe(
    `mini-cc: session ${id} is newer and was passed over: its first line is damaged, 2 messages can be read: --resume ${id} goes on with what can be read\n`,
  );
  expect(JSON.stringify(server.requests.at(-1)!.body.messages)).toContain('the whole one');
  expect(await runCli(['--resume', id, '-p', 'x'], at)).toMatchObject({code: 0, stderr: ''});
  expect(JSON.stringify(server.requests.at(-1)!.body.messages)).toContain('the damaged one');
});

test('--continue says that a damaged line dropped a message', async () => {
  const server = await serve(() => say('hello'));
  const at = {server, cwd: (await project()).path, home: await home()};
  await runCli(['-p', 'one'], at);
  const [file] = findTranscripts(at.home.path);
  writeFileSync(file!, readFileSync(file!, 'utf8').replace('"role":"assistant"', '"role":"assist'));
  const run = await runCli(['-c', '-p', 'x'], at);
  const id = path.basename(path.dirname(file!));
  expect(run.stderr).toBe(
    `mini-cc: session ${id} is damaged: 1 message of it cannot be read and is left out (${file})\n`,
  );
});
