/** Resolves names by the scopes of one file. */
import {NONE, type Node} from './syntax-tree.ts';

/** The kinds of scopes. Hoisted names are bound in the nearest scope that is neither `block` nor `class`. */
export type ScopeKind = 'function' | 'block' | 'class' | 'module';

export interface Bound {
  readonly binding: 'definition' | 'local' | 'import';
  /** Number of the definition or import. */
  readonly to: number;
  /** Name of the variable's type, when the source says it. */
  readonly type?: string | undefined;
}

export interface Scope {
  readonly node: Node;
  readonly kind: ScopeKind;
  readonly parent: Scope | undefined;
  readonly names: Map<string, Bound>;
  /** Names around the definitions of this scope. */
  readonly container: readonly string[];
  /** The scope is a body outside of the class `container`, whose members are visible without a prefix. */
  readonly seesMembersOfContainer: boolean;
  /** Names that this scope assigns to but that belong to a scope around it. */
  readonly outer: Set<string>;
}

export class Scopes {
  /** A bare name inside a class may mean one of its members. */
  readonly #seesMembersBare: boolean;
  /** Returns whether a definition only declares its name, so that a later one replaces it. */
  readonly #isDeclaration: (definition: number) => boolean;
  /** Numbers of definitions, by container and name. */
  readonly #members = new Map<string, number>();
  #current!: Scope;

  constructor(seesMembersBare: boolean, isDeclaration: (definition: number) => boolean) {
    this.#seesMembersBare = seesMembersBare;
    this.#isDeclaration = isDeclaration;
    this.open(NONE, 'module', []);
  }

  get current(): Scope {
    return this.#current;
  }

  /** Closes the scopes that end before the node. */
  leaveBefore({index}: Node): void {
    while (this.#current.parent && index >= this.#current.node.after) this.#current = this.#current.parent;
  }

  open(node: Node, kind: ScopeKind, container: readonly string[], seesMembersOfContainer = false): void {
    const parent = this.#current;
    this.#current = {node, kind, parent, names: new Map(), container, seesMembersOfContainer, outer: new Set()};
  }

  /** The nearest scope that is not a block. */
  get holder(): Scope {
    return this.#nearest(({kind}) => kind !== 'block')!;
  }

  /** The scope that binds hoisted names: the nearest function or module. */
  get functionScope(): Scope {
    return this.#nearest(({kind}) => kind === 'function' || kind === 'module')!;
  }

  get classScope(): Scope | undefined {
    return this.#nearest(({kind}) => kind === 'class');
  }

  #nearest(isWanted: (scope: Scope) => boolean, from: Scope = this.#current): Scope | undefined {
    let scope: Scope | undefined = from;
    while (scope && !isWanted(scope)) scope = scope.parent;
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

  bind(name: string, bound: Bound, hoists: boolean): void {
    const {names} = hoists ? this.functionScope : this.#current;
    const before = names.get(name);
    // A local variable never replaces a definition.
    const isKept = before?.binding === 'definition' && (bound.binding === 'local' || !this.#isDeclaration(before.to));
    if (!isKept) names.set(name, bound);
  }

  /** Returns whether a bare name is already a local variable here or around here in the same function. */
  knows(name: string): boolean {
    const isLocal = (scope: Scope) => scope.names.get(name)?.binding === 'local';
    const found = this.#nearest((scope) => isLocal(scope) || scope.kind === 'function');
    return found !== undefined && isLocal(found);
  }

  addMember(container: readonly string[], name: string, to: number): void {
    const key = [...container, name].join('.');
    const before = this.#members.get(key);
    if (before === undefined || this.#isDeclaration(before)) this.#members.set(key, to);
  }

  findMember(container: readonly string[], name: string): number | undefined {
    return this.#members.get([...container, name].join('.'));
  }

  /** Finds a member of the innermost class around the scope. */
  findOwnMember(name: string, from: Scope): number | undefined {
    const owner = this.#nearest(({kind, seesMembersOfContainer}) => kind === 'class' || seesMembersOfContainer, from);
    return owner && this.findMember(owner.container, name);
  }

  find(name: string, from: Scope): Bound | undefined {
    let isDirect = true;
    for (let scope: Scope | undefined = from; scope; scope = scope.parent) {
      // The body of a class sees the names of the class; its methods see them only in some languages.
      const isSeen = scope.kind !== 'class' || isDirect || this.#seesMembersBare;
      const bound = isSeen ? scope.names.get(name) : undefined;
      if (bound) return bound;
      const to = scope.seesMembersOfContainer ? this.findMember(scope.container, name) : undefined;
      if (to !== undefined) return {binding: 'definition', to};
      if (scope.kind === 'function') isDirect = false;
    }
    return undefined;
  }
}
