/** Rules of C and C++. Both use the grammar of C++. */
import type {DefinitionKind, ReferenceKind} from '../contract.ts';
import type {FactsReader, LanguageRules, Leaf, NameUse, Rule} from '../syntax/facts-reader.ts';
import {NONE, type SyntaxTree} from '../syntax/syntax-tree.ts';
import {getKind, openBlock, openInnerBlock, reportEmptyCatch} from './rules.ts';

interface Declared {
  /** Leaf of the name. */
  readonly name: number;
  /** Classes and namespaces before the name: `A::B::name`. */
  readonly scopes: readonly string[];
  /** The declarator with the parameters; NONE when it is not a function. */
  readonly function: number;
}

/** Finds the name that a declarator declares, through pointers, arrays and functions. */
function findDeclared(declarator: number, tree: SyntaxTree): Declared | undefined {
  let at = declarator;
  let called: number = NONE;
  let isPointer = false;
  const scopes: string[] = [];
  for (;;) {
    const type = tree.type(at);
    if (/^(?:identifier|field_identifier|type_identifier|operator_name)$/.test(type)) {
      // `int (*f)(int)` declares a variable.
      return {name: at, scopes, function: isPointer ? NONE : called};
    }
    if (type === 'destructor_name') return {name: at, scopes, function: called};
    if (type === 'qualified_identifier') {
      const scope = tree.fieldText(at, 'scope').replace(/<[\s\S]*$/, '');
      if (scope !== '') scopes.push(scope);
      at = tree.field(at, 'name');
      if (tree.type(at) === 'template_function') at = tree.field(at, 'name');
      continue;
    }
    if (type === 'function_declarator') called = at;
    if (type === 'pointer_declarator' && called !== NONE) isPointer = true;
    const inner = tree.field(at, 'declarator');
    const next = inner === NONE ? tree.child(at, 'identifier', 'field_identifier', ...DECLARATORS) : inner;
    if (next === NONE) return undefined;
    at = next;
  }
}

const DECLARATORS = [
  'pointer_declarator',
  'reference_declarator',
  'function_declarator',
  'array_declarator',
  'init_declarator',
  'parenthesized_declarator',
  'qualified_identifier',
  'attributed_declarator',
];

function isStatic(node: number, tree: SyntaxTree): boolean {
  return [...tree.named(node)].some(
    (each) => tree.type(each) === 'storage_class_specifier' && tree.textOf(each) === 'static',
  );
}

const defineFunction: Rule = (node, reader, tree) => {
  const declared = findDeclared(tree.field(node, 'declarator'), tree);
  const isMember = reader.scopeKind === 'class';
  if (declared && /identifier$/.test(tree.type(declared.name))) {
    const container = [...reader.container, ...declared.scopes];
    const isMethod = isMember || declared.scopes.length > 0;
    const isConstructor = isMethod && container.at(-1) === tree.textOf(declared.name);
    reader.define(isConstructor ? 'constructor' : isMethod ? 'method' : 'function', node, {
      name: declared.name,
      exported: isMember || !isStatic(node, tree),
      container,
      ...(isConstructor ? {seen: 'nowhere'} : declared.scopes.length > 0 ? {seen: 'member'} : {}),
    });
    reader.openScope(node, 'function');
    // A body outside of the class sees the members of the class.
    if (declared.scopes.length > 0) reader.openMembers(node, container);
  } else reader.openScope(node, 'function');
  if (declared && declared.function !== NONE) readParameters(declared.function, reader, tree);
};

const readParameters: Rule = (node, reader, tree) => {
  for (const parameter of tree.named(tree.field(node, 'parameters'))) {
    const declared = findDeclared(tree.field(parameter, 'declarator'), tree);
    const type = tree.fieldText(parameter, 'type');
    if (declared) reader.local(declared.name, false, type);
  }
};

