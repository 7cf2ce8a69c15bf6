/** Draws the cells of terminals as SVG: text, colours and styles are what the terminal has, and nothing else. */
const [CELL, LINE, SIZE, PAD, GAP, BAR] = [8.4, 17, 14, 14, 18, 28];
const FONT = "ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace";

/**
 * What a terminal adds to the codes of a program: its sixteen colours, and its default text and ground.
 * @typedef {{palette: readonly string[], text: string, ground: string, bar: string}} Look
 * @typedef {{fill: string, ground: string | undefined, bold: boolean, dim: boolean, italic: boolean, underline: boolean, strike: boolean}} Style
 * @typedef {{x: number, width: number, text: string, style: Style}} Piece
 * @typedef {{cols: number, rows: readonly (readonly Piece[])[], look: Look}} Screen
 * @typedef {{title: string, screen?: Screen, note?: string}} Panel
 */

/** @type {Look} */
export const DARK = {
  palette: [
    ...['#1d2330', '#e06c75', '#98c379', '#e5c07b', '#61afef', '#c678dd', '#56b6c2', '#c8ccd4'],
    ...['#5c6370', '#e88388', '#b1d196', '#ebcb8b', '#82c0f4', '#d69ae6', '#7fcbd3', '#ffffff'],
  ],
  ...{text: '#d4d8e0', ground: '#161b24', bar: '#2a3140'},
};

/** @type {Look} */
export const LIGHT = {
  palette: [
    ...['#24292f', '#cf222e', '#116329', '#7d4e00', '#0969da', '#8250df', '#1b7c83', '#6e7781'],
    ...['#57606a', '#a40e26', '#1a7f37', '#633c01', '#218bff', '#a475f9', '#3192aa', '#8c959f'],
  ],
  ...{text: '#24292f', ground: '#ffffff', bar: '#d8dee4'},
};

/**
 * The window of the terminal, without empty rows at its end.
 * @param {import('@xterm/headless').Terminal} terminal
 * @param {Look} look
 * @param {{x: number, y: number}} [cursor] where it is, if it is shown
 * @returns {Screen}
 */
export function readTerminal(terminal, look, cursor) {
  const {active} = terminal.buffer;
  const rows = Array.from({length: terminal.rows}, (_, row) => {
    const line = active.getLine(active.baseY + row);
    return line ? readPieces(line, terminal.cols, look, cursor?.y === row ? cursor.x : -1) : [];
  });
  while (rows.at(-1)?.every(({text, style}) => text.trim() === '' && style.ground === undefined)) rows.pop();
  return {cols: terminal.cols, rows, look};
}

/**
 * Joins neighbouring cells of one style.
 * @param {import('@xterm/headless').IBufferLine} line
 * @param {number} cols
 * @param {Look} look
 * @param {number} cursor its column, or -1
 */
function readPieces(line, cols, look, cursor) {
  /** @type {Piece[]} */
  const pieces = [];
  for (let x = 0; x < cols; x++) {
    const cell = line.getCell(x);
    if (!cell || cell.getWidth() === 0) continue;
    const style = readStyle(cell, look, x === cursor);
    const last = pieces.at(-1);
    const text = cell.getChars() || ' ';
    if (last && JSON.stringify(last.style) === JSON.stringify(style)) {
      last.text += text;
      last.width += cell.getWidth();
    } else pieces.push({x, text, style, width: cell.getWidth()});
  }
  return pieces;
}

/**
 * @param {import('@xterm/headless').IBufferCell} cell
 * @param {Look} look
 * @param {boolean} isCursor
 * @returns {Style}
 */
function readStyle(cell, look, isCursor) {
  const front = cell.isFgDefault() ? undefined : getColour(cell.isFgRGB(), cell.getFgColor(), look);
  const ground = cell.isBgDefault() ? undefined : getColour(cell.isBgRGB(), cell.getBgColor(), look);
  const back = ground === look.ground ? undefined : ground;
  const inverse = isCursor !== (cell.isInverse() !== 0);
  return {
    fill: inverse ? (back ?? look.ground) : (front ?? look.text),
    ground: inverse ? (front ?? look.text) : back,
    bold: cell.isBold() !== 0,
    dim: cell.isDim() !== 0,
    italic: cell.isItalic() !== 0,
    underline: cell.isUnderline() !== 0,
    strike: cell.isStrikethrough() !== 0,
  };
}

/**
 * @param {boolean} isRgb
 * @param {number} value
 * @param {Look} look
 */
function getColour(isRgb, value, {palette}) {
  if (isRgb) return `#${value.toString(16).padStart(6, '0')}`;
  if (value < 16) return palette[value] ?? palette[7];
  if (value >= 232) return hex([1, 1, 1].map(() => 8 + (value - 232) * 10));
  // The cube of 6 × 6 × 6 colours that terminals have beside their sixteen.
  const parts = [Math.floor((value - 16) / 36), Math.floor((value - 16) / 6) % 6, (value - 16) % 6];
  return hex(parts.map((part) => (part === 0 ? 0 : 55 + part * 40)));
}

