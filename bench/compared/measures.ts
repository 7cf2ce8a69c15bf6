/**
 * What is measured of each program, with the same script and server for all. Each function returns one value, or one for
 * each name. They throw when the program does not do its part.
 */
import {spawn} from 'node:child_process';
import {setTimeout as sleep} from 'node:timers/promises';
import {callTools, type MessageReply, say} from '../../tests/support/scripted-replies.ts';
import {createLongAnswer} from '../parts/streaming.ts';
import {listProcessesOf, readProportionalMb, readUsage} from '../process-tree.ts';
import {median} from '../statistics.ts';
import type {ModelServer} from './model-server.ts';
import type {Mode, Program} from './programs.ts';
import {type Launch, Screen} from './screen.ts';

export interface Bench {
  readonly program: Program;
  readonly server: ModelServer;
}

/** A program has no such part; it did not fail. */
export class NotThere extends Error {}

const ANSWER = 'The answer is here.';
const END = 'The work is at its end.';

/** Milliseconds from spawn until a letter is on the screen that is typed as soon as the prompt is shown. */
export async function measurePromptReady({program, server}: Bench, letter: string): Promise<number> {
  server.play(() => say(ANSWER));
  return withScreen(program.plain, program, letter, async (screen) => performance.now() - screen.startedAt);
}

/**
 * Milliseconds from spawn until the answer to a line is on the screen. The line is typed whole as soon as the prompt is
 * shown, and sent as soon as it stands there. Also the kilobytes of the first request with tools.
 */
export async function measureFirstLine(
  {program, server}: Bench,
  line: string,
): Promise<{ms: number; kilobytes: number}> {
  server.play(() => say(ANSWER));
  const screen = new Screen(program.plain);
  try {
    await screen.waitFor(program.prompt);
    screen.type(line);
    await screen.waitFor(() => screen.text().includes(line));
    screen.type('\r');
    await screen.waitFor(() => screen.text().includes(ANSWER));
    return {ms: performance.now() - screen.startedAt, kilobytes: server.turns[0]!.bytes / 1000};
  } finally {
    await screen.close();
  }
}

/** Milliseconds from spawn to exit. @throws Error when it fails or takes longer than the limit */
export async function measureRun({file, args, env, cwd}: Launch, limitMs = 120_000): Promise<number> {
  const startedAt = performance.now();
  const child = spawn(file, args, {env, cwd, stdio: ['ignore', 'ignore', 'pipe'], detached: true});
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => process.kill(-child.pid!, 'SIGKILL'), limitMs);
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      clearTimeout(timer);
      if (code === 0) resolve(performance.now() - startedAt);
      else reject(new Error(`ended with ${code ?? signal}: ${said.trim().slice(-300)}`));
    });
  });
}

export async function measureHello({program, server}: Bench): Promise<number> {
  server.play(() => say(ANSWER));
  const ms = await measureRun(program.print('hello'));
  if (server.turns.length === 0) throw new Error('no request came');
  return ms;
}

/** Memory of a session that waits at its first prompt (megabytes), and its CPU time in ten seconds (milliseconds). */
export async function measureAtRest({program, server}: Bench): Promise<{rss: number; pss: number; cpu: number}> {
  server.play(() => say(ANSWER));
  return withPrompt(program.interactive, program, async () => {
    await sleep(3000);
    const before = readUsage(listProcessesOf(program.home));
    await sleep(10_000);
    const after = readUsage(listProcessesOf(program.home));
    return {
      rss: after.residentMb,
      pss: readProportionalMb(listProcessesOf(program.home)),
      cpu: (after.ticks - before.ticks) * 10,
    };
  });
}

/** Milliseconds until a reply begins, and between its events. Models take longer. */
const THINKING_MS = 100;
const WRITING_MS = 20;

interface Turns {
  /** Milliseconds from the end of a reply to the next request: the geometric mean, in which all commands count alike. */
  readonly gap: number;
  /** Size of the first request with tools. */
  readonly kilobytes: number;
}

/** A run in print mode in which each turn runs one of the commands. @throws Error when one of them did not run */
export async function measureTurns({program, server}: Bench, commands: readonly string[], mode: Mode): Promise<Turns> {
  let [count, failure]: [number, string | undefined] = [0, undefined];
  server.play(async ({hasTools, body}) => {
    if (!hasTools) return say(END);
    await sleep(THINKING_MS);
    const at = body.lastIndexOf('"is_error":true');
    if (at >= 0) failure = `${commands[count - 1]}: ${body.toString('utf8', Math.max(0, at - 200), at + 200)}`;
    const command = failure === undefined ? commands[count] : undefined;
    if (command === undefined) return say(END);
    count += 1;
    return {...callTools([program.runCommand(command, `toolu_${count}`)]), msPerEvent: WRITING_MS};
  });
  await measureRun(program.print('go', mode));
  if (failure !== undefined) throw new Error(`in the mode ${mode} this failed: ${failure}`);
  const {turns} = server;
  if (turns.length !== commands.length + 1)
    throw new Error(`${turns.length} requests came for ${commands.length} commands in the mode ${mode}`);
  return {gap: geometricMean(listGaps(server)), kilobytes: turns[0]!.bytes / 1000};
}

function geometricMean(values: readonly number[]): number {
  return Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length);
}

const SUBAGENTS = 20;
export const SUBAGENT_COMMANDS = 5;
const MAIN = 'Begin the work of the bench.';

/**
 * Twenty subagents in one reply, each with the five commands, confined where the program confines: seconds until the main
 * agent goes on, and megabytes at most.
 */
