/**
 * `kill -9` at random moments while five subagents work: what the next start finds is whole, and each background run
 * is announced exactly once. MINI_CC_KILLS sets how often; `npm run soak` takes a hundred.
 */
import {setTimeout as sleep} from 'node:timers/promises';
import {expect, test} from 'vitest';
import {makeHome} from '../support/environment.ts';
import {type MessagesBody, type MessagesServer, say} from '../support/messages-server.ts';
import {firstPromptOf, turnOf} from '../support/request-facts.ts';
import {buildOnce, runCli, spawnCli} from '../support/run-cli.ts';
import {callTools, slow} from '../support/scripted-replies.ts';
import {announcementsIn, isRun, transcriptsBelow, wholeLines} from '../support/session-files.ts';
import {isSubagent, processesWith, project, serve, until} from './fixture.ts';

const KILLS = Number(process.env.MINI_CC_KILLS ?? 8);
/** From the first request on, so that start-up does not take most of the moments. Milliseconds. */
const MOMENTS = 1_600;
const SECONDS = 7_650;

const task = (prompt: string, background: boolean) => ({
  name: 'Task',
  input: {description: prompt, prompt, agent_type: 'explore', background},
});
const FIVE = [task('b1', true), task('f1', false), task('b2', true), task('f2', false), task('b3', true)];

/** Runs of different length; one hangs in a confined command until it is killed. */
function script(body: MessagesBody) {
  if (!isSubagent(body)) {
    // Not after a restart, where the first prompt may stand unanswered.
    if (body.messages.length === 1) return callTools(FIVE);
    return slow(say('noted'), 5);
  }
  const prompt = firstPromptOf(body);
  const turn = turnOf(body);
  if (prompt === 'b3') return callTools([{name: 'bash', input: {command: `sleep ${SECONDS}`}}]);
  const turns = prompt.startsWith('f') ? 2 : 4;
  if (turn >= turns) return slow(say(`found ${prompt}`), 8);
  return slow(callTools([{name: 'bash', input: {command: `echo ${turn}; sleep 0.05`}}]), 8);
}

test(
  `kill -9 at ${KILLS} random moments loses no announcement, doubles none, and leaves no process`,
  async () => {
    await buildOnce();
    const server = await serve(script);
    const workspace = await project();
    const seen = {ended: 0, cutOff: 0, none: 0};
    for (let round = 0; round < KILLS; round += 1) {
      const delay = Math.round(Math.random() * MOMENTS);
      await oneKill(server, workspace.path, delay, seen).catch((error: unknown) => {
        throw new Error(`killed ${delay} ms after the first request: ${String(error)}`, {cause: error});
      });
    }
    process.stdout.write(`${KILLS} kills: ${JSON.stringify(seen)}\n`);
  },
  30_000 + KILLS * 15_000,
);

async function oneKill(
  server: MessagesServer,
  cwd: string,
  delay: number,
  seen: {ended: number; cutOff: number; none: number},
): Promise<void> {
  const home = await makeHome();
  try {
    const before = server.requests.length;
    const child = await spawnCli(['-p', 'start'], {server, cwd, home});
    const gone = new Promise((resolve) => child.once('exit', resolve));
    child.stdin.end();
    child.stdout.resume();
    child.stderr.resume();
    await server.waitForRequests(before + 1);
    await sleep(delay);
    // The leader alone: what it confined must end by itself.
    child.kill('SIGKILL');
    await gone;
    await until(async () => (await processesWith(`sleep ${SECONDS}`)).length === 0);
    for (const transcript of transcriptsBelow(home.path)) wholeLines(transcript);

    for (const prompt of ['go on', 'and on']) {
      const run = await runCli(['--continue', '-p', prompt], {server, cwd, home});
      expect(run).toMatchObject({code: 0, stdout: 'noted\n'});
      check(home.path, prompt === 'go on' ? seen : undefined);
    }
  } finally {
    await home.remove();
  }
}

/** Each background run once, no other at all. */
function check(home: string, seen: {ended: number; cutOff: number; none: number} | undefined): void {
  const transcripts = transcriptsBelow(home);
  const main = transcripts.filter((file) => !isRun(file));
  expect(main).toHaveLength(1);
  const announced = announcementsIn(main[0]!);
  const expected = new Map<string, number>();
  for (const lines of transcripts.filter(isRun).map(wholeLines)) {
    const [header] = lines;
    if (header?.background === true) expected.set(String(header.id), 1);
    const end = lines.find(({type}) => type === 'end');
    expect(end).toBeDefined();
    if (seen && header?.background) seen[end?.outcome === 'unknown' ? 'cutOff' : 'ended'] += 1;
  }
  if (seen && expected.size === 0) seen.none += 1;
  expect(Object.fromEntries(announced)).toEqual(Object.fromEntries(expected));
}
