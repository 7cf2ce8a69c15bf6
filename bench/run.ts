/**
 * Measures mini-cc and prints a table. Times are medians. Ratios compare with `node -e 0` of the same run, since ratios
 * differ less between machines than times do. `--short` takes fewer rounds. Exits with 1 when a value misses its target.
 */
import {cpus} from 'node:os';
import {createHome} from '../tests/support/environment.ts';
import {say, startMessagesServer} from '../tests/support/messages-server.ts';
import {buildOnce} from '../tests/support/run-cli.ts';
import {measureAtRest} from './at-rest.ts';
import {CHECKPOINT_FILES, measureCheckpoints} from './checkpoints.ts';
import {type ConfinedTimes, measureConfined} from './confined.ts';
import {measureFanOut} from './fan-out.ts';
import {type MemoryOverTime, measurePromptMemory, measureTurnMemory} from './memory.ts';
import {measureSearch, SEARCHED_FILES} from './repositories.ts';
import {measureNode, measureTimeToPrompt, measureTimeToTypedKey, measureVersion} from './start-up.ts';
import {measureInRounds} from './statistics.ts';
import {measureStreaming, type StreamingUse} from './streaming.ts';
import {measureFirstRequest, measureTurn} from './turns.ts';

interface Row {
  readonly what: string;
  readonly measured: string;
  /** Compared with `target`. */
  readonly value?: number;
  readonly target?: number;
  readonly unit?: string;
}

const short = process.argv.includes('--short');
const rounds = short ? 5 : 15;

await buildOnce();
const home = await createHome();
const server = await startMessagesServer(() => say('The answer is here.'));
let rows: Row[];
try {
  rows = await measure();
} finally {
  await server.close();
  await home.remove();
}
printTable(rows);
process.exitCode = rows.every(meetsTarget) ? 0 : 1;

async function measure(): Promise<Row[]> {
  const bench = {home, server};
  const times = await measureInRounds(rounds, {
    node: () => measureNode(['-e', '0'], bench),
    version: () => measureVersion(bench),
    prompt: () => measureTimeToPrompt(bench),
    key: () => measureTimeToTypedKey(bench),
  });
  const atRest = await measureAtRest(bench);
  const turn = await measureTurn(home, short ? 20 : 50, short ? 1 : 3);
  const bytes = await measureFirstRequest(home);
  const fanOut = await measureFanOut(home, short ? 1 : 3);
  const confined = await measureConfined(home, short ? 5 : 20);
  const checkpoints = await measureCheckpoints(home, short ? 5 : 15);
  const search = await measureSearch(home, short ? 5 : 15);
  const [turns, prompts] = short ? [300, 80] : [2000, 500];
  const turnMemory = await measureTurnMemory(home, turns);
  const promptMemory = await measurePromptMemory(home, prompts);
  const streaming = await measureStreaming(home);
  const compareWithNode = (what: string, ms: number, target?: number): Row => ({
    what,
    measured: `${ms.toFixed(0)} ms`,
    value: ms / times.node,
    unit: '×',
    ...(target === undefined ? {} : {target}),
  });
  return [
    compareWithNode('`node -e 0`', times.node),
    compareWithNode('`--version`', times.version, 1.5),
    compareWithNode('start to prompt', times.prompt),
    compareWithNode('start to a typed key on the screen', times.key, 8),
    createRow('idle memory, all processes', atRest.residentMb, 'MB', 110),
    createRow('CPU at rest, ticks of 10 ms in 3 s', atRest.ticks, 'ticks', 1),
    createMemoryRow(`one run of ${turns} turns`, turnMemory),
    createMemoryRow(`${prompts} prompts in the REPL`, promptMemory),
    ...createStreamingRows(streaming),
    createRow('time of mini-cc in a turn with one `bash true`', turn, 'ms', 12),
    {
      what: 'a fan-out of 3 parts of 10 calls, 200 ms a reply, to a third of the time one after another',
      ...{measured: '', value: fanOut, target: 1.15, unit: '×'},
    },
    createRow('first request with all tools', bytes / 1024, 'KB', 12),
    createCheckpointRow('the first command of a session', checkpoints.firstMs),
    createCheckpointRow('a command that changes nothing', checkpoints.noChangeMs),
    createCheckpointRow('a command that changes a file', checkpoints.oneFileMs),
    compareWithNode(`search of ${SEARCHED_FILES} files for repositories around a first command`, search.firstMs, 4),
    compareWithNode('the same around a later command', search.laterMs, 4),
    ...(confined === undefined
      ? [{what: 'confined `bash -c true`', measured: 'no sandbox here'}]
      : [
          compareWithPlain('read-only', confined.readOnlyMs, confined.plainMs),
          compareWithBare(confined),
          compareWithPlain('workspace-write', confined.workspaceWriteMs, confined.plainMs),
        ]),
  ];
}

