/** Questions to the person: asked by event, answered by verb. Every question ends, by an answer or by an abort. */
import type {Answer, Emit, Question} from './events.ts';

interface Open {
  readonly emit: Emit;
  settle(answer: Answer | 'withdrawn'): void;
}

export class Questions {
  readonly #open = new Map<string, Open>();

  /** @returns the answer, or `withdrawn` when the run was stopped first. */
  async ask(question: Question, emit: Emit, signal: AbortSignal): Promise<Answer | 'withdrawn'> {
    if (signal.aborted) return 'withdrawn';
    return new Promise((resolve) => {
      const withdraw = () => this.#settle(question.id, 'withdrawn');
      signal.addEventListener('abort', withdraw, {once: true});
      this.#open.set(question.id, {
        emit,
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

  #settle(id: string, answer: Answer | 'withdrawn'): void {
    const open = this.#open.get(id);
    if (!open) return;
    this.#open.delete(id);
    open.emit({type: 'ask_end', askId: id, answer: answer === 'withdrawn' ? answer : answer.choice});
    open.settle(answer);
  }
}
