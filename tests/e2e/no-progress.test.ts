/** A server that leads mini-cc in circles: each run ends by itself, what was done was done once, and the session goes on. */
import {readFileSync} from 'node:fs';
import path from 'node:path';
import {describe, expect, it} from 'vitest';
import {startDriven} from '../drivers/driven.ts';
import type {MessagesBody, Reply, Script} from '../support/messages-server.ts';
import {runCli} from '../support/run-cli.ts';
import {callTool, garbledJson, maxTokens, pauseTurn, say, status, thinkOnly} from '../support/scripted-replies.ts';
import {explore, home, isSubagent, project, serve} from './fixture.ts';
import {repl, send} from './repl-fixture.ts';

const GUARDED = ['--permission-mode', 'bypassPermissions', '--output-format', 'json'];
/** A command with a side effect that can be counted. */
const append = (id?: string) => callTool('bash', {command: 'echo ran >> ran.txt; echo done'}, id);
const FILTERED = status(400, {message: 'Output blocked by content filtering policy'});

const hasResults = ({messages}: MessagesBody) => JSON.stringify(messages).includes('"tool_result"');
const endsWithReply = ({messages}: MessagesBody) => messages.at(-1)?.role === 'assistant';
const isSummary = ({tools = []}: MessagesBody) => tools.length === 0;

interface Loop {
  readonly name: string;
  readonly script: (body: MessagesBody, index: number) => Reply;
  /** What the result says. */
  readonly words: RegExp;
  readonly code: 1 | 3;
  /** How often the command with the side effect ran. */
  readonly ran?: number;
  readonly settings?: object;
  readonly args?: readonly string[];
}

const stop = (command: string) => ({hooks: {Stop: [{hooks: [{type: 'command', command}]}]}});

const LOOPS: readonly Loop[] = [
  {
    name: 'refuses every result of a call',
    script: (body) => (hasResults(body) ? FILTERED : append()),
    ...{words: /content filtering policy/, code: 1, ran: 1},
  },
  {
    name: 'refuses what a result says, and the model calls again',
    script: (body) => (JSON.stringify(body.messages).includes('"content":"done') ? FILTERED : append()),
    ...{words: /no progress: a refusal of the server once, a call that could not be run 7 times/, code: 3, ran: 1},
  },
  {
    name: 'refuses the message after the prompt by its number',
    script: (body) =>
      JSON.stringify(body.messages).includes('Go on exactly')
        ? status(400, {message: 'messages.1: this is not allowed'})
        : maxTokens('one part'),
    ...{words: /this is not allowed/, code: 1},
  },
  {name: 'pauses for ever', script: () => pauseTurn(), words: /no progress: a pause of the server 8 times/, code: 3},
  {
    name: 'pauses for ever and takes no history that ends with a reply',
    script: (body) =>
      endsWithReply(body)
        ? status(400, {message: 'messages: the conversation must end with a user message'})
        : pauseTurn(),
    ...{words: /must end with a user message/, code: 1},
  },
  {
    name: 'calls the same for ever',
    script: () => append(),
    words: /no progress: the same call 8 times/,
    code: 3,
    ran: 8,
  },
  {
    name: 'takes turns between two calls',
    script: (_, index) => callTool('bash', {command: `echo ${index % 2}`}),
    ...{words: /no progress: the same call 8 times/, code: 3},
  },
  {
    name: 'fills the window with each call',
    script: (body) => (isSummary(body) ? say('a summary') : callTool('bash', {command: `true ${'x'.repeat(900_000)}`})),
    ...{words: /no progress: the same call \d times, a compaction \d times/, code: 3},
  },
  {name: 'thinks without an answer', script: () => thinkOnly(), words: /no progress: an empty reply 8 times/, code: 3},
  {
    name: 'answers nothing',
    script: () => ({type: 'message', blocks: [], stopReason: 'end_turn'}),
    words: /no progress: an empty reply 8 times/,
    code: 3,
  },
  {name: 'cuts every answer', script: () => maxTokens('part '), words: /limit reached: output tokens/, code: 3},
  {
    name: 'goes from one repair to the next',
    script: (_, index) => [pauseTurn(), thinkOnly(), maxTokens('part ')][index % 3]!,
    ...{words: /no progress: a pause of the server \d times, an empty reply \d times, a cut answer \d times/, code: 3},
  },
  {
    name: 'calls tools that do not exist',
    script: (_, index) => callTool(`fly_${index}`, {}),
    ...{words: /no progress: a call that could not be run 8 times/, code: 3},
  },
  {
    name: 'sends inputs that are no JSON',
    script: (_, index) => garbledJson('bash', `{"command": "echo ${index}`),
    ...{words: /no progress: a call that could not be run 8 times/, code: 3},
  },
  {
    name: 'has a Stop hook that never lets go',
    script: () => say('done'),
    ...{words: /no progress: a hook that does not let the run end 8 times/, code: 3},
    settings: stop('echo "not yet" >&2; exit 2'),
  },
  {
    name: 'never gives an answer that matches the schema',
    script: () => callTool('StructuredOutput', {}),
    ...{words: /no answer matched the schema/, code: 1},
    args: ['--json-schema', '{"type":"object","required":["a"],"properties":{"a":{"type":"string"}}}'],
  },
  {
    name: 'dispatches again at each announcement',
    script: (body) => {
      if (isSubagent(body)) return say('looked');
      const last = JSON.stringify(body.messages.at(-1));
      if (last.includes('accepted')) return say('It is on its way.');
      const input = {description: 'look', prompt: 'look', agent_type: 'explore', background: true};
      return callTool('Task', input);
    },
    ...{words: /no progress: the same call \d times/, code: 3},
  },
];

