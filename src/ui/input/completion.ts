/** Fills the list under the prompt: which slash commands, agents or files it offers, and what taking one of them types. */

import {setTimeout as delay} from 'node:timers/promises';
import fuzzysort from 'fuzzysort';
import type {SessionInfo} from '../../core/contract/events.ts';
import {getErrorMessage} from '../../core/util/errors.ts';
import {getOurWay} from '../../core/util/prompt-syntax.ts';
import {type Cell, currentQuestion, type LocalState} from '../state/local-state.ts';
import {openedRun} from '../state/subagent-store.ts';
import type {UiState} from '../state/ui-state.ts';
import {screenLine} from '../text/screen-text.ts';
import {type EditorState, edit} from './editor.ts';

export interface Offered {
  readonly label: string;
  readonly description: string;
  /** Text that replaces the typed part when this row is taken. */
  readonly text: string;
  /** True when the person has typed it in full already. */
  readonly isTyped: boolean;
  /** True for a command that needs no argument: Enter takes and sends it. */
  readonly isWhole: boolean;
}

/** Returns the typed part of a command's name; undefined when anything else is typed. */
function commandQuery({text, cursor}: EditorState): string | undefined {
  return cursor === text.length ? /^\/([^\s/]*)$/.exec(text)?.[1] : undefined;
}

/** Longer paths are not completed. */
const MAX_PATH = 500;
/** Matches the word at the cursor, from its `@`. A path with spaces is in quotes. */
const FILE_WORD = /(?:^|[\s(])(@(?:"([^"\n]*)"?|([^\s"]*)))$/;

