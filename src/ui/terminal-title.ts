/** Says in the title of the terminal what mini-cc does and for which prompt. */
import path from 'node:path';
import {canAsk} from './first-paint/terminal-replies.ts';
import {currentQuestion} from './state/local-state.ts';
import {TerminalReport} from './terminal-report.ts';
import {screenLine} from './text/screen-text.ts';
import {cutText} from './text/wrap.ts';

/** Keeps the title that was there before, and brings it back; where a terminal cannot, the title becomes empty. */
const KEEP = '\x1b[22;2t';
const BRING_BACK = '\x1b]2;\x1b\\\x1b[23;2t';
/** Columns. */
const MAX_TASK = 50;

export class TerminalTitle extends TerminalReport {
  #task = '';
  #shown: string | undefined;

  override start(): void {
    if (canAsk(process.env)) super.start();
  }

  protected end(): void {
    if (this.#shown !== undefined) this.write(BRING_BACK);
    this.#shown = undefined;
  }

  protected look(): void {
    const [ui, local] = [this.controller.ui.get(), this.controller.local.get()];
    const last = ui.finished.findLast(({kind}) => kind === 'prompt');
    if (last?.kind === 'prompt') this.#task = cutText(screenLine(last.text), MAX_TASK);
    if (!ui.session || ui.session.title === false || local.handover || local.isLeaving) return;
    const {question} = currentQuestion(ui, local);
    const state = question ? '? ' : ui.busy ? '● ' : '';
    const title = `${state}${this.#task === '' ? `mini-cc: ${screenLine(path.basename(ui.session.cwd))}` : `${this.#task} - mini-cc`}`;
    if (title === this.#shown) return;
    this.write(`${this.#shown === undefined ? KEEP : ''}\x1b]2;${title}\x1b\\`);
    this.#shown = title;
  }
}