const defineDeclaration: Rule = (node, reader, tree) => {
  const modifiers = [...tree.named(node)].map((each) => tree.textOf(each));
  const isConstant =
    modifiers.includes('constexpr') || (modifiers.includes('const') && !tree.textOf(node).includes('*'));
  const declaration = modifiers.includes('extern');
  for (const declarator of tree.named(node)) {
    if (tree.role(declarator) !== 'declarator') continue;
    if (tree.type(declarator) === 'reference_declarator' && tree.has(declarator, 'structured_binding_declarator')) {
      bindStructured(declarator + 1, reader, tree);
      continue;
    }
    if (tree.type(declarator) === 'structured_binding_declarator') {
      bindStructured(declarator, reader, tree);
      continue;
    }
    const declared = findDeclared(declarator, tree);
    if (!declared || !/identifier$/.test(tree.type(declared.name))) continue;
    const exported = reader.scopeKind === 'class' || !isStatic(node, tree);
    if (declared.function !== NONE && tree.type(declarator) !== 'init_declarator')
      defineDeclared(declared, node, exported, reader);
    else if (reader.scopeKind === 'class' || declared.scopes.length > 0) {
      const container = [...reader.container, ...declared.scopes];
      reader.defineSingle('field', declarator, {name: declared.name, exported, container, seen: 'member'});
    } else if (reader.isOutside) {
      reader.defineSingle(isConstant ? 'constant' : 'variable', declarator, {
        name: declared.name,
        exported,
        declaration,
      });
    } else reader.local(declared.name, false, tree.fieldText(node, 'type'));
  }
};

/** Defines a prototype of a function or method. */
function defineDeclared(declared: Declared, node: number, exported: boolean, reader: FactsReader): void {
  const {tree} = reader;
  const isMember = reader.scopeKind === 'class';
  const isConstructor = isMember && reader.container.at(-1) === tree.textOf(declared.name);
  const kind: DefinitionKind = isConstructor ? 'constructor' : isMember ? 'method' : 'function';
  if (!reader.isOutside) return;
  const seen = isConstructor ? ({seen: 'nowhere'} as const) : {};
  reader.defineSingle(kind, node, {name: declared.name, exported, declaration: true, ...seen});
  reader.openScope(node, 'block');
  readParameters(declared.function, reader, tree);
}

const bindStructured: Rule = (node, reader, tree) => {
  for (const name of tree.named(node)) reader.local(name);
};

/** A struct without a body only refers to a definition elsewhere, so it defines nothing. */
function defineClass(kind: DefinitionKind): Rule {
  return (node, reader, tree) => {
    const body = tree.field(node, 'body');
    const name = tree.field(node, 'name');
    if (body === NONE) return;
    if (tree.type(name) === 'type_identifier') {
      reader.define(kind, node, {exported: true, ...(reader.scopeKind === 'class' ? {} : {seen: 'here'})});
    } else reader.openContainer(node, reader.container);
    for (const base of tree.named(tree.child(node, 'base_class_clause'))) {
      if (tree.type(base) !== 'access_specifier') reader.inherit(base);
    }
    reader.openScope(node, 'class');
  };
}

const defineEnum: Rule = (node, reader, tree) => {
  const body = tree.field(node, 'body');
  const name = tree.field(node, 'name');
  if (body === NONE) return;
  const isScoped = tree.has(node, 'class', 'struct');
  const around = reader.container;
  // The members of an unscoped enum are visible around the enum.
  for (const member of isScoped ? [] : tree.named(body)) {
    if (tree.type(member) !== 'enumerator') continue;
    const container = name === NONE ? around : [...around, tree.textOf(name)];
    reader.defineSingle('enum member', member, {exported: true, container});
  }
  if (tree.type(name) === 'type_identifier') reader.define('enum', node, {exported: true});
  if (isScoped) reader.openScope(node, 'class');
};

const defineEnumerator: Rule = (node, reader, tree) => {
  if (reader.scopeKind !== 'class' || !tree.has(tree.parent(tree.parent(node)), 'class', 'struct')) return;
  reader.define('enum member', node, {exported: true});
};

const defineTypedef: Rule = (node, reader, tree) => {
  for (const declarator of tree.named(node)) {
    if (tree.role(declarator) !== 'declarator') continue;
    const declared = findDeclared(declarator, tree);
    if (!declared) continue;
    reader.defineSingle('type', node, {name: declared.name, exported: true});
  }
};

const defineNamespace: Rule = (node, reader, tree) => {
  const name = tree.field(node, 'name');
  if (tree.type(name) === 'namespace_identifier') reader.define('module', node, {exported: true});
  else reader.openContainer(node, [...reader.container, ...(name === NONE ? [] : tree.textOf(name).split('::'))]);
  reader.openScope(node, 'module');
};

