/**
 * Reduces the growing answer of the main agent. Items that arrive in mid-stream are printed between two blocks of it.
 */
import {addAnswer, advanceAnswer, EMPTY_STREAM, isEmpty, type LiveRoom, restOf} from '../text/answer-stream.ts';
import type {Formatter} from '../text/format.ts';
import {screenLine} from '../text/screen-text.ts';
import {addItems} from './finished-items.ts';
import type {UiState} from './ui-state.ts';

/** Characters, which are more than one line can show. */
const MAX_THOUGHT = 500;

/** Adds text of the main agent. `settleAnswer` formats it. */
export function addDelta(state: UiState, text: string): UiState {
  return text === '' ? state : {...endThought(state), stream: addAnswer(state.stream, text)};
}

export function addThought(state: UiState, text: string): UiState {
  const next = isEmpty(state.stream) ? state : finishText(state);
  return {...next, thought: next.thought + text};
}

/** Prints the thought as one line when the model begins another block. */
function endThought(state: UiState): UiState {
  const {thought} = state;
  if (thought === '') return state;
  const next = {...state, thought: ''};
  const text = screenLine(thought.slice(0, MAX_THOUGHT)).trim();
  return text === '' ? next : addItems(next, [{kind: 'thinking', text}]);
}

export function addText(state: UiState, text: string): UiState {
  return finishText(addDelta(finishText(state), text));
}

/**
 * Ends the model's text: prints its rest, and the items that waited for its end.
 * @param isCut true when it ended too early
 */
export function finishText(before: UiState, isCut = false): UiState {
  const state = endThought(before);
  const {stream, waiting} = state;
  if (isEmpty(stream)) return state;
  const {printed: from, continued} = stream;
  const text = restOf(stream);
  const next = {...state, stream: EMPTY_STREAM, waiting: []};
  const rest = text.trim() === '' ? [] : [{kind: 'markdown', text, from, continued, ...(isCut && {isCut})} as const];
  return addItems(next, [...rest, ...waiting]);
}

/** Drops the part of the text that is not printed, because the model writes its text again. */
export function dropText(state: UiState): UiState {
  return addItems({...state, thought: '', stream: EMPTY_STREAM, waiting: []}, state.waiting);
}

/**
 * Formats the answer so far, and prints its finished blocks. Waiting items are printed before the block that grows, or
 * after it when the beginning of that block is already printed.
 */
export function settleAnswer(state: UiState, formatter: Formatter, room: LiveRoom): UiState {
  if (isEmpty(state.stream)) return state;
  const {stream, blocks, part, continued} = advanceAnswer(state.stream, formatter, room);
  const isBetween = !state.stream.continued || blocks.length > 0;
  return addItems({...state, stream, waiting: isBetween ? [] : state.waiting}, [
    ...blocks.map((block) => ({kind: 'lines', ...block}) as const),
    ...(isBetween ? state.waiting : []),
    ...(part.length === 0 ? [] : [{kind: 'lines', lines: part, continued} as const]),
  ]);
}
