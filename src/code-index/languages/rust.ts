/** Rules of Rust. */
import type {DefinitionKind, ReferenceKind} from '../contract.ts';
import type {FactsReader, LanguageRules, Leaf, NameUse, Rule} from '../syntax/facts-reader.ts';
import {NONE, type SyntaxTree} from '../syntax/syntax-tree.ts';
import {bindLocal, getKind, openBlock, openInnerBlock} from './rules.ts';

function isPublic(node: number, tree: SyntaxTree): boolean {
  return tree.has(node, 'visibility_modifier');
}

function define(kind: DefinitionKind): Rule {
  return (node, reader, tree) => {
    reader.define(kind, node, {exported: isPublic(node, tree)});
  };
}

const defineFunction: Rule = (node, reader, tree) => {
  const isMember = reader.scopeKind === 'class';
  const declaration = tree.type(node) === 'function_signature_item';
  reader.define(isMember ? 'method' : 'function', node, {
    exported: isPublic(node, tree),
    declaration,
  });
  reader.openScope(node, 'function');
  readParameters(node, reader, tree);
};

const readParameters: Rule = (node, reader, tree) => {
  for (const parameter of tree.named(tree.field(node, 'parameters'))) {
    const pattern = tree.field(parameter, 'pattern');
    const type = tree.fieldText(parameter, 'type');
    if (tree.type(pattern) === 'identifier') reader.local(pattern, false, type);
    else bindPattern(pattern === NONE ? parameter : pattern, reader, tree);
  }
};

/** Binds the names of a pattern. A capitalized name is a constant or a variant, so it binds nothing. */
const bindPattern: Rule = (node, reader, tree) => {
  const type = tree.type(node);
  const bind = (leaf: number) => {
    if (!/^[A-Z]/.test(tree.textOf(leaf))) reader.local(leaf);
  };
  if (type === 'identifier' || type === 'shorthand_field_identifier') bind(node);
  if (!/_pattern$/.test(type)) return;
  const isStruct = type === 'tuple_struct_pattern' || type === 'struct_pattern';
  for (const child of tree.named(node)) {
    const isName = (isStruct && tree.role(child) === 'type') || tree.role(child) === 'condition';
    const isField = type === 'field_pattern' && tree.type(child) === 'field_identifier';
    if (!isName && !isField) bindPattern(child, reader, tree);
  }
};

function defineStruct(kind: DefinitionKind): Rule {
  return (node, reader, tree) => {
    reader.define(kind, node, {exported: isPublic(node, tree)});
    for (const base of tree.named(tree.field(node, 'bounds'))) reader.inherit(base);
    reader.openScope(node, 'class');
  };
}

/** Opens the container of `impl Trait for Type`: definitions inside belong to the type. */
const openImpl: Rule = (node, reader, tree) => {
  const type = tree.fieldText(node, 'type');
  const name = type
    .replace(/<[\s\S]*$/, '')
    .split('::')
    .at(-1)!
    .trim();
  const trait = tree.field(node, 'trait');
  if (trait !== NONE) reader.inherit(trait, name);
  const around = reader.container;
  reader.openContainer(node, /^\w+$/.test(name) ? [...around, name] : around);
  reader.openScope(node, 'class');
};

const readUse: Rule = (node, reader, tree) => {
  const reexport = isPublic(node, tree);
  collectUses(tree.field(node, 'argument'), '', node, reexport, reader);
};

function collectUses(part: number, before: string, node: number, reexport: boolean, reader: FactsReader): void {
  const {tree} = reader;
  const join = (path: string) => [before, path].filter(Boolean).join('::');
  const add = (whole: string, local: string) => {
    const at = whole.lastIndexOf('::');
    const [specifier, imported] = at < 0 ? ['', whole] : [whole.slice(0, at), whole.slice(at + 2)];
    reader.import(node, specifier || imported, [specifier ? {imported, local} : {imported: '*', local}]);
    if (reexport) reader.export(local, local);
  };
  switch (tree.type(part)) {
    case 'scoped_use_list':
      for (const each of tree.named(tree.field(part, 'list'))) {
        collectUses(each, join(tree.fieldText(part, 'path')), node, reexport, reader);
      }
      return;
    case 'use_list':
      for (const each of tree.named(part)) collectUses(each, before, node, reexport, reader);
      return;
    case 'use_wildcard':
      reader.import(node, join(tree.textOf(part + 1)), [{imported: '*', local: '*'}], reexport);
      return;
    case 'use_as_clause':
      add(join(tree.fieldText(part, 'path')), tree.fieldText(part, 'alias'));
      return;
    case 'self':
      add(before, before.split('::').at(-1)!);
      return;
    default: {
      const whole = join(tree.textOf(part));
      add(whole, whole.split('::').at(-1)!);
    }
  }
}

const defineModule: Rule = (node, reader, tree) => {
  const name = tree.field(node, 'name');
  if (tree.field(node, 'body') === NONE) {
    const local = tree.textOf(name);
    reader.import(node, `self::${local}`, [{imported: '*', local}]);
    if (isPublic(node, tree)) reader.export(local, local);
    return;
  }
  reader.define('module', node, {exported: isPublic(node, tree)});
  reader.openScope(node, 'module');
};

