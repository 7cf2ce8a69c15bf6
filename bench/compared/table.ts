/** The table: which measures there are, their goals, and how often each is taken. */
import {cpus, loadavg, release, totalmem, type} from 'node:os';
import {createRandom} from '../../tests/support/random.ts';
import {type Drawn, drawRound} from './commands.ts';
import {
  type Bench,
  measureAtRest,
  measureFirstLine,
  measureHello,
  measureLongRun,
  measurePromptReady,
  measureRun,
  measureStream,
  measureSubagents,
  measureTurns,
  NotThere,
  SUBAGENT_COMMANDS,
} from './measures.ts';
import {type ModelServer, startModelServer} from './model-server.ts';
import {createProgram, isOnPath, PROGRAM_NAMES, type Program, type ProgramName} from './programs.ts';
import {createProject} from './project.ts';
import type {Goal, Measured, Results, Row} from './results.ts';

interface Measure {
  readonly rows: Readonly<Record<string, Omit<Row, 'id' | 'values' | 'failed'>>>;
  readonly rounds: number;
  /** Also taken of `node -e 0`. */
  readonly ofNode?: () => Promise<Record<string, number>>;
  /** @param drawn the same for all programs in a round */
  take(bench: Bench, drawn: Drawn): Promise<Readonly<Record<string, number>>>;
}

export interface TableOptions {
  readonly peers: boolean;
  readonly short: boolean;
  /** Only rows whose id contains this. */
  readonly only?: string;
  /** Draws commands and alphabets. */
  readonly seed: number;
  /** Told before each measure. */
  readonly onProgress: (text: string) => void;
}

const row = (what: string, unit: string, digits: number, atMost: number, of?: Goal['of']) => ({
  ...{what, unit, digits},
  goal: {atMost, ...(of && {of})} satisfies Goal,
});

function listMeasures(short: boolean): readonly Measure[] {
  const longTurns = short ? 100 : 500;
  return [
    {
      rows: {ready: row('prompt ready: a letter of any of ten alphabets is on the screen', 'ms', 0, 1, 'codex')},
      rounds: short ? 3 : 10,
      take: async (bench, {letter}) => ({ready: await measurePromptReady(bench, letter)}),
    },
    {
      rows: {
        line: row('first line typed at once → its answer is on the screen', 'ms', 0, 1, 'best'),
        'bytes-line': row('first request in the terminal', 'KB', 2, 10.3),
      },
      rounds: short ? 1 : 5,
      take: async (bench, {line}) => {
        const {ms, kilobytes} = await measureFirstLine(bench, line);
        return {line: ms, 'bytes-line': kilobytes};
      },
    },
    {
      rows: {version: row('`--version`', 'ms', 0, 1.3, 'node')},
      rounds: short ? 3 : 7,
      ofNode: async () => ({version: await measureRun(NODE)}),
      take: async ({program}) => ({version: await measureRun(program.showVersion)}),
    },
    {
      rows: {hello: row('`-p hello`, instant reply', 'ms', 0, 0.7, 'best')},
      rounds: short ? 3 : 7,
      take: async (bench) => ({hello: await measureHello(bench)}),
    },
    {
      rows: {
        rss: row('memory at the idle prompt, RSS', 'MB', 0, 0.65, 'best'),
        pss: row('memory at the idle prompt, PSS', 'MB', 0, 0.65, 'best'),
        idle: row('CPU in 10 s of idling', 'ms', 0, 0),
      },
      rounds: 1,
      take: async (bench) => {
        const {rss, pss, cpu} = await measureAtRest(bench);
        return {rss, pss, idle: cpu};
      },
    },
    {
      rows: {
        turn: row('a turn with a command that reads; mini-cc confines it', 'ms', 1, 1, 'pi'),
        'turn-write': row('a turn with any command; mini-cc in its writable sandbox', 'ms', 1, 1, 'pi'),
        'turn-bypass': row('a turn with any command; without a sandbox', 'ms', 1, 1, 'pi'),
        bytes: row('first request where nobody can answer', 'KB', 2, 9.6),
      },
      rounds: short ? 1 : 5,
      take: takeTurns,
    },
    {
      rows: {
        fleet: row('20 subagents × 5 commands that read, wall; mini-cc confines them', 's', 2, 0.3, 'best'),
        'fleet-pss': row('20 subagents × 5 commands that read, most PSS', 'MB', 0, 0.5, 'best'),
      },
      rounds: short ? 1 : 2,
      take: async (bench, {reading}) => {
        const {wall, pss} = await measureSubagents(bench, reading.slice(0, SUBAGENT_COMMANDS));
        return {fleet: wall, 'fleet-pss': pss};
      },
    },
    {
      rows: {
        stream: row('100,000 characters streamed, CPU', 's', 1, 0.5, 'best'),
        'stream-bytes': row('100,000 characters streamed, written', 'MB', 2, 0.5, 'best'),
        echo: row('100,000 characters streamed, key echo p95', 'ms', 0, 20),
      },
      rounds: 1,
      take: async (bench) => {
        const {cpu, megabytes, echo} = await measureStream(bench);
        return {stream: cpu, 'stream-bytes': megabytes, echo};
      },
    },
    {
      rows: {
        long: row(`${longTurns} turns of 2 KB, RSS after`, 'MB', 0, 0.5, 'best'),
        'long-peak': row(`${longTurns} turns of 2 KB, RSS at most`, 'MB', 0, 0.5, 'best'),
        'long-gap': row(`${longTurns} turns of 2 KB, a turn of the last 50`, 'ms', 1, 0.5, 'best'),
      },
      rounds: 1,
      take: async (bench) => {
        const {rss, peak, gap} = await measureLongRun(bench, longTurns);
        return {long: rss, 'long-peak': peak, 'long-gap': gap};
      },
    },
  ];
}

