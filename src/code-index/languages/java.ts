/** Rules of Java. */
import type {ReferenceKind} from '../contract.ts';
import type {LanguageRules, NameUse, Rule} from '../syntax/facts-reader.ts';
import {NONE, type Node} from '../syntax/syntax-tree.ts';
import {
  bindLocal,
  define,
  defineClass,
  defineMethod,
  getKind,
  getVariableType,
  KEY,
  openBlock,
  openBlockWith,
  openFunction,
  readCatch,
} from './rules.ts';

const BASES = /^(?:superclass|super_interfaces|extends_interfaces|type_list)$/;

/** Returns whether a definition is not private, so that other classes may see it. */
function isVisible(node: Node): boolean {
  return !/\bprivate\b/.test(node.child('modifiers').text);
}

const defineRecord: Rule = (node, reader) => {
  defineClass('class', BASES)(node, reader);
  for (const parameter of node.field('parameters').named()) reader.defineSingle('field', parameter);
};

const defineVariables: Rule = (node, reader) => {
  const modifiers = node.child('modifiers').text;
  const isConstant =
    node.type === 'constant_declaration' || (/\bfinal\b/.test(modifiers) && /\bstatic\b/.test(modifiers));
  for (const declarator of node.named('variable_declarator')) {
    const type = getVariableType(node.field('type'), declarator);
    if (node.type === 'local_variable_declaration') reader.local(declarator.field('name'), type);
    else reader.defineSingle(isConstant ? 'constant' : 'field', declarator, {exported: isVisible(node), type});
  }
};

const readImport: Rule = (node, reader) => {
  const path = node.child('scoped_identifier', 'identifier').text;
  if (node.has('asterisk')) {
    reader.import(node, `${path}.*`, [{imported: '*', local: '*'}]);
    return;
  }
  const name = path.split('.').at(-1)!;
  const specifier = node.has('static') ? path.slice(0, -name.length - 1) : path;
  reader.import(node, specifier, [{imported: name, local: name}]);
};

function getUse(leaf: Node): NameUse {
  const {parent, role} = leaf;
  const {type} = parent;
  if (/^(?:labeled|break|continue)_statement$/.test(type) || leaf.above('package_declaration') !== NONE) return 'skip';
  if (leaf.above('import_declaration') !== NONE) {
    return parent.parent.type === 'import_declaration' && role === 'name' ? {kind: 'import'} : 'skip';
  }
  if (leaf.type === 'type_identifier') {
    if (type === 'scoped_type_identifier' && leaf !== parent.first) return {kind: 'type', object: parent.first};
    return {kind: getTypeKind(leaf)};
  }
  if (type === 'field_access' && role === 'field') return {kind: getKind(parent), object: parent.field('object')};
  if (type === 'method_invocation' && role === 'name') {
    return {kind: 'call', object: parent.field('object')};
  }
  if (type === 'method_reference' && leaf !== parent.first) return {kind: 'read', object: parent.first};
  if (type === 'element_value_pair' && role === 'key') return KEY;
  return {kind: /annotation$/.test(type) ? 'type' : getKind(leaf)};
}

function getTypeKind(leaf: Node): ReferenceKind {
  const {parent} = leaf;
  const holder = parent.type === 'generic_type' && leaf === parent.first ? parent.parent : parent;
  if (holder.type === 'object_creation_expression') return 'call';
  const list = holder.type === 'type_list' ? holder.parent : holder;
  return BASES.test(list.type) ? 'inherit' : 'type';
}

export const java: LanguageRules = {
  names: /^(?:type_)?identifier$/,
  use: getUse,
  isExported: isVisible,
  seesMembersBare: true,
  rules: {
    package_declaration: (node, reader) => {
      reader.space = node.child('scoped_identifier', 'identifier').text;
    },
    import_declaration: readImport,
    class_declaration: defineClass('class', BASES),
    record_declaration: defineRecord,
    'interface_declaration annotation_type_declaration': defineClass('interface', BASES),
    enum_declaration: defineClass('enum', BASES),
    enum_constant: define('enum member'),
    'method_declaration annotation_type_element_declaration constructor_declaration compact_constructor_declaration':
      defineMethod,
    'field_declaration constant_declaration local_variable_declaration': defineVariables,
    lambda_expression: openFunction,
    object_creation_expression: (node, reader) => {
      const body = node.child('class_body');
      if (body !== NONE) reader.openScope(body, 'class');
    },
    type_parameter: (node, reader) => reader.local(node.child('type_identifier')),
    catch_clause: readCatch((node) => node.child('catch_formal_parameter').field('name')),
    enhanced_for_statement: openBlockWith('name'),
    'for_statement try_with_resources_statement block switch_rule': openBlock,
    'resource instanceof_expression': bindLocal,
    type_pattern: (node, reader) => reader.local(node.child('identifier')),
  },
};
