/**
 * Reads the facts of one file from its syntax tree. The rules of a language say which nodes declare a name, open a
 * scope or import. Names are resolved by scope after the whole tree was read.
 */

import type {DefinitionKind, Language, ReferenceKind} from '../contract.ts';
import {
  type FileFacts,
  packUses,
  type RawDefinition,
  type RawFunction,
  type RawImport,
  type RawPlace,
  type Use,
} from './file-facts.ts';
import {type Bound, type Scope, type ScopeKind, Scopes} from './scopes.ts';
import {NONE, type Node, type SyntaxTree} from './syntax-tree.ts';

/** Reads a node of one type. A rule runs before the rules of the nodes below the node. */
export type Rule = (node: Node, reader: FactsReader) => void;

export interface LanguageRules {
  /** Matches the types of the leaves that are names. */
  readonly names: RegExp;
  /** Rules by types of nodes. Types that share a rule are separated by spaces. */
  readonly rules: Readonly<Record<string, Rule>>;
  readonly use: (leaf: Node) => NameUse;
  /** Returns whether other files may use a definition, unless its rule says it. */
  readonly isExported: (node: Node, name: string, container: readonly string[]) => boolean;
  /** A bare name inside a class may mean one of its members, as in Java, C# and C++. */
  readonly seesMembersBare?: boolean;
}

/** How a leaf uses its name; `skip` when it is not a use, e.g. a label. */
export type NameUse =
  | {
      readonly kind: ReferenceKind;
      readonly shorthand?: boolean;
      /** The node before the dot, when the name is a member. */
      readonly object?: Node;
      /** The name is a member even when no object stands before it. */
      readonly member?: boolean;
    }
  | 'skip';

interface DefineOptions {
  /** Leaf of the name. Default: the child with this role. */
  readonly name?: Node;
  /** Default: as the language says. */
  readonly exported?: boolean;
  readonly declaration?: boolean;
  /** Names around the definition. Set it when they differ from the definitions that contain the node: `void A::f()`. */
  readonly container?: readonly string[];
  /** Scope that binds the name. Default: `member` in the scope of a class, otherwise `here`. */
  readonly seen?: 'here' | 'function' | 'member' | 'nowhere' | undefined;
  /** The type as the source says it. */
  readonly type?: string | undefined;
}

/** Kinds of definitions that become containers of the definitions inside them. */
const HOLDERS = /^(?:function|method|constructor|class|interface|struct|enum|trait|type|module)$/;

/** Types of nodes that are functions in any grammar. */
export const FUNCTIONS =
  /^(?:\w*(?:function|method|constructor)(?:_(?:declaration|definition|expression|item|statement))?|closure_expression|func_literal|lambda(?:_expression)?)$/;

/** How a use is resolved within its file. */
type Resolved = Pick<Use, 'binding' | 'to' | 'receiver'>;

