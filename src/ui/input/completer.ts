/** Searches commands and files for the list under the prompt, in the background. `completion.ts` says what is offered. */
import {getErrorMessage} from '../../core/util/errors.ts';
import type {Cell, LocalState} from '../state/local-state.ts';
import type {UiState} from '../state/ui-state.ts';
import {screenLine} from '../text/screen-text.ts';
import {commandQuery, fileQuery, getOffered, loadFuzzySearch, type Offered, prefixSearch} from './completion.ts';
import {FileIndex} from './file-index.ts';

interface Screen {
  readonly ui: Cell<UiState>;
  readonly local: Cell<LocalState>;
  change(part: Partial<LocalState>): void;
  hint(text: string, ms: number): void;
}

export class Completer {
  readonly #screen: Screen;
  readonly #files: FileIndex;

  constructor(screen: Screen, listFiles: () => Promise<readonly string[]>) {
    this.#screen = screen;
    this.#files = new FileIndex(
      listFiles,
      (files) => screen.change({files, selected: 0}),
      (error) => screen.hint(`Files cannot be listed: ${screenLine(getErrorMessage(error))}`, 4000),
    );
  }

  /** To be called when the typed text has changed. */
  search(): void {
    const {editor} = this.#screen.local.get();
    if (commandQuery(editor) !== undefined) this.#loadSearch();
    const file = fileQuery(editor);
    if (file) this.#files.search(file.query);
  }

  /** @param isTaking a key takes what is offered: files are searched to the end before. */
  getOffered(isTaking: boolean): readonly Offered[] {
    const {ui, local} = this.#screen;
    const file = fileQuery(local.get().editor);
    if (isTaking && file && local.get().files.query !== file.query) this.#files.searchNow(file.query);
    return getOffered(ui.get(), local.get());
  }

  /** Loads the fuzzy search of commands, once. Until then, and if it fails, the beginning of the name decides. */
  #loadSearch(): void {
    const screen = this.#screen;
    if (screen.local.get().search !== prefixSearch) return;
    void loadFuzzySearch().then(
      (search) => screen.change({search}),
      () => screen.hint('Fuzzy search is not available: commands match by the beginning of their names.', 2000),
    );
  }
}
