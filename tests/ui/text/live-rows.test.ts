import {expect, test} from 'vitest';
import {type LiveRows, shareRows} from '../../../src/ui/text/live-rows.ts';

const NONE: LiveRows = {
  lead: 0,
  prompt: 1,
  question: 0,
  status: 1,
  busy: 0,
  gap: 1,
  frame: 0,
  completion: 0,
  panel: 0,
  view: 0,
  queued: 0,
  subagents: 0,
  tools: 0,
  todos: 0,
  tail: 0,
};
const ALL: LiveRows = {
  lead: 1,
  prompt: 50,
  question: 12,
  status: 1,
  busy: 1,
  gap: 1,
  frame: 0,
  completion: 6,
  panel: 5,
  view: 60,
  queued: 20,
  subagents: 40,
  tools: 30,
  todos: 15,
  tail: 200,
};

const sum = (rows: LiveRows) => Object.values(rows).reduce((total, count) => total + count, 0);

test.each([2, 5, 10, 15, 24, 40, 100])(
  'in a window of %d rows all live parts together leave its first and last row',
  (rows) => {
    expect(sum(shareRows(rows, ALL))).toBeLessThanOrEqual(Math.max(1, rows - 2));
    expect(shareRows(rows, ALL).prompt).toBeGreaterThan(0);
  },
);

test('all parts get what they want in a high window', () => {
  const wants = {...NONE, tail: 5, subagents: 4, busy: 1, lead: 1};
  expect(shareRows(24, wants)).toEqual(wants);
});

test('the prompt has rules above and below it, but none in a low window', () => {
  expect(shareRows(24, {...NONE, frame: 2}).frame).toBe(2);
  expect(shareRows(15, {...NONE, frame: 2}).frame).toBe(0);
});

test('a question gets its rows before the other parts', () => {
  const given = shareRows(15, {...ALL, prompt: 1, question: 7});
  expect(given).toMatchObject({prompt: 1, question: 7, status: 1});
});

test('an opened run gets two thirds of the window, or what the prompt and the parts around it leave', () => {
  expect(shareRows(24, {...NONE, view: 61, busy: 1, lead: 1})).toMatchObject({view: 16, lead: 1});
  expect(shareRows(12, {...NONE, view: 61, busy: 1, lead: 1})).toMatchObject({view: 5, lead: 1});
});

test('the panel gets at most half of the rows that are left', () => {
  expect(shareRows(10, {...NONE, panel: 5, tail: 30})).toMatchObject({panel: 3, tail: 2});
});

test('many agents leave a few rows for the text', () => {
  expect(shareRows(24, {...NONE, subagents: 40, tail: 30}).tail).toBeGreaterThanOrEqual(3);
});
