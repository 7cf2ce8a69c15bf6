import {mkdirSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {describe, expect, it, onTestFinished} from 'vitest';
import {startChatServer} from '../support/chat-server.ts';
import type {Home} from '../support/environment.ts';
import {callTools, type MessagesServer, say, status, withUsage} from '../support/messages-server.ts';
import {getToolResults} from '../support/request-facts.ts';
import {type CliRun, runCli} from '../support/run-cli.ts';
import {findTranscripts, readLines} from '../support/session-files.ts';
import {explore, home, isSubagent, serve} from './fixture.ts';

const KEYS = {GLM_API_KEY: 'glm-key-1234567', CHAT_API_KEY: 'chat-key-1234567'};
const MAIN_KEY = 'main-key-1234567';

async function userWith(settings: object): Promise<Home> {
  const user = await home();
  mkdirSync(user.env.MINI_CC_HOME!, {recursive: true});
  writeFileSync(path.join(user.env.MINI_CC_HOME!, 'settings.json'), JSON.stringify(settings));
  return user;
}

function run(
  args: readonly string[],
  user: Home,
  server?: Pick<MessagesServer, 'url'>,
  env: object = {},
): Promise<CliRun> {
  const main = server && {ANTHROPIC_BASE_URL: server.url, ANTHROPIC_API_KEY: MAIN_KEY};
  return runCli(['-p', ...args], {home: user, env: {...main, ...KEYS, ...env}});
}

const glm = (server: Pick<MessagesServer, 'url'>) => ({glm: {baseURL: server.url, apiKeyEnv: 'GLM_API_KEY'}});

const TASK_CODE = {name: 'Task', input: {description: 'write', prompt: 'write', agent_type: 'code'}};
type Usage = MessagesServer['usage'];
const NOTHING: Usage = {
  ...{input_tokens: 0, output_tokens: 0},
  ...{cache_read_input_tokens: 0, cache_creation_input_tokens: 0},
};
const addCounts = (one: Usage, other: Usage) =>
  Object.fromEntries(
    Object.keys(NOTHING).map((name) => [name, one[name as keyof Usage] + other[name as keyof Usage]]),
  ) as unknown as Usage;

/** The keys that came to a server. */
function keysAt({requests}: {readonly requests: readonly {readonly headers: Record<string, unknown>}[]}): string[] {
  const seen = requests.flatMap(({headers}) => [headers['x-api-key'], headers.authorization]);
  return [...new Set(seen.flatMap((key) => (key === undefined ? [] : String(key).replace('Bearer ', ''))))];
}

const names = (server: MessagesServer) => server.requests.map(({body}) => body.model);

describe('models of several providers', () => {
  it('work in one session, each server with its own key, and all totals are those of the servers', async () => {
    const main = await serve((body) =>
      body.messages.length === 1
        ? withUsage(callTools([explore(), TASK_CODE]), {...NOTHING, input_tokens: 200, output_tokens: 31})
        : withUsage(say('All done.'), {...NOTHING, input_tokens: 310, output_tokens: 11, cache_read_input_tokens: 55}),
    );
    const zhipu = await serve(() => withUsage(say('found it'), {...NOTHING, input_tokens: 300, output_tokens: 7}));
    const chat = await startChatServer((body) =>
      body.messages.some(({role}) => role === 'tool')
        ? withUsage(say('written'), {input_tokens: 500, output_tokens: 13, cache_read_input_tokens: 90})
        : withUsage(callTools([{name: 'write_file', input: {path: 'new.txt', content: 'new'}, id: 'call.1'}]), {
            ...{input_tokens: 111, output_tokens: 17},
          }),
    );
    onTestFinished(chat.close);
    const user = await userWith({
      roles: {explore: {model: 'glm/glm-4.7', thinking: 'low'}, code: {model: 'chat/gpt-test'}},
      providers: {...glm(zhipu), chat: {baseURL: chat.url, api: 'openai', apiKeyEnv: 'CHAT_API_KEY'}},
    });
    const {stdout, stderr, code} = await run(
      ['go', '--output-format', 'json', '--permission-mode', 'acceptEdits'],
      user,
      main,
      {ANTHROPIC_CUSTOM_HEADERS: 'x-secret: only-for-main'},
    );
    expect(stderr).not.toContain('WARNING');
    const result = JSON.parse(stdout);
    expect({code, text: result.result}).toEqual({code: 0, text: 'All done.'});

    expect([keysAt(main), keysAt(zhipu), keysAt(chat)]).toEqual([[MAIN_KEY], [KEYS.GLM_API_KEY], [KEYS.CHAT_API_KEY]]);
    expect(main.requests.map(({headers}) => headers['x-secret'])).toEqual(['only-for-main', 'only-for-main']);
    expect([...zhipu.requests, ...chat.requests].flatMap(({headers}) => headers['x-secret'] ?? [])).toEqual([]);
    expect(names(zhipu)).toEqual(['glm-4.7']);
    expect(zhipu.requests[0]!.body.thinking).toEqual({type: 'enabled', budget_tokens: 2048});

    const {prompt, completion, cached} = chat.usage;
    const counted: Readonly<Record<string, Usage>> = {
      'claude-sonnet-5-5': main.usage,
      'glm/glm-4.7': zhipu.usage,
      'chat/gpt-test': {
        ...{input_tokens: prompt - cached, output_tokens: completion},
        ...{cache_read_input_tokens: cached, cache_creation_input_tokens: 0},
      },
    };
    expect(Object.values(counted).map(({input_tokens}) => input_tokens)).toEqual([510, 300, 611]);
    for (const [model, usage] of Object.entries(counted)) {
      expect(result.modelUsage[model]).toMatchObject({
        ...{inputTokens: usage.input_tokens, outputTokens: usage.output_tokens},
        ...{cacheReadInputTokens: usage.cache_read_input_tokens},
        cacheCreationInputTokens: usage.cache_creation_input_tokens,
      });
    }
    expect(Object.keys(result.modelUsage).toSorted()).toEqual(Object.keys(counted).toSorted());
    expect(result.usage).toEqual(Object.values(counted).reduce(addCounts));
    const inTranscripts: Record<string, Usage> = {};
    for (const line of findTranscripts(user.env.MINI_CC_HOME!).flatMap(readLines)) {
      if (line.stopReason === undefined) continue;
      const {model, usage} = line as unknown as {model: string; usage: Usage};
      inTranscripts[model] = addCounts(inTranscripts[model] ?? NOTHING, usage);
    }
    expect(inTranscripts).toMatchObject(counted);
    const cost = await run(['/cost', '--resume', result.session_id], user, main);
    const row = (agent: string, model: string) => {
      const {input_tokens, output_tokens, cache_read_input_tokens, cache_creation_input_tokens} = counted[model]!;
      const counts = `${input_tokens} in · ${output_tokens} out · cache ${cache_read_input_tokens} read, ${cache_creation_input_tokens} written`;
      return new RegExp(`^ +${agent} · ${model} .*\n +${counts}$`, 'm');
    };
    expect(cost.stdout).toMatch(row('main', 'claude-sonnet-5-5'));
    expect(cost.stdout).toMatch(row('explore', 'glm/glm-4.7'));
    expect(cost.stdout).toMatch(row('code', 'chat/gpt-test'));
  });

  it('take the name in the call first, and a name that cannot be used is passed over with a warning', async () => {
    const main = await serve((body) => {
      if (isSubagent(body)) return say(`from ${body.model}`);
      const task = (model: string) => ({...explore(`by ${model}`), input: {...explore(`by ${model}`).input, model}});
      return body.messages.length === 1 ? callTools([task('haiku'), task('nosuch/model')]) : say('done');
    });
    const user = await userWith({agents: {explore: {model: 'opus'}}});
    await run(['go', '--model', 'sonnet'], user, main);
    const [first, second] = getToolResults(main.requests.at(-1)!.body);
    expect(first!.text).toContain('from claude-haiku-5-5');
    expect(first!.text).not.toContain('WARNING');
    expect(second!.text).toContain('from claude-opus-5-5');
    expect(second!.text).toMatch(/WARNING: .*there is no such provider.*claude-opus-5-5 answered instead/);
  });

  it('that a server does not know are replaced by the model of the session, with a warning', async () => {
    const main = await serve((body) => {
      if (body.model === 'unknown-model') return status(404, {message: 'model: unknown-model'});
      if (isSubagent(body)) return say(`from ${body.model}`);
      return body.messages.length === 1
        ? callTools([{...explore(), input: {...explore().input, model: 'unknown-model'}}])
        : say('done');
    });
    await run(['go'], await home(), main);
    const [result] = getToolResults(main.requests.at(-1)!.body);
    expect(result!.text).toContain('from claude-sonnet-5-5');
    expect(result!.text).toContain('WARNING: unknown-model cannot answer (404): claude-sonnet-5-5 answers instead');
  });
});

describe('a fallback', () => {
  it('answers in place of a model whose key is refused, with its own key and one line for the user', async () => {
    const main = await serve(() => status(401));
    const second = await serve([say('I stand in.')]);
    const user = await userWith({fallback: ['glm/glm-4.7'], providers: glm(second), retry: {maxWaitSeconds: 4}});
    const {stdout, stderr, code} = await run(['go', '--output-format', 'json'], user, main);
    const result = JSON.parse(stdout);
    expect({code, text: result.result}).toEqual({code: 0, text: 'I stand in.'});
    expect(stderr).toMatch(/^claude-sonnet-5-5 cannot answer \(.*\): glm\/glm-4\.7 answers instead$/m);
    expect(result.warnings).toHaveLength(1);
    expect(Object.keys(result.modelUsage)).toEqual(['glm/glm-4.7']);
    expect([keysAt(main), keysAt(second)]).toEqual([[MAIN_KEY], [KEYS.GLM_API_KEY]]);
  });

  it('does not answer where the account is not paid', async () => {
    const main = await serve(() => status(402));
    const second = await serve([say('I stand in.')]);
    const user = await userWith({providers: glm(second)});
    const {code, stderr} = await run(['go', '--fallback-model', 'glm/glm-4.7'], user, main);
    expect({code, main: main.requests.length, second: second.requests.length}).toEqual({code: 1, main: 1, second: 0});
    expect(stderr).not.toContain('retrying');
  });

  it('answers where the connection fails, keeps its name in the transcript, and a failed model is not asked each time', async () => {
    const main = await serve([status(401), status(401)]);
    const second = await serve((body) =>
      body.messages.length === 1 ? callTools([{name: 'glob', input: {pattern: '*'}}]) : say('ok'),
    );
    const user = await userWith({fallback: ['glm/glm-4.7'], providers: glm(second)});
    const {stdout} = await run(['go', '--output-format', 'json'], user, main);
    expect({main: main.requests.length, second: second.requests.length}).toEqual({main: 1, second: 2});
    const {session_id: id} = JSON.parse(stdout);
    const {stdout: transcript} = await runCli(['sessions', 'export', id, '--json'], {home: user});
    expect(transcript.match(/"model": ?"glm\/glm-4\.7"/g)?.length).toBeGreaterThanOrEqual(2);
  });
});

describe('in print mode', () => {
  it('--effort is what the main model and subagents think, and a retry of a subagent says whose it is', async () => {
    let failed = 0;
    const main = await serve((body) => {
      if (isSubagent(body)) return ++failed === 1 ? status(503) : say('found');
      return body.messages.length === 1 ? callTools([explore('look', 'find the greeting')]) : say('done');
    });
    const {stderr, code} = await run(['go', '--effort', 'high'], await home(), main);
    expect(code).toBe(0);
    expect(stderr).toMatch(/^\[explore\] find the greeting: retrying in \d+s \(503\), attempt 2$/m);
    const efforts = main.requests.map(({body}) => (body as {output_config?: object}).output_config);
    expect(efforts).toEqual(Array(4).fill({effort: 'high'}));
  });

  it('doctor has a line for each provider, and no key in it', async () => {
    const [main, zhipu] = [await serve([]), await serve([])];
    const refusing = await startChatServer([]);
    await refusing.close();
    const user = await userWith({
      providers: {
        ...glm(zhipu),
        chat: {baseURL: refusing.url, api: 'openai', apiKeyEnv: 'CHAT_API_KEY'},
        keyless: {baseURL: zhipu.url, apiKeyEnv: 'EMPTY'},
        cloud: {api: 'bedrock', region: 'us-east-1'},
      },
    });
    const env = {ANTHROPIC_BASE_URL: main.url, ANTHROPIC_API_KEY: MAIN_KEY, ...KEYS, EMPTY: ''};
    const {stdout, code} = await runCli(['doctor'], {home: user, env});
    expect(stdout.split('\n').filter((line) => /provider /.test(line))).toEqual([
      expect.stringMatching(/^ok +provider glm +127\.0\.0\.1:\d+ answers, GLM_API_KEY is set$/),
      expect.stringMatching(/provider chat +127\.0\.0\.1:\d+ is not reached: .*ECONNREFUSED/),
      expect.stringMatching(/provider keyless +EMPTY is not set\. To fix it: export EMPTY=…/),
      expect.stringMatching(/^ok +provider cloud +bedrock, without a key; its first call shows whether it answers$/),
    ]);
    expect(code).toBe(1);
    for (const key of Object.values(KEYS)) expect(stdout).not.toContain(key);
  });
});

it('a model of a provider that there is not is one line, exit 2, before any call', async () => {
  const main = await serve([say('never')]);
  const {stderr, code} = await run(['go', '--model', 'glm/glm-4.7'], await home(), main);
  expect({code, requests: main.requests.length}).toEqual({code: 2, requests: 0});
  expect(stderr).toMatch(/^mini-cc: .*"glm\/glm-4\.7" cannot be used: there is no such provider.*\n$/);
});
