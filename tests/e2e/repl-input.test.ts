import {chmodSync, mkdirSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {describe, expect, it, onTestFinished} from 'vitest';
import {say} from '../support/messages-server.ts';
import {cliEnvironment, cliPath} from '../support/run-cli.ts';
import {slow} from '../support/scripted-replies.ts';
import {startTerminal, type Terminal} from '../support/terminal.ts';
import {home, project, serve} from './fixture.ts';
import {idle, repl, send} from './repl-fixture.ts';

describe('a line that begins with !', () => {
  it('runs in the shell without a question, shows its output, and goes before the model with the next prompt', async () => {
    const server = await serve([say('I saw it.'), slow(say('A long answer.'), 200), say('I saw both.')]);
    const workspace = await project();
    const terminal = await repl({server, cwd: workspace.path});
    await send(terminal, '!touch made && echo "one two" | tr a-z A-Z');
    await terminal.waitFor('ONE TWO');
    expect(await workspace.read('made')).toBe('');
    expect(server.requests).toHaveLength(0);
    await idle(terminal);
    await send(terminal, '!cd src; false');
    await terminal.waitFor('exit code 1');
    await send(terminal, '!pwd; seq 30000');
    await terminal.waitFor(/characters cut; the whole/);
    await send(terminal, 'what is new?');
    await terminal.waitFor('I saw it.');
    const {messages} = server.requests[0]!.body;
    const text = JSON.stringify(messages);
    expect(text).toMatch(/\$ touch made.*ONE TWO.*exit code 1.*characters cut.*what is new\?/s);
    expect(text).toContain(`${workspace.path}/src:\\n$ pwd`);
    expect(text.length).toBeLessThan(40_000);

    // Esc ends a command. During a turn, the output waits for the next prompt.
    await idle(terminal);
    await send(terminal, '!echo begun; sleep 60');
    await terminal.waitFor(/^ {2}begun$/m);
    terminal.press('escape');
    await terminal.waitFor('interrupted');
    await idle(terminal);
    await send(terminal, 'go');
    await server.waitForRequests(2);
    await send(terminal, '!echo beside');
    await terminal.waitFor(/^beside$/m);
    await terminal.waitFor('A long answer.');
    await idle(terminal);
    expect(server.requests).toHaveLength(2);
    await send(terminal, 'and now?');
    await terminal.waitFor('I saw both.');
    expect(JSON.stringify(server.requests[2]!.body.messages.slice(-2))).toMatch(/echo beside.*and now\?/);
  });
});

const ONE_PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const LONG = Array.from({length: 301}, (_, index) => `line ${index}`).join('\n');

/** Waits until a row of the window is exactly this. */
const shows = (terminal: Terminal, row: string) => terminal.waitFor((at) => at.screen().includes(row));
/** The prompt holds it: a prompt that was sent looks alike, further up. */
const holds = (terminal: Terminal, text: string) =>
  terminal.waitFor((at) => at.screen().findLast((row) => row.startsWith('> ')) === `> ${text}`);

describe('the prompt', () => {
  it('completes files after an @, and what it names goes before the model', async () => {
    const server = await serve([say('I read them.')]);
    const workspace = await project();
    mkdirSync(path.join(workspace.path, 'my notes'));
    writeFileSync(path.join(workspace.path, 'my notes', 'to do.md'), 'buy milk\n');
    const terminal = await repl({server, cwd: workspace.path});
    terminal.type('compare @grts with ');
    await shows(terminal, '> compare @grts with');
    terminal.press('left', 'left', 'left', 'left', 'left', 'left');
    terminal.type('x');
    terminal.press('backspace');
    await shows(terminal, '> src/greet.ts');
    terminal.press('tab');
    await shows(terminal, '> compare @src/greet.ts with');
    terminal.press('end');
    terminal.type('@todo');
    await shows(terminal, '> my notes/to do.md');
    terminal.press('enter');
    await shows(terminal, '> compare @src/greet.ts with @"my notes/to do.md"');
    // A file that is made now is found too.
    await new Promise((resolve) => setTimeout(resolve, 2100));
    writeFileSync(path.join(workspace.path, 'fresh.txt'), 'new');
    writeFileSync(path.join(workspace.path, 'dot.png'), Buffer.from(ONE_PIXEL, 'base64'));
    terminal.type('and @dot.png in @tests. @fresh');
    await shows(terminal, '> fresh.txt');
    terminal.press('escape');
    await terminal.waitFor((now) => now.screen().at(-1) === '' && !now.screen().includes('> fresh.txt'));
    terminal.press('enter');
    await terminal.waitFor('I read them.');
    const text = JSON.stringify(server.requests[0]!.body.messages);
    expect(text).toMatch(
      /names @src\/greet\.ts\. It contains:.*export.*names @my notes\/to do\.md.*buy milk.*compare @src/s,
    );
    expect(text).toMatch(/names @dot\.png\..*"type":"image".*names @tests\..*greet\.test\.ts/s);
    expect(text).not.toContain('names @fresh');
  });

  it('shows a long paste as a chip, sends it whole, and recalls it as a chip in a later session', async () => {
    const server = await serve([say('Long.'), say('Again.')]);
    const at = {server, home: await home(), cwd: (await project()).path};
    const first = await repl(at);
    first.type('look: ');
    first.paste(LONG);
    await shows(first, '> look: [Pasted 301 lines]');
    first.press('enter');
    await first.waitFor('Long.');
    await idle(first);
    first.type('quit');
    first.press('enter');
    expect((await first.waitForExit()).code).toBe(0);
    expect(first.text()).not.toContain('line 200');

    const second = await repl(at);
    second.press('up');
    await shows(second, '> look: [Pasted 301 lines]');
    second.press('enter');
    await second.waitFor('Again.');
    for (const {body} of server.requests)
      expect(JSON.stringify(body.messages)).toContain(JSON.stringify(`look: ${LONG}`));
  });

  it('has undo, a search in the history, the list of keys, an editor, a repaint, and exit', async () => {
    const folder = (await project()).path;
    const editor = path.join(folder, 'editor.sh');
    writeFileSync(editor, '#!/bin/sh\nprintf "%s, edited\\n" "$(cat "$1")" > "$1"\n');
    chmodSync(editor, 0o755);
    const server = await serve([say('one'), say('two'), say('three')]);
    const terminal = await repl({server, cwd: folder, env: {EDITOR: editor, VISUAL: ''}});
    await send(terminal, 'alpha first');
    await terminal.waitFor(/^one$/m);
    await idle(terminal);
    await send(terminal, 'beta second');
    await terminal.waitFor(/^two$/m);
    await idle(terminal);

    terminal.type('?');
    await terminal.waitFor(/Ctrl\+_ undo/);
    terminal.type('some words');
    await holds(terminal, 'some words');
    terminal.press('ctrl-w');
    await holds(terminal, 'some');
    terminal.press('ctrl-_');
    await holds(terminal, 'some words');
    terminal.press('ctrl-c');
    await holds(terminal, 'Ask about this project, or /help');
    terminal.press('ctrl-_');
    await holds(terminal, 'some words');

    terminal.press('ctrl-r');
    terminal.type('FIRS');
    await holds(terminal, 'alpha first');
    terminal.type('zz');
    await terminal.waitFor('FIRSzz (not found)');
    terminal.press('ctrl-c');
    await holds(terminal, 'some words');
    terminal.press('ctrl-u', 'ctrl-r');
    terminal.type('a');
    await holds(terminal, 'beta second');
    terminal.press('ctrl-r');
    await holds(terminal, 'alpha first');
    terminal.press('escape');
    await terminal.waitFor((now) => now.screen().some((row) => row.startsWith('default ·')));
    terminal.type('!');
    await holds(terminal, 'alpha first!');
    expect(server.requests).toHaveLength(2);

    terminal.press('ctrl-g');
    await holds(terminal, 'alpha first!, edited');
    terminal.press('ctrl-l');
    await holds(terminal, 'alpha first!, edited');
    expect(terminal.screen().filter((row) => row.startsWith('> alpha first!'))).toHaveLength(1);
    terminal.press('enter');
    await terminal.waitFor(/^three$/m);
    expect(JSON.stringify(server.requests[2]!.body.messages.at(-1))).toContain('alpha first!, edited');
    terminal.press('ctrl-o');
    await terminal.waitFor('q back · messages 1-');
    terminal.type('q');
    await idle(terminal);
    await send(terminal, 'exit');
    expect((await terminal.waitForExit()).code).toBe(0);
    expect(terminal.raw()).not.toMatch(/\u001b\[[23]J/);
  });

  it('keeps a #note in the memory file that is chosen, tells the model now and in the next session', async () => {
    const server = await serve([say('Noted.'), say('I know.')]);
    const workspace = await project();
    const at = {server, home: await home(), cwd: workspace.path};
    writeFileSync(path.join(workspace.path, 'CLAUDE.md'), 'Use tabs.');
    const terminal = await repl(at);
    await send(terminal, '#');
    await terminal.waitFor('Type a note after the #');
    await idle(terminal);
    await send(terminal, '#call the greeter Bob');
    await terminal.waitFor('1 CLAUDE.md (this project)');
    await new Promise((resolve) => setTimeout(resolve, 350));
    terminal.press('escape');
    await terminal.waitFor('Nothing was noted.');
    await shows(terminal, '> #call the greeter Bob');
    terminal.press('enter');
    await terminal.waitFor(
      (now) =>
        now.text().split('1 CLAUDE.md (this project)').length > 1 && now.screen().some((row) => row.includes('2 ')),
    );
    await new Promise((resolve) => setTimeout(resolve, 350));
    terminal.type('1');
    await terminal.waitFor('Noted in CLAUDE.md');
    expect(await workspace.read('CLAUDE.md')).toBe('Use tabs.\n- call the greeter Bob\n');
    await idle(terminal);
    await send(terminal, 'hello');
    await terminal.waitFor('Noted.');
    expect(JSON.stringify(server.requests[0]!.body.messages)).toMatch(
      /added this note to .*CLAUDE\.md: call the greeter Bob.*hello/,
    );
    await idle(terminal);
    terminal.press('ctrl-d');
    await terminal.waitForExit();
    const next = await repl(at);
    await send(next, 'who?');
    await next.waitFor('I know.');
    expect(JSON.stringify(server.requests[1]!.body.system)).toContain('- call the greeter Bob');
  });

  it('takes the queue back: Up the newest of it, Esc all of it while it stops the turn', async () => {
    const server = await serve([slow(say('never whole '.repeat(200)), 50), say('after')]);
    const terminal = await repl({server});
    await send(terminal, 'go');
    await server.waitForRequests(1);
    for (const text of ['second', 'third']) {
      terminal.type(text);
      await shows(terminal, `> ${text}`);
      terminal.press('enter');
      await terminal.waitFor(`queued: ${text}`);
    }
    terminal.press('up');
    await shows(terminal, '> third');
    expect(terminal.screen().join('\n')).not.toContain('queued: third');
    terminal.press('escape');
    await terminal.waitFor('interrupted');
    await shows(terminal, '> second');
    await shows(terminal, '  third');
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(server.requests).toHaveLength(1);
    terminal.press('enter');
    await terminal.waitFor('after');
    expect(JSON.stringify(server.requests[1]!.body.messages.at(-1))).toContain('second\\n\\nthird');
  });

  it('is suspended by Ctrl+Z and comes back by fg', async () => {
    const at = await home();
    const shell = startTerminal('bash', ['--norc', '--noprofile', '-i'], {
      cwd: (await project()).path,
      env: {...cliEnvironment(at, {}), PS1: '$ '},
    });
    onTestFinished(shell.close);
    await shell.waitFor('$ ');
    shell.type(`${process.execPath} ${cliPath}\r`);
    await shell.waitFor(/^(default) · /m);
    shell.type('kept');
    await shows(shell, '> kept');
    shell.press('ctrl-z');
    await shell.waitFor('mini-cc is suspended; fg brings it back.');
    await shell.waitFor(/Stopped/);
    shell.type('echo in the shell\r');
    await shell.waitFor(/^in the shell$/m);
    shell.type('fg\r');
    await shell.waitFor((now) => now.screen().lastIndexOf('> kept') > now.screen().indexOf('$ fg'));
    shell.type(' on');
    await shows(shell, '> kept on');
    shell.press('ctrl-c', 'ctrl-d');
    await shell.waitFor((now) => now.screen().at(-1) === '' || /^\$ $/m.test(now.text()));
  });
});
