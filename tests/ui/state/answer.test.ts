import {describe, expect, test} from 'vitest';
import {addDelta, finishText, settleAnswer} from '../../../src/ui/state/answer.ts';
import {addItem} from '../../../src/ui/state/finished-items.ts';
import {INITIAL_STATE, type UiState} from '../../../src/ui/state/ui-state.ts';
import {createFormatter} from '../../../src/ui/text/format.ts';
import {layoutLines, linesFrom} from '../../../src/ui/text/lines.ts';
import {plainText} from '../../../src/ui/text/styled-text.tsx';

const formatter = createFormatter();
const {format, lex} = formatter;
const settled = (state: UiState) => settleAnswer(state, formatter, {columns: 40, rows: 8});
const stream = (state: UiState, text: string) => settled(addDelta(state, text));
const notice = (state: UiState, text: string) => settled(addItem(state, {kind: 'notice', level: 'info', text}));

/** What is printed, one text an item; a continued piece is joined to the piece before. */
function printed({finished}: UiState): string[] {
  const texts: string[] = [];
  for (const item of finished) {
    const lines = item.kind === 'lines' ? item.lines : [];
    const markdown = item.kind === 'markdown' ? linesFrom(format(lex(item.text)), item.from) : [];
    const rows = layoutLines([...lines, ...markdown], 40).map((row) => plainText(row).trimEnd());
    const text = item.kind === 'notice' ? `<${item.text}>` : rows.join('\n');
    if (item.gap) texts.push(text);
    else texts[texts.length - 1] += `\n${text}`;
  }
  return texts;
}

const code = (from: number, to: number) =>
  Array.from({length: to - from}, (_, index) => `line${from + index};\n`).join('');
const shownCode = (from: number, to: number) => code(from, to).trimEnd().replace(/^/gm, '  ');

describe('what is printed in mid-stream', () => {
  test('stands before the block that grows, which keeps its formatting', () => {
    let state = stream(INITIAL_STATE, 'One **bold** word.\n\nTwo **bo');
    state = notice(state, 'help');
    expect(printed(state)).toEqual(['One bold word.', '<help>']);
    state = finishText(stream(state, 'ld** words.'));
    expect(printed(state)).toEqual(['One bold word.', '<help>', 'Two bold words.']);
  });

  test('never stands in a table or a code block', () => {
    for (const [head, rest, shown] of [
      ['| a | b |\n|---|---|\n| 1 |', ' 2 |\n| 3 | 4 |\n', 'a   │ b\n────┼────\n1   │ 2\n3   │ 4'],
      ['```ts\nlet a', ' = 1;\nlet b;\n```\n', '  let a = 1;\n  let b;'],
    ] as const) {
      const state = finishText(stream(notice(stream(INITIAL_STATE, head), 'note'), rest));
      expect(printed(state)).toEqual(['<note>', shown]);
    }
  });

  test('waits for the end of a block whose beginning is printed', () => {
    let state = stream(INITIAL_STATE, `\`\`\`js\n${code(0, 20)}`);
    expect(state.finished.length).toBeGreaterThan(0);
    state = notice(state, 'note');
    state = stream(state, `${code(20, 30)}\`\`\`\n\nEnd`);
    expect(printed(finishText(state))).toEqual([shownCode(0, 30), '<note>', 'End']);
  });

  test('waits in its order, and is printed at the end of the answer at the latest', () => {
    let state = stream(INITIAL_STATE, `- ${'word '.repeat(200)}`);
    state = notice(notice(state, 'one'), 'two');
    state = finishText(state);
    expect(state.waiting).toEqual([]);
    expect(printed(state).at(-1)).toBe('<one>\n<two>');
  });
});

test('a paragraph longer than the live part is printed in whole rows while it grows', () => {
  let state = INITIAL_STATE;
  for (let index = 0; index < 300; index += 1) {
    state = stream(state, `**w${index}** `);
    expect(layoutLines(state.stream.live, 40).length).toBeLessThanOrEqual(12);
  }
  expect(state.finished.length).toBeGreaterThan(5);
  const words = Array.from({length: 300}, (_, index) => `w${index}`).join(' ');
  const [text, ...others] = printed(finishText(state));
  expect(others).toEqual([]);
  expect(text!.replaceAll('\n', ' ')).toBe(words);
});
