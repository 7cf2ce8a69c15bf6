/**
 * Reads the facts of one file from its tree. The rules of a language say what declares a name, opens a scope or imports;
 * which declaration a name means follows from the scopes, once the whole tree was seen.
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
import {measureFunction, type NestingRules} from './function-size.ts';
import {type Bound, type Scope, type ScopeKind, Scopes} from './scopes.ts';
import {NONE, type SyntaxTree} from './syntax-tree.ts';

/** What a node of one type means. Called before those of the nodes below it. */
export type Rule = (node: number, reader: FactsReader) => void;

/** The rules of one language. */
export interface LanguageRules extends NestingRules {
  /** Types of leaves that are names. */
  readonly names: ReadonlySet<string>;
  readonly rules: Readonly<Record<string, Rule>>;
  /** How a name is used, by what is around it. `skip`: it is no use at all, e.g. a label. */
  readonly use: (leaf: number, reader: FactsReader) => NameUse | 'skip';
  /** A bare name inside of a class may mean one of its members: Java, C#, C++. */
  readonly seesMembersBare?: boolean;
  /** Which definitions are exported although no word says so. */
  readonly isExported?: (definition: RawDefinition, path: string) => boolean;
}

export interface NameUse {
  readonly kind: ReferenceKind;
  readonly shorthand?: boolean;
  /** The node before the dot: the name is a member of it. NONE where it is a member without one, e.g. a key. */
  readonly object?: number;
}

interface DefineOptions {
  readonly exported?: boolean;
  readonly declaration?: boolean;
  /** The names around it, where they are not those of the definitions that it stands in: `void A::f()`. */
  readonly container?: readonly string[];
  /** Where the name is seen. Default: in the scope that it stands in, and of a class as its member. */
  readonly seen?: 'here' | 'function' | 'member' | 'nowhere';
  /** The name of its type, where the source says it. */
  readonly type?: string | undefined;
}

