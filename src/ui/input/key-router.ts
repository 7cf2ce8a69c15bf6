/**
 * Decides where a key goes. Every key closes the list of keys that `?` shows. The following are tried in order, and the
 * first one that uses the key takes it:
 *
 * 1. the search in the history, once Ctrl+R began it (`history-search.ts`)
 * 2. keys that mean the same everywhere: Shift+Tab and Ctrl+B, C, D, G, L, O, T, V, Z
 * 3. the question on the screen (`question-keys.ts`)
 * 4. the list of slash commands or files under the prompt
 * 5. the panel of runs and the opened run
 * 6. the editor of the prompt (`keys.ts`, `editor.ts`)
 *
 * So Enter answers the question, or takes the marked command, or opens the marked run, or sends the typed text. Esc
 * refuses the question, or closes the list, or leaves the panel or the opened run, or interrupts the turn. When mini-cc
 * is idle, pressing Esc twice goes back to an earlier prompt.
 */
import type {Key} from 'ink';
import {inBackground, neverRejects} from '../../core/util/background.ts';
import {getErrorMessage} from '../../core/util/errors.ts';
import {toOneLine} from '../../core/util/text.ts';
import type {Controller} from '../controller.ts';
import {areTodosShown, currentQuestion, type LocalState} from '../state/local-state.ts';
import {markAt, markedIndex, panelRuns} from '../state/panel.ts';
import {hasAwaitedWork, openedRun} from '../state/subagent-store.ts';
import type {UiState} from '../state/ui-state.ts';
import {screenLine} from '../text/screen-text.ts';
import {getOffered, quotePath, takeOffered} from './completion.ts';
import {type EditorAction, edit} from './editor.ts';
import {pressHistorySearch} from './history-search.ts';
import {editorAction, type KeyPress, parseKeys} from './keys.ts';
import {questionKey, takesText} from './question-keys.ts';
import {pressVi} from './vi-keys.ts';

/** Milliseconds within which a second Ctrl+C leaves and a second Esc rewinds. */
const PRESS_AGAIN_MS = 2000;

/** @param width columns of the prompt's rows */
export function pressKeys(controller: Controller, input: string, key: Key, width: number): void {
  for (const press of parseKeys(input, key)) controller.keys.add(() => pressKey(controller, press, width));
}

function pressKey(controller: Controller, press: KeyPress, width: number): void {
  if (controller.local.get().isLeaving) return;
  disarm(controller, press);
  if (closesKeys(controller, press)) return;
  if (pressHistorySearch(controller, press)) return;
  if (pressControl(controller, press)) return;
  if (pressQuestion(controller, press)) return;
  const go = () =>
    pressCompletion(controller, press) || pressPanel(controller, press) || pressEditor(controller, press, width);
  // The key must not take a file that was found for an earlier text.
  if (isTaking(press) && controller.completer.isSearching) {
    controller.keys.waitFor(controller.completer.settled().then(go));
  } else go();
}

/** Closes the list of keys, if it is shown. @returns true for a key that does nothing else then */
function closesKeys(controller: Controller, {name, text}: KeyPress): boolean {
  if (!controller.local.get().areKeysShown) return false;
  controller.change({areKeysShown: false});
  return name === 'escape' || (name === 'text' && text === '?');
}

/** Tells whether the key takes an entry of the list under the prompt. */
function isTaking(press: KeyPress): boolean {
  return press.name === 'tab' || (press.name === 'return' && !press.shift && !press.meta);
}

export function pasteText(controller: Controller, text: string): void {
  controller.keys.add(() => insertPaste(controller, text));
}

function insertPaste(controller: Controller, text: string): void {
  const {focus, editor, panel} = controller.local.get();
  if (panel) controller.change({panel: undefined});
  controller.change({historySearch: undefined, areKeysShown: false});
  const action: EditorAction = {type: 'paste', text: toImageMention(text) ?? text};
  const at = {isPromptEmpty: editor.text === '', now: controller.now()};
  if (focus?.note && takesText(focus, at))
    controller.change({focus: {...focus, note: edit(focus.note, {...action, text: toOneLine(text)})}});
  else controller.change({editor: edit(editor, action)});
  controller.completer.search();
}

/** Removes the hint when another key is pressed than the one that the hint asks for. */
function disarm(controller: Controller, press: KeyPress): void {
  const {armed} = controller.local.get();
  const isCtrl = (letter: string) => press.ctrl && press.text === letter;
  if (armed === 'leave' && !isCtrl('c')) controller.clearHint();
  if (armed === 'stop and leave' && !isCtrl('c') && !isCtrl('d')) controller.clearHint();
  if (armed === 'rewind' && press.name !== 'escape') controller.clearHint();
}

