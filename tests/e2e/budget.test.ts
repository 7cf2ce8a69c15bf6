/** What a session costs, in print mode: prices, totals and budgets, with a scripted server. */
import {mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {afterAll, describe, expect, it} from 'vitest';
import {type MessagesBody, type Script, say} from '../support/messages-server.ts';
import {countReplies} from '../support/request-facts.ts';
import {runCli} from '../support/run-cli.ts';
import {callTool, callTools, type MessageReply, type ScriptedUsage} from '../support/scripted-replies.ts';
import {explore, home, isSubagent, project, serve} from './fixture.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'mini-cc-prices-'));
afterAll(() => rmSync(folder, {recursive: true}));
let files = 0;

function settingsFile(settings: object): string {
  files += 1;
  const file = path.join(folder, `${files}.json`);
  writeFileSync(file, JSON.stringify(settings));
  return file;
}

const NONE = {input_tokens: 0, output_tokens: 0, cache_read_input_tokens: 0, cache_creation_input_tokens: 0};
const used = (reply: MessageReply, usage: Partial<ScriptedUsage>): MessageReply => ({
  ...reply,
  usage: {...NONE, ...usage},
});
/** One dollar for a million tokens: 100,000 tokens are ten cents. */
const PRICES = settingsFile({pricing: {m: {input: 1, output: 1, cacheRead: 0.5, cacheWrite: 2}}});
const CENTS_10 = {input_tokens: 100_000, output_tokens: 0};
const flags = (...more: string[]) => [
  '-p',
  'go',
  '--output-format',
  'json',
  '--model',
  'm',
  '--settings',
  PRICES,
  ...more,
];
const background = (agent = 'explore', prompt = 'look') => ({
  name: 'Task',
  input: {description: prompt, prompt, agent_type: agent, background: true},
});

async function run(script: Script, args: readonly string[], more: Parameters<typeof runCli>[1] = {}) {
  const server = await serve(script);
  const ended = await runCli(args, {server, cwd: (await project()).path, ...more});
  return {...ended, server, result: ended.stdout.startsWith('{') ? JSON.parse(ended.stdout) : undefined};
}

describe('the cost of a session', () => {
  it('is in the result, by model and by subagent, with cache reads and writes apart', async () => {
    const {result} = await run((body) => {
      if (isSubagent(body)) return used(say('found'), {input_tokens: 1_000_000, output_tokens: 500_000});
      if (countReplies(body) === 0) return used(callTools([explore()]), {input_tokens: 10, output_tokens: 5});
      const cached = {cache_read_input_tokens: 2_000_000, cache_creation_input_tokens: 1_000_000};
      return used(say('done'), {input_tokens: 20, output_tokens: 1, ...cached});
    }, flags());
    expect(result.total_cost_usd).toBeCloseTo(1.5 + 36e-6 + 1 + 2, 9);
    expect(result).not.toHaveProperty('cost_unknown');
    expect(result.usage).toEqual({
      ...{input_tokens: 1_000_030, output_tokens: 500_006},
      ...{cache_read_input_tokens: 2_000_000, cache_creation_input_tokens: 1_000_000},
    });
    expect(result.modelUsage.m).toMatchObject({inputTokens: 1_000_030, cacheReadInputTokens: 2_000_000});
    expect(result.modelUsage.m.costUSD).toBe(result.total_cost_usd);
    expect(result.subagents).toMatchObject([{usage: {input_tokens: 1_000_000}, cost_usd: 1.5}]);
  });

  it('is the list price of a known model, with writes for five minutes and for an hour', async () => {
    const body = {input_tokens: 1_000_000, output_tokens: 100_000, cache_creation_input_tokens: 300_000};
    const cache_creation = {ephemeral_5m_input_tokens: 200_000, ephemeral_1h_input_tokens: 100_000};
    const events = [
      {
        type: 'message_start',
        message: {
          id: 'msg_1',
          type: 'message',
          role: 'assistant',
          model: 'claude-sonnet-5-5-20260928',
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: {...body, cache_creation, cache_read_input_tokens: 0, server_tool_use: {web_search_requests: 2}},
        },
      },
      {type: 'content_block_start', index: 0, content_block: {type: 'text', text: ''}},
      {type: 'content_block_delta', index: 0, delta: {type: 'text_delta', text: 'ok'}},
      {type: 'content_block_stop', index: 0},
      {type: 'message_delta', delta: {stop_reason: 'end_turn', stop_sequence: null}, usage: {output_tokens: 100_000}},
      {type: 'message_stop'},
    ];
    const {result} = await run([{type: 'events', events}], ['-p', 'go', '--output-format', 'json']);
    // 2 + 1 + 0.2 × 2.5 + 0.1 × 4
    expect(result.total_cost_usd).toBeCloseTo(3.9, 9);
    expect(result.usage.cache_creation).toEqual(cache_creation);
    expect(result.usage.server_tool_use).toEqual({web_search_requests: 2});
    expect(Object.values(result.modelUsage)).toMatchObject([{webSearchRequests: 2, contextWindow: 200_000}]);
  });

  it('is unknown for a model without a price, and says so', async () => {
    const {result} = await run([say('ok')], ['-p', 'go', '--output-format', 'json', '--model', 'mystery']);
    expect(result).toMatchObject({total_cost_usd: null, cost_unknown: true, modelUsage: {mystery: {costUSD: null}}});
  });

  it('is in the receipt of a subagent', async () => {
    const {server} = await run((body) => {
      if (isSubagent(body)) return used(say('found'), {input_tokens: 20_000, output_tokens: 0});
      return countReplies(body) === 0 ? callTools([explore()]) : say('done');
    }, flags());
    expect(JSON.stringify(server.requests.at(-1)?.body.messages)).toContain(' · est $0.02');
  });

  it('agrees with the server to the token: retries, a summary, a run, and a session that is resumed', async () => {
    let sent = 0;
    let attempts = 0;
    const counted = (reply: MessageReply, input: number, output = 7): MessageReply => {
      sent += input + output;
      return used(reply, {
        input_tokens: input,
        output_tokens: output,
        cache_read_input_tokens: 0,
        cache_creation_input_tokens: 0,
      });
    };
    const script: Script = (body) => {
      if (isSubagent(body)) return counted(say('found'), 500);
      if (countReplies(body) > 0) return counted(say('done'), 300);
      attempts += 1;
      // The failed attempt told its input and streamed eleven characters, about three tokens, before it broke.
      if (attempts === 1) {
        sent += 203;
        return {
          ...used(say('half an ans'), {
            input_tokens: 200,
            output_tokens: 9,
            cache_read_input_tokens: 0,
            cache_creation_input_tokens: 0,
          }),
          fault: {type: 'cut', afterEvents: 3},
        };
      }
      return counted(callTools([explore()]), 200);
    };
    const made = await home();
    const cwd = (await project()).path;
    const server = await serve(script);
    const first = JSON.parse((await runCli(flags(), {server, cwd, home: made})).stdout);
    const count = (usage: Record<string, number>) => Object.values(usage).reduce((sum, each) => sum + each, 0);
    expect(count(first.usage)).toBe(sent);
    const cost = await runCli(['-p', '/cost', '--resume', first.session_id, '--settings', PRICES], {
      server,
      cwd,
      home: made,
    });
    // All that the transcripts know, also of the attempt that failed.
    expect(cost.stdout).toMatch(/^Cost of this session: ~\$0\.00\d\d?/);
    expect(cost.stdout).toMatch(/main · m +~?\$\S+\n +700 in · \d+ out/);
    expect(cost.stdout).toMatch(/explore · m +~?\$\S+\n +500 in · 7 out/);
    const before = sent;
    const second = await runCli([...flags(), '--resume', first.session_id], {server, cwd, home: made});
    expect(count(JSON.parse(second.stdout).usage)).toBe(sent - before);
  });
});

describe('a budget', () => {
  it('asks for a report at 90 %, cuts at 100 %, and exits with 3', async () => {
    const {code, result, server} = await run(
      () => used(callTool('glob', {pattern: '*'}), CENTS_10),
      flags('--max-budget-usd', '0.45'),
    );
    // A fifth call would not fit: the fourth is the report, and the tools of its reply do not run.
    expect(server.requests).toHaveLength(4);
    expect(code).toBe(3);
    expect(result).toMatchObject({subtype: 'error_max_budget_usd', is_error: true});
    expect(result.result).toContain('limit reached: budget of $0.45');
    const report = await run(
      (body) =>
        body.tool_choice ? used(say('what I have'), CENTS_10) : used(callTool('glob', {pattern: '*'}), CENTS_10),
      flags('--max-budget-usd', '0.32'),
    );
    expect(report.server.requests).toHaveLength(3);
    expect(report.result).toMatchObject({subtype: 'error_max_budget_usd'});
    expect(report.result.result).toContain('what I have');
  });

  it('limits the tokens of a reply to what it has left', async () => {
    const script = [used(callTool('glob', {pattern: '*'}), {input_tokens: 1, output_tokens: 100_000}), say('done')];
    const {server} = await run(script, flags('--max-budget-usd', '0.105'));
    // The second input costs next to nothing, as the server counts.
    const [first, second] = server.requests.map(({body}) => body.max_tokens);
    expect(first).toBe(16_384);
    expect(second).toBeGreaterThan(4_980);
    expect(second).toBeLessThan(5_000);
  });

  it('of the session ends subagents in the background too, before it is exceeded', async () => {
    const {code, result, server} = await run(
      (body) => {
        if (isSubagent(body)) return used(callTool('glob', {pattern: '*'}), CENTS_10);
        return countReplies(body) === 0
          ? used(callTools([background()]), CENTS_10)
          : used(say('it works'), {input_tokens: 1, output_tokens: 1});
      },
      flags('--max-budget-usd', '0.50'),
    );
    // The main agent's calls are cheap, so it ends its work.
    expect(code).toBe(0);
    expect(result).toMatchObject({subagents: [{outcome: 'limit', reason: 'budget of $0.50'}]});
    expect(server.requests.filter(({body}) => isSubagent(body)).length).toBeLessThanOrEqual(4);
    expect(result.total_cost_usd).toBeLessThan(0.501);
  });

  it('that is used up by the main agent ends the call of a subagent that is under way', async () => {
    const {code, result} = await run(
      (body) => {
        if (isSubagent(body)) return {type: 'hang'};
        if (countReplies(body) === 0) return used(callTools([background()]), {input_tokens: 10_000, output_tokens: 0});
        // It costs more than could be expected.
        return used(callTool('glob', {pattern: '*'}), {input_tokens: 1_000_000, output_tokens: 0});
      },
      flags('--max-budget-usd', '1'),
    );
    expect(code).toBe(3);
    expect(result).toMatchObject({subtype: 'error_max_budget_usd', subagents: [{outcome: 'limit'}]});
  });

  it('of an agent holds for each of its runs, and that of the session for all of them', async () => {
    const agents = JSON.stringify({
      dear: {description: 'd', prompt: 'p', tools: ['glob'], maxBudgetUsd: 0.4},
    });
    const {result} = await run(
      (body: MessagesBody) => {
        if (isSubagent(body)) return used(callTool('glob', {pattern: '*'}), CENTS_10);
        const prompt = ['one', 'two'][countReplies(body)];
        if (prompt === undefined) return used(say('done'), {input_tokens: 1, output_tokens: 1});
        // They run one after the other. At the same time, it would be chance which of them gets what is left.
        return used(
          callTool('Task', {description: prompt, prompt, agent_type: 'dear'}),
          prompt === 'one' ? CENTS_10 : {input_tokens: 1, output_tokens: 1},
        );
      },
      flags('--max-budget-usd', '0.75', '--agents', agents),
    );
    const reasons = result.subagents.map(({reason}: {reason: string}) => reason);
    expect(reasons).toEqual(['budget of $0.40', 'budget of $0.75']);
    expect(result.total_cost_usd).toBeLessThan(0.751);
  });

  it.each([
    ['a model without a price', ['--model', 'mystery', '--max-budget-usd', '1'], /that of mystery is not known/],
    ['no number', ['--max-budget-usd', 'much'], /--max-budget-usd takes an amount in US dollars above 0, not "much"/],
    ['a negative amount', ['--max-budget-usd=-1'], /--max-budget-usd takes an amount/],
    [
      'a fallback without a price',
      ['--model', 'sonnet', '--fallback-model', 'mystery', '--max-budget-usd', '1'],
      /that of mystery is not known/,
    ],
    ['a negative price', ['--settings', settingsFile({pricing: {m: {input: -1, output: 2}}})], /pricing\.m\.input/],
    [
      'a price that is none',
      ['--settings', settingsFile({pricing: {m: {input: 'cheap', output: 2}}})],
      /pricing\.m\.input/,
    ],
    [
      'a limit of the settings',
      ['--model', 'mystery', '--settings', settingsFile({limits: {maxBudgetUsd: 1}})],
      /that of mystery is not known/,
    ],
  ])('that cannot be: %s is one line and exit 2, before any call', async (_, args, line) => {
    const {code, stdout, stderr, server} = await run([], ['-p', 'go', ...args]);
    expect({code, stdout}).toEqual({code: 2, stdout: ''});
    expect(stderr).toMatch(line);
    expect(stderr.trim().split('\n')).toHaveLength(1);
    expect(server.requests).toHaveLength(0);
  });

  it.each(['my-model', 'anthropic/my-model'])('takes the price of anthropic/my-model for %s', async (model) => {
    const pricing = {'anthropic/my-model': {input: 1, output: 1}};
    const args = flags('--model', model, '--settings', settingsFile({pricing}), '--max-budget-usd', '1');
    const {code, result} = await run([used(say('hi'), CENTS_10)], args);
    expect({code, cost: result.total_cost_usd}).toEqual({code: 0, cost: 0.1});
  });

  it('of an agent whose model has no price: the Task call is refused, before any call of it', async () => {
    const agents = JSON.stringify({
      dear: {description: 'd', prompt: 'p', tools: ['glob'], model: 'mystery', maxBudgetUsd: 1},
    });
    const {server, result} = await run(
      (body) =>
        countReplies(body) === 0
          ? callTools([{name: 'Task', input: {description: 'x', prompt: 'x', agent_type: 'dear'}}])
          : say('done'),
      flags('--agents', agents),
    );
    expect(server.requests).toHaveLength(2);
    expect(JSON.stringify(server.requests[1]?.body.messages)).toContain('that of mystery is not known');
    expect(result.subagents).toEqual([]);
  });
});
