/** What a session's budget lets through when its runs work at workers, by the books of the model's server. */
import {expect, it, onTestFinished} from 'vitest';
import {home, isSubagent, project} from '../../e2e/fixture.ts';
import {PRICE, startBillingServer} from '../../support/billing-server.ts';
import {countReplies} from '../../support/request-facts.ts';
import {runCli} from '../../support/run-cli.ts';
import {callTool, callTools, say} from '../../support/scripted-replies.ts';
import {SECRET, startRedis, startWorker, withQueue} from './fixture.ts';

const CHILDREN = 12;
/** Twenty cents of input. */
const DEAR = 100_000;

it('a budget of a dollar is not passed by more than one estimate', async () => {
  const tasks = Array.from({length: CHILDREN}, (_, index) => ({
    name: 'Task',
    input: {
      ...{description: `part ${index}`, prompt: `look at part ${index}`, agent_type: 'explore'},
      ...{isolation: 'worktree', where: 'workers'},
    },
  }));
  const server = await startBillingServer((body) => {
    if (isSubagent(body)) return {input: DEAR, blocks: callTool('glob', {pattern: `${Math.random()}*`}).blocks};
    return {input: 50, blocks: (countReplies(body) === 0 ? callTools(tasks) : say('done')).blocks};
  });
  onTestFinished(() => server.close());
  const redis = await startRedis();
  const pricing = {m: {...PRICE, cacheRead: PRICE.input, cacheWrite: PRICE.input}};
  const settings = {pricing};
  for (let workers = 0; workers < 2; workers += 1) {
    await startWorker({url: redis.url, server, settings, args: ['--concurrency', '6']});
  }
  const args = ['-p', 'go', '--output-format', 'json', '--model', 'm', '--max-budget-usd', '1'];
  const ran = await runCli([...args, '--settings', withQueue(redis.url, settings)], {
    ...{server, cwd: (await project()).path, home: await home()},
    ...{env: {QUEUE_KEY: SECRET}, timeoutMs: 150_000},
  });
  const result = JSON.parse(ran.stdout);
  expect(server.spentUsd).toBeLessThan(1.2);
  expect(server.spentUsd).toBeGreaterThan(0.59);
  expect(result.total_cost_usd / server.spentUsd).toBeCloseTo(1, 2);
  const reasons = result.subagents.map(({outcome, reason}: {outcome: string; reason: string}) => [outcome, reason]);
  expect(reasons).toEqual(Array(CHILDREN).fill(['limit', 'budget of $1.00']));
});