/** Peers confine nothing here, so one run of theirs stands beside each of mini-cc's modes. */
async function takeTurns(bench: Bench, {reading, others}: Drawn) {
  const all = [...reading, ...others];
  const bypass = await measureTurns(bench, all, 'bypass');
  const read = await measureTurns(bench, reading, 'default');
  const write = bench.program.confines ? await measureTurns(bench, all, 'sandbox') : bypass;
  return {turn: read.gap, 'turn-write': write.gap, 'turn-bypass': bypass.gap, bytes: bypass.kilobytes};
}

const NODE = {file: process.execPath, args: ['-e', '0'], env: {}, cwd: '/'};

export async function measureTable(options: TableOptions): Promise<Results> {
  const loadAverage = loadavg()[0] ?? 0;
  const server = await startModelServer();
  const programs: Program[] = [];
  try {
    for (const name of options.peers ? PROGRAM_NAMES : (['mini-cc'] as const)) {
      if (name === 'mini-cc' || isOnPath(name)) programs.push(createProgram(name, server.url));
    }
    for (const {cwd} of programs) createProject(cwd);
    const measures = listMeasures(options.short).filter(
      ({rows}) => options.only === undefined || Object.keys(rows).some((id) => id.includes(options.only!)),
    );
    const rows: Row[] = [];
    for (const measure of measures) rows.push(...(await takeInRounds(measure, programs, server, options)));
    const machine = {
      ...{cpu: cpus()[0]?.model.trim() ?? 'unknown', cores: cpus().length, memoryGb: Math.round(totalmem() / 2 ** 30)},
      ...{system: `${type()} ${release()}`, node: process.versions.node, loadAverage},
    };
    const versions = Object.fromEntries(programs.map(({name, version}) => [name, version]));
    return {date: new Date().toISOString(), seed: options.seed, machine, versions, rows};
  } finally {
    await server.close();
    for (const program of programs) program.remove();
  }
}

/** Commands of each kind (reading, others) that are drawn for a round. */
const COMMANDS_PER_ROUND = 6;

/**
 * Takes a measure of each program once in each round, so that other load on the machine affects all alike. Where there is
 * more than one round, a first one warms the caches and is not counted. A program that fails twice is not measured further.
 */
async function takeInRounds(
  {rows, rounds, ofNode, take}: Measure,
  programs: readonly Program[],
  server: ModelServer,
  {seed, onProgress}: TableOptions,
): Promise<Row[]> {
  const random = createRandom(seed);
  const values: Record<string, Partial<Record<Measured, number[]>>> = {};
  for (const id of Object.keys(rows)) values[id] = {};
  const failures: Partial<Record<ProgramName, string[]>> = {};
  const keep = (name: Measured, taken: Readonly<Record<string, number>>) => {
    for (const [id, of] of Object.entries(values)) of[name] = [...(of[name] ?? []), taken[id]!];
  };
  for (let round = rounds > 1 ? 0 : 1; round <= rounds; round++) {
    onProgress(`${Object.values(rows)[0]!.what}, round ${round} of ${rounds}`);
    const drawn = drawRound(random, seed + round, COMMANDS_PER_ROUND);
    if (ofNode) {
      const taken = await ofNode();
      if (round > 0) keep('node', taken);
    }
    for (const program of programs) {
      const failed = failures[program.name] ?? [];
      failures[program.name] = failed;
      if (failed.length > 1) continue;
      try {
        const taken = await take({program, server}, drawn);
        if (round > 0) keep(program.name, taken);
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        failed.push(...(error instanceof NotThere ? [why, why] : [`failed: ${why}`]));
        onProgress(`${program.name} ${failed.at(-1)}`);
      }
    }
  }
  const failed = Object.fromEntries(
    Object.entries(failures).flatMap(([name, why]) => {
      const hasValues = Object.values(values).some((each) => each[name as ProgramName] !== undefined);
      return why.length > 0 && !hasValues ? [[name, why[0]!.split('\n')[0]!.replaceAll('|', '/').slice(0, 120)]] : [];
    }),
  );
  return Object.entries(rows).map(([id, each]) => ({id, ...each, values: values[id] ?? {}, failed}));
}
