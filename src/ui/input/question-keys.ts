/**
 * Decides which keys a question uses, as a pure function. It must not use keys that were meant for the prompt, so it
 * uses none in its first 0.3 s, and none while text is typed in the prompt, until the person goes to it by Tab.
 */
import type {Answer, ListItem, Question, QuestionOption} from '../../core/contract/events.ts';
import {createEditor, type EditorState, edit, expandedText} from './editor.ts';
import {editorAction, type KeyPress} from './keys.ts';

/** Milliseconds for which a new question ignores keys. */
export const QUIET_MS = 300;

export interface QuestionFocus {
  readonly id: string;
  /** Time when the question was first shown, in milliseconds of a monotonic clock. */
  readonly shownAt: number;
  /** True when the person went to the question by Tab while text was typed in the prompt. */
  readonly isTaken: boolean;
  /** Index of the option that the arrows marked; undefined at first. */
  readonly marked: number | undefined;
  /** The note that is typed to go with the answer. For a list, it is the text that narrows the list. */
  readonly note: EditorState | undefined;
  /** The answer that is sent with the note. */
  readonly choice: string;
  /** True when the note is the command of the call, which the person changes before it runs. */
  readonly isCommand?: true;
  /** What a model says about the call, or why there is no explanation; empty while the model is asked. */
  readonly explanation?: string;
}

export interface QuestionStep {
  readonly focus: QuestionFocus;
  /** False when the question does not use the key. */
  readonly isHandled: boolean;
  readonly answer?: Answer;
  /** True when the person asks for an explanation of the call. */
  readonly explain?: true;
}

export function focusOn(question: Question, now: number): QuestionFocus {
  const list = question.list ? {marked: 0, note: createEditor()} : {marked: undefined, note: undefined};
  return {id: question.id, shownAt: now, isTaken: false, choice: question.escape, ...list};
}

/** When a key was pressed. */
interface PressedAt {
  readonly isPromptEmpty: boolean;
  readonly now: number;
}

/** Tells whether what is typed goes into the question's line of text: its note, or what narrows its list. */
export function takesText(focus: QuestionFocus, {isPromptEmpty}: Pick<PressedAt, 'isPromptEmpty'>): boolean {
  return focus.note !== undefined && (isPromptEmpty || focus.isTaken);
}

export function questionKey(focus: QuestionFocus, question: Question, press: KeyPress, at: PressedAt): QuestionStep {
  const {isPromptEmpty, now} = at;
  if (question.list) return listKey(focus, question, press, at);
  if (focus.note) return noteKey(focus, focus.note, press, question);
  const used = (change: Partial<QuestionFocus> = {}): QuestionStep => ({focus: {...focus, ...change}, isHandled: true});
  const ignored: QuestionStep = {focus: {...focus, isTaken: false}, isHandled: false};
  if (now - focus.shownAt < QUIET_MS || press.meta) return {focus, isHandled: false};
  // When text is typed in the prompt, Ctrl+E moves the cursor there instead.
  if (press.ctrl && press.text === 'e' && question.call && (isPromptEmpty || focus.isTaken)) {
    return focus.explanation === undefined ? {...used({explanation: ''}), explain: true} : used();
  }
  if (press.ctrl) return {focus, isHandled: false};
  if (press.name === 'tab' && !isPromptEmpty && !press.shift) return used({isTaken: !focus.isTaken});
  if (!isPromptEmpty && !focus.isTaken) return ignored;

  switch (press.name) {
    case 'escape':
      return {...used(), answer: {choice: question.escape}};
    case 'up':
    case 'down':
      if (question.options.length === 0) return used();
      return used({marked: nextMark(focus.marked, question.options.length, press.name === 'up' ? -1 : 1)});
    case 'return':
      if (focus.marked !== undefined) return choose(focus, question.options[focus.marked]);
      return question.enter === undefined ? used() : {...used(), answer: {choice: question.enter}};
    case 'text': {
      if (question.options.length === 0) {
        return noteKey({...focus, choice: 'text'}, createEditor(), press, question);
      }
      const command = press.text === 'e' ? getCommand(question) : undefined;
      if (command !== undefined) {
        return used({note: edit(createEditor(), {type: 'insert', text: command}), choice: 'yes', isCommand: true});
      }
      if (!/^[1-9]$/.test(press.text)) return ignored;
      const digit = Number(press.text);
      return choose(
        focus,
        question.options.find((option) => option.digit === digit),
      );
    }
    default:
      return ignored;
  }
}

