/** Thinking and the transcript of the session, in a real terminal. */
import {appendFileSync} from 'node:fs';
import {describe, expect, it} from 'vitest';
import {callTool, callTools, say, slow, stall, thinkingThen} from '../support/messages-server.ts';
import {findTranscripts} from '../support/session-files.ts';
import type {Terminal} from '../support/terminal.ts';
import {explore, home, isSubagent, project, serve} from './fixture.ts';
import {idle, repl, send} from './repl-fixture.ts';

const window = (terminal: Terminal) => terminal.screen().join('\n');
const shows = (terminal: Terminal, text: string | RegExp) =>
  terminal.waitFor((at) => (typeof text === 'string' ? window(at).includes(text) : text.test(window(at))));
const lacks = (terminal: Terminal, text: string) => terminal.waitFor((at) => !window(at).includes(text));

const THOUGHT = `First I look at ${'all the many files '.repeat(20)}and then I answer.`;

describe('thinking', () => {
  it('shows as one line that grows, and is not repeated when the reply ends', async () => {
    const reply = thinkingThen(THOUGHT, callTool('bash', {command: 'seq 3'}, undefined, 'Now I **count**.'));
    const server = await serve([slow(reply, 80), say('Done.')]);
    const terminal = await repl({server});
    await send(terminal, 'go');
    await shows(terminal, /^Thinking: First I look/m);
    await shows(terminal, /^Thinking: ….*many files/m);
    await terminal.waitFor('Now I count.');
    await terminal.waitFor('Done.');
    await idle(terminal);
    const lines = terminal.scrollback().filter((line) => line.startsWith('Thinking:'));
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/^Thinking: First I look at all the many.*… \(Ctrl\+O\)$/);
    expect(terminal.text().indexOf('Thinking:')).toBeLessThan(terminal.text().indexOf('Now I count.'));
  });
});

