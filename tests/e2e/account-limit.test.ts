/** A limit of the account: all calls wait for its end, one tries first, and every run goes on with its history. */
import {readdirSync} from 'node:fs';
import path from 'node:path';
import {describe, expect, it} from 'vitest';
import type {MessagesBody, MessagesServer, Reply} from '../support/messages-server.ts';
import {getFirstPrompt} from '../support/request-facts.ts';
import {killGroup, runCli, spawnCli} from '../support/run-cli.ts';
import {callTool, callTools, say, slow, status} from '../support/scripted-replies.ts';
import {readLines} from '../support/session-files.ts';
import {pause, until} from '../support/wait.ts';
import {explore, home, isSubagent, project, serve} from './fixture.ts';
import {repl, send} from './repl-fixture.ts';

const waiting = (pauseSeconds: number) => ['--settings', JSON.stringify({retry: {pauseSeconds}})];
const tasks = (count: number) => callTools(Array.from({length: count}, (_, index) => explore(`look at part ${index}`)));
const hasResults = ({messages}: MessagesBody) => JSON.stringify(messages).includes('"tool_result"');

interface Limited {
  readonly server: MessagesServer;
  readonly facts: {
    /** Milliseconds since the epoch. Set by the first refusal. */
    endsAt: number;
    refused: number;
    /** Number of requests at work when each request after the limit came, this one included. */
    readonly after: number[];
  };
}

/** Each says that a limit ends in some seconds. A longer wait than one second is none of a single call. */
const SHAPES: readonly (readonly [
  shape: string,
  status: number,
  headers: (seconds: number) => Record<string, string>,
])[] = [
  [
    'the latest of the limits that are used up',
    429,
    (seconds) => ({
      'anthropic-ratelimit-requests-reset': toDate(3600),
      'anthropic-ratelimit-requests-remaining': '7',
      'anthropic-ratelimit-tokens-reset': toDate(seconds),
      'anthropic-ratelimit-tokens-remaining': '0',
    }),
  ],
  [
    'the headers of OpenAI',
    429,
    (seconds) => ({'x-ratelimit-reset-requests': `${seconds}s`, 'x-ratelimit-remaining-requests': '0'}),
  ],
  ['Retry-After in seconds', 429, (seconds) => ({'retry-after': String(seconds)})],
  [
    'Retry-After as a date',
    429,
    (seconds) => ({'retry-after': new Date(Date.now() + (seconds + 1) * 1000).toUTCString()}),
  ],
  ['a limit of money', 402, (seconds) => ({'retry-after': String(seconds)})],
];
const toDate = (seconds: number) => new Date(Date.now() + seconds * 1000).toISOString();

/** The account is at its limit from the first result of a subagent on, for some seconds. */
async function serveWithLimit(children: number, seconds: number): Promise<Limited> {
  const facts: Limited['facts'] = {endsAt: 0, refused: 0, after: []};
  const server: MessagesServer = await serve((body: MessagesBody): Reply => {
    const isLimited = facts.endsAt === 0 ? isSubagent(body) && hasResults(body) : Date.now() < facts.endsAt;
    if (isLimited) {
      facts.endsAt ||= (Math.floor(Date.now() / 1000) + seconds) * 1000;
      facts.refused += 1;
      const headers = {'anthropic-ratelimit-unified-reset': String(facts.endsAt / 1000)};
      return status(429, {message: 'usage limit reached', headers});
    }
    if (facts.endsAt > 0) facts.after.push(server.active);
    if (isSubagent(body)) return hasResults(body) ? slow(say('found'), 20) : callTool('glob', {pattern: '*'});
    return hasResults(body) ? say('all done') : tasks(children);
  });
  return {server, facts};
}

const listPaused = (homePath: string) =>
  readdirSync(homePath, {recursive: true, encoding: 'utf8'})
    .filter((file) => file.includes('subagents') && file.endsWith('.jsonl'))
    .filter((file) => readLines(path.join(homePath, file)).some(({type}) => type === 'paused'));

