/**
 * What is printed above a live part while the window changes its size: frames that are on their way arrive in another
 * width. The emulator wraps rows again as VS Code does.
 */
import headless from '@xterm/headless';
import {expect, test} from 'vitest';
import {LiveScreen} from '../../src/ui/live-screen.ts';
import {createRandom} from '../support/random.ts';

/** `npm run soak`: 2000. */
const SEEDS = Number(process.env.MINI_CC_FRAMES ?? 12);
const FIRST_SEED = Number(process.env.MINI_CC_FRAME_SEED ?? 1);
const STEPS = 120;

/** An emulator that gets bytes late, and a program that hears of a new size late. */
function createWindow(columns: number, rows: number) {
  const terminal = new headless.Terminal({cols: columns, rows, scrollback: 20_000, allowProposedApi: true});
  const queue: string[] = [];
  const listeners: (() => void)[] = [];
  const stdout = {
    columns,
    rows,
    write: (text: string) => {
      if (text !== '') queue.push(text);
      return true;
    },
  };
  let replies = '';
  terminal.onData((reply) => {
    replies += reply;
  });
  return {
    stdout: stdout as unknown as NodeJS.WriteStream,
    /** The terminal takes the next write. */
    take: () =>
      new Promise<void>((resolve) => {
        const text = queue.shift();
        if (text === undefined) resolve();
        else terminal.write(text.replace(/(?<!\r)\n/g, '\r\n'), resolve);
      }),
    replies: () => {
      const text = replies;
      replies = '';
      return text.match(/\x1b\[[^\x1b]*/g) ?? [];
    },
    isEmpty: () => queue.length === 0,
    resize: (newColumns: number, newRows: number) => {
      terminal.resize(newColumns, newRows);
      listeners.push(() => Object.assign(stdout, {columns: newColumns, rows: newRows}));
    },
    /** The program hears of one change. */
    tell: () => listeners.shift()?.(),
    hasNews: () => listeners.length > 0,
    text: () => {
      const {active} = terminal.buffer;
      let text = '';
      for (let row = 0; row < active.length; row++) {
        const line = active.getLine(row)!;
        text += `${line.isWrapped ? '' : '\n'}${line.translateToString(true)}`;
      }
      return text;
    },
  };
}

async function play(seed: number, isBoth: boolean) {
  const random = createRandom(seed * 7919);
  const window = createWindow(100, 30);
  const screen = new LiveScreen(window.stdout, 'follow');
  screen.receive('\x1b[>0;276;0c');
  const rule = () => '─'.repeat(window.stdout.columns);
  let printed = 0;
  let live = 0;
  const frame = () => {
    const {columns} = window.stdout;
    const lines = Array.from({length: random(3) === 0 ? 1 + random(3) : 0}, () => {
      const mark = `line${String(printed++).padStart(4, '0')} `;
      return `${mark}${'x'.repeat(random(columns - mark.length - 4))} end\n`;
    });
    const tail = Array.from({length: 1 + random(5)}, () => `live${live++} ${'y'.repeat(random(columns - 10))}`);
    const rows = [...tail, 'busy', rule(), '> prompt', rule(), `status ${'z'.repeat(random(columns - 8))}`];
    screen.stream.write('\x1b[?2026h');
    screen.stream.write(lines.join(''));
    screen.stream.write(`${rows.join('\n')}\n`);
    screen.stream.write('\x1b[?2026l');
  };
  const answer = () => {
    for (const reply of window.replies()) screen.receive(reply);
  };
  const settle = async () => {
    while (!window.isEmpty()) {
      await window.take();
      answer();
    }
  };
  const hear = () => {
    window.tell();
    screen.hold(() => undefined);
    frame();
  };
  for (let n = 0; n < 40; n++) {
    frame();
    await settle();
  }
  for (let step = 0; step < STEPS; step++) {
    const what = random(10);
    if (what < 4) frame();
    else if (what < 8) {
      await window.take();
      answer();
    } else if (what === 8 && !window.hasNews())
      window.resize([100, 60, 80, 120][random(4)]!, isBoth ? [30, 24, 36][random(3)]! : 30);
    else if (window.hasNews()) hear();
    if (random(3) === 0) await new Promise(setImmediate);
  }
  while (window.hasNews()) hear();
  await new Promise(setImmediate);
  await settle();
  frame();
  await settle();
  frame();
  await settle();
  screen.clear();
  await settle();
  return {window, printed};
}

test.each([false, true])(
  'each printed line is there once, and nothing of the live part; heights change: %s',
  async (isBoth) => {
    const failures: string[] = [];
    for (let seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed++) {
      const {window, printed} = await play(seed, isBoth);
      const text = window.text();
      const found = [...text.matchAll(/^line(\d{4}) .*$/gm)].map(
        ([line, mark]) => `${Number(mark)}${line.endsWith(' end') ? '' : ' cut'}`,
      );
      const wanted = Array.from({length: printed}, (_, n) => String(n));
      if (JSON.stringify(found) !== JSON.stringify(wanted)) {
        const lost = wanted.filter((mark) => !found.includes(mark));
        const more = found.filter((mark, index) => found.indexOf(mark) !== index || mark.includes('cut'));
        failures.push(`seed ${seed}: lost ${lost}, more ${more}`);
      }
      const remains = text.match(/^(?:live|busy|─|> prompt|status|y+|z+).*$/gm)?.length ?? 0;
      if (remains > 0) failures.push(`seed ${seed}: ${remains} rows of the live part`);
    }
    expect(failures).toEqual([]);
  },
);
