/**
 * Makes `tests/fixtures/homes` with the program as it is built now:
 * `node scripts/run-source.mjs tests/support/make-homes.ts [NAME…]`. The stored ones are of an earlier build, and tests assert
 * that today's reads them: make a home anew only together with its tests, and add one rather than that.
 */
import {cpSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {type MessagesBody, type Reply, type Script, say, startMessagesServer} from './messages-server.ts';
import {createRedis, SECRET, withQueue} from './queue.ts';
import {countReplies, getFirstPrompt} from './request-facts.ts';
import {killGroup, runCli, spawnCli} from './run-cli.ts';
import {callTool, callTools} from './scripted-replies.ts';
import {findTranscripts, isRun, readLines} from './session-files.ts';
import {createFolder, layOut, type OldHome, pack} from './stored-homes.ts';
import {until} from './wait.ts';
import {typescriptProject} from './workspace.ts';

/** A session of the home, by the first digit of its id. */
const sessionId = (digit: number) => `${String(digit).repeat(8)}-9d4a-4c6b-8e5f-0a1b2c3d4e5f`;
const BYPASS = ['--permission-mode', 'bypassPermissions'];

const isSubagent = (body: MessagesBody) => !body.tools?.some(({name}) => name === 'Task');
const task = (agent: string, description: string, more: object = {}) => ({
  name: 'Task',
  input: {description, prompt: description, agent_type: agent, ...more},
});
const write = (file: string, content: string) => ({name: 'write_file', input: {path: file, content}});

/** The last prompt that a person or a Task call sent. */
function getLastPrompt({messages}: MessagesBody): string {
  const texts = messages.flatMap(({role, content}) =>
    role !== 'user' ? [] : typeof content === 'string' ? [content] : content.flatMap(({text}) => text ?? []),
  );
  return texts.findLast((text) => !text.startsWith('<')) ?? '';
}

/** Model replies since that prompt. */
function countSince(body: MessagesBody, prompt: string): number {
  const at = body.messages.findLastIndex(
    ({role, content}) => role === 'user' && JSON.stringify(content).includes(prompt),
  );
  return body.messages.slice(at).filter(({role}) => role === 'assistant').length;
}

/** For each prompt, of a person or of a Task call, the replies to it. */
const byPrompt =
  (lists: Readonly<Record<string, readonly Reply[]>>): Script =>
  (body) => {
    const prompt = isSubagent(body) ? getFirstPrompt(body) : getLastPrompt(body);
    return lists[prompt]?.[countSince(body, prompt)] ?? say(`Done: ${prompt}`);
  };

interface Making extends OldHome {
  /** Runs mini-cc to its end. */
  run(script: Script, args: readonly string[]): Promise<void>;
  /** Runs mini-cc, and kills it when `isReady`. */
  runUntil(
    script: Script,
    args: readonly string[],
    isReady: () => boolean | Promise<boolean>,
    env?: Record<string, string>,
  ): Promise<void>;
}

async function make(name: string, play: (making: Making) => Promise<void>): Promise<void> {
  const folder = createFolder();
  const made = layOut(folder);
  const source = await typescriptProject();
  try {
    mkdirSync(made.home.env.MINI_CC_HOME!, {recursive: true});
    cpSync(source.path, made.project, {recursive: true, preserveTimestamps: true});
    await play({
      ...made,
      async run(script, args) {
        const server = await startMessagesServer(script);
        const run = await runCli(args, {server, cwd: made.project, home: made.home}).finally(server.close);
        if (run.code !== 0) throw new Error(`mini-cc ${args.join(' ')} ended with ${run.code}: ${run.stderr}`);
      },
      async runUntil(script, args, isReady, env = {}) {
        const server = await startMessagesServer(script);
        const child = await spawnCli(args, {server, cwd: made.project, home: made.home, env});
        const ended = new Promise((resolve) => child.once('exit', resolve));
        child.stdout.resume();
        child.stderr.resume();
        child.stdin.end();
        await until(isReady, 'the moment of the kill').finally(() => killGroup(child));
        await ended;
        await server.close();
      },
    });
    pack(name, folder);
  } finally {
    made.remove();
    await source.remove();
  }
}

/** Three ended sessions: runs in the foreground and the background; changes with checkpoints; and one whose run is archived. */
const sessions = async ({run, home}: Making) => {
  const background = {background: true, label: 'tests'};
  const looking = byPrompt({
    'look around': [
      callTools([task('explore', 'find greet'), task('explore', 'find tests', background)]),
      callTool('bash', {command: 'ls src', background: true}),
      // All that works in the background has ended by then, and is announced before the last reply.
      callTool('bash', {command: 'sleep 2'}),
      say('I looked around.'),
    ],
    'find greet': [callTool('read_file', {path: 'src/greet.ts'}), say('greet is in src/greet.ts:4')],
    'find tests': [callTool('glob', {pattern: 'tests/*.ts'}), say('The test is tests/greet.test.ts:5')],
  });
  const changing = byPrompt({
    'change the readme': [
      callTool('read_file', {path: 'README.md'}),
      callTool('edit_file', {path: 'README.md', old_string: 'Greets', new_string: 'Welcomes'}),
      say('I changed README.md.'),
    ],
    'use a command': [callTool('bash', {command: 'echo log > log.txt; echo more >> README.md'}), say('I used it.')],
    'let an agent do it': [callTools([task('code', 'add a key')]), say('The agent did it.')],
    'add a key': [callTools([write('src/key.ts', 'export const key = 1;\n')]), say('I wrote src/key.ts:1')],
  });
  await run(looking, ['-p', 'look around', '--session-id', sessionId(3), ...BYPASS]);
  // An hour and more ago: the next start archives the run.
  for (const file of findTranscripts(home.path).filter(isRun)) utimesSync(file, 1_700_000_000, 1_700_000_000);
  await run(looking, ['-p', 'look around', '--session-id', sessionId(1), ...BYPASS]);
  for (const prompt of ['change the readme', 'use a command', 'let an agent do it']) {
    const which = prompt === 'change the readme' ? '--session-id' : '--resume';
    await run(changing, ['-p', prompt, which, sessionId(2), ...BYPASS]);
  }
};

/** A session that was killed while a run waited for its model. */
const cut = ({runUntil, home}: Making) => {
  let asked = 0;
  const script: Script = (body) => {
    if (!isSubagent(body)) return callTools([task('explore', 'find greet')], 'I send an agent.');
    if (countReplies(body) === 0) return callTool('glob', {pattern: 'src/*.ts'});
    asked += 1;
    return {type: 'hang'};
  };
  const isWritten = () => findTranscripts(home.path).some((file) => isRun(file) && readLines(file).length === 4);
  return runUntil(script, ['-p', 'look', '--session-id', sessionId(4)], () => asked > 0 && isWritten());
};

/** A run whose changes did not fit, kept as a patch; and one that was killed in its worktree. */
const worktree = async ({run, runUntil, project}: Making) => {
  const isolated = {isolation: 'worktree'};
  const readme = path.join(project, 'README.md');
  const changed = callTools([
    write('made.ts', 'export {};\n'),
    {name: 'bash', input: {command: 'echo theirs > README.md'}},
  ]);
  await run(
    (body) => {
      if (!isSubagent(body)) return countReplies(body) === 0 ? callTools([task('code', 'one', isolated)]) : say('done');
      if (countReplies(body) === 0) return changed;
      writeFileSync(readme, 'mine\n');
      return say('I changed README.md:1');
    },
    ['-p', 'go', '--session-id', sessionId(5), ...BYPASS],
  );
  let asked = 0;
  await runUntil(
    (body) => {
      if (!isSubagent(body)) return callTools([task('code', 'two', isolated)]);
      if (countReplies(body) === 0) return callTools([write('other.ts', 'export {};\n')]);
      asked += 1;
      return {type: 'hang'};
    },
    ['-p', 'go on', '--session-id', sessionId(6), ...BYPASS],
    () => asked > 0,
  );
};

/** Three parts, of which the last one was not done when mini-cc was killed. */
const fanOut = async ({runUntil, home, project}: Making) => {
  for (let index = 0; index < 6; index++) {
    writeFileSync(path.join(project, 'src', `f${index}.ts`), `export const f${index} = 1;\n`);
  }
  const script: Script = (body) => {
    const [, list] = getFirstPrompt(body).split('\n\nFiles:\n');
    const files = list?.split('\n').map((line) => line.replace(/^- /, '')) ?? [];
    if (files.includes('src/f5.ts')) return {type: 'hang'};
    if (countReplies(body) === 0) return callTools(files.map((file) => ({name: 'read_file', input: {path: file}})));
    const edit = (file: string) => ({name: 'edit_file', input: {path: file, old_string: '= 1', new_string: '= 2'}});
    return countReplies(body) === 1 ? callTools(files.map(edit)) : say(`Changed ${files.join(', ')}.`);
  };
  const args = ['--fan-out', 'auto', '--permission-mode', 'acceptEdits', '--session-id', sessionId(7)];
  const ended = () =>
    findTranscripts(home.path).filter((file) => isRun(file) && readLines(file).at(-1)?.type === 'end');
  const isNoted = () =>
    readJournal(home.path)
      .split('\n')
      .filter((line) => /"success"/.test(line)).length >= 2;
  await runUntil(
    script,
    ['-p', 'Update all files matching src/f*.ts', ...args],
    () => ended().length === 2 && isNoted(),
  );
};

function readJournal(home: string): string {
  const files = readdirSync(home, {recursive: true, withFileTypes: true});
  const journal = files.find(({name}) => name === 'fan-outs.jsonl');
  return journal ? readFileSync(path.join(journal.parentPath, journal.name), 'utf8') : '';
}

/** A run whose job waits in a queue without workers. The job itself is stored beside it, in the home. */
const queued = async ({runUntil, home}: Making) => {
  const redis = await createRedis();
  try {
    const where = {isolation: 'worktree', where: 'workers', background: true};
    const script: Script = (body) =>
      countReplies(body) > 0 ? {type: 'hang'} : callTools([task('code', 'add a file', where)]);
    const args = ['--permission-mode', 'acceptEdits', '--session-id', sessionId(8), '--settings', withQueue(redis.url)];
    let job: string | null = null;
    const isQueued = async () => {
      const [key] = await redis.client.keys('mini-cc:runs-*:*-1');
      job = key === undefined ? null : await redis.client.hget(key, 'data');
      return job !== null;
    };
    await runUntil(script, ['-p', 'go', ...args], isQueued, {QUEUE_KEY: SECRET});
    writeFileSync(path.join(home.path, 'queued-job.json'), job!);
  } finally {
    await redis.close();
  }
};

const HOMES = {sessions, cut, worktree, 'fan-out': fanOut, queued};
const chosen = process.argv.slice(2);
for (const [name, play] of Object.entries(HOMES)) {
  if (chosen.length === 0 || chosen.includes(name)) await make(name, play);
}
