/** The disk with the transcripts is full in the midst of the work: the work waits for room, and nothing is lost. */
import path from 'node:path';
import {expect, it} from 'vitest';
import {say} from '../support/messages-server.ts';
import {getFirstPrompt} from '../support/request-facts.ts';
import {runCli, spawnCli} from '../support/run-cli.ts';
import {callTool, callTools} from '../support/scripted-replies.ts';
import {findTranscripts, isRun, readLines} from '../support/session-files.ts';
import {createSmallDisk} from '../support/small-disk.ts';
import {pause, until} from '../support/wait.ts';
import {explore, home, isSubagent, project, serve} from './fixture.ts';
import {idle, repl, send} from './repl-fixture.ts';

const PLACE = /The disk is full: nothing can be written to (\S+) \(file system mounted at (\S+), 0 B free\)/;

/** More than fits into what is left of the last block of a file. */
const long = (text: string) =>
  `${text}\n\n${'And more of it, in a line of its own that goes on a bit.\n\n'.repeat(150)}`;

/** A home on a small disk of its own. */
async function given() {
  const place = await home();
  const folder = path.join(place.path, '.mini-cc');
  // The REPL keeps its compiled code there, some megabytes.
  const disk = createSmallDisk(folder, 16_000);
  return {disk, folder, at: {home: place, cwd: (await project()).path, wrap: disk.wrap}};
}

it('print mode waits and says so on standard error, and goes on by itself', async () => {
  const {disk, folder, at} = await given();
  const server = await serve(async (body, index) => {
    if (index === 0) return callTool('glob', {pattern: '*.ts'});
    if (index === 1) await disk.fill();
    return index === 1 ? callTools([explore()], long('I will look.')) : say(isSubagent(body) ? 'found' : 'all done');
  });
  const child = await spawnCli(['-p', 'start'], {...at, server});
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk) => {
    stdout += chunk;
  });
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  child.stdin.end();
  const exited = new Promise((resolve) => child.once('close', resolve));
  await until(async () => PLACE.test(stderr));
  const [, where, mount] = PLACE.exec(stderr)!;
  expect(path.dirname(path.dirname(path.dirname(where!)))).toBe(folder);
  expect(mount).toBe(folder);
  // No call runs, and no request is made, before its line is on disk.
  await pause(1_500, 'it tries the disk again each second, and says nothing of it');
  expect(server.requests).toHaveLength(2);
  await disk.free();
  expect(await exited).toBe(0);
  expect(stdout).toBe('all done\n');
  expect(stderr.match(/disk is full/g)).toHaveLength(1);
  const [main] = findTranscripts(disk.copy).filter((file) => !isRun(file));
  const words = JSON.stringify(readLines(main!));
  for (const said of ['I will look.', 'found', 'all done']) expect(words).toContain(said);
});

it('--timeout ends the wait of print mode: exit code 3, the answer on standard output, and what is not written named', async () => {
  const {disk, at} = await given();
  const server = await serve(async () => {
    await disk.fill();
    return say(long('the answer'));
  });
  const run = await runCli(['-p', 'start', '--timeout', '8'], {...at, server});
  expect(run).toMatchObject({code: 3, stdout: expect.stringMatching(/^the answer\n/)});
  expect(run.stderr).toMatch(PLACE);
  expect(run.stderr).toMatch(
    /mini-cc: The last (?:line|\d lines) of \S+session\.jsonl (?:is|are) not written\. The disk is full/,
  );
});

it('the REPL shows the answer and a notice with the place; Esc ends the wait, and the next prompt loses nothing', async () => {
  const {disk, folder, at} = await given();
  const server = await serve(async (_, index) => {
    if (index > 0) return say(`turn ${index}`);
    await disk.fill();
    return say(long('an answer that was shown'));
  });
  const terminal = await repl({...at, server});
  await send(terminal, 'start');
  await terminal.waitFor('an answer that was shown');
  await terminal.waitFor('The disk is full');
  expect(terminal.scrollback().join('')).toContain(folder);
  terminal.press('escape');
  await idle(terminal);
  await disk.free();
  await send(terminal, 'and now');
  await terminal.waitFor('turn 1');
  const [first, second] = server.requests.map(({body}) => body);
  expect(getFirstPrompt(first!)).toBe('start');
  expect(JSON.stringify(second!.messages)).toContain('an answer that was shown');
  await idle(terminal);
  terminal.type('\x04');
  await terminal.exit;
  const words = JSON.stringify(readLines(findTranscripts(disk.copy)[0]!));
  for (const said of ['an answer that was shown', 'and now', 'turn 1']) expect(words).toContain(said);
});
