/**
 * What the screen shows in the main situations, at 100 and at 40 columns, as snapshots that a person reads:
 * `__snapshots__/captures.test.ts.snap`. After a change of the looks, run vitest with `-u` and read the difference.
 */
import {expect, test} from 'vitest';
import type {AgentEventBody} from '../../src/core/contract/events.ts';
import {ESC, type Opened, open, SHIFT_TAB} from './app-fixture.ts';
import {question} from './fake-session.ts';
import * as runs from './runs-fixture.ts';

interface Situation {
  readonly name: string;
  /** @returns what the screen shows when it is ready */
  readonly play: (repl: Opened) => string | RegExp | Promise<string | RegExp>;
}

const PATCH = [
  '@@ -1,4 +1,5 @@',
  ' import {format} from "./format.ts";',
  ' ',
  '-export const greet = (name: string) => `Hello ${name}`;',
  '+export const greet = (name: string) => `Hi ${name}`;',
  '+export const part = (name: string) => `Bye ${name}`;',
].join('\n');

const ANSWER = [
  '# What I found',
  'The **greeting** is made in `src/greet.ts:3`, and *nothing* else calls it.',
  '1. Change the text\n2. Run the tests\n   - `npm test`',
  '| File | Lines |\n|------|------:|\n| src/greet.ts | 12 |\n| src/format.ts | 140 |',
  '```ts\nexport const greet = (name: string) => `Hi ${name}`;\n```',
  '> It was so before.',
].join('\n\n');

const start = (callId: string, tool: string, title: string, description?: string): AgentEventBody => ({
  ...{type: 'tool_start', callId, tool, title},
  ...(description !== undefined && {description}),
});
const end = (
  callId: string,
  tool: string,
  more: Partial<AgentEventBody & {type: 'tool_end'}> = {},
): AgentEventBody => ({
  ...{type: 'tool_end', callId, tool, isError: false, preview: '', durationMs: 1},
  ...more,
});
const lines = (count: number) => Array.from({length: count}, (_, index) => `line ${index + 1}`).join('\n');

const RECEIPT =
  'Receipt: 8 tools · read 5 files · changed 1 file: src/a.ts · commands 2 (exit 0, 1) · citations 4/4 exist · 5.1s · tokens in 12.3k out 1.1k · est $0.02';
const AGENTS = ['explore', 'plan', 'explore', 'code', 'explore', 'reviewer', 'explore', 'code'];
const AREAS = ['the parser', 'a plan', 'the tests', 'the fix', 'the docs', 'the change', 'the build', 'the types'];

function startAgents({session}: Opened): void {
  for (const [index, agent] of AGENTS.entries()) {
    session.emit(runs.started(AREAS[index]!, agent), `run ${index}`);
  }
}

