/** The most important keys, shown below the commands of `/help`. */
export const MAIN_KEYS = '? all keys · Esc stops · Shift+Tab mode · Ctrl+O transcript · Down agents';

/** All keys of the prompt, as `?` lists them. */
export const KEYS = `Keys:
  Enter send · \\ Enter, Ctrl+J new line · Up/Down, Ctrl+R history · Tab takes what is offered
  !cmd runs in the shell · @file goes along · #note is remembered · exit leaves
  Esc interrupt, twice when idle go back to an earlier prompt · Shift+Tab mode
  Ctrl+C interrupt, clear, twice leave · Ctrl+D leave · Ctrl+Z suspend
  Ctrl+_ undo · Alt+_ redo · Ctrl+G edit in $EDITOR · Ctrl+L repaint · Ctrl+T todos
  Ctrl+O whole transcript, thinking and results too · Ctrl+V image of the clipboard
  Down agents · Enter open one, type to it, Esc back · Ctrl+B awaited agents to the background`;
