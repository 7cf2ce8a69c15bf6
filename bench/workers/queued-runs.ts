/** Many queued runs of a trivial agent at workers of this machine: throughput, and what each costs the session and Redis. */

import {createHome} from '../../tests/support/environment.ts';
import {callTools, say} from '../../tests/support/messages-server.ts';
import {createRedis, createWorker, type RunningWorker, SECRET, withQueue} from '../../tests/support/queue.ts';
import {spawnCli} from '../../tests/support/run-cli.ts';
import {typescriptProject} from '../../tests/support/workspace.ts';
import {type ModelServer, startModelServer} from '../compared/model-server.ts';
import {readOwnTicks, readTicksWithEnded, readUsage} from '../process-tree.ts';

const WORKERS = 2;
const PLACES = 4;
const MARKS = 4;
const MAIN = 'Begin the work of the bench.';
const MS_PER_TICK = 10;
const MB = 1024 * 1024;

/** What was measured when this number of runs had ended. */
interface Mark {
  readonly runs: number;
  readonly seconds: number;
  readonly sessionMb: number;
  readonly redisMb: number;
}

export interface QueuedRuns {
  readonly date: string;
  readonly runs: number;
  readonly marks: readonly Mark[];
  readonly mostRedisMb: number;
  /** Memory for each run once all are queued and none has ended. */
  readonly redisBytesPerRun: number;
  readonly commandsPerRun: number;
  /** Redis commands that workers without a run send. */
  readonly idleCommandsPerSecond: number;
  readonly connectionsPerWorker: number;
  readonly connectionsOfSession: number;
  readonly cpuMsPerRun: {readonly session: number; readonly workers: number; readonly redis: number};
}

export async function measureQueuedRuns(count: number, onProgress: (text: string) => void): Promise<QueuedRuns> {
  const [redis, server, workspace, home] = [
    ...[await createRedis(), await startModelServer()],
    ...[await typescriptProject(), await createHome()],
  ] as const;
  const workers: RunningWorker[] = [];
  try {
    const args = ['--concurrency', String(PLACES)];
    const start = async () => void workers.push(await createWorker({url: redis.url, server, args}));
    const connections = async () => Number(/connected_clients:(\d+)/.exec(await redis.client.info('clients'))?.[1]);
    const own = await connections();
    for (let index = 0; index < WORKERS; index += 1) await start();
    const idleCommandsPerSecond = (await countCommands(redis.client, 10_000)) / 10 / WORKERS;
    // Each worker has opened all of its connections by now.
    const connectionsPerWorker = ((await connections()) - own) / WORKERS;
    const measured = await play({redis, server, workspace: workspace.path, home, workers, count, onProgress});
    return {
      ...measured,
      idleCommandsPerSecond,
      connectionsPerWorker,
      connectionsOfSession: measured.connections - own - WORKERS * connectionsPerWorker,
    };
  } finally {
    for (const worker of workers) await worker.close();
    await redis.close();
    await server.close();
    await workspace.remove();
    await home.remove();
  }
}

type Client = Awaited<ReturnType<typeof createRedis>>['client'];

async function countCommands(client: Client, ms: number): Promise<number> {
  await client.config('RESETSTAT');
  await new Promise((resolve) => setTimeout(resolve, ms));
  return readCommands(client);
}

async function readCommands(client: Client): Promise<number> {
  return Number(/total_commands_processed:(\d+)/.exec(await client.info('stats'))?.[1]);
}

async function readMemory(client: Client): Promise<number> {
  return Number(/used_memory:(\d+)/.exec(await client.info('memory'))?.[1]);
}

interface Stage {
  readonly redis: Awaited<ReturnType<typeof createRedis>>;
  readonly server: ModelServer;
  readonly workspace: string;
  readonly home: Awaited<ReturnType<typeof createHome>>;
  readonly workers: readonly RunningWorker[];
  readonly count: number;
  onProgress(text: string): void;
}

