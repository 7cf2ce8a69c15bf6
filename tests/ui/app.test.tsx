import {describe, expect, test} from 'vitest';
import type {AgentEventBody} from '../../src/core/contract/events.ts';
import type {Request, Session} from '../../src/core/contract/session-requests.ts';
import {NO_USAGE} from '../../src/core/util/messages.ts';
import {passTime, stopTime} from '../support/fake-time.ts';
import {settle} from '../support/wait.ts';
import {CTRL_D, ESC, open} from './app-fixture.ts';

const task = (id: string, description: string, queued = false): [AgentEventBody, string] => [
  {type: 'run_start', agent: 'explore', description, callId: `call ${id}`, model: 'sonnet', queued},
  id,
];
const toolEnd: AgentEventBody = {
  type: 'tool_end',
  callId: 'x',
  tool: 'grep',
  isError: false,
  preview: '',
  durationMs: 1,
};
const runEnd = (tools: number): AgentEventBody => ({
  type: 'run_end',
  outcome: 'success',
  tools,
  durationMs: 5100,
  usage: NO_USAGE,
});

test('a running call has its own time at the call, and the spinner has the time of the turn', async () => {
  stopTime();
  const {screen, session} = await open();
  session.emit({type: 'run_start', agent: 'main', description: '', model: 'sonnet', queued: false});
  await passTime(3_000);
  session.emit({type: 'tool_start', callId: 'a', tool: 'bash', title: 'npm test'});
  await passTime(2_100);
  await screen.shows('● Bash(npm test) · 2s');
  await screen.shows('Running Bash(npm test) · 5s');
});

