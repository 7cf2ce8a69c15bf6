/** What single parts of mini-cc cost, with the most that each may: sandbox, checkpoints, a fan-out, long sessions. */
import {createHome} from '../../tests/support/environment.ts';
import {CHECKPOINT_FILES, measureCheckpoints} from './checkpoints.ts';
import {measureConfined} from './confined.ts';
import {measureFanOut} from './fan-out.ts';
import {measurePromptMemory, measureTurnMemory} from './memory.ts';
import {measureSearch, SEARCHED_FILES} from './repositories.ts';
import {measureStreaming} from './streaming.ts';

export interface PartRow {
  readonly what: string;
  readonly value: number;
  readonly unit: string;
  readonly atMost?: number;
}

export async function measureParts(short: boolean): Promise<PartRow[]> {
  const home = await createHome();
  try {
    const fanOut = await measureFanOut(home, short ? 1 : 3);
    const checkpoints = await measureCheckpoints(home, short ? 5 : 15);
    const search = await measureSearch(home, short ? 5 : 15);
    const confined = await measureConfined(home, short ? 5 : 20);
    const [turns, prompts] = short ? [300, 80] : [2000, 500];
    const turnMemory = await measureTurnMemory(home, turns);
    const promptMemory = await measurePromptMemory(home, prompts);
    const streaming = await measureStreaming(home);
    const faults = streaming.faults.length === 0 ? '' : ` (${streaming.faults.join('; ')})`;
    const around = `checkpoint of ${CHECKPOINT_FILES} files around`;
    return [
      {what: 'fan-out of 3 parts, to a third of the time one after another', value: fanOut, unit: '×', atMost: 1.15},
      {what: `${around} the first command`, value: checkpoints.firstMs, unit: 'ms'},
      {what: `${around} a command that changes nothing`, value: checkpoints.noChangeMs, unit: 'ms'},
      {what: `${around} a command that changes a file`, value: checkpoints.oneFileMs, unit: 'ms'},
      {what: `search of ${SEARCHED_FILES} files for repositories`, value: search.firstMs, unit: 'ms', atMost: 100},
      {what: 'the same around a later command', value: search.laterMs, unit: 'ms', atMost: 100},
      ...(confined
        ? [
            {what: '`bash -c true`, plain', value: confined.plainMs, unit: 'ms'},
            {what: 'the same, bare `bwrap --ro-bind / /`', value: confined.bareMs, unit: 'ms'},
            {what: 'the same, confined read-only', value: confined.readOnlyMs, unit: 'ms'},
            {what: 'the same, confined workspace-write', value: confined.workspaceWriteMs, unit: 'ms'},
            {
              what: 'what the read-only sandbox adds, to what bare bwrap adds',
              value: (confined.readOnlyMs - confined.plainMs) / (confined.bareMs - confined.plainMs),
              ...{unit: '×', atMost: 2},
            },
          ]
        : []),
      {what: `most memory in one run of ${turns} turns`, value: turnMemory, unit: 'MB', atMost: 160},
      {what: `most memory in ${prompts} prompts of the REPL`, value: promptMemory, unit: 'MB', atMost: 160},
      {
        what: `CPU of a long answer beside eight subagents${faults}`,
        value: streaming.cpuSeconds,
        unit: 's',
        // Half of what the next peer takes for the answer alone.
        atMost: 3.5,
      },
      {what: 'written to the terminal for it', value: streaming.megabytes, unit: 'MB', atMost: 0.3},
      {what: 'key echo meanwhile, p95', value: streaming.keyP95, unit: 'ms', atMost: 20},
    ];
  } finally {
    await home.remove();
  }
}

export function formatParts(rows: readonly PartRow[]): string {
  const lines = rows.map(({what, value, unit, atMost}) => {
    const [limit, verdict] =
      atMost === undefined ? ['', ''] : [`≤ ${atMost} ${unit}`, value <= atMost ? 'met' : '**not met**'];
    return `| ${[what, `${value.toFixed(value < 10 ? 2 : 0)} ${unit}`, limit, verdict].join(' | ')} |`;
  });
  return ['| what | measured | limit | |', '|---|--:|--:|---|', ...lines].join('\n');
}
