/** What one prompt may set off, what is said at its ceilings, and what the line at the end of a turn counts. */
import {describe, expect, it} from 'vitest';
import type {MessagesBody, Reply} from '../support/messages-server.ts';
import {answer} from '../support/questions.ts';
import {runCli} from '../support/run-cli.ts';
import {callTool, callTools, say, status, withUsage} from '../support/scripted-replies.ts';
import {readLines} from '../support/session-files.ts';
import {explore, home, isSubagent, project, serve} from './fixture.ts';
import {idle, repl, send} from './repl-fixture.ts';

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
});

describe('a model that dispatches without end', () => {
  /** Dollars for a million tokens. */
  const PRICED = ['--model', 'm', '--settings', JSON.stringify({pricing: {m: {input: 10, output: 50}}})];
  const USED = {input_tokens: 1_000, output_tokens: 100};
  const USD = (1_000 * 10 + 100 * 50) / 1_000_000;

  it('gets 50 of 200 in one reply; the stream says so and what it cost, and the timeline shows them', async () => {
    const server = await start(
      (body) => (hasResults(body) ? say('done') : tasks(200)),
      () => withUsage(say('found'), USED),
    );
    const at = {cwd: (await project()).path, home: await home(), server};
    const args = ['-p', 'go', '--output-format', 'stream-json', '--verbose', ...PRICED];
    const {stdout, stderr, code} = await runCli(args, at);
    const result = JSON.parse(stdout.trim().split('\n').at(-1)!);
    expect([code, result.subtype, result.result, result.subagents.length]).toEqual([0, 'success', 'done', 50]);
    const {cost, ...summary} = result.subagent_summary;
    expect(summary).toMatchObject({runs: 50, refused: 150, tokens_read: 50_000, tokens_returned: 5_000});
    expect(server.requests).toHaveLength(52);
    expect(cost).toBeCloseTo(50 * USD, 9);
    expect(result.total_cost_usd).toBeGreaterThan(cost);
    expect(stderr).toMatch(/^50 subagents · .* · 50\.0k tokens read, 5\.0k came back · est \$0\.75 · 150 refused$/m);
    const {stdout: shown} = await runCli(['-p', '--continue', '/subagents timeline'], at);
    const rows = shown.trimEnd().split('\n');
    expect(rows[0]).toMatch(/^50 subagents · .* · est /);
    expect(rows.filter((row) => row.startsWith('explore '))).toHaveLength(50);
    expect(Math.max(...rows.map(({length}) => length))).toBeLessThanOrEqual(80);
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

describe('in the REPL', () => {
  const USED = {input_tokens: 1_000, output_tokens: 100};
  /** Dollars for a million tokens. A run costs 0.015. */
  const PRICING = {m: {input: 10, output: 50}};
  /** The question is asked in every mode. */
  const getArgs = (runs: number) => [
    ...['--model', 'm', '--permission-mode', 'bypassPermissions', '--settings'],
    JSON.stringify({pricing: PRICING, subagents: {perPrompt: {runs}}}),
  ];

  /** @param runs ceiling */
  async function ask(runs: number, main: Parameters<typeof start>[0], child: Reply = withUsage(say('found'), USED)) {
    const server = await start(main, () => child);
    const terminal = await repl({server, cols: 140, rows: 50, args: getArgs(runs)});
    await send(terminal, 'go');
    const countRuns = () => server.requests.filter(({body}) => isSubagent(body)).length;
    return {server, terminal, countRuns};
  }

  it('asks with what was spent when a model asks for 200 in one reply: no ends it at 50', async () => {
    const {server, terminal, countRuns} = await ask(50, (_, index) =>
      index === 0 ? tasks(50) : index === 1 ? tasks(200) : say('all done'),
    );
    const question =
      /50 subagents for this prompt, 55\.0k tokens, est \$0\.75\. Start more\?[\s\S]*1 +yes, another 50[\s\S]*2 +yes, no limit for this prompt[\s\S]*4 +no\b/;
    await answer(terminal, question, '4');
    await terminal.waitFor('all done');
    // The first 50 of the 200 are tasks that have just ended, with results that are used again.
    await terminal.waitFor(/50 subagents · .* · 50\.0k tokens read, 5\.0k came back · est \$0\.75 · .*150 refused/);
    expect(countRuns()).toBe(50);
    expect(JSON.stringify(server.requests.at(-1)!.body.messages).match(/Not started: /g)).toHaveLength(150);
  });

  it('asks again after each yes of a model that never stops, and ends it after Esc', async () => {
    let next = 0;
    const more = () => callTools(Array.from({length: 2}, () => explore(`look at part ${next++}`)));
    const {terminal, countRuns} = await ask(2, more);
    await answer(terminal, '2 subagents for this prompt, 2.2k tokens, est $0.03. Start more?', '1');
    await answer(terminal, '4 subagents for this prompt, 4.4k tokens, est $0.06. Start more?', '1');
    await answer(terminal, '6 subagents for this prompt, 6.6k tokens, est $0.09. Start more?', 'escape');
    await terminal.waitFor(/no progress: a call that could not be run 8 times/);
    await terminal.waitFor(/6 subagents · .* · 6\.0k tokens read, 600 came back · est \$0\.09 · 16 refused/);
    expect(countRuns()).toBe(6);
  });

  it('asks no more for this prompt after the second answer, and again for the next one', async () => {
    let prompts = 0;
    const {terminal, countRuns} = await ask(2, ({messages}) => {
      const isNew = !JSON.stringify(messages.at(-1)).includes('tool_result');
      if (isNew) prompts += 1;
      const parts = Array.from({length: 7}, (_, part) => explore(`look at part ${part} of ${prompts}`));
      return isNew ? callTools(parts) : say(`answer ${prompts}`);
    });
    await answer(terminal, /2 subagents for this prompt/, '2');
    await terminal.waitFor('answer 1');
    await terminal.waitFor(/7 subagents · [^\n]* est \$0\.1/);
    expect(countRuns()).toBe(7);
    await idle(terminal);
    await send(terminal, 'once more');
    await answer(terminal, /2 subagents for this prompt/, '4');
    await terminal.waitFor('answer 2');
    await terminal.waitFor(/2 subagents · .* · 5 refused/);
    expect(countRuns()).toBe(9);
  });

  it('shows that a task that failed three times is not started again', async () => {
    const {terminal, countRuns} = await ask(
      50,
      (_, index) => (index < 5 ? callTools([explore('look')]) : say('all done')),
      status(400, {message: 'no such deployment'}),
    );
    await terminal.waitFor('all done');
    await terminal.waitFor(/3 subagents · .* · 2 refused/);
    expect(terminal.text().match(/Not started: this Task failed three times in a row: [^\n]*no such/g)).toHaveLength(2);
    expect(countRuns()).toBe(3);
  });
});

it('what the subagents brought is known after a session goes on, by /cost, and is no part of a later turn', async () => {
  const replies = [tasks(2), say('done'), tasks(3), say('done'), say('plain')];
  const server = await start(
    (_, index) => replies[index]!,
    () => withUsage(say('found'), {input_tokens: 500, output_tokens: 7}),
  );
  const at = {cwd: (await project()).path, home: await home(), server};
  const run = (...args: readonly string[]) => runCli(['-p', ...args], at);
  expect((await run('go')).stderr).toMatch(/^2 subagents · .* 1\.0k tokens read, 14 came back · est \S+$/m);
  expect((await run('-c', 'again')).stderr).toMatch(/^3 subagents · .* 1\.5k tokens read, 21 came back · est \S+$/m);
  expect((await run('-c', 'a plain one')).stderr).toBe('');
  const sums = /^5 subagents · .* 2\.5k tokens read, 35 came back · est \S+$/m;
  expect((await run('-c', '/cost')).stdout).toMatch(sums);
  expect((await run('-c', '--fork-session', '/cost')).stdout).toMatch(sums);
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