describe('Ctrl+O', () => {
  it('shows thinking and whole results beside the main screen, which is as it was afterwards', async () => {
    const server = await serve([
      thinkingThen(THOUGHT, callTool('bash', {command: 'seq 200'})),
      slow(say(`The **answer** ${'goes on '.repeat(60)}to its end.`), 60),
    ]);
    const workspace = await project();
    const terminal = await repl({server, cwd: workspace.path, cols: 80, rows: 24});
    await send(terminal, 'count them');
    await shows(terminal, 'The answer');

    // In the midst of the turn.
    const before = terminal.raw().length;
    terminal.press('ctrl-o');
    await shows(terminal, 'q back');
    terminal.type('g');
    await shows(terminal, /> count them/);
    expect(window(terminal)).toContain('and then I answer.');
    expect(window(terminal)).toMatch(/Bash\(seq 200\)\n {2}1\n {2}2\n/);
    terminal.press('page-down');
    await lacks(terminal, '> count them');
    await shows(terminal, /^ {2}30$/m);
    terminal.type('/');
    terminal.type('answer');
    terminal.type('\r');
    terminal.type('G');
    await shows(terminal, 'to its end.');
    terminal.type('/then I an\r');
    await shows(terminal, 'and then I answer.');
    terminal.type('/nothing like it\r');
    await shows(terminal, 'not found: nothing like it');
    terminal.resize(60, 20);
    await shows(terminal, 'q back');
    terminal.resize(80, 24);
    terminal.type('q');
    await lacks(terminal, 'q back');
    await idle(terminal);
    await terminal.waitFor('to its end.');
    const text = terminal.text();
    expect(text.split('to its end.')).toHaveLength(2);
    expect(text.split('▌ count them')).toHaveLength(2);
    expect(terminal.raw().slice(before)).not.toMatch(/\x1b\[[23]J/);

    // Typing goes on where it was.
    terminal.type('next');
    await terminal.waitFor(/^> next$/m);
    terminal.press('ctrl-o');
    await shows(terminal, 'q back');
    terminal.press('escape');
    await shows(terminal, /^> next$/m);

    // Leaving by a signal restores the main screen.
    terminal.press('ctrl-o');
    await shows(terminal, 'q back');
    process.kill(terminal.pid, 'SIGTERM');
    expect((await terminal.waitForExit()).code).toBe(143);
    expect(terminal.text()).toContain('▌ count them');
    expect(terminal.text()).not.toContain('q back');
  });
});

/** What was printed after the three lines of the header, without durations, and without blanks that nobody sees. */
const printed = (terminal: Terminal, first: string, last: string) => {
  const text = terminal
    .text()
    .replaceAll(/\d+\.\ds/g, 'Ns')
    .replaceAll(/\n\nTook [^\n]*/g, '')
    .replaceAll(/ +$/gm, '');
  return text.slice(text.lastIndexOf(first), text.lastIndexOf(last) + last.length);
};

describe('--continue', () => {
  it('shows the conversation as it looked: thinking, tools, diffs, agents, and a reply that was interrupted', async () => {
    let main = 0;
    const replies = [
      thinkingThen('I look.', callTool('read_file', {path: 'src/greet.ts'}, undefined, 'I **read** it.')),
      callTool('edit_file', {path: 'src/greet.ts', old_string: 'export', new_string: 'export async'}),
      callTools([explore('a', 'look at tests'), explore('b', 'look at docs')]),
      callTool('bash', {command: 'cat missing-file'}),
      say('All is **done**.'),
      stall(5, say('An open **bold text and `some code that goes on for a long time and on and on and on')),
    ];
    const server = await serve((body) => (isSubagent(body) ? say('Seen **it**.') : replies[main++]!));
    const at = {server, home: await home(), cwd: (await project()).path, args: ['--permission-mode', 'acceptEdits']};
    const first = await repl(at);
    await send(first, 'do it all');
    await first.waitFor('All is done.');
    await idle(first);
    await send(first, 'and more');
    await first.waitFor('An open bold text and some code');
    first.press('escape');
    await first.waitFor('interrupted');
    await idle(first);
    first.press('ctrl-d');
    await first.waitForExit();
    const live = printed(first, '▌ do it all', 'interrupted');
    // What was shown while the answer grew is what stays of it.
    expect(live.slice(live.indexOf('▌ and more'))).not.toMatch(/[*`]/);
    expect(live).toContain('An open bold text and some code');
    expect(live).toMatch(/All is done\.\n\n2 subagents · .* came back/);

    const second = await repl({...at, args: ['--continue']});
    await second.waitFor('interrupted');
    expect(printed(second, '▌ do it all', 'interrupted')).toBe(live);
  });

  it('has 10,000 messages for Ctrl+O at once', async () => {
    const server = await serve([say('The first answer.')]);
    const at = {server, home: await home(), cwd: (await project()).path};
    const first = await repl(at);
    await send(first, 'go');
    await first.waitFor('The first answer.');
    await idle(first);
    first.press('ctrl-d');
    await first.waitForExit();
    const [transcript] = findTranscripts(at.home.path);
    const line = (n: number, role: string, content: string) =>
      `${JSON.stringify({type: 'message', uuid: `u${n}`, at: new Date().toISOString(), message: {role, content}, ...(role === 'user' && {prompt: true})})}\n`;
    const lines = Array.from({length: 5000}, (_, n) => [
      line(2 * n, 'user', `prompt number ${n}`),
      line(2 * n + 1, 'assistant', `answer **${n}** ${'word '.repeat(300)}`),
    ]);
    appendFileSync(transcript!, lines.flat().join(''));

    const terminal = await repl({...at, args: ['--continue']});
    await terminal.waitFor('answer 4999');
    const asked = performance.now();
    terminal.press('ctrl-o');
    await shows(terminal, 'of 10002');
    terminal.type('g');
    await shows(terminal, 'The first answer.');
    terminal.type('/prompt number 2345\r');
    await shows(terminal, '> prompt number 2345');
    terminal.type('G');
    await shows(terminal, 'answer 4999');
    // All of it takes less than a second when the machine is idle.
    expect(performance.now() - asked).toBeLessThan(20_000);
    terminal.type('q');
    await lacks(terminal, 'q back');
  });
});
