/** Parses files with tree-sitter. A grammar is loaded when the first file of its language is parsed. */
import {existsSync, readFileSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import {brotliDecompressSync} from 'node:zlib';
import type * as TreeSitter from 'web-tree-sitter';
import type {Language} from '../contract.ts';
import {hideMacros} from '../languages/cpp.ts';
import {getGrammar, getRules} from '../languages/index.ts';
import {FactsReader} from './facts-reader.ts';
import type {FileFacts} from './file-facts.ts';
import {SyntaxTree} from './syntax-tree.ts';

/** Milliseconds that one file may take. A file that takes longer is skipped. */
const MAX_PARSE_MS = 5_000;

export class SourceParser {
  readonly #loaded = new Map<string, Promise<TreeSitter.Language>>();
  #library: Promise<{library: typeof TreeSitter; parser: TreeSitter.Parser}> | undefined;

  /** @returns undefined when parsing took too long */
  async parse(text: string, language: Language): Promise<FileFacts | undefined> {
    const tree = await this.parseTree(text, language);
    return tree && new FactsReader(tree, getRules(language)).read(language);
  }

  async parseTree(text: string, language: Language): Promise<SyntaxTree | undefined> {
    this.#library ??= loadLibrary();
    const {library, parser} = await this.#library;
    const grammar = getGrammar(language);
    let loading = this.#loaded.get(grammar);
    if (loading === undefined) {
      const bytes = readPart(`tree-sitter-${grammar}.wasm`, '@vscode/tree-sitter-wasm/wasm/');
      loading = library.Language.load(bytes);
      this.#loaded.set(grammar, loading);
    }
    parser.setLanguage(await loading);
    const end = performance.now() + MAX_PARSE_MS;
    const tree = parser.parse(grammar === 'cpp' ? hideMacros(text) : text, null, {
      progressCallback: () => performance.now() > end,
    });
    if (tree === null) {
      parser.reset();
      return undefined;
    }
    try {
      return new SyntaxTree(tree, text);
    } finally {
      tree.delete();
    }
  }
}

async function loadLibrary() {
  const library = await import('web-tree-sitter');
  await library.Parser.init({wasmBinary: readPart('web-tree-sitter.wasm', 'web-tree-sitter/')});
  return {library, parser: new library.Parser()};
}

/** Reads a compressed file of the built program, or the file of the package in a checkout. */
function readPart(name: string, folder: string): Uint8Array {
  for (const place of ['./grammars/', '../grammars/']) {
    const packed = new URL(`${place}${name}.br`, import.meta.url);
    if (existsSync(packed)) return brotliDecompressSync(readFileSync(packed));
  }
  return readFileSync(fileURLToPath(import.meta.resolve(`${folder}${name}`)));
}
