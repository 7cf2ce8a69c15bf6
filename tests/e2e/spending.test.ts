/**
 * What a budget lets through, and what is said of it, by the books of the server: many subagents at once, and replies
 * that are cut. MINI_CC_CUTS sets the number of cuts at random moments; `npm run soak` uses a hundred.
 */
import {mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {afterAll, describe, expect, it, onTestFinished} from 'vitest';
import {type BilledReply, type BillingServer, PRICE, startBillingServer} from '../support/billing-server.ts';
import type {MessagesBody} from '../support/messages-server.ts';
import {countReplies, getSystem} from '../support/request-facts.ts';
import {killGroup, runCli, spawnCli} from '../support/run-cli.ts';
import {callTool, callTools, say} from '../support/scripted-replies.ts';
import {readLines} from '../support/session-files.ts';
import {PATIENCE_MS, pause, until} from '../support/wait.ts';
import {home, isSubagent, project} from './fixture.ts';

const CUTS = Number(process.env.MINI_CC_CUTS ?? 3);
/** Twenty cents of input, and twelve characters of output. */
const DEAR = 100_000;

const folder = mkdtempSync(path.join(tmpdir(), 'mini-cc-spending-'));
afterAll(() => rmSync(folder, {recursive: true}));

function settings(maxConcurrent: number): string {
  const file = path.join(folder, `${maxConcurrent}.json`);
  const pricing = {m: {...PRICE, cacheRead: PRICE.input, cacheWrite: PRICE.input}};
  writeFileSync(file, JSON.stringify({pricing, subagents: {maxConcurrent, perPrompt: null}}));
  return file;
}

const task = (index: number, background: boolean) => ({
  name: 'Task',
  input: {description: `part ${index}`, prompt: `look at part ${index}`, agent_type: 'explore', background},
});

async function serve(script: (body: MessagesBody) => BilledReply): Promise<BillingServer> {
  const server = await startBillingServer(script);
  onTestFinished(() => server.close());
  return server;
}

const flags = (children: number, ...more: string[]) => [
  ...['-p', 'go', '--output-format', 'json', '--model', 'm', '--settings', settings(children)],
  ...more,
];

describe('a budget of a dollar', () => {
  it.each([
    [1, false],
    [8, false],
    [30, false],
    [64, true],
  ])(
    'is not passed by %i subagents of twenty cents (in the background: %s) by more than one estimate',
    async (children, background) => {
      const server = await serve((body) => {
        if (isSubagent(body)) {
          // Each one would go on for ever.
          return {input: DEAR, blocks: callTool('glob', {pattern: `${Math.random()}*`}).blocks};
        }
        const tasks = Array.from({length: children}, (_, index) => task(index, background));
        return {input: 50, blocks: (countReplies(body) === 0 ? callTools(tasks) : say('done')).blocks};
      });
      const cwd = (await project()).path;
      const ran = await runCli(flags(children, '--max-budget-usd', '1'), {server, cwd});
      const result = JSON.parse(ran.stdout);
      expect(server.spentUsd).toBeLessThan(1.21);
      // It is not so careful that nothing can be done.
      expect(server.spentUsd).toBeGreaterThan(0.59);
      expect(result.total_cost_usd / server.spentUsd).toBeCloseTo(1, 2);
      expect(result.subagents).toHaveLength(children);
      expect(result.subagents.every(({reason}: {reason: string}) => reason === 'budget of $1.00')).toBe(true);
    },
  );
});

describe('a budget of a dollar for a fan-out', () => {
  it('is not passed by its parts by more than one estimate, and says why they ended', async () => {
    const folder = await project();
    const names = Array.from({length: 9}, (_, index) => `src/f${index}.ts`);
    for (const name of names) await folder.write(name, 'export const f = 1;\n');
    await folder.git('add', '-A');
    // Each part would go on for ever.
    const server = await serve(() => ({
      input: DEAR,
      blocks: callTool('read_file', {path: `src/none-${Math.random()}.ts`}).blocks,
    }));
    const args = ['--fan-out', 'auto', '--permission-mode', 'acceptEdits', '--max-budget-usd', '1'];
    const [, ...others] = flags(3, ...args);
    const ran = await runCli(['-p', 'Update all files matching src/f*.ts', ...others.slice(1)], {
      server,
      cwd: folder.path,
    });
    const result = JSON.parse(ran.stdout);
    expect(server.spentUsd).toBeLessThan(1.21);
    expect(server.spentUsd).toBeGreaterThan(0.59);
    expect(result.total_cost_usd / server.spentUsd).toBeCloseTo(1, 2);
    expect(result.subagents).toMatchObject(Array(3).fill({outcome: 'limit', reason: 'budget of $1.00'}));
    expect(result.subagentResults).toMatchObject({total: 3, successful: 0, failed: 3});
  });
});

describe('a reply that is cut', () => {
  const long = 'word '.repeat(20_000);
  // The little that goes out while a busy machine does not read it is no matter beside the whole.
  const slowly = {chars: 20, ms: 10};
  /** Milliseconds in which mini-cc reads and writes down what the server has sent, also on a busy machine. */
  const READ_MS = 2_000;

  /** What is sent shortly before a kill may be unread, so that nobody can count it. What was sent before that is counted. */
  const expectCounted = (stdout: string, sureUsd: number, spentUsd: number, facts = '') => {
    const [, usd = ''] = /^Cost of this session: ~\$([\d.]+)/.exec(stdout) ?? [];
    const said = `${facts} $${sureUsd} to $${spentUsd}; ${stdout}`;
    // Half a cent: it is rounded.
    expect(Number(usd), said).toBeGreaterThan(0.97 * sureUsd - 0.005);
    expect(Number(usd), said).toBeLessThan(1.03 * spentUsd + 0.005);
  };
  /** The main agent dispatches `children` subagents, which write for a long time. */
  const writing = (children: number, hasty: object = {}) => {
    const tasks = Array.from({length: children}, (_, index) => {
      const {name, input} = task(index, false);
      return {name, input: {...input, ...hasty}};
    });
    return (body: MessagesBody): BilledReply => {
      if (isSubagent(body)) return {input: 20_000, blocks: say(long).blocks, pace: slowly};
      return {input: 2_000, blocks: (countReplies(body) === 0 ? callTools(tasks) : say('done')).blocks};
    };
  };

  it('counts by what streamed, and is marked as an estimate: in the result, the receipt and /cost', async () => {
    const server = await serve(writing(2, {timeout_seconds: 2}));
    const at = {server, cwd: (await project()).path, home: await home()};
    const result = JSON.parse((await runCli(flags(2), at)).stdout);
    expect(result.subagents).toMatchObject(Array(2).fill({outcome: 'timeout', cost_estimated: true}));
    expect(result.cost_estimated).toBe(true);
    expect(Math.abs(result.total_cost_usd / server.spentUsd - 1)).toBeLessThan(0.05);
    const [transcript] = result.subagents.map((run: {transcript: string}) => run.transcript);
    expect(readLines(transcript).at(-1)).toMatchObject({
      type: 'end',
      receipt: expect.stringMatching(/ · est ~\$0\.\d\d /),
      usage: {cost_estimated: true},
    });
    const cost = await runCli(['-c', '-p', '/cost', '--settings', settings(2)], at);
    expect(cost.stdout).toMatch(/^Cost of this session: ~\$0\.\d\d/);
    expect(cost.stdout).toMatch(/explore .* ~\$0\.\d\d/);
    expect(cost.stdout).toContain('~: a part is estimated');
  });

  it('counts each time when the connection breaks, and the call is made again', async () => {
    let calls = 0;
    const server = await serve(() => {
      calls += 1;
      return {input: 10_000, blocks: say(long.slice(0, 40_000)).blocks, ...(calls < 3 && {breaksAt: 20_000})};
    });
    const result = JSON.parse((await runCli(flags(1), {server, cwd: (await project()).path})).stdout);
    expect(result).toMatchObject({subtype: 'success', cost_estimated: true});
    expect(server.bills).toHaveLength(3);
    expect(Math.abs(result.total_cost_usd / server.spentUsd - 1)).toBeLessThan(0.05);
  });

  it('counts when it is a summary, and mini-cc is killed in the midst of it', async () => {
    const server = await serve((body) =>
      getSystem(body).startsWith('You summarise')
        ? {input: 20_000, blocks: say(long).blocks, pace: slowly}
        : {input: 2_000, blocks: say(countReplies(body) === 0 ? long : 'short').blocks},
    );
    const at = {server, cwd: (await project()).path, home: await home()};
    for (const more of [[], ['-c']]) expect(await runCli(flags(1, ...more), at)).toMatchObject({code: 0});
    const child = await spawnCli(['-c', '-p', '/compact', '--model', 'm', '--settings', settings(1)], at);
    onTestFinished(() => killGroup(child));
    const exited = new Promise((resolve) => child.once('close', resolve));
    child.stdin.end();
    await until(() => (server.bills[2]?.chars ?? 0) > 2_000, 'a part of the summary');
    const sure = server.spentUsd;
    await pause(READ_MS, 'nothing says that it is read');
    child.kill('SIGKILL');
    await exited;
    const {stdout} = await runCli(['-c', '-p', '/cost', '--settings', settings(1)], at);
    expectCounted(stdout, sure, server.spentUsd);
  });

  it(
    `is counted in ${CUTS} sessions that are killed, interrupted or ended at random moments`,
    async () => {
      const cwd = (await project()).path;
      for (let round = 0; round < CUTS; round += 1) {
        const server = await serve(writing(1 + (round % 4)));
        const at = {server, cwd, home: await home()};
        const signal = (['SIGKILL', 'SIGINT', 'SIGTERM'] as const)[round % 3]!;
        const child = await spawnCli(flags(4), at);
        onTestFinished(() => killGroup(child));
        const exited = new Promise((resolve) => child.once('close', resolve));
        child.stdout.resume();
        child.stderr.resume();
        child.stdin.end();
        await until(async () => server.bills.length > 1);
        const delay = Math.round(Math.random() * 2_000);
        await pause(delay, 'the cut comes at a random moment');
        const sure = server.spentUsd;
        await pause(READ_MS, 'nothing says that it is read');
        child.kill(signal);
        await exited;
        const {stdout} = await runCli(['-c', '-p', '/cost', '--settings', settings(4)], at);
        expectCounted(stdout, sure, server.spentUsd, `${signal} after ${delay} ms:`);
      }
    },
    (5 + CUTS) * PATIENCE_MS,
  );
});