/** What stands inside of these has their name around it. */
const HOLDERS: ReadonlySet<DefinitionKind> = new Set([
  ...([
    'function',
    'method',
    'constructor',
    'class',
    'interface',
    'struct',
    'enum',
    'trait',
    'type',
    'module',
  ] as const),
]);
const FUNCTION_KINDS: ReadonlySet<DefinitionKind> = new Set(['function', 'method', 'constructor']);

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
  /** Leaves that name a definition, declare a local variable, or are no use. */
  readonly #nameOf = new Map<number, number>();
  readonly #noUse = new Set<number>();
  /** The types of fields and variables, by the number of the definition. */
  readonly #types = new Map<number, string>();
  readonly #textUses: {
    readonly offset: number;
    readonly name: string;
    readonly scope: Scope;
    readonly definition?: number;
  }[] = [];
  readonly #scopes: Scopes;
  /** The definitions and other containers around the node that is read. */
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
      if (tree.isNamed(node)) rules.get(type)?.(node, this);
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

  /** The names around the node that is read. */
  get container(): readonly string[] {
    return this.#around.at(-1)?.container ?? [];
  }

  get scopeKind(): ScopeKind {
    return this.#scopes.current.kind;
  }

  /** Not inside of a function: a variable here is a definition. */
  get isOutside(): boolean {
    return this.#scopes.holder.kind !== 'function';
  }

  /** The nodes below `node` see the names that are declared there. */
  openScope(node: number, kind: ScopeKind): void {
    this.#scopes.open(node, kind, this.container);
  }

  /** The definitions below `node` have these names around them. */
  openContainer(node: number, container: readonly string[]): void {
    this.#around.push({node, definition: NONE, container});
  }

  /**
   * A definition that spans `node`.
   * @param name its leaf. @returns its number; NONE for an empty name
   */
  define(name: number, kind: DefinitionKind, node: number, options: DefineOptions = {}): number {
    const {tree} = this;
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
    if (FUNCTION_KINDS.has(kind) && !declaration) {
      this.#functions.push({name: text, container, line, column, endLine, ...measureFunction(node, tree, this.#rules)});
    }
    this.#around.push({node, definition: index, container: HOLDERS.has(kind) ? [...container, text] : container});
    return index;
  }

  /**
   * A variable: a definition outside of functions, else local.
   * @param options.hoists it is seen in the whole function, or the file. options.once: a further assignment is none.
   *   options.quiet: outside of functions it is bound, but no definition worth a name (a loop variable)
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
    else this.define(name, kind, node, {...options, ...(hoists && {seen: 'function'})});
  }

  /** In this function the name means the variable around it: `global x`. */
  outer(name: string): void {
    const {functionScope} = this.#scopes;
    functionScope.outer ??= new Set();
    functionScope.outer.add(name);
  }

  /** `self.x = …` in a method declares the field `x` of its class; once. */
  ownField(name: number, node: number, type?: string): void {
    const scope = this.#scopes.classScope;
    if (!scope || this.#scopes.findMember(scope.container, this.tree.textOf(name)) !== NONE) return;
    this.define(name, 'field', node, {container: scope.container, seen: 'member', type});
    this.closeDefinition();
  }

  /**
   * A parameter or variable of a function.
   * @param hoists it is seen in the whole function. @param type the name of its type, where the source says it
   */
  local(name: number, hoists = false, type?: string): void {
    if (name === NONE) return;
    const named = getTypeName(type);
    this.#bind(this.tree.textOf(name), {binding: 'local', to: NONE, ...(named !== undefined && {type: named})}, hoists);
  }

  /** @param names what it binds here; leaves or texts of a re-export are exported instead */
  import(node: number, specifier: string, names: RawImport['names'], reexport = false): void {
    const index = this.#imports.length;
    this.#imports.push({line: this.#at(node)[0], specifier, names, reexport});
    if (reexport) return;
    for (const {local} of names) if (local !== '*') this.#bind(local, {binding: 'import', to: index}, false);
  }

  /** A name of this file is exported, under its own or another name. */
  export(exported: string, own: string): void {
    this.#exports.push([exported, own]);
  }

  /** The class `name` inherits from what the node says. */
  inherit(name: string, base: number): void {
    const text = this.tree
      .textOf(base)
      .replace(/[<([].*$/s, '')
      .trim();
    if (name === '' || !/^[\w$.:\\]+$/.test(text)) return;
    const [line, column] = this.#at(base);
    this.#bases.push({name, base: text, line, column});
  }

  emptyCatch(node: number): void {
    this.#emptyCatches.push(this.#at(node));
  }

  /**
   * A definition whose name is no leaf: the symbol in `attr_reader :name`.
   * @param offset of the name in the node
   */
  defineText(leaf: number, name: string, kind: DefinitionKind, node: number, offset: number): void {
    if (!/^[\p{L}_]\w*[?!=]?$/u.test(name)) return;
    const index = this.define(leaf, kind, node, {exported: true, declaration: true});
    this.closeDefinition();
    if (index === NONE) return;
    const before = this.#definitions[index]!;
    this.#definitions[index] = {...before, name, column: before.column + offset, declaration: false};
    this.#scopes.addMember(before.container, name, index, this.#isDeclaration);
    this.#bind(name, {binding: 'definition', to: index}, false);
    const scope = this.#scopes.current;
    this.#textUses.push({offset: this.tree.start(leaf) + offset, name, scope, definition: index});
  }

  /** Whether a bare name is a variable already, here or around in this function. */
  knows(name: string): boolean {
    return this.#scopes.knows(name);
  }

  /** What follows does not stand inside of the definition that was made last. */
  closeDefinition(): void {
    this.#around.pop();
  }

  /** Below `node` the members of a class are seen bare, although it is not around: `void A::f() {}`. */
  openMembers(node: number, container: readonly string[]): void {
    this.#scopes.open(node, 'function', container, true);
  }

  /** Names in a text that has no tree: the body of a macro. */
  textUses(start: number, text: string, except: ReadonlySet<string>): void {
    for (const {0: name, index} of text.matchAll(/(?<![\w"'.])[A-Za-z_]\w*(?=(\s*\()?)/g)) {
      if (!except.has(name)) this.#textUses.push({offset: start + index, name, scope: this.#scopes.current});
    }
  }

  /** This leaf is no use of its name. */
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
    const found = this.#rules.use(leaf, this);
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
    // `const {name} = require('x')`
    const how = binding === 'import' && kind === 'write' ? 'import' : kind;
    return {...place, kind: how, member: false, shorthand, binding, to, receiver: ''};
  }

  /** With those of macros, in the order of the file. */
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

  /** What a member is, when its object is `this`, a class of this file, or imported. */
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

  /** The type of a variable is known: what is a member of it belongs to the type. */
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

/** `Map<string, X>` is a `Map`, `*T` and `&mut T` a `T`. */
function getTypeName(type: string | undefined): string | undefined {
  const plain = type
    ?.replace(/^(?::\s*)?(?:[&*]|(?:mut|const|struct|class|union|enum|typename)\b|\?|\s|'\w+\b)*/, '')
    .replace(/\s*[<[?*&][\s\S]*$/, '');
  return plain !== undefined && /^[\p{L}_$][\w$.]*$/u.test(plain) ? plain : undefined;
}
