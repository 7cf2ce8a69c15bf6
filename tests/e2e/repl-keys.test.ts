/**
 * Every key and every form of input of docs/keys.md, in one session that a shell started: each test begins and ends with an
 * empty prompt, in any order.
 */
import {appendFileSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {afterAll, afterEach, beforeEach, describe, expect, it} from 'vitest';
import {answer} from '../support/questions.ts';
import type {Key} from '../support/terminal.ts';
import {until} from '../support/wait.ts';
import {asked, EMPTY, ONE_PIXEL, startShell} from './repl-keys-fixture.ts';

const LONG = Array.from({length: 301}, (_, index) => `line ${index}`).join('\n');

const shell = await startShell();
afterAll(shell.close);
const {terminal, server, workspace, screen, prompt, holds, shows, lacks, idle, type, enter, send, command} = shell;

await shell.start();
beforeEach(idle);
// What was printed stays: nothing clears the screen or the scrollback.
afterEach(() => expect(terminal.raw()).not.toMatch(/\x1b\[[23]J/));

describe('what is typed', () => {
  it('takes several lines: by a backslash, Ctrl+J, and Shift+Enter or Alt+Enter as terminals tell them', async () => {
    terminal.type('one\\\r');
    await holds('one\n');
    terminal.type('two\nthree\x1b[13;2ufour\x1b[27;2;13~five\x1b\rsix');
    await holds('one\ntwo\nthree\nfour\nfive\nsix');
    terminal.press('up', 'up', 'ctrl-a');
    terminal.type('now ');
    await holds('one\ntwo\nthree\nnow four\nfive\nsix');
    expect(asked(await enter())).toContain('one\\ntwo\\nthree\\nnow four\\nfive\\nsix');
  });

  it('shows a long paste as a chip; it is sent whole, and recalled whole by Up', async () => {
    terminal.type('look: ');
    terminal.paste(LONG);
    await holds('look: [Pasted 301 lines]');
    const whole = JSON.stringify(`look: ${LONG}`).slice(1, -1);
    expect(asked(await enter())).toContain(whole);
    await idle();
    terminal.press('up');
    await holds('look: [Pasted 301 lines]');
    expect(asked(await enter())).toContain(whole);
    await idle();
    expect(terminal.text()).not.toContain('line 200');
    // Without bracketed paste the lines come at once, and so do those of a short one.
    terminal.paste('a few\nlines\tof text');
    await shows('> a few\n  lines');
    expect(asked(await enter())).toContain('a few\\nlines\\tof text');
  });

  it('is edited by the keys of readline', async () => {
    await type('alpha beta-gamma delta');
    const steps: [keys: Key[], text: string][] = [
      [['ctrl-a', 'ctrl-d'], 'lpha beta-gamma delta'],
      [['ctrl-f', 'ctrl-f', 'ctrl-b', 'ctrl-h'], 'pha beta-gamma delta'],
      [['ctrl-e', 'ctrl-w'], 'pha beta-gamma '],
      [['alt-b', 'ctrl-k'], 'pha beta-'],
      [['ctrl-y', 'ctrl-y'], 'pha beta-gamma gamma '],
      [['home', 'alt-f', 'alt-d'], 'pha-gamma gamma '],
      [['right', 'ctrl-u'], 'gamma gamma '],
      [['end', 'ctrl-y'], 'gamma gamma pha-'],
      [['left', 'delete', 'backspace'], 'gamma gamma ph'],
    ];
    for (const [keys, text] of steps) {
      terminal.press(...keys);
      await holds(text.trimEnd());
    }
    // Ctrl+Left and Ctrl+Right go by words, as Alt does.
    terminal.type('\x1b[1;5D+\x1b[1;5C!');
    await holds('gamma gamma +ph!');
    terminal.press('ctrl-c');
  });

  it('is undone by words; what is cleared comes back too', async () => {
    await type('one');
    terminal.type(' ');
    terminal.type('two');
    await holds('one two');
    terminal.press('ctrl-u');
    await holds(EMPTY);
    terminal.press('ctrl-_');
    await holds('one two');
    terminal.press('ctrl-_');
    await holds('one');
    terminal.press('ctrl-c');
    await holds(EMPTY);
    terminal.press('ctrl-_');
    await holds('one');
    terminal.press('ctrl-c');
  });

  it('may have wide characters, combining marks and joined emoji: each is one', async () => {
    terminal.type('ab漢字e\u0301👩\u200d👩\u200d👧x');
    await terminal.waitFor(() => /^ab漢字e\u0301.*x$/.test(prompt()));
    terminal.press('left', 'backspace', 'left', 'backspace');
    await holds('ab漢e\u0301x');
    terminal.press('home', 'delete', 'end');
    await terminal.waitFor(() => prompt() === 'b漢e\u0301x' && terminal.cursor.x === 7);
    expect(asked(await enter())).toContain('b漢e\u0301x');
  });

  it('goes through earlier prompts by Up and Down, and Ctrl+R finds one by a part of it', async () => {
    await send('alpha first');
    await idle();
    await send('beta second');
    await idle();
    await type('a draft');
    terminal.press('up');
    await holds('beta second');
    terminal.press('up');
    await holds('alpha first');
    terminal.press('down', 'down');
    await holds('a draft');
    terminal.type('\x12FIRS');
    await holds('alpha first');
    terminal.type('zz');
    await shows('FIRSzz (not found)');
    terminal.press('ctrl-c');
    await holds('a draft');
    terminal.press('ctrl-u', 'ctrl-r');
    terminal.type('a');
    await holds('beta second');
    // All that is found is a list, in which the keys move.
    await shows('  alpha first');
    terminal.press('down');
    await holds('alpha first');
    terminal.press('up');
    await holds('beta second');
    terminal.press('ctrl-r');
    await holds('alpha first');
    terminal.press('escape');
    await lacks('history: ');
    terminal.type('!');
    await holds('alpha first!');
    terminal.press('ctrl-c', 'ctrl-r');
    terminal.type('secon');
    await holds('beta second');
    expect(asked(await enter())).toContain('beta second');
  });

  it('searches the prompts of all folders after Ctrl+S in Ctrl+R, and those of this one after another', async () => {
    await send('gamma here');
    await idle();
    const line = {cwd: '/elsewhere', prompt: 'gamma elsewhere', at: Date.now()};
    appendFileSync(path.join(shell.home.path, '.mini-cc', 'history.jsonl'), `${JSON.stringify(line)}\n`);
    terminal.type('\x12gamma');
    await holds('gamma here');
    terminal.type('\x13');
    await holds('gamma elsewhere');
    terminal.type('\x13');
    await holds('gamma here');
    terminal.press('ctrl-c');
  });

  it('completes files after an @, and what it names goes before the model', async () => {
    await type('compare @grts with');
    terminal.press('left', 'left', 'left', 'left', 'left');
    terminal.type('x');
    terminal.press('backspace');
    await shows('\n> src/greet.ts');
    terminal.press('tab');
    await holds('compare @src/greet.ts with');
    terminal.press('end');
    terminal.type(' @todo');
    await shows('\n> my notes/to do.md');
    terminal.press('enter');
    await holds('compare @src/greet.ts with @"my notes/to do.md"');
    // A file that is made now is found too, once the list is two seconds old: each key searches it.
    await workspace.write('fresh.txt', 'new');
    terminal.type('and @tests. ');
    const typed = 'compare @src/greet.ts with @"my notes/to do.md" and @tests.';
    const finds = async () => {
      await holds(typed);
      terminal.type('@fresh');
      await holds(`${typed} @fresh`);
      if (screen().includes('\n> fresh.txt')) return true;
      terminal.press('ctrl-w');
      return false;
    };
    await until(finds, 'the new file in the list');
    terminal.press('escape');
    await lacks('\n> fresh.txt');
    const text = asked(await enter());
    expect(text).toMatch(
      /names @src\/greet\.ts\. It contains:.*export.*names @my notes\/to do\.md.*buy milk.*compare @src/s,
    );
    expect(text).toMatch(/names @tests\..*greet\.test\.ts/s);
    expect(text).not.toContain('names @fresh');
  });

  it('completes commands after a /, also those of the project with what they take', async () => {
    terminal.type('/hlp');
    await shows('\n> /help ');
    terminal.press('escape');
    await lacks('\n> /help ');
    terminal.press('ctrl-c');
    terminal.type('/shi');
    await shows(/^> \/ship +Ships it · WHERE$/m);
    terminal.press('tab');
    await holds('/ship');
    terminal.type('Mars');
    await holds('/ship Mars');
    expect(asked(await enter())).toContain('Ship it to Mars.');
  });

  it('runs a line that begins with !, and its output goes before the model with the next prompt', async () => {
    const count = server.requests.length;
    await command('!touch made && echo "one two" | tr a-z A-Z', 'ONE TWO');
    expect(await workspace.read('made')).toBe('');
    await idle();
    // A terminal shows the end of a progress bar.
    await command(String.raw`!printf '1 %%\r2 %%\n'`, /^2 %$/m);
    await idle();
    await command('!cd src; false', 'exit code 1');
    await idle();
    await command('!pwd; seq 30000', /characters cut; the whole/);
    await idle();
    // Esc ends a command.
    await command('!echo begun; sleep 60', /^ {2}begun$/m);
    terminal.press('escape');
    await idle();
    expect(server.requests).toHaveLength(count);
    const text = asked(await send('what is new?'));
    expect(text).toMatch(/\$ touch made.*ONE TWO.*exit code 1.*characters cut.*what is new\?/s);
    expect(text).toContain(`${workspace.path}/src:\\n$ pwd`);
    expect(text.length).toBeLessThan(40_000);
  });

  it('keeps a #note in the memory file that is chosen, and tells the model', async () => {
    const before = await workspace.read('CLAUDE.md');
    await command('#', 'Type a note after the #');
    await idle();
    await command('#call the greeter Bob', '1 CLAUDE.md (this project)');
    await answer(terminal, '1 CLAUDE.md (this project)', 'escape');
    await terminal.waitFor('Nothing was noted.');
    await holds('#call the greeter Bob');
    terminal.press('enter');
    await answer(terminal, '1 CLAUDE.md (this project)', '1');
    await idle();
    expect(await workspace.read('CLAUDE.md')).toBe(`${before.trimEnd()}\n- call the greeter Bob\n`);
    const text = asked(await send('hello'));
    expect(text).toMatch(/added this note to .*CLAUDE\.md: call the greeter Bob.*hello/);
  });

  it('takes images: by a path that is dropped, and by Ctrl+V, which says where there is none', async () => {
    terminal.paste(path.join(workspace.path, 'dot.png'));
    await holds(`@${workspace.path}/dot.png`);
    expect(asked(await enter())).toMatch(/names @\S*dot\.png\..*"type":"image"/);
    await idle();
    terminal.type('look at ');
    await holds('look at');
    terminal.press('ctrl-v');
    await shows('The clipboard has no image.');
    writeFileSync(path.join(shell.home.path, 'copied'), '');
    terminal.press('ctrl-v');
    await holds('look at [Image 1]');
    terminal.type('please');
    await holds('look at [Image 1] please');
    expect((await enter()).messages.at(-1)!.content).toMatchObject([
      {type: 'image', source: {type: 'base64', media_type: 'image/png', data: ONE_PIXEL}},
      {type: 'text', text: 'look at [Image 1] please'},
    ]);
  });
});

describe('keys', () => {
  it('? lists them; in a text it is a letter; Shift+Tab goes through the permission modes', async () => {
    terminal.type('?');
    await terminal.waitFor(/Ctrl\+_ +undo/);
    await type('what?');
    terminal.press('ctrl-c');
    for (const mode of ['acceptEdits', 'plan', 'default']) {
      terminal.press('shift-tab');
      await shows(new RegExp(`^${mode} · `, 'm'));
    }
  });

  it('Ctrl+G edits the prompt in $EDITOR, and Ctrl+L draws it again', async () => {
    await type('some words');
    terminal.press('ctrl-g');
    await holds('some words, edited');
    const before = terminal.raw().length;
    terminal.press('ctrl-l');
    await terminal.waitFor(() => terminal.raw().slice(before).includes('some words, edited'));
    await holds('some words, edited');
    expect(screen().split('some words, edited')).toHaveLength(2);
    terminal.press('ctrl-c');
  });

  it('Ctrl+O shows results that are folded, beside the main screen', async () => {
    await send('count up');
    await terminal.waitFor(/more lines|earlier lines/);
    await idle();
    terminal.press('ctrl-o');
    await shows('q back');
    // Keys that come at once are keys all the same.
    terminal.type('g/57\r');
    await shows(/^ {2}57$/m);
    terminal.type('Gq');
    await lacks('q back');
  });

  it('Ctrl+T shows the todos also between turns, and hides them; where there are none it says so', async () => {
    terminal.press('ctrl-t');
    await shows('There are no todos');
    await send('write todos');
    await terminal.waitFor('✓ Todos · 0 of 1 done');
    await idle();
    terminal.press('ctrl-t');
    await shows('[ ] Press all keys');
    terminal.press('ctrl-t');
    await lacks('[ ] Press all keys');
  });

  it('Esc Esc goes back to an earlier prompt, when nothing is typed', async () => {
    await type('a prompt to go back to');
    await enter();
    await idle();
    terminal.press('escape');
    await shows('press Esc again to go back to an earlier prompt');
    terminal.press('escape');
    await answer(terminal, /go back to before which prompt\?/i, 'escape');
  });

  it('Ctrl+Z suspends mini-cc, and fg brings it back', async () => {
    await type('kept');
    terminal.press('ctrl-z');
    await terminal.waitFor(/mini-cc is suspended; fg brings it back\.(?:.|\n)*Stopped/);
    terminal.type('echo in the shell\r');
    await terminal.waitFor(/^in the shell$/m);
    terminal.type('fg\r');
    await terminal.waitFor(() => terminal.screen().lastIndexOf('> kept') > terminal.screen().lastIndexOf('$ fg'));
    terminal.type(' on');
    await holds('kept on');
    terminal.press('ctrl-c');
  });

  it('Ctrl+Z and fg show the width that the window got meanwhile', async () => {
    terminal.press('ctrl-z');
    await terminal.waitFor(() => /Stopped[^─]*$/.test(screen()));
    terminal.resize(60, 40);
    terminal.type('fg\r');
    await shows(/^─{60}\n> /m);
    terminal.resize(100, 40);
    await shows(/^─{100}\n> /m);
  });
});

describe('during a turn', () => {
  it('what is sent waits; Up takes the newest of it back, Esc all of it while it stops the turn', async () => {
    await send('talk on');
    await shows(/^never .*\n\n. Writing · .*Esc interrupts/m);
    const count = server.requests.length;
    for (const text of ['second', 'third']) {
      await type(text);
      terminal.press('enter');
      await shows(`queued: ${text}`);
    }
    terminal.press('up');
    await holds('third');
    expect(screen()).not.toContain('queued: third');
    terminal.press('escape');
    await shows('interrupted');
    await holds('second\n\nthird');
    expect(asked(await enter())).toContain('second\\n\\nthird');
    // What waited was not sent by itself before.
    expect(server.requests).toHaveLength(count + 1);
  });

  it('the output of ! waits for the next prompt, and Ctrl+C interrupts and keeps what is typed', async () => {
    await send('talk on, please');
    await shows(/^never .*\n\n. Writing · .*Esc interrupts/m);
    const count = server.requests.length;
    await command('!echo beside', /^beside$/m);
    await type('and now?');
    terminal.press('ctrl-c');
    await lacks('Esc interrupts');
    await holds('and now?');
    expect(server.requests).toHaveLength(count);
    expect(asked(await enter())).toMatch(/echo beside.*and now\?/);
  });

  it('Ctrl+B sends the agents that are waited for to the background; leaving asks once more for them', async () => {
    await send('send an agent');
    await shows('[explore] look around');
    await terminal.waitFor(() => server.active > 0 && /Ctrl\+B background/.test(screen()));
    terminal.press('ctrl-b');
    await idle();
    await shows('· 1 agent ·');
    terminal.press('ctrl-d');
    await shows('1 agent running. Press Ctrl+D again to stop it and quit.');
    // Another key takes the question away.
    await type('x');
    terminal.press('ctrl-d');
    await holds('x');
    terminal.press('backspace');
    await idle();
    await command('/stop', 'Stopped, with 1 subagent.');
    await idle();
  });
});
