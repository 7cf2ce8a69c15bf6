/** The terminal obeys mini-cc alone: control sequences of models, tools, files, names and servers are shown as text. */
import {mkdir} from 'node:fs/promises';
import path from 'node:path';
import {describe, expect, it, onTestFinished} from 'vitest';
import {type MessagesBody, type Reply, say} from '../support/messages-server.ts';
import {answer} from '../support/questions.ts';
import {countReplies} from '../support/request-facts.ts';
import {runCli, startCli} from '../support/run-cli.ts';
import {callTool, callTools, fromModel, slow, status, thinkingThen} from '../support/scripted-replies.ts';
import {findTranscripts} from '../support/session-files.ts';
import type {Terminal} from '../support/terminal.ts';
import type {Workspace} from '../support/workspace.ts';
import {cursorAtPrompt, expectNothingObeyed, UNSAFE_NAME, UNSAFE_TEXT} from './control-sequences-fixture.ts';
import {home, isSubagent, project, serve} from './fixture.ts';
import {idle, repl, send} from './repl-fixture.ts';

const task = (background: boolean) => ({
  name: 'Task',
  input: {description: UNSAFE_TEXT, prompt: UNSAFE_TEXT, agent_type: 'code', label: UNSAFE_TEXT, background},
});

const TURNS: readonly Reply[] = [
  thinkingThen(
    UNSAFE_TEXT,
    slow(
      callTools(
        [
          {name: 'bash', input: {command: `cat unsafe.txt; sleep 0.4 # ${UNSAFE_TEXT.replaceAll('\0', '')}`}},
          {name: 'read_file', input: {path: 'unsafe.txt'}},
          {name: 'read_file', input: {path: `missing ${UNSAFE_TEXT}`}},
          {name: 'grep', input: {pattern: 'unsafe', mode: 'content'}},
          {name: 'glob', input: {pattern: '*unsafe*'}},
          {name: UNSAFE_TEXT, input: {[UNSAFE_TEXT]: UNSAFE_TEXT}},
          {name: 'todo_write', input: {todos: [{content: UNSAFE_TEXT, status: 'in_progress'}]}},
          {name: 'write_file', input: {path: 'made.txt', content: `${UNSAFE_TEXT}\n`}},
        ],
        `# ${UNSAFE_TEXT}\n\n- [${UNSAFE_TEXT}](http://x/${UNSAFE_TEXT})\n\n\`\`\`js\n${UNSAFE_TEXT}\n\`\`\`\n\n| ${UNSAFE_TEXT} |\n|--|\n| a |\n`,
      ),
      5,
    ),
  ),
  callTools([task(false), task(true)]),
];

function unsafeModel(body: MessagesBody): Reply {
  if (isSubagent(body)) {
    return countReplies(body) === 0
      ? callTool('bash', {command: 'cat unsafe.txt | tee -a unsafe.txt; cp unsafe.txt unsafe*.copy; exit 3'})
      : say(`${UNSAFE_TEXT}\n\n${UNSAFE_TEXT}`);
  }
  return TURNS[countReplies(body)] ?? fromModel(say(`All said: ${UNSAFE_TEXT}`), UNSAFE_TEXT);
}

async function unsafeProject(): Promise<Workspace> {
  const workspace = await project();
  await workspace.write('unsafe.txt', `${UNSAFE_TEXT}\n${UNSAFE_TEXT}\n`);
  await workspace.write(UNSAFE_NAME, 'unsafe\n');
  await workspace.write('.mini-cc/settings.json', JSON.stringify({[UNSAFE_TEXT]: 1, model: 'sonnet'}));
  const agent = {name: 'odd', description: UNSAFE_TEXT, tools: ['read_file', UNSAFE_TEXT], prompt: UNSAFE_TEXT};
  await workspace.write('.mini-cc/agents/odd.json', JSON.stringify(agent));
  await workspace.write(
    '.claude/agents/other.md',
    `---\nname: other\ndescription: ${JSON.stringify(UNSAFE_TEXT)}\n---\n${UNSAFE_TEXT}\n`,
  );
  return workspace;
}

const answersIn = (terminal: Terminal) => terminal.text().split('All said:').length;

