/**
 * Turns what the person does into verbs of the session, and what the session emits into the state of the screen. React
 * draws the two cells and decides nothing. `input/key-router.ts` says which key calls which method.
 */
import type {AgentEventBody, Answer, PermissionMode, Question} from '../core/contract/events.ts';
import type {Session, SubmitResult} from '../core/contract/session-requests.ts';
import type {RestoredMessage} from '../core/contract/transcript.ts';
import {describeSent, formatRunTitle} from '../core/runs/progress-line.ts';
import {inBackground, neverRejects} from '../core/util/background.ts';
import {getErrorMessage} from '../core/util/errors.ts';
import {getText} from '../core/util/messages.ts';
import {parseTypedLine} from '../core/util/prompt-syntax.ts';
import {formatCount} from '../core/util/text.ts';
import type {PromptImages} from './input/clipboard-image.ts';
import {Completer} from './input/completion.ts';
import {createEditor, edit, expandedText, getSent, joinSent, labelPastes, submitted} from './input/editor.ts';
import {KeyQueue} from './input/key-queue.ts';
import type {SentPrompt} from './input/prompt-history.ts';
import {focusOn} from './input/question-keys.ts';
import {INSERT} from './input/vi-keys.ts';
import {settleAnswer} from './state/answer.ts';
import {createEventPump} from './state/event-pump.ts';
import {forgetPrinted} from './state/finished-items.ts';
import {type Cell, createCell, createLocalState, isWorking, type LocalState} from './state/local-state.ts';
import {printQuestion} from './state/questions.ts';
import {addPrompt, openSession, reduce} from './state/store.ts';
import {closeRun, hasEnded, openedRun, openRun} from './state/subagent-store.ts';
import {INITIAL_STATE, type NoticeLevel, type SubagentRun, type UiState} from './state/ui-state.ts';
import {isEmpty, type LiveRoom} from './text/answer-stream.ts';
import {screenLine} from './text/screen-text.ts';

export interface ControllerOptions {
  /** Earlier prompts, oldest first. */
  readonly history?: readonly SentPrompt[];
  /** Reads the prompts of all folders, oldest first. */
  readonly allPrompts?: () => readonly SentPrompt[];
  /** Called for each prompt that is sent, to store it in the history on disk. */
  readonly onSubmit?: (sent: SentPrompt) => void;
  readonly onLeave: (exitCode: number) => void;
  readonly onRepaint: () => void;
  /** A monotonic clock in milliseconds. */
  readonly now?: () => number;
  /** Returns how many rows of an answer may be live, and the width of the window. */
  readonly room?: () => LiveRoom;
}

const MODE_CYCLE: readonly PermissionMode[] = ['default', 'acceptEdits', 'plan'];

/** Milliseconds for which the warning about running agents is shown. A second press within this time stops them. */
const STOP_AND_LEAVE_MS = 5_000;

/** Milliseconds after the first key of a prompt, so that its echo does not wait. */
const PREPARE_MS = 100;

/** Number of printed items that are collected before their texts are freed. */
const MAX_PRINTED = 200;

export class Controller {
  readonly ui: Cell<UiState> = createCell(INITIAL_STATE);
  readonly local: Cell<LocalState>;
  readonly now: () => number;
  readonly #options: ControllerOptions;
  readonly #pump = createEventPump((events) => this.#setUi(events.reduce(reduce, this.ui.get())));
  /** Questions that are asked before the session is open, by id. This class answers them itself. */
  readonly #earlyQuestions = new Map<string, (answer: Answer | 'withdrawn') => void>();
  readonly completer: Completer;
  readonly keys = new KeyQueue();
  /** The runs that were stopped because the person left. */
  stoppedRuns: readonly SubagentRun[] = [];
  #session: Session | undefined;
  #unsubscribe: (() => void) | undefined;
  #hintTimer: NodeJS.Timeout | undefined;
  /** Titles of the runs that the last warning before leaving named. */
  #warnedRuns = '';
  #freedItems = 0;
  #images: PromptImages | undefined;
  #printedQuestion = '';
  #formatterLoading: Promise<void> | undefined;
  #preparing: NodeJS.Timeout | undefined;

