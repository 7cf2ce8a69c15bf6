/** Whole tests of agents by a model that is a coin of a known rate: their figures are those of the statistics. */
import {expect, onTestFinished, test} from 'vitest';
import type {AgentTestResult} from '../../src/evals/result-types.ts';
import {compareInPairs, getWilsonInterval} from '../../src/evals/statistics.ts';
import {createHome} from '../support/environment.ts';
import {say, startMessagesServer} from '../support/messages-server.ts';
import {createRandom} from '../support/random.ts';
import {runCli} from '../support/run-cli.ts';
import {emptyFolder} from '../support/workspace.ts';

/** `npm run soak` makes 25. */
const SUITES = Number(process.env.MINI_CC_COIN_SUITES ?? 1);
const CASES = 20;
const [OWN, OTHER] = [0.9, 0.5];

test(
  'runs of a model that is a coin give the rates, the interval and the verdict of the simulated statistics',
  async () => {
    const [workspace, home] = [await emptyFolder(), await createHome()];
    onTestFinished(workspace.remove);
    onTestFinished(home.remove);
    const agent = {name: 'coin', description: 'A coin.', tools: ['read_file'], prompt: 'You are a biased coin.'};
    await workspace.write('.mini-cc/agents/coin.json', JSON.stringify(agent));
    const evals = Array.from({length: CASES}, (_, id) => ({
      id,
      prompt: `Toss ${id}.`,
      checks: [{answer: {contains: 'heads'}}],
    }));
    await workspace.write('.mini-cc/evals/coin.json', JSON.stringify({evals}));
    const draw = createRandom(4_000);
    let held = 0;
    for (let suite = 0; suite < SUITES; suite += 1) {
      const toss = (rate: number) => Array.from({length: CASES}, () => draw(1_000_000) < rate * 1_000_000);
      const coins = {own: toss(OWN), other: toss(OTHER)};
      const server = await startMessagesServer(({system, messages}) => {
        const [, id] = /Toss (\d+)\./.exec(JSON.stringify(messages))!;
        const arm = JSON.stringify(system).includes('You are a biased coin') ? coins.own : coins.other;
        return say(arm[Number(id)] ? 'heads' : 'tails');
      });
      const args = ['agents', 'test', 'coin', '--baseline', 'none', '--fresh', '--yes', '--json'];
      const run = await runCli(args, {cwd: workspace.path, home, server, timeoutMs: 240_000}).finally(server.close);
      const [result] = (JSON.parse(run.stdout) as AgentTestResult).agents;
      const [own, other] = [coins.own, coins.other].map((each) => each.filter(Boolean).length / CASES) as [
        number,
        number,
      ];
      expect([result!.summary.pass_rate, result!.baseline!.summary.pass_rate]).toEqual([own, other]);
      expect(result!.summary.interval).toEqual(getWilsonInterval(own, CASES));
      const expected = compareInPairs(coins.own.map((each, index) => Number(each) - Number(coins.other[index])));
      const {difference, interval, verdict} = result!.baseline!;
      expect({difference, interval, verdict}).toEqual({
        difference: expected.difference,
        interval: expected.interval,
        verdict: expected.verdict,
      });
      if (interval[0] <= OWN - OTHER && OWN - OTHER <= interval[1]) held += 1;
    }
    // One suite alone may be an unlucky one.
    if (SUITES >= 25) expect(held / SUITES).toBeGreaterThanOrEqual(0.8);
  },
  300_000 * SUITES,
);