describe('the prompt', () => {
  test('is shown before the session is open; a prompt that is sent then is shown as queued', async () => {
    const {promise, resolve} = Promise.withResolvers<Session>();
    const {screen, session} = await open({opening: promise});
    screen.type('explain this\r');
    await screen.shows('queued: explain this');
    expect(session.submitted).toEqual([]);
    resolve(session);
    await screen.shows(/default · .*sonnet/);
    expect(session.submitted).toEqual(['explain this']);
    await screen.lacks('queued:');
    await screen.shows('▌ explain this');
  });

  test('shows typed text with the cursor after it, and Enter sends it', async () => {
    const {screen, session} = await open();
    screen.type('héllo 漢字');
    const window = await screen.shows('> héllo 漢字');
    const row = window.split('\n').findIndex((line) => line.startsWith('> héllo'));
    expect(screen.cursor()).toEqual({x: 12, y: row});
    screen.type('\r');
    await screen.shows('Esc interrupts');
    expect(session.submitted).toEqual(['héllo 漢字']);
  });

  test.each([
    ['Ctrl+J', '\n'],
    ['a backslash and Enter', '\\\r'],
    ['Shift+Enter by the kitty protocol', '\x1b[13;2u'],
    ['Shift+Enter by modifyOtherKeys', '\x1b[27;2;13~'],
  ])('takes a new line by %s', async (_name, keys) => {
    const {screen, session} = await open();
    screen.type('one');
    await screen.shows('> one');
    screen.type(keys);
    await screen.shows(/> one\n\s*\n/);
    screen.type('two');
    await screen.shows('> one\n  two');
    screen.type('\r');
    await screen.shows('Esc interrupts');
    expect(session.submitted).toEqual(['one\ntwo']);
  });

  test('shows a big paste as one piece and sends it in full', async () => {
    const {screen, session} = await open();
    const content = Array.from({length: 42}, (_, index) => `line ${index}`).join('\n');
    screen.type(`\x1b[200~${content}\x1b[201~`);
    await screen.shows('> [Pasted 42 lines]');
    screen.type('\r');
    await screen.shows('Esc interrupts');
    expect(session.submitted).toEqual([content]);
  });

  test('takes lines that come at once without bracketed paste as one paste, in however many pieces', async () => {
    const {screen, session} = await open();
    screen.type(`${'a long line\r'.repeat(400)}half a `);
    screen.type('line\rand the last');
    await screen.shows('> [Pasted 402 lines]');
    screen.type('\r');
    await screen.shows('Esc interrupts');
    expect(session.submitted).toEqual([`${'a long line\n'.repeat(400)}half a line\nand the last`]);
  });

  test.each([
    ['Esc', '\x1b', '> Ask about'],
    ['another ?', '?', '> Ask about'],
    ['a letter, which is typed', 'w', '> w\n'],
    ['a paste, which is typed', '\x1b[200~two words\x1b[201~', '> two words\n'],
  ])('? lists the keys below the prompt, prints nothing, and %s closes the list', async (_name, key, prompt) => {
    const {screen} = await open();
    const before = screen.window();
    screen.type('?');
    const window = await screen.shows(/Ctrl\+_ +undo/);
    expect(window.indexOf('> Ask about')).toBeLessThan(window.indexOf('Ctrl+C'));
    expect(window).toMatch(/Shift\+Tab +mode .*\ndefault · /);
    screen.type(key);
    await screen.lacks('undo');
    const after = await screen.shows(prompt);
    if (prompt === '> Ask about') expect(after.trimEnd()).toBe(before.trimEnd());
    screen.type('\x03');
  });

  test('? in a low window lists as many keys as have room, and says how many rows more there are', async () => {
    const {screen} = await open({columns: 50, rows: 12});
    screen.type('?');
    await screen.shows(/> Ask about.*\n(?:.*\n)? {2}Enter +send\n(?:.*\n)+ {2}… and \d+ more\ndefault/);
  });

  test('handles what is typed after a key that waits for a search of files after that key', async () => {
    const {screen, session} = await open();
    const found = Promise.withResolvers<readonly string[]>();
    const {request} = session;
    const answer = (asked: Request) => (asked.type === 'find_files' ? found.promise : request(asked));
    Object.assign(session, {request: answer});
    screen.type('look at @foo');
    await screen.shows('> look at @foo');
    screen.type('\r');
    await settle();
    screen.type('next');
    await settle();
    screen.type('\x1b[200~ prompt\x1b[201~');
    await settle();
    expect(session.submitted).toEqual([]);
    found.resolve([]);
    await screen.shows('> next prompt');
    expect(session.submitted).toEqual(['look at @foo']);
  });

  test('says why the files for @ cannot be listed, as long as they are asked for', async () => {
    const {screen, session} = await open({columns: 50});
    const {request} = session;
    const answer = (asked: Request) =>
      asked.type === 'find_files' ? Promise.reject(new Error('the folder /work/away does not exist')) : request(asked);
    Object.assign(session, {request: answer});
    screen.type('look at @foo');
    await screen.shows(/Files cannot be listed: the folder\s+\/work\/away\s+does\s+not\s+exist/);
    screen.pass(60_000);
    screen.type('d');
    await screen.shows(/@food\n.*\n {2}Files cannot be listed/);
    expect(screen.window()).not.toContain('Looking for files');
    screen.type('\x7f\x7f\x7f\x7f\x7f');
    await screen.lacks('Files cannot be listed');
  });

  test('says for @ alone that there is no file, and for more that no file matches it', async () => {
    const {screen, session} = await open({columns: 50});
    const {request} = session;
    const answer = (asked: Request) => (asked.type === 'find_files' ? Promise.resolve([]) : request(asked));
    Object.assign(session, {request: answer});
    screen.type('@');
    await screen.shows('There is no file here.');
    screen.type('zz');
    await screen.shows('No file matches zz.');
  });

  test('puts keys together whose bytes come one by one, as over a slow line', async () => {
    stopTime();
    const {screen, session} = await open();
    for (const byte of 'abc\x1b[D\x1b[200~1\r2\x1b[201~\x1b[13;2u') {
      screen.type(byte);
      await passTime(30);
    }
    await screen.shows(/> ab1\n {2}2\n {2}c/);
    expect(session.submitted).toEqual([]);
    screen.type(ESC);
    screen.type('\x03');
  });

  test('recalls earlier prompts', async () => {
    const sent: string[] = [];
    const {screen} = await open({history: [{text: 'older words'}], onSubmit: ({text}) => sent.push(text)});
    screen.type('/help\r');
    await screen.shows('ran /help');
    screen.type('\x1b[A');
    await screen.shows(/\n> \/help\n/);
    screen.type('\x1b[A\x1b[A');
    await screen.shows('> older words');
    expect(sent).toEqual(['/help']);
  });

  test('completes slash commands', async () => {
    const {screen, session} = await open();
    screen.type('/');
    await screen.shows('/model  shows or sets the model');
    screen.type('he');
    await screen.lacks('/model');
    screen.type('\t');
    await screen.shows(/\n> \/help\s*\n/);
    screen.type('\r');
    await screen.shows('ran /help');
    expect(session.submitted).toEqual(['/help']);
  });

  test('sends a command that Enter takes from the list, unless it needs an argument', async () => {
    const {screen, session} = await open();
    screen.type('/hlp\r');
    await screen.shows('ran /help');
    screen.type('/shp\r');
    await screen.shows(/\n> \/ship\s*\n/);
    screen.type('Mars\r');
    await screen.shows('ran /ship Mars');
    expect(session.submitted).toEqual(['/help', '/ship Mars']);
  });

  test('closes the completion list by Esc, which does not interrupt the turn', async () => {
    const {screen, session} = await open();
    screen.type('/he');
    await screen.shows('> /help  lists');
    screen.type(ESC);
    await screen.lacks('> /help  lists');
    expect(session.aborts()).toBe(0);
  });
});

