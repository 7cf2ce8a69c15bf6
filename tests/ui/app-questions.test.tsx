import {describe, expect, test} from 'vitest';
import type {Question} from '../../src/core/contract/events.ts';
import type {Session} from '../../src/core/contract/session-requests.ts';
import {QUIET_MS} from '../../src/ui/input/question-keys.ts';
import {until} from '../support/wait.ts';
import {CTRL_C, CTRL_D, ESC, open, SHIFT_TAB} from './app-fixture.ts';
import {question} from './fake-session.ts';

describe('a question', () => {
  async function ask(change: Partial<Question> = {}, typed = '') {
    const repl = await open();
    repl.screen.type('go\r');
    await repl.screen.shows('Esc interrupts');
    if (typed) {
      repl.screen.type(typed);
      await repl.screen.shows(`> ${typed}`);
    }
    repl.session.emit({type: 'ask', question: question(change)});
    await repl.screen.shows('Run this command?');
    return repl;
  }

  test('is answered by its digit', async () => {
    const {screen, session} = await ask();
    screen.pass(QUIET_MS);
    screen.type('2');
    await screen.lacks('1 yes');
    expect(session.answers).toEqual([{id: 'ask-1', answer: {choice: 'session'}}]);
  });

  test('lets the person change the command before it runs: e, the changed line, Enter', async () => {
    const call = {callId: 'call-1', tool: 'bash', input: {command: 'npm test', timeout: 5}};
    const {screen, session} = await ask({call, detail: 'npm test'});
    expect(screen.window()).toContain('e changes the command.');
    screen.pass(QUIET_MS);
    screen.type('e');
    await screen.shows('$ npm test');
    screen.type(' -- a');
    await screen.shows('$ npm test -- a');
    screen.type('\r');
    await screen.lacks('$ npm');
    const input = {command: 'npm test -- a', timeout: 5};
    expect(session.answers).toEqual([{id: 'ask-1', answer: {choice: 'yes', input}}]);
  });

  test('says what the model wants the call for, and explains the call by Ctrl+E, once', async () => {
    const call = {callId: 'call-1', tool: 'bash', input: {command: 'npm test', description: 'Run the tests'}};
    const {screen, session} = await ask({call});
    expect(screen.window()).toContain('  npm test\n  Run the tests\n');
    expect(screen.window()).toContain('Ctrl+E explains it.');
    let explain: (text: string) => void = () => undefined;
    session.explanation = new Promise((resolve) => {
      explain = resolve;
    });
    screen.pass(QUIET_MS);
    screen.type('\x05\x05');
    await screen.shows('Asking the model what this call does');
    explain('It runs the tests,\nand changes nothing.');
    await screen.shows('  The model says: It runs the tests, and changes nothing.');
    expect(screen.window()).not.toContain('Ctrl+E');
    expect(session.requests.filter(({type}) => type === 'explain_call')).toEqual([
      {type: 'explain_call', question: 'ask-1'},
    ]);
    screen.type('1');
    await screen.lacks('1 yes');
    expect(session.answers).toEqual([{id: 'ask-1', answer: {choice: 'yes'}}]);
  });

  test('says why there is no explanation', async () => {
    const {screen, session} = await ask({call: {callId: 'call-1', tool: 'bash', input: {command: 'npm test'}}});
    session.explanation = Promise.reject(new Error('the server answered 503'));
    screen.pass(QUIET_MS);
    screen.type('\x05');
    await screen.shows('No explanation: the server answered 503');
  });

  test('offers no change of a command of several lines, or where a yes is no answer', async () => {
    const several = {callId: 'call-1', tool: 'bash', input: {command: 'a\nb'}};
    const {screen, session} = await ask({call: several});
    expect(screen.window()).not.toContain('e changes');
    screen.pass(QUIET_MS);
    screen.type('e');
    await screen.shows('> e');
    expect(session.answers).toEqual([]);
  });

  test('leaves Shift+Tab to the permission mode, which may answer it', async () => {
    const {screen, session} = await ask();
    screen.type(SHIFT_TAB);
    await screen.shows('acceptEdits · ');
    expect(session.submitted).toEqual(['go']);
    expect(session.answers).toEqual([]);
    // Terminals with the kitty protocol send this.
    screen.type('\x1b[9;2u');
    await screen.shows('plan · ');
  });

  test('is printed in full once when the window is too low for it', async () => {
    const repl = await open({rows: 10, columns: 60});
    repl.screen.type('go\r');
    await repl.screen.shows('Esc interrupts');
    repl.session.emit({type: 'ask', question: question({detail: 'one\ntwo\nthree\nfour\nfive'})});
    await repl.screen.shows('more rows above');
    for (const line of ['two', 'three', 'four', 'five']) {
      const lines = () => repl.screen.scrollback().split('\n');
      await until(() => lines().some((text) => text.trim() === line));
      expect(lines().filter((text) => text.trim() === line)).toHaveLength(1);
    }
  });

  test.each([100, 30])('of some sentences is in full on the screen once in %i columns', async (columns) => {
    const {screen, session} = await open({columns});
    const title = 'The first sentence asks. The second one explains it. The third says why it matters. Which end?';
    session.emit({type: 'ask', question: question({title, detail: ''})});
    await screen.shows('1 yes');
    await until(() => screen.scrollback().includes('Which end?'));
    expect(screen.scrollback().match(/Which end/g)).toHaveLength(1);
  });

  test('is shown also when the name of its agent is very long', async () => {
    const repl = await open();
    repl.session.emit({type: 'ask', question: question({agent: `[code] ${'tidy up '.repeat(50)}`})});
    await repl.screen.shows('…: Run this command?');
  });

  test('ignores keys in its first 0.3 s: they go to the prompt', async () => {
    const {screen, session} = await ask();
    screen.type('1');
    await screen.shows('> 1');
    screen.pass(QUIET_MS);
    screen.type('2');
    await screen.shows('> 12');
    expect(session.answers).toEqual([]);
  });

  const LIST = {
    options: [],
    list: ['one', 'two'].map((choice) => ({choice, label: `session ${choice}`})),
    escape: 'leave',
  };

  test('with a list takes what is typed and pasted at once, but no Enter in its first 0.3 s', async () => {
    const {screen, session} = await ask(LIST);
    screen.type('t');
    screen.type('\x1b[200~wo\x1b[201~');
    screen.type('\r');
    await screen.shows('find: two');
    screen.type(' ');
    await screen.shows(/find: two\s/);
    expect(session.answers).toEqual([]);
    screen.pass(QUIET_MS);
    screen.type('\r');
    await screen.lacks('Run this command?');
    expect(session.answers).toEqual([{id: 'ask-1', answer: {choice: 'two'}}]);
  });

  test('with a list leaves keys to a text that is typed, until Tab goes to it', async () => {
    const {screen, session} = await ask(LIST, 'fix it');
    await screen.shows('Press Tab to answer this question.');
    screen.type('\t');
    await screen.shows('Type to find');
    screen.type('\t');
    await screen.shows('Press Tab to answer this question.');
    screen.pass(QUIET_MS);
    screen.type('\t');
    await screen.shows('Type to find');
    screen.type('two');
    await screen.shows('find: two');
    screen.type('\r');
    await screen.lacks('Run this command?');
    expect(session.answers).toEqual([{id: 'ask-1', answer: {choice: 'two'}}]);
    expect(screen.window()).toContain('> fix it');
  });

  test('ignores keys while text is typed, until Tab goes to it', async () => {
    const {screen, session} = await ask({}, 'my words');
    screen.pass(QUIET_MS);
    screen.type('1');
    await screen.shows('> my words1');
    screen.type('\t');
    await screen.shows('or use the arrows');
    screen.type('1');
    await screen.lacks('1 yes');
    expect(session.answers).toEqual([{id: 'ask-1', answer: {choice: 'yes'}}]);
    expect(screen.window()).toContain('> my words1');
  });

  test('takes a reason for the model with the answer no', async () => {
    const {screen, session} = await ask();
    screen.pass(QUIET_MS);
    screen.type('4');
    await screen.shows('why:');
    screen.type('use make');
    const window = await screen.shows('why: use make');
    const row = window.split('\n').findIndex((line) => line.includes('why: use make'));
    expect(screen.cursor()).toEqual({x: 17, y: row});
    screen.type('\r');
    await screen.lacks('1 yes');
    expect(session.answers).toEqual([{id: 'ask-1', answer: {choice: 'no', note: 'use make'}}]);
  });

  test('of a subagent leaves the cursor at the start of the live part, since answers may stream meanwhile', async () => {
    const {screen} = await ask({agent: '[code] fix it', runId: 'run-1'});
    await screen.shows('[code] fix it');
    expect(screen.cursor()).toEqual({x: 0, y: 2});
  });

  test('waits for the one before it, and a long diff is printed in full above it', async () => {
    const {screen, session} = await ask();
    const detail = Array.from({length: 60}, (_, index) => `+line ${index}`).join('\n');
    session.emit({type: 'ask', question: question({id: 'ask-2', title: 'edit a file', detail, detailType: 'diff'})});
    await screen.shows('(1 of 2)');
    screen.pass(QUIET_MS);
    screen.type('1');
    await screen.shows('edit a file');
    expect(screen.scrollback()).toContain('+line 0\n');
    expect(screen.scrollback()).toContain('+line 59\n');
    screen.type('1');
    await screen.shows('> 1');
    screen.type('\x7f');
    await screen.lacks('> 1');
    screen.pass(QUIET_MS);
    screen.type(ESC);
    await screen.lacks('1 yes');
    expect(session.answers.map(({answer}) => answer.choice)).toEqual(['yes', 'no']);
  });
});

