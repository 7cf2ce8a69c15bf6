/** The table: which measures there are, their goals, and how often each is taken. */
import {cpus, loadavg, release, totalmem, type} from 'node:os';
import {
  type Bench,
  measureAtRest,
  measureHello,
  measureLongRun,
  measurePromptReady,
  measureRun,
  measureStream,
  measureSubagents,
  measureTurn,
  NotThere,
} from './measures.ts';
import {type ModelServer, startModelServer} from './model-server.ts';
import {createProgram, isOnPath, PROGRAM_NAMES, type Program, type ProgramName} from './programs.ts';
import type {Goal, Measured, Results, Row} from './results.ts';

interface Measure {
  readonly rows: Readonly<Record<string, Omit<Row, 'id' | 'values' | 'failed'>>>;
  readonly rounds: number;
  /** Also taken of `node -e 0`. */
  readonly ofNode?: () => Promise<Record<string, number>>;
  take(bench: Bench): Promise<Readonly<Record<string, number>>>;
}

export interface TableOptions {
  readonly peers: boolean;
  readonly short: boolean;
  /** Only rows whose id contains this. */
  readonly only?: string;
  /** Told before each measure. */
  readonly onProgress: (text: string) => void;
}

const row = (what: string, unit: string, digits: number, atMost: number, of?: Goal['of']) => ({
  ...{what, unit, digits},
  goal: {atMost, ...(of && {of})} satisfies Goal,
});

function listMeasures(short: boolean): readonly Measure[] {
  const turns = short ? 20 : 50;
  const longTurns = short ? 100 : 500;
  return [
    {
      rows: {ready: row('prompt ready: a typed key is on the screen', 'ms', 0, 1, 'codex')},
      rounds: short ? 3 : 7,
      take: async (bench) => ({ready: await measurePromptReady(bench)}),
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
        turn: row('reply ended → next request, one `true #N` in bash between', 'ms', 1, 1, 'pi'),
        bytes: row('first request with all tools', 'KB', 1, 9.6),
      },
      rounds: short ? 1 : 3,
      take: async (bench) => {
        const {gap, kilobytes} = await measureTurn(bench, turns);
        return {turn: gap, bytes: kilobytes};
      },
    },
    {
      rows: {
        fleet: row('20 subagents × 5 commands in one reply, wall', 's', 2, 0.3, 'best'),
        'fleet-pss': row('20 subagents × 5 commands, most PSS', 'MB', 0, 0.5, 'best'),
      },
      rounds: short ? 1 : 2,
      take: async (bench) => {
        const {wall, pss} = await measureSubagents(bench);
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

const NODE = {file: process.execPath, args: ['-e', '0'], env: {}, cwd: '/'};

export async function measureTable(options: TableOptions): Promise<Results> {
  const loadAverage = loadavg()[0] ?? 0;
  const server = await startModelServer();
  const programs: Program[] = [];
  try {
    for (const name of options.peers ? PROGRAM_NAMES : (['mini-cc'] as const)) {
      if (name === 'mini-cc' || isOnPath(name)) programs.push(createProgram(name, server.url));
    }
    const measures = listMeasures(options.short).filter(
      ({rows}) => options.only === undefined || Object.keys(rows).some((id) => id.includes(options.only!)),
    );
    const rows: Row[] = [];
    for (const measure of measures) rows.push(...(await takeInRounds(measure, programs, server, options.onProgress)));
    const machine = {
      ...{cpu: cpus()[0]?.model.trim() ?? 'unknown', cores: cpus().length, memoryGb: Math.round(totalmem() / 2 ** 30)},
      ...{system: `${type()} ${release()}`, node: process.versions.node, loadAverage},
    };
    const versions = Object.fromEntries(programs.map(({name, version}) => [name, version]));
    return {date: new Date().toISOString(), machine, versions, rows};
  } finally {
    await server.close();
    for (const program of programs) program.remove();
  }
}

/**
 * Takes a measure of each program once in each round, so that other load on the machine affects all alike. Where there is
 * more than one round, a first one warms the caches and is not counted. A program that fails twice is not measured further.
 */
async function takeInRounds(
  {rows, rounds, ofNode, take}: Measure,
  programs: readonly Program[],
  server: ModelServer,
  onProgress: (text: string) => void,
): Promise<Row[]> {
  const values: Record<string, Partial<Record<Measured, number[]>>> = {};
  for (const id of Object.keys(rows)) values[id] = {};
  const failures: Partial<Record<ProgramName, string[]>> = {};
  const keep = (name: Measured, taken: Readonly<Record<string, number>>) => {
    for (const [id, of] of Object.entries(values)) of[name] = [...(of[name] ?? []), taken[id]!];
  };
  for (let round = rounds > 1 ? 0 : 1; round <= rounds; round++) {
    onProgress(`${Object.values(rows)[0]!.what}, round ${round} of ${rounds}`);
    if (ofNode) {
      const taken = await ofNode();
      if (round > 0) keep('node', taken);
    }
    for (const program of programs) {
      const failed = failures[program.name] ?? [];
      failures[program.name] = failed;
      if (failed.length > 1) continue;
      try {
        const taken = await take({program, server});
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
