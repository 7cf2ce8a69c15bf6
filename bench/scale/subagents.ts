/** Many subagents in one reply, each of which answers at once. */
import {callTools, say} from '../../tests/support/scripted-replies.ts';
import {measureRun} from '../compared/measures.ts';
import type {ModelServer} from '../compared/model-server.ts';
import {createProgram} from '../compared/programs.ts';
import {listProcessesOf, readUsage} from '../process-tree.ts';
import type {Curve, Point, ScaleOptions} from './curve.ts';

const COUNTS = [1, 10, 100, 1000];
/** By default, one prompt starts at most 50 runs. */
const UNBOUNDED = ['--settings', '{"subagents": {"perPrompt": null}}'];
const MAIN = 'Begin the work of the bench.';

export async function measureFleet(server: ModelServer, {short, onProgress}: ScaleOptions): Promise<readonly Curve[]> {
  const [times, memory]: [Point[], Point[]] = [[], []];
  for (const count of short ? COUNTS.slice(0, 3) : COUNTS) {
    onProgress(`${count} subagents`);
    const program = createProgram('mini-cc', server.url);
    let [begun, ended, peakMb, answers] = [0, 0, 0, 0];
    server.play((request) => {
      if (!request.has(MAIN)) {
        answers += 1;
        return say(`Found it, in part ${answers}.`);
      }
      if (begun > 0) {
        ended = request.arrivedAt;
        peakMb = readUsage(listProcessesOf(program.home)).peakMb;
        return say('Done.');
      }
      begun = performance.now();
      const prompt = (n: number) => `part ${n} of the work`;
      return callTools(
        Array.from({length: count}, (_, n) => ({
          ...{name: 'Task', id: `toolu_${n}`},
          input: {description: prompt(n), prompt: prompt(n), agent_type: 'explore'},
        })),
      );
    });
    try {
      const launch = program.print(MAIN);
      await measureRun({...launch, args: [...launch.args, ...UNBOUNDED]}, 600_000);
      if (answers < count) throw new Error(`${answers} of ${count} subagents answered`);
      times.push({of: count, value: ended - begun});
      memory.push({of: count, value: peakMb});
    } finally {
      program.remove();
    }
  }
  const per = 'subagents in one reply';
  return [
    {what: 'all have ended', per, unit: 'ms', points: times},
    {what: 'most memory', per, unit: 'MB', points: memory},
  ];
}