describe('leaving', () => {
  test('by two presses of Ctrl+C restores the terminal and says how to resume', async () => {
    const {screen, session, exit} = await open();
    screen.type('go\r');
    await screen.shows('Esc interrupts');
    screen.type(CTRL_C);
    await screen.shows('interrupted');
    screen.type('half');
    await screen.shows('> half');
    screen.type(CTRL_C);
    await screen.lacks('half');
    screen.type(CTRL_C);
    await screen.shows('press Ctrl+C again to leave');
    expect(screen.isRaw()).toBe(true);
    screen.type(CTRL_C);
    expect(await exit).toBe(0);
    await screen.shows(/interrupted\n\nTook \S+\nResume this session: mini-cc --resume session-1$/);
    expect(session.closed()).toBe(true);
    expect(screen.isRaw()).toBe(false);
    expect(screen.written()).toContain('\x1b[?2004l');
    expect(screen.written().lastIndexOf('\x1b[?25h')).toBeGreaterThan(screen.written().lastIndexOf('\x1b[?25l'));
  });

  test('by Ctrl+D needs an empty prompt', async () => {
    const {screen, exit} = await open();
    screen.type('x');
    await screen.shows('> x');
    screen.type(CTRL_D);
    screen.type('\x7f');
    await screen.lacks('> x');
    screen.type(CTRL_D);
    expect(await exit).toBe(0);
    expect(screen.scrollback()).not.toContain('Resume');
  });

  test('by /exit closes the session', async () => {
    const {screen, exit} = await open();
    screen.type('/exit');
    screen.type('\r');
    expect(await exit).toBe(0);
  });

  test.each([
    [Object.assign(new Error('Unknown session: x'), {code: 'USAGE'}), 2],
    [new Error('disk full'), 1],
  ])('happens when the session does not open: %s', async (error, code) => {
    const {promise, reject} = Promise.withResolvers<Session>();
    const {screen, exit} = await open({opening: promise});
    reject(error);
    expect(await exit).toBe(code);
    expect(screen.errors()).toBe(`mini-cc: ${error.message}\n`);
    expect(screen.isRaw()).toBe(false);
  });
});

