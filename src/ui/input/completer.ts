/**
 * Searches commands and files for the list under the prompt, in the background. `completion.ts` decides which are
 * offered.
 */
import {setTimeout as delay} from 'node:timers/promises';
import {inBackground} from '../../core/util/background.ts';
import {getErrorMessage} from '../../core/util/errors.ts';
import type {Cell, LocalState} from '../state/local-state.ts';
import {screenLine} from '../text/screen-text.ts';
import {commandQuery, fileQuery, loadFuzzySearch, prefixSearch} from './completion.ts';

interface Screen {
  readonly local: Cell<LocalState>;
  change(part: Partial<LocalState>): void;
  hint(text: string, ms: number): void;
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
    if (commandQuery(editor) !== undefined) this.#loadSearch();
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
    try {
      const paths = await this.#findFiles(query);
      if (fileQuery(screen.local.get().editor)?.query === query) screen.change({files: {query, paths}, selected: 0});
    } catch (error) {
      screen.hint(`Files cannot be listed: ${screenLine(getErrorMessage(error))}`, 4000);
    }
  }

  /**
   * Loads the fuzzy search of commands, once. Until then, or when loading fails, commands match by the beginning of the
   * name.
   */
  #loadSearch(): void {
    const screen = this.#screen;
    if (screen.local.get().search !== prefixSearch) return;
    const loaded = loadFuzzySearch().then((search) => screen.change({search}));
    inBackground(loaded, () =>
      screen.hint('Fuzzy search is not available: commands match by the beginning of their names.', 2000),
    );
  }
}
