/**
 * What the built program shows in its main situations, at 100 and at 40 columns, as snapshots that a person reads:
 * `__snapshots__/captures.test.ts.snap`. After a change of the looks, run vitest with `-u` and read the difference.
 * Situations that a server cannot bring about at will are in `tests/ui/captures.test.ts`.
 */
import {cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {runInNewContext} from 'node:vm';
import {expect, onTestFinished, test} from 'vitest';
import {
  callTool,
  callTools,
  type MessagesBody,
  type Reply,
  say,
  stall,
  status,
  thinkingThen,
} from '../support/messages-server.ts';
import {answer} from '../support/questions.ts';
import {becomesTrue} from '../support/wait.ts';
import {explore, home, isSubagent, project, serve} from './fixture.ts';
import {repl} from './repl-fixture.ts';

const ANSWER = [
  '# What I found',
  'The **greeting** is made in `src/greet.ts:3`, and *nothing* else calls it.',
  '1. Change the text\n2. Run the tests\n   - `npm test`',
  '| File | Lines |\n|------|------:|\n| src/greet.ts | 12 |\n| src/format.ts | 140 |',
  '```ts\nexport const greet = (name: string) => `Hi ${name}`;\n```',
  '> It was so before.',
].join('\n\n');
const AREAS = ['the parser', 'the lexer', 'the tests', 'the fix', 'the docs', 'the change', 'the build', 'the types'];
const HANG = {type: 'hang'} as const;
const THOUGHT = 'The greeting is made in one place, so I look for it first.';
const EDIT = {path: 'src/greet.ts', old_string: "[wordFor(language), name].join(', ')", new_string: '`Hi ${name}`'};
const TODOS = ['Read the greeting', 'Change it', 'Run the tests'].map((content, index) => ({
  ...{content, status: ['completed', 'in_progress', 'pending'][index]},
}));

/** What the model replies to each prompt, step by step. */
const REPLIES: Readonly<Record<string, readonly Reply[]>> = {
  'explain the greeting': [say(ANSWER)],
  'look around': [
    callTool('read_file', {path: 'src/greet.ts'}),
    callTool('grep', {pattern: 'greet', path: 'src'}),
    callTool('glob', {pattern: '**/*.ts'}),
    callTool('read_file', {path: 'src/none.ts'}),
    say('Seen.'),
  ],
  'build and test': [
    callTool('bash', {command: 'npm run build', description: 'Build it'}),
    callTool('bash', {command: 'npm test -- --reporter=dot tests/greet.test.ts', description: 'Run the tests'}),
    say('It fails.'),
  ],
  'change the greeting': [callTool('edit_file', EDIT), say('Changed.')],
  'plan it': [callTool('todo_write', {todos: TODOS}), stall(5, say('I begin with the first.'))],
  'think about it': [stall(6, {...thinkingThen(THOUGHT, say('')), charsPerDelta: 100})],
  'send eight agents': [callTools(AREAS.map((area) => explore(`look at ${area}`, area))), say('They are at work.')],
  'try again': [status(429, {retryAfter: 50})],
  'use a wrong key': [status(401)],
  'wait for me': [HANG],
};

function reply(body: MessagesBody): Reply {
  if (isSubagent(body)) return HANG;
  const words = (content: unknown) =>
    Object.keys(REPLIES).find((prompt) => JSON.stringify(content).includes(`"${prompt}"`));
  const at = body.messages.findLastIndex(({role, content}) => role === 'user' && words(content) !== undefined);
  const step = body.messages.slice(at).filter(({role}) => role === 'assistant').length;
  return REPLIES[words(body.messages[at]?.content) ?? '']?.[step] ?? say('Done.');
}

/** Without what depends on the machine and the time. */
function normalize(text: string, folder: string): string {
  return (
    text
      .replace(new RegExp([...folder].join('(?:\\n *)?'), 'g'), '/var/tmp/project')
      .replace(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/g, '⠋')
      // A turn, too, says how long it took.
      .replace(/\n\nTook \S+(?: · \S+ tokens)?(?=\n|$)/g, '')
      // A call says how long it took when that was a second or more.
      .replace(/^([✓✗] .*) · \d+s$/gm, '$1')
      .replace(/ · \d+s(?= · |$)/gm, ' · 0s')
      .replace(/\b\d+\.\ds\b/g, '0.0s')
      .replace(/ · idle \d+s/g, '')
      .replace(/retrying in \d+s/g, 'retrying in 50s')
      .replace(/context [\d.]+(?:k| %)/g, 'context 4k')
      .replace(/[\d.]+k tokens/g, '4k tokens')
      .replace(/cost \$[\d.]+/g, 'cost $0.01')
      .replace(/Cost of this session[\s\S]*/, (table) => table.replace(/\d/g, '0'))
  );
}

/** How long the last part of a situation may take to be drawn. The limit counts only where a snapshot has changed. */
const SETTLE_MS = 5_000;

/** The texts that the file of snapshots has, by their names. */
function readSnapshots(): Readonly<Record<string, string>> {
  const exports: Record<string, string> = {};
  const file = path.join(import.meta.dirname, '__snapshots__', 'captures.test.ts.snap');
  runInNewContext(readFileSync(file, 'utf8'), {exports});
  return exports;
}

test.each([100, 40])('at %i columns', async (cols) => {
  const snapshots = readSnapshots();
  const server = await serve(reply);
  // Of the same length everywhere: at 40 columns it is broken into rows.
  const folder = mkdtempSync('/var/tmp/project-');
  onTestFinished(() => rmSync(folder, {recursive: true, force: true}));
  cpSync((await project()).path, folder, {recursive: true});
  const script = 'seq 60; while [ ! -f go ]; do sleep 0.1; done; seq 40';
  const scripts = {build: script, test: 'seq 50; exit 1'};
  writeFileSync(path.join(folder, 'package.json'), JSON.stringify({name: 'greeter', scripts}));
  const terminal = await repl({server, cols, rows: 60, cwd: folder, home: await home()});
  const screen = () => terminal.screen().join('\n').trimEnd();
  const shows = (text: string) => terminal.waitFor(() => toPattern(text).test(screen()));
  const capture = async (name: string, ready: string) => {
    const look = () => {
      const text = screen();
      const prompt = text.lastIndexOf('\n▌ ');
      return `\n${normalize(prompt < 0 ? text : text.slice(prompt + 1), folder)}\n`;
    };
    await shows(ready);
    // Other parts of it may be drawn a little later.
    const known = snapshots[`at ${cols} columns > ${name} 1`]?.trim();
    await becomesTrue(() => `"${look()}"` === known, SETTLE_MS);
    expect(look()).toMatchSnapshot(name);
    expect(terminal.screen().filter((row) => row.length > cols)).toEqual([]);
  };
  const send = async (text: string) => {
    await terminal.waitFor(() => /^> Ask/m.test(screen()) && !/Esc (?:interrupts|means)/.test(screen()));
    terminal.type(text);
    await shows(`> ${text}`);
    terminal.press('enter');
    await shows(`▌ ${text}`);
  };
  const interrupt = async () => {
    terminal.press('escape');
    await terminal.waitFor(() => screen().slice(screen().lastIndexOf('\n▌ ')).includes('\ninterrupted'));
  };

  await capture('the first screen', '? lists the keys');
  terminal.type('fix the greeting\nand run the tests');
  await capture('what is typed, in two lines', 'and run the tests');
  terminal.press('ctrl-c');
  terminal.type('/m');
  await capture('the list of commands', 'the model');
  terminal.press('escape', 'ctrl-c');

  terminal.press('shift-tab');
  await shows('acceptEdits ·');
  terminal.type('?');
  await capture('another mode, and the keys', 'Ctrl+B');
  terminal.press('shift-tab', 'shift-tab');
  await shows('default ·');
  await send('/help');
  await capture('the commands', '? all keys');
  await send('/agents');
  await capture('the agents', '/agents help shows how.');

  await send('explain the greeting');
  await capture('an answer with all kinds of blocks', 'It was so before.');
  await send('look around');
  await capture('calls that read', 'Seen.');
  await send('/cost');
  await capture('what the session has cost', 'list prices');

  await send('build and test');
  await capture('a question about a command', 'Esc means no.');
  await answer(terminal, 'npm run build', '1');
  await capture('a running command with its last lines', '  60');
  writeFileSync(path.join(folder, 'go'), '');
  await answer(terminal, 'npm test --', '4');
  await shows('why:');
  terminal.type('use make');
  await capture('a reason for a no', 'use make');
  terminal.press('enter');
  await capture('a command that succeeded and one that was refused', 'It fails.');

  await send('change the greeting');
  await capture('a question about an edit', 'Esc means no.');
  await answer(terminal, 'Edit src/greet.ts?', '1');
  await capture('an edit', 'Changed.');

  await send('plan it');
  await capture('todos', 'I begin');
  terminal.type('and the docs too\r');
  await shows('queued: and the docs too');
  terminal.type('then stop\r');
  await capture('prompts that wait', 'queued: then stop');
  terminal.press('escape');
  await capture('an interrupted turn, with what waited in the prompt', 'interrupted');
  terminal.press('ctrl-c');

  await send('think about it');
  await capture('what the model thinks', 'Thinking: ');
  await interrupt();
  await send('try again');
  await capture('a model call that is tried again', 'retrying in');
  await interrupt();
  await send('use a wrong key');
  await capture('an error of the model server', '401');

  await send('send eight agents');
  await capture('eight agents at work', 'Waiting for 8');
  terminal.press('ctrl-d');
  await capture('leaving while agents work', 'Press Ctrl+D again');
  terminal.press('ctrl-b');
  await capture('agents in the background', 'They are at work.');
  terminal.press('down', 'down');
  await capture('an agent that is marked in the panel', '> [explore]');
});

/** The text, also where it is broken into rows. */
function toPattern(text: string): RegExp {
  return new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll(' ', '\\s+'));
}