export async function measureSubagents(
  {program, server}: Bench,
  commands: readonly string[],
): Promise<{wall: number; pss: number}> {
  const {startSubagent} = program;
  if (!startSubagent) throw new NotThere('has no subagents');
  const turns = new Map<string, number>();
  let [begun, ended, mainTurns] = [0, 0, 0];
  server.play((request): MessageReply => {
    if (!request.hasTools) return say(ANSWER);
    if (!request.has(MAIN)) {
      const part = /part-\d+/.exec(request.body.toString('latin1'))?.[0] ?? '';
      const turn = turns.get(part) ?? 0;
      turns.set(part, turn + 1);
      const command = commands[turn];
      return command === undefined
        ? say('Found it.')
        : callTools([program.runCommand(command, `toolu_${part}_${turn}`)]);
    }
    ended = request.arrivedAt;
    if (mainTurns++ > 0) return program.goOn?.(request.body.toString(), `toolu_wait_${mainTurns}`) ?? say(END);
    begun = performance.now();
    return callTools(Array.from({length: SUBAGENTS}, (_, n) => startSubagent(`part-${n} of the work`, `toolu_${n}`)));
  });
  let pss = 0;
  await withPrompt(program.confines ? program.plain : program.interactive, program, async (screen) => {
    screen.type(MAIN);
    await screen.waitFor(() => screen.text().includes(MAIN));
    let over = false;
    const sampling = (async () => {
      while (!over) {
        pss = Math.max(pss, readProportionalMb(listProcessesOf(program.home)));
        await sleep(100);
      }
    })();
    screen.type('\r');
    await screen.waitFor(new RegExp(END.slice(4)), 90_000).finally(() => {
      over = true;
    });
    await sampling;
  });
  const done = [...turns.values()].filter((count) => count === commands.length + 1).length;
  if (done !== SUBAGENTS) throw new Error(`${done} of ${SUBAGENTS} subagents ended`);
  return {wall: (ended - begun) / 1000, pss};
}

const KEYS = 60;

/** An answer of 100,000 characters that streams for ten seconds while a person types. */
export async function measureStream({program, server}: Bench): Promise<{cpu: number; megabytes: number; echo: number}> {
  const {text} = createLongAnswer();
  server.play(({hasTools}) => (hasTools ? {...say(`${text}\n\n${END}`), charsPerDelta: 100, msPerEvent: 10} : say('')));
  return withPrompt(program.interactive, program, async (screen) => {
    screen.type('go');
    await screen.waitFor(/\bgo\b/);
    const [before, bytes] = [readUsage(listProcessesOf(program.home)), screen.bytes];
    screen.type('\r');
    await screen.waitFor(/n000/);
    const echoes: number[] = [];
    for (let key = 0; key < KEYS; key++) {
      const typed = 'xq'.repeat(KEYS).slice(0, key + 1);
      const sentAt = performance.now();
      screen.type(typed.at(-1)!);
      await screen.waitFor(() => screen.text().replaceAll(/\s/g, '').includes(typed), 10_000);
      echoes.push(performance.now() - sentAt);
      await sleep(100);
    }
    await screen.waitFor(() => screen.text().includes(END), 60_000);
    const after = readUsage(listProcessesOf(program.home));
    const sorted = echoes.toSorted((a, b) => a - b);
    return {
      cpu: (after.ticks - before.ticks) / 100,
      megabytes: (screen.bytes - bytes) / 1e6,
      echo: sorted[Math.floor(KEYS * 0.95)]!,
    };
  });
}

/** A prompt of many turns, each with 2 KB of a command's output: megabytes when it has ended and at most, gap of the last 50. */
export async function measureLongRun(
  {program, server}: Bench,
  turns: number,
): Promise<{rss: number; peak: number; gap: number; firstGap: number}> {
  let count = 0;
  server.play(({hasTools}) => {
    if (!hasTools) return say('');
    const turn = count++;
    return turn < turns ? callTools([program.runCommand(`printf %02040d ${turn}`, `toolu_${turn}`)]) : say(END);
  });
  return withPrompt(program.interactive, program, async (screen) => {
    screen.type('go');
    await screen.waitFor(/\bgo\b/);
    screen.type('\r');
    await screen
      .waitFor(() => screen.text().includes(END), 180_000)
      .catch((error: Error) => {
        throw new Error(`after ${count} turns: ${error.message}`);
      });
    await sleep(3000);
    const gaps = listGaps(server);
    const {residentMb, peakMb} = readUsage(listProcessesOf(program.home));
    return {rss: residentMb, peak: peakMb, gap: median(gaps.slice(-50)), firstGap: median(gaps.slice(0, 50))};
  });
}

/** Lists the milliseconds from the end of each reply to the next request. */
export function listGaps({turns}: ModelServer): number[] {
  return turns.slice(1).map(({arrivedAt}, index) => arrivedAt - turns[index]!.endedAt);
}

/** A session with an empty prompt. */
function withPrompt<T>(launch: Launch, program: Program, use: (screen: Screen) => Promise<T>): Promise<T> {
  return withScreen(launch, program, 'x', async (screen) => {
    screen.type('\x7f');
    await screen.waitFor(() => !typedLetter('x').test(screen.text()));
    return use(screen);
  });
}

/** A session in a terminal, from the moment when a typed letter was shown. */
async function withScreen<T>(
  launch: Launch,
  program: Program,
  letter: string,
  use: (screen: Screen) => Promise<T>,
): Promise<T> {
  const screen = new Screen(launch);
  try {
    await screen.waitFor(program.prompt);
    screen.type(letter);
    await screen.waitFor(typedLetter(letter));
    return await use(screen);
  } finally {
    await screen.close();
  }
}

/** Matches a row in which the letter stands alone. */
function typedLetter(letter: string): RegExp {
  return new RegExp(String.raw`^[^\p{L}\p{N}]*${letter}[^\p{L}\p{N}]*$`, 'mu');
}
