import {describe, expect, test} from 'vitest';
import type {AgentEvent, AgentEventBody} from '../../../src/core/contract/events.ts';
import {NO_USAGE} from '../../../src/core/util/messages.ts';
import {reduce} from '../../../src/ui/state/store.ts';
import {closeRun, hasAwaitedWork, openedRun, openRun} from '../../../src/ui/state/subagent-store.ts';
import {INITIAL_STATE, type UiState} from '../../../src/ui/state/ui-state.ts';
import {measureCpu} from '../../support/cpu-time.ts';
import {createEvents, INFO} from '../fake-session.ts';
import * as runs from '../runs-fixture.ts';

type TestEvent = AgentEventBody | [agentId: string, body: AgentEventBody];

const event = createEvents();
const toEvent = (one: TestEvent) => (Array.isArray(one) ? event(one[1], one[0]) : event(one));
const apply = (state: UiState, ...events: TestEvent[]) => events.map(toEvent).reduce(reduce, state);
const played = (...events: TestEvent[]) => apply({...INITIAL_STATE, session: INFO}, ...events);
const kinds = (state: UiState) => state.finished.map(({kind}) => kind);

describe('a background run', () => {
  test('is said in one line with those that go there at the same time', () => {
    const start = ['a', 'b'].map((id): TestEvent => [id, runs.started('look')]);
    const state = played(
      runs.mainStart,
      ...start,
      ['a', {type: 'run_background', count: 2}],
      ['b', {type: 'run_background', count: 0}],
    );
    expect(state.finished).toMatchObject([{kind: 'notice', text: '2 agents run in the background: /subagents'}]);
    expect(state.subagents.map(({isBackground}) => isBackground)).toEqual([true, true]);
  });

  test('is removed from the lines of awaited runs, with one notice', () => {
    const state = played(runs.mainStart, ['a', runs.started('look')], ['a', runs.background], ['a', runs.background]);
    expect(state.subagents).toMatchObject([{agentId: 'a', isBackground: true, state: 'running'}]);
    expect(state.finished).toMatchObject([{kind: 'notice', text: '[explore] look runs in the background: /subagents'}]);
    expect(hasAwaitedWork(state)).toBe(false);
  });

  test('shows one plain line where it was dispatched, and no JSON, also when it begins after the end of its call', () => {
    const text = '[explore] look runs in the background: /subagents';
    const preview = '{"status":"accepted","runId":"a"}';
    const start: TestEvent = ['a', {...runs.started('look'), callId: 'c', background: true} as AgentEventBody];
    const call = {callId: 'c', tool: 'Task'};
    const end = {
      type: 'tool_end',
      ...call,
      isError: false,
      preview,
      display: {type: 'text', text},
      durationMs: 1,
    } as const;
    const begun: TestEvent[] = [runs.mainStart, {type: 'tool_start', ...call, title: 'look'}];
    for (const order of [
      [start, end],
      [end, start],
    ]) {
      const state = played(...begun, ...order);
      expect(state.finished).toMatchObject([{kind: 'notice', text}]);
      expect(state.subagents).toMatchObject([{agentId: 'a', isBackground: true}]);
    }
  });

  test('that was the last awaited one lets the others be printed', () => {
    const state = played(
      runs.mainStart,
      ['a', runs.started('look')],
      ['b', runs.started('read')],
      ['a', runs.runEnd()],
      ['b', runs.background],
    );
    expect(state.subagents).toMatchObject([{agentId: 'b'}]);
    expect(kinds(state)).toEqual(['notice', 'subagents']);
  });

  test('stays after the turn, and only its announcement prints its end', () => {
    const state = played(
      runs.mainStart,
      ['a', runs.started('look')],
      ['a', runs.background],
      {type: 'run_end', outcome: 'success', tools: 0, durationMs: 1, usage: NO_USAGE},
      ['a', runs.runEnd(8)],
    );
    expect(state.subagents).toMatchObject([{state: 'success'}]);
    expect(kinds(state)).toEqual(['notice', 'remark']);
    const announced = apply(state, runs.announcement('a', 'Found **it**.'));
    expect(announced.subagents).toEqual([]);
    expect(announced.finished.at(-1)).toMatchObject({
      kind: 'announcement',
      announcement: {header: '[explore] look - done (8 tools, 5.1s)', text: 'Found **it**.', more: 0},
    });
  });

  test('that is a command shows its last lines at its end, without what the model is told beside them', () => {
    const output = Array.from({length: 20}, (_, row) => `row ${row + 1}`).join('\n');
    const state = played(
      ['a', {...runs.started('seq'), tool: 'bash'} as AgentEventBody],
      ['a', runs.background],
      ['a', runs.toolEnd('seq', output)],
      ['a', runs.runEnd()],
      runs.announcement('a', `${output}\n\nThe whole output: /a.txt`),
    );
    expect(state.finished.at(-1)).toMatchObject({
      announcement: {text: 'row 17\nrow 18\nrow 19\nrow 20', more: 16, isEnd: true},
    });
  });

  test('whose answer skips the announcement is removed from the panel at its end', () => {
    const state = played(
      ['a', runs.started('look')],
      ['a', runs.background],
      ['a', runs.reply(' ANNOUNCE_SKIP\n')],
      ['a', runs.runEnd()],
    );
    expect(state.subagents).toEqual([]);
    expect(kinds(state)).toEqual(['notice']);
  });

  test('has the number of its tools and tokens, its newest call and the time of its last event', () => {
    const calls: TestEvent[] = [
      ['a', runs.reply('x', 700)],
      ['a', runs.toolStart('"foo"')],
      ['a', runs.toolEnd('"foo"', 'a.ts:1')],
      ['a', runs.reply('y', 500)],
    ];
    const state = apply(played(['a', runs.started('look')], ['a', runs.background]), ...calls);
    expect(state.subagents).toMatchObject([{tools: 1, tokens: 1200, lastTool: 'Grep "foo"', lastAt: 1_000_000}]);
  });

  test('that goes on after its end keeps its place and its transcript', () => {
    const state = played(
      ['a', runs.started('look')],
      ['a', runs.background],
      ['b', runs.started('read')],
      ['a', runs.reply('first')],
      ['a', runs.runEnd()],
      ['a', runs.started('look')],
      ['a', runs.reply('second')],
    );
    expect(state.subagents).toMatchObject([
      {agentId: 'a', state: 'running', isBackground: true, tail: {lines: [{text: 'first'}, {text: 'second'}]}},
      {agentId: 'b'},
    ]);
  });

  test('that has ended is removed when a new conversation begins', () => {
    const state = played(['a', runs.started('look')], ['a', runs.background], ['a', runs.runEnd()], {
      type: 'cleared',
    });
    expect(state.subagents).toEqual([]);
  });
});