describe('in the REPL', () => {
  it('shows control sequences of models, tools and agents as text, live and in the scrollback', async () => {
    const at = {server: await serve(unsafeModel), cwd: (await unsafeProject()).path, home: await home()};
    const terminal = await repl({...at, args: ['--allowed-tools', 'bash,read_file,grep,Task']});
    await send(terminal, 'go');
    await terminal.waitFor('4 no');
    expectNothingObeyed(terminal);
    await answer(terminal, '4 no', '1');
    await terminal.waitFor(/^All said:$/m);
    await terminal.waitFor(/ - done \(1 tool/);
    await idle(terminal);
    expectNothingObeyed(terminal);
    await cursorAtPrompt(terminal);
    for (const line of [
      '/agents',
      '/agents show odd',
      '/agents lint',
      '/subagents',
      '/subagents log 1 50 tools',
      '/subagents diff 1',
    ]) {
      await send(terminal, line);
      await idle(terminal);
    }
    await send(terminal, '/subagents info 1');
    await terminal.waitFor('receipt:');
    const before = answersIn(terminal);
    terminal.paste(`pasted ${UNSAFE_TEXT}`);
    await terminal.waitFor('> pasted');
    terminal.press('enter');
    await terminal.waitFor((at) => answersIn(at) > before);
    await idle(terminal);
    expectNothingObeyed(terminal);
    await cursorAtPrompt(terminal);
    terminal.press('ctrl-d');
    await terminal.waitForExit();
    expectNothingObeyed(terminal);

    const again = await repl({...at, args: ['--continue'], cols: 40});
    await again.waitFor('All said');
    expectNothingObeyed(again);
    await cursorAtPrompt(again);
  });

  it('keeps its layout with emoji that are wider or narrower than expected', async () => {
    const pictures = [
      '👩‍👩‍👧‍👦',
      '👍🏽',
      '🏳️‍🌈',
      '❤️',
      '1️⃣',
      '🏴󠁧󠁢󠁥󠁮󠁧󠁿',
      '🇫🇷',
      '漢',
      'e\u0301\u0302',
      '☎️',
      '⚠️',
      '\u1100\u1161\u11a8',
    ];
    const rows = pictures.map((picture) => picture.repeat(40)).join('\n\n');
    const todos = {todos: [{content: pictures.join('').repeat(8), status: 'in_progress'}]};
    const command = `printf '%s' '${pictures.join('').repeat(8)}'; sleep 0.3`;
    const calls = callTools(
      [
        {name: 'todo_write', input: todos},
        {name: 'bash', input: {command}},
      ],
      rows,
    );
    const server = await serve([slow(calls, 5), slow(say(rows), 10)]);
    const terminal = await repl({server, cols: 40, rows: 40, args: ['--dangerously-skip-permissions']});
    await send(terminal, 'go');
    await server.waitForRequests(2);
    await idle(terminal);
    await cursorAtPrompt(terminal);
    expect(terminal.scrollback().filter((line) => line.startsWith('▌ '))).toHaveLength(1);
  });

  it('shows control sequences of server errors as text', async () => {
    const server = await serve([
      status(400, {message: UNSAFE_TEXT}),
      status(429, {message: UNSAFE_TEXT}),
      say('Fine.'),
    ]);
    const terminal = await repl({server, args: ['--model', UNSAFE_TEXT.slice(0, 16)]});
    await send(terminal, 'one');
    await terminal.waitFor('unsafe␛]0;PWNED');
    await idle(terminal);
    await send(terminal, 'two');
    await terminal.waitFor('Fine.');
    await idle(terminal);
    expectNothingObeyed(terminal);
    await cursorAtPrompt(terminal);
  });

  it('shows control sequences in start-up errors as text', async () => {
    const workspace = await project();
    await workspace.write('settings.json', `{"model": 5, ${JSON.stringify(UNSAFE_TEXT)}: }`);
    const folder = path.join(workspace.path, UNSAFE_NAME);
    await mkdir(folder);
    const terminal = await startCli(['--settings', '../settings.json'], {cwd: folder});
    onTestFinished(terminal.close);
    expect((await terminal.waitForExit()).code).toBe(2);
    expect(terminal.text()).toContain('mini-cc-work');
    expectNothingObeyed(terminal);
  });
});

describe('on a terminal without the REPL', () => {
  it.each([
    ['text', ['--verbose']],
    ['json', []],
    ['stream-json', ['--include-partial-messages']],
  ])('shows control sequences as text with --output-format %s', async (format, flags) => {
    const at = {server: await serve(unsafeModel), cwd: (await unsafeProject()).path, home: await home()};
    const args = ['-p', 'go', '--output-format', format, ...flags, '--dangerously-skip-permissions'];
    const terminal = await startCli(args, at);
    onTestFinished(terminal.close);
    expect((await terminal.waitForExit()).code).toBe(0);
    expect(terminal.text()).toContain('PWNED');
    // The progress lines of mini-cc itself may move the cursor and clear lines.
    expectNothingObeyed(terminal);
  });

  it('shows control sequences in the output and errors of all commands as text', async () => {
    const workspace = await unsafeProject();
    const at = {server: await serve(unsafeModel), cwd: workspace.path, home: await home()};
    await runCli(['-p', UNSAFE_TEXT.replaceAll('\0', ''), '--dangerously-skip-permissions'], at);
    const id = findTranscripts(at.home.path)
      .find((file) => !file.includes('/subagents/'))!
      .split('/')
      .at(-2)!;
    const bad = UNSAFE_TEXT.replaceAll('\0', '');
    const forms = [
      ['sessions', 'list'],
      ['sessions', 'show', id],
      ['sessions', 'export', id, '--json'],
      ['agents', 'list'],
      ['agents', 'list', '--json'],
      ['agents', 'lint'],
      ['agents', 'show', bad],
      ['doctor'],
      ['config', 'show'],
      [`--unsafe=${bad}`],
      ['-p', `/x ${bad}`],
      ['-p', 'x', '--debug', '--cwd', bad],
    ];
    for (const args of forms) {
      const terminal = await startCli(args, at);
      onTestFinished(terminal.close);
      await terminal.waitForExit();
      expectNothingObeyed(terminal);
    }
  });
});

it('pipes and files get the text unchanged', async () => {
  const server = await serve([say(UNSAFE_TEXT)]);
  const run = await runCli(['-p', 'x'], {server});
  expect(run.stdout).toBe(`${UNSAFE_TEXT}\n`);
});
