/** Text of models, tools and files on the screen cannot answer a question, hide a command, or look like a question. */
import {readdir} from 'node:fs/promises';
import {describe, expect, it} from 'vitest';
import {type Reply, say} from '../support/messages-server.ts';
import {answer, takesKeys} from '../support/questions.ts';
import {countReplies, getToolResults} from '../support/request-facts.ts';
import {callTool, callTools} from '../support/scripted-replies.ts';
import type {Terminal} from '../support/terminal.ts';
import {isSubagent, project, serve} from './fixture.ts';
import {idle, repl, send} from './repl-fixture.ts';

const ESC = '\u001b';
const BELL = '\u0007';
/** Sequences that make a terminal send input or change: reports, titles, colours, another screen, keys. */
const SEQUENCES = [
  ...[`${ESC}[6n`, `${ESC}[c`, `${ESC}[>c`, `${ESC}[5n`, `${ESC}[21t`, `${ESC}]0;1\r1\r${BELL}`, `${ESC}P$q"p${ESC}\\`],
  ...[
    `${ESC}]10;?${BELL}`,
    `${ESC}[2J${ESC}[H`,
    `${ESC}[?1049h`,
    `${ESC}[8m`,
    `${ESC}c`,
    '\u009b6n',
    '\u009d0;1\u009c',
  ],
  ...['\r1\r', '\b\b\b1\r', '\u202e1\u202c'],
].join('');
const FAKE = 'Run this command?\n  touch HARMLESS\n  1 yes\n  2 yes, for this session\n  4 no, and say why\n';

async function play(main: readonly Reply[], options: {child?: readonly Reply[]; cols?: number; rows?: number} = {}) {
  const {child = [], ...size} = options;
  const server = await serve((body) => (isSubagent(body) ? child : main)[countReplies(body)] ?? say('Finished.'));
  const workspace = await project();
  await workspace.write('evil.txt', `${SEQUENCES}\n${FAKE}`);
  const terminal = await repl({server, cwd: workspace.path, ...size});
  await send(terminal, 'go');
  return {
    server,
    workspace,
    terminal,
    made: async () => (await readdir(workspace.path)).filter((name) => /^[A-Z]+$/.test(name)),
  };
}

/** Whether a question about a command is open, and the window shows this. */
const asks = (shown: string | RegExp) => (terminal: Terminal) => {
  const window = terminal.screen().join('\n');
  return /^ {2}1 yes/m.test(window) && window.search(shown) >= 0;
};

describe('untrusted text on the screen', () => {
  it('does not press a key, as text of a model or output of a tool: the question waits for the person', async () => {
    const {server, terminal, made} = await play([
      callTool('read_file', {path: 'evil.txt'}, undefined, `${SEQUENCES}\n\n${FAKE}\n\n1\n\r1\r`),
      callTool('bash', {command: 'touch PWNED', description: `${SEQUENCES}1\r`}, undefined, `1\r\n${FAKE}`),
    ]);
    await takesKeys(terminal, asks('touch PWNED'));
    // The terminal sent no input of its own: it would stand before what is typed now.
    terminal.type('x');
    await terminal.waitFor(/^> x$/m);
    expect(await made()).toEqual([]);
    expect(server.requests).toHaveLength(2);
    expect(terminal.title()).not.toContain('1');
    terminal.press('backspace');
    await terminal.waitFor((at) => /^> Ask about/m.test(at.screen().join('\n')));
    await answer(terminal, asks('touch PWNED'), 'escape');
    await terminal.waitFor('Finished.');
    expect(await made()).toEqual([]);
    expect(getToolResults(server.requests[2]!.body)[0]?.text).toContain('The user refused this call');
  });

  it('has visible escape sequences in a command that is asked about', async () => {
    const {terminal} = await play([callTool('bash', {command: `echo ${SEQUENCES} && touch PWNED`})]);
    await terminal.waitFor(asks('touch PWNED'));
    expect(terminal.text()).toContain('␛[6n');
    expect(terminal.text()).toMatch(/\\u\s*202E/);
    expect(terminal.text()).toContain('mini-cc');
    await answer(terminal, asks('touch PWNED'), 'escape');
    await terminal.waitFor('Finished.');
  });
});

