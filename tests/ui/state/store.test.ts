import {describe, expect, test} from 'vitest';
import type {AgentEventBody} from '../../../src/core/contract/events.ts';
import {NO_USAGE} from '../../../src/core/util/messages.ts';
import {settleAnswer} from '../../../src/ui/state/answer.ts';
import {forgetPrinted} from '../../../src/ui/state/finished-items.ts';
import {openSession, reduce} from '../../../src/ui/state/store.ts';
import {INITIAL_STATE, type UiState} from '../../../src/ui/state/ui-state.ts';
import {EMPTY_STREAM} from '../../../src/ui/text/answer-stream.ts';
import {createFormatter} from '../../../src/ui/text/format.ts';
import type {Line} from '../../../src/ui/text/lines.ts';
import {plainText} from '../../../src/ui/text/styled-text.tsx';
import {createEvents, INFO, question} from '../fake-session.ts';

type TestEvent = AgentEventBody | [agentId: string, body: AgentEventBody, at?: number];

const START: AgentEventBody = {type: 'run_start', agent: 'main', description: '', model: 'm', queued: false};

function played(...events: TestEvent[]): UiState {
  const event = createEvents();
  return events
    .map((one) => (Array.isArray(one) ? event(one[1], one[0], one[2]) : event(one)))
    .reduce(reduce, {...INITIAL_STATE, session: INFO});
}

function subagent(id: string, queued = false): TestEvent {
  return [
    id,
    {type: 'run_start', agent: 'explore', description: `look ${id}`, callId: `call ${id}`, model: 'm', queued},
  ];
}

function ended(id: string, outcome: 'success' | 'error' = 'success', reason = ''): TestEvent {
  return [id, {type: 'run_end', outcome, reason, tools: 2, durationMs: 1500, usage: NO_USAGE}];
}

const delta = (text: string): AgentEventBody => ({type: 'text_delta', text});
const formatter = createFormatter();
const settled = (state: UiState) => settleAnswer(state, formatter, {columns: 80, rows: 16});
const linesText = (lines: readonly Line[]) => lines.map(({spans}) => plainText(spans)).join('\n');
const texts = (state: UiState) =>
  state.finished.map((item) => (item.kind === 'lines' ? linesText(item.lines) : item.kind));
const kinds = (state: UiState) => state.finished.map(({kind}) => kind);

describe('text of the main agent', () => {
  test('is finished block by block; only the tail is live', () => {
    const state = settled(played(START, delta('One.\n\nTwo'), delta(' words')));
    expect(texts(state)).toEqual(['One.']);
    expect(linesText(state.stream.live)).toBe('Two words');
  });

  test('is finished by its message and not printed twice', () => {
    const state = played(START, delta('One.'), {
      type: 'message',
      role: 'assistant',
      id: 'm1',
      content: [{type: 'text', text: 'One.', citations: null}],
      model: 'm',
      usage: {...NO_USAGE, input_tokens: 90, output_tokens: 10},
      stopReason: 'end_turn',
    });
    expect(state.finished).toMatchObject([{kind: 'markdown', text: 'One.'}]);
  });

  test('that came without deltas is printed from its message', () => {
    const state = played(START, {
      type: 'message',
      role: 'assistant',
      id: 'm1',
      content: [{type: 'text', text: 'Whole.', citations: null}],
      model: 'm',
      usage: NO_USAGE,
      stopReason: 'end_turn',
    });
    expect(state.finished).toMatchObject([{kind: 'markdown', text: 'Whole.'}]);
  });

  test('is made safe for the screen', () => {
    const state = played(START, delta('a\x1b]0;x\x07b\n\n'));
    expect(texts(settled(state))).toEqual(['a␛]0;x␇b']);
  });

  test('that is not finished is dropped on a retry, with a notice', () => {
    const state = played(START, delta('half a sen'), {
      type: 'retry',
      waitMs: 4000,
      reason: '503',
      attempt: 2,
      words: 'Full',
    });
    expect(state.retry).toMatchObject({reason: '503', words: 'Full'});
    expect(state.stream).toEqual(EMPTY_STREAM);
    expect(state.finished).toMatchObject([
      {
        kind: 'notice',
        level: 'warning',
        text: 'Connection lost; retrying in 4s (503), attempt 2. The answer starts over.',
      },
    ]);
  });

  test('of 100,000 characters makes a bounded number of items and a bounded tail', () => {
    const event = createEvents();
    const text = `${'word '.repeat(120)}\n\n\`\`\`js\n${'code();\n'.repeat(60)}\`\`\`\n\n`
      .repeat(100)
      .slice(0, 100_000);
    let state = reduce(INITIAL_STATE, event(START));
    let longest = 0;
    for (let at = 0; at < text.length; at += 37) {
      state = settled(reduce(state, event(delta(text.slice(at, at + 37)))));
      longest = Math.max(longest, state.stream.source.length);
    }
    expect(state.finished.length).toBeLessThan(600);
    expect(longest).toBeLessThan(2500);
  });
});