const SITUATIONS: readonly Situation[] = [
  {name: 'the first screen', play: () => 'default · sonnet'},
  {
    name: 'what is typed, in two lines',
    play: ({screen}) => {
      screen.type('fix the greeting\nand run the tests');
      return 'and run the tests';
    },
  },
  {
    name: 'the list of commands',
    play: ({screen}) => {
      screen.type('/');
      return 'shows or sets the model';
    },
  },
  {
    name: 'an answer with all kinds of blocks',
    play: async ({screen, session}) => {
      await sent({screen, session});
      session.emit(runs.delta(ANSWER));
      session.emit(runs.reply(ANSWER, 12_300));
      session.endTurn();
      return 'It was so before.';
    },
  },
  {
    name: 'waiting for the model',
    play: async ({screen, session}) => {
      await sent({screen, session});
      return 'Waiting for sonnet';
    },
  },
  {
    name: 'a model call that is tried again',
    play: async ({screen, session}) => {
      await sent({screen, session});
      session.emit({type: 'retry', waitMs: 50_000, reason: '429', attempt: 2});
      return 'retrying';
    },
  },
  {
    name: 'a connection lost in the middle of an answer',
    play: async ({screen, session}) => {
      await sent({screen, session});
      session.emit(runs.delta('The first part of the answer.\n\nThe second'));
      session.emit({type: 'retry', waitMs: 5000, reason: '503', attempt: 2});
      return 'The answer starts over.';
    },
  },
  {
    name: 'what the model thinks',
    play: async ({screen, session}) => {
      await sent({screen, session});
      session.emit({type: 'thinking_delta', text: 'The greeting is made in one place, so I look for it first.'});
      return 'Thinking';
    },
  },
  {
    name: 'calls that read',
    play: async ({screen, session}) => {
      await sent({screen, session});
      session.emit(start('a', 'read_file', 'src/greet.ts'));
      session.emit(end('a', 'read_file', {summary: '12 lines', preview: '     1\timport', lines: 12}));
      session.emit(start('b', 'grep', '"greet" in src'));
      session.emit(end('b', 'grep', {summary: '3 lines in 2 files', preview: 'src/a.ts:1', lines: 3}));
      session.emit(start('c', 'glob', '**/*.ts'));
      session.emit(end('c', 'glob', {summary: '31 files', preview: 'a.ts', lines: 31}));
      session.emit(start('d', 'web_fetch', 'https://example.com/a'));
      session.emit(end('d', 'web_fetch', {preview: '# A page\n\nText of it.', lines: 3}));
      session.emit(start('e', 'read_file', 'src/none.ts'));
      session.emit(end('e', 'read_file', {isError: true, preview: 'No such file: src/none.ts', lines: 1}));
      session.endTurn();
      return 'No such file';
    },
  },
  {
    name: 'a running command with its last lines',
    play: async ({screen, session}) => {
      await sent({screen, session});
      session.emit(start('a', 'bash', 'npm test', 'Run the tests'));
      session.emit({type: 'tool_progress', callId: 'a', text: '  ✓ greets\n  ✓ parts\n  - waits for the server'});
      return 'waits for the server';
    },
  },
  {
    name: 'a command that succeeded and one that failed',
    play: async ({screen, session}) => {
      await sent({screen, session});
      session.emit(start('a', 'bash', 'npm run build', 'Build it'));
      session.emit(end('a', 'bash', {preview: lines(60), lines: 2993}));
      session.emit(start('b', 'bash', 'npm test -- --reporter=dot tests/greet.test.ts', 'Run the tests'));
      const preview = `${lines(40)}\nexit code 1`;
      session.emit(end('b', 'bash', {isError: true, summary: 'exit code 1', preview, previewIsEnd: true, lines: 520}));
      session.endTurn();
      return 'earlier lines';
    },
  },
  {
    name: 'an edit',
    play: async ({screen, session}) => {
      await sent({screen, session});
      session.emit(start('a', 'edit_file', 'src/greet.ts'));
      session.emit(end('a', 'edit_file', {display: {type: 'diff', path: 'src/greet.ts', patch: PATCH}}));
      session.endTurn();
      return '+2 -1';
    },
  },
  {
    name: 'todos',
    play: async ({screen, session}) => {
      await sent({screen, session});
      const todos = [
        {content: 'Read the greeting', status: 'completed'},
        {content: 'Change it', status: 'in_progress'},
        {content: 'Run the tests', status: 'pending'},
      ] as const;
      session.emit(start('a', 'todo_write', 'Change it'));
      session.emit(end('a', 'todo_write', {display: {type: 'todos', todos}}));
      return '[ ] Run the tests';
    },
  },
  {
    name: 'a question about an edit',
    play: ({session}) => {
      session.emit(start('a', 'edit_file', 'src/greet.ts'));
      const options = [
        {digit: 1, choice: 'yes', label: 'yes'},
        {digit: 2, choice: 'session', label: 'yes, all edits in this workspace for this session'},
        {digit: 3, choice: 'always', label: 'yes, always in this project: edit_file(/src/greet.ts)'},
        {digit: 4, choice: 'no', label: 'no, and say why', takesNote: true},
      ];
      const asks = {title: 'Edit src/greet.ts?', detail: PATCH, detailType: 'diff', callId: 'a', options} as const;
      session.emit({type: 'ask', question: question(asks)});
      return 'Press 1';
    },
  },
  {
    name: 'a question of a subagent about a command, with a reason',
    play: ({session}) => {
      const because = 'writes outside the workspace: /etc/hosts';
      session.emit({type: 'ask', question: question({agent: '[code] fix it', because, detail: 'tee /etc/hosts'})});
      return 'Press 1';
    },
  },
  {
    name: 'a question that was answered',
    play: async ({screen, session}) => {
      session.emit({type: 'ask', question: question()});
      await screen.shows('1 yes');
      session.emit({type: 'ask_end', askId: 'ask-1', answer: 'session'});
      await screen.lacks('4 no');
      return '· yes for this session';
    },
  },
  {
    name: 'a reason for a no',
    play: async ({screen, session}) => {
      session.emit({type: 'ask', question: question()});
      await screen.shows('1 yes');
      screen.pass(1000);
      screen.type('4');
      await screen.shows('why:');
      screen.type('use make');
      return 'use make';
    },
  },
  {
    name: 'eight agents at work',
    play: async (repl) => {
      await sent(repl);
      startAgents(repl);
      repl.session.emit(runs.runEnd(3, 'success', '', RECEIPT), 'run 2');
      repl.session.emit({type: 'retry', waitMs: 4000, reason: '429', attempt: 2}, 'run 0');
      return /the typ/;
    },
  },
  {
    name: 'eight agents that have ended',
    play: async (repl) => {
      await sent(repl);
      startAgents(repl);
      for (const index of AGENTS.keys()) {
        const [outcome, reason] =
          index === 1
            ? (['error', '500'] as const)
            : index === 5
              ? (['limit', '50 turns'] as const)
              : (['success', ''] as const);
        repl.session.emit(runs.runEnd(index, outcome, reason, RECEIPT), `run ${index}`);
      }
      repl.session.endTurn();
      return /the typ.* - done/;
    },
  },
  {
    name: 'agents in the background, and the end of two',
    play: async (repl) => {
      await sent(repl);
      startAgents(repl);
      for (const index of AGENTS.keys()) repl.session.emit(runs.background, `run ${index}`);
      repl.session.endTurn();
      for (const index of [0, 1]) {
        repl.session.emit(runs.runEnd(8, 'success', '', RECEIPT), `run ${index}`);
        repl.session.emit({
          ...runs.announcement(`run ${index}`, 'It is in `src/a.ts:3`.'),
          agent: AGENTS[index],
        } as AgentEventBody);
      }
      return '6 agents';
    },
  },
  {
    name: 'leaving while agents work',
    play: async (repl) => {
      await sent(repl);
      startAgents(repl);
      await repl.screen.shows('the types');
      repl.screen.type('\x04');
      return 'Press Ctrl+D again';
    },
  },
  {
    name: 'prompts that wait',
    play: async ({screen, session}) => {
      await sent({screen, session});
      screen.type('and the docs too\r');
      await screen.shows('queued: and the docs too');
      screen.type('then stop\r');
      return 'queued: then stop';
    },
  },
  {
    name: 'an interrupted turn',
    play: async ({screen, session}) => {
      await sent({screen, session});
      session.emit(runs.delta('I begin with the'));
      await screen.shows('I begin with');
      screen.type(ESC);
      return 'interrupted';
    },
  },
  {
    name: 'an error of the model server',
    play: async ({screen, session}) => {
      await sent({screen, session});
      session.endTurn('error', 'the model server refused the key (401): check ANTHROPIC_API_KEY');
      return 'refused the key';
    },
  },
  {
    name: 'another mode, and the keys',
    play: async ({screen}) => {
      screen.type(SHIFT_TAB);
      await screen.shows('acceptEdits · sonnet');
      screen.type('?');
      return 'Ctrl+B';
    },
  },
];

