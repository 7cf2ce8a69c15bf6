/**
 * What the person does becomes the session's verbs; what the session tells becomes the screen's state. React draws
 * both cells and decides nothing.
 */

import type {Answer, Question} from '../core/contract/events.ts';
import type {FrontEndSession} from '../core/contract/session.ts';
import {messageOf} from '../core/util/errors.ts';
import {isCommandLine, parseTypedTask} from '../core/util/prompt-syntax.ts';
import {type CommandSearch, loadFuzzySearch, prefixSearch} from './input/completion.ts';
import {createEditor, type EditorState, edit, expandedText, submitted} from './input/editor.ts';
import {focusOn, type QuestionFocus} from './input/question-keys.ts';
import {type Cell, createCell} from './state/cell.ts';
import {createEarlyQuestions} from './state/early-questions.ts';
import {createEventPump} from './state/event-pump.ts';
import {addText, forgetPrinted} from './state/finished-items.ts';
import type {PanelMark} from './state/panel.ts';
import {addPrompt, openSession, printQuestion, reduce} from './state/store.ts';
import {closeRun, hasEnded, openedRun, openRun} from './state/subagent-store.ts';
import {INITIAL_STATE, type UiState} from './state/ui-state.ts';
import {screenLine} from './text/screen-text.ts';

/** What is the screen's own: typed text, marks and hints. Nothing of it is the core's. */
export interface LocalState {
  readonly editor: EditorState;
  /** What was typed to the main agent, while the editor is an opened run's. */
  readonly aside: EditorState | undefined;
  /** The person is in the panel under the prompt. */
  readonly panel: PanelMark | undefined;
  /** Which line of the completion list is marked. */
  readonly selected: number;
  /** The text for which the person closed the completion list. */
  readonly dismissed: string | undefined;
  readonly focus: QuestionFocus | undefined;
  /** Questions answered here, until the core says so. */
  readonly answered: readonly string[];
  /** A word in the status line that goes away by itself. */
  readonly hint: string;
  readonly showTodos: boolean;
  /** Sent before the session was there. */
  readonly waiting: readonly string[];
  /** Prompts whose turn has not ended. */
  readonly inFlight: number;
  /** Commands that have not ended, e.g. one that waits for a draft. */
  readonly commands: number;
  readonly isLeaving: boolean;
  /** Counts up to make Ink draw the live part again. */
  readonly repaints: number;
  readonly search: CommandSearch;
}

export interface ControllerOptions {
  readonly history?: readonly string[];
  /** Called for every prompt that is sent, for a history that lasts. */
  readonly onSubmit?: (text: string) => void;
  readonly onLeave: (exitCode: number) => void;
  readonly onRepaint: () => void;
  /** A monotonic clock in milliseconds. */
  readonly now?: () => number;
}

export interface Controller {
  readonly ui: Cell<UiState>;
  readonly local: Cell<LocalState>;
  readonly now: () => number;
  readonly change: (change: Partial<LocalState>) => void;
  readonly open: (session: FrontEndSession) => void;
  readonly submit: (text: string) => void;
  /** Sends what is typed, if anything is. */
  readonly submitEditor: () => void;
  /** Shows one run's transcript; what is typed goes to that run until `closeRun`. */
  readonly openRun: (runId: string) => void;
  readonly closeRun: () => void;
  /** The awaited subagents go on, and the turn goes on without them. */
  readonly background: () => void;
  /** The next permission mode: Shift+Tab. */
  readonly turnMode: () => void;
  readonly answer: (askId: string, answer: Answer) => void;
  /** Asks the person, also before there is a session; `withdrawn` when they leave instead. */
  readonly ask: (question: Question) => Promise<Answer | 'withdrawn'>;
  /** @returns false when there was nothing to interrupt. */
  readonly interrupt: () => boolean;
  readonly hint: (text: string, ms: number) => void;
  readonly repaint: () => void;
  readonly leave: (exitCode: number) => void;
  /** The person wants to leave: with agents at work they are named, and it is asked once more. */
  readonly askToLeave: () => void;
  /** The agents that leaving has stopped, in one line; empty when there were none. */
  readonly stoppedRuns: () => string;
  /** The question on the screen has changed: keys are its own after a moment. */
  readonly questionShown: (askId: string | undefined) => void;
  /** The window has no room for the question: it is printed, once. */
  readonly printQuestion: (askId: string) => void;
  readonly printed: (count: number) => void;
  readonly loadSearch: () => void;
}

/** How the hint begins that names them. */
export const AT_WORK = 'at work: ';
/** In which a second wish to leave stops what is at work. Milliseconds. */
const LEAVE_ANYWAY_MS = 5_000;

/** How many printed items may keep their text before it is freed. */
const PRINTED_KEPT = 200;

