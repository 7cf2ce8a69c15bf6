import {describe, expect, test} from 'vitest';
import {
  createEditor,
  type EditorAction,
  type EditorState,
  edit,
  expandedText,
  getSent,
  joinSent,
  labelPastes,
  layoutText,
  submitted,
} from '../../../src/ui/input/editor.ts';

type Step = EditorAction | EditorAction['type'];
const WIDTH = 20;

function played(start: EditorState | string, ...steps: Step[]): EditorState {
  const state = typeof start === 'string' ? edit(createEditor(), {type: 'insert', text: start}) : start;
  return steps.reduce<EditorState>(
    (now, step) => edit(now, typeof step === 'string' ? ({type: step, width: WIDTH, text: ''} as EditorAction) : step),
    state,
  );
}

/** The text with a bar at the cursor. */
function shown({text, cursor}: EditorState): string {
  return `${text.slice(0, cursor)}|${text.slice(cursor)}`;
}

describe('moving', () => {
  test.each<[string, Step[], string]>([
    ['abc', ['left'], 'ab|c'],
    ['abc', ['left', 'right', 'right'], 'abc|'],
    ['one two', ['word-left'], 'one |two'],
    ['one two', ['line-start', 'word-right'], 'one| two'],
    ['a\nbc', ['line-start'], 'a\n|bc'],
    ['a\nbc', ['up'], 'a|\nbc'],
    ['👩‍👩‍👧x', ['left', 'left'], '|👩‍👩‍👧x'],
    ['e\u0301', ['left'], '|e\u0301'],
    ['漢字', ['left'], '漢|字'],
  ])('in %j by %j gives %j', (text, steps, result) => {
    expect(shown(played(text, ...steps))).toBe(result);
  });

  test('up and down keep their column over wrapped and short rows', () => {
    const start = played(`${'x'.repeat(30)}\nab\n${'y'.repeat(15)}`);
    expect(start.cursor).toBe(49);
    const up = played(start, 'up');
    expect(up.cursor).toBe(33);
    expect(played(up, 'up').cursor).toBe(30);
    expect(played(up, 'up', 'up').cursor).toBe(15);
    expect(played(up, 'up', 'down', 'down').cursor).toBe(49);
  });
});

describe('deleting', () => {
  test.each<[string, Step[], string]>([
    ['abc', ['backspace'], 'ab|'],
    ['👩‍👩‍👧', ['backspace'], '|'],
    ['abc', ['left', 'left', 'delete'], 'a|c'],
    ['git commit --amend', ['kill-blank-left'], 'git commit |'],
    ['foo.bar', ['kill-word-left'], 'foo.|'],
    ['one two', ['line-start', 'kill-word-right'], '| two'],
    ['one two', ['word-left', 'kill-to-end'], 'one |'],
    ['a\nb', ['up', 'line-end', 'kill-to-end'], 'a|b'],
    ['one two', ['word-left', 'kill-to-start'], '|two'],
    ['one two', ['kill-blank-left', 'line-start', 'yank'], 'two|one '],
    ['one two three', ['kill-blank-left', 'kill-blank-left', 'yank'], 'one two three|'],
  ])('in %j by %j gives %j', (text, steps, result) => {
    expect(shown(played(text, ...steps))).toBe(result);
  });
});

describe('a paste', () => {
  test('that is small becomes text with its lines', () => {
    expect(shown(played('x', {type: 'paste', text: 'a\r\nb'}))).toBe('xa\nb|');
  });

  test('that is big is shown and deleted as one piece, and is sent in full', () => {
    const content = Array.from({length: 42}, (_, index) => `line ${index}`).join('\n');
    const pasted = played('see ', {type: 'paste', text: content}, {type: 'insert', text: ' ok'});
    expect(layoutText(pasted, 60).rows).toEqual(['see [Pasted 42 lines] ok']);
    expect(expandedText(pasted)).toBe(`see ${content} ok`);
    expect(shown(played(pasted, 'backspace', 'backspace', 'backspace', 'backspace'))).toBe('see |');
  });

  test('of one long line shows its number of characters', () => {
    const pasted = played('', {type: 'paste', text: 'x'.repeat(1500)});
    expect(layoutText(pasted, 60).rows).toEqual(['[Pasted 1500 characters]']);
  });

  test('cannot contain characters that the editor uses for another paste', () => {
    const first = played('', {type: 'paste', text: 'x\n'.repeat(20)});
    const second = played(first, {type: 'paste', text: `a${first.text}b`});
    expect(expandedText(second)).toBe(`${'x\n'.repeat(20)}ab`);
  });
});

