import chalk from 'chalk';
import {render} from 'ink-testing-library';
import {describe, expect, test} from 'vitest';
import {QuestionDetail, QuestionView, questionRows} from '../../../src/ui/components/question.tsx';
import {createEditor, edit} from '../../../src/ui/input/editor.ts';
import type {KeyPress} from '../../../src/ui/input/keys.ts';
import {
  focusOn,
  QUIET_MS,
  type QuestionFocus,
  type QuestionStep,
  questionKey,
} from '../../../src/ui/input/question-keys.ts';
import {createFormatter} from '../../../src/ui/text/format.ts';
import {question} from '../fake-session.ts';

const asked = question();
const START = 1000;

function press(name: KeyPress['name'], text = ''): KeyPress {
  return {name, text, ctrl: false, meta: false, shift: false};
}
const digit = (text: string) => press('text', text);

function step(key: KeyPress, focus: QuestionFocus = focusOn(asked, START), isPromptEmpty = true, after = 1000) {
  return questionKey(focus, asked, key, {isPromptEmpty, now: START + after});
}

/** Presses the keys one after another. */
function steps(...keys: KeyPress[]): QuestionStep {
  let last: QuestionStep = {focus: focusOn(asked, START), isHandled: false};
  for (const key of keys) last = step(key, last.focus);
  return last;
}

describe('a question', () => {
  test.each([
    ['1', 'yes'],
    ['2', 'session'],
  ])('is answered by the digit %s with %s', (key, choice) => {
    expect(step(digit(key)).answer).toEqual({choice});
  });

  test('ignores the digit of an option that it does not offer, and the prompt does not get it', () => {
    expect(step(digit('3'))).toMatchObject({isHandled: true});
    expect(step(digit('3')).answer).toBeUndefined();
  });

  test('has nothing marked at first: Enter alone does not answer it', () => {
    expect(step(press('return'))).toMatchObject({isHandled: true});
    expect(step(press('return')).answer).toBeUndefined();
  });

  test('with an answer for Enter takes it while nothing is marked, and names it', () => {
    const careful = question({enter: 'no'});
    const focus = focusOn(careful, START);
    const enter = (at: number, isPromptEmpty = true) =>
      questionKey(focus, careful, press('return'), {isPromptEmpty, now: START + at});
    expect(enter(1000).answer).toEqual({choice: 'no'});
    expect([enter(QUIET_MS - 1), enter(1000, false)]).toMatchObject([{isHandled: false}, {isHandled: false}]);
    const marked = questionKey(focus, careful, press('down'), {isPromptEmpty: true, now: START + 1000}).focus;
    const answer = questionKey(marked, careful, press('return'), {isPromptEmpty: true, now: START + 1000}).answer;
    expect(answer).toEqual({choice: 'yes'});
    const hint = (at: QuestionFocus) =>
      questionRows({question: careful, count: 1, focus: at, isPromptEmpty: true, columns: 44}).rows.at(-1)?.text;
    expect(hint(focus)).toBe('  Press 1, 2 or 4. Enter and Esc mean no.');
    expect(hint(marked)).toBe('  Press 1, 2 or 4. Esc means no.');
    const narrow = (columns: number, refusal = 'no') =>
      questionRows({
        ...{question: question({enter: refusal, escape: refusal}), count: 1, focus, isPromptEmpty: true, columns},
      })
        .rows.filter(({style}) => style === 'hint')
        .map(({text}) => text);
    // In a narrow window the keys are named in fewer words, and wrapped before a word of them is lost.
    expect(narrow(40)).toEqual(['  1, 2 or 4. Enter and Esc mean no.']);
    expect(narrow(40, 'stay with a-model-of-that-name')).toEqual([
      '  1, 2 or 4. Enter and Esc mean stay',
      '  with a-model-of-that-name.',
    ]);
  });

  test('about a plan shows it formatted as answers are, in its rows and when it is printed in full', () => {
    const plan = question({
      title: 'Begin with this plan?',
      detail: '# Plan\n\n1. **Write** it',
      detailType: 'markdown',
    });
    const formatter = createFormatter();
    const {rows} = questionRows({
      question: plan,
      count: 1,
      focus: undefined,
      isPromptEmpty: true,
      columns: 40,
      formatter,
    });
    expect(rows.map(({text}) => text).slice(1, 4)).toEqual(['Plan', '', '1. Write it']);
    const {lastFrame} = render(<QuestionDetail question={plan} columns={40} formatter={formatter} />);
    expect(lastFrame()).toContain('  Plan\n\n  1. Write it');
  });

  test('is answered by the arrows and Enter', () => {
    expect(steps(press('down'), press('down'), press('return')).answer).toEqual({choice: 'session'});
    expect(steps(press('up'), press('up'), press('up'), press('return')).answer).toEqual({choice: 'yes'});
  });

  test('is refused by Esc', () => {
    expect(step(press('escape')).answer).toEqual({choice: 'no'});
  });

  test('takes a reason for the model with the answer no', () => {
    const noted = steps(digit('4'), press('text', 'use '), press('text', 'make'), press('return'));
    expect(noted.answer).toEqual({choice: 'no', note: 'use make'});
    expect(steps(digit('4')).answer).toBeUndefined();
    expect(steps(digit('4'), press('return')).answer).toEqual({choice: 'no'});
    expect(steps(digit('4'), press('text', 'x'), press('escape')).answer).toEqual({choice: 'no'});
  });

  test('ignores keys in its first 0.3 s', () => {
    for (const key of [digit('1'), press('return'), press('escape'), press('down'), press('tab')]) {
      expect(step(key, undefined, true, QUIET_MS - 1)).toMatchObject({isHandled: false});
    }
  });

  test('ignores keys while text is typed, until Tab goes to it', () => {
    for (const key of [digit('1'), press('return'), press('escape'), press('up')]) {
      expect(step(key, undefined, false)).toMatchObject({isHandled: false});
    }
    const taken = step(press('tab'), undefined, false);
    expect(taken.focus.isTaken).toBe(true);
    expect(step(digit('1'), taken.focus, false).answer).toEqual({choice: 'yes'});
    expect(step(press('tab'), taken.focus, false).focus.isTaken).toBe(false);
  });

  test('leaves letters to the prompt', () => {
    expect(step(press('text', 'w'))).toMatchObject({isHandled: false});
  });
});

