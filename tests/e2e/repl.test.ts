import {describe, expect, it, onTestFinished} from 'vitest';
import {say} from '../support/messages-server.ts';
import {answer} from '../support/questions.ts';
import {startCli} from '../support/run-cli.ts';
import {callTool, callTools, slow} from '../support/scripted-replies.ts';
import {explore, home, isSubagent, project, serve} from './fixture.ts';
import {idle, repl, send} from './repl-fixture.ts';

describe('the REPL', () => {
  it('answers, prints the conversation once in the scrollback, and can be left by two presses of Ctrl+C', async () => {
    const terminal = await repl({server: await serve([say('Hello **Ada**.'), say('Bye.')])});
    await send(terminal, 'hello');
    await terminal.waitFor('Hello Ada.');
    await idle(terminal);
    await send(terminal, 'bye');
    await terminal.waitFor('Bye.');
    await idle(terminal);
    for (const printed of ['▌ hello', 'Hello Ada.', '▌ bye', 'Bye.']) {
      expect(terminal.scrollback().filter((line) => line === printed)).toHaveLength(1);
    }
    terminal.press('ctrl-c');
    await terminal.waitFor('again to leave');
    terminal.press('ctrl-c');
    expect((await terminal.waitForExit()).code).toBe(0);
    expect(terminal.text()).toContain('Resume this session: mini-cc --resume ');
    // The terminal is restored: cursor shown, bracketed paste off, and nothing was cleared.
    expect(terminal.raw().lastIndexOf('\u001b[?25h')).toBeGreaterThan(terminal.raw().lastIndexOf('\u001b[?25l'));
    expect(terminal.raw().lastIndexOf('\u001b[?2004l')).toBeGreaterThan(terminal.raw().lastIndexOf('\u001b[?2004h'));
    expect(terminal.raw()).not.toMatch(/\u001b\[[23]J/);
  });

  it('takes text and Enter that are typed before it is ready', async () => {
    const server = await serve([say('I was quick.')]);
    const terminal = await startCli([], {cwd: (await project()).path, server});
    onTestFinished(terminal.close);
    await terminal.waitFor('mini-cc');
    terminal.type('quick\r');
    await terminal.waitFor('I was quick.');
  });

  it('shows a live line for each subagent, and prints how it ended', async () => {
    const server = await serve((body) => {
      if (!isSubagent(body)) {
        return body.messages.length === 1
          ? callTools([explore('a', 'read the sources'), explore('b', 'read the tests')])
          : say('All read.');
      }
      return body.messages.length === 1 ? slow(callTool('glob', {pattern: '**/*'}), 60) : slow(say('found'), 60);
    });
    const terminal = await repl({server});
    await send(terminal, 'explore');
    await terminal.waitFor(/\[explore\] read the sources \.\.\. \d tools?, \d\.\ds/);
    await terminal.waitFor('All read.');
    await idle(terminal);
    expect(terminal.text()).toMatch(/^ {2}\[explore\] read the sources - done \(1 tool, \d\.\ds\) · /m);
    expect(terminal.text()).toMatch(/^ {2}\[explore\] read the tests - done \(1 tool, \d\.\ds\) · /m);
  });

  it('asks before it writes, shows the diff, and takes the digit as the answer', async () => {
    const server = await serve([callTool('write_file', {path: 'new.txt', content: 'first line\n'}), say('Written.')]);
    const workspace = await project();
    const terminal = await repl({server, cwd: workspace.path});
    await send(terminal, 'write');
    await terminal.waitFor('1 yes');
    expect(terminal.text()).toContain(' 1 + first line');
    await answer(terminal, '1 yes', '1');
    await terminal.waitFor('Written.');
    expect(await workspace.read('new.txt')).toBe('first line\n');
  });

  it('refuses a call by Esc: nothing is written, and the turn goes on', async () => {
    const server = await serve([callTool('bash', {command: 'touch made'}), say('I left it.')]);
    const workspace = await project();
    const terminal = await repl({server, cwd: workspace.path});
    await send(terminal, 'make');
    await answer(terminal, '1 yes', 'escape');
    await terminal.waitFor('I left it.');
    expect(JSON.stringify(server.requests[1]?.body.messages.at(-1))).toContain('The user refused this call');
  });

  it('shows a prompt that is sent during a turn as queued, and delivers it at the next step', async () => {
    const server = await serve((body) =>
      body.messages.length === 1 ? slow(callTool('glob', {pattern: '*'}), 120) : say('Both seen.'),
    );
    const terminal = await repl({server});
    await send(terminal, 'first');
    await server.waitForRequests(1);
    terminal.type('second');
    await terminal.waitFor('> second');
    terminal.press('enter');
    await terminal.waitFor('Both seen.');
    expect(JSON.stringify(server.requests.at(-1)?.body.messages)).toContain('second');
  });

  it('dispatches a typed Task and shows its result before the end of the turn', async () => {
    const terminal = await repl({server: await serve([say('greet is in src/greet.ts:4')])});
    await send(terminal, 'Task(explore): "where is greet?"');
    await terminal.waitFor(
      /\[explore\] where is greet\? - done \(0 tools[\s\S]*\n\ngreet is in src\/greet\.ts:4\n[\s\S]*\n\nTook [\s\S]*\n\n1 subagent · /,
    );
    expect(terminal.text().split('greet is in src/greet.ts:4')).toHaveLength(2);
  });

  it('resumes a session by --continue and shows the end of the conversation', async () => {
    const at = {
      server: await serve([say('Ada it is.'), say('Ada, of course.')]),
      home: await home(),
      cwd: (await project()).path,
    };
    const first = await repl(at);
    await send(first, 'I am Ada');
    await first.waitFor('Ada it is.');
    await idle(first);
    first.press('ctrl-d');
    await first.waitForExit();
    const second = await repl({...at, args: ['--continue']});
    await second.waitFor('Ada it is.');
    await send(second, 'who am I?');
    await second.waitFor('Ada, of course.');
    expect(JSON.stringify(at.server.requests[1]?.body.messages)).toMatch(/I am Ada.*who am I/);
  });

  it('runs slash commands, and says which are not available yet or unknown', async () => {
    const server = await serve([say('one'), say('two')]);
    const terminal = await repl({server});
    await send(terminal, '/help');
    await terminal.waitFor('/model');
    await send(terminal, '/model haiku');
    await terminal.waitFor('Model: claude-haiku-5-5 (was claude-sonnet-5-5)');
    await send(terminal, 'first');
    await terminal.waitFor('one');
    await idle(terminal);
    await send(terminal, '/clear');
    await terminal.waitFor('New conversation.');
    await send(terminal, 'second');
    await terminal.waitFor('two');
    expect(server.requests[1]?.body.model).toBe('claude-haiku-5-5');
    expect(server.requests[1]?.body.messages).toHaveLength(1);
    await send(terminal, '/modle haiku');
    await terminal.waitFor('Unknown command: /modle. Did you mean /model?');
    await idle(terminal);
    expect(server.requests).toHaveLength(2);
  });

  it('works at 40 columns and without colours', async () => {
    const terminal = await repl({cols: 40, rows: 15, env: {NO_COLOR: '1'}});
    await send(terminal, 'where is greet defined?');
    await terminal.waitFor('src/greet.ts:4');
    expect(terminal.raw()).not.toMatch(/\u001b\[(3[0-7]|1;3\d|9\d)m/);
  });
});