function pressControl(controller: Controller, press: KeyPress): boolean {
  // This key works while a question is shown, too: the new mode may answer it.
  if (press.name === 'tab' && press.shift) {
    // The hint would hide the status line, which names the mode.
    controller.clearHint();
    controller.nextMode();
    return true;
  }
  const act = press.ctrl ? CONTROL_KEYS[press.text] : undefined;
  return act !== undefined && act(controller) !== false;
}

/**
 * The actions of Ctrl with a letter. A key whose action returns false goes on to the question, the list and the editor.
 */
const CONTROL_KEYS: Readonly<Record<string, (controller: Controller) => unknown>> = {
  // Without anything to send to the background, the key moves the cursor.
  b: (controller) => {
    if (!hasAwaitedWork(controller.ui.get()) || controller.local.get().focus?.note) return false;
    return controller.detachRuns();
  },
  c: pressCtrlC,
  d: (controller) => {
    const {editor, focus} = controller.local.get();
    return editor.text === '' && !focus?.note && controller.askToLeave('Ctrl+D');
  },
  g: (controller) => controller.change({handover: 'editor'}),
  z: (controller) => controller.change({handover: 'shell'}),
  l: (controller) => controller.repaint(),
  o: (controller) => controller.openTranscript(),
  t: pressCtrlT,
  v: (controller) =>
    controller.keys.waitFor(
      controller
        .pasteImage()
        .catch((error: unknown) => controller.hint(`No image was pasted: ${screenLine(getErrorMessage(error))}`, 6000)),
    ),
};

/** Hides the todos, or shows them also between turns. */
function pressCtrlT(controller: Controller): void {
  const [ui, local] = [controller.ui.get(), controller.local.get()];
  if (ui.todos.length === 0) controller.hint('There are no todos: agents write them for longer work.', 3000);
  else controller.change({showTodos: areTodosShown(ui, local) ? 'never' : 'always'});
}

