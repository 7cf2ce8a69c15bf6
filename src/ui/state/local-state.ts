/** Defines the state that only the screen has: typed text, marks and hints. The core does not know it. */
import {createEditor, type EditorState} from '../input/editor.ts';
import type {SentPrompt} from '../input/prompt-history.ts';
import type {QuestionFocus} from '../input/question-keys.ts';
import {INSERT, type ViState} from '../input/vi-keys.ts';
import type {Formatter} from '../text/format.ts';
import type {PanelMark} from './panel.ts';
import type {UiState} from './ui-state.ts';

/** The search that Ctrl+R started, until it is left. */
export interface HistorySearch {
  readonly query: string;
  /** Index in the history of the shown prompt. */
  readonly at: number;
  readonly isFound: boolean;
  /** The prompts of all folders, where these are searched. */
  readonly all?: readonly SentPrompt[];
  /** The editor from before the search. */
  readonly before: EditorState;
}

export interface LocalState {
  readonly editor: EditorState;
  /** The mode of vi; used only where the settings say `vim`. */
  readonly vi: ViState;
  /** The editor of the main prompt, while `editor` writes a message to an opened run. */
  readonly mainEditor: EditorState | undefined;
  /** The background of the terminal, once it has told. */
  readonly background?: 'dark' | 'light';
  /** The marked row of the panel; undefined while the keys do not go to the panel. */
  readonly panel: PanelMark | undefined;
  /** The marked row of the completion list. */
  readonly selected: number;
  /** The typed text for which the person closed the completion list. */
  readonly dismissed: string | undefined;
  readonly focus: QuestionFocus | undefined;
  /** Ids of questions that were answered here. The session has not confirmed the newest ones yet. */
  readonly answered: readonly string[];
  /** True while the keys are listed below the prompt. */
  readonly areKeysShown: boolean;
  /** Shown in place of the status line for a moment. */
  readonly hint: string;
  /** The first row of the person's own status line. */
  readonly statusLine?: string;
  /** The action of the key in the hint when it is pressed again while the hint is shown. */
  readonly armed: 'leave' | 'stop and leave' | 'rewind' | undefined;
  /** Tells when the todos are shown. */
  readonly showTodos: 'in turns' | 'always' | 'never';
  /** Prompts that were sent before the session was open. */
  readonly unsent: readonly string[];
  /** Number of prompts whose turn has not ended. */
  readonly runningPrompts: number;
  /** Number of slash commands that have not ended, e.g. one that waits for a draft of the model. */
  readonly runningCommands: number;
  readonly isLeaving: boolean;
  /** A counter. Each increase makes Ink draw the live part again. */
  readonly repaints: number;
  /** The formatter, which is loaded with the first item. Until then no answer is shown. */
  readonly formatter: Formatter | undefined;
  /** Files that `@` offers, best first. While a search runs, they may belong to an earlier text. */
  readonly files: {
    readonly query: string | undefined;
    readonly paths: readonly string[];
    /** Why the search failed. */
    readonly problem?: string;
  };
  readonly historySearch: HistorySearch | undefined;
  /** The program or view that has the terminal. */
  readonly handover: 'editor' | 'shell' | 'transcript' | undefined;
}

/** @param history earlier prompts, oldest first */
export function createLocalState(history: readonly SentPrompt[] | undefined): LocalState {
  return {
    editor: createEditor(history),
    vi: INSERT,
    mainEditor: undefined,
    panel: undefined,
    selected: 0,
    dismissed: undefined,
    focus: undefined,
    answered: [],
    areKeysShown: false,
    hint: '',
    armed: undefined,
    showTodos: 'in turns',
    unsent: [],
    runningPrompts: 0,
    runningCommands: 0,
    isLeaving: false,
    repaints: 0,
    formatter: undefined,
    files: {query: undefined, paths: []},
    historySearch: undefined,
    handover: undefined,
  };
}

/**
 * Returns the question that the person can answer, and the number of waiting questions. After an answer there is none
 * until the session has confirmed it, because the detail of the next question is printed first.
 */
export function currentQuestion(ui: UiState, local: LocalState) {
  const first = ui.questions[0];
  const isAnswered = first !== undefined && local.answered.includes(first.id);
  return {question: isAnswered ? undefined : first, count: ui.questions.length};
}

export function areTodosShown(ui: UiState, {showTodos}: LocalState): boolean {
  return ui.todos.length > 0 && (showTodos === 'always' || (showTodos === 'in turns' && ui.busy));
}

/** Tells whether a turn or a command runs. */
export function isWorking(ui: UiState, local: LocalState): boolean {
  return ui.busy || local.runningPrompts > 0 || local.runningCommands > 0;
}

/** One value that can be read, replaced and watched. React subscribes to it. */
export interface Cell<T> {
  readonly get: () => T;
  readonly set: (value: T) => void;
  readonly subscribe: (listener: () => void) => () => void;
}

export function createCell<T>(initial: T): Cell<T> {
  let current = initial;
  const listeners = new Set<() => void>();
  return {
    get: () => current,
    set: (value) => {
      if (Object.is(value, current)) return;
      current = value;
      for (const listener of listeners) listener();
    },
    subscribe: (listener) => {
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
      };
    },
  };
}
