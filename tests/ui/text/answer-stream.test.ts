import {describe, expect, test} from 'vitest';
import {addAnswer, advanceAnswer, EMPTY_STREAM, restOf} from '../../../src/ui/text/answer-stream.ts';
import {createFormatter} from '../../../src/ui/text/format.ts';
import {type Line, layoutLines, linesFrom} from '../../../src/ui/text/lines.ts';
import {screenText} from '../../../src/ui/text/screen-text.ts';
import {plainText} from '../../../src/ui/text/styled-text.tsx';
import {createRandom} from '../../support/random.ts';
import {AWKWARD_ANSWERS, OPEN_ANSWERS} from '../awkward-answers.ts';

const formatter = createFormatter();
const WIDTHS = [100, 40];
const ALL = Object.entries({...AWKWARD_ANSWERS, ...OPEN_ANSWERS});

const drawn = (lines: readonly Line[], columns: number) =>
  layoutLines(lines, columns).map((row) => plainText(row).trimEnd());

/** Rows with their styles: a style is named where it begins. */
function styled(lines: readonly Line[], columns: number): string[] {
  return layoutLines(lines, columns).map((row) => {
    let before = '{}';
    return row
      .map(({text, style}) => {
        const name = JSON.stringify(style);
        const shown = name === before ? text : `${name}${text}`;
        before = name;
        return shown;
      })
      .join('');
  });
}

/** Streams the answer in pieces. @param onFrame gets all rows of each frame @returns all that was printed, as rows */
function streamed(
  pieces: readonly string[],
  columns: number,
  onFrame: (printed: readonly string[], live: readonly string[]) => void = () => undefined,
  draw = drawn,
): string[] {
  let stream = EMPTY_STREAM;
  const printed: string[] = [];
  const print = (lines: readonly Line[], continued: boolean) => {
    if (printed.length > 0 && !continued) printed.push('');
    printed.push(...draw(lines, columns));
  };
  for (const piece of pieces) {
    const step = advanceAnswer(addAnswer(stream, piece), formatter, {columns, rows: 12});
    stream = step.stream;
    for (const block of step.blocks) print(block.lines, block.continued);
    if (step.part.length > 0) print(step.part, step.continued);
    onFrame(printed, drawn(stream.live, columns));
  }
  const rest = linesFrom(formatter.format(formatter.lex(restOf(stream))), stream.printed);
  if (rest.length > 0) print(rest, stream.continued);
  return printed;
}

/** Cuts a text at random places, most pieces short, some long. */
function cutRandomly(text: string, random: ReturnType<typeof createRandom>): string[] {
  const pieces: string[] = [];
  for (let at = 0; at < text.length; ) {
    const size = 1 + random(random(4) === 0 ? 60 : 8);
    pieces.push(text.slice(at, at + size));
    at += size;
  }
  return pieces;
}

/** The text character by character; a long one in pieces of a few characters, as models write. */
function cutSmall(text: string): string[] {
  return text.length < 600 ? [...text] : (text.match(/[\s\S]{1,9}/gu) ?? []);
}

/** The part of a frame that is the beginning of the text: marks, white space and the rules of tables do not count. */
const letters = (rows: readonly string[]) => rows.join('').replace(/[\s─┼]/g, '');

describe('an answer that streams', () => {
  test.each(ALL)('is printed as the whole answer would be: %s', (_name, text) => {
    const random = createRandom(text.length);
    const whole = formatter.format(formatter.lex(screenText(text)));
    for (const columns of WIDTHS) {
      const expected = styled(whole, columns);
      for (const pieces of [[text], cutRandomly(text, random), cutRandomly(text, random)]) {
        expect(streamed(pieces, columns, undefined, styled)).toEqual(expected);
      }
    }
  });

  test.each(Object.entries(AWKWARD_ANSWERS))(
    'shows in each frame the beginning of what will be printed, without a raw mark: %s',
    (_name, text) => {
      const whole = letters(drawn(formatter.format(formatter.lex(screenText(text))), 100));
      let frames = 0;
      streamed(cutSmall(text), 100, (printed, live) => {
        const shown = letters([...printed, ...live]);
        expect(whole.slice(0, shown.length)).toBe(shown);
        frames += 1;
      });
      expect(frames).toBeGreaterThan(10);
    },
  );

  test.each(Object.entries(OPEN_ANSWERS))('shows no raw mark before its end: %s', (_name, text) => {
    const block = text.split('\n\n')[0]!;
    streamed([...block], 100, (_printed, live) => expect(live.at(-1) ?? '').not.toMatch(/[*`~[]/));
  });

  test('of 100,000 characters is never read as a whole again', () => {
    const blocks = Object.values(AWKWARD_ANSWERS).join('\n\n');
    let read = 0;
    const counting = {
      ...formatter,
      lex: (source: string) => {
        read += source.length;
        return formatter.lex(source);
      },
      formatOpen: (source: string) => {
        read += source.length;
        return formatter.formatOpen(source);
      },
    };
    let stream = EMPTY_STREAM;
    const text = blocks.repeat(Math.ceil(100_000 / blocks.length)).slice(0, 100_000);
    for (let at = 0; at < text.length; at += 100) {
      stream = advanceAnswer(addAnswer(stream, text.slice(at, at + 100)), counting, {columns: 100, rows: 16}).stream;
    }
    expect(read).toBeLessThan(30 * text.length);
  });

  test('is formatted once where it comes in pieces of several blocks', () => {
    const blocks = Object.values(AWKWARD_ANSWERS).filter((text) => text.length < 300);
    const text = `${blocks.join('\n\n')}\n\n`.repeat(20);
    let formatted = 0;
    const counting: typeof formatter = {
      ...formatter,
      format: (tokens) => {
        formatted += tokens.reduce((sum, {raw}) => sum + raw.length, 0);
        return formatter.format(tokens);
      },
      formatOpen: (source) => {
        formatted += source.length;
        return formatter.formatOpen(source);
      },
    };
    let stream = EMPTY_STREAM;
    for (let at = 0; at < text.length; at += 1500) {
      stream = advanceAnswer(addAnswer(stream, text.slice(at, at + 1500)), counting, {columns: 100, rows: 16}).stream;
    }
    expect(formatted).toBeLessThan(1.5 * text.length);
  });
});
