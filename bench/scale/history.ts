/** The own cost of a turn as its history grows: one run in print mode, each turn with one small `read_file`. */
import {writeFileSync} from 'node:fs';
import path from 'node:path';
import {callTools, say} from '../../tests/support/scripted-replies.ts';
import {listGaps, measureRun} from '../compared/measures.ts';
import type {ModelServer} from '../compared/model-server.ts';
import {createProgram} from '../compared/programs.ts';
import {listProcessesOf, readUsage} from '../process-tree.ts';
import {median} from '../statistics.ts';
import type {Curve, ScaleOptions} from './curve.ts';

const LENGTHS = [10, 30, 100, 300, 1000, 3000];

export async function measureHistory(server: ModelServer, {short}: ScaleOptions): Promise<readonly Curve[]> {
  const lengths = short ? LENGTHS.slice(0, 4) : LENGTHS;
  const program = createProgram('mini-cc', server.url);
  const resident = new Map<number, number>();
  try {
    writeFileSync(path.join(program.cwd, 'notes.txt'), 'a line of some notes\n'.repeat(10));
    let turn = 0;
    server.play(() => {
      turn += 1;
      if (lengths.includes(turn)) resident.set(turn, readUsage(listProcessesOf(program.home)).residentMb);
      if (turn > lengths.at(-1)!) return say('Done.');
      return callTools([{name: 'read_file', input: {path: 'notes.txt', limit: (turn % 9) + 1}, id: `toolu_${turn}`}]);
    });
    await measureRun(program.print('go'), 600_000);
    const gaps = listGaps(server);
    const around = (length: number) => median(gaps.slice(Math.floor(length * 0.8), length));
    const per = 'turns of history';
    return [
      {what: 'a turn', per, unit: 'ms', points: lengths.map((of) => ({of, value: around(of)}))},
      {what: 'memory', per, unit: 'MB', points: lengths.map((of) => ({of, value: resident.get(of) ?? Number.NaN}))},
    ];
  } finally {
    program.remove();
  }
}
