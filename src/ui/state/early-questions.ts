/** Questions from before there is a session: shown like all others, answered here. */
import type {Answer, Question} from '../../core/contract/events.ts';
import type {Cell} from './cell.ts';
import {reduce} from './store.ts';
import type {UiState} from './ui-state.ts';

export interface EarlyQuestions {
  /** @returns the answer, or `withdrawn` when the person left instead. */
  readonly ask: (question: Question) => Promise<Answer | 'withdrawn'>;
  /** @returns false where the question is the session's. */
  readonly answer: (askId: string, answer: Answer) => boolean;
  readonly withdraw: () => void;
}

export function createEarlyQuestions(ui: Cell<UiState>): EarlyQuestions {
  const open = new Map<string, (answer: Answer | 'withdrawn') => void>();
  const tag = {agentId: 'mini-cc', seq: 0, at: 0};
  return {
    ask: (question) => {
      ui.set(reduce(ui.get(), {...tag, type: 'ask', question}));
      return new Promise((resolve) => open.set(question.id, resolve));
    },
    answer: (askId, answer) => {
      const resolve = open.get(askId);
      if (!resolve) return false;
      open.delete(askId);
      ui.set(reduce(ui.get(), {...tag, type: 'ask_end', askId, answer: answer.choice}));
      resolve(answer);
      return true;
    },
    withdraw: () => {
      for (const resolve of open.values()) resolve('withdrawn');
      open.clear();
    },
  };
}