export class FactsReader {
  space = '';
  readonly #tree: SyntaxTree;
  readonly #rules: LanguageRules;
  readonly #definitions: RawDefinition[] = [];
  readonly #imports: RawImport[] = [];
  readonly #exports: [string, string][] = [];
  readonly #bases: FileFacts['bases'][number][] = [];
  readonly #functions: RawFunction[] = [];
  readonly #emptyCatches: RawPlace[] = [];
  /** The number of the definition that a leaf names, by leaf. */
  readonly #nameOf = new Map<Node, number>();
  readonly #noUse = new Set<Node>();
  /** Type names of fields and variables, by the number of the definition. */
  readonly #types = new Map<number, string>();
  /** Names inside of leaves, as in the body of a macro. */
  readonly #textUses: {
    readonly offset: number;
    readonly name: string;
    readonly scope: Scope;
    readonly own?: number;
    readonly kind?: ReferenceKind;
    readonly inside?: number | undefined;
  }[] = [];
  readonly #scopes: Scopes;
  /** The definitions and other containers around the current node. */
  readonly #around: {readonly node: Node; readonly definition: number; readonly container: readonly string[]}[] = [];

  constructor(tree: SyntaxTree, rules: LanguageRules) {
    this.#tree = tree;
    this.#rules = rules;
    this.#scopes = new Scopes(rules.seesMembersBare ?? false, (to) => this.#definitions[to]!.declaration);
  }

  read(language: Language): FileFacts {
    const {nodes, lines, errors} = this.#tree;
    const {rules, names} = this.#rules;
    const leaves: {leaf: Node; scope: Scope; inside: number}[] = [];
    const byType = new Map(
      Object.entries(rules).flatMap(([types, rule]) => types.split(' ').map((type) => [type, rule] as const)),
    );
    for (const node of nodes) {
      this.#scopes.leaveBefore(node);
      while (this.#around.length > 0 && node.index >= this.#around.at(-1)!.node.after) this.#around.pop();
      if (node.isNamed) byType.get(node.type)?.(node, this);
      if (!node.isLeaf || node.start === node.end || !names.test(node.type)) continue;
      const inside = this.#around.findLast(({definition}) => definition >= 0)?.definition ?? -1;
      leaves.push({leaf: node, scope: this.#scopes.current, inside});
    }
    const listed = new Set(this.#exports.map(([, own]) => own));
    for (const definition of this.#definitions) {
      if (definition.top && listed.has(definition.name)) definition.exported = true;
    }
    return {
      language,
      lines,
      space: this.space,
      definitions: this.#definitions,
      imports: this.#imports,
      exports: this.#exports,
      bases: this.#bases,
      functions: this.#functions,
      emptyCatches: this.#emptyCatches,
      errors: errors.map((node) => this.#at(node)),
      ...packUses(this.#sortUses(leaves.flatMap(({leaf, scope, inside}) => this.#readUse(leaf, scope, inside) ?? []))),
    };
  }

  /** The names around the current node. */
  get container(): readonly string[] {
    return this.#around.at(-1)?.container ?? [];
  }

  get isInClass(): boolean {
    return this.#scopes.current.kind === 'class';
  }

  /** The current node is not inside a function, so a variable here is a definition. */
  get isOutside(): boolean {
    return this.#scopes.holder.kind !== 'function';
  }

  /**
   * Opens a scope for the nodes below `node`.
   * @param members the class whose members the scope sees, when it is outside of its body: `void A::f() {}`
   */
  openScope(node: Node, kind: ScopeKind, members?: readonly string[]): void {
    this.#scopes.open(node, kind, members ?? this.container, members !== undefined);
  }

  /** Sets the names around the definitions below `node`. */
  openContainer(node: Node, container: readonly string[]): void {
    this.#around.push({node, definition: -1, container});
  }

  /**
   * Adds a definition that spans `node`. When its name is empty or has several lines, only what is inside is defined.
   * @returns the number of the definition
   */
  define(kind: DefinitionKind, node: Node, options: DefineOptions = {}): number | undefined {
    const {name: leaf = node.field('name'), declaration = false, container = this.container} = options;
    const name = leaf.text;
    if (name === '' || name.includes('\n')) {
      this.openContainer(node, this.container);
      return undefined;
    }
    const {exported = this.#rules.isExported(node, name, container)} = options;
    const seen = options.seen ?? (this.isInClass ? 'member' : 'here');
    const place = this.#at(leaf);
    const index = this.#definitions.length;
    const top = seen !== 'member' && seen !== 'nowhere' && this.#scopes.isTop(seen === 'function');
    const endLine = this.#lastLine(node);
    const text = this.#tree.lineText(place.line);
    this.#definitions.push({name, kind, ...place, endLine, container, exported, declaration, top, text});
    this.#nameOf.set(leaf, index);
    const type = getTypeName(options.type);
    if (type !== undefined) this.#types.set(index, type);
    const {seesMembersBare} = this.#rules;
    if (seen === 'member' || container.length > 0 || seesMembersBare) {
      this.#scopes.addMember(container, name, index);
    }
    if (seen !== 'nowhere' && (seen !== 'member' || (seesMembersBare && this.isInClass))) {
      this.#scopes.bind(name, {binding: 'definition', to: index, type}, seen === 'function');
    }
    if (/^(?:function|method|constructor)$/.test(kind) && !declaration) {
      const lines = endLine - this.#at(node).line + 1;
      this.#functions.push({name, container, ...place, lines, ...measureFunction(node)});
    }
    this.#around.push({node, definition: index, container: HOLDERS.test(kind) ? [...container, name] : container});
    return index;
  }

  /** Adds a definition that has nothing inside: what follows in the tree is not inside it. Like `define` otherwise. */
  defineSingle(kind: DefinitionKind, node: Node, options?: DefineOptions): number | undefined {
    const index = this.define(kind, node, options);
    this.#around.pop();
    return index;
  }

  /**
   * Declares a variable: a definition outside of functions, otherwise a local variable.
   * @param options.hoists the name is visible in the whole function or file
   * @param options.once a further assignment declares nothing
   * @param options.quiet outside of functions the name is bound without a definition, e.g. a loop variable
   */
  variable(
    name: Node,
    kind: DefinitionKind,
    node: Node,
    options: DefineOptions & {readonly hoists?: boolean; readonly once?: boolean; readonly quiet?: boolean},
  ): void {
    const {text} = name;
    const {hoists = false, once = false, quiet = false} = options;
    const {functionScope, holder, current} = this.#scopes;
    const isLocal = holder.kind === 'function' || (current.kind === 'block' && !hoists);
    if (isLocal && functionScope.outer.has(text)) return;
    if (once && functionScope.names.has(text)) return;
    if (isLocal || quiet) this.local(name, options.type, hoists);
    else this.define(kind, node, {...options, name, ...(hoists && {seen: 'function'})});
  }

  /** Makes a name in this function mean the variable around the function, as `global x` does. */
  outer(name: string): void {
    this.#scopes.functionScope.outer.add(name);
  }

  /** Declares the field `x` of the class for `self.x = …` in a method, once per class. */
  ownField(name: Node, node: Node, type?: string): void {
    const container = this.#scopes.classScope?.container;
    if (!container || this.#scopes.findMember(container, name.text) !== undefined) return;
    this.defineSingle('field', node, {name, container, seen: 'member', type});
  }

  /**
   * Declares a parameter or variable of a function.
   * @param type the type as the source says it
   * @param hoists the name is visible in the whole function
   */
  local(name: Node, type?: string, hoists = false): void {
    if (name === NONE) return;
    this.#scopes.bind(name.text, {binding: 'local', to: -1, type: getTypeName(type)}, hoists);
  }

  /**
   * Adds an import.
   * @param names names that the import binds in this file; with `reexport` they are exported and not bound
   */
  import(node: Node, specifier: string, names: RawImport['names'], reexport = false): void {
    const to = this.#imports.length;
    this.#imports.push({line: this.#at(node).line, specifier, names, reexport});
    if (reexport) return;
    for (const {local} of names) if (local !== '*') this.#scopes.bind(local, {binding: 'import', to}, false);
  }

  /** Exports a name of this file, under its own or another name. */
  export(exported: string, own = exported): void {
    this.#exports.push([exported, own]);
  }

  /** Records that a class, by default the innermost definition, inherits from the class that the node `base` names. */
  inherit(base: Node, name = this.#definitions[this.#around.at(-1)?.definition ?? -1]?.name ?? ''): void {
    const text = base.text.replace(/[<([].*$/s, '').trim();
    if (name === '' || !/^[\w$.:\\]+$/.test(text)) return;
    this.#bases.push({name, base: text, line: this.#at(base).line});
  }

  emptyCatch(node: Node): void {
    this.#emptyCatches.push(this.#at(node));
  }

  /**
   * Adds a definition whose name is only a part of its leaf: the symbol in `attr_reader :name`.
   * @param skipped number of characters before the name in the leaf
   */
  defineText(leaf: Node, kind: DefinitionKind, node: Node, skipped: number): void {
    const name = leaf.text.slice(skipped);
    if (!/^[\p{L}_]\w*[?!=]?$/u.test(name)) return;
    const own = this.defineSingle(kind, node, {name: leaf, exported: true, declaration: true});
    if (own === undefined) return;
    const before = this.#definitions[own]!;
    this.#definitions[own] = {...before, name, column: before.column + skipped, declaration: false};
    this.#scopes.addMember(before.container, name, own);
    this.#scopes.bind(name, {binding: 'definition', to: own}, false);
    this.#textUses.push({offset: leaf.start + skipped, name, scope: this.#scopes.current, own});
  }

  /** Returns whether a bare name is already a local variable here or around here in the same function. */
  knows(name: string): boolean {
    return this.#scopes.knows(name);
  }

  /**
   * Adds the uses of names in a text without a tree: the body of a macro.
   * @param inside the number of the macro
   */
  textUses({start, text}: Pick<Node, 'start' | 'text'>, except: readonly string[] = [], inside?: number): void {
    for (const {0: name, index} of text.matchAll(/(?<![\w"'.])[A-Za-z_]\w*/g)) {
      const kind = /^\s*\(/.test(text.slice(index + name.length)) ? 'call' : 'read';
      const use = {offset: start + index, name, kind, inside, scope: this.#scopes.current} as const;
      if (!except.includes(name)) this.#textUses.push(use);
    }
  }

  /** Excludes a leaf from the uses of its name. */
  skip(leaf: Node): void {
    this.#noUse.add(leaf);
  }

  #at({start}: Node): RawPlace {
    return this.#tree.place(start);
  }

  #lastLine({start, end}: Node): number {
    return this.#tree.place(Math.max(end - 1, start)).line;
  }

  #readUse(leaf: Node, scope: Scope, inside: number): Use | undefined {
    const own = this.#nameOf.get(leaf);
    const used = this.#rules.use(leaf);
    if (this.#noUse.has(leaf) || (used === 'skip' && own === undefined)) return undefined;
    const name = leaf.text;
    const {kind, shorthand = false, object = NONE, member} = used === 'skip' ? {kind: 'read' as const} : used;
    const plain = {name, ...this.#at(leaf), inside, shorthand, member: false};
    if (own !== undefined) return {...plain, kind: 'write', binding: 'name', to: own, receiver: ''};
    if (member || object !== NONE) return {...plain, kind, member: true, ...this.#findMember(name, object, scope)};
    const found = this.#find(name, scope);
    // In `const {name} = require('x')` the import binds the name.
    return {...plain, kind: found.binding === 'import' && kind === 'write' ? 'import' : kind, ...found};
  }

  /** Adds the uses in texts, and sorts all uses by place. */
  #sortUses(uses: Use[]): Use[] {
    if (this.#textUses.length === 0) return uses;
    const inTexts = this.#textUses.map(({offset, name, scope, own, kind = 'read', inside = -1}): Use => {
      const plain = {name, ...this.#tree.place(offset), inside, shorthand: false, member: false};
      if (own === undefined) return {...plain, kind, ...this.#find(name, scope)};
      return {...plain, kind: 'write', binding: 'name', to: own, receiver: ''};
    });
    return [...uses, ...inTexts].sort((a, b) => a.line - b.line || a.column - b.column);
  }

  #find(name: string, scope: Scope): Resolved {
    const {binding, to} = this.#scopes.find(name, scope) ?? {binding: 'free', to: -1};
    return {binding, to, receiver: ''};
  }

  /** Resolves a member whose object is `this`, a class of this file, a variable of known type, or imported. */
  #findMember(name: string, object: Node, scope: Scope): Resolved {
    const receiver = /^[\w$.:]{1,80}$/.test(object.text) ? object.text.replaceAll('::', '.') : '';
    const [first = '', field = '', ...rest] = receiver.split('.');
    if (SELF.has(first) && rest.length === 0) {
      const to = this.#scopes.findOwnMember(field || name, scope) ?? -1;
      if (field === '') return {binding: to < 0 ? 'member' : 'definition', to, receiver};
      return this.#findMemberOfType(name, receiver, this.#types.get(to), scope);
    }
    const variable = this.#scopes.find(first, scope);
    if (variable?.type && first === receiver) return this.#findMemberOfType(name, receiver, variable.type, scope);
    return this.#findMemberOf(name, receiver, variable);
  }

  /** Resolves a member of an object of a known type. */
  #findMemberOfType(name: string, receiver: string, type: string | undefined, scope: Scope): Resolved {
    if (type === undefined) return {binding: 'member', to: -1, receiver};
    const found = this.#findMemberOf(name, type, this.#scopes.find(type.split('.')[0]!, scope));
    return found.binding === 'member' ? {...found, receiver: `:${type}`} : found;
  }

  #findMemberOf(name: string, receiver: string, bound: Bound | undefined): Resolved {
    if (bound?.binding === 'import') return {binding: 'import', to: bound.to, receiver};
    if (bound?.binding === 'definition' && !receiver.includes('.')) {
      const owner = this.#definitions[bound.to]!;
      const to = this.#scopes.findMember([...owner.container, owner.name], name);
      if (to !== undefined) return {binding: 'definition', to, receiver};
    }
    return {binding: 'member', to: -1, receiver};
  }
}

const SELF: ReadonlySet<string> = new Set(['this', 'self', 'Self', 'cls', '$this', 'static']);

/** Returns the plain name of a type: `Map` for `Map<string, X>`, `T` for `*T` and `&mut T`. */
function getTypeName(type: string | undefined): string | undefined {
  const plain = type
    ?.replace(/^(?::\s*)?(?:[&*]|(?:mut|const|struct|class|union|enum|typename)\b|\?|\s|'\w+\b)*/, '')
    .replace(/\s*[<[?*&][\s\S]*$/, '');
  return plain !== undefined && /^[\p{L}_$][\w$.]*$/u.test(plain) ? plain : undefined;
}

/** Types of nodes that count as nesting in any grammar. */
const NESTING =
  /^(?:(?:\w+_)?(?:if|for|for_in|foreach|while|do|switch|select|match|try|try_with_resources|with|lock|using|synchronized)_statement|(?:if|for|while|loop|match|switch|conditional|ternary)_expression|for_range_loop|if|unless|while|until|for|case|case_match|begin|do_block)$/;

/** @param node the function, or the variable whose value it is */
function measureFunction(node: Node): Pick<RawFunction, 'nesting' | 'parameters'> {
  const parameters = node
    .below()
    .find(({role}) => role === 'parameters')
    ?.named()
    .filter(({type, text}) => !/comment|self_parameter/.test(type) && text !== 'self');
  return {nesting: measureNesting(node), parameters: parameters?.length ?? 0};
}

function measureNesting(node: Node): number {
  const open: Node[] = [];
  let [deepest, skipped, isInside] = [0, 0, false];
  for (const each of node.below()) {
    if (each.index < skipped || !each.isNamed) continue;
    while (open.length > 0 && each.index >= open.at(-1)!.after) open.pop();
    if (FUNCTIONS.test(each.type)) {
      // The first function may be the value of a variable. Functions inside it are measured separately.
      if (isInside) skipped = each.after;
      isInside = true;
    } else if (NESTING.test(each.type) && !isElseIf(each)) {
      open.push(each);
      deepest = Math.max(deepest, open.length);
    }
  }
  return deepest;
}

/** An `else if` continues the same choice and does not count as nesting. */
function isElseIf({type, parent, role}: Node): boolean {
  return type.startsWith('if') && (parent.type === 'else_clause' || role === 'alternative');
}