/** Starts another run for each announcement. */
const relay: Loop['script'] = (body, index) => {
  if (isSubagent(body)) return say('looked');
  if (JSON.stringify(body.messages.at(-1)).includes('accepted')) return say('It is on its way.');
  return callTool('Task', {description: 'look', prompt: `look ${index}`, agent_type: 'explore', background: true});
};

describe('a run whose server', () => {
  it.each(LOOPS)('$name ends by itself', async ({script, words, code, ran, settings = {}, args = []}) => {
    let isOver = false;
    const loop: Script = (body, index) => (isOver ? say('The session goes on.') : script(body, index));
    const server = await serve(loop);
    const [{path: cwd, write}, own] = [await project(), await home()];
    const file = await write('settings.json', JSON.stringify(settings));
    const at = {server, cwd, home: own};
    const first = await runCli(['-p', 'start', ...GUARDED, '--settings', file, ...args], at);
    const requests = server.requests.length;
    expect([first.code, requests <= 20], `${requests} requests: ${first.stdout}`).toEqual([code, true]);
    expect(JSON.parse(first.stdout)).toMatchObject({
      ...{is_error: true, errors: [expect.stringMatching(words)], result: expect.stringMatching(words)},
    });
    if (ran !== undefined) expect(readFileSync(path.join(cwd, 'ran.txt'), 'utf8')).toBe('ran\n'.repeat(ran));
    isOver = true;
    const next = await runCli(['-p', 'and now?', '--continue', '--permission-mode', 'bypassPermissions'], at);
    expect(next).toMatchObject({code: 0, stdout: 'The session goes on.\n'});
  });
});

/** A server that loops until `release`, then answers. */
async function looping(script: Loop['script']) {
  let isOver = false;
  const server = await serve((body, index) => (isOver ? say('The session goes on.') : script(body, index)));
  const release = () => {
    isOver = true;
  };
  return {server, release};
}

describe('a session whose server goes in circles', () => {
  it('says so in the REPL, and takes the next prompt', async () => {
    const {server, release} = await looping(() => pauseTurn());
    const terminal = await repl({server, home: await home()});
    await send(terminal, 'start');
    await terminal.waitFor('no progress: a pause of the server 8 times');
    expect(server.requests).toHaveLength(8);
    expect(JSON.stringify(server.requests[4]?.body.messages.at(-1))).toContain('This run makes no progress');
    release();
    await send(terminal, 'and now?');
    await terminal.waitFor('The session goes on.');
  });

  it('starts no more turns by itself for ends of runs that only lead to further runs, until the next prompt', async () => {
    const {server, release} = await looping(relay);
    const terminal = await repl({server, home: await home()});
    await send(terminal, 'start');
    await terminal.waitFor('no progress: the end of a run that only led to further runs 8 times');
    const main = () => server.requests.filter(({body}) => !isSubagent(body)).length;
    const before = main();
    expect(before).toBeLessThanOrEqual(20);
    release();
    await send(terminal, 'and now?');
    await terminal.waitFor('The session goes on.');
    // The end of the last run may be announced after the prompt, and starts one more turn then.
    expect(main()).toBeOneOf([before + 1, before + 2]);
  });

  it('tells a driver, which goes on', async () => {
    const {server, release} = await looping(() => append());
    const driven = await startDriven(['--permission-mode', 'bypassPermissions'], {server, cwd: (await project()).path});
    await driven.request({subtype: 'initialize'});
    expect(await driven.prompt('start')).toMatchObject({
      ...{subtype: 'error_during_execution', is_error: true, errors: ['no progress: the same call 8 times']},
    });
    release();
    expect(await driven.prompt('and now?')).toMatchObject({subtype: 'success', result: 'The session goes on.'});
    expect(await driven.end()).toBe(0);
  });

  it('lets a subagent end at its limit, and says so to the main agent', async () => {
    const server = await serve((body) => {
      if (isSubagent(body)) return callTool('glob', {pattern: '*'});
      return hasResults(body) ? say('noted') : callTool(explore().name, explore().input);
    });
    const run = await runCli(['-p', 'start'], {server, cwd: (await project()).path});
    expect(run).toMatchObject({code: 0, stdout: 'noted\n'});
    expect(run.stderr).toContain('[explore] explore codebase - no progress: the same call 8 times');
    const told = JSON.stringify(server.requests.at(-1)?.body.messages.at(-1));
    expect(told).toContain('The run did not finish: no progress: the same call 8 times.');
  });

  it('waits for a run that is still at work without an end', async () => {
    let polls = 0;
    const released = Promise.withResolvers<void>();
    const server = await serve(async (body) => {
      if (isSubagent(body)) {
        await released.promise;
        return say('found');
      }
      if (!hasResults(body)) return callTool('Task', {...explore().input, background: true});
      polls += 1;
      if (polls === 12) released.resolve();
      const {runId} = JSON.parse(getFirstResult(body)) as {runId: string};
      return JSON.stringify(body.messages).includes('found') ? say('done') : callTool('TaskOutput', {run_id: runId});
    });
    const run = await runCli(['-p', 'start'], {server, cwd: (await project()).path});
    expect([run.code, run.stdout, polls >= 12], run.stderr).toEqual([0, 'done\n', true]);
  });
});

function getFirstResult({messages}: MessagesBody): string {
  const blocks = messages.flatMap(({content}) => (typeof content === 'string' ? [] : content));
  return String(blocks.find(({type}) => type === 'tool_result')?.content);
}
