/** The list of finished things: append-only, each printed once by Ink's `<Static>`. */
import {screenText} from '../text/screen-text.ts';
import {EMPTY_STREAM, feedStream, finishStream} from '../text/stream-blocks.ts';
import type {FinishedBody, FinishedItem, UiState} from './ui-state.ts';

/** Adds one finished thing. */
export function addItem(state: UiState, body: FinishedBody): UiState {
  return addItems(state, [body]);
}

/** Adds finished things in order; a blank line stands between those that don't belong together. */
export function addItems(state: UiState, bodies: readonly (FinishedBody & {readonly continued?: boolean})[]): UiState {
  if (bodies.length === 0) return state;
  const finished = [...state.finished];
  for (const {continued, ...body} of bodies) {
    const before = finished.at(-1);
    const isPair = before?.kind === body.kind && (body.kind === 'tool' || body.kind === 'notice');
    finished.push({...body, id: finished.length, gap: !isPair && !continued} as FinishedItem);
  }
  return {...state, finished};
}

/** Text of the main agent: the blocks that it finished, and the stream's new state. */
export function feedText(state: UiState, text: string) {
  const {state: stream, blocks} = feedStream(state.stream, text);
  return {stream, items: blocks.map(markdownItem)};
}

/** A whole text at once. */
export function addText(state: UiState, text: string): UiState {
  const before = finishText(state);
  const {stream, items} = feedText(before, text);
  return finishText(addItems({...before, stream}, items));
}

/** What the model wrote so far is all there will be: the tail is printed. */
export function finishText(state: UiState): UiState {
  if (state.stream === EMPTY_STREAM) return state;
  return addItems({...state, stream: EMPTY_STREAM}, finishStream(state.stream).map(markdownItem));
}

function markdownItem(block: {text: string; indent: number; continued: boolean}) {
  return {
    kind: 'markdown',
    text: screenText(block.text),
    indent: block.indent,
    continued: block.continued,
  } as const;
}

/** Frees the text of the first `count` items, which Ink has printed. */
export function forgetPrinted(state: UiState, count: number): UiState {
  return {
    ...state,
    finished: state.finished.map((item, index) =>
      index < count && item.kind !== 'printed' ? {id: item.id, gap: false, kind: 'printed'} : item,
    ),
  };
}
