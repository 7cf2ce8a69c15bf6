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
  type Use,
} from './file-facts.ts';
import {type Bound, type Scope, type ScopeKind, Scopes} from './scopes.ts';
import {NONE, type SyntaxTree} from './syntax-tree.ts';

/** Reads a node of one type. A rule runs before the rules of the nodes below the node. */
export type Rule = (node: number, reader: FactsReader, tree: SyntaxTree) => void;

export interface LanguageRules {
  /** Types of the leaves that are names. */
  readonly names: ReadonlySet<string>;
  readonly rules: Readonly<Record<string, Rule>>;
  /** Returns how a leaf uses its name, or `skip` when it is not a use, e.g. a label. */
  readonly use: (leaf: Leaf, tree: SyntaxTree) => NameUse | 'skip';
  /** A bare name inside a class may mean one of its members, as in Java, C# and C++. */
  readonly seesMembersBare?: boolean;
  /** Returns whether a definition is exported although no keyword says so. */
  readonly isExported?: (definition: RawDefinition, path: string) => boolean;
}

/** A leaf that is a name. */
export interface Leaf {
  readonly leaf: number;
  readonly parent: number;
  /** Type of the parent. */
  readonly type: string;
  /** Role of the leaf in its parent. */
  readonly role: string;
}

export interface NameUse {
  readonly kind: ReferenceKind;
  readonly shorthand?: boolean;
  /** The node before the dot, when the name is a member. NONE for a member without an object, e.g. a key. */
  readonly object?: number;
}

interface DefineOptions {
  /** Leaf of the name. Default: the child with this role. */
  readonly name?: number;
  readonly exported?: boolean;
  readonly declaration?: boolean;
  /** Names around the definition. Set it when they differ from the definitions that contain the node: `void A::f()`. */
  readonly container?: readonly string[];
  /** Scope that binds the name. Default: `member` in the scope of a class, otherwise `here`. */
  readonly seen?: 'here' | 'function' | 'member' | 'nowhere';
  /** Name of the type, when the source says it. */
  readonly type?: string | undefined;
}

/** Kinds of definitions that become containers of the definitions inside them. */
const HOLDERS = /^(?:function|method|constructor|class|interface|struct|enum|trait|type|module)$/;

/** Types of nodes that are functions in any grammar. */
export const FUNCTIONS: ReadonlySet<string> = new Set(
  `function_declaration function_definition function_expression function_item generator_function
  generator_function_declaration arrow_function anonymous_function anonymous_method_expression closure_expression
  func_literal lambda lambda_expression local_function_statement method method_declaration method_definition
  singleton_method constructor_declaration compact_constructor_declaration`.split(/\s+/),
);

