import {describe, expect, test} from 'vitest';
import type {AgentEvent, AgentEventBody} from '../../../src/core/contract/events.ts';
import {NO_USAGE} from '../../../src/core/util/messages.ts';
import {reduce} from '../../../src/ui/state/store.ts';
import {closeRun, hasAwaitedWork, openedRun, openRun} from '../../../src/ui/state/subagent-store.ts';
import {INITIAL_STATE, type UiState} from '../../../src/ui/state/ui-state.ts';
import {createEvents} from '../fake-session.ts';
import * as tell from '../runs-fixture.ts';

type Told = AgentEventBody | [agentId: string, body: AgentEventBody];

const event = createEvents();
const eventOf = (one: Told) => (Array.isArray(one) ? event(one[1], one[0]) : event(one));
const go = (state: UiState, ...told: Told[]) => told.map(eventOf).reduce(reduce, state);
const played = (...told: Told[]) => go(INITIAL_STATE, ...told);
const kinds = (state: UiState) => state.finished.map(({kind}) => kind);

describe('a background run', () => {
  test('leaves the lines of those that are awaited, and says so once', () => {
    const state = played(tell.mainStart, ['a', tell.started('look')], ['a', tell.background], ['a', tell.background]);
    expect(state.subagents).toMatchObject([{agentId: 'a', isBackground: true, state: 'running'}]);
    expect(state.finished).toMatchObject([{kind: 'notice', text: '[explore] look · in the background'}]);
    expect(hasAwaitedWork(state)).toBe(false);
  });

  test('that was the last one awaited lets the others be printed', () => {
    const state = played(
      tell.mainStart,
      ['a', tell.started('look')],
      ['b', tell.started('read')],
      ['a', tell.runEnd()],
      ['b', tell.background],
    );
    expect(state.subagents).toMatchObject([{agentId: 'b'}]);
    expect(kinds(state)).toEqual(['notice', 'subagents']);
  });

  test('outlives the turn, and its end is printed by its announcement alone', () => {
    const state = played(
      tell.mainStart,
      ['a', tell.started('look')],
      ['a', tell.background],
      {type: 'run_end', outcome: 'success', tools: 0, durationMs: 1, usage: NO_USAGE},
      ['a', tell.runEnd(8)],
    );
    expect(state.subagents).toMatchObject([{state: 'success'}]);
    expect(kinds(state)).toEqual(['notice']);
    const announced = go(state, tell.announcement('a', 'Found **it**.'));
    expect(announced.subagents).toEqual([]);
    expect(announced.finished.at(-1)).toMatchObject({
      kind: 'announcement',
      announcement: {header: '[explore] look - done (8 tools, 5.1s)', text: 'Found **it**.', more: 0, notes: ''},
    });
  });

  test('that wants no announcement leaves the panel by itself', () => {
    const state = played(
      ['a', tell.started('look')],
      ['a', tell.background],
      ['a', tell.said(' ANNOUNCE_SKIP\n')],
      ['a', tell.runEnd()],
    );
    expect(state.subagents).toEqual([]);
    expect(kinds(state)).toEqual(['notice']);
  });

  test('counts tools and tokens, and keeps its newest call and when it was heard of', () => {
    const calls: Told[] = [
      ['a', tell.said('x', 700)],
      ['a', tell.toolStart('"foo"')],
      ['a', tell.toolEnd('"foo"', 'a.ts:1')],
      ['a', tell.said('y', 500)],
    ];
    const state = go(played(['a', tell.started('look')], ['a', tell.background]), ...calls);
    expect(state.subagents).toMatchObject([{tools: 1, tokens: 1200, lastTool: 'grep "foo"', lastAt: 1_000_000}]);
  });

  test('that goes on after its end keeps its place and what it did', () => {
    const state = played(
      ['a', tell.started('look')],
      ['a', tell.background],
      ['b', tell.started('read')],
      ['a', tell.said('first')],
      ['a', tell.runEnd()],
      ['a', tell.started('look')],
      ['a', tell.said('second')],
    );
    expect(state.subagents).toMatchObject([
      {agentId: 'a', state: 'running', isBackground: true, tail: {lines: [{text: 'first'}, {text: 'second'}]}},
      {agentId: 'b'},
    ]);
  });

  test('of an old conversation is forgotten with it once it has ended', () => {
    const state = played(['a', tell.started('look')], ['a', tell.background], ['a', tell.runEnd()], {type: 'cleared'});
    expect(state.subagents).toEqual([]);
  });
});

