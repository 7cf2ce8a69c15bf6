/** The screen obeys mini-cc alone, whatever models, tools, files, names and servers bring. */
import {mkdir} from 'node:fs/promises';
import path from 'node:path';
import {describe, expect, it, onTestFinished} from 'vitest';
import {type MessagesBody, type Reply, say} from '../support/messages-server.ts';
import {turnOf} from '../support/request-facts.ts';
import {runCli, startCli} from '../support/run-cli.ts';
import {callTool, callTools, fromModel, slow, status, thinkingThen} from '../support/scripted-replies.ts';
import {transcriptsBelow} from '../support/session-files.ts';
import type {Terminal} from '../support/terminal.ts';
import type {Workspace} from '../support/workspace.ts';
import {cursorAtPrompt, expectUntouched, NASTY, NASTY_NAME} from './control-sequences-fixture.ts';
import {home, isSubagent, project, serve} from './fixture.ts';
import {idle, repl, send} from './repl-fixture.ts';

const task = (background: boolean) => ({
  name: 'Task',
  input: {description: NASTY, prompt: NASTY, agent_type: 'code', label: NASTY, background},
});

const TURNS: readonly Reply[] = [
  thinkingThen(
    NASTY,
    slow(
      callTools(
        [
          {name: 'bash', input: {command: `cat nasty.txt; sleep 0.4 # ${NASTY.replaceAll('\0', '')}`}},
          {name: 'read_file', input: {path: 'nasty.txt'}},
          {name: 'read_file', input: {path: `missing ${NASTY}`}},
          {name: 'grep', input: {pattern: 'nasty', mode: 'content'}},
          {name: 'glob', input: {pattern: '*nasty*'}},
          {name: NASTY, input: {[NASTY]: NASTY}},
          {name: 'todo_write', input: {todos: [{content: NASTY, status: 'in_progress'}]}},
          {name: 'write_file', input: {path: 'made.txt', content: `${NASTY}\n`}},
        ],
        `# ${NASTY}\n\n- [${NASTY}](http://x/${NASTY})\n\n\`\`\`js\n${NASTY}\n\`\`\`\n\n| ${NASTY} |\n|--|\n| a |\n`,
      ),
      5,
    ),
  ),
  callTools([task(false), task(true)]),
];

function nastyModel(body: MessagesBody): Reply {
  if (isSubagent(body)) {
    return turnOf(body) === 0
      ? callTool('bash', {command: 'cat nasty.txt | tee -a nasty.txt; cp nasty.txt nasty*.copy; exit 3'})
      : say(`${NASTY}\n\n${NASTY}`);
  }
  return TURNS[turnOf(body)] ?? fromModel(say(`All said: ${NASTY}`), NASTY);
}

async function nastyProject(): Promise<Workspace> {
  const workspace = await project();
  await workspace.write('nasty.txt', `${NASTY}\n${NASTY}\n`);
  await workspace.write(NASTY_NAME, 'nasty\n');
  await workspace.write('.mini-cc/settings.json', JSON.stringify({[NASTY]: 1, model: 'sonnet'}));
  const agent = {name: 'odd', description: NASTY, tools: ['read_file', NASTY], prompt: NASTY};
  await workspace.write('.mini-cc/agents/odd.json', JSON.stringify(agent));
  await workspace.write(
    '.claude/agents/other.md',
    `---\nname: other\ndescription: ${JSON.stringify(NASTY)}\n---\n${NASTY}\n`,
  );
  return workspace;
}

const answersIn = (terminal: Terminal) => terminal.text().split('All said:').length;