describe('tools', () => {
  test('are live until they end', () => {
    const start: AgentEventBody = {type: 'tool_start', callId: 'c', tool: 'bash', title: 'npm test'};
    const live = played(
      START,
      start,
      {type: 'tool_progress', callId: 'c', text: 'a\nb'},
      {type: 'tool_progress', callId: 'c', text: 'b\n\x1b[31mc'},
    );
    // The last lines as they are now, in place of those before.
    expect(live.tools).toMatchObject([{call: 'Bash(npm test)', progress: 'b\n␛[31mc'}]);
    const done = played(START, start, {
      type: 'tool_end',
      callId: 'c',
      tool: 'bash',
      isError: true,
      preview: 'exit 1\x07',
      durationMs: 5,
    });
    expect(done.tools).toEqual([]);
    expect(done.finished).toMatchObject([
      {kind: 'tool', tool: {call: 'Bash(npm test)', isCommand: true, isError: true, preview: 'exit 1␇'}},
    ]);
  });

  test('replace the todos', () => {
    const todos = [{content: 'write', status: 'in_progress'}] as const;
    const state = played(START, {
      type: 'tool_end',
      callId: 'c',
      tool: 'todo_write',
      isError: false,
      preview: '',
      display: {type: 'todos', todos},
      durationMs: 1,
    });
    expect(state.todos).toEqual(todos);
  });
});

describe('subagents', () => {
  test('have a line each in order of dispatch, and are printed together', () => {
    const live = played(START, subagent('a'), subagent('b', true), ended('a'), ['b', {type: 'run_active'}, 2_000_000]);
    expect(live.subagents).toMatchObject([
      {description: 'look a', state: 'success', tools: 2},
      {description: 'look b', state: 'running', startedAt: 2_000_000},
    ]);
    expect(kinds(live)).toEqual([]);
    const done = played(START, subagent('a'), subagent('b'), ended('b', 'error', 'server\ndown'), ended('a'));
    expect(done.subagents).toEqual([]);
    expect(done.finished).toMatchObject([
      {
        kind: 'subagents',
        runs: [
          {description: 'look a', state: 'success', durationMs: 1500},
          {description: 'look b', state: 'error', reason: 'server down'},
        ],
      },
    ]);
  });

  test('print nothing of their text and tools, but count their tool calls', () => {
    const state = played(
      START,
      subagent('a'),
      ['a', delta('secret\n\nwords\n\n')],
      ['a', {type: 'tool_start', callId: 'x', tool: 'grep', title: 'y'}],
      ['a', {type: 'tool_end', callId: 'x', tool: 'grep', isError: false, preview: 'z', durationMs: 1}],
    );
    expect(state.finished).toEqual([]);
    expect(state.tools).toEqual([]);
    expect(state.subagents).toMatchObject([{tools: 1}]);
  });

  test('are shown instead of their Task call; a call that dispatched no run is shown itself', () => {
    const end = (callId: string, isError: boolean): AgentEventBody => ({
      type: 'tool_end',
      callId,
      tool: 'Task',
      isError,
      preview: 'Invalid agent_type',
      durationMs: 1,
    });
    const start = (callId: string): AgentEventBody => ({type: 'tool_start', callId, tool: 'Task', title: 'look'});
    const state = played(
      START,
      start('call a'),
      subagent('a'),
      ended('a'),
      end('call a', false),
      start('q'),
      end('q', true),
    );
    expect(kinds(state)).toEqual(['subagents', 'tool']);
  });

  test('in the background stay live when the turn ends', () => {
    const end: AgentEventBody = {type: 'run_end', outcome: 'success', tools: 0, durationMs: 1, usage: NO_USAGE};
    const state = played(START, subagent('a'), subagent('b'), ended('a'), end);
    expect(state.subagents).toMatchObject([{agentId: 'b', state: 'running'}]);
    expect(kinds(state)).toEqual(['subagents', 'remark']);
  });

  test('leave the share of the main window as it is', () => {
    const main: AgentEventBody = {type: 'context', tokens: 2_000, limit: 200_000};
    const state = played(START, main, subagent('a'), ['a', {...main, limit: 8_000}]);
    expect(state.context).toEqual({tokens: 2_000, limit: 200_000});
  });

  test('show on their line that they wait for a retry', () => {
    const state = played(START, subagent('a'), ['a', {type: 'retry', waitMs: 2000, reason: '529', attempt: 2}]);
    expect(state.subagents).toMatchObject([{note: 'retrying in 2s (529), attempt 2'}]);
    expect(state.finished).toEqual([]);
  });
});

