/**
 * Keeps the open questions to the person. The event `ask` shows a question, and the verb `answer` answers it. Each
 * question ends once: by an answer, by an abort of the run, or because it is not needed any more.
 */
import type {Answer, Emit, Question} from '../contract/events.ts';

/** `withdrawn`: the run was stopped first. `settled`: the question is not needed any more. */
type End = Answer | 'withdrawn' | 'settled';

interface Open {
  readonly question: Question;
  readonly emit: Emit;
  readonly stillNeeded: () => Promise<boolean>;
  settle(end: End): void;
}

export class Questions {
  readonly #open = new Map<string, Open>();

  /** @param stillNeeded resolves to false once another answer or another mode has settled this question, too */
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
        question,
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

  /** @returns undefined when there is no such question, or it has ended */
  find(id: string): Question | undefined {
    return this.#open.get(id)?.question;
  }

  /** Ignores ids that are unknown or whose question has ended: an answer during a stop has no effect. */
  answer(id: string, answer: Answer): void {
    this.#settle(id, answer);
  }

  /** Ends the questions that are not needed any more. Call it after a change of mode, rules or grants. */
  async recheck(): Promise<void> {
    const check = async (id: string, stillNeeded: Open['stillNeeded']) => {
      // A question whose call cannot be judged stays open.
      if (!(await stillNeeded().catch(() => true))) this.#settle(id, 'settled');
    };
    await Promise.all([...this.#open].map(([id, {stillNeeded}]) => check(id, stillNeeded)));
  }

  #settle(id: string, end: End): void {
    const open = this.#open.get(id);
    if (!open) return;
    this.#open.delete(id);
    const {choice, input}: Answer = typeof end === 'string' ? {choice: end} : end;
    open.emit({type: 'ask_end', askId: id, answer: choice, ...(input !== undefined && {input})});
    open.settle(end);
  }
}
