import {describe, expect, test} from 'vitest';
import {until} from '../support/wait.ts';
import {ESC, open} from './app-fixture.ts';
import {question} from './fake-session.ts';
import * as runs from './runs-fixture.ts';

const UP = '\x1b[A';
const DOWN = '\x1b[B';
const CTRL_B = '\x02';

/** A turn with one background run and one awaited run. */
async function working(options: Parameters<typeof open>[0] = {}) {
  const repl = await open(options);
  const {screen, session} = repl;
  screen.type('go\r');
  await screen.shows('Esc interrupts');
  session.emit(runs.started('read the tests'), 'a');
  session.emit(runs.background, 'a');
  session.emit(runs.started('write the docs', 'code'), 'b');
  session.emit(runs.toolStart('"foo"'), 'a');
  session.emit(runs.toolEnd('"foo"', 'src/a.ts:1: foo'), 'a');
  session.emit(runs.reply('I read **all**.', 1200), 'a');
  await screen.shows('running · 1 tool');
  return repl;
}

describe('the panel', () => {
  test('is shown under the prompt while a background run works, also after the turn', async () => {
    const {screen, session} = await working();
    expect(screen.window()).toMatch(
      /> Ask about.*\n─+\n {2}\[explore\] read the tests · running · 1 tool · 1\.2k tokens · Grep "foo"\ndefault · .*2 agents/,
    );
    expect(screen.window()).toContain('> Task: write the docs\n  [code] write the docs ... 0 tools');
    session.emit(runs.runEnd(3), 'b');
    session.endTurn();
    await screen.lacks('Esc interrupts');
    await screen.shows('[explore] read the tests · running');
    await screen.shows(/default · .*1 agent · sonnet/);
    session.emit(runs.runEnd(8), 'a');
    session.emit(runs.announcement('a', 'Found **it**.'));
    await screen.lacks('[explore] read the tests · running');
    await screen.shows('[explore] read the tests - done (8 tools, 5.1s)\n  Found it.\n\n─');
    expect(screen.window()).not.toContain('Stats');
  });

  test('is entered by Down and left by Up or Esc, and that Esc does not interrupt the turn', async () => {
    const {screen, session} = await working();
    screen.type(DOWN);
    await screen.shows('> [code] write the docs · running');
    screen.type(DOWN);
    await screen.shows('> [explore] read the tests');
    screen.type(UP);
    await screen.shows('> [code]');
    screen.type(UP);
    await screen.lacks('[code] write the docs · running');
    screen.type(DOWN);
    await screen.shows('> [code]');
    screen.type(ESC);
    await screen.lacks('> [code]');
    expect(session.aborts()).toBe(0);
  });

  test('passes typed text on to the prompt', async () => {
    const {screen} = await working();
    screen.type(DOWN);
    await screen.shows('> [code]');
    screen.type('words');
    await screen.shows('> words');
    expect(screen.window()).not.toContain('> [code]');
    screen.type(DOWN);
    screen.type('!');
    await screen.shows('> words!');
    expect(screen.window()).not.toContain('> [code]');
  });

  test('is entered by Down only after the end of the prompt history', async () => {
    const {screen} = await working({history: [{text: 'older'}]});
    screen.type(UP);
    await screen.shows(/^> go$/m);
    screen.type(`${UP}`);
    await screen.shows('> older');
    screen.type(DOWN);
    screen.type(DOWN);
    await screen.shows('> Ask about');
    expect(screen.window()).not.toContain('> [code]');
    screen.type(DOWN);
    await screen.shows('> [code]');
  });

  test('gives its keys to the completion list and to a question', async () => {
    const {screen, session} = await working();
    screen.type('/');
    await screen.lacks('[explore] read the tests · running');
    screen.type('\x7f');
    await screen.shows('[explore] read the tests · running');
    session.emit({type: 'ask', question: question()});
    await screen.shows('Run this command?');
    screen.pass(1000);
    screen.type(DOWN);
    await screen.shows('> 1 yes');
    expect(screen.window()).not.toContain('> [code]');
  });

  test('of many runs fits a small window together with all other parts', async () => {
    const {screen, session} = await open({columns: 40, rows: 15});
    screen.type('go\r');
    await screen.shows('Esc interrupts');
    for (let index = 0; index < 40; index++) {
      session.emit(runs.started(`explore part ${index} of it`), `s${index}`);
      if (index % 2 === 0) session.emit(runs.background, `s${index}`);
    }
    await screen.shows('… 16 more');
    await screen.shows(/… 18 running/);
    const window = screen.window().split('\n');
    expect(window.length).toBeLessThanOrEqual(15);
    expect(window.every((line) => line.length <= 40)).toBe(true);
    expect(screen.written()).not.toContain('\x1b[2J');
  });
});

