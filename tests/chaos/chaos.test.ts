/**
 * An hour of bad luck, compressed: a server that fails in all its ways, Esc at any moment, windows that change, a clock that
 * is set, a disk that is full, `kill -9`. Whatever happened, at the end the transcripts are whole, each background run was
 * announced once, no process is left, the terminal is as it was, and the memory was bounded. MINI_CC_CHAOS sets the number of
 * rounds; `npm run soak` plays sixty. MINI_CC_CHAOS_SEED repeats one.
 */
import {existsSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {expect, test} from 'vitest';
import {listProcessesOf, readUsage} from '../../bench/process-tree.ts';
import {processesWith} from '../e2e/fixture.ts';
import {createHome, type Home} from '../support/environment.ts';
import {type MessagesServer, startMessagesServer} from '../support/messages-server.ts';
import {createRandom} from '../support/random.ts';
import {runCli, startCli} from '../support/run-cli.ts';
import {countAnnouncements, findReturned, findTranscripts, isRun, readLines} from '../support/session-files.ts';
import {createSmallDisk, type SmallDisk, wrapReadOnly} from '../support/small-disk.ts';
import type {Key, Terminal} from '../support/terminal.ts';
import {becomesTrue, pause, until} from '../support/wait.ts';
import {typescriptProject} from '../support/workspace.ts';
import {createFaultyServer, HANG} from './faulty-server.ts';

const ROUNDS = Number(process.env.MINI_CC_CHAOS ?? 2);
const FIRST_SEED = Number(process.env.MINI_CC_CHAOS_SEED ?? 1);
const STEPS = ROUNDS > 2 ? 40 : 12;
const MAX_MB = 400;
const KEYS: readonly Key[] = ['escape', 'escape', 'enter', 'ctrl-b', 'shift-tab', 'up', 'tab', 'page-up', 'ctrl-c'];

test.each(Array.from({length: ROUNDS}, (_, index) => FIRST_SEED + index))(
  'a session with the bad luck of seed %i keeps all its promises',
  async (seed) => {
    const round = await openRound(seed);
    try {
      await round.play();
      await round.end();
    } finally {
      await round.remove();
    }
  },
);

async function openRound(seed: number) {
  const dice = createRandom(seed * 7919);
  const faulty = createFaultyServer(dice);
  const [home, server, workspace] = [
    await createHome(),
    await startMessagesServer(faulty.script),
    await typescriptProject(),
  ];
  // A disk of its own goes with its process: a session is killed, or has a disk that fills.
  const settings = path.join(home.path, '.mini-cc');
  const disk = seed % 2 === 0 ? createSmallDisk(settings, 24_000) : undefined;
  const round = new Round(dice, home, server, workspace.path, disk);
  return {
    play: () => round.play(),
    end: async () => {
      faulty.calm();
      await round.end();
      expect(server.requests.length, 'requests that broke no rule of the API').toBe(faulty.answered());
    },
    remove: async () => {
      await round.close();
      await server.close();
      await home.remove();
      await workspace.remove();
    },
  };
}

class Round {
  #terminal: Terminal | undefined;
  #prompts = 0;
  #peakMb = 0;
  #isFull = false;
  readonly #clock: string;

  constructor(
    private readonly dice: (below: number) => number,
    private readonly home: Home,
    private readonly server: MessagesServer,
    private readonly cwd: string,
    private readonly disk: SmallDisk | undefined,
  ) {
    this.#clock = path.join(home.path, 'clock');
  }

  async play(): Promise<void> {
    await this.#start([]);
    for (let step = 0; step < STEPS; step += 1) {
      await this.#step();
      await pause(this.dice(250), 'bad luck comes at any moment');
      const mini = listProcessesOf(this.home.path);
      this.#peakMb = Math.max(this.#peakMb, ...mini.map((pid) => readUsage([pid]).peakMb));
    }
  }

  async end(): Promise<void> {
    if (this.#isFull) await this.disk?.free();
    await this.#leave();
    await until(async () => (await processesWith(HANG)).length === 0);
    await until(async () => listProcessesOf(this.home.path).length === 0);
    expect(this.#peakMb).toBeLessThan(MAX_MB);
    const {home, server, cwd} = this;
    const kept = this.disk ? {...home, env: {...home.env, MINI_CC_HOME: this.disk.copy}} : home;
    const place = this.disk ? this.disk.copy : home.path;
    const transcripts = findTranscripts(place);
    for (const transcript of transcripts) readLines(transcript);
    const main = transcripts.find((file) => !isRun(file));
    if (main) {
      for (const prompt of ['go on', 'and on']) {
        const run = await runCli(['--continue', '-p', prompt], {home: kept, server, cwd});
        expect(run, run.stderr).toMatchObject({code: 0, stdout: 'All is calm.\n'});
        expectAnnouncedOnce(place, main);
      }
      const said = JSON.stringify(readLines(main));
      expect(said).toContain('and on');
    }
    const readOnly = wrapReadOnly(path.join(home.path, '.mini-cc'));
    const run = await runCli(['-p', 'hello'], {home, server, cwd, wrap: readOnly});
    expect([0, 2], run.stderr).toContain(run.code);
    expect(run.stderr.trim().split('\n').length).toBeLessThan(4);
  }

  async close(): Promise<void> {
    await this.#terminal?.close();
  }

  async #start(args: readonly string[]): Promise<void> {
    const preload = path.join(import.meta.dirname, 'jumping-clock.mjs');
    this.#terminal = await startCli(['--dangerously-skip-permissions', ...args], {
      ...{home: this.home, server: this.server, cwd: this.cwd},
      ...(this.disk && {wrap: this.disk.wrap}),
      env: {TEST_CLOCK: this.#clock, NODE_OPTIONS: `--import=${preload}`},
    });
    await this.#terminal.waitFor(/^> /m);
  }

  async #step(): Promise<void> {
    const terminal = this.#terminal!;
    const roll = this.dice(20);
    if (roll < 6) {
      this.#prompts += 1;
      terminal.type(`prompt ${this.#prompts}`);
      await pause(50, 'a person does not wait until the prompt is shown, and it may be hidden');
      terminal.press('enter');
    } else if (roll < 12) terminal.press(KEYS[this.dice(KEYS.length)]!);
    else if (roll < 14) terminal.resize(30 + this.dice(120), 8 + this.dice(40));
    else if (roll === 14) writeFileSync(this.#clock, String((this.dice(2) === 0 ? -1 : 1) * this.dice(90_000_000)));
    else if (roll === 15) terminal.paste('several\nlines\n');
    else if (roll === 16) {
      terminal.press('ctrl-o');
      await pause(100, 'the results may be shown or not, as the luck is');
      terminal.type('q');
    } else if (roll === 17) terminal.type('/subagents\r');
    else if (this.disk) await this.#turnDisk();
    else if (roll === 18) await this.#kill();
    // Two Ctrl+C may have left the session.
    if (this.#terminal === terminal && listProcessesOf(this.home.path).length === 0) await this.#start(this.#again());
  }

  async #turnDisk(): Promise<void> {
    if (listProcessesOf(this.home.path).length === 0) return;
    await (this.#isFull ? this.disk!.free() : this.disk!.fill());
    this.#isFull = !this.#isFull;
  }

  async #kill(): Promise<void> {
    process.kill(this.#terminal!.pid, 'SIGKILL');
    await this.#terminal!.exit;
    await until(async () => (await processesWith(HANG)).length === 0);
    await this.#start(this.#again());
  }

  /** A session without a first line is no session yet. */
  #again(): string[] {
    return !this.disk && findTranscripts(this.home.path).some((file) => !isRun(file)) ? ['--continue'] : [];
  }

  /** As an impatient person does. The terminal is then as it was. */
  async #leave(): Promise<void> {
    const terminal = this.#terminal!;
    const hasEnded = terminal.waitForExit();
    // Esc leaves what is open; Ctrl+C clears the prompt; where an agent works, the second Ctrl+D leaves.
    const keys: readonly Key[] = ['escape', 'ctrl-c', 'ctrl-d', 'ctrl-d'];
    for (let tried = 0; tried < 40 && listProcessesOf(this.home.path).length > 0; tried += 1) {
      for (const key of keys) {
        terminal.press(key);
        await pause(key === 'ctrl-d' ? 30 : 100, 'an impatient person looks at nothing');
      }
      await becomesTrue(() => listProcessesOf(this.home.path).length === 0, 300);
    }
    await hasEnded;
    const raw = terminal.raw();
    for (const [on, off] of [
      ['\x1b[?25l', '\x1b[?25h'],
      ['\x1b[?2004h', '\x1b[?2004l'],
      ['\x1b[?1049h', '\x1b[?1049l'],
    ] as const) {
      expect(raw.lastIndexOf(off), JSON.stringify(off)).toBeGreaterThanOrEqual(raw.lastIndexOf(on));
    }
  }
}

/**
 * Each background run is announced once, and no other one. One that a later call of the same task joined is told by the
 * result of that call instead; one that had been announced before may be returned again, as what is known of the task.
 */
function expectAnnouncedOnce(place: string, main: string): void {
  const expected = new Set<string>();
  const folder = path.dirname(main);
  for (const file of findTranscripts(place).filter((each) => isRun(each) && each.startsWith(folder))) {
    const lines = readLines(file);
    const [header] = lines;
    if (!header || !existsSync(file)) continue;
    if (header.background === true || lines.some(({type}) => type === 'background')) expected.add(String(header.id));
    expect(lines.filter(({type}) => type === 'end').length, file).toBeGreaterThan(0);
  }
  const announced = countAnnouncements(main);
  for (const id of findReturned(main)) if (!announced.has(id)) expected.delete(id);
  expect(Object.fromEntries([...announced].sort())).toEqual(
    Object.fromEntries([...expected].sort().map((id) => [id, 1])),
  );
}