async function sent({screen}: Pick<Opened, 'screen' | 'session'>): Promise<void> {
  screen.type('change the greeting\r');
  await screen.shows('Esc interrupts');
}

/** Without what depends on the time. */
function normalize(text: string): string {
  return text
    .replace(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/g, '⠋')
    .replace(/ · \d+s(?= · |$)/gm, ' · 0s')
    .replace(/retrying in \d+s/g, 'retrying in 5s')
    .replace(/(\.\.\. \d+ tools?), [\d.]+(s|…)/g, '$1, 0.0$2');
}

test('there are 25 situations', () => {
  expect(new Set(SITUATIONS.map(({name}) => name)).size).toBe(25);
});

test.each([100, 40])('at %i columns', {timeout: 60_000}, async (columns) => {
  for (const {name, play} of SITUATIONS) {
    const repl = await open({columns, rows: 36});
    const ready = await play(repl);
    await repl.screen.shows(columns < 100 && typeof ready === 'string' ? toPattern(ready) : ready);
    // What is drawn later, e.g. the seconds, must not differ.
    await new Promise((resolve) => setTimeout(resolve, 60));
    expect(`\n${normalize(repl.screen.scrollback())}\n`, name).toMatchSnapshot(name);
    expect(
      repl.screen
        .window()
        .split('\n')
        .filter((line) => line.length > columns),
    ).toEqual([]);
  }
});

/** The text, also where it is broken into rows. */
function toPattern(text: string): RegExp {
  return new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll(' ', '\\s+'));
}