describe('an opened run', () => {
  async function opened(options: Parameters<typeof open>[0] = {}) {
    const repl = await working(options);
    repl.screen.type(DOWN);
    await repl.screen.shows('> [code]');
    repl.screen.type(DOWN);
    await repl.screen.shows('> [explore]');
    repl.screen.type('\r');
    await repl.screen.shows('· running · Esc back');
    return repl;
  }

  test('shows its newest lines as they come, and nothing of them stays when it is closed', async () => {
    const {screen, session} = await opened();
    await screen.shows('Esc back\n● Grep "foo"\n  src/a.ts:1: foo\nI read **all**.\n');
    await screen.shows('> message to [explore] read the tests');
    session.emit(runs.delta('Now the'), 'a');
    await screen.shows('Now the');
    session.emit(runs.delta(' sources.'), 'a');
    await screen.shows('Now the sources.');
    screen.type(ESC);
    await screen.shows('> Ask about');
    await screen.shows('Esc interrupts');
    expect(session.aborts()).toBe(0);
    expect(screen.scrollback()).not.toContain('Now the sources');
    screen.type(ESC);
    await screen.shows('interrupted');
    expect(session.aborts()).toBe(1);
  });

  test('gets the typed text, slash commands too; the main agent does not get it', async () => {
    const {screen, session} = await opened();
    screen.type('/look at b.ts');
    await screen.shows('> /look at b.ts');
    screen.type('\r');
    await screen.shows('[explore] read the tests: /look at b.ts');
    await screen.shows('Sent: [explore] read the tests reads it at its next turn.');
    expect(session.requests).toEqual([{type: 'send_to_run', run: 'a', message: '/look at b.ts'}]);
    expect(session.submitted).toEqual(['go']);
    screen.type('unsent');
    await screen.shows('> unsent');
    screen.type(ESC);
    await screen.shows('> Ask about');
    screen.type('\x19');
    await screen.shows('> unsent');
  });

  test('can be read after its end, and can get a message then', async () => {
    const {screen, session} = await opened();
    session.emit(runs.runEnd(8), 'a');
    session.emit(runs.announcement('a', 'All found.'));
    await screen.shows('[explore] read the tests · done · Esc back');
    await screen.shows('All found.');
    screen.type('go on\r');
    await screen.shows('[explore] read the tests: go on');
    expect(session.requests).toEqual([{type: 'send_to_run', run: 'a', message: 'go on'}]);
    screen.type(ESC);
    await screen.lacks('Esc back');
  });

  test('fits a small window, and finished items are printed above it once', async () => {
    const {screen, session} = await opened({columns: 40, rows: 15});
    for (let index = 0; index < 80; index++) session.emit(runs.reply(`line ${index} ${'word '.repeat(10)}`), 'a');
    await screen.shows('line 79');
    session.emit(runs.delta('Main **words**.\n\n'), 'main');
    await expect.poll(screen.scrollback).toContain('Main words.');
    expect(screen.window().split('\n').length).toBeLessThanOrEqual(15);
    screen.type(ESC);
    await screen.shows('> Ask about');
    expect(screen.scrollback().match(/Main words\./g)).toHaveLength(1);
    expect(screen.scrollback()).not.toContain('line 79');
    expect(screen.written()).not.toContain('\x1b[2J');
  });
});

describe('Ctrl+B', () => {
  test('sends awaited runs to the background', async () => {
    const {screen, session} = await working();
    await screen.shows('Ctrl+B background');
    screen.type(CTRL_B);
    await until(() => session.requests.length === 1);
    expect(session.requests).toEqual([{type: 'detach_runs'}]);
    session.emit(runs.background, 'b');
    await screen.shows('[code] write the docs · running');
    await screen.lacks('> Task: write the docs');
    screen.type(CTRL_B);
    screen.type('x');
    await screen.shows('> x');
    expect(session.requests).toHaveLength(1);
  });

  test('moves the cursor when no run is awaited', async () => {
    const {screen, session} = await open();
    screen.type('ac');
    await screen.shows('> ac');
    screen.type(`${CTRL_B}b`);
    await screen.shows('> abc');
    expect(session.submitted).toEqual([]);
  });
});
