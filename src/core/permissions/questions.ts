/** Questions to the person: asked by event, answered by verb. Every question ends, by an answer or by an abort. */
import type {Answer, Emit, Question} from '../contract/events.ts';

/** `withdrawn`: the run was stopped first. `settled`: nobody needs to be asked any more. */
type End = Answer | 'withdrawn' | 'settled';

interface Open {
  readonly emit: Emit;
  readonly stillNeeded: () => Promise<boolean>;
  settle(end: End): void;
}

export class Questions {
  readonly #open = new Map<string, Open>();

  /** @param stillNeeded false once another answer, or another mode, has settled this question too. */
  async ask(
    question: Question,
    emit: Emit,
    signal: AbortSignal,
    stillNeeded: () => Promise<boolean> = async () => true,
  ): Promise<End> {
    if (signal.aborted) return 'withdrawn';
    return new Promise((resolve) => {
      const withdraw = () => this.#settle(question.id, 'withdrawn');
      signal.addEventListener('abort', withdraw, {once: true});
      this.#open.set(question.id, {
        emit,
        stillNeeded,
        settle(end) {
          signal.removeEventListener('abort', withdraw);
          resolve(end);
        },
      });
      emit({type: 'ask', question});
    });
  }

  /** Unknown and settled ids are ignored: an answer given during a stop counts for nothing. */
  answer(id: string, answer: Answer): void {
    this.#settle(id, answer);
  }

  /** What is permitted has changed: who need not ask any more, or may not, does not wait for an answer. */
  async recheck(): Promise<void> {
    const check = async (id: string, stillNeeded: Open['stillNeeded']) => {
      // What cannot be judged is still asked.
      if (!(await stillNeeded().catch(() => true))) this.#settle(id, 'settled');
    };
    await Promise.all([...this.#open].map(([id, {stillNeeded}]) => check(id, stillNeeded)));
  }

  #settle(id: string, end: End): void {
    const open = this.#open.get(id);
    if (!open) return;
    this.#open.delete(id);
    open.emit({type: 'ask_end', askId: id, answer: typeof end === 'string' ? end : end.choice});
    open.settle(end);
  }
}
