/**
 * Holds a syntax tree as plain objects. Each step through a tree of web-tree-sitter is a call into WebAssembly, so the
 * tree is walked once and copied.
 */
import type {Tree} from 'web-tree-sitter';

/** A node of a syntax tree. Where there is none, `NONE` stands for it, whose type, role and text are empty. */
export class Node {
  type = '';
  /** The role of the node in its parent; empty when it has none. */
  role = '';
  /** The node is no keyword or punctuation. */
  isNamed = false;
  start = 0;
  end = 0;
  /** Its place in `tree.nodes`. */
  index = 0;
  /** The place of the first node after it and everything below it. */
  after = 0;
  parent: Node = this;
  /** All children, including keywords and punctuation. */
  readonly children: Node[] = [];
  readonly #tree: SyntaxTree | undefined;

  constructor(tree?: SyntaxTree) {
    this.#tree = tree;
  }

  get text(): string {
    return this.#tree?.text.slice(this.start, this.end) ?? '';
  }

  get isLeaf(): boolean {
    return this.children.length === 0;
  }

  /** The first child, which may be a keyword. */
  get first(): Node {
    return this.children[0] ?? NONE;
  }

  /** This node; the other one when this is NONE. */
  or(other: Node): Node {
    return this === NONE ? other : this;
  }

  /** The children that are no keywords or punctuation. @param type only those of this type; default: all */
  named(type?: string): Node[] {
    return this.children.filter((child) => child.isNamed && (type === undefined || child.type === type));
  }

  /** The first child with this role. */
  field(role: string): Node {
    return this.children.find((child) => child.role === role) ?? NONE;
  }

  /** The first child of one of these types. */
  child(...types: readonly string[]): Node {
    return this.children.find((child) => types.includes(child.type)) ?? NONE;
  }

  has(...types: readonly string[]): boolean {
    return this.child(...types) !== NONE;
  }

  /** The nearest ancestor of one of these types. */
  above(...types: readonly string[]): Node {
    let at = this.parent;
    while (at !== NONE && !types.includes(at.type)) at = at.parent;
    return at;
  }

  /** The node that many places further in `tree.nodes`. */
  step(count: number): Node {
    return this.#tree?.nodes[this.index + count] ?? NONE;
  }

  /** The node and everything below it, depth first. */
  below(): readonly Node[] {
    return this.#tree?.nodes.slice(this.index, this.after) ?? [];
  }
}

export const NONE = new Node();

export class SyntaxTree {
  readonly text: string;
  /** All nodes, depth first. */
  readonly nodes: Node[] = [];
  /** The outermost nodes that the parser did not understand or inserted. */
  readonly errors: readonly Node[];
  readonly #lineStarts: number[] = [0];

  constructor(tree: Tree, text: string) {
    this.text = text;
    this.#copy(tree);
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) this.#lineStarts.push(at + 1);
    this.errors = tree.rootNode.hasError ? this.#findErrors() : [];
  }

  #copy(tree: Tree): void {
    const cursor = tree.walk();
    let parent = NONE;
    walk: for (;;) {
      const node = new Node(this);
      node.type = cursor.nodeType;
      node.role = cursor.currentFieldName ?? '';
      node.isNamed = cursor.nodeIsNamed;
      node.start = cursor.startIndex;
      node.end = cursor.endIndex;
      node.index = this.nodes.length;
      node.after = node.index + 1;
      node.parent = parent;
      this.nodes.push(node);
      if (parent !== NONE) parent.children.push(node);
      if (cursor.gotoFirstChild()) {
        parent = node;
        continue;
      }
      while (!cursor.gotoNextSibling()) {
        if (!cursor.gotoParent()) break walk;
        parent.after = this.nodes.length;
        parent = parent.parent;
      }
    }
    cursor.delete();
  }

  #findErrors(): Node[] {
    const found: Node[] = [];
    for (const node of this.nodes) {
      // A missing identifier is an error; other empty nodes, such as Python's indentation, are not.
      const isMissing = node.start === node.end && node.isLeaf && /identifier/.test(node.type);
      if (node.index >= (found.at(-1)?.after ?? 0) && (node.type === 'ERROR' || isMissing)) found.push(node);
    }
    return found;
  }

  get lines(): number {
    return this.#lineStarts.length - (this.text.endsWith('\n') ? 1 : 0);
  }

  /** The line and column of an offset, which count from 1. */
  place(offset: number): {readonly line: number; readonly column: number} {
    let [low, high] = [0, this.#lineStarts.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#lineStarts[middle]! <= offset) low = middle;
      else high = middle - 1;
    }
    return {line: low + 1, column: offset - this.#lineStarts[low]! + 1};
  }

  /** The text of a line without surrounding white space, at most 200 characters. */
  lineText(line: number): string {
    return this.text
      .slice(this.#lineStarts[line - 1], this.#lineStarts[line])
      .trim()
      .slice(0, 200)
      .toWellFormed();
  }
}