  constructor(options: ControllerOptions) {
    this.#options = options;
    this.now = options.now ?? (() => performance.now());
    this.local = createCell(createLocalState(options.history));
    this.completer = new Completer(
      this,
      async (query) => (await this.#session?.request({type: 'find_files', query})) ?? [],
    );
  }

  change(part: Partial<LocalState>): void {
    this.local.set({...this.local.get(), ...part});
    if (part.editor?.text) this.#prepareAnswer();
  }

  /** Prepares the formatter while the person still types, so that the answer does not wait for it. */
  #prepareAnswer(): void {
    if (this.#formatterLoading) return;
    this.#preparing ??= setTimeout(() => {
      this.#ensureFormatter();
      // The first text is slow, because its patterns are compiled.
      const ready = this.#formatterLoading?.then(() => this.local.get().formatter?.formatOpen('Text'));
      // An error while loading is reported where it is loaded.
      if (ready) inBackground(ready, () => undefined);
    }, PREPARE_MS).unref();
  }

  /** Sets the state, and formats and prints as much of its answer as can be printed. */
  #setUi(state: UiState): void {
    const {formatter} = this.local.get();
    if (!formatter && needsFormatter(state)) this.#ensureFormatter();
    const room = this.#options.room?.() ?? {columns: 80, rows: 16};
    this.ui.set(formatter ? settleAnswer(state, formatter, room) : state);
  }

  /** Loads the formatter with the first item, because an empty session does not need it. Answers wait for it. */
  #ensureFormatter(): void {
    if (this.#formatterLoading) return;
    this.#formatterLoading = import('./text/format.ts').then(({createFormatter}) => {
      this.change({formatter: createFormatter()});
      this.#setUi(this.ui.get());
    });
    inBackground(this.#formatterLoading, (error) => this.#printNotice('error', getErrorMessage(error)));
  }

  /** Shows the whole transcript, which needs the session and the formatter. */
  openTranscript(): void {
    if (!this.#session) {
      this.hint('The session is still opening: press Ctrl+O again in a moment.', 2000);
      return;
    }
    this.#ensureFormatter();
    const opened = this.#formatterLoading?.then(() => this.change({handover: 'transcript'}));
    if (opened) inBackground(opened, neverRejects);
  }

  /** Connects the session once it is open, and sends it the prompts that were typed before. */
  open(session: Session): void {
    const {isLeaving, unsent} = this.local.get();
    if (isLeaving) return;
    this.#session = session;
    this.#setUi(openSession(this.ui.get(), session.info));
    this.#unsubscribe = session.subscribe(this.#pump.push);
    this.change({unsent: []});
    // A search that began before the session was open could find no files.
    this.completer.search();
    for (const text of unsent) inBackground(this.#send(session, text), neverRejects);
  }

  /** Sends the typed text, if there is any, to the opened run, or to the main agent when no run is opened. */
  submitEditor(): void {
    const {editor} = this.local.get();
    const sent = getSent(editor);
    const {text} = sent;
    if (text === '') return;
    this.change({editor: submitted(editor), vi: INSERT, selected: 0, dismissed: undefined});
    const run = openedRun(this.ui.get());
    if (run) {
      this.#sendToRun(run, text);
      return;
    }
    this.submit(text);
    // `/exit` stays out of the history: with Up it would make the user leave again.
    if (parseTypedLine(text)?.name === 'exit') return;
    try {
      this.#options.onSubmit?.(sent);
    } catch (error) {
      this.hint(`Could not save this prompt in the history: ${screenLine(getErrorMessage(error))}`, 4000);
    }
  }

  /** Sends a prompt or a slash command. It waits until the session is open. */
  submit(text: string): void {
    if (this.#session) inBackground(this.#send(this.#session, text), neverRejects);
    else this.change({unsent: [...this.local.get().unsent, text]});
  }

  async #send(session: Session, text: string): Promise<void> {
    this.#pump.flush();
    const isCommand = parseTypedLine(text) !== undefined;
    const isIdle = !this.ui.get().busy && this.local.get().runningPrompts === 0;
    // A prompt in the session's queue is shown as queued, and is printed when the session delivers it.
    if (isCommand || isIdle) this.#printPrompt(session, text);
    const counter = isCommand ? 'runningCommands' : 'runningPrompts';
    this.change({[counter]: this.local.get()[counter] + 1});
    const trimmed = text.trim();
    const content = this.#images?.toContent(trimmed) ?? trimmed;
    const result = await session.submit({content, typed: true});
    this.change({[counter]: this.local.get()[counter] - 1});
    // A turn or a command may have changed the git branch.
    this.#reduceOwn({type: 'session', info: session.info});
    this.#pump.flush();
    if (result.type === 'command') this.#endCommand(result);
    else if (result.type === 'turn' && result.input !== undefined) {
      this.change(putBack(this.local.get(), [result.input]));
    }
  }

  #endCommand({exit, input}: SubmitResult & {type: 'command'}): void {
    if (exit) this.askToLeave('Ctrl+D');
    if (input !== undefined && this.local.get().editor.text === '') {
      this.change(putBack(this.local.get(), [input]));
    }
  }

  /** Moves prompts that wait for the model's next step back into the editor. @returns false when none waits. */
  takeBack(which: 'all' | 'newest'): boolean {
    this.#pump.flush();
    const queued = this.ui.get().queued.map(({id}) => id);
    const texts = (which === 'all' ? queued : queued.slice(-1)).flatMap((id) => {
      const content = this.#session?.request({type: 'take_back', id});
      return content === undefined ? [] : [getText(content)];
    });
    if (texts.length > 0) this.change(putBack(this.local.get(), texts));
    this.#pump.flush();
    return texts.length > 0;
  }

  #sendToRun(run: SubagentRun, message: string): void {
    const text = `${formatRunTitle(run)}: ${message}`;
    this.#request((session) => {
      this.#printPrompt(session, text);
      const answer = session.request({type: 'send_to_run', run: run.agentId, message});
      this.#printNotice('info', describeSent(run, answer));
    });
  }

  #printPrompt(session: Session, text: string): void {
    const shown = labelPastes(findSent(this.local.get(), text));
    this.#setUi(addPrompt(this.ui.get(), session.request({type: 'redact', text: shown})));
  }

  #printNotice(level: NoticeLevel, text: string): void {
    this.#reduceOwn({type: 'notice', level, text});
  }

  /** Makes requests of the session, if it is open. An error is printed as a notice. */
  #request(ask: (session: Session) => void): void {
    if (!this.#session) return;
    this.#pump.flush();
    try {
      ask(this.#session);
    } catch (error) {
      this.#printNotice('error', getErrorMessage(error));
    }
  }

  /**
   * Interrupts the running turn or command, and moves queued prompts back into the editor. @returns false when nothing
   * runs.
   */
  interrupt(): boolean {
    if (!isWorking(this.ui.get(), this.local.get())) return false;
    // The queue is emptied first, because the end of this turn starts the next one with it.
    this.takeBack('all');
    this.#session?.abort();
    return true;
  }

  /** Switches to the next permission mode, and from `bypassPermissions` to the first. */
  nextMode(): void {
    this.#request((session) => {
      const mode = MODE_CYCLE[MODE_CYCLE.indexOf(session.info.permissionMode) + 1] ?? 'default';
      session.request({type: 'set_permission_mode', mode});
    });
  }

  /** Returns the prompts of all folders, oldest first. */
  readAllPrompts(): readonly SentPrompt[] {
    return this.#options.allPrompts?.() ?? [];
  }

  /** Sends the awaited subagents and commands to the background. The turn goes on without their results. */
  detachRuns(): void {
    this.#request((session) => session.request({type: 'detach_runs'}));
  }

  /** Asks the model to explain the call that a question is about. */
  async explainCall(question: string): Promise<string> {
    return (await this.#session?.request({type: 'explain_call', question})) ?? '';
  }

  /** Passes the person's answer on to the session, or to the caller that asked before the session was open. */
  answer(askId: string, answer: Answer): void {
    this.change({answered: [...this.local.get().answered.slice(-20), askId], focus: undefined});
    const resolve = this.#earlyQuestions.get(askId);
    if (!resolve) {
      this.#session?.answer(askId, answer);
      return;
    }
    this.#earlyQuestions.delete(askId);
    this.#reduceOwn({type: 'ask_end', askId, answer: answer.choice});
    resolve(answer);
  }

  /** Asks the person before the session is open. @returns `withdrawn` when the person leaves without an answer. */
  ask(question: Question): Promise<Answer | 'withdrawn'> {
    this.#reduceOwn({type: 'ask', question});
    return new Promise((resolve) => this.#earlyQuestions.set(question.id, resolve));
  }

  #reduceOwn(body: AgentEventBody): void {
    this.#setUi(reduce(this.ui.get(), {...body, agentId: 'mini-cc', seq: 0, at: 0}));
  }

  /** Notes which question is on the screen, if any. A new question takes keys after a moment. */
  questionShown(askId: string | undefined): void {
    const question = this.ui.get().questions.find(({id}) => id === askId);
    if (this.local.get().focus?.id === question?.id) return;
    this.change({focus: question && focusOn(question, this.now())});
  }

  /** Prints a question above, once, because the window is too small for it. */
  printQuestion(askId: string): void {
    if (askId === this.#printedQuestion) return;
    this.#printedQuestion = askId;
    this.#setUi(printQuestion(this.ui.get(), askId));
  }

  /** Shows the end of a run's transcript. Typed text goes to that run until `closeRun` is called. */
  openRun(runId: string): void {
    this.#pump.flush();
    this.ui.set(openRun(this.ui.get(), runId));
    const {mainEditor, editor} = this.local.get();
    this.change({panel: undefined, mainEditor: mainEditor ?? editor, editor: createEditor()});
  }

  closeRun(): void {
    const {mainEditor, editor} = this.local.get();
    this.ui.set(closeRun(this.ui.get()));
    if (!mainEditor) return;
    // Ctrl+Y brings back a message that was typed but not sent.
    const killed = expandedText(editor) || mainEditor.killed;
    this.change({mainEditor: undefined, editor: {...mainEditor, killed}});
  }

  /** Runs the person's own status line. @returns an empty text when it fails */
  async readStatusLine(): Promise<string> {
    return (await this.#session?.request({type: 'status_line'}).catch(() => '')) ?? '';
  }

  readTranscript(): readonly RestoredMessage[] {
    return this.#session?.request({type: 'transcript'}) ?? [];
  }

  /** Leaves. While agents run, it first names them and waits for a second press. @param key the key to press again */
  askToLeave(key: 'Ctrl+C' | 'Ctrl+D'): void {
    const runs = this.#runningAgents();
    const names = runs.map(formatRunTitle).join(', ');
    const isConfirmed = this.local.get().armed === 'stop and leave' && names === this.#warnedRuns;
    if (runs.length === 0 || isConfirmed) {
      this.leave(0);
      return;
    }
    this.#warnedRuns = names;
    const commands = runs.filter(({isCommand}) => isCommand).length;
    const counts = [formatCount(runs.length - commands, 'agent'), formatCount(commands, 'command')];
    const what = counts.filter((count) => !count.startsWith('0 ')).join(' and ');
    const them = runs.length === 1 ? 'it' : 'them';
    const warning = `${what} running. Press ${key} again to stop ${them} and quit. ${names}`;
    this.hint(warning, STOP_AND_LEAVE_MS, 'stop and leave');
  }

  leave(exitCode: number): void {
    if (this.local.get().isLeaving) return;
    this.stoppedRuns = this.#runningAgents();
    clearTimeout(this.#hintTimer);
    clearTimeout(this.#preparing);
    this.#unsubscribe?.();
    this.#pump.stop();
    for (const resolve of this.#earlyQuestions.values()) resolve('withdrawn');
    this.#earlyQuestions.clear();
    this.change({isLeaving: true});
    this.#options.onLeave(exitCode);
  }

  #runningAgents(): SubagentRun[] {
    return this.ui.get().subagents.filter((run) => !hasEnded(run));
  }

  /**
   * Shows a line in place of the status line. @param armed what pressing the same key again does while the line is
   * shown
   */
  hint(text: string, ms: number, armed?: LocalState['armed']): void {
    clearTimeout(this.#hintTimer);
    this.change({hint: text, armed});
    this.#hintTimer = setTimeout(() => this.clearHint(), ms);
  }

  clearHint(): void {
    clearTimeout(this.#hintTimer);
    this.change({hint: '', armed: undefined});
  }

  /** Puts the image of the clipboard into the prompt. When there is none, a hint says why. */
  async pasteImage(): Promise<void> {
    const {PromptImages} = await import('./input/clipboard-image.ts');
    this.#images ??= new PromptImages();
    const taken = await this.#images.take();
    if ('why' in taken) this.hint(taken.why, 6000);
    else this.change({editor: edit(this.local.get().editor, {type: 'insert', text: `${taken.chip} `})});
  }

  repaint(): void {
    this.#options.onRepaint();
    this.change({repaints: this.local.get().repaints + 1});
  }

  /**
   * Notes that Ink has printed the first `count` finished items. Their texts are freed once `MAX_PRINTED` are
   * collected.
   */
  printed(count: number): void {
    if (count - this.#freedItems < MAX_PRINTED) return;
    this.#freedItems = count;
    this.ui.set(forgetPrinted(this.ui.get(), count));
  }
}

/** Returns the prompt as it was typed, with its pastes. */
function findSent({editor, mainEditor}: LocalState, text: string): SentPrompt {
  return (mainEditor ?? editor).history.findLast((sent) => sent.text === text) ?? {text};
}

/** Puts the texts before the typed text, so that they can be edited and sent again. */
function putBack(local: LocalState, texts: readonly string[]): Partial<LocalState> {
  const {editor, mainEditor} = local;
  const target = mainEditor ?? editor;
  const prompts = texts.map((text) => findSent(local, text));
  const typed = getSent(target);
  const sent = joinSent(typed.text === '' ? prompts : [...prompts, typed]);
  const next = edit(target, {type: 'recall', sent});
  // A command in the text opens no list.
  return {...(mainEditor ? {mainEditor: next} : {editor: next}), selected: 0, dismissed: next.text};
}

function needsFormatter({finished, stream, questions}: UiState): boolean {
  return finished.length > 0 || questions.length > 0 || !isEmpty(stream);
}
