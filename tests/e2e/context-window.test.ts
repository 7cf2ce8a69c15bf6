/** Sessions that fill the model's window, by the built program: they go on, also after a crash. */
import {readFileSync} from 'node:fs';
import path from 'node:path';
import {describe, expect, it, onTestFinished} from 'vitest';
import {type MessagesBody, startMessagesServer} from '../support/messages-server.ts';
import {getSystem} from '../support/request-facts.ts';
import {killGroup, runCli, spawnCli, startCli} from '../support/run-cli.ts';
import {callTool, callTools, type Reply, say} from '../support/scripted-replies.ts';
import {home, isSubagent, project} from './fixture.ts';

const WINDOW = 9_000;

const isSummary = (body: MessagesBody) => getSystem(body).startsWith('You summarise');
const words = (body: MessagesBody) => JSON.stringify(body.messages);

/** A server with a small window. It calls `reads` times after a prompt that says so, then answers. */
async function setUp(summary: () => Reply = () => say('## Task\nread the big file')) {
  let left = 0;
  let made = 0;
  const script = (body: MessagesBody): Reply => {
    if (isSummary(body)) return summary();
    const last = body.messages.at(-1)!;
    const [, reads] = /read (\d+) times/.exec(JSON.stringify(last.content)) ?? [];
    if (reads !== undefined && !words(body).endsWith('tool_result')) left = Number(reads);
    if (left <= 0) return say(isSubagent(body) ? 'Found it in big.txt:1' : 'All read.');
    left -= 1;
    made += 1;
    return callTool('grep', {pattern: `^line ${made % 7}`, path: 'big.txt', mode: 'content'}, `call-${made}`);
  };
  const server = await startMessagesServer(script, {contextWindow: WINDOW});
  onTestFinished(() => server.close());
  const workspace = await project();
  await workspace.write('big.txt', Array.from({length: 280}, (_, index) => `line ${index % 7} of a file`).join('\n'));
  const at = {server, home: await home(), cwd: workspace.path};
  await workspace.write('settings.json', JSON.stringify({contextWindow: {'claude-sonnet-5-5': WINDOW}}));
  const flags = ['--settings', path.join(workspace.path, 'settings.json')];
  return {at, flags, server, workspace};
}

describe('a session that fills the window', () => {
  it('is compacted, says so in stream-json, and goes on with --continue', async () => {
    const {at, flags, server} = await setUp();
    const run = await runCli(['-p', 'read 100 times', '--output-format', 'stream-json', ...flags], at);
    expect(run).toMatchObject({code: 0});
    const objects = run.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    const boundary = objects.find(({subtype}) => subtype === 'compact_boundary');
    expect(boundary).toMatchObject({
      type: 'system',
      compact_metadata: {trigger: 'auto', pre_tokens: expect.any(Number)},
    });
    expect(boundary.compact_metadata.pre_tokens).toBeGreaterThan(WINDOW / 2);
    expect(objects.at(-1)).toMatchObject({type: 'result', subtype: 'success', result: 'All read.'});
    const before = server.requests.length;
    expect(await runCli(['-p', 'and now?', '--continue', ...flags], at)).toMatchObject({code: 0});
    expect(server.requests.length).toBe(before + 1);
    expect(words(server.requests.at(-1)!.body)).toContain('## Task\\nread the big file');
    expect(words(server.requests.at(-1)!.body)).toContain('read 100 times');
  });

  it('can be continued after kill -9 in the midst of a compaction', async () => {
    let summaries = 0;
    const {at, flags, server} = await setUp(() => {
      summaries += 1;
      return summaries === 1 ? {type: 'hang'} : say('## Task\nread the big file');
    });
    const child = await spawnCli(['-p', 'read 100 times', ...flags], at);
    await expect.poll(() => summaries).toBe(1);
    killGroup(child);
    await new Promise((resolve) => child.once('close', resolve));
    const again = await runCli(['-p', 'go on: read 3 times', '--continue', ...flags], at);
    expect(again).toMatchObject({code: 0, stdout: 'All read.\n'});
    expect(words(server.requests.at(-1)!.body)).toContain('go on: read 3 times');
  });

  it('of a subagent goes on too, in the window that its definition names', async () => {
    const {at, flags, server, workspace} = await setUp();
    const searcher = {name: 'searcher', description: 'searches big files', tools: ['grep'], prompt: 'Search.'};
    await workspace.write(
      '.mini-cc/agents/searcher.json',
      JSON.stringify({...searcher, contextTokens: 6000, maxTurns: 100}),
    );
    const task = {name: 'Task', input: {description: 'search', prompt: 'read 60 times', agent_type: 'searcher'}};
    const direct = await startMessagesServer(
      (body) =>
        isSubagent(body) || isSummary(body)
          ? forward(body)
          : body.messages.length === 1
            ? callTools([task])
            : say('ok'),
      {contextWindow: WINDOW},
    );
    onTestFinished(() => direct.close());
    let reads = 60;
    const forward = (body: MessagesBody): Reply => {
      if (isSummary(body)) return say('## Task\nsearch');
      reads -= 1;
      return reads < 0
        ? say('Found.')
        : callTool('grep', {pattern: `^line ${reads % 7}`, path: 'big.txt', mode: 'content'}, `s-${reads}`);
    };
    const run = await runCli(['-p', 'search it', '--output-format', 'json', ...flags], {...at, server: direct});
    expect(JSON.parse(run.stdout)).toMatchObject({result: 'ok', subagents: [{outcome: 'success', tools: 60}]});
    const largest = Math.max(...direct.requests.filter(({body}) => isSubagent(body)).map(({bytes}) => bytes));
    expect(largest / 4).toBeLessThan(6000);
    expect(server.requests).toEqual([]);
  });

  it('shows what fills it with /context, and is compacted by /compact with a focus', async () => {
    const {at, flags, server} = await setUp();
    const terminal = await startCli(flags, {...at, cols: 100, rows: 40});
    onTestFinished(() => terminal.close());
    await terminal.waitFor('Ask about this project');
    terminal.type('read 4 times\r');
    await terminal.waitFor('All read.');
    terminal.type('/context\r');
    await terminal.waitFor('set aside for a reply');
    expect(terminal.text()).toMatch(/Context window of claude-sonnet-5-5: \d+\.\dk of 9\.0k tokens/);
    terminal.type('/compact the seventh line\r');
    await terminal.waitFor('Compacted the conversation');
    expect(words(server.requests.at(-1)!.body)).toContain('keep above all: the seventh line');
    terminal.type('/rewind\r');
    await terminal.waitFor('read 4 times');
    const transcript = readFileSync(await findTranscript(at.home.env.MINI_CC_HOME!), 'utf8');
    expect(transcript).toContain('"because":"compacted (manual)"');
  });
});

async function findTranscript(folder: string): Promise<string> {
  const {globSync} = await import('node:fs');
  return path.join(folder, globSync('projects/*/*/session.jsonl', {cwd: folder})[0]!);
}
