/** The figures of subagents that read a real project, computed anew from their transcripts: `npm run test:outside`. */
import {execFileSync} from 'node:child_process';
import {mkdtempSync, realpathSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {expect, it, onTestFinished} from 'vitest';
import {home, isSubagent, serve} from '../e2e/fixture.ts';
import type {MessageReply, MessagesBody, Reply} from '../support/messages-server.ts';
import {createRandom} from '../support/random.ts';
import {runCli} from '../support/run-cli.ts';
import {callTool, callTools, say, slow, withUsage} from '../support/scripted-replies.ts';
import {downloadsFolder, unpack} from './downloads.ts';
import {ASKED_PROJECTS} from './projects.ts';

const EXPRESS = ASKED_PROJECTS.find(({name}) => name.startsWith('express'))!;
const PRICES = {input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75};
/** What each run does before it answers. One never answers, and ends at its limit of turns. */
const CALLS = [
  callTool('glob', {pattern: 'lib/**/*.js'}),
  callTool('grep', {pattern: 'function createApplication', path: 'lib'}),
  callTool('read_file', {path: 'lib/express.js'}),
  callTool('grep', {pattern: 'res\\.send', output_mode: 'count'}),
];

function task(part: number, change: object = {}) {
  const input = {description: `part ${part}`, prompt: `Look at part ${part}.`, agent_type: 'explore', ...change};
  return {name: 'Task', input};
}

it(
  'the line of the turn, the JSON result and another program count the same',
  async () => {
    const base = realpathSync(mkdtempSync(path.join(tmpdir(), 'mini-cc-express-')));
    onTestFinished(() => rmSync(base, {recursive: true, force: true}));
    const folder = path.join(base, 'express');
    unpack(EXPRESS, downloadsFolder(base), folder);
    const below = createRandom(7);
    const used = (reply: MessageReply) =>
      withUsage(reply, {
        input_tokens: 1 + below(5000),
        cache_read_input_tokens: below(20_000),
        cache_creation_input_tokens: below(3000),
        output_tokens: 1 + below(900),
      });
    const child = ({messages}: MessagesBody): Reply => {
      const isEndless = JSON.stringify(messages[0]).includes('part 3.');
      const calls = messages.filter(({role}) => role === 'assistant').length;
      if (isEndless) return used(callTool('glob', {pattern: `lib/${calls}*`}));
      return slow(used(calls < CALLS.length ? CALLS[calls]! : say(`Express is in lib (${messages.length}).`)), 20);
    };
    const rounds = [
      callTools([
        task(0),
        task(1),
        task(2),
        task(3, {max_turns: 4}),
        task(4, {agent_type: undefined, subagent_type: 'Explore'}),
      ]),
      callTools([task(0), task(5), task(6), task(7)]),
      say('Done.'),
    ];
    let round = 0;
    const server = await serve((body) => (isSubagent(body) ? child(body) : rounds[round++]!));
    const settings = JSON.stringify({pricing: {m: PRICES}, subagents: {perPrompt: {runs: 7}}});
    const args = ['-p', 'go', '--output-format', 'json', '--model', 'm', '--settings', settings];
    const {stdout, stderr} = await runCli(args, {cwd: folder, home: await home(), server, timeoutMs: 180_000});
    const result = JSON.parse(stdout);
    const summary = result.subagent_summary;
    expect(result.subagents.map(({outcome}: {outcome: string}) => outcome).toSorted()).toEqual([
      'limit',
      ...Array(6).fill('success'),
    ]);

    const session = path.dirname(path.dirname(path.dirname(result.subagents[0].transcript)));
    const script = path.join(import.meta.dirname, 'delegation-figures.mjs');
    const counted = JSON.parse(
      execFileSync(process.execPath, [script, session, JSON.stringify(PRICES)], {encoding: 'utf8'}),
    );
    expect(summary).toMatchObject({runs: counted.runs, cached: 1, refused: 1});
    expect([summary.tokens_read, summary.tokens_returned]).toEqual([counted.tokens_read, counted.tokens_returned]);
    expect(summary.cost).toBeCloseTo(counted.cost, 9);
    // A transcript has the times of its lines, which are written some moments before and after those that are counted.
    expect(Math.abs(summary.sum_ms - counted.sum_ms)).toBeLessThan(7 * 2000);
    expect(Math.abs(summary.wall_ms - counted.wall_ms)).toBeLessThan(7 * 2000);

    const line = stderr.split('\n').find((each) => each.startsWith('7 subagents'));
    const short = (count: number) => `${(count / 1000).toFixed(1)}k`;
    expect(line).toContain(`${short(counted.tokens_read)} tokens read, ${short(counted.tokens_returned)} came back`);
    expect(line).toContain(`est $${counted.cost.toFixed(2)} · `);
  },
  10 * 60_000,
);