const bind =
  (role: string): Rule =>
  (node, reader, tree) =>
    bindPattern(tree.field(node, role), reader, tree);

function getUse({leaf, parent, type, role}: Leaf, tree: SyntaxTree): NameUse | 'skip' {
  if (type === 'lifetime' || type === 'lifetime_parameter') return 'skip';
  if (tree.above(leaf, 'use_declaration') !== NONE) return getImportUse(leaf, parent, tree);
  switch (tree.type(leaf)) {
    case 'shorthand_field_identifier':
      return {kind: 'write', shorthand: true};
    case 'field_identifier':
      if (type !== 'field_expression') return {kind: 'write', object: NONE};
      return {kind: getKind(parent, tree), object: tree.field(parent, 'value')};
  }
  if (/^scoped_(?:type_)?identifier$/.test(type)) {
    const kind = getRustKind(parent, tree);
    if (role !== 'name') return {kind: 'read'};
    const path = tree.field(parent, 'path');
    const last = /^scoped/.test(tree.type(path)) ? tree.field(path, 'name') : path;
    return {kind, object: last};
  }
  if (type === 'shorthand_field_initializer') return {kind: 'read', shorthand: true};
  if (type === 'token_tree') return getTokenUse(leaf, tree);
  return {kind: tree.type(leaf) === 'type_identifier' ? getTypeKind(leaf, parent, tree) : getRustKind(leaf, tree)};
}

/** Finds the use of a name in a macro call, whose tokens have no structure: `.`, `:` and `(` around the name decide. */
function getTokenUse(leaf: number, tree: SyntaxTree): NameUse {
  const before = tree.text[tree.start(leaf) - 1];
  const after = tree.text[tree.end(leaf)];
  const kind = after === '(' ? 'call' : 'read';
  return before === '.' || before === ':' ? {kind, object: leaf - 2} : {kind};
}

function getImportUse(leaf: number, parent: number, tree: SyntaxTree): NameUse | 'skip' {
  const type = tree.type(parent);
  const isLast =
    type === 'use_list' ||
    type === 'use_declaration' ||
    (type === 'scoped_identifier' && tree.role(leaf) === 'name' && !/^scoped/.test(tree.type(tree.parent(parent))));
  if (type === 'use_as_clause' && tree.role(leaf) === 'alias') return {kind: 'import'};
  const isAliased = type === 'use_as_clause' || tree.type(tree.parent(parent)) === 'use_as_clause';
  if (isAliased)
    return tree.role(leaf) === 'name' || type === 'use_as_clause' ? {kind: 'import', object: NONE} : 'skip';
  return isLast ? {kind: 'import'} : 'skip';
}

/** A macro is called by its name. */
function getRustKind(node: number, tree: SyntaxTree): ReferenceKind {
  return tree.role(node) === 'macro' ? 'call' : getKind(node, tree);
}

function getTypeKind(leaf: number, parent: number, tree: SyntaxTree): ReferenceKind {
  const role = tree.role(leaf);
  const isGeneric = tree.type(parent) === 'generic_type';
  if (role === 'trait' || (isGeneric && tree.role(parent) === 'trait')) return 'inherit';
  if (tree.type(parent) === 'trait_bounds' && tree.type(tree.parent(parent)) === 'trait_item') return 'inherit';
  return 'type';
}

export const rust: LanguageRules = {
  names: new Set(['identifier', 'type_identifier', 'field_identifier', 'shorthand_field_identifier']),
  use: getUse,
  rules: {
    use_declaration: readUse,
    extern_crate_declaration: (node, reader, tree) => {
      const name = tree.fieldText(node, 'name');
      reader.import(node, name, [{imported: '*', local: tree.fieldText(node, 'alias') || name}]);
    },
    mod_item: defineModule,
    function_item: defineFunction,
    function_signature_item: defineFunction,
    struct_item: defineStruct('struct'),
    union_item: defineStruct('struct'),
    enum_item: defineStruct('enum'),
    trait_item: defineStruct('trait'),
    impl_item: openImpl,
    field_declaration: define('field'),
    enum_variant: define('enum member'),
    const_item: define('constant'),
    static_item: define('variable'),
    type_item: define('type'),
    associated_type: define('type'),
    macro_definition: define('macro'),
    type_parameter: bindLocal('name'),
    closure_expression: (node, reader, tree) => {
      reader.openScope(node, 'function');
      readParameters(node, reader, tree);
    },
    let_declaration: (node, reader, tree) => {
      const pattern = tree.field(node, 'pattern');
      const [, made] = /^&?([A-Z]\w*)(?:::\w+\(|\s*\{)/.exec(tree.fieldText(node, 'value')) ?? [];
      const type = tree.fieldText(node, 'type') || made;
      if (tree.type(pattern) === 'identifier') reader.local(pattern, false, type);
      else bindPattern(pattern, reader, tree);
    },
    let_condition: bind('pattern'),
    for_expression: (node, reader, tree) => {
      reader.openScope(node, 'block');
      bind('pattern')(node, reader, tree);
    },
    match_arm: (node, reader, tree) => {
      reader.openScope(node, 'block');
      for (const part of tree.named(tree.field(node, 'pattern'))) bindPattern(part, reader, tree);
    },
    block: openInnerBlock,
    if_expression: openBlock,
    while_expression: openBlock,
  },
};
