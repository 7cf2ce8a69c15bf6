/** Frames are drawn without Ink's cells where each row has one text, and look as Ink draws them. */
import {createRequire} from 'node:module';
import headless from '@xterm/headless';
import {expect, test} from 'vitest';
import {createFrameOutput, type InkOutput} from '../../src/ui/frame-output.ts';
import {createRandom} from '../support/random.ts';

interface Output extends InkOutput {
  write(x: number, y: number, text: string, options: {transformers: ((line: string, index: number) => string)[]}): void;
  clip(clip: {x1?: number; x2?: number; y1?: number; y2?: number}): void;
  unclip(): void;
}

// Ink's own class, as it is published: the package does not export it, and tests load Ink with our class in its place.
const {default: InkOwn} = createRequire(import.meta.url)('../../node_modules/ink/build/output.js') as {
  default: new (size: {width: number; height: number}) => Output;
};
let slow = 0;
class Counting extends InkOwn {
  override get() {
    slow += 1;
    return super.get();
  }
}
const Fast = createFrameOutput(Counting);

type Draw = (output: Output) => void;
const plain = {transformers: []};

async function cells(text: string): Promise<string[]> {
  const terminal = new headless.Terminal({cols: 60, rows: 20, allowProposedApi: true});
  await new Promise<void>((resolve) => terminal.write(text.replaceAll('\n', '\r\n'), resolve));
  return Array.from({length: 20}, (_, y) => {
    const line = terminal.buffer.active.getLine(y)!;
    return Array.from({length: 60}, (__, x) => {
      const cell = line.getCell(x)!;
      const look = `${cell.getFgColor()}/${cell.getBgColor()}/${cell.isBold()}/${cell.isDim()}/${cell.isInverse()}/${cell.isUnderline()}`;
      return `${cell.getChars() || ' '}|${look}`;
    }).join(' ');
  });
}

async function compare(draw: Draw): Promise<void> {
  const [own, ours] = [InkOwn, Fast].map((Class) => {
    const output = new Class({width: 60, height: 12});
    draw(output);
    return output.get();
  });
  expect(ours!.height).toBe(own!.height);
  expect(await cells(ours!.output)).toEqual(await cells(own!.output));
}

const PIECES = [
  'plain words',
  '\x1b[1mbold\x1b[22m then',
  '\x1b[36m\x1b[1mboth\x1b[22m\x1b[39m',
  '\x1b[2m────┼───\x1b[22m',
  '\x1b[38;5;203m> \x1b[39m日本語',
  '\x1b[48;2;10;20;30m  on a ground \x1b[49m ',
  '\x1b[7m \x1b[27m',
  '',
];

test('three hundred random frames look as Ink draws them', async () => {
  const random = createRandom(7);
  slow = 0;
  for (let frame = 0; frame < 300; frame++) {
    // The picture of a family is joined by a character without a width, and Ink draws it.
    const pieces = frame % 10 === 0 ? [...PIECES, '👩‍👩‍👧 family'] : PIECES;
    const line = () => pieces[random(pieces.length)]! + pieces[random(pieces.length)]!;
    const rows: [number, number, string[]][] = [];
    for (let y = 0; y < 12; ) {
      const height = Math.min(1 + random(3), 12 - y);
      rows.push([random(3), y, Array.from({length: height}, line)]);
      y += height + random(2);
    }
    await compare((output) => {
      for (const [x, y, lines] of rows) {
        const underline = (row: string) => (y === 4 ? `\x1b[4m${row}\x1b[24m` : row);
        output.write(x, y, lines.map(() => ' ').join('\n'), {
          transformers: [(_, index) => lines[index]!, underline],
        });
      }
    });
  }
  expect(slow).toBeLessThanOrEqual(30);
});

test('rows of one text need no cells', async () => {
  slow = 0;
  await compare((output) => {
    for (const [y, text] of PIECES.slice(0, 6).entries()) output.write(1, y, text, plain);
  });
  expect(slow).toBe(0);
});

test.each<[string, Draw]>([
  [
    'two texts in one row',
    (output) => {
      output.write(0, 0, 'left', plain);
      output.write(20, 0, 'right', plain);
    },
  ],
  ['a style that goes on in the next row', (output) => output.write(0, 0, '\x1b[31mred\nred too\x1b[39m', plain)],
  ['a part outside of the frame', (output) => output.write(0, 10, 'a\nb\nc\nd', plain)],
  [
    'a clipped text',
    (output) => {
      output.clip({x1: 2, x2: 9, y1: 0, y2: 2});
      output.write(0, 0, 'a long text\nand more', plain);
      output.unclip();
    },
  ],
  ['characters without a width', (output) => output.write(0, 0, 'soft\u00adhyphen zero\u200bwidth', plain)],
])('Ink draws what is more than that: %s', async (_name, draw) => {
  slow = 0;
  await compare(draw);
  expect(slow).toBe(1);
});
