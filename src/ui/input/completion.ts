/** The list of slash commands under the prompt: which commands it offers. */
import type {CommandInfo, CommandSearch, LocalState} from '../state/local-state.ts';
import {openedRun} from '../state/subagent-store.ts';
import type {UiState} from '../state/ui-state.ts';
import type {EditorState} from './editor.ts';

/** The part of a command's name that is typed; undefined when anything else is typed. */
export function commandQuery({text, cursor}: EditorState): string | undefined {
  return cursor === text.length ? /^\/([^\s/]*)$/.exec(text)?.[1] : undefined;
}

/** The commands that match what is typed; empty when the list is closed. */
export function offeredCommands(ui: UiState, local: LocalState): readonly CommandInfo[] {
  // What is typed in an opened run is a message to that run.
  if (openedRun(ui)) return [];
  const query = commandQuery(local.editor);
  if (query === undefined || !ui.session || local.dismissed === local.editor.text || local.focus?.note) return [];
  return local.search(query, ui.session.commands);
}

/** Used until the fuzzy search is loaded. */
export const prefixSearch: CommandSearch = (query, commands) =>
  commands.filter(({name}) => name.startsWith(query.toLowerCase()));

export async function loadFuzzySearch(): Promise<CommandSearch> {
  const {default: fuzzysort} = await import('fuzzysort');
  return (query, commands) =>
    query === '' ? commands : fuzzysort.go(query, commands, {key: 'name', limit: 20}).map(({obj}) => obj);
}