const defineMacro: Rule = (node, reader, tree) => {
  const isFunction = tree.type(node) === 'preproc_function_def';
  // A macro without a value is an include guard.
  if (!isFunction && tree.field(node, 'value') === NONE) {
    reader.skip(tree.field(node, 'name'));
    return;
  }
  reader.defineSingle('macro', node, {exported: true, seen: 'function'});
  const parameters = new Set([...tree.named(tree.field(node, 'parameters'))].map((each) => tree.textOf(each)));
  for (const each of tree.named(tree.field(node, 'parameters'))) reader.skip(each);
  const value = tree.field(node, 'value');
  if (value !== NONE) reader.textUses(tree.start(value), tree.textOf(value), parameters);
};

const readInclude: Rule = (node, reader, tree) => {
  const path = tree.fieldText(node, 'path');
  if (/^["<]/.test(path)) reader.import(node, path, [{imported: '*', local: '*'}]);
};

const readCatch: Rule = (node, reader, tree) => {
  reportEmptyCatch(node, reader, tree);
  reader.openScope(node, 'block');
  readParameters(node, reader, tree);
};

const readLambda: Rule = (node, reader, tree) => {
  reader.openScope(node, 'function');
  readParameters(tree.field(node, 'declarator'), reader, tree);
};

const readRange: Rule = (node, reader, tree) => {
  reader.openScope(node, 'block');
  const declarator = tree.field(node, 'declarator');
  const inner = tree.type(declarator) === 'reference_declarator' ? declarator + 2 : declarator;
  const structured = [declarator, inner].find((each) => tree.type(each) === 'structured_binding_declarator');
  if (structured !== undefined) bindStructured(structured, reader, tree);
  else {
    const declared = findDeclared(declarator, tree);
    if (declared) reader.local(declared.name);
  }
};

const readTypeParameter: Rule = (node, reader, tree) => {
  reader.local(tree.child(node, 'type_identifier'));
  const declared = findDeclared(tree.field(node, 'declarator'), tree);
  if (declared) reader.local(declared.name);
};

function getUse({leaf, parent, type, role}: Leaf, tree: SyntaxTree): NameUse | 'skip' {
  switch (tree.type(leaf)) {
    case 'statement_identifier':
      return 'skip';
    case 'namespace_identifier':
      return type === 'qualified_identifier' &&
        tree.type(tree.parent(parent)) === 'qualified_identifier' &&
        tree.role(parent) === 'name'
        ? {kind: 'read', object: NONE}
        : {kind: 'read'};
    case 'field_identifier':
      if (type !== 'field_expression') return {kind: 'write', object: NONE};
      return {kind: getKind(parent, tree), object: tree.field(parent, 'argument')};
  }
  if (type === 'qualified_identifier' && role === 'name') {
    const kind = tree.type(leaf) === 'type_identifier' ? getTypeKind(tree.parent(parent), tree) : getKind(parent, tree);
    const scope = tree.field(parent, 'scope');
    return scope === NONE ? {kind} : {kind, object: scope};
  }
  if (tree.type(leaf) === 'type_identifier') return {kind: getTypeKind(parent, tree)};
  return {kind: getKind(leaf, tree)};
}

function getTypeKind(parent: number, tree: SyntaxTree): ReferenceKind {
  const holder = tree.type(parent) === 'template_type' ? tree.parent(parent) : parent;
  if (tree.type(holder) === 'base_class_clause') return 'inherit';
  return tree.type(holder) === 'new_expression' ? 'call' : 'type';
}

export const cpp: LanguageRules = {
  names: new Set(['identifier', 'type_identifier', 'field_identifier', 'namespace_identifier', 'statement_identifier']),
  use: getUse,
  seesMembersBare: true,
  rules: {
    preproc_include: readInclude,
    preproc_def: defineMacro,
    preproc_function_def: defineMacro,
    function_definition: defineFunction,
    declaration: defineDeclaration,
    field_declaration: defineDeclaration,
    class_specifier: defineClass('class'),
    struct_specifier: defineClass('struct'),
    union_specifier: defineClass('struct'),
    enum_specifier: defineEnum,
    enumerator: defineEnumerator,
    type_definition: defineTypedef,
    alias_declaration: (node, reader) => {
      reader.defineSingle('type', node, {exported: true});
    },
    concept_definition: (node, reader) => reader.define('type', node, {exported: true}),
    namespace_definition: defineNamespace,
    type_parameter_declaration: readTypeParameter,
    optional_parameter_declaration: readTypeParameter,
    lambda_expression: readLambda,
    catch_clause: readCatch,
    for_range_loop: readRange,
    for_statement: openBlock,
    if_statement: openBlock,
    while_statement: openBlock,
    compound_statement: openInnerBlock,
  },
};
