/** A Redis server and workers as processes of their own, for tests and measurements. The caller closes them. */
import {type ChildProcess, spawn} from 'node:child_process';
import {mkdtempSync, realpathSync, rmSync, writeFileSync} from 'node:fs';
import {createServer} from 'node:net';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {Redis} from 'ioredis';
import {createHome, type Home} from './environment.ts';
import type {MessagesServer} from './messages-server.ts';
import {type CliOptions, killGroup, runCli, spawnCli} from './run-cli.ts';
import {until} from './wait.ts';

/** A worker may wait for a Redis server that is away, and several of them share a machine. */
const START_MS = 60_000;

export const SECRET = 'a-secret-of-both-sides-0123456789';

export interface RedisServer {
  readonly port: number;
  readonly url: string;
  /** Of its process that runs now. */
  pid(): number;
  /** With its append-only file. */
  readonly folder: string;
  readonly client: Redis;
  /** Kills it, as a crash does. */
  kill(): Promise<void>;
  start(): Promise<void>;
  close(): Promise<void>;
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const {port} = server.address() as {port: number};
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** A server on loopback, with an append-only file that survives a kill. */
export async function createRedis(config: readonly string[] = []): Promise<RedisServer> {
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'mini-cc-redis-')));
  const port = await freePort();
  let child: ChildProcess | undefined;
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--appendonly', 'yes', '--save', ''];
  const client = new Redis(port, '127.0.0.1', {maxRetriesPerRequest: null, retryStrategy: () => 50, lazyConnect: true});
  client.on('error', () => undefined);
  const start = async () => {
    child = spawn('redis-server', [...args, ...config], {stdio: 'ignore'});
    await until(async () => (await client.ping().catch(() => '')) === 'PONG', 'an answer of Redis');
  };
  const kill = async () => {
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child!.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
  };
  const close = async () => {
    client.disconnect();
    await kill();
    rmSync(folder, {recursive: true, force: true});
  };
  await start();
  return {port, url: `redis://127.0.0.1:${port}`, pid: () => child!.pid!, folder, client, kill, start, close};
}

export interface RunningWorker {
  readonly home: Home;
  readonly pid: number;
  /** Its lines so far. */
  said(): string;
  kill(signal?: NodeJS.Signals): void;
  readonly exit: Promise<number | null>;
  /** Kills it, and removes its home where none was given. */
  close(): Promise<void>;
}

export interface WorkerSettings {
  readonly url: string;
  readonly server?: Pick<MessagesServer, 'url'>;
  readonly args?: readonly string[];
  /** Default: one of its own. */
  readonly home?: Home;
  readonly settings?: unknown;
  readonly env?: Readonly<Record<string, string>>;
  readonly wrap?: CliOptions['wrap'];
}

/** Starts a worker, and waits until it serves. */
export async function createWorker(options: WorkerSettings): Promise<RunningWorker> {
  const own = options.home ?? (await createHome());
  if (options.settings) {
    writeFileSync(path.join(own.path, '.mini-cc', 'settings.json'), JSON.stringify(options.settings));
  }
  const args = ['worker', '--queue', options.url, '--secret-env', 'QUEUE_KEY', ...(options.args ?? [])];
  const child = await spawnCli(args, {
    ...{home: own, env: {QUEUE_KEY: SECRET, ...options.env}},
    ...(options.server && {server: options.server}),
    ...(options.wrap && {wrap: options.wrap}),
  });
  let said = '';
  child.stdout.resume();
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const exit = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const close = async () => {
    killGroup(child);
    await exit;
    if (!options.home) await own.remove();
  };
  const serves = () => {
    if (child.exitCode !== null || child.signalCode !== null) throw new Error(`the worker ended: ${said}`);
    return / serves /.test(said);
  };
  await until(serves, 'the first line of the worker', START_MS).catch(async (error: unknown) => {
    await close();
    throw error;
  });
  return {
    ...{home: own, pid: child.pid!, exit, said: () => said, close},
    kill: (signal = 'SIGKILL') => (signal === 'SIGKILL' ? killGroup(child) : void process.kill(child.pid!, signal)),
  };
}

/** Settings of a session that has this queue. */
export function withQueue(url: string, more: object = {}, queue: object = {}) {
  return JSON.stringify({...more, subagents: {queue: {url, secretEnv: 'QUEUE_KEY', ...queue}}});
}

export function listWorkers(url: string, own: Home) {
  return runCli(['workers', '--queue', url, '--json'], {home: own}).then(({stdout}) => JSON.parse(stdout));
}