describe('a limit of the account', () => {
  it('is waited for by all, one call tries first, and no run starts over', async () => {
    const [{server, facts}, workspace, own] = [await serveWithLimit(20, 6), await project(), await home()];
    const settings = {retry: {pauseSeconds: 120}, subagents: {maxConcurrent: 20}};
    const args = ['-p', 'go', '--output-format', 'json', '--settings', JSON.stringify(settings)];
    const {stdout, stderr} = await runCli(args, {cwd: workspace.path, home: own, server});
    const result = JSON.parse(stdout);
    expect(result.result).toBe('all done');
    expect(result.subagents.map(({outcome, tools}: {outcome: string; tools: number}) => [outcome, tools])).toEqual(
      Array(20).fill(['success', 1]),
    );
    // Calls that were on their way when the limit came are refused too, each once.
    expect(facts.refused).toBeLessThanOrEqual(20);
    expect(server.requests).toHaveLength(1 + 20 + facts.refused + 20 + 1);
    expect(facts.after.slice(0, 2)).toEqual([1, 1]);
    expect(stderr.match(/^waiting for the limit of anthropic until \d\d:\d\d$/gm)).toHaveLength(1);
  });

  it('is said once in print mode where calls read different ends of it', async () => {
    const refused = new Set<string>();
    const server = await serve(async (body) => {
      if (!isSubagent(body)) return hasResults(body) ? say('all done') : tasks(3);
      const prompt = getFirstPrompt(body);
      if (refused.has(prompt)) return say('found');
      await pause(40 * refused.add(prompt).size, 'each refusal names an end of the limit that lies a little later');
      return status(429, {message: 'usage limit reached', headers: {'retry-after': '2'}});
    });
    const settings = JSON.stringify({retry: {pauseSeconds: 60, maxWaitSeconds: 1}});
    const {stdout, stderr} = await runCli(['-p', 'go', '--settings', settings], {server});
    expect(stdout).toBe('all done\n');
    expect(stderr.match(/^waiting for the limit of anthropic until/gm)).toHaveLength(1);
  });

  it.each(SHAPES)('is known by %s: the call is made again when it ends', async (_, code, getHeaders) => {
    let endsAt = 0;
    let again = 0;
    const server = await serve(() => {
      if (endsAt > 0) {
        again = Date.now();
        return say('hello');
      }
      endsAt = Date.now() + 3000;
      return status(code, {message: 'usage limit reached', headers: getHeaders(3)});
    });
    const settings = JSON.stringify({retry: {pauseSeconds: 60, maxWaitSeconds: 1}});
    const {stdout, stderr} = await runCli(['-p', 'go', '--settings', settings], {server});
    expect([stdout, server.requests.length]).toEqual(['hello\n', 2]);
    expect(stderr).toMatch(/^waiting for the limit of anthropic until \d\d:\d\d$/m);
    expect(again).toBeGreaterThanOrEqual(endsAt);
  });

  it.each(SHAPES)('by %s ends print mode at once when it may not wait so long', async (_, code, getHeaders) => {
    const server = await serve(() => status(code, {message: 'usage limit reached', headers: getHeaders(7200)}));
    const {stdout} = await runCli(['-p', 'go', '--output-format', 'json'], {server});
    const result = JSON.parse(stdout);
    expect(result.is_error).toBe(true);
    expect(result.result).toMatch(/the limit of anthropic ends at .*; retry\.pauseSeconds waits for it/);
    expect(server.requests).toHaveLength(1);
  });

  it('outlives a kill: --continue waits for the same time, and the runs end well', async () => {
    const [{server, facts}, workspace, own] = [await serveWithLimit(3, 12), await project(), await home()];
    const options = {cwd: workspace.path, home: own, server};
    const child = await spawnCli(['-p', 'go', ...waiting(60)], options);
    child.stdout.resume();
    child.stderr.resume();
    const ended = new Promise((resolve) => child.once('exit', resolve));
    await until(() => listPaused(own.path).length === 3, 'three paused runs on disk');
    killGroup(child);
    await ended;
    const before = server.requests.length;
    const args = ['-c', '-p', 'go on', '--output-format', 'json', ...waiting(60)];
    const {stdout} = await runCli(args, options);
    const result = JSON.parse(stdout);
    expect(facts.endsAt).toBeLessThan(Date.now());
    expect(facts.after[0]).toBe(1);
    expect(server.requests.length - before).toBe(facts.after.length);
    expect(result.subagents.map(({outcome}: {outcome: string}) => outcome)).toEqual(Array(3).fill('success'));
    const toMain = JSON.stringify(server.requests.filter(({body}) => !isSubagent(body)).at(-1)!.body.messages);
    expect(toMain.match(/found/g)?.length).toBeGreaterThanOrEqual(3);
  });

  it('is shown in the REPL, and Esc stops the wait', async () => {
    const server = await serve(() => status(429, {headers: {'retry-after': '7200'}}));
    const terminal = await repl({server});
    await send(terminal, 'hello');
    await terminal.waitFor(/waiting for the limit of anthropic until .*\d\d:\d\d · Esc stops/);
    terminal.press('escape');
    await terminal.waitFor(/interrupted/);
    expect(server.requests).toHaveLength(1);
  });
});
