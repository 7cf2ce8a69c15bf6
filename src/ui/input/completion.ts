/** The list under the prompt: the slash commands or files that it offers, and what taking one of them types. */
import {type CommandSearch, currentQuestion, type LocalState} from '../state/local-state.ts';
import {openedRun} from '../state/subagent-store.ts';
import type {UiState} from '../state/ui-state.ts';
import {type EditorState, edit} from './editor.ts';

/** One row of the list. */
export interface Offered {
  readonly label: string;
  readonly description: string;
  /** What stands in place of the typed part when it is taken. */
  readonly text: string;
  /** It is typed already as a whole. */
  readonly isTyped: boolean;
}

/** The part of a command's name that is typed; undefined when anything else is typed. */
export function commandQuery({text, cursor}: EditorState): string | undefined {
  return cursor === text.length ? /^\/([^\s/]*)$/.exec(text)?.[1] : undefined;
}

/** A longer path is not completed. */
const MAX_PATH = 500;
/** The word at the cursor, from its `@`; a path with spaces stands in quotes. */
const FILE_WORD = /(?:^|[\s(])(@(?:"([^"\n]*)"?|([^\s"]*)))$/;

/** The part of a path that is typed after an `@`, and where it stands; undefined when the cursor is elsewhere. */
export function fileQuery({text, cursor}: EditorState): {query: string; start: number; end: number} | undefined {
  const before = text.slice(Math.max(0, cursor - MAX_PATH), cursor);
  if (!before.includes('@')) return undefined;
  const [, word, quoted, plain] = FILE_WORD.exec(before) ?? [];
  if (word === undefined || (quoted !== undefined && word.length > 1 && word.endsWith('"') && word !== '@"')) {
    return undefined;
  }
  const rest = quoted === undefined ? /^[^\s"]*/.exec(text.slice(cursor))![0].length : 0;
  return {query: quoted ?? plain ?? '', start: cursor - word.length, end: cursor + rest};
}

/** What is offered for what is typed; empty when the list is closed. */
export function getOffered(ui: UiState, local: LocalState): readonly Offered[] {
  const {editor, dismissed, historySearch} = local;
  // What is typed in an opened run is a message to that run.
  if (openedRun(ui) || !ui.session || dismissed === editor.text || local.focus?.note || historySearch) return [];
  if (currentQuestion(ui, local).question && editor.text === '') return [];
  const command = commandQuery(editor);
  if (command !== undefined) {
    return local.search(command, ui.session.commands).map(({name, description, argumentHint}) => ({
      label: `/${name}`,
      description: [description, argumentHint].filter(Boolean).join(' · '),
      text: `/${name} `,
      isTyped: editor.text === `/${name}`,
    }));
  }
  const file = fileQuery(editor);
  if (!file) return [];
  return local.files.paths.map((path) => ({
    label: path,
    description: '',
    text: quotePath(path),
    isTyped: path === file.query,
  }));
}

/** A folder stays open for the next part of its path. */
function quotePath(path: string): string {
  if (/[\s"]/.test(path)) return path.endsWith('/') ? `@"${path}` : `@"${path}" `;
  return path.endsWith('/') ? `@${path}` : `@${path} `;
}

/** The editor with a row of the list in place of what was typed of it. */
export function takeOffered(editor: EditorState, {text}: Offered): EditorState {
  const file = fileQuery(editor);
  if (!file) return edit(editor, {type: 'set', text});
  const after = editor.text.slice(file.end);
  // No second blank before what follows.
  const put = text.endsWith(' ') && /^\s/.test(after) ? text.slice(0, -1) : text;
  return edit(editor, {type: 'replace', start: file.start, end: file.end, text: put});
}

/** Used until the fuzzy search is loaded. */
export const prefixSearch: CommandSearch = (query, commands) =>
  commands.filter(({name}) => name.startsWith(query.toLowerCase()));

/** Letters in the right order are a match: by default fuzzysort wants them together, and `/hlp` would find nothing. */
const ANY_MATCH = 0;

export async function loadFuzzySearch(): Promise<CommandSearch> {
  const {default: fuzzysort} = await import('fuzzysort');
  return (query, commands) =>
    query === ''
      ? commands
      : fuzzysort.go(query, commands, {key: 'name', limit: 20, threshold: ANY_MATCH}).map(({obj}) => obj);
}
