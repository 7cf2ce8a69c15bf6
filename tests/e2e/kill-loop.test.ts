/**
 * `kill -9` at random moments while five subagents work. Afterwards all transcripts are readable, and the next start
 * announces each background run exactly once. MINI_CC_KILLS sets the number of kills; `npm run soak` uses a hundred.
 */
import {expect, test} from 'vitest';
import {createHome} from '../support/environment.ts';
import {type MessagesBody, type MessagesServer, say} from '../support/messages-server.ts';
import {countReplies, getFirstPrompt} from '../support/request-facts.ts';
import {buildOnce, runCli, spawnCli} from '../support/run-cli.ts';
import {callTools, slow} from '../support/scripted-replies.ts';
import {countAnnouncements, findTranscripts, isRun, readLines} from '../support/session-files.ts';
import {PATIENCE_MS, pause, until} from '../support/wait.ts';
import {isSubagent, processesWith, project, serve, uniqueSleep} from './fixture.ts';

const KILLS = Number(process.env.MINI_CC_KILLS ?? 3);
/** Milliseconds after the first request within which a kill happens. */
const MAX_DELAY = 1_600;
const HANG = uniqueSleep();

const task = (prompt: string, background: boolean) => ({
  name: 'Task',
  input: {description: prompt, prompt, agent_type: 'explore', background},
});
const FIVE = [task('b1', true), task('f1', false), task('b2', true), task('f2', false), task('b3', true)];

/** Runs of different lengths; one waits in a confined command until it is killed. */
function script(body: MessagesBody) {
  if (!isSubagent(body)) {
    // Only at the first start: after a restart the first prompt may still be unanswered.
    if (body.messages.length === 1) return callTools(FIVE);
    return slow(say('noted'), 5);
  }
  const prompt = getFirstPrompt(body);
  const turn = countReplies(body);
  if (prompt === 'b3') return callTools([{name: 'bash', input: {command: HANG}}]);
  const turns = prompt.startsWith('f') ? 2 : 4;
  if (turn >= turns) return slow(say(`found ${prompt}`), 8);
  return slow(callTools([{name: 'bash', input: {command: `echo ${turn}; sleep 0.05`}}]), 8);
}

test(
  `kill -9 at ${KILLS} random moments loses and doubles no announcement, and leaves no process`,
  async () => {
    await buildOnce();
    const server = await serve(script);
    const workspace = await project();
    const seen = {ended: 0, cutOff: 0, none: 0};
    for (let round = 0; round < KILLS; round += 1) {
      const delay = Math.round(Math.random() * MAX_DELAY);
      await killOnce(server, workspace.path, delay, seen).catch((error: unknown) => {
        throw new Error(`killed ${delay} ms after the first request: ${String(error)}`, {cause: error});
      });
    }
    process.stdout.write(`${KILLS} kills: ${JSON.stringify(seen)}\n`);
  },
  (5 + KILLS) * PATIENCE_MS,
);

async function killOnce(
  server: MessagesServer,
  cwd: string,
  delay: number,
  seen: {ended: number; cutOff: number; none: number},
): Promise<void> {
  const home = await createHome();
  try {
    const before = server.requests.length;
    const child = await spawnCli(['-p', 'start'], {server, cwd, home});
    const exited = new Promise((resolve) => child.once('exit', resolve));
    child.stdin.end();
    child.stdout.resume();
    child.stderr.resume();
    await server.waitForRequests(before + 1);
    await pause(delay, 'the kill comes at a random moment');
    // Only mini-cc itself is killed: its confined commands must end by themselves.
    child.kill('SIGKILL');
    await exited;
    await until(async () => (await processesWith(HANG)).length === 0);
    for (const transcript of findTranscripts(home.path)) readLines(transcript);

    for (const prompt of ['go on', 'and on']) {
      const run = await runCli(['--continue', '-p', prompt], {server, cwd, home});
      expect(run).toMatchObject({code: 0, stdout: 'noted\n'});
      checkAnnouncements(home.path, prompt === 'go on' ? seen : undefined);
    }
  } finally {
    await home.remove();
  }
}

/** Each background run is announced once, and no other run. */
function checkAnnouncements(home: string, seen: {ended: number; cutOff: number; none: number} | undefined): void {
  const transcripts = findTranscripts(home);
  const main = transcripts.filter((file) => !isRun(file));
  expect(main).toHaveLength(1);
  const announced = countAnnouncements(main[0]!);
  const expected = new Map<string, number>();
  for (const lines of transcripts.filter(isRun).map(readLines)) {
    // Killed between the creation of the file and its first line: there is no run yet.
    if (lines.length === 0) continue;
    const [header] = lines;
    if (header?.background === true) expected.set(String(header.id), 1);
    const end = lines.find(({type}) => type === 'end');
    expect(end, `a run with the lines ${lines.map(({type}) => type).join(', ')}`).toBeDefined();
    if (seen && header?.background) seen[end?.outcome === 'unknown' ? 'cutOff' : 'ended'] += 1;
  }
  if (seen && expected.size === 0) seen.none += 1;
  expect(Object.fromEntries(announced)).toEqual(Object.fromEntries(expected));
}
