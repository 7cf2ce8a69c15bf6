/**
 * Conversations that are longer than the model's window, against a server that refuses what does not fit. MINI_CC_TURNS
 * sets the turns of the long one in a large window; `npm run soak` plays 2,000.
 */
import {describe, expect, it, onTestFinished} from 'vitest';
import {z} from 'zod';
import {runAgent} from '../../../src/core/agent-loop.ts';
import type {AgentEventBody} from '../../../src/core/contract/events.ts';
import type {Tool} from '../../../src/core/contract/tool.ts';
import type {TranscriptEntry} from '../../../src/core/contract/transcript.ts';
import {History} from '../../../src/core/turn/history.ts';
import {textResult} from '../../../src/core/util/tool-output.ts';
import {modelAt} from '../../models/fixture.ts';
import {type MessagesBody, type Script, startMessagesServer} from '../../support/messages-server.ts';
import {getSystem} from '../../support/request-facts.ts';
import {callTool, type Reply, say, status} from '../../support/scripted-replies.ts';
import {runFixture} from '../run-fixture.ts';

const TURNS = Number(process.env.MINI_CC_TURNS ?? 200);
const TASK = 'Rename every greeting to Salut, and keep the tests green.';

/** A tool whose result has so many characters. */
function fileTool(name: string, characters: number): Tool {
  const created: Tool<{path: string}> = {
    name,
    description: `${name} for tests`,
    input: z.object({path: z.string()}),
    title: ({path}) => path,
    access: () => [{kind: 'none'}],
    run: async ({path}) => textResult(`${path}: ${'word '.repeat(characters / 5)}`),
  };
  return created as Tool;
}

const todoTool: Tool = {
  name: 'todo_write',
  description: 'todos',
  input: z.object({todos: z.array(z.unknown())}),
  title: () => '',
  access: () => [{kind: 'none'}],
  run: async () => textResult('noted'),
};

const isSummary = (body: MessagesBody) => getSystem(body).startsWith('You summarise');
const words = (body: MessagesBody) => JSON.stringify(body.messages);

interface SetUp {
  readonly window: number;
  readonly script: Script;
  readonly characters?: number;
  /** What the settings say; default: the window. */
  readonly known?: number | undefined;
}

async function setUp({window, script, characters = 1500, known = window}: SetUp) {
  const server = await startMessagesServer(script, {contextWindow: window});
  onTestFinished(() => server.close());
  const lines: TranscriptEntry[] = [];
  const history = new History({append: (line) => void lines.push(structuredClone(line))});
  const model = modelAt({baseURL: server.url, apiKey: 'key'}, {maxOutputTokens: 16_384, contextWindow: known});
  const tools = [fileTool('read_file', characters), fileTool('edit_file', 40), todoTool];
  const {run, events, abort} = runFixture(model, tools, {history, limits: {maxTurns: 5000, timeoutSeconds: 0}});
  const ask = (prompt: string) => {
    history.appendPrompt(prompt);
    return runAgent(run);
  };
  return {ask, run, history, lines, server, events, abort};
}

const kinds = (events: readonly AgentEventBody[]) =>
  events.flatMap((event) => (event.type === 'compacted' ? [event] : []));
const notices = (events: readonly AgentEventBody[]) =>
  events.flatMap((event) => (event.type === 'notice' ? [event.text] : []));

/** Reads and edits files for so many turns, then answers. Summaries say which file was last. */
function worker(
  turns: number,
  summary: (body: MessagesBody) => Reply = () => say('## Task\nrename greetings'),
): Script {
  let turn = 0;
  return (body) => {
    if (isSummary(body)) return summary(body);
    turn += 1;
    if (turn === 2) return callTool('todo_write', {todos: [{content: 'rename in b.ts', status: 'pending'}]}, 'todo');
    if (turn > turns) return say('All done.');
    return callTool(turn % 5 === 0 ? 'edit_file' : 'read_file', {path: `src/file-${turn}.ts`}, `call-${turn}`);
  };
}

