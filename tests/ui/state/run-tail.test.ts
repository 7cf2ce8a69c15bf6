import {expect, test} from 'vitest';
import {ALL_TOOLS} from '../../../src/compose/known-tools.ts';
import type {AgentEventBody} from '../../../src/core/contract/events.ts';
import {EMPTY_TAIL, feedTail, MAX_CHARS, MAX_LINES, tailLines} from '../../../src/ui/state/run-tail.ts';
import {createEvents} from '../fake-session.ts';
import {delta, reply, runEnd, toolEnd, toolStart} from '../runs-fixture.ts';

function fed(...bodies: AgentEventBody[]) {
  const event = createEvents();
  return bodies.map((body) => event(body, 'a')).reduce((tail, each) => feedTail(tail, each, ALL_TOOLS), EMPTY_TAIL);
}

test('text is shown while it streams, and once when its message has come', () => {
  expect(tailLines(fed(delta('One\nt'), delta('wo')))).toEqual([
    {kind: 'text', text: 'One'},
    {kind: 'text', text: 'two'},
  ]);
  expect(tailLines(fed(delta('One'), reply('One')))).toEqual([{kind: 'text', text: 'One'}]);
  expect(tailLines(fed(reply('Whole.')))).toEqual([{kind: 'text', text: 'Whole.'}]);
  expect(tailLines(fed(delta('Cut off'), runEnd()))).toEqual([{kind: 'text', text: 'Cut off'}]);
});

test('a result is shown with its own call, also when calls run at the same time', () => {
  const tail = fed(toolStart('"x"', 'c1'), toolStart('"y"', 'c2'), toolEnd('c1', '\n a.ts:1\nb.ts:2', false));
  expect(tail.lines).toEqual([
    {kind: 'tool', callId: 'c1', text: 'Grep "x"', result: {text: 'a.ts:1', isError: false}},
    {kind: 'tool', callId: 'c2', text: 'Grep "y"'},
  ]);
});

test('a call that was changed before it ran has one line, which says what ran', () => {
  expect(fed(toolStart('"x"', 'c1'), toolStart('"z"', 'c1')).lines).toEqual([
    {kind: 'tool', callId: 'c1', text: 'Grep "z"'},
  ]);
});

test('text that a retry will write again is dropped', () => {
  expect(tailLines(fed(delta('half'), {type: 'retry', waitMs: 1, reason: '529', attempt: 1}, delta('Whole')))).toEqual([
    {kind: 'text', text: 'Whole'},
  ]);
});

test('messages of the person are shown', () => {
  expect(fed({type: 'message', role: 'user', content: 'look\nthere'}).lines).toEqual([
    {kind: 'sent', text: 'look there'},
  ]);
});

test('the tail is bounded in lines and characters, and keeps the end', () => {
  const many = fed(...Array.from({length: 300}, (_, index) => reply(`line ${index}`)));
  expect(many.lines).toHaveLength(MAX_LINES);
  expect(many.lines.at(-1)).toEqual({kind: 'text', text: 'line 299'});
  const long = fed(...Array.from({length: 300}, () => reply('word '.repeat(200))));
  expect(long.lines.reduce((sum, {text}) => sum + text.length, 0)).toBeLessThanOrEqual(MAX_CHARS);
  const huge = fed(reply(`${'x'.repeat(50_000)}end`));
  expect(huge.lines).toHaveLength(1);
  expect(huge.lines[0]!.text.length).toBe(MAX_CHARS);
  expect(huge.lines[0]!.text.endsWith('end')).toBe(true);
  const open = fed(...Array.from({length: 5000}, () => delta('0123456789')));
  expect(open.open.length).toBeLessThanOrEqual(2 * MAX_CHARS);
});

test('text cannot control the terminal, also when an escape sequence comes in two pieces', () => {
  const tail = fed(toolStart('\x1b[2J', 'c'), toolEnd('c', '\x1b]0;x\x07'), delta('a\x1b'), delta('[2Jb'));
  expect(JSON.stringify(tailLines(tail))).not.toContain('\\u001b');
  expect(tailLines(tail).at(-1)).toEqual({kind: 'text', text: 'a␛[2Jb'});
});
