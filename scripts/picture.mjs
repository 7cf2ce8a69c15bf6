/**
 * node scripts/picture.mjs: plays a session with the offline model in a terminal of 96 columns, and draws the final
 * screen cell by cell as docs/session.svg. Nothing in the picture is written by hand.
 */
import {cpSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {setTimeout as sleep} from 'node:timers/promises';
import {fileURLToPath} from 'node:url';
import {spawn} from '@lydell/node-pty';
import xterm from '@xterm/headless';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const [COLUMNS, ROWS] = [96, 40];
const PROMPT = 'Help me understand this project';

/** The sixteen palette colours of the terminal in the picture. `GROUND` and `TEXT` are its default colours. */
const PALETTE = [
  ...['#1d2330', '#e06c75', '#98c379', '#e5c07b', '#61afef', '#c678dd', '#56b6c2', '#c8ccd4'],
  ...['#5c6370', '#e88388', '#b1d196', '#ebcb8b', '#82c0f4', '#d69ae6', '#7fcbd3', '#ffffff'],
];
const [GROUND, TEXT] = ['#161b24', '#d4d8e0'];
const [CELL, LINE, SIZE, PAD] = [8.4, 18, 14, 16];

async function play(cwd, home) {
  const terminal = new xterm.Terminal({cols: COLUMNS, rows: ROWS, allowProposedApi: true});
  const {PATH} = process.env;
  const pty = spawn(process.execPath, [path.join(root, 'dist', 'cli.js')], {
    ...{name: 'xterm-256color', cols: COLUMNS, rows: ROWS, cwd},
    env: {PATH, HOME: home, TERM: 'xterm-256color', LANG: 'C.UTF-8'},
  });
  pty.onData((data) => terminal.write(data));
  terminal.onData((reply) => pty.write(reply));
  const screen = () =>
    Array.from(
      {length: ROWS},
      (_, row) => terminal.buffer.active.getLine(terminal.buffer.active.baseY + row)?.translateToString(true) ?? '',
    ).join('\n');
  const until = async (holds, what) => {
    for (const end = Date.now() + 60_000; !holds(screen()); await sleep(50)) {
      if (Date.now() > end) throw new Error(`${what} did not come:\n${screen()}`);
    }
  };
  await until((text) => /^default · /m.test(text), 'the prompt');
  pty.write(PROMPT);
  await until((text) => text.includes(PROMPT), 'what was typed');
  pty.write('\r');
  await until((text) => text.includes('Esc interrupts'), 'the turn');
  await until((text) => !text.includes('Esc interrupts'), 'the end of the turn');
  await sleep(300);
  pty.kill('SIGHUP');
  return terminal;
}

const escapeText = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

function colorOf(cell, kind) {
  if (cell[`is${kind}RGB`]()) return `#${cell[`get${kind}Color`]().toString(16).padStart(6, '0')}`;
  if (cell[`is${kind}Palette`]()) return PALETTE[cell[`get${kind}Color`]()] ?? TEXT;
  return undefined;
}

/** Joins neighbouring cells of one style into pieces of text. */
function piecesOf(line) {
  const pieces = [];
  for (let x = 0; x < COLUMNS; x++) {
    const cell = line.getCell(x);
    if (!cell || cell.getWidth() === 0) continue;
    const style = {
      fill: colorOf(cell, 'Fg'),
      ground: colorOf(cell, 'Bg'),
      bold: cell.isBold() !== 0,
      dim: cell.isDim() !== 0,
      italic: cell.isItalic() !== 0,
      underline: cell.isUnderline() !== 0,
    };
    const last = pieces.at(-1);
    const text = cell.getChars() || ' ';
    if (last && JSON.stringify(last.style) === JSON.stringify(style)) {
      last.text += text;
      last.width += cell.getWidth();
    } else pieces.push({x, text, style, width: cell.getWidth()});
  }
  return pieces;
}

function draw(terminal) {
  const {active} = terminal.buffer;
  const lines = Array.from({length: ROWS}, (_, row) => active.getLine(active.baseY + row));
  while (lines.at(-1)?.translateToString(true) === '') lines.pop();
  const width = COLUMNS * CELL + 2 * PAD;
  const height = lines.length * LINE + 2 * PAD;
  const drawn = lines.flatMap((line, row) =>
    piecesOf(line).flatMap(({x, text, style, width: cells}) => {
      const [left, top] = [PAD + x * CELL, PAD + row * LINE];
      const ground = style.ground
        ? [
            `<rect x="${left}" y="${top}" width="${(cells * CELL).toFixed(1)}" height="${LINE}" fill="${style.ground}"/>`,
          ]
        : [];
      if (text.trim() === '') return ground;
      const looks = [
        `fill="${style.fill ?? TEXT}"`,
        ...(style.bold ? ['font-weight="bold"'] : []),
        ...(style.dim ? ['opacity="0.65"'] : []),
        ...(style.italic ? ['font-style="italic"'] : []),
        ...(style.underline ? ['text-decoration="underline"'] : []),
      ].join(' ');
      const place = `x="${left.toFixed(1)}" y="${top + LINE - 5}" textLength="${(text.length * CELL).toFixed(1)}"`;
      return [...ground, `<text ${place} ${looks} xml:space="preserve">${escapeText(text)}</text>`];
    }),
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="A session of mini-cc in a terminal">`,
    `<rect width="100%" height="100%" rx="8" fill="${GROUND}"/>`,
    `<g font-family="ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace" font-size="${SIZE}">`,
    ...drawn,
    '</g>',
    '</svg>',
    '',
  ].join('\n');
}

const work = mkdtempSync(path.join(tmpdir(), 'mini-cc-picture-'));
try {
  const project = path.join(work, 'sample');
  cpSync(path.join(root, 'examples', 'sample'), project, {recursive: true});
  const terminal = await play(project, work);
  writeFileSync(path.join(root, 'docs', 'session.svg'), draw(terminal));
} finally {
  rmSync(work, {recursive: true, force: true});
}