describe('a turn', () => {
  test('streams its answer, and finished text does not change', async () => {
    const {screen, session} = await open();
    screen.type('go\r');
    await screen.shows('Esc interrupts');
    session.emit({type: 'text_delta', text: '# Title\n\nSome **bo'});
    expect(await screen.shows('Some bo')).not.toContain('*');
    session.emit({type: 'text_delta', text: 'ld** words.'});
    session.endTurn();
    await screen.shows('Some bold words.');
    await screen.lacks('Esc interrupts');
    await expect.poll(screen.scrollback).toMatch(/▌ go\n\nTitle\n\nSome bold words\.\n\nTook \S+\n\n─/);
  });

  test('draws every 33 ms while it streams, and nothing at rest', async () => {
    stopTime();
    const {screen, session} = await open();
    const frames = () => screen.written().split('\x1b[?2026h').length - 1;
    screen.type('go\r');
    await screen.shows('Esc interrupts');
    const before = frames();
    for (let count = 0; count < 200; count++) {
      session.emit({type: 'text_delta', text: 'word '});
      await passTime(5);
    }
    // The spinner is drawn along with the text.
    expect(frames() - before).toBeGreaterThan(28);
    expect(frames() - before).toBeLessThan(32);
    session.endTurn();
    await screen.lacks('Esc interrupts');
    await passTime(300);
    const atRest = frames();
    await passTime(3_000);
    expect(frames()).toBe(atRest);
  });

  test('shows prompts that are sent meanwhile as queued', async () => {
    const {screen, session} = await open();
    screen.type('go\r');
    await screen.shows('Esc interrupts');
    screen.type('and this\r');
    await screen.shows('queued: and this');
    session.emit({type: 'queued_prompt_delivered', id: 'and this'});
    await screen.lacks('queued:');
    await screen.shows(/\n▌ and this\n/);
    expect(session.submitted).toEqual(['go', 'and this']);
  });

  test('is interrupted by Esc, and the REPL goes on', async () => {
    const {screen, session} = await open();
    screen.type('go\r');
    await screen.shows('Esc interrupts');
    screen.type(ESC);
    await screen.shows('interrupted');
    expect(session.aborts()).toBe(1);
    screen.type('again\r');
    await screen.shows('Esc interrupts');
    expect(session.submitted).toEqual(['go', 'again']);
  });

  test('shows each subagent on a line of its own, in order, and prints these lines at their end', async () => {
    const {screen, session} = await open();
    screen.type('go\r');
    await screen.shows('Esc interrupts');
    session.emit(...task('a', 'read tests'));
    session.emit(...task('b', 'read docs', true));
    session.emit(toolEnd, 'a');
    await screen.shows(/\[explore\] read tests \.\.\. 1 tool, \d\.\ds\n {2}\[explore\] read docs \.\.\. queued/);
    session.emit({type: 'run_active'}, 'b');
    session.emit(runEnd(3), 'b');
    await screen.shows('[explore] read docs - done (3 tools, 5.1s)');
    session.emit(runEnd(8), 'a');
    session.endTurn();
    await screen.lacks('Esc interrupts');
    expect(screen.window()).toContain(
      '  [explore] read tests - done (8 tools, 5.1s)\n' + '  [explore] read docs - done (3 tools, 5.1s)\n\n',
    );
  });

  test('of forty agents says how many more run, and fits the window', async () => {
    const {screen, session} = await open({columns: 40, rows: 15});
    screen.type('go\r');
    await screen.shows('Esc interrupts');
    for (let index = 0; index < 40; index++) session.emit(...task(`s${index}`, `explore part ${index}`));
    await screen.shows(/… 3\d running/);
    const window = screen.window().split('\n');
    expect(window.length).toBeLessThan(15);
    expect(window.every((line) => line.length <= 40)).toBe(true);
  });

  test('cannot move the cursor or set the title of the terminal', async () => {
    const {screen, session} = await open();
    screen.type('go\r');
    await screen.shows('Esc interrupts');
    session.emit({type: 'tool_start', callId: 'c', tool: 'bash', title: 'cat \x1b]0;evil\x07'});
    session.emit({type: 'tool_progress', callId: 'c', text: '\x1b[2J\x1b[H'});
    session.emit({...toolEnd, callId: 'c', tool: 'bash', preview: 'a\x1b[10Ab\u202e'} as AgentEventBody);
    session.emit({type: 'text_delta', text: 'x\x1b[2Jy `\x9b2J`\n\n'});
    session.emit({type: 'notice', level: 'info', text: '\x1b]0;evil\x07'});
    session.endTurn('error', 'bad \x1b[31m');
    await screen.shows('bad ␛[31m');
    const {written} = screen;
    expect(written()).not.toContain('\x1b]0;');
    expect(written()).not.toContain('\x1b[2J');
    expect(written()).not.toContain('\x1b[10A');
    expect(written()).not.toContain('\u202e');
    expect(screen.scrollback()).toContain('x␛[2Jy \\u009B2J');
  });
});

describe('leaving while agents run', () => {
  test('names them and asks once more, then lists them as stopped', async () => {
    const {screen, session, exit} = await open({columns: 100});
    screen.type('go\r');
    await screen.shows('Esc interrupts');
    session.emit(...task('a', 'look around'));
    await screen.shows('[explore] look around');
    screen.type(CTRL_D);
    await screen.shows('1 agent running. Press Ctrl+D again to stop it and quit. [explore] look around');
    screen.type(CTRL_D);
    expect(await exit).toBe(0);
    await screen.shows('  [explore] look around - stopped');
  });

  test('calls a command in the background a command', async () => {
    const {screen, session} = await open({columns: 120});
    const run = {type: 'run_start', model: '', queued: false, background: true} as const;
    session.emit({...run, agent: 'bash', description: 'npm run dev', tool: 'bash'}, 'c');
    await screen.shows('1 command');
    screen.type(CTRL_D);
    await screen.shows('1 command running. Press Ctrl+D again to stop it and quit.');
    session.emit({...run, agent: 'explore', description: 'look'}, 'd');
    await screen.shows('[explore] look');
    screen.type(CTRL_D);
    await screen.shows('1 agent and 1 command running. Press Ctrl+D again to stop them and quit.');
  });
});