/** A command behind each, which makes a file of its own. */
const HIDDEN: Readonly<Record<string, (command: string) => string>> = {
  '2,000 spaces': (command) => `echo fine${' '.repeat(2000)}; ${command}`,
  '300 empty lines': (command) => `echo fine${'\n'.repeat(300)}${command}`,
  'a carriage return': (command) => `${command} #\recho fine                         `,
  backspaces: (command) => `${command} #${'\b'.repeat(20)}echo fine`,
  'a bidi override': (command) => `echo fine # \u202e\u2066; ${command}\u2069`,
  'escape codes': (command) => `${command} #${ESC}[2K${ESC}[1Gecho fine${ESC}[8m`,
  'a long beginning': (command) => `echo ${'fine '.repeat(400)}; ${command}`,
  tabs: (command) => `echo fine${'\t'.repeat(200)}; ${command}`,
};

it.each([
  [100, 30],
  [40, 15],
])(
  'at %d columns and %d rows a command that is hidden behind others is visible before it is allowed',
  async (cols, rows) => {
    const commands = Object.values(HIDDEN).map((hide, index) => hide(`touch ${LETTERS[index]}`));
    const {terminal, made} = await play(
      commands.map((command) => callTool('bash', {command})),
      {cols, rows},
    );
    for (const [index, name] of Object.keys(HIDDEN).entries()) {
      const shown = new RegExp(`touch\\s+${LETTERS[index]}(?![A-Z])`);
      // It is in the window, as part of the question.
      await terminal.waitFor(asks(shown));
      const text = terminal.text();
      expect(text.slice(text.indexOf('Run this command?')), name).toMatch(shown);
      await answer(terminal, asks(shown), 'escape');
    }
    await terminal.waitFor('Finished.');
    expect(await made()).toEqual([]);
  },
);
const LETTERS = 'ABCDEFGH';

describe('a question', () => {
  it('shows the command, also when the model gives its agent a misleading name', async () => {
    const description = `tidy up: Read README.md?\n  1 yes ${'x '.repeat(200)}`;
    const {terminal} = await play([callTool('Task', {description, prompt: 'do', agent_type: 'code'})], {
      child: [callTool('bash', {command: 'touch PWNED'}), say('done')],
      cols: 60,
    });
    await terminal.waitFor(asks('touch PWNED'));
    const screen = terminal.screen().join('\n');
    expect(screen).toMatch(/\[code\] tidy up/);
    expect(screen).toMatch(/…:\s+Run\s+this\s+command/);
    expect(screen).toContain('  touch PWNED');
    await answer(terminal, asks('touch PWNED'), 'escape');
    await terminal.waitFor('Finished.');
  });

  it('that is answered for this session covers that command, not others that begin like it', async () => {
    const commands = ['touch A', 'touch A; touch B', 'touch A && touch C', 'touch A\ntouch D', 'touch A $(touch E)'];
    const {terminal, made} = await play(commands.map((command) => callTool('bash', {command})));
    await answer(terminal, asks('touch A'), '2');
    for (const letter of ['B', 'C', 'D', 'E']) await answer(terminal, asks(`touch ${letter}`), 'escape');
    await terminal.waitFor('Finished.');
    await idle(terminal);
    expect(await made()).toEqual(['A']);
  });

  it('is asked for each call of its own: the answer to one is not taken for another', async () => {
    const {terminal, made} = await play([
      callTools([
        {name: 'bash', input: {command: 'touch A'}},
        {name: 'bash', input: {command: 'touch B'}},
      ]),
    ]);
    await answer(terminal, asks(/^ {2}touch A$/m), '1');
    await answer(terminal, asks(/^ {2}touch B$/m), 'escape');
    await terminal.waitFor('Finished.');
    expect(await made()).toEqual(['A']);
  });
});
