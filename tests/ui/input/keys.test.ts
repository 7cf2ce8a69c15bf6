import type {Key} from 'ink';
import {expect, test} from 'vitest';
import {editorAction, parseKeys} from '../../../src/ui/input/keys.ts';

const NO_KEY: Key = {
  upArrow: false,
  downArrow: false,
  leftArrow: false,
  rightArrow: false,
  pageDown: false,
  pageUp: false,
  home: false,
  end: false,
  return: false,
  escape: false,
  ctrl: false,
  shift: false,
  tab: false,
  backspace: false,
  delete: false,
  meta: false,
  super: false,
  hyper: false,
  capsLock: false,
  numLock: false,
};

const pressed = (input: string, key: Partial<Key> = {}) =>
  parseKeys(input, {...NO_KEY, ...key}).map(({name, text, ctrl}) =>
    ctrl ? `^${text}` : name === 'text' ? text : name,
  );

test('several keys in one chunk are several keys', () => {
  expect(pressed('hello\r')).toEqual(['hello', 'return']);
  expect(pressed('ab\x15cd')).toEqual(['ab', '^u', 'cd']);
  expect(pressed('\t1')).toEqual(['tab', '1']);
});

test('each line end in a chunk of few lines is the Enter key', () => {
  expect(pressed('one\rtwo\r')).toEqual(['one', 'return', 'two', 'return']);
});

test('the release of a key is ignored', () => {
  expect(pressed('a', {eventType: 'release'})).toEqual([]);
});

test.each<[string, Partial<Key>, unknown]>([
  ['a', {ctrl: true}, {type: 'line-start'}],
  ['\n', {}, {type: 'insert', text: '\n'}],
  ['j', {ctrl: true}, {type: 'insert', text: '\n'}],
  ['\r', {return: true, shift: true}, {type: 'insert', text: '\n'}],
  ['\r', {return: true}, undefined],
  ['b', {meta: true}, {type: 'word-left'}],
  ['', {backspace: true, meta: true}, {type: 'kill-word-left'}],
  ['', {leftArrow: true, ctrl: true}, {type: 'word-left'}],
  ['', {pageUp: true}, undefined],
  ['q', {ctrl: true}, undefined],
])('%j with %o does %o', (input, key, action) => {
  expect(parseKeys(input, {...NO_KEY, ...key}).map((press) => editorAction(press, 80))).toEqual([action]);
});
