/** Where a key goes: the keys that always mean the same, then a question, then the completion list, then the editor. */
import type {Key} from 'ink';
import {oneLine} from '../../core/util/one-line.ts';
import {AT_WORK, type Controller, currentQuestion, type LocalState} from '../controller.ts';
import {hasAwaitedWork, openedRun} from '../state/subagent-store.ts';
import type {UiState} from '../state/ui-state.ts';
import {type Command, commandQuery} from './completion.ts';
import {type EditorAction, edit} from './editor.ts';
import {editorAction, type KeyPress, keysOf} from './keys.ts';
import {pressPanel} from './panel-keys.ts';
import {questionKey} from './question-keys.ts';

export const LEAVE_HINT = 'press Ctrl+C again to leave';
/** Milliseconds in which the second Ctrl+C leaves. */
const LEAVE_MS = 2000;
export const REWIND_HINT = 'press Esc again to go back to an earlier prompt';
/** Milliseconds in which the second Esc rewinds. */
const REWIND_MS = 2000;

/** @param width columns of the prompt's rows */
export function pressKeys(controller: Controller, input: string, key: Key, width: number): void {
  for (const press of keysOf(input, key)) {
    const {local} = controller;
    if (local.get().isLeaving) return;
    const isLeaveKey = press.ctrl && press.text === 'c';
    if (!isLeaveKey && local.get().hint === LEAVE_HINT) controller.hint('', 0);
    if (press.name !== 'escape' && local.get().hint === REWIND_HINT) controller.hint('', 0);
    if (pressControl(controller, press)) continue;
    if (pressQuestion(controller, press)) continue;
    if (pressCompletion(controller, press)) continue;
    if (pressPanel(controller, press)) continue;
    pressEditor(controller, press, width);
  }
}

export function pasteText(controller: Controller, text: string): void {
  const {focus, editor} = controller.local.get();
  if (controller.local.get().panel) controller.change({panel: undefined});
  const action: EditorAction = {type: 'paste', text};
  if (focus?.note) controller.change({focus: {...focus, note: edit(focus.note, {...action, text: oneLine(text)})}});
  else controller.change({editor: edit(editor, action)});
}

/** The commands offered under the prompt; empty when the list is closed. */
export function offeredCommands(ui: UiState, local: LocalState): readonly Command[] {
  // What is typed in an opened run is a message to it.
  if (openedRun(ui)) return [];
  const query = commandQuery(local.editor);
  if (query === undefined || !ui.session || local.dismissed === local.editor.text || local.focus?.note) return [];
  return local.search(query, ui.session.commands);
}

function pressControl(controller: Controller, press: KeyPress): boolean {
  // A mode that settles the question on the screen is one way to answer it.
  if (press.name === 'tab' && press.shift) {
    controller.turnMode();
    return true;
  }
  if (!press.ctrl) return false;
  const {ui, local} = controller;
  switch (press.text) {
    case 'b':
      // Without agents to send away it moves the cursor.
      if (!hasAwaitedWork(ui.get()) || local.get().focus?.note) return false;
      controller.background();
      return true;
    case 'c':
      pressInterrupt(controller);
      return true;
    case 'd':
      if (local.get().editor.text !== '' || local.get().focus?.note) return false;
      controller.askToLeave();
      return true;
    case 'l':
      controller.repaint();
      return true;
    case 't':
      controller.change({showTodos: !local.get().showTodos});
      return true;
    default:
      return false;
  }
}

function pressInterrupt(controller: Controller): void {
  const {local} = controller;
  if (controller.interrupt()) return;
  if (local.get().editor.text !== '') {
    controller.change({editor: edit(local.get().editor, {type: 'set', text: ''}), dismissed: undefined});
  } else if (local.get().hint === LEAVE_HINT || local.get().hint.startsWith(AT_WORK)) {
    controller.askToLeave();
  } else {
    controller.hint(LEAVE_HINT, LEAVE_MS);
  }
}

function pressQuestion(controller: Controller, press: KeyPress): boolean {
  const {ui, local} = controller;
  const {question} = currentQuestion(ui.get(), local.get());
  const {focus, editor} = local.get();
  if (!question || focus?.id !== question.id) return false;
  const step = questionKey(focus, question, press, {isPromptEmpty: editor.text === '', now: controller.now()});
  if (step.answer) controller.answer(question.id, step.answer);
  else controller.change({focus: step.focus});
  return step.isHandled;
}

function pressCompletion(controller: Controller, press: KeyPress): boolean {
  const {ui, local} = controller;
  const offered = offeredCommands(ui.get(), local.get());
  if (offered.length === 0) return false;
  const {editor} = local.get();
  const selected = Math.min(local.get().selected, offered.length - 1);
  switch (press.name) {
    case 'up':
    case 'down':
      controller.change({selected: (selected + (press.name === 'up' ? -1 : 1) + offered.length) % offered.length});
      return true;
    case 'escape':
      controller.change({dismissed: editor.text});
      return true;
    case 'tab':
    case 'return': {
      const isTyped = ({name}: Command) => `/${name}` === editor.text;
      const isWhole = isTyped(offered[selected]!) || (selected === 0 && offered.some(isTyped));
      if (press.name === 'return' && isWhole) return false;
      controller.change({editor: edit(editor, {type: 'set', text: `/${offered[selected]!.name} `}), selected: 0});
      return true;
    }
    default:
      return false;
  }
}

/** Interrupts what is at work; twice when idle, with nothing typed, goes back to an earlier prompt. */
function pressEscape(controller: Controller): void {
  const {ui, local} = controller;
  if (controller.interrupt() || local.get().editor.text !== '' || !ui.get().session) return;
  if (local.get().hint !== REWIND_HINT) {
    controller.hint(REWIND_HINT, REWIND_MS);
    return;
  }
  controller.hint('', 0);
  controller.submit('/rewind');
}

function pressEditor(controller: Controller, press: KeyPress, width: number): void {
  const {local} = controller;
  const {editor} = local.get();
  if (press.name === 'escape') {
    pressEscape(controller);
    return;
  }
  if (press.name === 'return' && !press.shift && !press.meta) {
    if (editor.text[editor.cursor - 1] === '\\') {
      const stepped = edit(editor, {type: 'backspace'});
      controller.change({editor: edit(stepped, {type: 'insert', text: '\n'})});
    } else {
      controller.submitEditor();
    }
    return;
  }
  const action = editorAction(press, width);
  if (!action) return;
  const next = edit(editor, action);
  const isChanged = next.text !== editor.text;
  // Up and Down go on through the history, also past a command: no list opens on it.
  const isRecalled = action.type === 'up' || action.type === 'down';
  controller.change({
    editor: next,
    ...(isChanged && {selected: 0, dismissed: isRecalled ? next.text : undefined}),
  });
  if (isChanged && commandQuery(next) !== undefined) controller.loadSearch();
}
