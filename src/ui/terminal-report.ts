/** Tells the terminal something of the session besides what is drawn, from the start of the screen to its end. */
import type {Controller} from './controller.ts';

export abstract class TerminalReport {
  #unsubscribe: (() => void)[] = [];

  /** @param write writes to the terminal without Ink */
  constructor(
    protected readonly controller: Controller,
    protected readonly write: (text: string) => void,
  ) {}

  start(): void {
    const look = () => this.look();
    this.#unsubscribe = [this.controller.ui, this.controller.local].map((cell) => cell.subscribe(look));
    process.on('exit', this.stop);
    this.look();
  }

  readonly stop = (): void => {
    for (const unsubscribe of this.#unsubscribe.splice(0)) unsubscribe();
    process.removeListener('exit', this.stop);
    this.end();
  };

  /** Is called after each change of the state. */
  protected abstract look(): void;

  /** Withdraws the last report. */
  protected abstract end(): void;
}