describe('in the REPL', () => {
  it('shows what a model, its tools and its agents bring, live and in the scrollback', async () => {
    const at = {server: await serve(nastyModel), cwd: (await nastyProject()).path, home: await home()};
    const terminal = await repl({...at, args: ['--allowed-tools', 'bash,read_file,grep,Task']});
    await send(terminal, 'go');
    await terminal.waitFor('4 no');
    expectUntouched(terminal);
    // In its first moment a question takes no keys.
    await new Promise((resolve) => setTimeout(resolve, 350));
    terminal.type('1');
    await terminal.waitFor(/^All said:$/m);
    await terminal.waitFor(/ - done \(1 tool/);
    await idle(terminal);
    expectUntouched(terminal);
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
    terminal.paste(`pasted ${NASTY}`);
    await terminal.waitFor('> pasted');
    terminal.press('enter');
    await terminal.waitFor((at) => answersIn(at) > before);
    await idle(terminal);
    expectUntouched(terminal);
    await cursorAtPrompt(terminal);
    terminal.press('ctrl-d');
    await terminal.waitForExit();
    expectUntouched(terminal);

    const again = await repl({...at, args: ['--continue'], cols: 40});
    await again.waitFor('All said');
    expectUntouched(again);
    await cursorAtPrompt(again);
  });

  it('keeps its rows where pictures are wider or narrower than they are taken for', async () => {
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
    expect(terminal.scrollback().filter((line) => line.startsWith('> '))).toHaveLength(2);
  });

  it('shows what a server says', async () => {
    const server = await serve([status(400, {message: NASTY}), status(429, {message: NASTY}), say('Fine.')]);
    const terminal = await repl({server, args: ['--model', NASTY.slice(0, 16)]});
    await send(terminal, 'one');
    await terminal.waitFor('nasty␛]0;PWNED');
    await idle(terminal);
    await send(terminal, 'two');
    await terminal.waitFor('Fine.');
    await idle(terminal);
    expectUntouched(terminal);
    await cursorAtPrompt(terminal);
  });

  it('shows why there is no session', async () => {
    const workspace = await project();
    await workspace.write('settings.json', `{"model": 5, ${JSON.stringify(NASTY)}: }`);
    const folder = path.join(workspace.path, NASTY_NAME);
    await mkdir(folder);
    const terminal = await startCli(['--settings', '../settings.json'], {cwd: folder});
    onTestFinished(terminal.close);
    expect((await terminal.waitForExit()).code).toBe(2);
    expect(terminal.text()).toContain('mini-cc-work');
    expectUntouched(terminal);
  });
});

describe('on a terminal without the REPL', () => {
  it.each([
    ['text', ['--verbose']],
    ['json', []],
    ['stream-json', ['--include-partial-messages']],
  ])('shows an answer, its progress and its end with --output-format %s', async (format, flags) => {
    const at = {server: await serve(nastyModel), cwd: (await nastyProject()).path, home: await home()};
    const args = ['-p', 'go', '--output-format', format, ...flags, '--dangerously-skip-permissions'];
    const terminal = await startCli(args, at);
    onTestFinished(terminal.close);
    expect((await terminal.waitForExit(20_000)).code).toBe(0);
    expect(terminal.text()).toContain('PWNED');
    // Progress there goes over its own lines, and clears what it goes over.
    expectUntouched(terminal);
  });

  it('shows the words of commands and of mistakes', async () => {
    const workspace = await nastyProject();
    const at = {server: await serve(nastyModel), cwd: workspace.path, home: await home()};
    await runCli(['-p', NASTY.replaceAll('\0', ''), '--dangerously-skip-permissions'], at);
    const id = transcriptsBelow(at.home.path)
      .find((file) => !file.includes('/subagents/'))!
      .split('/')
      .at(-2)!;
    const bad = NASTY.replaceAll('\0', '');
    const forms = [
      ...[
        ['sessions', 'list'],
        ['sessions', 'list', '--json'],
        ['sessions', 'show', id],
        ['sessions', 'export', id],
      ],
      ...[
        ['sessions', 'export', id, '--json'],
        ['sessions', 'show', bad],
        ['agents', 'list'],
        ['agents', 'lint'],
      ],
      ...[
        ['agents', 'list', '--json'],
        ['agents', 'show', 'odd'],
        ['agents', 'show', bad],
        ['agents', bad],
      ],
      ...[
        ['doctor'],
        ['config', 'show'],
        ['config', 'show', '--json'],
        ['config', bad],
        ['--resume', bad],
        [`--nasty=${bad}`],
      ],
      ...[
        ['-p', `/x ${bad}`],
        ['-p', '/agents'],
        ['-p', 'x', '--agent', bad],
        ['-p', 'x', '--debug', '--cwd', bad],
      ],
    ];
    for (const args of forms) {
      const terminal = await startCli(args, at);
      onTestFinished(terminal.close);
      await terminal.waitForExit();
      expectUntouched(terminal);
    }
  }, 60_000);
});

it('gives pipes and files the text as it is', async () => {
  const server = await serve([say(NASTY)]);
  const run = await runCli(['-p', 'x'], {server});
  expect(run.stdout).toBe(`${NASTY}\n`);
});