/** The arrows move the mark, Enter takes the marked row, and all other keys narrow the list. */
function listKey(focus: QuestionFocus, question: Question, press: KeyPress, at: PressedAt): QuestionStep {
  const step = (change: Partial<QuestionFocus> = {}): QuestionStep => ({focus: {...focus, ...change}, isHandled: true});
  // The person has asked for the list, so what is typed at once is meant for it. Only Enter may be one too many.
  if (press.name === 'return' && at.now - focus.shownAt < QUIET_MS) return step();
  if (press.name === 'tab' && !at.isPromptEmpty && !press.shift) return step({isTaken: !focus.isTaken});
  if (!takesText(focus, at)) return {focus, isHandled: false};
  const action = press.name === 'return' ? undefined : editorAction(press, 1000);
  const edits = action !== undefined && action.type !== 'insert';
  if ((press.ctrl || press.meta) && !edits) return {focus, isHandled: press.name === 'return'};
  const filter = focus.note ?? createEditor();
  const found = findInList(question.list ?? [], filter.text);
  const marked = Math.min(focus.marked ?? 0, found.length - 1);
  switch (press.name) {
    case 'escape':
      return {...step(), answer: {choice: question.escape}};
    case 'up':
    case 'down':
      return found.length === 0 ? step() : step({marked: nextMark(marked, found.length, press.name === 'up' ? -1 : 1)});
    case 'return': {
      const item = found[marked];
      return item ? {...step(), answer: {choice: item.choice}} : step();
    }
    default:
      return action ? step({note: edit(filter, action), marked: 0}) : step();
  }
}

/** Returns the items that contain each typed word, in their order. Case does not matter. */
export function findInList(list: readonly ListItem[], typed: string): readonly ListItem[] {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return list;
  return list.filter(({label, info = '', text: body = ''}) => {
    const text = `${label}\n${[info].flat().join(' ')}\n${body}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

/**
 * Returns the command of the call, which the person may change; undefined when there is none or it has several lines.
 */
export function getCommand({call, options}: Question): string | undefined {
  const input = call?.input;
  if (typeof input !== 'object' || input === null || !('command' in input) || typeof input.command !== 'string') return;
  const {command} = input;
  return options.some(({choice}) => choice === 'yes') && !/\p{Cc}/u.test(command) ? command : undefined;
}

function choose(focus: QuestionFocus, option: QuestionOption | undefined): QuestionStep {
  if (option === undefined) return {focus, isHandled: true};
  const {choice} = option;
  if (option.takesNote) return {focus: {...focus, choice, note: createEditor()}, isHandled: true};
  return {focus, isHandled: true, answer: {choice}};
}

function noteKey(focus: QuestionFocus, note: EditorState, press: KeyPress, question: Question): QuestionStep {
  if (press.name === 'escape') return {focus, isHandled: true, answer: {choice: question.escape}};
  if (press.name === 'return') {
    const {choice} = focus;
    const text = expandedText(note).trim();
    if (focus.isCommand) {
      if (text === '') return {focus, isHandled: true};
      const input = {...(question.call?.input as object), command: text};
      return {focus, isHandled: true, answer: text === getCommand(question) ? {choice} : {choice, input}};
    }
    // A question for a line of text needs one: an empty line does not answer it.
    if (text === '' && choice === 'text') return {focus: {...focus, note: undefined}, isHandled: true};
    return {focus, isHandled: true, answer: text === '' ? {choice} : {choice, note: text}};
  }
  // The note is one row that is not wrapped, so Up and Down do nothing.
  const action = press.name === 'up' || press.name === 'down' ? undefined : editorAction(press, 1000);
  return {focus: {...focus, note: action ? edit(note, action) : note}, isHandled: true};
}

function nextMark(marked: number | undefined, count: number, step: 1 | -1): number {
  if (marked === undefined) return step === 1 ? 0 : count - 1;
  return (marked + step + count) % count;
}
