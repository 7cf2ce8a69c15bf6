/** One round of bad luck: a session with runs at two workers, faults by the dice, and what must hold at its end. */
import {expect} from 'vitest';
import {listProcessesOf} from '../../../bench/process-tree.ts';
import {isSubagent, processesWith} from '../../e2e/fixture.ts';
import {createHome, type Home} from '../../support/environment.ts';
import {
  callTool,
  type MessagesBody,
  type MessagesServer,
  say,
  startMessagesServer,
} from '../../support/messages-server.ts';
import {
  createRedis,
  createWorker,
  type RedisServer,
  type RunningWorker,
  SECRET,
  withQueue,
} from '../../support/queue.ts';
import {createRandom} from '../../support/random.ts';
import {runCli, spawnCli} from '../../support/run-cli.ts';
import {countAnnouncements, findTranscripts, isRun, type Line, readLines} from '../../support/session-files.ts';
import {becomesTrue, pause, until, within} from '../../support/wait.ts';
import {typescriptProject, type Workspace} from '../../support/workspace.ts';
import {dispatchSlots, editFiles, readFiles} from './chaos-replies.ts';
import {type DroppingProxy, startProxy} from './dropping-proxy.ts';
import {describeRedis, dumpRedis} from './redis-contents.ts';

const WORKERS = 2;
const PLACES = 3;
const DROP_MS = 20_000;
const HANG_MS = 20_000;
/** Lines between those of two runs in the file that all of them change. */
const APART = 8;
/** The last run of a round works for so long that it is stopped, killed or cut off by its time limit. */
const LIMIT_S = 8;
const MAX_ATTEMPTS = 3;
/** From when all is well again until the session has ended. */
const END_MS = 150_000;
const KEY = 'sk-very-secret-0123456789abcdef';
const MARKER = 'an-environment-0123456789';
/** Why a fault lasts for a time that no event ends. */
const BAD_LUCK = 'a fault lasts as long as the dice say';
/** How long is waited for what several processes do together. */
const MAX_WAIT_MS = 60_000;
const FAULTS = ['worker', 'hang', 'main', 'redis', 'network'] as const;

type Fault = (typeof FAULTS)[number];

export async function openRound(seed: number): Promise<Round> {
  const dice = createRandom(seed * 7919);
  for (let warm = 0; warm < 5; warm += 1) dice(2);
  const redis = await createRedis();
  const round = new Round(seed, dice, redis, await createHome(), await typescriptProject());
  await round.open();
  return round;
}

interface Place {
  readonly home: Home;
  readonly proxy: DroppingProxy;
  worker: RunningWorker | undefined;
}

class Round {
  readonly faults: string[] = [];
  readonly #slots: number;
  readonly #stops: boolean;
  readonly #places: Place[] = [];
  /** First requests of each run, by its slot. Milliseconds of `performance.now()`. */
  readonly #begun = new Map<number, number[]>();
  /** When workers went away, milliseconds of `performance.now()`. */
  readonly #gone: number[] = [];
  #server!: MessagesServer;
  #own!: DroppingProxy;
  #main: Awaited<ReturnType<typeof spawnCli>> | undefined;
  #mainEnd: Promise<number | null> = Promise.resolve(null);
  #said = '';
  #stopMs: number | undefined;
  #takeoverMs = 0;

  constructor(
    private readonly seed: number,
    private readonly dice: (below: number) => number,
    private readonly redis: RedisServer,
    private readonly home: Home,
    private readonly workspace: Workspace,
  ) {
    this.#slots = 3 + dice(3);
    this.#stops = dice(3) === 0;
  }

