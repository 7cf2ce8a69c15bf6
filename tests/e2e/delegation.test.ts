/** What one prompt may set off, what is said at its ceilings, and what the line at the end of a turn counts. */
import {describe, expect, it} from 'vitest';
import type {MessagesBody, Reply} from '../support/messages-server.ts';
import {answer} from '../support/questions.ts';
import {runCli} from '../support/run-cli.ts';
import {callTool, callTools, say, status, withUsage} from '../support/scripted-replies.ts';
import {readLines} from '../support/session-files.ts';
import {explore, home, isSubagent, project, serve} from './fixture.ts';
import {repl, send} from './repl-fixture.ts';

const JSON_OUT = ['-p', 'go', '--output-format', 'json'];
const perPrompt = (value: object | null) => ['--settings', JSON.stringify({subagents: {perPrompt: value}})];
const tasks = (count: number) => callTools(Array.from({length: count}, (_, index) => explore(`look at part ${index}`)));
const getResults = ({messages}: MessagesBody) =>
  messages.flatMap(({content}) =>
    typeof content === 'string' ? [] : content.filter((block) => block.type === 'tool_result'),
  );
const hasResults = (body: MessagesBody) => getResults(body).length > 0;

/** @param main replies of the main model, the last one for ever */
async function start(
  main: (body: MessagesBody, index: number) => Reply,
  child: (body: MessagesBody) => Reply = () => say('found'),
) {
  let index = 0;
  return serve((body) => (isSubagent(body) ? child(body) : main(body, index++)));
}

async function runJson(server: Awaited<ReturnType<typeof start>>, args: readonly string[] = []) {
  const [workspace, own] = [await project(), await home()];
  const {stdout, stderr, code} = await runCli([...JSON_OUT, ...args], {cwd: workspace.path, home: own, server});
  return {result: JSON.parse(stdout), stderr, code};
}

describe('the ceiling of one prompt', () => {
  it('lets 50 of 60 subagents start by default, and tells the model how to go on', async () => {
    const server = await start((body) => (hasResults(body) ? say('done') : tasks(60)));
    const {result, stderr, code} = await runJson(server);
    expect([code, result.result, result.subagents.length]).toEqual([0, 'done', 50]);
    const refusals = getResults(server.requests.at(-1)!.body).filter(({content}) =>
      JSON.stringify(content).includes('Not started'),
    );
    expect(refusals).toHaveLength(10);
    expect(JSON.stringify(refusals[0])).toContain(
      'Not started: subagents.perPrompt.runs is 50 for one prompt. Answer from what you have.',
    );
    expect(result.subagent_summary).toMatchObject({runs: 50, refused: 10, cached: 0, repaired: 0});
    expect(stderr).toMatch(/50 subagents · .* · 10 refused$/m);
  });

  it('holds for a model that dispatches again and again, and is a new one for the next prompt', async () => {
    const server = await start((_, index) => (index < 9 ? tasks(index + 1) : say('done')));
    const {result} = await runJson(server, perPrompt({runs: 3}));
    expect(result.subagents).toHaveLength(3);
    expect(result.result).toBe('done');
  });

  it('200 in one reply: 50 start, and stream-json says so; the timeline shows them', async () => {
    const server = await start((body) => (hasResults(body) ? say('done') : tasks(200)));
    const [workspace, own] = [await project(), await home()];
    const given = {cwd: workspace.path, home: own, server};
    const {stdout, code} = await runCli(['-p', 'go', '--output-format', 'stream-json', '--verbose'], given);
    const result = JSON.parse(stdout.trim().split('\n').at(-1)!);
    expect([code, result.type, result.result, result.subagents.length]).toEqual([0, 'result', 'done', 50]);
    expect(result.subagent_summary).toMatchObject({runs: 50, refused: 150});
    expect(server.requests.filter(({body}) => isSubagent(body))).toHaveLength(50);
    const {stdout: shown} = await runCli(['-p', '--continue', '/subagents timeline'], given);
    const rows = shown.trimEnd().split('\n');
    expect(rows[0]).toMatch(/^50 subagents · .* · est /);
    expect(rows.filter((row) => row.startsWith('explore '))).toHaveLength(50);
    expect(Math.max(...rows.map(({length}) => length))).toBeLessThanOrEqual(80);
  });

  it('null means no limit, and tokens and money end the runs that spend them', async () => {
    const free = await start((body) => (hasResults(body) ? say('done') : tasks(55)));
    expect((await runJson(free, perPrompt(null))).result.subagents).toHaveLength(55);

    const costly = (body: MessagesBody) =>
      withUsage(callTool('glob', {pattern: `${body.messages.length}*`}), {input_tokens: 400, output_tokens: 100});
    const server = await start((_, index) => (index < 2 ? tasks(index + 1) : say('done')), costly);
    const {result} = await runJson(server, perPrompt({tokens: 1000}));
    expect(result.subagents).toHaveLength(1);
    expect(result.subagents[0]).toMatchObject({outcome: 'limit', reason: 'subagents.perPrompt.tokens (1000)'});
    expect(result.subagent_summary).toMatchObject({runs: 1, refused: 2});
  });

  it('a project can only lower it', async () => {
    const server = await start((body) => (hasResults(body) ? say('done') : tasks(55)));
    const [workspace, own] = [await project(), await home()];
    await workspace.write('.mini-cc/settings.json', JSON.stringify({subagents: {perPrompt: {runs: 54, usd: null}}}));
    const {stdout} = await runCli(JSON_OUT, {cwd: workspace.path, home: own, server});
    expect(JSON.parse(stdout).subagents).toHaveLength(50);
  });

  it('a task that failed three times is not started again', async () => {
    const failing = status(400, {message: 'no such deployment'});
    const server = await start(
      (_, index) => (index < 5 ? callTools([explore('look')]) : say('done')),
      () => failing,
    );
    const {result} = await runJson(server);
    expect(result.subagents).toHaveLength(3);
    const last = getResults(server.requests.at(-1)!.body).at(-1);
    expect(JSON.stringify(last)).toMatch(/Not started: this Task failed three times in a row: .*no such deployment/);
  });

  it('asks the person in the REPL once, and takes yes for as many more', async () => {
    const server = await start((body) => (hasResults(body) ? say('all done') : tasks(5)));
    const terminal = await repl({
      server,
      cols: 140,
      args: [...perPrompt({runs: 2}), '--permission-mode', 'bypassPermissions'],
    });
    await send(terminal, 'go');
    await answer(terminal, /2 subagents for this prompt, .* tokens, est .*\. Start more\?/, '1');
    await answer(terminal, /4 subagents for this prompt/, '4');
    await terminal.waitFor('all done');
    await terminal.waitFor(/4 subagents · .* side by side .* tokens read, .* came back · est .* · 1 refused/);
  });
});

