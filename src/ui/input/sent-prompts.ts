/** Puts sent prompts back into the editor: from the queue, after a rewind, or when a command does not exist. */
import type {LocalState} from '../state/local-state.ts';
import {edit, getSent, joinSent} from './editor.ts';
import type {SentPrompt} from './prompt-history.ts';

/** Returns the prompt as it was typed, with its pastes. */
export function findSent({editor, mainEditor}: LocalState, text: string): SentPrompt {
  return (mainEditor ?? editor).history.findLast((sent) => sent.text === text) ?? {text};
}

/** Puts the texts before the typed text, so that they can be edited and sent again. */
export function putBack(local: LocalState, texts: readonly string[]): Partial<LocalState> {
  const {editor, mainEditor} = local;
  const target = mainEditor ?? editor;
  const prompts = texts.map((text) => findSent(local, text));
  const typed = getSent(target);
  const sent = joinSent(typed.text === '' ? prompts : [...prompts, typed]);
  const next = edit(target, {type: 'recall', sent});
  // A command in the text opens no list.
  return {...(mainEditor ? {mainEditor: next} : {editor: next}), selected: 0, dismissed: next.text};
}
