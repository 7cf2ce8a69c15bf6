/** Questions to the person: asked by event, answered by verb. Every question ends, by an answer or by an abort. */
import type {Answer, Emit, Question} from './events.ts';

interface Open {
  readonly emit: Emit;
  readonly stillNeeded: () => boolean;
  settle(answer: Answer | 'withdrawn'): void;
}

export class Questions {
  readonly #open = new Map<string, Open>();

  /**
   * @param stillNeeded false once another answer has settled this question too.
   * @returns the answer, or `withdrawn` when the run was stopped first.
   */
  async ask(
    question: Question,
    emit: Emit,
    signal: AbortSignal,
    stillNeeded: () => boolean = () => true,
  ): Promise<Answer | 'withdrawn'> {
    if (signal.aborted) return 'withdrawn';
    return new Promise((resolve) => {
      const withdraw = () => this.#settle(question.id, 'withdrawn');
      signal.addEventListener('abort', withdraw, {once: true});
      this.#open.set(question.id, {
        emit,
        stillNeeded,
        settle(answer) {
          signal.removeEventListener('abort', withdraw);
          resolve(answer);
        },
      });
      emit({type: 'ask', question});
    });
  }

  /** Unknown and settled ids are ignored: an answer given during a stop counts for nothing. */
  answer(id: string, answer: Answer): void {
    this.#settle(id, answer);
  }

  /** Something was granted: who asks for no more than that need not wait for an answer. */
  recheck(): void {
    for (const [id, {stillNeeded}] of [...this.#open]) if (!stillNeeded()) this.#settle(id, {choice: 'session'});
  }

  #settle(id: string, answer: Answer | 'withdrawn'): void {
    const open = this.#open.get(id);
    if (!open) return;
    this.#open.delete(id);
    open.emit({type: 'ask_end', askId: id, answer: answer === 'withdrawn' ? answer : answer.choice});
    open.settle(answer);
  }
}
