/**
 * Which keys a question takes, as a pure function. It never takes keys that were meant for the prompt: none in its
 * first moments, none while something is typed there, unless the person went to it by Tab.
 */
import type {Answer, Question, QuestionOption} from '../../core/contract/events.ts';
import {createEditor, type EditorState, edit, expandedText} from './editor.ts';
import {editorAction, type KeyPress} from './keys.ts';

/** Milliseconds in which a question that has just come up takes no key. */
export const QUIET_MS = 300;

export interface QuestionFocus {
  readonly id: string;
  /** When it came to the screen, by a monotonic clock, in milliseconds. */
  readonly shownAt: number;
  /** The person went to it by Tab though something is typed in the prompt. */
  readonly isTaken: boolean;
  /** Which option the arrows marked; nothing at first. */
  readonly marked: number | undefined;
  /** The word that goes with an answer, while it is typed. */
  readonly note: EditorState | undefined;
  /** The answer that the word goes with. */
  readonly choice: string;
}

export interface QuestionStep {
  readonly focus: QuestionFocus;
  /** False: the key is the prompt's. */
  readonly isHandled: boolean;
  readonly answer?: Answer;
}

export function focusOn(question: Question, now: number): QuestionFocus {
  return {id: question.id, shownAt: now, isTaken: false, marked: undefined, note: undefined, choice: question.escape};
}

export function questionKey(
  focus: QuestionFocus,
  question: Question,
  press: KeyPress,
  {isPromptEmpty, now}: {readonly isPromptEmpty: boolean; readonly now: number},
): QuestionStep {
  if (focus.note) return noteKey(focus, focus.note, press, question);
  const mine = (change: Partial<QuestionFocus> = {}): QuestionStep => ({focus: {...focus, ...change}, isHandled: true});
  const notMine: QuestionStep = {focus: {...focus, isTaken: false}, isHandled: false};
  if (now - focus.shownAt < QUIET_MS || press.ctrl || press.meta) return {focus, isHandled: false};
  if (press.name === 'tab' && !isPromptEmpty && !press.shift) return mine({isTaken: !focus.isTaken});
  if (!isPromptEmpty && !focus.isTaken) return notMine;

  switch (press.name) {
    case 'escape':
      return {...mine(), answer: {choice: question.escape}};
    case 'up':
    case 'down':
      if (question.options.length === 0) return mine();
      return mine({marked: nextMark(focus.marked, question.options.length, press.name === 'up' ? -1 : 1)});
    case 'return':
      if (focus.marked !== undefined) return choose(focus, question.options[focus.marked]);
      return question.enter === undefined ? mine() : {...mine(), answer: {choice: question.enter}};
    case 'text': {
      if (question.options.length === 0) {
        return noteKey({...focus, choice: 'text'}, createEditor(), press, question);
      }
      if (!/^[1-9]$/.test(press.text)) return notMine;
      const digit = Number(press.text);
      return choose(
        focus,
        question.options.find((option) => option.digit === digit),
      );
    }
    default:
      return notMine;
  }
}

function choose(focus: QuestionFocus, option: QuestionOption | undefined): QuestionStep {
  if (option === undefined) return {focus, isHandled: true};
  const {choice} = option;
  if (option.takesNote) return {focus: {...focus, choice, note: createEditor()}, isHandled: true};
  return {focus, isHandled: true, answer: {choice}};
}

function noteKey(focus: QuestionFocus, note: EditorState, press: KeyPress, asked: Question): QuestionStep {
  if (press.name === 'escape') return {focus, isHandled: true, answer: {choice: asked.escape}};
  if (press.name === 'return') {
    const {choice} = focus;
    const word = expandedText(note).trim();
    // A line that was asked for and left empty is no answer yet.
    if (word === '' && choice === 'text') return {focus: {...focus, note: undefined}, isHandled: true};
    return {focus, isHandled: true, answer: word === '' ? {choice} : {choice, note: word}};
  }
  // One row, wrapped nowhere: Up and Down have nowhere to go.
  const action = press.name === 'up' || press.name === 'down' ? undefined : editorAction(press, 1000);
  return {focus: {...focus, note: action ? edit(note, action) : note}, isHandled: true};
}

function nextMark(marked: number | undefined, count: number, step: 1 | -1): number {
  if (marked === undefined) return step === 1 ? 0 : count - 1;
  return (marked + step + count) % count;
}
