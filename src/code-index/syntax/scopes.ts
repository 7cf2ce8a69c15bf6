/** Resolves names by the scopes of one file. */
import {NONE, type SyntaxTree} from './syntax-tree.ts';

/** The kinds of scopes. Hoisted names are bound in the nearest scope that is neither `block` nor `class`. */
export type ScopeKind = 'function' | 'block' | 'class' | 'module';

export interface Bound {
  readonly binding: 'definition' | 'local' | 'import';
  /** Number of the definition or import. */
  readonly to: number;
  /** Name of the variable's type, when the source says it. */
  readonly type?: string;
}

export interface Scope {
  readonly node: number;
  readonly kind: ScopeKind;
  readonly parent: Scope | undefined;
  readonly names: Map<string, Bound>;
  /** Names around the definitions of this scope. */
  readonly container: readonly string[];
  /** The scope is a body outside of the class `container`, whose members are visible without a prefix. */
  readonly seesMembersOfContainer: boolean;
  /** Names that this scope assigns to but that belong to a scope around it. */
  outer?: Set<string>;
}

export class Scopes {
  readonly #tree: SyntaxTree;
  /** A bare name inside a class may mean one of its members. */
  readonly #seesMembersBare: boolean;
  /** Numbers of definitions, by container and name. */
  readonly #members = new Map<string, number>();
  #current: Scope;

  constructor(tree: SyntaxTree, seesMembersBare: boolean) {
    this.#tree = tree;
    this.#seesMembersBare = seesMembersBare;
    this.#current = createScope(0, 'module', undefined, []);
  }

  get current(): Scope {
    return this.#current;
  }

  /** Closes the scopes that end before the node. */
  leaveBefore(node: number): void {
    while (this.#current.parent && node >= this.#tree.after(this.#current.node)) this.#current = this.#current.parent;
  }

  open(node: number, kind: ScopeKind, container: readonly string[], seesMembersOfContainer = false): void {
    this.#current = createScope(node, kind, this.#current, container, seesMembersOfContainer);
  }

  /** The nearest scope that is not a block. */
  get holder(): Scope {
    let scope = this.#current;
    while (scope.parent && scope.kind === 'block') scope = scope.parent;
    return scope;
  }

  /** The scope that binds hoisted names: the nearest function or module. */
  get functionScope(): Scope {
    let scope = this.#current;
    while (scope.parent && (scope.kind === 'block' || scope.kind === 'class')) scope = scope.parent;
    return scope;
  }

  get classScope(): Scope | undefined {
    let scope: Scope | undefined = this.#current;
    while (scope && scope.kind !== 'class') scope = scope.parent;
    return scope;
  }

  /**
   * Returns whether a name that is declared here is at the top level of the file or of a namespace. A hoisted name
   * counts only in the file itself.
   */
  isTop(hoists: boolean): boolean {
    const {holder} = this;
    return holder.kind === 'module' && (holder.parent === undefined || !hoists);
  }

  /**
   * Binds a name.
   * @param replaces returns whether an earlier definition only declares the name, so that this one replaces it
   */
  bind(name: string, bound: Bound, hoists: boolean, replaces: (to: number) => boolean): void {
    const scope = hoists ? this.functionScope : this.#current;
    const before = scope.names.get(name);
    // A local variable never replaces a definition.
    if (before?.binding === 'definition' && (bound.binding === 'local' || !replaces(before.to))) return;
    scope.names.set(name, bound);
  }

  /** Returns whether a bare name is already a local variable here or around here in the same function. */
  knows(name: string): boolean {
    for (let scope: Scope | undefined = this.#current; scope; scope = scope.parent) {
      if (scope.names.get(name)?.binding === 'local') return true;
      if (scope.kind === 'function') return false;
    }
    return false;
  }

  addMember(container: readonly string[], name: string, to: number, replaces: (to: number) => boolean): void {
    const key = [...container, name].join('.');
    const before = this.#members.get(key);
    if (before === undefined || replaces(before)) this.#members.set(key, to);
  }

  findMember(container: readonly string[], name: string): number {
    return this.#members.get([...container, name].join('.')) ?? NONE;
  }

  /** Finds a member of the innermost class around the scope. */
  findOwnMember(name: string, from: Scope): number {
    for (let scope: Scope | undefined = from; scope; scope = scope.parent) {
      if (scope.kind === 'class' || scope.seesMembersOfContainer) return this.findMember(scope.container, name);
    }
    return NONE;
  }

  find(name: string, from: Scope): Bound | undefined {
    let isDirect = true;
    for (let scope: Scope | undefined = from; scope; scope = scope.parent) {
      // The body of a class sees the names of the class; its methods see them only in some languages.
      const isSeen = scope.kind !== 'class' || isDirect || this.#seesMembersBare;
      const bound = isSeen ? scope.names.get(name) : undefined;
      if (bound) return bound;
      const member = scope.seesMembersOfContainer ? this.findMember(scope.container, name) : NONE;
      if (member !== NONE) return {binding: 'definition', to: member};
      if (scope.kind === 'function') isDirect = false;
    }
    return undefined;
  }
}

function createScope(
  node: number,
  kind: ScopeKind,
  parent: Scope | undefined,
  container: readonly string[],
  seesMembersOfContainer = false,
): Scope {
  return {node, kind, parent, names: new Map(), container, seesMembersOfContainer};
}