describe('questions', () => {
  test('wait one after another; a long detail is printed in full when its question is first', () => {
    const long = question({id: 'q2', detail: Array.from({length: 40}, (_, index) => `line ${index}`).join('\n')});
    const both = played({type: 'ask', question: question({id: 'q1'})}, {type: 'ask', question: long});
    expect(both.questions.map(({id}) => id)).toEqual(['q1', 'q2']);
    expect(kinds(both)).toEqual([]);
    const second = played(
      {type: 'ask', question: question({id: 'q1'})},
      {type: 'ask', question: long},
      {type: 'ask_end', askId: 'q1', answer: 'yes'},
    );
    expect(second.finished).toMatchObject([
      {kind: 'remark', text: expect.stringMatching(/ · yes$/)},
      {kind: 'detail', question: {detail: long.detail}},
    ]);
  });

  test('leave a line that names the command to which the answer changed the call, and so does the call', () => {
    const call = {type: 'tool_start', callId: 'c1', tool: 'bash'} as const;
    const state = played(
      {...call, title: 'touch a', description: 'Make a'},
      {type: 'ask', question: question({id: 'q1', callId: 'c1', title: 'Run this command?', detail: 'touch a'})},
      {type: 'ask_end', askId: 'q1', answer: 'yes', input: {command: 'touch b\x1b'}},
      {...call, title: 'touch b'},
    );
    expect(state.finished).toMatchObject([
      {kind: 'remark', text: 'Run this command? touch a · yes, changed to: touch b␛'},
    ]);
    expect(state.tools).toMatchObject([{callId: 'c1', call: 'Bash(touch b)', description: ''}]);
  });

  test('leave the word no when they are refused, and no request for a reason', () => {
    const options = [{digit: 4, choice: 'no', label: 'no, and say why', takesNote: true}];
    const state = played(
      {type: 'ask', question: question({id: 'q1', title: 'Edit a.ts?', detailType: 'diff', options, escape: 'no'})},
      {type: 'ask_end', askId: 'q1', answer: 'no'},
    );
    expect(state.finished).toMatchObject([{kind: 'remark', text: 'Edit a.ts? · no'}]);
  });

  test('cannot contain escape sequences', () => {
    const state = played({type: 'ask', question: question({title: 'rm\x1b[2K', detail: 'rm -rf\u202e /'})});
    expect(state.questions).toMatchObject([{title: 'rm␛[2K', detail: 'rm -rf\\u202E /'}]);
  });
});

describe('the conversation', () => {
  test('a queued prompt is printed where it is delivered', () => {
    const state = played(
      {type: 'queued_prompt', id: '1', text: 'also this'},
      {type: 'queued_prompt_delivered', id: '1'},
    );
    expect(state.queued).toEqual([]);
    expect(state.finished).toMatchObject([{kind: 'prompt', text: 'also this'}]);
  });

  test('a queued prompt that was dropped is printed as not sent', () => {
    const state = played(
      {type: 'queued_prompt', id: '1', text: 'also'},
      {type: 'queued_prompt_dropped', id: '1', text: 'also'},
    );
    expect(state.queued).toEqual([]);
    expect(state.finished).toMatchObject([{kind: 'notice', text: 'not sent: also'}]);
  });

  test.each([
    ['stopped', '', 'interrupted'],
    ['error', 'wrong key', 'wrong key'],
    ['limit', '50 turns', 'limit reached: 50 turns'],
    ['timeout', 'timed out after 5 s', 'timed out after 5 s'],
  ] as const)('a turn that ended by %s says so in one line', (outcome, reason, text) => {
    const state = played(START, {type: 'run_end', outcome, reason, tools: 0, durationMs: 1, usage: NO_USAGE});
    expect(state.busy).toBe(false);
    expect(state.finished).toMatchObject([{kind: 'notice', text}, {text: 'Took 0.0s'}]);
  });

  test('what the offline model could not do is said once, by its answer', () => {
    const reason = 'the offline model: No definition of x.';
    const end: AgentEventBody = {type: 'run_end', outcome: 'error', reason, tools: 0, durationMs: 1, usage: NO_USAGE};
    const said = 'I cannot do this offline: No definition of x.';
    expect(kinds(settled(played(START, delta(`${said}\n\n`), end)))).toEqual(['markdown', 'remark']);
  });

  test('a resumed session prints the end of the conversation', () => {
    const restored = Array.from({length: 120}, (_, index) => ({
      message: {role: index % 2 === 0 ? ('user' as const) : ('assistant' as const), content: `words ${index}`},
    }));
    const state = openSession(INITIAL_STATE, {...INFO, restored, warnings: ['unknown key']});
    expect(kinds(state).slice(0, 5)).toEqual(['notice', 'notice', 'prompt', 'markdown', 'prompt']);
    expect(state.finished.at(-1)).toMatchObject({kind: 'markdown', text: 'words 119'});
  });

  test('printed items lose their text and keep their place', () => {
    const state = forgetPrinted(settled(played(START, delta('One.\n\nTwo.\n\n'))), 1);
    expect(state.finished).toMatchObject([
      {id: 0, gap: false, kind: 'printed'},
      {id: 1, kind: 'lines'},
    ]);
  });
});

test('a turn says at its end how long it took', () => {
  const turn = (ms: number) => {
    const end: AgentEventBody = {type: 'run_end', outcome: 'success', tools: 0, durationMs: ms, usage: NO_USAGE};
    return played(['main', START, 1000], ['main', end, 1000 + ms]).finished;
  };
  expect(turn(420)).toMatchObject([{kind: 'remark', text: 'Took 0.4s'}]);
  expect(turn(1_500)).toMatchObject([{kind: 'remark', text: 'Took 1s'}]);
  expect(turn(72_000)).toMatchObject([{kind: 'remark', text: 'Took 1m12s'}]);
});
