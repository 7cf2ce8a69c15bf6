/** Keeps the output of the person's own status line up to date: a command of the settings, which the session runs. */
import {stripVTControlCharacters} from 'node:util';
import {inBackground, neverRejects} from '../core/util/background.ts';
import type {Controller} from './controller.ts';
import {screenLine} from './text/screen-text.ts';

/** Milliseconds between a change and the command that shows it, so that many changes run one command. */
const SETTLE_MS = 300;

export class StatusCommand {
  readonly #controller: Controller;
  #timer: NodeJS.Timeout | undefined;
  #isRunning = false;
  /** The facts that the last command got. */
  #asked: readonly unknown[] = [];
  #unsubscribe: () => void = () => undefined;

  constructor(controller: Controller) {
    this.#controller = controller;
  }

  start(): void {
    this.#unsubscribe = this.#controller.ui.subscribe(() => this.#look());
  }

  readonly stop = (): void => {
    this.#unsubscribe();
    clearTimeout(this.#timer);
  };

  #look(): void {
    const {session, busy, cost, context} = this.#controller.ui.get();
    if (!session?.statusLine || this.#timer || this.#isRunning) return;
    const facts = [session.sessionId, session.model, session.permissionMode, session.branch, busy, cost, context];
    if (facts.every((fact, index) => fact === this.#asked[index])) return;
    this.#asked = facts;
    this.#timer = setTimeout(() => inBackground(this.#run(), neverRejects), SETTLE_MS);
  }

  async #run(): Promise<void> {
    this.#timer = undefined;
    this.#isRunning = true;
    const output = await this.#controller.readStatusLine();
    this.#isRunning = false;
    const row = stripVTControlCharacters(output.trimStart()).split('\n')[0]!;
    if (!this.#controller.local.get().isLeaving) this.#controller.change({statusLine: screenLine(row)});
    this.#look();
  }
}