async function play({redis, server, workspace, home, workers, count, onProgress}: Stage) {
  const {client} = redis;
  const marks: Mark[] = [];
  let [ended, hasBegun, mostBytes, connections] = [0, false, 0, 0];
  let release: () => void = () => undefined;
  const mayAnswer = new Promise<void>((resolve) => {
    release = resolve;
  });
  server.play(async (request) => {
    if (!request.has(MAIN)) {
      await mayAnswer;
      ended += 1;
      return say(`Found it, in part ${ended}.`);
    }
    if (hasBegun) return say('Done.');
    hasBegun = true;
    const prompt = (part: number) => `part ${part} of the work`;
    const input = {agent_type: 'explore', isolation: 'worktree', where: 'workers'};
    return callTools(
      Array.from({length: count}, (_, part) => ({
        ...{name: 'Task', id: `toolu_${part}`},
        input: {...input, description: prompt(part), prompt: prompt(part)},
      })),
    );
  });
  const settings = withQueue(redis.url, {});
  const ticks = () => workers.reduce((sum, {pid}) => sum + readTicksWithEnded(pid), 0);
  const empty = await readMemory(client);
  const main = await spawnCli(['-p', MAIN, '--settings', settings, '--dangerously-skip-permissions'], {
    ...{cwd: workspace, home, server, env: {QUEUE_KEY: SECRET}},
  });
  main.stdout.resume();
  main.stderr.resume();
  main.stdin.end();
  let isOver = false;
  const exit = new Promise<number | null>((resolve) => main.once('close', resolve)).finally(() => {
    isOver = true;
  });
  const queued = Math.min(count, 1_000);
  let bytes = 0;
  while (!isOver && bytes === 0) {
    await new Promise((resolve) => setTimeout(resolve, 200));
    const jobs = (await client.keys('mini-cc:runs*:*-1')).length;
    if (jobs >= queued) bytes = (await readMemory(client)) - empty;
  }
  connections = Number(/connected_clients:(\d+)/.exec(await client.info('clients'))?.[1]);
  await client.config('RESETSTAT');
  const [workersBefore, redisBefore] = [ticks(), readOwnTicks(redis.pid())];
  const mainBefore = readTicksWithEnded(main.pid!);
  let mainTicks = mainBefore;
  const began = performance.now();
  release();
  while (!isOver) {
    const now = readTicksWithEnded(main.pid!);
    if (now > 0) mainTicks = now;
    const memory = await readMemory(client);
    mostBytes = Math.max(mostBytes, memory);
    if (ended >= ((marks.length + 1) * count) / MARKS) {
      const sessionMb = readUsage([main.pid!]).residentMb;
      const mark = {runs: ended, seconds: (performance.now() - began) / 1_000, sessionMb, redisMb: memory / MB};
      marks.push(mark);
      onProgress(
        `${mark.runs} runs, ${mark.seconds.toFixed(0)} s, session ${sessionMb.toFixed(0)} MB, Redis ${mark.redisMb.toFixed(1)} MB`,
      );
    }
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  const code = await exit;
  if (code !== 0 || ended < count)
    throw new Error(`the session ended with ${code}, and ${ended} of ${count} runs answered`);
  const perRun = (before: number, after: number) => ((after - before) * MS_PER_TICK) / count;
  return {
    ...{date: new Date().toISOString(), runs: count, marks, mostRedisMb: mostBytes / MB, connections},
    redisBytesPerRun: bytes / queued,
    commandsPerRun: (await readCommands(client)) / count,
    cpuMsPerRun: {
      session: perRun(mainBefore, mainTicks),
      workers: perRun(workersBefore, ticks()),
      redis: perRun(redisBefore, readOwnTicks(redis.pid())),
    },
  };
}

export function formatQueuedRuns({marks, ...facts}: QueuedRuns): string {
  const rows = marks.map(({runs, seconds, sessionMb, redisMb}) =>
    [runs, seconds.toFixed(0), (runs / seconds).toFixed(1), sessionMb.toFixed(0), redisMb.toFixed(1)].join(' | '),
  );
  const head = 'runs ended | seconds | runs a second | session, MB resident | Redis, MB used';
  return [
    `| ${head} |`,
    '|--:|--:|--:|--:|--:|',
    ...rows.map((row) => `| ${row} |`),
    '',
    JSON.stringify(facts, null, 1),
  ].join('\n');
}
