/**
 * `kill -9` at random moments of the later steps: a worktree is brought back, a run is undone, the session is rewound or
 * compacted. Afterwards nothing is lost, and the next start leaves nothing behind: in the home, in TMPDIR, in the workspace
 * and in its git. MINI_CC_LATE_KILLS sets the number of kills; `npm run soak` uses 200.
 */
import {mkdirSync, readdirSync, readFileSync} from 'node:fs';
import path from 'node:path';
import {execa} from 'execa';
import {expect, it, onTestFinished} from 'vitest';
import {listProcessesOf} from '../../bench/process-tree.ts';
import {home, isSubagent, serve} from '../e2e/fixture.ts';
import {type MessagesBody, say} from '../support/messages-server.ts';
import {createRandom} from '../support/random.ts';
import {countReplies, getSystem} from '../support/request-facts.ts';
import {runCli, spawnCli} from '../support/run-cli.ts';
import {callTool} from '../support/scripted-replies.ts';
import {findTranscripts, readLines} from '../support/session-files.ts';
import {pause, until} from '../support/wait.ts';
import {typescriptProject} from '../support/workspace.ts';

const KILLS = Number(process.env.MINI_CC_LATE_KILLS ?? 4);
const SEED = Number(process.env.MINI_CC_LATE_KILLS_SEED ?? 1);
const FILES = 60;
const SCENES = ['bring-back', 'undo', 'rewind', 'compact'] as const;
const CHANGE = 'for n in many/*; do echo new > $n; done';

type Setting = Awaited<ReturnType<typeof setUp>>;

async function setUp(isolation: 'worktree' | 'none') {
  const [at, workspace] = [await home(), await typescriptProject()];
  onTestFinished(workspace.remove);
  const cwd = workspace.path;
  const git = (...args: string[]) => execa('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], {cwd});
  await execa('bash', ['-c', `mkdir many; for n in $(seq ${FILES}); do echo old > many/$n; done`], {cwd});
  await git('add', '-A');
  await git('commit', '-qm', 'many');
  const temporary = path.join(at.path, 'temporary');
  mkdirSync(temporary);
  const input = {description: 'change all', prompt: 'change all', agent_type: 'code', isolation};
  const server = await serve((body: MessagesBody) => {
    if (getSystem(body).startsWith('You summarise')) return say('## Task\nchange all files');
    if (isSubagent(body)) return countReplies(body) === 0 ? callTool('bash', {command: CHANGE}) : say('changed');
    return countReplies(body) === 0 ? callTool('Task', input) : say('all done');
  });
  const given = {home: at, server, cwd, env: {TMPDIR: temporary}};
  const run = (...args: string[]) => runCli([...args, '--dangerously-skip-permissions'], given);
  /** Other files of the folder, such as drafts, come and go while mini-cc writes. */
  const names = readdirSync(path.join(cwd, 'many'));
  const count = (text: string) =>
    names.filter((name) => readFileSync(path.join(cwd, 'many', name), 'utf8') === text).length;
  return {at, cwd, git, temporary, server, given, run, count};
}

async function kill({given, at}: Setting, args: readonly string[], isBegun: () => boolean, delay: number) {
  const child = await spawnCli([...args, '--dangerously-skip-permissions'], given);
  const exited = new Promise((resolve) => child.once('exit', resolve));
  child.stdin.end();
  child.stdout.resume();
  child.stderr.resume();
  await until(() => isBegun() || child.exitCode !== null);
  await pause(delay, 'the kill comes at a random moment');
  child.kill('SIGKILL');
  await exited;
  await until(() => listProcessesOf(at.path).length === 0);
}

/** What the command that was killed should have done is done, or is said with the command that does it. */
async function finish(scene: 'undo' | 'rewind', {run, count}: Setting): Promise<void> {
  const back = count('old\n');
  const {stderr} = await run('--continue', '-p', '/cost');
  const named = /was cut off when mini-cc ended: (\/.*) finishes it\./.exec(stderr)?.[1];
  if (back > 0 && back < FILES) expect(named, `${back} of ${FILES} files are back: ${stderr}`).toBeDefined();
  const first = scene === 'undo' ? '/subagents undo 1' : '/rewind 1 both';
  if (named !== undefined || back === 0) expect(await run('--continue', '-p', named ?? first)).toMatchObject({code: 0});
  expect(count('old\n')).toBe(FILES);
}

async function expectNothingLeft({at, cwd, git, temporary}: Setting): Promise<void> {
  expect(readdirSync(temporary)).toEqual([]);
  const names = readdirSync(cwd, {recursive: true, encoding: 'utf8'});
  expect(names.filter((name) => /mini-cc-draft|mini-cc-kept|\.lock$/.test(name))).toEqual([]);
  expect((await git('worktree', 'list')).stdout.split('\n')).toHaveLength(1);
  expect(
    (await git('status', '--porcelain')).stdout.split('\n').filter((line) => !/^(?: M many\/|$)/.test(line)),
  ).toEqual([]);
  const own = readdirSync(path.join(at.path, '.mini-cc'), {recursive: true, encoding: 'utf8'});
  expect(own.filter((name) => /mini-cc-draft|\/lock|repaired$|worktrees\/[^/]+\/tree/.test(name))).toEqual([]);
  for (const transcript of findTranscripts(at.path)) readLines(transcript);
}

const kills = Array.from({length: KILLS}, (_, index) => [SCENES[index % SCENES.length]!, SEED + index] as const);

it.each(kills)('a kill in the midst of %s loses nothing and leaves nothing (seed %i)', async (scene, seed) => {
  const dice = createRandom(seed * 7919);
  const setting = await setUp(scene === 'bring-back' ? 'worktree' : 'none');
  const {run, server, count, at} = setting;
  if (scene === 'bring-back') {
    await kill(setting, ['-p', 'go'], () => server.requests.length > 2, dice(700));
    const kept = () =>
      readdirSync(at.path, {recursive: true, encoding: 'utf8'}).some((name) => name.endsWith('.patch'));
    expect((await run('--continue', '-p', '/cost')).code).toBe(0);
    expect(count('new\n') === FILES || (count('new\n') + count('old\n') === FILES && kept())).toBe(true);
  } else {
    expect(await run('-p', 'go')).toMatchObject({code: 0});
    expect(count('new\n')).toBe(FILES);
    const before = server.requests.length;
    if (scene === 'compact') {
      await kill(setting, ['--continue', '-p', '/compact'], () => server.requests.length > before, dice(300));
    } else {
      const command = scene === 'undo' ? '/subagents undo 1' : '/rewind 1 both';
      await kill(setting, ['--continue', '-p', command], () => count('old\n') > 0, dice(150));
      await finish(scene, setting);
    }
  }
  expect(await run('--continue', '-p', 'and on')).toMatchObject({code: 0});
  await expectNothingLeft(setting);
});
