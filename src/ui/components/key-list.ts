/** All keys of the prompt, as `?` lists them. Two columns fit a window of 80. */
const KEYS = [
  ['Enter', 'send'],
  ['\\ Enter, Ctrl+J', 'new line'],
  ['Up Down, Ctrl+R', 'earlier prompts'],
  ['Tab', 'take what is offered'],
  ['! @ #', 'shell, file, note'],
  ['Esc', 'stop; twice: rewind'],
  ['Ctrl+C', 'clear; twice: leave'],
  ['Ctrl+D, exit', 'leave'],
  ['Shift+Tab', 'mode'],
  ['Ctrl+B', 'to the background'],
  ['Down', 'agents at work'],
  ['Ctrl+O', 'whole transcript'],
  ['Ctrl+T', 'todos'],
  ['Ctrl+G', 'edit in $EDITOR'],
  ['Ctrl+V', 'paste an image'],
  ['Ctrl+_', 'undo'],
  ['Ctrl+L', 'repaint'],
  ['Ctrl+Z', 'suspend'],
] as const;

const INDENT = 2;
const KEY_WIDTH = Math.max(...KEYS.map(([key]) => key.length)) + 2;
const CELL_WIDTH = KEY_WIDTH + Math.max(...KEYS.map(([, what]) => what.length)) + 2;

/** Lays the keys out in as many columns as the window has room for, one below the other first. */
export function keyRows(columns: number): string[] {
  // The last column needs no gap after it.
  const across = Math.max(1, Math.min(3, Math.floor((columns - INDENT + 2) / CELL_WIDTH)));
  const down = Math.ceil(KEYS.length / across);
  const cells = KEYS.map(([key, what]) => `${key.padEnd(KEY_WIDTH)}${what}`.padEnd(CELL_WIDTH));
  return Array.from({length: down}, (_, row) =>
    `${' '.repeat(INDENT)}${cells.filter((_cell, index) => index % down === row).join('')}`.trimEnd(),
  );
}