describe('an announcement', () => {
  const announced = (body: AgentEventBody, ...before: Told[]) => {
    const item = played(...before, body).finished.at(-1);
    if (item?.kind !== 'announcement') throw new Error('no announcement');
    return item.announcement;
  };
  const run: Told[] = [
    ['a', tell.started('look')],
    ['a', tell.background],
  ];

  test.each([
    ['error', 'stopped', '[explore] look - stopped (2 tools, 5.1s)'],
    ['error', 'limit', '[explore] look - limit reached: 50 turns (2 tools, 5.1s)'],
    ['timeout', 'timeout', '[explore] look - timed out (2 tools, 5.1s)'],
    ['unknown', 'unknown', '[explore] look - unknown (2 tools, 5.1s)'],
  ] as const)('of status %s, outcome %s', (status, outcome, header) => {
    const body = tell.announcement('a', '(not available)', {status, outcome, notes: '- Error: why'});
    const shown = announced(body, ...run, ['a', tell.runEnd(2, outcome, '50 turns')]);
    expect(shown).toMatchObject({header, notes: '- Error: why'});
  });

  test('is read from its end: a result that looks like one does not deceive', () => {
    const result = 'a\nNotes: - mine\nStats: all good\nb';
    expect(announced(tell.announcement('a', result), ...run)).toMatchObject({text: result, notes: ''});
  });

  test('of a run that ended before this program began names what it can', () => {
    expect(announced(tell.announcement('0123456789', 'x'))).toMatchObject({
      agent: 'explore',
      header: '[explore] look - done',
    });
  });

  test('shows the beginning of a long result, counts the rest, and closes a block of code', () => {
    const lines = ['```', ...Array.from({length: 40}, (_, index) => `line ${index}`), '```'];
    const shown = announced(tell.announcement('a', lines.join('\n')), ...run);
    expect(shown.more).toBe(22);
    expect(shown.text.split('\n').slice(-2)).toEqual(['line 18', '```']);
    const paragraph = announced(tell.announcement('a', 'word '.repeat(1000)), ...run);
    expect(paragraph.text.length).toBeLessThan(1700);
    expect(paragraph.more).toBeGreaterThan(40);
  });

  test('cannot command the terminal', () => {
    const body = tell.announcement('a\x1b[2J', 'x\x1b[2J', {status: 'error', outcome: 'error', notes: '\x1b]0;x\x07'});
    expect(JSON.stringify(announced(body))).not.toContain('\\u001b');
  });
});

describe('an opened run', () => {
  const working = played(['a', tell.started('look')], ['a', tell.background], ['a', tell.said('first')]);

  test('stays to be read when it was announced, until it is left', () => {
    const state = go(openRun(working, 'a'), ['a', tell.runEnd()], tell.announcement('a', 'x'));
    expect(state.subagents).toEqual([]);
    expect(openedRun(state)).toMatchObject({state: 'success', tail: {lines: [{text: 'first'}]}});
    expect(closeRun(state)).toMatchObject({openedRun: undefined, removedRun: undefined});
  });

  test('that was announced and goes on is followed further', () => {
    const ended = go(openRun(working, 'a'), ['a', tell.runEnd()], tell.announcement('a', 'x'));
    const state = go(ended, ['a', tell.started('look')], ['a', tell.said('second')]);
    expect(openedRun(state)).toMatchObject({state: 'running', tail: {lines: [{text: 'first'}, {text: 'second'}]}});
    expect(state.removedRun).toBeUndefined();
  });
});

test('200 runs of 50 events each are no burden', () => {
  const ids = Array.from({length: 200}, (_, index) => `0b5a3c1e-run-${index}`);
  const events: AgentEvent[] = ids.flatMap((id) => [event(tell.started('look'), id), event(tell.background, id)]);
  for (let round = 0; round < 12; round++) {
    for (const id of ids) {
      events.push(event(tell.delta('some words\n'), id), event(tell.said('some words'), id));
      events.push(event(tell.toolStart('"foo"', `${round}`), id), event(tell.toolEnd(`${round}`, 'a.ts:1\n'), id));
    }
  }
  for (const id of ids) events.push(event(tell.runEnd(), id), event(tell.announcement(id, 'found'), 'main'));
  const before = performance.now();
  const state = events.reduce(reduce, INITIAL_STATE);
  expect(performance.now() - before).toBeLessThan(300);
  expect(state.subagents).toEqual([]);
  expect(state.finished).toHaveLength(400);
});
