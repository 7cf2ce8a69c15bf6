/**
 * What the screen shows in situations that the built program does not come to at will, at 100 and at 40 columns, as snapshots
 * that a person reads: `__snapshots__/captures.test.ts.snap`. The others are in `tests/e2e/captures.test.ts`. After a change of the looks, run vitest with `-u` and read the difference.
 */
import {expect, test} from 'vitest';
import type {AgentEventBody} from '../../src/core/contract/events.ts';
import {passTime, stopTime} from '../support/fake-time.ts';
import {type Opened, open} from './app-fixture.ts';
import {question} from './fake-session.ts';
import * as runs from './runs-fixture.ts';

interface Situation {
  readonly name: string;
  /** @returns what the screen shows when it is ready */
  readonly play: (repl: Opened) => string | RegExp | Promise<string | RegExp>;
}

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
  {
    name: 'waiting for the model',
    play: async ({screen, session}) => {
      await sent({screen, session});
      return 'Waiting for sonnet';
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
      for (const index of AGENTS.keys())
        repl.session.emit({type: 'run_background', count: index === 0 ? AGENTS.length : 0}, `run ${index}`);
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
    .replace(/^Took [\d.]+s/gm, 'Took 0.0s')
    .replace(/retrying in \d+s/g, 'retrying in 5s')
    .replace(/(\.\.\. \d+ tools?), [\d.]+(s|…)/g, '$1, 0.0$2');
}

test.each([100, 40])('at %i columns', async (columns) => {
  stopTime();
  for (const {name, play} of SITUATIONS) {
    const repl = await open({columns, rows: 36});
    const ready = await play(repl);
    await repl.screen.shows(columns < 100 && typeof ready === 'string' ? toPattern(ready) : ready);
    // What is drawn later, e.g. the seconds, must not differ.
    await passTime(500);
    expect(`\n${normalize(repl.screen.scrollback())}\n`, name).toMatchSnapshot(name);
    expect(
      repl.screen
        .window()
        .split('\n')
        .filter((line) => line.length > columns),
    ).toEqual([]);
    await repl.leave();
  }
});

/** The text, also where it is broken into rows. */
function toPattern(text: string): RegExp {
  return new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll(' ', '\\s+'));
}