function compareWithPlain(profile: string, ms: number, plainMs: number): Row {
  return {
    what: `\`bash -c true\` confined ${profile}, to plain (${plainMs.toFixed(1)} ms)`,
    measured: `${ms.toFixed(1)} ms`,
    value: ms / plainMs,
    unit: '×',
  };
}

/** What the places that are shown and hidden cost, beside the namespaces. */
function compareWithBare({plainMs, bareMs, readOnlyMs}: ConfinedTimes): Row {
  const [added, least] = [readOnlyMs - plainMs, bareMs - plainMs];
  return {
    what: `what the read-only sandbox adds to it, to what bare \`bwrap --ro-bind / /\` adds (${least.toFixed(1)} ms)`,
    measured: `${added.toFixed(1)} ms`,
    value: added / least,
    target: 2,
    unit: '×',
  };
}

function createCheckpointRow(what: string, ms: number): Row {
  return {what: `checkpoint of ${CHECKPOINT_FILES} files around ${what}`, measured: `${ms.toFixed(0)} ms`};
}

function createStreamingRows({cpuSeconds, megabytes, keyP95, faults}: StreamingUse): Row[] {
  const what = 'an answer of 100,000 characters beside eight subagents';
  const wrong = faults.length === 0 ? '' : ` (${faults.join('; ')})`;
  return [
    createRow(`CPU time of ${what}${wrong}`, cpuSeconds, 's', 1.5),
    createRow(`written to the terminal for ${what}`, megabytes, 'MB', 0.3),
    createRow('a typed key is on the screen meanwhile, 95 of 100', keyP95, 'ms', 16),
  ];
}

function createMemoryRow(what: string, {earlyMb, mostMb}: MemoryOverTime): Row {
  return createRow(`most memory in ${what} (in its first tenth ${earlyMb.toFixed(0)} MB)`, mostMb, 'MB', 160);
}

function createRow(what: string, value: number, unit: string, target: number): Row {
  return {what, measured: `${value.toFixed(unit === 'ticks' ? 0 : 1)} ${unit}`, value, target, unit};
}

function meetsTarget({value, target}: Row): boolean {
  return value === undefined || target === undefined || value <= target;
}

function printTable(rows: readonly Row[]): void {
  const lines = rows.map((row) => {
    const {what, measured, value, target, unit = ''} = row;
    const ratio = unit === '×' && value !== undefined ? `${value.toFixed(1)} ×` : '';
    const limit = target === undefined ? '' : `≤ ${target} ${unit}`;
    const verdict = target === undefined ? '' : meetsTarget(row) ? 'pass' : 'FAIL';
    return `| ${[what, measured, ratio, limit, verdict].join(' | ')} |`;
  });
  const head = ['| what | measured | ratio | target | |', '|---|---|---|---|---|'];
  const machine = `Node ${process.versions.node}, ${cpus().length} × ${cpus()[0]?.model ?? 'unknown CPU'}, ${rounds} rounds, medians`;
  process.stdout.write(`${[...head, ...lines, '', machine].join('\n')}\n`);
}