describe('a conversation that is longer than the window', () => {
  it('of 300 turns in 8,192 tokens goes on, and still knows its task, files and todos', async () => {
    const {ask, server, events} = await setUp({window: 8192, script: worker(300)});
    expect(await ask(TASK)).toMatchObject({outcome: 'success', text: 'All done.', turns: 301});
    const last = words(server.requests.at(-1)!.body);
    expect(last).toContain(TASK);
    expect(last).toContain('rename in b.ts');
    expect(last).toContain('src/file-245.ts (changed)');
    expect(last).toContain('src/file-300.ts');
    expect(kinds(events).length).toBeGreaterThan(3);
    for (const {preTokens, postTokens} of kinds(events)) expect(postTokens).toBeLessThan(preTokens / 1.5);
    // Each request was small enough: the server would have refused it otherwise, and it would have come again.
    expect(server.requests.filter(({body}) => !isSummary(body))).toHaveLength(301);
  });

  it('of many turns in 200,000 tokens goes on too', {timeout: 600_000}, async () => {
    const characters = 1_500_000 / TURNS;
    const {ask, server} = await setUp({window: 200_000, script: worker(TURNS), characters});
    expect(await ask(TASK)).toMatchObject({outcome: 'success', text: 'All done.', turns: TURNS + 1});
    expect(words(server.requests.at(-1)!.body)).toContain(TASK);
  });

  it('first clears old results, down to 60 % in one step, and says which call they were of', async () => {
    const {ask, server, events, lines} = await setUp({window: 40_000, script: worker(90)});
    expect(await ask(TASK)).toMatchObject({outcome: 'success'});
    expect(kinds(events)).toEqual([]);
    const cleared = lines.filter(({type}) => type === 'shorten');
    expect(cleared.length).toBeGreaterThan(0);
    expect(cleared.length).toBeLessThan(6);
    expect(words(server.requests.at(-1)!.body)).toContain('The result of read_file src/file-1.ts was cleared');
  });

  it('is compacted when the server says that the prompt is too long, though its window was not known', async () => {
    const {ask, server, events} = await setUp({window: 8192, known: 200_000, script: worker(40)});
    expect(await ask(TASK)).toMatchObject({outcome: 'success', text: 'All done.'});
    expect(server.requests.length).toBeLessThan(60);
    expect(notices(events).join()).not.toContain('refused');
  });

  it('goes on when one result alone is larger than the window: it is cut, and says so', async () => {
    const {ask, server} = await setUp({window: 8192, script: worker(3), characters: 60_000});
    expect(await ask(TASK)).toMatchObject({outcome: 'success', text: 'All done.'});
    expect(words(server.requests.at(-1)!.body)).toMatch(
      /src.file-3.ts: word .*characters cut to fit the context window/,
    );
  });

  it.each<[string, Reply, string]>([
    ['fails', status(400, {message: 'no summaries today'}), 'no summaries today'],
    ['is empty', say(''), 'the model gave no text'],
  ])('is cut by rule when the summary %s', async (_, reply, why) => {
    const {ask, events, server} = await setUp({window: 8192, script: worker(120, () => reply)});
    expect(await ask(TASK)).toMatchObject({outcome: 'success', text: 'All done.'});
    expect(notices(events).find((text) => text.includes('No summary could be made'))).toContain(why);
    expect(words(server.requests.at(-1)!.body)).toContain(TASK);
  });

  it('stays as it was when it is interrupted in the midst of a compaction, and the next turn compacts it', async () => {
    let summaries = 0;
    const script = worker(120, () => {
      summaries += 1;
      return summaries === 1 ? {type: 'hang'} : say('## Task\nrename');
    });
    const {ask, run, history, server, abort} = await setUp({window: 8192, script});
    const first = ask(TASK);
    await expect.poll(() => summaries).toBe(1);
    const before = history.messages.length;
    abort.abort(new Error('stop'));
    expect(await first).toMatchObject({outcome: 'stopped'});
    expect(history.messages.length).toBe(before);
    history.appendPrompt('go on');
    const again = {...run, signal: new AbortController().signal};
    expect(await runAgent(again)).toMatchObject({outcome: 'success', text: 'All done.'});
    expect(server.requests.length).toBeGreaterThan(120);
  });

  it('is counted by the figures of the server, and by an estimate before', async () => {
    const {ask, history} = await setUp({window: 100_000, script: [say('hello')]});
    expect(history.window.isEstimate).toBe(true);
    await ask('hi');
    expect(history.window.isEstimate).toBe(false);
  });
});
