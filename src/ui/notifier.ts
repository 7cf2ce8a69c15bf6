/**
 * Notifies a person when the terminal has no focus: when a question waits, and when a turn of more than ten seconds has
 * ended. The terminal reports in mode 1004 whether it has the focus. A terminal that reports nothing gets no
 * notifications.
 */
import type {NotifyKind} from '../core/contract/events.ts';
import {currentQuestion} from './state/local-state.ts';
import {TerminalReport} from './terminal-report.ts';

/** Milliseconds. A person does not go away during a shorter turn. */
const LONG_TURN_MS = 10_000;

const REPORT_FOCUS = '\x1b[?1004h';
const REPORT_NOTHING = '\x1b[?1004l';
const BELL = '\x07';

export class Notifier extends TerminalReport {
  /** Undefined until the terminal has reported it. */
  #hasFocus: boolean | undefined;
  #isReporting = false;
  #askId: string | undefined;
  #busySince: number | undefined;

  readonly setFocus = (hasFocus: boolean): void => {
    this.#hasFocus = hasFocus;
  };

  protected end(): void {
    this.#report(false);
  }

  protected look(): void {
    const {ui, local} = this.controller;
    const [state, own] = [ui.get(), local.get()];
    const kind = state.session?.notify ?? 'bell';
    // The reports are off while another program has the terminal, because it would read them as keys.
    this.#report(kind !== 'off' && state.session !== undefined && !own.handover && !own.isLeaving);
    const {question} = currentQuestion(state, own);
    if (question && question.id !== this.#askId) this.#call(kind, question.title);
    this.#askId = question?.id;
    if (state.busy) this.#busySince ??= this.controller.now();
    else if (this.#busySince !== undefined) {
      if (this.controller.now() - this.#busySince > LONG_TURN_MS) this.#call(kind, 'The turn has ended.');
      this.#busySince = undefined;
    }
  }

  #call(kind: NotifyKind, text: string): void {
    if (kind === 'off' || this.#hasFocus !== false) return;
    this.write(kind === 'bell' ? BELL : `\x1b]9;mini-cc: ${text.replaceAll(/[\p{Cc};]/gu, ' ')}${BELL}`);
  }

  #report(isOn: boolean): void {
    if (this.#isReporting === isOn) return;
    this.#isReporting = isOn;
    this.write(isOn ? REPORT_FOCUS : REPORT_NOTHING);
  }
}