export class FactsReader {
  readonly tree: SyntaxTree;
  readonly path: string;
  space = '';
  readonly #rules: LanguageRules;
  readonly #definitions: RawDefinition[] = [];
  readonly #imports: RawImport[] = [];
  readonly #exports: [string, string][] = [];
  readonly #bases: FileFacts['bases'][number][] = [];
  readonly #functions: RawFunction[] = [];
  readonly #emptyCatches: [number, number][] = [];
  /** The number of the definition that a leaf names, by leaf. */
  readonly #nameOf = new Map<number, number>();
  readonly #noUse = new Set<number>();
  /** Type names of fields and variables, by the number of the definition. */
  readonly #types = new Map<number, string>();
  readonly #textUses: {
    readonly offset: number;
    readonly name: string;
    readonly scope: Scope;
    readonly definition?: number;
  }[] = [];
  readonly #scopes: Scopes;
  /** The definitions and other containers around the current node. */
  readonly #around: {readonly node: number; readonly definition: number; readonly container: readonly string[]}[] = [];

  constructor(tree: SyntaxTree, rules: LanguageRules, path: string) {
    this.tree = tree;
    this.path = path;
    this.#rules = rules;
    this.#scopes = new Scopes(tree, rules.seesMembersBare ?? false);
  }

  read(language: Language): FileFacts {
    const {tree} = this;
    const leaves: {leaf: number; scope: Scope; inside: number}[] = [];
    const rules = new Map(Object.entries(this.#rules.rules));
    for (let node = 0; node < tree.size; node += 1) {
      this.#scopes.leaveBefore(node);
      while (this.#around.length > 0 && node >= tree.after(this.#around.at(-1)!.node)) this.#around.pop();
      const type = tree.type(node);
      if (tree.isNamed(node)) rules.get(type)?.(node, this, tree);
      if (!this.#rules.names.has(type) || !tree.isLeaf(node) || tree.start(node) === tree.end(node)) continue;
      const inside = this.#around.findLast(({definition}) => definition !== NONE)?.definition ?? NONE;
      leaves.push({leaf: node, scope: this.#scopes.current, inside});
    }
    const listed = new Set(this.#exports.map(([, own]) => own));
    for (const definition of this.#definitions) {
      const isListed = definition.top && listed.has(definition.name);
      if (isListed || this.#rules.isExported?.(definition, this.path)) definition.exported = true;
    }
    return {
      language,
      lines: tree.lines,
      space: this.space,
      definitions: this.#definitions,
      imports: this.#imports,
      exports: this.#exports,
      bases: this.#bases,
      functions: this.#functions,
      emptyCatches: this.#emptyCatches,
      errors: tree.errors.map((node) => this.#at(node)),
      ...packUses(this.#sortUses(leaves.flatMap(({leaf, scope, inside}) => this.#readUse(leaf, scope, inside) ?? []))),
    };
  }

  /** The names around the current node. */
  get container(): readonly string[] {
    return this.#around.at(-1)?.container ?? [];
  }

  get scopeKind(): ScopeKind {
    return this.#scopes.current.kind;
  }

  /** The current node is not inside a function, so a variable here is a definition. */
  get isOutside(): boolean {
    return this.#scopes.holder.kind !== 'function';
  }

  /** Opens a scope for the nodes below `node`. */
  openScope(node: number, kind: ScopeKind): void {
    this.#scopes.open(node, kind, this.container);
  }

  /** Sets the names around the definitions below `node`. */
  openContainer(node: number, container: readonly string[]): void {
    this.#around.push({node, definition: NONE, container});
  }

  /**
   * Adds a definition that spans `node`.
   * @returns the number of the definition; NONE when the name is empty or has several lines
   */
  define(kind: DefinitionKind, node: number, options: DefineOptions = {}): number {
    const {tree} = this;
    const {name = tree.field(node, 'name')} = options;
    const text = tree.textOf(name);
    const {exported = false, declaration = false, container = this.container} = options;
    if (text === '' || text.includes('\n')) {
      this.openContainer(node, this.container);
      return NONE;
    }
    const seen = options.seen ?? (this.scopeKind === 'class' ? 'member' : 'here');
    const [line, column] = this.#at(name);
    const index = this.#definitions.length;
    const top = seen !== 'member' && seen !== 'nowhere' && this.#scopes.isTop(seen === 'function');
    const endLine = tree.line(Math.max(tree.end(node) - 1, tree.start(node)));
    this.#definitions.push({
      name: text,
      kind,
      line,
      column,
      endLine,
      container,
      exported,
      declaration,
      top,
      text: tree.lineText(line),
    });
    this.#nameOf.set(name, index);
    const type = getTypeName(options.type);
    if (type !== undefined) this.#types.set(index, type);
    if (seen === 'member' || container.length > 0 || this.#rules.seesMembersBare) {
      this.#scopes.addMember(container, text, index, this.#isDeclaration);
    }
    if (seen !== 'nowhere' && (seen !== 'member' || this.#rules.seesMembersBare)) {
      this.#bind(text, {binding: 'definition', to: index, ...(type !== undefined && {type})}, seen === 'function');
    }
    if (/^(?:function|method|constructor)$/.test(kind) && !declaration) {
      this.#functions.push({name: text, container, line, column, ...measureFunction(node, tree)});
    }
    this.#around.push({node, definition: index, container: HOLDERS.test(kind) ? [...container, text] : container});
    return index;
  }

  /** Adds a definition that has nothing inside: what follows in the tree is not inside it. Like `define` otherwise. */
  defineSingle(kind: DefinitionKind, node: number, options?: DefineOptions): number {
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
    name: number,
    kind: DefinitionKind,
    node: number,
    options: DefineOptions & {readonly hoists?: boolean; readonly once?: boolean; readonly quiet?: boolean} = {},
  ): void {
    const text = this.tree.textOf(name);
    const {hoists = false, once = false, quiet = false} = options;
    const {functionScope, holder} = this.#scopes;
    const isLocal = holder.kind === 'function' || (this.scopeKind === 'block' && !hoists);
    if (isLocal && functionScope.outer?.has(text)) return;
    if (once && functionScope.names.has(text)) return;
    if (isLocal || quiet) this.local(name, hoists, options.type);
    else this.define(kind, node, {...options, name, ...(hoists && {seen: 'function'})});
  }

  /** Makes a name in this function mean the variable around the function, as `global x` does. */
  outer(name: string): void {
    const {functionScope} = this.#scopes;
    functionScope.outer ??= new Set();
    functionScope.outer.add(name);
  }

  /** Declares the field `x` of the class for `self.x = …` in a method, once per class. */
  ownField(name: number, node: number, type?: string): void {
    const scope = this.#scopes.classScope;
    if (!scope || this.#scopes.findMember(scope.container, this.tree.textOf(name)) !== NONE) return;
    this.defineSingle('field', node, {name, container: scope.container, seen: 'member', type});
  }

  /**
   * Declares a parameter or variable of a function.
   * @param hoists the name is visible in the whole function
   * @param type name of its type, when the source says it
   */
  local(name: number, hoists = false, type?: string): void {
    if (name === NONE) return;
    const named = getTypeName(type);
    this.#bind(this.tree.textOf(name), {binding: 'local', to: NONE, ...(named !== undefined && {type: named})}, hoists);
  }

  /**
   * Adds an import.
   * @param names names that the import binds in this file; with `reexport` they are exported and not bound
   */
  import(node: number, specifier: string, names: RawImport['names'], reexport = false): void {
    const index = this.#imports.length;
    this.#imports.push({line: this.#at(node)[0], specifier, names, reexport});
    if (reexport) return;
    for (const {local} of names) if (local !== '*') this.#bind(local, {binding: 'import', to: index}, false);
  }

  /** Exports a name of this file, under its own or another name. */
  export(exported: string, own: string): void {
    this.#exports.push([exported, own]);
  }

  /** Records that a class, by default the innermost definition, inherits from the class that the node `base` names. */
  inherit(base: number, name = this.#definitions[this.#around.at(-1)?.definition ?? NONE]?.name ?? ''): void {
    const text = this.tree
      .textOf(base)
      .replace(/[<([].*$/s, '')
      .trim();
    if (name === '' || !/^[\w$.:\\]+$/.test(text)) return;
    this.#bases.push({name, base: text, line: this.#at(base)[0]});
  }

  emptyCatch(node: number): void {
    this.#emptyCatches.push(this.#at(node));
  }

  /**
   * Adds a definition whose name is only a part of its leaf: the symbol in `attr_reader :name`.
   * @param offset offset of the name in the leaf
   */
  defineText(leaf: number, name: string, kind: DefinitionKind, node: number, offset: number): void {
    if (!/^[\p{L}_]\w*[?!=]?$/u.test(name)) return;
    const index = this.defineSingle(kind, node, {name: leaf, exported: true, declaration: true});
    if (index === NONE) return;
    const before = this.#definitions[index]!;
    this.#definitions[index] = {...before, name, column: before.column + offset, declaration: false};
    this.#scopes.addMember(before.container, name, index, this.#isDeclaration);
    this.#bind(name, {binding: 'definition', to: index}, false);
    const scope = this.#scopes.current;
    this.#textUses.push({offset: this.tree.start(leaf) + offset, name, scope, definition: index});
  }

  /** Returns whether a bare name is already a local variable here or around here in the same function. */
  knows(name: string): boolean {
    return this.#scopes.knows(name);
  }

  /** Opens a scope whose nodes see the members of a class outside of its body: `void A::f() {}`. */
  openMembers(node: number, container: readonly string[]): void {
    this.#scopes.open(node, 'function', container, true);
  }

  /** Adds the uses of names in a text without a tree: the body of a macro. */
  textUses(start: number, text: string, except: ReadonlySet<string>): void {
    for (const {0: name, index} of text.matchAll(/(?<![\w"'.])[A-Za-z_]\w*(?=(\s*\()?)/g)) {
      if (!except.has(name)) this.#textUses.push({offset: start + index, name, scope: this.#scopes.current});
    }
  }

  /** Excludes a leaf from the uses of its name. */
  skip(leaf: number): void {
    this.#noUse.add(leaf);
  }

  readonly #isDeclaration = (index: number): boolean => this.#definitions[index]!.declaration;

  #bind(name: string, bound: Bound, hoists: boolean): void {
    this.#scopes.bind(name, bound, hoists, this.#isDeclaration);
  }

  #at(node: number): [number, number] {
    const offset = this.tree.start(node);
    return [this.tree.line(offset), this.tree.column(offset)];
  }

  #readUse(leaf: number, scope: Scope, inside: number): Use | undefined {
    if (this.#noUse.has(leaf)) return undefined;
    const {tree} = this;
    const name = tree.textOf(leaf);
    const [line, column] = this.#at(leaf);
    const place = {name, line, column, inside};
    const own = this.#nameOf.get(leaf);
    const parent = tree.parent(leaf);
    const found = this.#rules.use({leaf, parent, type: tree.type(parent), role: tree.role(leaf)}, tree);
    const {kind, shorthand = false, object} = found === 'skip' ? {kind: 'read' as const} : found;
    if (own !== undefined) {
      return {...place, kind: 'write', member: false, shorthand, binding: 'name', to: own, receiver: ''};
    }
    if (found === 'skip') return undefined;
    if (object !== undefined) {
      return {...place, kind, member: true, shorthand, ...this.#findMember(name, object, scope)};
    }
    const bound = this.#scopes.find(name, scope);
    const {binding, to} = bound ?? {binding: 'free' as const, to: NONE};
    // In `const {name} = require('x')` the import binds the name.
    const how = binding === 'import' && kind === 'write' ? 'import' : kind;
    return {...place, kind: how, member: false, shorthand, binding, to, receiver: ''};
  }

  /** Adds the uses in texts, and sorts all uses by place. */
  #sortUses(uses: Use[]): Use[] {
    if (this.#textUses.length === 0) return uses;
    const ofMacros = this.#textUses.map(({offset, name, scope, definition}): Use => {
      const place = {line: this.tree.line(offset), column: this.tree.column(offset)};
      const plain = {...place, name, member: false, shorthand: false, inside: NONE, receiver: ''};
      if (definition !== undefined) return {...plain, kind: 'write', binding: 'name', to: definition};
      const {binding, to} = this.#scopes.find(name, scope) ?? {binding: 'free' as const, to: NONE};
      return {...plain, kind: 'read', binding, to};
    });
    return [...uses, ...ofMacros].sort((a, b) => a.line - b.line || a.column - b.column);
  }

  /** Resolves a member whose object is `this`, a class of this file, a variable of known type, or imported. */
  #findMember(name: string, object: number, scope: Scope): Pick<Use, 'binding' | 'to' | 'receiver'> {
    const text = this.tree.textOf(object);
    const receiver = /^[\w$.:]{1,80}$/.test(text) ? text.replaceAll('::', '.') : '';
    if (SELF.has(receiver)) {
      const to = this.#scopes.findOwnMember(name, scope);
      return {binding: to === NONE ? 'member' : 'definition', to, receiver};
    }
    const [first = '', field = ''] = receiver.split('.');
    if (SELF.has(first) && receiver === `${first}.${field}`) {
      const type = this.#types.get(this.#scopes.findOwnMember(field, scope));
      return type === undefined ? {binding: 'member', to: NONE, receiver} : this.#findMemberOfType(name, type, scope);
    }
    const variable = first === '' ? undefined : this.#scopes.find(first, scope);
    if (variable?.type && first === receiver) return this.#findMemberOfType(name, variable.type, scope);
    return this.#findMemberOf(name, receiver, variable);
  }

  /** Resolves a member of an object of a known type. */
  #findMemberOfType(name: string, type: string, scope: Scope): Pick<Use, 'binding' | 'to' | 'receiver'> {
    const bound = this.#scopes.find(type.split('.')[0]!, scope);
    const found = this.#findMemberOf(name, type, bound);
    return found.binding === 'member' ? {...found, receiver: `:${type}`} : found;
  }

  #findMemberOf(name: string, receiver: string, bound: Bound | undefined) {
    const [first = ''] = receiver.split('.');
    if (bound?.binding === 'import') return {binding: 'import' as const, to: bound.to, receiver};
    if (bound?.binding === 'definition' && first === receiver) {
      const owner = this.#definitions[bound.to]!;
      const to = this.#scopes.findMember([...owner.container, owner.name], name);
      if (to !== NONE) return {binding: 'definition' as const, to, receiver};
    }
    return {binding: 'member' as const, to: NONE, receiver};
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
const NESTING: ReadonlySet<string> = new Set(
  `if_statement for_statement for_in_statement foreach_statement enhanced_for_statement for_range_loop while_statement
  do_statement switch_statement expression_switch_statement type_switch_statement select_statement match_statement
  try_statement try_with_resources_statement with_statement lock_statement using_statement synchronized_statement
  if_expression for_expression while_expression loop_expression match_expression switch_expression
  conditional_expression ternary_expression if unless while until for case case_match begin do_block`.split(/\s+/),
);

/** @param node the function, or the variable whose value it is */
function measureFunction(node: number, tree: SyntaxTree) {
  const first = tree.line(tree.start(node));
  const last = tree.line(Math.max(tree.end(node) - 1, tree.start(node)));
  let parameters = 0;
  for (const below of tree.below(node)) {
    if (tree.role(below) !== 'parameters') continue;
    for (const each of tree.named(below)) {
      if (!/comment|self_parameter/.test(tree.type(each)) && tree.textOf(each) !== 'self') parameters += 1;
    }
    break;
  }
  return {lines: last - first + 1, nesting: measureNesting(node, tree), parameters};
}

function measureNesting(node: number, tree: SyntaxTree): number {
  let deepest = 0;
  let isInside = FUNCTIONS.has(tree.type(node));
  const open: number[] = [];
  for (let at = node + 1; at < tree.after(node); at += 1) {
    while (open.length > 0 && at >= tree.after(open.at(-1)!)) open.pop();
    const type = tree.type(at);
    if (!tree.isNamed(at)) continue;
    if (FUNCTIONS.has(type)) {
      // The first function may be the value of a variable. Functions inside it are measured separately.
      if (isInside) at = tree.after(at) - 1;
      isInside = true;
    } else if (NESTING.has(type) && !isElseIf(at, tree)) {
      open.push(at);
      deepest = Math.max(deepest, open.length);
    }
  }
  return deepest;
}

/** An `else if` continues the same choice and does not count as nesting. */
function isElseIf(node: number, tree: SyntaxTree): boolean {
  if (!tree.type(node).startsWith('if')) return false;
  return tree.type(tree.parent(node)) === 'else_clause' || tree.role(node) === 'alternative';
}
