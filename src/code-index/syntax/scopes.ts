/** The scopes of one file: which declaration a name means where it stands. */
import {NONE, type SyntaxTree} from './syntax-tree.ts';

/** Variables of the language's function scope land in `function`; the names of a `class` are members. */
export type ScopeKind = 'function' | 'block' | 'class' | 'module';

/** What a name is bound to. */
export interface Bound {
  readonly binding: 'definition' | 'local' | 'import';
  /** Number of the definition or import. */
  readonly to: number;
  /** Of a local: the name of its type, as far as its declaration says. */
  readonly type?: string;
}

export interface Scope {
  readonly node: number;
  readonly kind: ScopeKind;
  readonly parent: Scope | undefined;
  readonly names: Map<string, Bound>;
  /** The names around what is declared here. */
  readonly container: readonly string[];
  /** A body outside of the class that `container` names: it sees the members bare. */
  readonly seesMembersOfContainer: boolean;
  /** Names that are not bound here, although they are assigned to. */
  outer?: Set<string>;
}

export class Scopes {
  readonly #tree: SyntaxTree;
  /** A bare name inside of a class may mean one of its members. */
  readonly #seesMembersBare: boolean;
  /** By container and name: the number of the definition. */
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

  /** Ends the scopes that the node stands behind. */
  leaveBefore(node: number): void {
    while (this.#current.parent && node >= this.#tree.after(this.#current.node)) this.#current = this.#current.parent;
  }

  open(node: number, kind: ScopeKind, container: readonly string[], seesMembersOfContainer = false): void {
    this.#current = createScope(node, kind, this.#current, container, seesMembersOfContainer);
  }

  /** The scope around, blocks not counted. */
  get holder(): Scope {
    let scope = this.#current;
    while (scope.parent && scope.kind === 'block') scope = scope.parent;
    return scope;
  }

  /** Where a name lands that is seen in the whole function, or in the whole file. */
  get functionScope(): Scope {
    let scope = this.#current;
    while (scope.parent && (scope.kind === 'block' || scope.kind === 'class')) scope = scope.parent;
    return scope;
  }

  /** The class around, if there is one. */
  get classScope(): Scope | undefined {
    let scope: Scope | undefined = this.#current;
    while (scope && scope.kind !== 'class') scope = scope.parent;
    return scope;
  }

  /** A name that is declared here is seen in the whole file. */
  isTop(hoists: boolean): boolean {
    const {holder} = this;
    return holder.kind === 'module' && (holder.parent === undefined || !hoists);
  }

  /** @param replaces an earlier definition of the name: one that only declares it */
  bind(name: string, bound: Bound, hoists: boolean, replaces: (to: number) => boolean): void {
    const scope = hoists ? this.functionScope : this.#current;
    const before = scope.names.get(name);
    // An assignment does not replace a definition.
    if (before?.binding === 'definition' && (bound.binding === 'local' || !replaces(before.to))) return;
    scope.names.set(name, bound);
  }

  /** Whether a bare name is a variable already, here or around in this function. */
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

  /** A member of the innermost class around. */
  findOwnMember(name: string, from: Scope): number {
    for (let scope: Scope | undefined = from; scope; scope = scope.parent) {
      if (scope.kind === 'class' || scope.seesMembersOfContainer) return this.findMember(scope.container, name);
    }
    return NONE;
  }

  find(name: string, from: Scope): Bound | undefined {
    let isDirect = true;
    for (let scope: Scope | undefined = from; scope; scope = scope.parent) {
      // Methods do not see the names of their class bare; its own body does.
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