describe('an announcement', () => {
  const announced = (body: AgentEventBody, ...before: TestEvent[]) => {
    const item = played(...before, body).finished.at(-1);
    if (item?.kind !== 'announcement') throw new Error('no announcement');
    return item.announcement;
  };
  const run: TestEvent[] = [
    ['a', runs.started('look')],
    ['a', runs.background],
  ];

  test.each([
    ['stopped', '[explore] look - stopped (2 tools, 5.1s)', []],
    ['limit', '[explore] look - limit reached: 50 turns (2 tools, 5.1s)', []],
    ['timeout', '[explore] look - timed out (2 tools, 5.1s)', ['50 turns']],
    ['unknown', '[explore] look - unknown (2 tools, 5.1s)', ['mini-cc ended before this run did']],
  ] as const)('of the outcome %s says in its line how it ended, and why', (outcome, header, cause) => {
    const body = runs.announcement('a', '', {outcome, reason: '50 turns'});
    const shown = announced(body, ...run, [
      'a',
      runs.runEnd(2, outcome, '50 turns', 'Receipt: 2 tools · read 5 files · commands 0 · 5.1s · est n/a'),
    ]);
    expect(shown).toMatchObject({header, text: '', receipt: [...cause, 'read 5 files']});
  });

  test('is not confused by a result that looks like an announcement', () => {
    const result = 'a\nNotes: - mine\nStats: all good\nb';
    expect(announced(runs.announcement('a', result), ...run)).toMatchObject({text: result});
  });

  test('of a run that ended before this program started shows what is known', () => {
    expect(announced(runs.announcement('0123456789', 'x'))).toMatchObject({
      agent: 'explore',
      header: '[explore] look - done',
    });
  });

  test('shows the beginning of a long result, counts the other lines, and closes a code block', () => {
    const lines = ['```', ...Array.from({length: 40}, (_, index) => `line ${index}`), '```'];
    const shown = announced(runs.announcement('a', lines.join('\n')), ...run);
    expect(shown.more).toBe(38);
    expect(shown.text.split('\n').slice(-2)).toEqual(['line 2', '```']);
    const paragraph = announced(runs.announcement('a', 'word '.repeat(1000)), ...run);
    expect(paragraph.text.length).toBeLessThan(400);
    expect(paragraph.more).toBeGreaterThan(40);
  });

  test('cannot control the terminal', () => {
    const body = runs.announcement('a\x1b[2J', 'x\x1b[2J', {outcome: 'error', reason: '\x1b]0;x\x07'});
    expect(JSON.stringify(announced(body))).not.toContain('\\u001b');
  });
});

