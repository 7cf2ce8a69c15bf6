/**
 * Searches earlier prompts on Ctrl+R while the person types. Enter sends the found prompt. Esc, Tab and keys that move
 * the cursor take it into the editor. Ctrl+C and Ctrl+G restore the text from before the search.
 */
import type {Controller} from '../controller.ts';
import type {HistorySearch} from '../state/local-state.ts';
import {type EditorState, edit} from './editor.ts';
import type {KeyPress} from './keys.ts';

/** @returns false when the search does not use the key. */
export function pressHistorySearch(controller: Controller, press: KeyPress): boolean {
  const {historySearch: search, editor, focus} = controller.local.get();
  const isCtrlR = press.ctrl && press.text === 'r';
  if (!search) {
    if (!isCtrlR || focus) return false;
    controller.change({
      historySearch: {query: '', at: editor.history.length, isFound: true, before: editor},
      panel: undefined,
    });
    return true;
  }
  const leave = (next: EditorState) =>
    controller.change({historySearch: undefined, editor: next, selected: 0, dismissed: next.text});
  if (isCtrlR) find(controller, search, search.query, search.at - 1);
  else if (press.ctrl && /^[cg]$/.test(press.text)) leave(search.before);
  else if (press.name === 'text' && !press.ctrl && !press.meta) {
    find(controller, search, search.query + press.text, Math.min(search.at, editor.history.length - 1));
  } else if (press.name === 'backspace') {
    if (search.query === '') leave(search.before);
    else find(controller, search, search.query.slice(0, -1), editor.history.length - 1);
  } else {
    leave(editor);
    return press.name === 'escape' || press.name === 'tab';
  }
  return true;
}

/**
 * Shows the newest prompt that contains the query.
 * @param from index in the history where the search begins, going back
 */
function find(controller: Controller, search: HistorySearch, query: string, from: number): void {
  const {editor} = controller.local.get();
  const {history} = editor;
  const wanted = query.toLowerCase();
  let at = from;
  // When a prompt was sent twice, the search skips the copy of the one that is shown.
  const isOther = (text: string) => from === search.at || query !== search.query || text !== history[search.at]?.text;
  while (at >= 0 && !(history[at]!.text.toLowerCase().includes(wanted) && isOther(history[at]!.text))) at -= 1;
  if (query === '' || at < 0) {
    controller.change({historySearch: {...search, query, isFound: query === ''}});
    return;
  }
  controller.change({
    historySearch: {...search, query, at, isFound: true},
    editor: edit(search.before, {type: 'recall', sent: history[at]!}),
  });
}

/** Describes the search in place of the status line. */
export function describeSearch({query, isFound}: HistorySearch): string {
  const what = query === '' ? 'type a part of an earlier prompt' : isFound ? query : `${query} (not found)`;
  return `history: ${what} · Enter send · Esc edit · Ctrl+R older`;
}