describe('a question on the screen', () => {
  const view = {count: 3, focus: undefined, isPromptEmpty: true, columns: 64, formatter: createFormatter()};

  test('names the agent, shows the command and numbers the options', () => {
    const {rows} = questionRows({...view, question: question({agent: '[code] fix it'})});
    expect(rows.map(({text}) => text)).toEqual([
      '[code] fix it: Run this command? (1 of 3)',
      'npm test',
      '',
      '  1 yes',
      '  2 yes for this session',
      '  4 no, and say why',
      '  Press 1, 2 or 4, or use the arrows and Enter. Esc means no.',
    ]);
  });

  test('has a third option only when it is offered', () => {
    const options = [...asked.options, {digit: 3, choice: 'always', label: 'yes, always'}];
    const {rows} = questionRows({...view, question: question({options})});
    expect(rows.map(({text}) => text)).toContain('  3 yes, always');
  });

  test('shows its options in full, also in a narrow window', () => {
    const label = 'yes always: bash(npm run build --production) in this project';
    const options = [{digit: 3, choice: 'always', label}];
    const {rows} = questionRows({...view, columns: 30, question: question({options})});
    const shown = rows.filter(({style}) => style === 'option').map(({text}) => text);
    expect(shown.length).toBeGreaterThan(1);
    expect(shown.map((text) => text.slice(4)).join(' ')).toBe(label);
  });

  test('names the main agent nowhere, and says why it is asked', () => {
    const because = 'writes outside the workspace: /x/a.ts';
    const {rows} = questionRows({...view, count: 1, question: question({title: 'Edit /x/a.ts?', because})});
    expect(rows.slice(0, 2).map(({text}) => text)).toEqual(['Edit /x/a.ts?', `  (${because})`]);
  });

  test('loses no word of what its keys mean in a window of 40 columns', () => {
    const list = [{choice: 'a', label: 'a'}];
    const shown = (change: Parameters<typeof question>[0], focus = {}) => {
      const asked = question({hint: '/sandbox auto runs commands confined to the workspace without asking', ...change});
      const {rows, cursor} = questionRows({
        ...{question: asked, count: 1, isPromptEmpty: true, columns: 40},
        focus: {...focusOn(asked, START), ...focus},
      });
      const words = rows
        .filter(({style, text}) => style === 'hint' && text.length <= 40)
        .map(({text}) => text.trim())
        .join(' ');
      return {words, noteRow: rows[cursor?.row ?? -1]?.style};
    };
    expect(shown({}).words).toMatch(/^\/sandbox auto .* without asking Press 1, 2 or 4\. Esc means no\.$/);
    const note = {note: createEditor(), choice: 'yes', isCommand: true};
    expect(shown({}, note)).toEqual({
      words: expect.stringMatching(/ Enter runs the changed command\. Esc says no\.$/),
      noteRow: 'note',
    });
    const {words} = shown({list, options: [], escape: 'stay with a-model-of-that-name'});
    expect(words).toMatch(/ Esc means stay with a-model-of-that-name\.$/);
  });

  test('shows a diff with the numbers of its lines, and wraps long ones below their text', () => {
    const detail = `@@ -9,2 +9,2 @@\n-gone\n+${'a'.repeat(10)} -b is added`;
    const {rows} = questionRows({...view, columns: 20, question: question({detail, detailType: 'diff'})});
    const diff = rows.filter(({style}) => style === 'detail').map(({row = []}) => row.map(({text}) => text).join(''));
    expect(diff).toEqual([' 9 - gone', ' 9 + aaaaaaaaaa -b', '     is added']);
  });

  test('prints a long diff in full, line by line', () => {
    const detail = `@@ -1,2 +1,2 @@\n-one line that is wrapped at this width\n+two`;
    const asks = question({detail, detailType: 'diff'});
    const {lastFrame} = render(<QuestionDetail question={asks} columns={30} formatter={view.formatter} />);
    expect(lastFrame()).toBe('Run this command?\n   1 - one line that is\n       wrapped at this width\n   1 + two');
  });

  test('does not show a file twice that its title ends with', () => {
    const shown = (detailType: 'text' | 'command') => {
      const asks = question({
        title: 'Read /etc/hosts?',
        detail: '/etc/hosts',
        detailType,
      });
      return questionRows({...view, columns: 80, question: asks}).rows.filter(({text}) => text.includes('/etc/hosts'));
    };
    expect(shown('text')).toHaveLength(1);
    expect(shown('command')).toHaveLength(2);
  });

  test('with a long explanation in a low window still says what is asked, and has its options', () => {
    const focus = {...focusOn(asked, START), explanation: 'It moves files. '.repeat(60)};
    const {rows} = questionRows({...view, focus, columns: 40, windowRows: 16, question: question()});
    const explained = rows.filter(({style}) => style === 'note').map(({text}) => text);
    expect(explained).toHaveLength(4);
    expect(explained.at(-1)).toMatch(/ …$/);
    const {lastFrame} = render(<QuestionView rows={rows} maxRows={13} />);
    expect(lastFrame()).toContain('Run this command?');
    expect(lastFrame()).toContain('4 no, and say why');
  });

  test('in a low window loses rows of its detail, never its options', () => {
    const {rows} = questionRows({...view, question: question({detail: 'a\nb\nc\nd\ne'})});
    const {lastFrame} = render(<QuestionView rows={rows} maxRows={8} />);
    const frame = lastFrame() ?? '';
    expect(frame.split('\n')).toHaveLength(8);
    expect(frame).toContain('… 3 more rows above');
    // The row is not one of those that are wrapped for the window.
    expect(
      Math.max(...frame.split('\n').flatMap((row) => (row.includes('…') ? [row.length] : []))),
    ).toBeLessThanOrEqual(24);
    expect(frame).toContain('4 no, and say why');
    const whole = render(<QuestionView rows={rows} maxRows={10} />).lastFrame() ?? '';
    expect(whole.split('\n')).toEqual(expect.not.arrayContaining(['']));
    expect(whole).toContain('e\n');
  });

  test.each([30, 9])('in %i rows shows the cursor in the note while a turn runs', (maxRows) => {
    const detail = question({detail: 'a\nb\nc\nd\ne'});
    const note = {...createEditor(), text: 'use make', cursor: 4};
    const focus = {...focusOn(detail, START), note};
    const {level} = chalk;
    chalk.level = 1;
    try {
      const frame = render(<QuestionView {...questionRows({...view, question: detail, focus})} maxRows={maxRows} />);
      expect(frame.lastFrame()).toMatch(/why: use \x1b\[7m(?:\x1b\[\d+m)*m/);
    } finally {
      chalk.level = level;
    }
  });
});

test('a typed answer is called an answer, and only a no has a reason', () => {
  const other = {digit: 5, choice: 'other', label: 'something else: say it', takesNote: true};
  const asks = question({options: [...asked.options, other]});
  const noteRows = (key: string) => {
    const {focus} = questionKey(focusOn(asks, START), asks, digit(key), {isPromptEmpty: true, now: START + 1000});
    return questionRows({question: asks, count: 1, focus, isPromptEmpty: true, columns: 60}).rows.slice(-2);
  };
  expect(noteRows('4').map(({text}) => text)).toEqual(['    why: ', '  Enter sends it. Esc gives no reason.']);
  expect(noteRows('5').map(({text}) => text)).toEqual(['    answer: ', '  Enter sends it. Esc means no.']);
});

describe('a question for a line of text', () => {
  const asked = question({options: [], title: 'What is it for?', detail: '', escape: 'drop'});

  test('takes typed text after its first 0.3 s, and Enter sends it', () => {
    const focus = focusOn(asked, 0);
    const first = questionKey(focus, asked, press('text', 'r'), {isPromptEmpty: true, now: QUIET_MS + 1});
    const second = questionKey(first.focus, asked, press('text', 'eview'), {isPromptEmpty: false, now: QUIET_MS + 2});
    const sent = questionKey(second.focus, asked, press('return'), {isPromptEmpty: true, now: QUIET_MS + 3});
    expect(sent.answer).toEqual({choice: 'text', note: 'review'});
  });

  test('is cancelled by Esc, and an empty line is no answer', () => {
    const focus = focusOn(asked, 0);
    const at = {isPromptEmpty: true, now: QUIET_MS + 1};
    expect(questionKey(focus, asked, press('escape'), at).answer).toEqual({choice: 'drop'});
    const typed = questionKey(focus, asked, press('text', ' '), at);
    expect(questionKey(typed.focus, asked, press('return'), at).answer).toBeUndefined();
  });
});

test('a list finds an item by its whole text too, and shows the place, or else the end of the text', () => {
  const list = [
    {
      choice: 'a',
      label: 'first prompt',
      text: `first prompt\nan answer about zebras\n${'more '.repeat(200)}the end of a`,
    },
    {choice: 'b', label: 'second prompt', text: 'second prompt\nan answer'},
  ];
  const asks = {...question(), options: [], list, escape: 'leave'};
  const shown = (typed: string) => {
    const focus = focusOn(asks, START);
    const note = {...focus.note!, text: typed};
    const {rows} = questionRows({question: asks, count: 1, focus: {...focus, note}, isPromptEmpty: true, columns: 80});
    return rows.map(({text}) => text).join('\n');
  };
  expect(shown('zebras')).toMatch(/> first prompt\n.*│ .*answer about zebras/);
  expect(shown('zebras')).not.toContain('second prompt');
  expect(shown('first')).toContain('> first prompt');
  expect(shown('')).toMatch(/│ .*the end of a/);
});

test('Ctrl+U and Ctrl+W delete what narrows a list, and other keys with Ctrl are not for it', () => {
  const asks = {...question(), options: [], list: [{choice: 'dark', label: 'dark'}], escape: 'leave'};
  const focus = {...focusOn(asks, START), note: edit(createEditor(), {type: 'insert', text: 'dark blue'})};
  const press = (text: string) =>
    questionKey(focus, asks, {...digit(text), ctrl: true}, {isPromptEmpty: true, now: START + 1000});
  expect(press('w')).toMatchObject({isHandled: true, focus: {note: {text: 'dark '}}});
  expect(press('u')).toMatchObject({isHandled: true, focus: {note: {text: ''}}});
  expect([press('s'), press('j')]).toMatchObject([{isHandled: false}, {isHandled: false}]);
});

test('a list says in a window of 40 columns, too, how to take a row and how to leave', () => {
  const list = [{choice: 'dark', label: 'dark'}];
  const asks = {...question(), options: [], list, escape: 'leave'};
  const hint = (columns: number) =>
    questionRows({question: asks, count: 1, focus: focusOn(asks, START), isPromptEmpty: true, columns}).rows.at(-1)
      ?.text;
  expect(hint(100)).toBe('  Type to find, choose with Up and Down, take with Enter. Esc means leave.');
  expect(hint(40)).toBe('  Type, Up/Down, Enter. Esc means leave.');
  expect(hint(30)).toBe('  Esc means leave.');
});

test('the input that its title names is not shown again below it', () => {
  const input = {name: 'x', size: 3};
  const mcp = question({
    title: `demo: lookup ${JSON.stringify(input)}?`,
    detail: JSON.stringify(input, null, 2),
    detailType: 'text',
  });
  const {rows} = questionRows({question: mcp, count: 1, focus: undefined, isPromptEmpty: true, columns: 80});
  expect(rows.filter(({text}) => text.includes('"name"'))).toHaveLength(1);
});