describe('an opened run', () => {
  const working = played(['a', runs.started('look')], ['a', runs.background], ['a', runs.reply('first')]);

  test('can still be read after its announcement, until it is closed', () => {
    const state = apply(openRun(working, 'a'), ['a', runs.runEnd()], runs.announcement('a', 'x'));
    expect(state.subagents).toEqual([]);
    expect(openedRun(state)).toMatchObject({state: 'success', tail: {lines: [{text: 'first'}]}});
    expect(closeRun(state)).toMatchObject({openedRun: undefined, removedRun: undefined});
  });

  test('that goes on after its announcement shows its new events', () => {
    const ended = apply(openRun(working, 'a'), ['a', runs.runEnd()], runs.announcement('a', 'x'));
    const state = apply(ended, ['a', runs.started('look')], ['a', runs.reply('second')]);
    expect(openedRun(state)).toMatchObject({state: 'running', tail: {lines: [{text: 'first'}, {text: 'second'}]}});
    expect(state.removedRun).toBeUndefined();
  });
});

describe('a Task that joined a run or got an earlier result', () => {
  const call = (callId: string): TestEvent => ({type: 'tool_start', callId, tool: 'Task', title: 'x'});
  const repeated = (source: 'joined' | 'cached', state: 'running' | 'success' = 'running'): TestEvent => ({
    ...{type: 'repeated_task', callId: 'two', agent: 'explore', description: 'again'},
    ...{source, state, tools: 3, durationMs: 100},
  });
  const end = (callId: string, preview: string): TestEvent => ({
    ...{type: 'tool_end', callId, tool: 'Task', isError: false, preview, durationMs: 1},
  });

  test('has both progress lines, in order of dispatch, and its result is not printed', () => {
    const joined = repeated('joined');
    const live = played(runs.mainStart, call('call look'), call('two'), joined, ['a', runs.started('look')]);
    expect(live.subagents).toMatchObject([{description: 'look'}, {description: 'again', state: 'running'}]);
    const ends: TestEvent[] = [['a', runs.runEnd()], repeated('joined', 'success'), end('two', 'the answer')];
    const {finished, subagents} = apply(live, ...ends);
    expect(subagents).toEqual([]);
    expect(finished).toMatchObject([{kind: 'subagents', runs: [{}, {source: 'joined', state: 'success', tools: 3}]}]);
    const cached = played(
      runs.mainStart,
      call('two'),
      repeated('cached'),
      repeated('cached', 'success'),
      end('two', 'x'),
    );
    expect(cached.finished).toMatchObject([{kind: 'subagents', runs: [{source: 'cached', description: 'again'}]}]);
  });

  test('has neither a line nor JSON after the run that it joined went to the background', () => {
    const live = played(
      runs.mainStart,
      call('call look'),
      ['a', runs.started('look')],
      call('two'),
      repeated('joined'),
    );
    const json = '{"status":"accepted"}';
    const {finished, subagents} = apply(live, ['a', runs.background], end('call look', json), end('two', json));
    expect(finished).toMatchObject([{kind: 'notice', text: '[explore] look runs in the background: /subagents'}]);
    expect(subagents).toMatchObject([{agentId: 'a', isBackground: true}]);
  });
});

test('a run that waits for the end of a limit says that Esc stops it while the turn waits for it', () => {
  const reason = 'waiting for the limit of anthropic until 14:30';
  const pause = {provider: 'anthropic', until: 0};
  const retry: TestEvent = ['a', {type: 'retry', waitMs: 1, reason, attempt: 1, pause} as AgentEventBody];
  const start: TestEvent[] = [runs.mainStart, ['a', runs.started('look')]];
  expect(played(...start, retry).subagents).toMatchObject([{note: `${reason} · Esc stops`}]);
  expect(played(...start, ['a', runs.background], retry).subagents).toMatchObject([{note: reason}]);
});

test('200 runs of 50 events each are reduced in a short time', () => {
  const ids = Array.from({length: 200}, (_, index) => `0b5a3c1e-run-${index}`);
  const events: AgentEvent[] = ids.flatMap((id) => [event(runs.started('look'), id), event(runs.background, id)]);
  for (let round = 0; round < 12; round++) {
    for (const id of ids) {
      events.push(event(runs.delta('some words\n'), id), event(runs.reply('some words'), id));
      events.push(event(runs.toolStart('"foo"', `${round}`), id), event(runs.toolEnd(`${round}`, 'a.ts:1\n'), id));
    }
  }
  for (const id of ids) events.push(event(runs.runEnd(), id), event(runs.announcement(id, 'found'), 'main'));
  let state = INITIAL_STATE;
  const ms = measureCpu(() => {
    state = events.reduce(reduce, INITIAL_STATE);
  });
  expect(ms).toBeLessThan(5 * 300);
  expect(state.subagents).toEqual([]);
  expect(state.finished).toHaveLength(400);
});
