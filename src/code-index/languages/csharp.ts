/** Rules of C#. */
import type {DefinitionKind, ReferenceKind} from '../contract.ts';
import type {LanguageRules, NameUse, Rule} from '../syntax/facts-reader.ts';
import {NONE, type Node} from '../syntax/syntax-tree.ts';
import {
  bindLocal,
  bindNames,
  defineMethod,
  getKind,
  getVariableType,
  inheritAll,
  openBlock,
  openBlockWith,
  openFunction,
  readCatch,
} from './rules.ts';

/** Returns whether a member is visible outside of its class. Members of interfaces are public without a modifier. */
function isVisible(node: Node): boolean {
  const isOfInterface = node.parent.parent.type === 'interface_declaration';
  return isOfInterface || node.named('modifier').some(({text}) => /^(?:public|internal|protected)$/.test(text));
}

function defineClass(kind: DefinitionKind): Rule {
  return (node, reader) => {
    // A class outside of other classes is at least internal: the whole project sees it.
    reader.define(kind, node, {exported: !reader.isInClass || isVisible(node)});
    inheritAll(node, /^base_list$/, reader);
    reader.openScope(node, 'class');
    for (const parameter of node.child('parameter_list').named()) {
      reader.defineSingle('field', parameter, {exported: true});
    }
  };
}

const defineFields: Rule = (node, reader) => {
  const kind = node.named('modifier').some(({text}) => text === 'const') ? 'constant' : 'field';
  const declaration = node.child('variable_declaration');
  for (const declarator of declaration.named('variable_declarator')) {
    reader.defineSingle(kind, declarator, {exported: isVisible(node), type: declaration.field('type').text});
  }
};

function defineWithParameters(kind: DefinitionKind): Rule {
  return (node, reader) => {
    reader.define(kind, node);
    openFunction(node, reader);
  };
}

const bindDeclared: Rule = (node, reader) => {
  if (/^(?:event_)?field_declaration$/.test(node.parent.type)) return;
  for (const declarator of node.named('variable_declarator')) {
    reader.local(declarator.field('name'), getVariableType(node.field('type'), declarator));
    bindNames(declarator.child('tuple_pattern'), reader);
  }
};

const readUsing: Rule = (node, reader) => {
  const alias = node.field('name');
  const path = node.named().find((each) => each !== alias && /identifier|_name$/.test(each.type))?.text;
  if (path === undefined) return;
  const names = alias === NONE ? {imported: '*', local: '*'} : {imported: path.split('.').at(-1)!, local: alias.text};
  reader.import(node, path, [names]);
};

const openNamespace: Rule = (node, reader) => {
  reader.space ||= node.field('name').text;
  if (node.type === 'namespace_declaration') reader.openScope(node, 'module');
};

function getUse(leaf: Node): NameUse {
  const {parent, role} = leaf;
  const {type} = parent;
  if (/^(?:labeled|goto)_statement$/.test(type) && leaf.index <= parent.index + 2) return 'skip';
  if (leaf.above('using_directive') !== NONE) {
    return role === 'name' && type === 'using_directive' ? {kind: 'import'} : 'skip';
  }
  if (/namespace_declaration$/.test(parent.parent.type) || /namespace_declaration$/.test(type)) return 'skip';
  if (type === 'member_access_expression' && role === 'name') {
    // `this` is not a named node in this grammar.
    return {kind: getKind(parent), object: parent.field('expression').or(parent.first)};
  }
  if (type === 'qualified_name' && role === 'name') {
    return {kind: getTypeKind(parent), object: parent.field('qualifier')};
  }
  if (type === 'argument' && role === 'name') return 'skip';
  if (type === 'assignment_expression' && role === 'left' && parent.parent.type === 'initializer_expression') {
    return {kind: 'write', member: true};
  }
  if (type === 'member_binding_expression') return {kind: 'read', member: true};
  if (type === 'attribute') return {kind: 'type'};
  const isType =
    /^(?:type|returns)$/.test(role) ||
    /^(?:base_list|generic_name|type_argument_list|nullable_type|array_type)$/.test(type);
  return {kind: isType ? getTypeKind(leaf) : getKind(leaf)};
}

function getTypeKind({parent}: Node): ReferenceKind {
  const {type} = parent.type === 'generic_name' ? parent.parent : parent;
  if (/^(?:object_creation|invocation)_expression$/.test(type)) return 'call';
  return type === 'base_list' ? 'inherit' : 'type';
}

export const csharp: LanguageRules = {
  names: /^identifier$/,
  use: getUse,
  isExported: isVisible,
  seesMembersBare: true,
  rules: {
    using_directive: readUsing,
    'namespace_declaration file_scoped_namespace_declaration': openNamespace,
    'class_declaration record_declaration': defineClass('class'),
    struct_declaration: defineClass('struct'),
    interface_declaration: defineClass('interface'),
    enum_declaration: defineClass('enum'),
    enum_member_declaration: (node, reader) => reader.define('enum member', node, {exported: true}),
    delegate_declaration: defineWithParameters('type'),
    'method_declaration constructor_declaration': defineMethod,
    destructor_declaration: (node, reader) => {
      reader.skip(node.field('name'));
      reader.openScope(node, 'function');
    },
    property_declaration: defineWithParameters('field'),
    'field_declaration event_field_declaration': defineFields,
    local_function_statement: defineWithParameters('function'),
    'indexer_declaration operator_declaration lambda_expression anonymous_method_expression': openFunction,
    variable_declaration: bindDeclared,
    'declaration_pattern declaration_expression from_clause let_clause type_parameter': bindLocal,
    foreach_statement: openBlockWith('left'),
    'for_statement using_statement block switch_section': openBlock,
    catch_clause: readCatch((node) => node.child('catch_declaration').field('name')),
  },
};