  /** Found in the list of processes: what a run of this round started. */
  get #command(): string {
    return `sleep ${76_000 + this.seed}`;
  }

  describe(): string {
    const begun = [...this.#begun].map(([slot, at]) => `${slot}×${at.length}`).join(' ');
    const times = [
      ...(this.#stopMs === undefined ? [] : [`stopped in ${this.#stopMs.toFixed(0)} ms`]),
      ...(this.#takeoverMs > 0 ? [`taken over in ${(this.#takeoverMs / 1000).toFixed(1)} s`] : []),
    ];
    return [`${this.#slots} runs`, ...this.faults, `attempts ${begun}`, ...times].join(', ');
  }

  async open(): Promise<void> {
    this.#server = await startMessagesServer((body) => this.#answer(body));
    this.#own = await startProxy(this.redis.port);
    for (let slot = 0; slot < this.#slots; slot += 1) {
      await this.workspace.write(`parts/f${slot}.ts`, `export const value = 'old ${slot}';\n`);
    }
    const shared = Array.from({length: this.#slots * APART}, (_, line) =>
      line % APART === 0 ? `slot ${line / APART}: old` : `line ${line}`,
    );
    await this.workspace.write('shared.txt', `${shared.join('\n')}\n`);
    await this.workspace.git('add', '-A');
    await this.workspace.git('commit', '-qm', 'parts');
    for (let count = 0; count < WORKERS; count += 1) {
      const place: Place = {home: await createHome(), proxy: await startProxy(this.redis.port), worker: undefined};
      this.#places.push(place);
      await this.#startWorker(place);
    }
  }

  async play(): Promise<void> {
    await this.#startMain(['-p', 'go']);
    await until(() => this.#begun.size > 0, 'the first run', MAX_WAIT_MS);
    const count = 1 + this.dice(3);
    const ends: Promise<void>[] = [];
    const last = new Map<Fault, Promise<void>>();
    for (let step = 0; step < count; step += 1) {
      await pause(this.dice(3_000), 'faults come at random moments');
      const fault = FAULTS[this.dice(FAULTS.length)]!;
      // The same one comes again when the first is over.
      const played = (last.get(fault) ?? Promise.resolve()).then(() => this.#play(fault));
      last.set(fault, played);
      ends.push(played);
    }
    await Promise.all(ends);
  }

  /** Everything is well again: the session goes on until all its runs have ended. */
  async end(): Promise<void> {
    for (const {proxy} of [...this.#places, {proxy: this.#own}]) proxy.heal();
    const code = await within(this.#mainEnd, END_MS, 'the end of the session').catch(async (error: Error) => {
      throw new Error(`${error.message}: ${await this.#explain()}`);
    });
    expect([0, null], this.#said).toContain(code);
    for (const prompt of ['go on', 'and on']) {
      const run = await runCli(['-p', '--continue', prompt, ...this.#flags], this.#options);
      expect(run, run.stderr).toMatchObject({code: 0});
    }
    await this.#expectEnds();
    await this.#expectNothingLeft();
  }

  async close(): Promise<void> {
    this.#main?.kill('SIGKILL');
    for (const {worker, proxy, home} of this.#places) {
      await worker?.close();
      await proxy.close();
      await home.remove();
    }
    await this.#own.close();
    await this.redis.close();
    await this.#server.close();
    await this.workspace.remove();
    await this.home.remove();
  }

  get #flags(): readonly string[] {
    return ['--permission-mode', 'acceptEdits', '--settings', withQueue(`redis://127.0.0.1:${this.#own.port}`)];
  }

  get #options() {
    const env = {QUEUE_KEY: SECRET, ANTHROPIC_API_KEY: KEY, MARKER};
    return {cwd: this.workspace.path, home: this.home, server: this.#server, env};
  }

  async #startMain(args: readonly string[]): Promise<void> {
    const main = await spawnCli([...args, ...this.#flags], this.#options);
    main.stdin.end();
    main.stdout.resume();
    main.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#said += text;
    });
    this.#main = main;
    this.#mainEnd = new Promise((resolve) => main.once('close', resolve));
  }

  async #startWorker(place: Place): Promise<void> {
    place.worker = await createWorker({
      ...{url: `redis://127.0.0.1:${place.proxy.port}`, server: this.#server, home: place.home},
      ...{args: ['--concurrency', String(PLACES)], settings: {permissions: {allow: ['bash(sleep *)']}}},
      env: {ANTHROPIC_API_KEY: KEY, MARKER},
    });
  }

  async #play(fault: Fault): Promise<void> {
    if (fault === 'worker') return this.#killWorker();
    if (fault === 'hang') return this.#hangWorker();
    if (fault === 'main') return this.#killMain();
    if (fault === 'redis') return this.#killRedis();
    return this.#dropNetwork();
  }

  async #killWorker(): Promise<void> {
    const index = this.dice(this.#places.length);
    const awayMs = this.dice(5_000);
    const place = this.#places[index]!;
    const {worker} = place;
    if (!worker) return;
    this.faults.push(`worker ${index + 1} killed, back after ${awayMs} ms`);
    place.worker = undefined;
    process.kill(worker.pid, 'SIGKILL');
    await worker.exit;
    this.#gone.push(performance.now());
    await pause(awayMs, BAD_LUCK);
    for (let tries = 0; !place.worker && tries < 60; tries += 1) {
      await this.#startWorker(place).catch(() => pause(1_000, 'Redis may be away, and comes back at a random moment'));
    }
  }

  async #hangWorker(): Promise<void> {
    const index = this.dice(this.#places.length);
    const {worker} = this.#places[index]!;
    if (!worker) return;
    this.faults.push(`worker ${index + 1} hangs for ${HANG_MS / 1000} s`);
    process.kill(worker.pid, 'SIGSTOP');
    this.#gone.push(performance.now());
    await pause(HANG_MS, BAD_LUCK);
    // It may have been killed meanwhile.
    if (this.#places[index]!.worker === worker) process.kill(worker.pid, 'SIGCONT');
  }

  async #killMain(): Promise<void> {
    const awayMs = this.dice(3_000);
    this.faults.push(`session killed, back after ${awayMs} ms`);
    this.#main!.kill('SIGKILL');
    await this.#mainEnd;
    await pause(awayMs, BAD_LUCK);
    await this.#startMain(['-p', '--continue', 'go on']);
  }

  async #killRedis(): Promise<void> {
    const awayMs = this.dice(4_000);
    this.faults.push(`Redis killed, back after ${awayMs} ms`);
    await this.redis.kill();
    await pause(awayMs, BAD_LUCK);
    await this.redis.start();
  }

  async #dropNetwork(): Promise<void> {
    const whose = this.dice(WORKERS + 2);
    const how = (['silent', 'reset', 'forgotten'] as const)[(this.seed + this.faults.length) % 3]!;
    const all = [...this.#places.map(({proxy}) => proxy), this.#own];
    const hit = whose > WORKERS ? all : [all[whose]!];
    const names = [...this.#places.map((_, index) => `worker ${index + 1}`), 'session', 'all'];
    if (how === 'forgotten') {
      this.faults.push(`connections of ${names[whose]} forgotten`);
      for (const proxy of hit) proxy.forget();
      return;
    }
    this.faults.push(`network of ${names[whose]} ${how} for ${DROP_MS / 1000} s`);
    for (const proxy of hit) proxy.drop(how);
    await pause(DROP_MS, BAD_LUCK);
    for (const proxy of hit) proxy.heal();
  }

  async #answer(body: MessagesBody) {
    return isSubagent(body) ? this.#work(body) : this.#direct(body);
  }

  #direct(body: MessagesBody) {
    const said = JSON.stringify(body.messages);
    if (!said.includes('slot 0')) {
      return dispatchSlots(this.#slots);
    }
    const ids = [...said.matchAll(/runId\\*":\\*"([\w-]+)/g)].map(([, id]) => id!);
    const last = ids[this.#slots - 1];
    if (!this.#stops || !last || said.includes('TaskStop')) return say('Go on.');
    void this.#measureStop();
    return callTool('TaskStop', {run_id: last});
  }

  /** Milliseconds until the model's server sees the end of the last run's request. */
  async #measureStop(): Promise<void> {
    const slot = this.#slots - 1;
    const from = performance.now();
    const isHere = (line: string) => line.includes(`Do slot ${slot}`);
    const open = this.#server.requests.filter(
      ({body, durationMs}) => durationMs === undefined && isSubagent(body) && isHere(JSON.stringify(body.messages[0])),
    );
    if (open.length === 0) return;
    await becomesTrue(() => open.every(({durationMs}) => durationMs !== undefined), 60_000);
    if (open.some(({abandoned}) => abandoned)) this.#stopMs = performance.now() - from;
  }

  async #work(body: MessagesBody) {
    const slot = Number(/Do slot (\d+)/.exec(JSON.stringify(body.messages[0]))?.[1]);
    const turns = body.messages.filter(({role}) => role === 'assistant').length;
    if (turns === 0) this.#noteBegin(slot);
    await pause(100 + ((slot * 7 + turns * 3) % 5) * 400, 'a model takes its time, and faults come meanwhile');
    const isLong = slot === this.#slots - 1 && this.#begun.get(slot)!.length === 1;
    if (turns === 0) return readFiles(slot);
    if (turns === 1 && isLong) return callTool('bash', {command: this.#command, timeout_seconds: LIMIT_S});
    if (turns > 2) return say(`Slot ${slot} is done.`);
    if (turns === 1) return callTool('bash', {command: 'sleep 0.5'});
    return editFiles(slot);
  }

  #noteBegin(slot: number): void {
    const now = performance.now();
    const before = this.#begun.get(slot) ?? [];
    const gone = this.#gone.findLast((at) => at > (before.at(-1) ?? Number.POSITIVE_INFINITY));
    if (gone !== undefined) this.#takeoverMs = Math.max(this.#takeoverMs, now - gone);
    this.#begun.set(slot, [...before, now]);
  }

  /** Each run ended once, was announced once, and its changes are there once if it says so, else not at all. */
  async #expectEnds(): Promise<void> {
    const transcripts = findTranscripts(this.home.path);
    const main = transcripts.find((file) => !isRun(file))!;
    const runs = transcripts.filter(isRun).map(readLines);
    expect(runs.length).toBe(this.#slots);
    const announced = countAnnouncements(main);
    const shared = (await this.workspace.read('shared.txt')).split('\n');
    for (const lines of runs) {
      const slot = Number(/Do slot (\d+)/.exec(JSON.stringify(lines))?.[1]);
      const ends = lines.filter(({type}) => type === 'end');
      const what = `slot ${slot}: ${JSON.stringify(ends)}`;
      expect(ends.length, what).toBe(1);
      expect(announced.get(String(lines[0]!.id)), `announcements of ${what}`).toBe(1);
      const isDone = ends[0]!.outcome === 'success';
      const state = isDone ? 'new' : 'old';
      expect(await this.workspace.read(`parts/f${slot}.ts`), what).toBe(`export const value = '${state} ${slot}';\n`);
      expect(shared[slot * APART], what).toBe(`slot ${slot}: ${state}`);
      expectOnce(lines, isDone, what);
      const attempts = this.#begun.get(slot)?.length ?? 0;
      expect(attempts, what).toBeLessThanOrEqual(MAX_ATTEMPTS);
      const isStopped = this.#stops && slot === this.#slots - 1;
      if (!isDone && !isStopped) expect(attempts, what).toBe(MAX_ATTEMPTS);
    }
    expect(this.#said).not.toMatch(/changes kept in/);
    if (this.#stopMs !== undefined && this.faults.length === 0) expect(this.#stopMs).toBeLessThan(30_000);
  }

  async #expectNothingLeft(): Promise<void> {
    const {client} = this.redis;
    const soon = (isSo: () => boolean | Promise<boolean>, what: string) => until(isSo, what, MAX_WAIT_MS);
    await soon(async () => (await processesWith(this.#command)).length === 0, 'the end of the commands of runs');
    await soon(async () => (await this.#countRunning()) === 0, 'the end of the runs of all workers');
    await soon(() => listProcessesOf(this.home.path).length === 0, 'the end of the processes of the session');
    for (const {home, worker} of this.#places) {
      expect(listProcessesOf(home.path).length, 'processes of a worker').toBe(1);
      expect(worker?.said()).not.toMatch(/renew|mismatch|Missing|moveTo/);
    }
    const isLeft = (key: string) => /:(?:control|blob):/.test(key) || /:runs-[^:]+:[0-9a-f-]{30}/.test(key);
    const left = async () => (await client.keys('*')).filter(isLeft);
    await soon(async () => (await left()).length === 0, 'the end of what runs leave in Redis').catch(
      async (error: Error) => {
        throw new Error(`${error.message}: ${(await left()).join(', ')}`);
      },
    );
    const dump = await dumpRedis(this.redis);
    expect(dump.length).toBeGreaterThan(1_000);
    for (const secret of [SECRET, KEY, MARKER]) expect(dump.includes(secret), `${secret} in Redis`).toBe(false);
  }

  /** Where the jobs are, and what the programs said. */
  async #explain(): Promise<string> {
    const said = this.#places.map(({worker}) => worker?.said() ?? 'gone');
    return [await describeRedis(this.redis), this.#said, ...said].join('\n');
  }

  async #countRunning(): Promise<number> {
    const entries = Object.values(await this.redis.client.hgetall('mini-cc:workers'));
    const alive = new Set(
      this.#places.map(({worker}) => /mini-cc worker: (\S+) serves/.exec(worker?.said() ?? '')?.[1]),
    );
    return entries
      .map((text) => JSON.parse(text) as {name: string; running: number})
      .filter(({name}) => alive.has(name))
      .reduce((sum, {running}) => sum + running, 0);
  }
}

/** No message of a run is in its transcript twice. */
function expectOnce(lines: readonly Line[], isDone: boolean, what: string): void {
  const texts = lines.filter(({type}) => type === 'message').map(({message}) => JSON.stringify(message));
  const calls = texts.flatMap((text) => [...text.matchAll(/"tool_use_id":"([^"]+)"/g)].map(([, id]) => id!));
  expect(new Set(calls).size, `results of calls of ${what}`).toBe(calls.length);
  if (isDone) expect(texts.filter((text) => /Slot \d+ is done\./.test(text)).length, what).toBe(1);
}
