/**
 * Handles keys of the panel of runs and of an opened run. Down in an empty prompt goes to the panel, Up and Down move
 * in it, Esc goes back to the prompt, and Enter opens the marked run. All other keys leave the panel and go to the
 * prompt.
 */
import type {Controller} from '../controller.ts';
import type {LocalState} from '../state/local-state.ts';
import {markAt, markedIndex, panelRuns} from '../state/panel.ts';
import {openedRun} from '../state/subagent-store.ts';
import type {UiState} from '../state/ui-state.ts';
import type {KeyPress} from './keys.ts';

/** @returns false when the panel does not use the key. */
export function pressPanel(controller: Controller, press: KeyPress): boolean {
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