/** Interrupts the turn, or clears the typed text, or leaves when pressed twice. */
function pressCtrlC(controller: Controller): void {
  if (controller.interrupt()) return;
  const {editor, armed} = controller.local.get();
  if (editor.text !== '') {
    controller.change({editor: edit(editor, {type: 'set', text: ''}), dismissed: undefined});
  } else if (armed === 'leave' || armed === 'stop and leave') {
    controller.askToLeave('Ctrl+C');
  } else {
    controller.hint('press Ctrl+C again to leave', PRESS_AGAIN_MS, 'leave');
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
  if (step.explain) inBackground(explainCall(controller, question.id), neverRejects);
  return step.isHandled;
}

/** Shows what the model says about the call, if its question is still on the screen. */
async function explainCall(controller: Controller, question: string): Promise<void> {
  const said = await controller.explainCall(question).then(
    (text) => `The model says: ${text}`,
    (error: unknown) => `No explanation: ${getErrorMessage(error)}`,
  );
  const {focus} = controller.local.get();
  if (focus?.id === question) controller.change({focus: {...focus, explanation: screenLine(said)}});
}

function pressCompletion(controller: Controller, press: KeyPress): boolean {
  const {ui, local} = controller;
  const offered = getOffered(ui.get(), local.get());
  if (offered.length === 0) return false;
  const {editor} = local.get();
  const selected = Math.min(local.get().selected, offered.length - 1);
  if (press.name === 'up' || press.name === 'down') {
    controller.change({selected: (selected + (press.name === 'up' ? -1 : 1) + offered.length) % offered.length});
    return true;
  }
  if (press.name === 'escape') {
    controller.change({dismissed: editor.text});
    return true;
  }
  if (!isTaking(press)) return false;
  const row = offered[selected]!;
  const isComplete = row.isTyped || (selected === 0 && offered.some(({isTyped}) => isTyped));
  if (press.name === 'return' && isComplete) return false;
  controller.change({editor: takeOffered(editor, row), selected: 0});
  controller.completer.search();
  // After a whole command, Enter goes on to the editor, which sends it.
  return !(press.name === 'return' && row.isWhole);
}

function pressEditor(controller: Controller, press: KeyPress, width: number): void {
  const {editor, vi} = controller.local.get();
  const typed = controller.ui.get().session?.vim ? pressVi(vi, editor, press, width) : undefined;
  if (typed) {
    controller.change({...typed, ...(typed.editor.text !== editor.text && {selected: 0, dismissed: undefined})});
    if (typed.editor.text !== editor.text) controller.completer.search();
    return;
  }
  if (press.name === 'escape') {
    pressEscape(controller);
    return;
  }
  if (press.name === 'return' && !press.shift && !press.meta) {
    pressEnter(controller);
    return;
  }
  if (press.name === 'up' && editor.text === '' && editor.historyAt === editor.history.length) {
    if (controller.takeBack('newest')) return;
  }
  if (press.name === 'text' && press.text === '?' && editor.text === '' && !press.ctrl && !press.meta) {
    controller.change({areKeysShown: true});
    return;
  }
  const action = editorAction(press, width);
  if (!action) return;
  const next = edit(editor, action);
  const isChanged = next.text !== editor.text;
  // Up and Down recall earlier prompts. A recalled command opens no list, so that the next Up goes on through the
  // history.
  const isRecalled = action.type === 'up' || action.type === 'down';
  controller.change({
    editor: next,
    ...(isChanged && {selected: 0, dismissed: isRecalled ? next.text : undefined}),
  });
  if (isChanged) controller.completer.search();
}

/** Sends the typed text. After a backslash it starts a new line instead. */
function pressEnter(controller: Controller): void {
  const {editor} = controller.local.get();
  if (editor.text[editor.cursor - 1] !== '\\') {
    controller.submitEditor();
    return;
  }
  const withoutBackslash = edit(editor, {type: 'backspace'});
  controller.change({editor: edit(withoutBackslash, {type: 'insert', text: '\n'})});
}

/** Interrupts the turn. When mini-cc is idle and nothing is typed, the second Esc goes back to an earlier prompt. */
function pressEscape(controller: Controller): void {
  const {ui, local} = controller;
  if (controller.interrupt() || local.get().editor.text !== '' || !ui.get().session) return;
  if (local.get().armed !== 'rewind') {
    controller.hint('press Esc again to go back to an earlier prompt', PRESS_AGAIN_MS, 'rewind');
    return;
  }
  controller.clearHint();
  controller.submit('/rewind');
}

/**
 * Handles keys of the panel of runs and of an opened run. Down in an empty prompt goes to the panel, Up and Down move
 * in it, Esc goes back to the prompt, and Enter opens the marked run. All other keys leave the panel and go to the
 * prompt.
 * @returns false when the panel does not use the key
 */
function pressPanel(controller: Controller, press: KeyPress): boolean {
  const ui = controller.ui.get();
  const local = controller.local.get();
  if (openedRun(ui)) {
    if (press.name !== 'escape') return false;
    controller.closeRun();
    return true;
  }
  return local.panel ? pressInside(controller, press) : press.name === 'down' && enter(controller, ui, local);
}

function enter(controller: Controller, ui: UiState, {editor}: LocalState): boolean {
  // Down goes through the history of prompts first.
  if (editor.text !== '' || editor.historyAt < editor.history.length) return false;
  const panel = markAt(panelRuns(ui, true), 0);
  if (!panel) return false;
  controller.change({panel});
  return true;
}

function pressInside(controller: Controller, press: KeyPress): boolean {
  const runs = panelRuns(controller.ui.get(), true);
  const {panel} = controller.local.get();
  const index = panel && runs.length > 0 ? markedIndex(runs, panel) : -1;
  switch (index < 0 ? undefined : press.name) {
    case 'up':
      controller.change({panel: markAt(runs, index - 1)});
      return true;
    case 'down':
      controller.change({panel: markAt(runs, Math.min(index + 1, runs.length - 1))});
      return true;
    case 'escape':
      controller.change({panel: undefined});
      return true;
    case 'return':
      controller.openRun(runs[index]!.agentId);
      return true;
    default:
      controller.change({panel: undefined});
      return false;
  }
}

const IMAGE = /\.(?:png|jpe?g|gif|webp)$/i;

/**
 * Recognises the path of an image, which terminals paste when its file is dropped on them.
 * @returns the path as an `@` mention, so that the image is sent with the prompt; undefined when the paste is not the absolute path of an image as terminals write
 * it
 */
export function toImageMention(pasted: string): string | undefined {
  const line = pasted.trim();
  if (line.includes('\n')) return undefined;
  const path = unquote(line);
  if (!/^(?:~?\/)/.test(path) || !IMAGE.test(path) || path.includes('"')) return undefined;
  return quotePath(path);
}

function unquote(text: string): string {
  if (text.startsWith('file://')) {
    try {
      return decodeURIComponent(text.replace(/^file:\/\/[^/]*/, ''));
    } catch (error) {
      // The text is not a valid URL.
      if (error instanceof URIError) return text;
      throw error;
    }
  }
  const [, quoted] = /^'(.*)'$|^"(.*)"$/.exec(text)?.filter((part) => part !== undefined) ?? [];
  if (quoted !== undefined) return quoted;
  // Unescaped blanks separate several paths.
  return /(?<!\\)\s/.test(text) ? '' : text.replace(/\\(.)/g, '$1');
}