describe('the history', () => {
  test('is shown by Up from the first row, and Down brings the draft back', () => {
    const start = edit(createEditor([{text: 'first'}, {text: 'second'}]), {type: 'insert', text: 'draft'});
    expect(played(start, 'up').text).toBe('second');
    expect(played(start, 'up', 'up', 'up').text).toBe('first');
    expect(played(start, 'up', 'up', 'down', 'down').text).toBe('draft');
  });

  test('gets a prompt once that is sent twice', () => {
    const sent = submitted(played('again'));
    expect(sent.history).toEqual([{text: 'again'}]);
    expect(submitted(edit(sent, {type: 'insert', text: 'again'})).history).toEqual([{text: 'again'}]);
    expect(sent.text).toBe('');
  });
});

describe('undo', () => {
  test('takes back a word at a time, a removal, a paste and a cleared text', () => {
    const typed = [...'one two'].reduce((state, text) => edit(state, {type: 'insert', text}), createEditor());
    expect(played(typed, 'undo').text).toBe('one ');
    expect(played(typed, 'undo', 'undo', 'undo', 'undo').text).toBe('');
    expect(shown(played(typed, 'kill-word-left', 'undo'))).toBe('one two|');
    expect(shown(played(typed, {type: 'set', text: ''}, 'undo'))).toBe('one two|');
    const pasted = played(typed, {type: 'paste', text: 'x\n'.repeat(20)});
    expect(expandedText(played(pasted, 'backspace', 'undo'))).toBe(`one two${'x\n'.repeat(20)}`);
  });

  test('goes back a limited number of steps', () => {
    let state = createEditor();
    for (let index = 0; index < 1000; index += 1) state = edit(state, {type: 'insert', text: ' '});
    expect(state.undo).toHaveLength(200);
  });
});

describe('a prompt that was sent', () => {
  const content = `  start\n${'x\n'.repeat(20)}`;
  const state = played(
    '',
    {type: 'paste', text: content},
    {type: 'insert', text: ' and '},
    {type: 'paste', text: content},
  );

  test('comes back with its pastes as pieces, each whole', () => {
    const sent = getSent(state);
    expect(sent.text).toBe(`${content} and ${content}`.trim());
    expect(labelPastes(sent)).toBe('[Pasted 21 lines] and [Pasted 21 lines]');
    const again = edit(createEditor(), {type: 'recall', sent});
    expect(layoutText(again, 60).rows).toEqual(['[Pasted 21 lines] and [Pasted 21 lines]']);
    expect(expandedText(again)).toBe(sent.text);
    expect(submitted(state).history).toEqual([sent]);
  });

  test('is joined with others', () => {
    const sent = joinSent([{text: 'first'}, getSent(state), {text: 'last'}]);
    expect(labelPastes(sent)).toBe('first\n\n[Pasted 21 lines] and [Pasted 21 lines]\n\nlast');
  });
});

describe('the layout', () => {
  test('wraps by columns and does not split a wide character', () => {
    const {rows, cursor} = layoutText(played('漢字漢字漢'), 5);
    expect(rows).toEqual(['漢字', '漢字', '漢']);
    expect(cursor).toEqual({row: 2, column: 2});
  });

  test('puts the cursor after a full row on the next row', () => {
    expect(layoutText(played('abcde'), 5)).toMatchObject({rows: ['abcde', ''], cursor: {row: 1, column: 0}});
  });

  test('shows control characters', () => {
    expect(layoutText(played('a\x1b[2J'), 20).rows).toEqual(['a␛[2J']);
  });
});
