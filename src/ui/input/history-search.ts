/**
 * Searches earlier prompts on Ctrl+R while the person types: a list shows what is found, and Up, Down and Ctrl+R move in
 * it. Ctrl+S searches the prompts of all folders, or again those of this one. Enter sends the marked prompt. Esc, Tab and keys that move
 * the cursor take it into the editor. Ctrl+C and Ctrl+G restore the text from before the search.
 */

import {toOneLine} from '../../core/util/text.ts';
import type {Controller} from '../controller.ts';
import type {HistorySearch, LocalState} from '../state/local-state.ts';
import type {UiState} from '../state/ui-state.ts';
import {getOffered, type Offered} from './completion.ts';
import {type EditorState, edit, labelPastes} from './editor.ts';
import type {KeyPress} from './keys.ts';
import type {SentPrompt} from './prompt-history.ts';

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
  if (isCtrlR) move(controller, search, 1);
  else if (press.ctrl && press.text === 's') changeScope(controller, search);
  else if (press.name === 'up' || press.name === 'down') move(controller, search, press.name === 'up' ? -1 : 1);
  else if (press.ctrl && /^[cg]$/.test(press.text)) leave(search.before);
  else if (press.name === 'text' && !press.ctrl && !press.meta) {
    find(controller, search, search.query + press.text, Math.min(search.at, listPrompts(controller).length - 1));
  } else if (press.name === 'backspace') {
    if (search.query === '') leave(search.before);
    else find(controller, search, search.query.slice(0, -1), listPrompts(controller).length - 1);
  } else {
    leave(editor);
    return press.name === 'escape' || press.name === 'tab';
  }
  return true;
}

/** Changes between the prompts of this folder and those of all, and looks for the newest that contains the query. */
function changeScope(controller: Controller, {all, ...search}: HistorySearch): void {
  const next: HistorySearch = all ? search : {...search, all: controller.readAllPrompts()};
  const {length} = next.all ?? controller.local.get().editor.history;
  controller.change({historySearch: {...next, at: length}});
  find(controller, {...next, at: length}, search.query, length - 1);
}

/** Returns the prompts that are searched. */
function listPrompts(controller: Controller): readonly SentPrompt[] {
  const {editor, historySearch} = controller.local.get();
  return historySearch?.all ?? editor.history;
}

/** Returns the places in the history of the prompts that contain the query, newest first, each text once. */
function findAll(history: readonly SentPrompt[], query: string): readonly number[] {
  const wanted = query.toLowerCase();
  const seen = new Set<string>();
  return history.flatMap((_, index) => {
    const at = history.length - 1 - index;
    const {text} = history[at]!;
    if (seen.has(text) || !text.toLowerCase().includes(wanted)) return [];
    seen.add(text);
    return [at];
  });
}

export interface OfferedList {
  readonly rows: readonly Offered[];
  /** Index of the marked row; -1 when none is. */
  readonly marked: number;
}

/** Returns the list under the prompt: what the search has found, or what is offered for the typed text. */
export function listOffered(ui: UiState, local: LocalState): OfferedList {
  const {historySearch: search, editor} = local;
  if (!search) {
    const rows = getOffered(ui, local);
    return {rows, marked: Math.min(local.selected, rows.length - 1)};
  }
  const history = search.all ?? editor.history;
  const found = findAll(history, search.query);
  const rows = found.map((at) => {
    const label = toOneLine(labelPastes(history[at]!));
    return {label, description: '', text: label, isTyped: false, isWhole: false};
  });
  return {rows, marked: found.indexOf(search.at)};
}

/** Shows the newest prompt that contains the query, from a place in the history on, going back. */
function find(controller: Controller, search: HistorySearch, query: string, from: number): void {
  const at = findAll(listPrompts(controller), query).find((each) => each <= from);
  if (query === '' || at === undefined) controller.change({historySearch: {...search, query, isFound: query === ''}});
  else show(controller, {...search, query}, at);
}

/** @param step 1 goes to an older prompt */
function move(controller: Controller, search: HistorySearch, step: 1 | -1): void {
  const found = findAll(listPrompts(controller), search.query);
  const at = found[Math.max(0, found.indexOf(search.at) + step)];
  if (at !== undefined) show(controller, search, at);
  else controller.change({historySearch: {...search, isFound: false}});
}

function show(controller: Controller, search: HistorySearch, at: number): void {
  const sent = listPrompts(controller)[at]!;
  controller.change({
    historySearch: {...search, at, isFound: true},
    editor: edit(search.before, {type: 'recall', sent}),
  });
}

/** Describes the search in place of the status line. */
export function describeSearch({query, isFound, all}: HistorySearch): string {
  const what = query === '' ? 'type a part of it' : isFound ? query : `${query} (not found)`;
  return `history${all ? ' of all folders' : ''}: ${what} · Enter send · Esc edit · Ctrl+R older · Ctrl+S ${all ? 'this folder' : 'all folders'}`;
}