/** Returns the part of a path that is typed after an `@`, and its place; undefined when the cursor is elsewhere. */
function fileQuery({text, cursor}: EditorState): {query: string; start: number; end: number} | undefined {
  const before = text.slice(Math.max(0, cursor - MAX_PATH), cursor);
  if (!before.includes('@')) return undefined;
  const [, word, quoted, plain] = FILE_WORD.exec(before) ?? [];
  if (word === undefined || (quoted !== undefined && word.length > 1 && word.endsWith('"') && word !== '@"')) {
    return undefined;
  }
  const rest = quoted === undefined ? /^[^\s"]*/.exec(text.slice(cursor))![0].length : 0;
  return {query: quoted ?? plain ?? '', start: cursor - word.length, end: cursor + rest};
}

/** Returns the rows of the list for the typed text; empty when the list is closed. */
export function getOffered(ui: UiState, local: LocalState): readonly Offered[] {
  const {editor, dismissed, historySearch} = local;
  // In an opened run, the typed text is a message to that run.
  if (openedRun(ui) || !ui.session || dismissed === editor.text || local.focus?.note || historySearch) return [];
  if (currentQuestion(ui, local).question && editor.text === '') return [];
  const command = commandQuery(editor);
  if (command !== undefined) {
    return findCommands(command, ui.session.commands).map(({name, description, argumentHint}) => ({
      label: `/${name}`,
      description: [description, argumentHint].filter(Boolean).join(' · '),
      text: `/${name} `,
      isTyped: editor.text === `/${name}`,
      isWhole: !argumentHint || argumentHint.startsWith('['),
    }));
  }
  const file = fileQuery(editor);
  if (!file) return [];
  const agents = findAgents(file.query, ui.session.agents).map((name) => ({
    label: `agent-${name}`,
    description: 'goes to this agent',
    text: `@agent-${name} `,
    isTyped: file.query === `agent-${name}`,
    isWhole: false,
  }));
  const files = local.files.paths.map((path) => ({
    label: path,
    description: '',
    text: quotePath(path),
    isTyped: path === file.query,
    isWhole: false,
  }));
  return [...agents, ...files];
}

const MAX_AGENTS = 10;

/** Returns the agents whose mention begins with the query. Without a query, only files are offered. */
function findAgents(query: string, agents: SessionInfo['agents']): SessionInfo['agents'] {
  const begun = query.toLowerCase();
  if (begun === '') return [];
  return agents.filter((name) => name.startsWith(begun) || `agent-${name}`.startsWith(begun)).slice(0, MAX_AGENTS);
}

/** Returns the state of the search for `@`: it runs, found no file, or failed and why. Empty otherwise. */
export function describeFileSearch(ui: UiState, {editor, files, focus}: LocalState): string {
  const file = focus?.note || openedRun(ui) ? undefined : fileQuery(editor);
  if (!file || !ui.session || findAgents(file.query, ui.session.agents).length > 0) return '';
  if (files.query !== file.query) return files.paths.length === 0 ? 'Looking for files …' : '';
  if (files.problem !== undefined) return `Files cannot be listed: ${screenLine(files.problem)}`;
  if (files.paths.length > 0) return '';
  return file.query === '' ? 'There is no file here.' : `No file matches ${screenLine(file.query)}.`;
}

/** Writes the path as a mention. The mention of a folder stays open for the next part of its path. */
export function quotePath(path: string): string {
  if (/[\s"]/.test(path)) return path.endsWith('/') ? `@"${path}` : `@"${path}" `;
  return path.endsWith('/') ? `@${path}` : `@${path} `;
}

/** Returns the editor with a row of the list in place of the typed part. */
export function takeOffered(editor: EditorState, {text}: Offered): EditorState {
  const file = fileQuery(editor);
  if (!file) return edit(editor, {type: 'set', text});
  const after = editor.text.slice(file.end);
  // When a blank follows, no second blank is added.
  const put = text.endsWith(' ') && /^\s/.test(after) ? text.slice(0, -1) : text;
  return edit(editor, {type: 'replace', start: file.start, end: file.end, text: put});
}

/**
 * Accepts every match of letters in the right order. By default fuzzysort wants them together, and `/hlp` finds
 * nothing.
 */
const ANY_MATCH = 0;

/** Returns the best match first. An empty query matches all commands. */
function findCommands(query: string, commands: SessionInfo['commands']): SessionInfo['commands'] {
  if (query === '') return commands;
  // Enter sends the name of another program's command, and the answer names ours.
  if (getOurWay(query) !== undefined && !commands.some(({name}) => name === query)) return [];
  return fuzzysort.go(query, commands, {key: 'name', limit: 20, threshold: ANY_MATCH}).map(({obj}) => obj);
}

interface Screen {
  readonly local: Cell<LocalState>;
  change(part: Partial<LocalState>): void;
}

/** Milliseconds that a key which takes a file waits for the search. */
const MAX_WAIT_MS = 1000;

export class Completer {
  readonly #screen: Screen;
  readonly #findFiles: (query: string) => Promise<readonly string[]>;
  #search: Promise<void> = Promise.resolve();

  /** @param findFiles returns the best matches first, or none when another search has begun meanwhile */
  constructor(screen: Screen, findFiles: (query: string) => Promise<readonly string[]>) {
    this.#screen = screen;
    this.#findFiles = findFiles;
  }

  /** Starts a search. Call it when the typed text has changed. */
  search(): void {
    const {editor} = this.#screen.local.get();
    const file = fileQuery(editor);
    if (file) this.#search = this.#searchFiles(file.query);
  }

  /** True when the offered files belong to another text than the typed one. */
  get isSearching(): boolean {
    const {editor, files, dismissed} = this.#screen.local.get();
    const file = fileQuery(editor);
    return file !== undefined && dismissed !== editor.text && files.query !== file.query;
  }

  /** Resolves when the search is done or takes too long. */
  async settled(): Promise<void> {
    await Promise.race([this.#search, delay(MAX_WAIT_MS)]);
  }

  async #searchFiles(query: string): Promise<void> {
    const screen = this.#screen;
    const found = await this.#findFiles(query).then(
      (paths) => ({paths}),
      (error: unknown) => ({paths: [], problem: getErrorMessage(error)}),
    );
    if (fileQuery(screen.local.get().editor)?.query === query) {
      screen.change({files: {query, ...found}, selected: 0});
    }
  }
}