export function createController(options: ControllerOptions): Controller {
  const {onSubmit, onLeave, onRepaint} = options;
  const now = options.now ?? (() => performance.now());
  const ui = createCell<UiState>(INITIAL_STATE);
  const local = createCell<LocalState>({
    editor: createEditor(options.history),
    aside: undefined,
    panel: undefined,
    selected: 0,
    dismissed: undefined,
    focus: undefined,
    answered: [],
    hint: '',
    showTodos: true,
    waiting: [],
    inFlight: 0,
    commands: 0,
    isLeaving: false,
    repaints: 0,
    search: prefixSearch,
  });
  const pump = createEventPump((events) => ui.set(events.reduce(reduce, ui.get())));
  const early = createEarlyQuestions(ui);
  let session: FrontEndSession | undefined;
  let unsubscribe: (() => void) | undefined;
  let hintTimer: NodeJS.Timeout | undefined;
  let freed = 0;
  let stopped = '';
  let printedQuestion = '';

  const change = (part: Partial<LocalState>) => local.set({...local.get(), ...part});

  /** @param shown what the scrollback tells of it, where that is not the text itself; `''`: nothing */
  const send = async (to: FrontEndSession, text: string, shown = text) => {
    pump.flush();
    const isCommand = isCommandLine(text);
    const isIdle = !ui.get().busy && local.get().inFlight === 0;
    // What waits in the core's queue is shown there, and here when it is taken up.
    if (shown !== '' && (isCommand || isIdle)) ui.set(addPrompt(ui.get(), to.redactor.text(shown)));
    const counted = isCommand ? 'commands' : 'inFlight';
    change({[counted]: local.get()[counted] + 1});
    const result = await to.submit(text);
    change({[counted]: local.get()[counted] - 1});
    pump.flush();
    if (result.type === 'command' && result.exit) askToLeave();
    if (result.type === 'command' && result.input !== undefined && local.get().editor.text === '') {
      change({editor: edit(local.get().editor, {type: 'paste', text: result.input})});
    }
    // No model wrote around a Task that was typed: what its agent found is the answer.
    if (result.type === 'turn' && parseTypedTask(text) && result.result.outcome !== 'error') {
      ui.set(addText(ui.get(), result.result.text));
    }
  };

  const submit = (text: string) => {
    if (session) void send(session, text);
    else change({waiting: [...local.get().waiting, text]});
  };

  const leave = (exitCode: number) => {
    if (local.get().isLeaving) return;
    stopped = runsAtWork()
      .map(({agent, description}) => `  [${agent}] ${description} - stopped`)
      .join('\n');
    clearTimeout(hintTimer);
    unsubscribe?.();
    pump.stop();
    early.withdraw();
    change({isLeaving: true});
    onLeave(exitCode);
  };

  const runsAtWork = () => ui.get().subagents.filter((run) => !hasEnded(run));

  const askToLeave = () => {
    const names = runsAtWork().map(({agent, description}) => `[${agent}] ${description}`);
    const warning = `${AT_WORK}${names.join(', ')} · again to stop and leave`;
    if (names.length === 0 || local.get().hint === warning) leave(0);
    else hint(warning, LEAVE_ANYWAY_MS);
  };

  const hint = (text: string, ms: number) => {
    clearTimeout(hintTimer);
    change({hint: text});
    hintTimer = text === '' ? undefined : setTimeout(() => change({hint: ''}), ms);
  };

  return {
    ui,
    local,
    now,
    change,
    submit,
    hint,
    leave,
    askToLeave,
    ask: early.ask,
    stoppedRuns: () => stopped,
    open: (opened) => {
      if (local.get().isLeaving) return;
      session = opened;
      ui.set(openSession(ui.get(), opened.info));
      unsubscribe = opened.subscribe(pump.push);
      const {waiting} = local.get();
      change({waiting: []});
      for (const text of waiting) void send(opened, text);
    },
    submitEditor: () => {
      const {editor} = local.get();
      const text = expandedText(editor).trim();
      if (text === '') return;
      change({editor: submitted(editor), selected: 0, dismissed: undefined});
      const run = openedRun(ui.get());
      if (run && session) {
        void send(session, `/subagents send ${run.agentId} ${text}`, `[${run.agent}] ${run.description}: ${text}`);
        return;
      }
      submit(text);
      try {
        onSubmit?.(text);
      } catch (error) {
        hint(`this prompt is not in the history: ${screenLine(messageOf(error))}`, 4000);
      }
    },
    openRun: (runId) => {
      pump.flush();
      ui.set(openRun(ui.get(), runId));
      change({panel: undefined, aside: local.get().aside ?? local.get().editor, editor: createEditor()});
    },
    closeRun: () => {
      const {aside, editor} = local.get();
      ui.set(closeRun(ui.get()));
      // A message that was not sent is not lost: Ctrl+Y brings it back.
      if (aside) change({aside: undefined, editor: {...aside, killed: expandedText(editor) || aside.killed}});
    },
    background: () => {
      if (session) void send(session, '/background', '');
    },
    turnMode: () => {
      if (session) void send(session, '/mode next', '');
    },
    answer: (askId, answer) => {
      change({answered: [...local.get().answered.slice(-20), askId], focus: undefined});
      if (!early.answer(askId, answer)) session?.answer(askId, answer);
    },
    interrupt: () => {
      const {inFlight, commands} = local.get();
      if (!ui.get().busy && inFlight === 0 && commands === 0) return false;
      session?.abort();
      return true;
    },
    repaint: () => {
      onRepaint();
      change({repaints: local.get().repaints + 1});
    },
    questionShown: (askId) => {
      const question = ui.get().questions.find(({id}) => id === askId);
      if (local.get().focus?.id === question?.id) return;
      change({focus: question && focusOn(question, now())});
    },
    printQuestion: (askId) => {
      if (askId === printedQuestion) return;
      printedQuestion = askId;
      ui.set(printQuestion(ui.get(), askId));
    },
    printed: (count) => {
      if (count - freed < PRINTED_KEPT) return;
      freed = count;
      ui.set(forgetPrinted(ui.get(), count));
    },
    loadSearch: () => {
      if (local.get().search !== prefixSearch) return;
      // The prefix search does until then, and if it never comes.
      void loadFuzzySearch().then(
        (search) => change({search}),
        () => hint('commands are matched by their beginning', 2000),
      );
    },
  };
}

/**
 * The question that the person can answer now, and how many wait in all. After an answer there is none until the core
 * has taken it: the next one comes with its detail printed.
 */
export function currentQuestion(ui: UiState, local: LocalState) {
  const first = ui.questions[0];
  const isAnswered = first !== undefined && local.answered.includes(first.id);
  return {question: isAnswered ? undefined : first, count: ui.questions.length};
}
