/**
 * Holds a syntax tree as plain arrays. Each step through a tree of web-tree-sitter is a call into WebAssembly, so the
 * tree is walked once and copied. A node is a number: its place in a depth-first walk.
 */
import type {Language, Tree} from 'web-tree-sitter';

export const NONE = -1;

/** Holds what a grammar says about its types of nodes, so that WebAssembly is called only once for it. */
export class Grammar {
  readonly language: Language;
  readonly types: readonly string[];
  readonly fields: readonly (string | null)[];
  readonly named: readonly boolean[];

  constructor(language: Language) {
    this.language = language;
    this.types = language.types;
    this.fields = language.fields;
    this.named = this.types.map((_, type) => language.nodeTypeIsNamed(type));
  }
}

export class SyntaxTree {
  readonly #grammar: Grammar;
  readonly text: string;
  readonly #types: number[] = [];
  readonly #fields: number[] = [];
  readonly #starts: number[] = [];
  readonly #ends: number[] = [];
  readonly #parents: number[] = [];
  /** For each node, the first node after it and everything below it. */
  readonly #afters: number[] = [];
  readonly #lineStarts: number[] = [0];
  /** Nodes that the parser did not understand or inserted. */
  readonly errors: readonly number[];

  constructor(tree: Tree, grammar: Grammar, text: string) {
    this.#grammar = grammar;
    this.text = text;
    this.#copy(tree);
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) this.#lineStarts.push(at + 1);
    this.errors = tree.rootNode.hasError ? this.#findErrors() : [];
  }

  #copy(tree: Tree): void {
    const cursor = tree.walk();
    const path: number[] = [];
    walk: for (;;) {
      const node = this.#types.length;
      this.#types.push(cursor.nodeTypeId);
      this.#fields.push(cursor.currentFieldId);
      this.#starts.push(cursor.startIndex);
      this.#ends.push(cursor.endIndex);
      this.#parents.push(path.at(-1) ?? NONE);
      this.#afters.push(node + 1);
      if (cursor.gotoFirstChild()) {
        path.push(node);
        continue;
      }
      while (!cursor.gotoNextSibling()) {
        if (!cursor.gotoParent()) break walk;
        this.#afters[path.pop()!] = this.#types.length;
      }
    }
    cursor.delete();
  }

  /** Finds the outermost erroneous nodes. */
  #findErrors(): number[] {
    const found: number[] = [];
    for (let node = 0; node < this.size; node += 1) {
      const isMissing = this.#starts[node] === this.#ends[node] && this.#afters[node] === node + 1 && node > 0;
      if (this.type(node) !== 'ERROR' && !(isMissing && this.isNamed(node) && !this.#mayBeEmpty(node))) continue;
      found.push(node);
      node = this.#afters[node]! - 1;
    }
    return found;
  }

  /** Returns whether an empty node is no error, such as Python's indentation. An empty identifier is an error. */
  #mayBeEmpty(node: number): boolean {
    return !/identifier/.test(this.type(node));
  }

  get size(): number {
    return this.#types.length;
  }

  get lines(): number {
    return this.#lineStarts.length - (this.text.endsWith('\n') ? 1 : 0);
  }

  type(node: number): string {
    return node === NONE ? '' : (this.#grammar.types[this.#types[node]!] ?? 'ERROR');
  }

  isNamed(node: number): boolean {
    return this.#grammar.named[this.#types[node]!] ?? true;
  }

  /** The role of a node in its parent; empty when it has none. */
  role(node: number): string {
    return (node !== NONE && this.#grammar.fields[this.#fields[node]!]) || '';
  }

  parent(node: number): number {
    return node === NONE ? NONE : this.#parents[node]!;
  }

  after(node: number): number {
    return this.#afters[node]!;
  }

  isLeaf(node: number): boolean {
    return this.#afters[node] === node + 1;
  }

  start(node: number): number {
    return this.#starts[node]!;
  }

  end(node: number): number {
    return this.#ends[node]!;
  }

  textOf(node: number): string {
    return node === NONE ? '' : this.text.slice(this.#starts[node], this.#ends[node]);
  }

  /** The line of an offset. Lines and columns count from 1. */
  line(offset: number): number {
    let [low, high] = [0, this.#lineStarts.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#lineStarts[middle]! <= offset) low = middle;
      else high = middle - 1;
    }
    return low + 1;
  }

  column(offset: number): number {
    return offset - this.#lineStarts[this.line(offset) - 1]! + 1;
  }

  /** The text of a line without surrounding white space, at most 200 characters. */
  lineText(line: number): string {
    return this.text
      .slice(this.#lineStarts[line - 1], this.#lineStarts[line])
      .trim()
      .slice(0, 200)
      .toWellFormed();
  }

  /** All children, including keywords and punctuation. */
  *children(node: number): Generator<number> {
    if (node === NONE) return;
    for (let child = node + 1; child < this.#afters[node]!; child = this.#afters[child]!) yield child;
  }

  /** The children that are no keywords or punctuation. @param type only those of this type; default: all */
  *named(node: number, type?: string): Generator<number> {
    for (const child of this.children(node)) {
      if (this.isNamed(child) && (type === undefined || this.type(child) === type)) yield child;
    }
  }

  /** The first child with this role. */
  field(node: number, role: string): number {
    for (const child of this.children(node)) if (this.role(child) === role) return child;
    return NONE;
  }

  /** The text of the first child with this role; empty when there is none. */
  fieldText(node: number, role: string): string {
    return this.textOf(this.field(node, role));
  }

  /** The first child of one of these types. */
  child(node: number, ...types: readonly string[]): number {
    for (const child of this.children(node)) if (types.includes(this.type(child))) return child;
    return NONE;
  }

  has(node: number, ...types: readonly string[]): boolean {
    return this.child(node, ...types) !== NONE;
  }

  /** The nearest ancestor of one of these types. */
  above(node: number, ...types: readonly string[]): number {
    let at = this.parent(node);
    while (at !== NONE && !types.includes(this.type(at))) at = this.parent(at);
    return at;
  }

  /** The node and everything below it. */
  *below(node: number): Generator<number> {
    for (let at = node; at < this.#afters[node]!; at += 1) yield at;
  }
}
