/** The keys of vi in the prompt: normal and insert mode. */
import {describe, expect, it} from 'vitest';
import {createEditor, edit} from '../../../src/ui/input/editor.ts';
import {INSERT, pressVi, type ViState} from '../../../src/ui/input/vi-keys.ts';

const key = (name: 'text' | 'escape', text = '') => ({name, text, ctrl: false, meta: false, shift: false});

/** Types the text, presses Esc and then the keys, each by itself. @returns the text with `|` at the cursor */
function press(text: string, keys: string, asOne = false) {
  let editor = edit(createEditor(), {type: 'insert', text});
  let vi: ViState = INSERT;
  const one = (pressed: ReturnType<typeof key>) => {
    const next = pressVi(vi, editor, pressed, 80);
    if (next) ({editor, vi} = next);
    else editor = edit(editor, {type: 'insert', text: pressed.text});
  };
  one(key('escape'));
  for (const each of asOne ? [keys] : keys) one(key('text', each));
  return {shown: `${editor.text.slice(0, editor.cursor)}|${editor.text.slice(editor.cursor)}`, vi};
}

describe('in normal mode', () => {
  it.each([
    ['one two', '', 'one tw|o'],
    ['one two', '0', '|one two'],
    ['one two', '0w', 'one |two'],
    ['one, two', '0ww', 'one, |two'],
    ['one two', '0e', 'on|e two'],
    ['one two', 'bb', '|one two'],
    ['one two', '0$', 'one tw|o'],
    ['one two', '0lh', '|one two'],
    ['one\ntwo', 'k', 'on|e\ntwo'],
    ['one\ntwo', '0kj', 'one\n|two'],
    ['one two', '0x', '|ne two'],
    ['one two', '0dw', '|two'],
    ['one two', '0de', '| two'],
    ['one two', '0wd$', 'one| '],
    ['one two', '0cwthree', 'three| two'],
    ['a\nb\nc', 'kdd', 'a\n|c'],
    ['a\nb', 'ddp', 'a\n|b'],
    ['one two', '0ix ', 'x |one two'],
    ['one two', '0ax', 'ox|ne two'],
    ['one two', '0A!', 'one two!|'],
    ['one two', 'I- ', '- |one two'],
    ['one', 'otwo', 'one\ntwo|'],
    ['one two', '0dwu', '|one two'],
    ['one two', '0dwp', 'tone |wo'],
    ['one two', '0yyp', 'one two\none tw|o'],
    ['one', '0zqG', '|one'],
  ])('%j and the keys %s make %j', (text, keys, shown) => {
    expect(press(text, keys).shown).toBe(shown);
  });

  it('takes keys that come at once as it takes them one by one', () => {
    expect(press('one two', '0cwthree', true).shown).toBe('three| two');
  });

  it('leaves Esc to the screen, and an operator waits only for its motion', () => {
    const {vi} = press('one', '');
    expect(pressVi(vi, createEditor(), key('escape'), 80)).toBeUndefined();
    expect(press('one', 'dz').vi).toEqual({isNormal: true, pending: ''});
  });
});

describe('in insert mode', () => {
  it('keys are text, and Esc in an empty prompt is none of vi', () => {
    expect(pressVi(INSERT, createEditor(), key('text', 'd'), 80)).toBeUndefined();
    expect(pressVi(INSERT, createEditor(), key('escape'), 80)).toBeUndefined();
  });
});
