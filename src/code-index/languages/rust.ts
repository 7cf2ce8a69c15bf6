/** Rules of Rust. */
import type {ReferenceKind} from '../contract.ts';
import type {FactsReader, LanguageRules, NameUse, Rule} from '../syntax/facts-reader.ts';
import {NONE, type Node} from '../syntax/syntax-tree.ts';
import {
  bindLocal,
  define,
  defineClass,
  findBound,
  getKind,
  KEY,
  openBlock,
  openFunction,
  openInnerBlock,
} from './rules.ts';

function isPublic(node: Node): boolean {
  return node.has('visibility_modifier');
}

const defineFunction: Rule = (node, reader) => {
  const declaration = node.type === 'function_signature_item';
  reader.define(reader.isInClass ? 'method' : 'function', node, {declaration});
  openFunction(node, reader);
};

/** Binds the names of a pattern. A capitalized name is a constant or a variant, so it binds nothing. */
const bindPattern: Rule = (pattern, reader) => {
  for (const name of findBound(pattern)) if (!/^[A-Z]/.test(name.text)) reader.local(name);
};

const bindVariable: Rule = (node, reader) => {
  const pattern = node.field('pattern');
  const [, made] = /^&?([A-Z]\w*)(?:::\w+\(|\s*\{)/.exec(node.field('value').text) ?? [];
  if (pattern.type === 'identifier') reader.local(pattern, node.field('type').text || made);
  else bindPattern(pattern, reader);
};

/** Opens the container of `impl Trait for Type`: definitions inside belong to the type. */
const openImpl: Rule = (node, reader) => {
  const path = node.field('type').text.replace(/<[\s\S]*$/, '');
  const name = path.split('::').at(-1)!.trim();
  const trait = node.field('trait');
  if (trait !== NONE) reader.inherit(trait, name);
  const around = reader.container;
  reader.openContainer(node, /^\w+$/.test(name) ? [...around, name] : around);
  reader.openScope(node, 'class');
};

/** Reads `use a::{b, c as d, e::*}`: one import for each name. @param before the path in front of the part */
function readUse(part: Node, before: string, node: Node, reader: FactsReader): void {
  const reexport = isPublic(node);
  const path = part.type === 'use_wildcard' ? part.first : part.type === 'self' ? NONE : part;
  const isClause = /^(?:use_as_clause|scoped_use_list)$/.test(part.type);
  const whole = [before, (isClause ? part.field('path') : path).text].filter(Boolean).join('::');
  if (part.type === 'use_list') for (const each of part.named()) readUse(each, before, node, reader);
  else if (part.type === 'scoped_use_list') readUse(part.field('list'), whole, node, reader);
  else if (part.type === 'use_wildcard') reader.import(node, whole, [{imported: '*', local: '*'}], reexport);
  else {
    const parts = whole.split('::');
    const name = parts.pop()!;
    const local = part.field('alias').text || name;
    reader.import(node, parts.join('::') || name, [{imported: parts.length > 0 ? name : '*', local}]);
    if (reexport) reader.export(local);
  }
}

const defineModule: Rule = (node, reader) => {
  if (node.field('body') !== NONE) {
    define('module', 'module')(node, reader);
    return;
  }
  const local = node.field('name').text;
  reader.import(node, `self::${local}`, [{imported: '*', local}]);
  if (isPublic(node)) reader.export(local);
};

function getUse(leaf: Node): NameUse {
  const {parent, role} = leaf;
  const {type} = parent;
  if (type === 'lifetime' || type === 'lifetime_parameter') return 'skip';
  if (leaf.above('use_declaration') !== NONE) return getImportUse(leaf);
  if (leaf.type === 'shorthand_field_identifier') return {kind: 'write', shorthand: true};
  if (leaf.type === 'field_identifier') {
    return type === 'field_expression' ? {kind: getKind(parent), object: parent.field('value')} : KEY;
  }
  if (/^scoped_(?:type_)?identifier$/.test(type)) {
    if (role !== 'name') return {kind: 'read'};
    const path = parent.field('path');
    const kind = leaf.type === 'type_identifier' ? getTypeKind(parent) : getRustKind(parent);
    // The last part names the type, but in the standard library it is another one.
    const isOwn = /^scoped/.test(path.type) && !/^(?:std|core)::/.test(path.text);
    return {kind, object: isOwn ? path.field('name') : path, member: true};
  }
  if (type === 'shorthand_field_initializer') return {kind: 'read', shorthand: true};
  if (type === 'token_tree') return getTokenUse(leaf);
  return {kind: leaf.type === 'type_identifier' ? getTypeKind(leaf) : getRustKind(leaf)};
}

/** Finds the use of a name in a macro call, whose tokens have no structure: `.`, `:` and `(` around the name decide. */
function getTokenUse(leaf: Node): NameUse {
  const isDerived = leaf.above('attribute').first.text === 'derive';
  const kind = isDerived ? 'inherit' : leaf.step(1).text.startsWith('(') ? 'call' : 'read';
  return /^(?:\.|::)$/.test(leaf.step(-1).text) ? {kind, object: leaf.step(-2)} : {kind};
}

function getImportUse({parent, role}: Node): NameUse {
  const {type} = parent;
  if (type === 'use_as_clause') return {kind: 'import', member: role !== 'alias'};
  if (parent.parent.type === 'use_as_clause') return role === 'name' ? {kind: 'import', member: true} : 'skip';
  const isLast = type === 'scoped_identifier' && role === 'name' && !/^scoped/.test(parent.parent.type);
  return isLast || type === 'use_list' || type === 'use_declaration' ? {kind: 'import'} : 'skip';
}

/** A macro is called by its name. */
function getRustKind(node: Node): ReferenceKind {
  return node.role === 'macro' ? 'call' : getKind(node);
}

function getTypeKind({parent, role}: Node): ReferenceKind {
  if (parent.type === 'generic_type' && role === 'type') return getTypeKind(parent);
  if (parent.type === 'impl_item' && role === 'trait') return 'inherit';
  return parent.type === 'trait_bounds' && parent.parent.type === 'trait_item' ? 'inherit' : 'type';
}

export const rust: LanguageRules = {
  names: /^(?:type_|(?:shorthand_)?field_)?identifier$/,
  use: getUse,
  isExported: isPublic,
  rules: {
    use_declaration: (node, reader) => readUse(node.field('argument'), '', node, reader),
    extern_crate_declaration: (node, reader) => {
      const name = node.field('name').text;
      reader.import(node, name, [{imported: '*', local: node.field('alias').text || name}]);
    },
    mod_item: defineModule,
    'function_item function_signature_item': defineFunction,
    'struct_item union_item': defineClass('struct'),
    enum_item: defineClass('enum'),
    trait_item: defineClass('trait', /^trait_bounds$/),
    impl_item: openImpl,
    field_declaration: define('field'),
    enum_variant: define('enum member'),
    const_item: define('constant'),
    static_item: define('variable'),
    'type_item associated_type': define('type'),
    macro_definition: define('macro'),
    type_parameter: bindLocal,
    closure_expression: openFunction,
    let_declaration: bindVariable,
    let_condition: (node, reader) => bindPattern(node.field('pattern'), reader),
    'for_expression match_arm': (node, reader) => {
      openBlock(node, reader);
      bindPattern(node.field('pattern'), reader);
    },
    block: openInnerBlock,
    'if_expression while_expression': openBlock,
  },
};
