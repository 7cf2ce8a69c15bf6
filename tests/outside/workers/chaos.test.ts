/**
 * Bad luck of runs at workers: `kill -9` of a worker, of the session and of Redis, a worker that hangs, and a network that drops
 * for 20 s or forgets its connections. Whatever happened, each run ends once with a true outcome, its changes come once, and
 * nothing of it is left. MINI_CC_WORKER_CHAOS sets the number of rounds; `npm run soak` plays a hundred. MINI_CC_WORKER_SEED
 * repeats one.
 */
import {describe, expect, it} from 'vitest';
import {openRound} from './chaos-round.ts';

const ROUNDS = Number(process.env.MINI_CC_WORKER_CHAOS ?? 10);
const FIRST_SEED = Number(process.env.MINI_CC_WORKER_SEED ?? 1);

// A round mostly waits: for the network, and until the lock of a worker that died is over.
describe.concurrent('runs at workers', () => {
  it.each(Array.from({length: ROUNDS}, (_, index) => FIRST_SEED + index))(
    'end once with a true outcome in the bad luck of seed %i',
    async (seed) => {
      const round = await openRound(seed);
      try {
        await round.play();
        await round.end();
      } catch (error) {
        throw new Error(`MINI_CC_WORKER_SEED=${seed} repeats it: ${round.describe()}`, {cause: error});
      } finally {
        await round.close();
      }
      expect(round.faults.length).toBeGreaterThan(0);
      console.log(`seed ${seed}: ${round.describe()}`);
    },
    300_000,
  );
});