describe('the window', () => {
  test('shows the end of a stream of 100,000 characters, and the scrollback has all of it once', async () => {
    const {screen, session} = await open({columns: 80, rows: 24});
    screen.type('go\r');
    await screen.shows('Esc interrupts');
    const parts = Array.from(
      {length: 400},
      (_, index) => `Paragraph ${index} ${'words '.repeat(30)}\n\n\`\`\`js\ncode(${index});\n\`\`\`\n\n`,
    );
    const text = parts.join('');
    for (let at = 0; at < text.length; at += 400) {
      session.emit({type: 'text_delta', text: text.slice(at, at + 400)});
      const {length} = screen.written();
      if (at % 20_000 === 0) await screen.until(() => screen.written().length > length, 'no frame was drawn');
    }
    session.endTurn();
    await screen.shows('code(399);');
    await screen.lacks('Esc interrupts');
    const lines = screen.scrollback().split('\n');
    const codes = lines.filter((line) => /^ {2}code\(\d+\);$/.test(line));
    expect(codes).toEqual(Array.from({length: 400}, (_, index) => `  code(${index});`));
    expect(lines.filter((line) => line.startsWith('Paragraph '))).toHaveLength(400);
    expect(screen.written()).not.toContain('\x1b[3J');
    expect(screen.written()).not.toContain('\x1b[2J');
    expect(lines.filter((line) => line.includes('Esc interrupts'))).toEqual([]);
  });

  test('keeps the conversation when it is resized', async () => {
    const {screen, session} = await open();
    screen.type('go\r');
    await screen.shows('Esc interrupts');
    session.emit({type: 'text_delta', text: 'First words.\n\nLast words.'});
    session.endTurn();
    await screen.shows('Last words.');
    for (const [columns, rows] of [
      [40, 15],
      [100, 30],
      [60, 10],
    ] as const) {
      screen.resize(columns, rows);
      await screen.shows('> Ask about');
    }
    expect(screen.scrollback().match(/First words\./g)).toHaveLength(1);
    expect(screen.scrollback().match(/Last words\./g)).toHaveLength(1);
  });
});