/** @param {readonly number[]} parts */
const hex = (parts) => `#${parts.map((part) => part.toString(16).padStart(2, '0')).join('')}`;

/** @param {string} text */
export const escapeText = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** @param {number} value */
const round = (value) => String(Math.round(value * 10) / 10);

/**
 * @param {readonly Panel[]} panels
 * @param {{label: string, across?: number}} options how many panels stand side by side
 */
export function drawPanels(panels, {label, across = 2}) {
  const cols = Math.max(...panels.map(({screen}) => screen?.cols ?? 0));
  const width = cols * CELL + 2 * PAD;
  /** @type {string[]} */
  const drawn = [];
  let top = 0;
  for (let first = 0; first < panels.length; first += across) {
    const row = panels.slice(first, first + across);
    const height = BAR + Math.max(...row.map(({screen}) => screen?.rows.length ?? 1)) * LINE + 2 * PAD;
    row.forEach((panel, index) => {
      drawn.push(...drawPanel(panel, {left: index * (width + GAP), top, width, height}));
    });
    top += height + GAP;
  }
  return wrap(drawn, {width: Math.min(across, panels.length) * (width + GAP) - GAP, height: top - GAP, label});
}

/**
 * One screen alone, without a title.
 * @param {Screen} screen
 * @param {string} label
 */
export function drawScreen(screen, label) {
  const [width, height] = [screen.cols * CELL + 2 * PAD, screen.rows.length * LINE + 2 * PAD];
  const ground = `<rect width="${round(width)}" height="${height}" rx="8" fill="${screen.look.ground}"/>`;
  return wrap([ground, ...drawRows(screen, PAD, PAD)], {width, height, label});
}

/**
 * @param {Panel} panel
 * @param {{left: number, top: number, width: number, height: number}} place
 */
function drawPanel({title, screen, note}, {left, top, width, height}) {
  const look = screen?.look ?? DARK;
  const box = `x="${round(left)}" width="${round(width)}" rx="8"`;
  const text = `fill="${look.text}" x="${round(left + PAD)}"`;
  return [
    `<rect ${box} y="${top}" height="${height}" fill="${look.ground}" stroke="${look.bar}"/>`,
    `<rect ${box} y="${top}" height="${BAR}" fill="${look.bar}"/>`,
    `<text ${text} y="${top + 19}" font-weight="bold">${escapeText(title)}</text>`,
    ...(note ? [`<text ${text} y="${top + BAR + PAD + 12}" font-style="italic">${escapeText(note)}</text>`] : []),
    ...(screen ? drawRows(screen, left + PAD, top + BAR + PAD) : []),
  ];
}

/**
 * @param {Screen} screen
 * @param {number} left
 * @param {number} top
 */
function drawRows({rows, look}, left, top) {
  return rows.flatMap((pieces, row) => pieces.flatMap((piece) => drawPiece(piece, look, left, top + row * LINE)));
}

/**
 * @param {Piece} piece
 * @param {Look} look
 * @param {number} left
 * @param {number} y
 */
function drawPiece({x, width, text, style}, look, left, y) {
  const at = left + x * CELL;
  const size = `width="${round(width * CELL)}" height="${LINE}"`;
  const ground = style.ground ? [`<rect x="${round(at)}" y="${y}" ${size} fill="${style.ground}"/>`] : [];
  if (text.trim() === '') return ground;
  const before = text.length - text.trimStart().length;
  const after = text.length - text.trimEnd().length;
  const classes = [
    ...(style.bold ? ['b'] : []),
    ...(style.dim ? ['d'] : []),
    ...(style.italic ? ['i'] : []),
    ...(style.underline ? ['u'] : style.strike ? ['s'] : []),
  ].join(' ');
  const looks = [
    ...(style.fill === look.text ? [] : [` fill="${style.fill}"`]),
    ...(classes === '' ? [] : [` class="${classes}"`]),
  ].join('');
  const place = `x="${round(at + before * CELL)}" y="${y + 13}" textLength="${round((width - before - after) * CELL)}"`;
  const shown = `<text ${place}${looks}>${escapeText(text.trim())}</text>`;
  // Text inherits the fill of the picture, which is that of a dark terminal.
  return [
    ...ground,
    look.text === DARK.text || looks.includes('fill') ? shown : shown.replace('<text', `<text fill="${look.text}"`),
  ];
}

/**
 * @param {readonly string[]} drawn
 * @param {{width: number, height: number, label: string}} options
 */
function wrap(drawn, {width, height, label}) {
  const box = `viewBox="0 0 ${round(width)} ${round(height)}" width="${round(width)}" height="${round(height)}"`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" ${box} role="img" aria-label="${escapeText(label)}">`,
    '<style>text{white-space:pre}.b{font-weight:bold}.d{opacity:.65}.i{font-style:italic}.u{text-decoration:underline}.s{text-decoration:line-through}</style>',
    `<g font-family="${FONT}" font-size="${SIZE}" fill="${DARK.text}">`,
    ...drawn,
    '</g>',
    '</svg>',
    '',
  ].join('\n');
}