describe('a model that dispatches without end', () => {
  /** Dollars for a million tokens. */
  const PRICED = ['--model', 'm', '--settings', JSON.stringify({pricing: {m: {input: 10, output: 50}}})];
  const USED = {input_tokens: 1_000, output_tokens: 100};
  const USD = (1_000 * 10 + 100 * 50) / 1_000_000;

  it('gets 50 of 200 in one reply, and the stream says so and what it cost', async () => {
    const server = await start(
      (body) => (hasResults(body) ? say('done') : tasks(200)),
      () => withUsage(say('found'), USED),
    );
    const [workspace, own] = [await project(), await home()];
    const args = ['-p', 'go', '--output-format', 'stream-json', '--verbose', ...PRICED];
    const {stdout, stderr, code} = await runCli(args, {cwd: workspace.path, home: own, server});
    const result = JSON.parse(stdout.trim().split('\n').at(-1)!);
    expect([code, result.subtype, result.result, result.subagents.length]).toEqual([0, 'success', 'done', 50]);
    const {cost, ...summary} = result.subagent_summary;
    expect(summary).toMatchObject({runs: 50, refused: 150, tokens_read: 50_000, tokens_returned: 5_000});
    expect(server.requests).toHaveLength(52);
    expect(cost).toBeCloseTo(50 * USD, 9);
    expect(result.total_cost_usd).toBeGreaterThan(cost);
    expect(stderr).toMatch(/^50 subagents · .* · 50\.0k tokens read, 5\.0k came back · est \$0\.75 · 150 refused$/m);
  });

  it('is ended when it does nothing else, after the 50 that it may start', async () => {
    let next = 0;
    const more = () => callTools(Array.from({length: 10}, () => explore(`look at part ${next++}`)));
    const server = await start(more);
    const {result, stderr, code} = await runJson(server);
    expect([code, result.subtype]).toEqual([3, 'error_during_execution']);
    expect(result.errors).toEqual(['no progress: a call that could not be run 8 times']);
    // Five replies started ten each, and the ten of each of the next eight were refused.
    expect(result.subagent_summary).toMatchObject({runs: 50, refused: 80});
    expect(server.requests).toHaveLength(50 + 13);
    expect(stderr).toMatch(/^50 subagents · .* · 80 refused$/m);
    expect(result.subagents).toHaveLength(50);
  });
});

it('the sums at the end are those of the transcripts', async () => {
  const usage = {input_tokens: 300, cache_read_input_tokens: 40, cache_creation_input_tokens: 2};
  const child = (body: MessagesBody) =>
    hasResults(body)
      ? withUsage(say('found it'), {...usage, output_tokens: 7})
      : withUsage(callTool('glob', {pattern: '*'}), {...usage, output_tokens: 90});
  const server = await start((_, index) => (index === 0 ? tasks(3) : say('done')), child);
  const {result, stderr} = await runJson(server);
  const lines = result.subagents.flatMap(({transcript}: {transcript: string}) => readLines(transcript));
  const replies = lines
    .filter((line: {type: string}) => line.type === 'message')
    .filter((line: {role?: string; message?: {role: string}}) => (line.role ?? line.message?.role) === 'assistant');
  expect(replies).toHaveLength(6);
  expect(result.subagent_summary).toMatchObject({runs: 3, tokens_read: 6 * 342, tokens_returned: 21});
  expect(result.subagent_summary.wall_ms).toBeLessThanOrEqual(result.subagent_summary.sum_ms);
  expect(stderr).toContain('2.1k tokens read, 21 came back');
});
