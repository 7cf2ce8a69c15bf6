/** Rules of PHP. Variables begin with `$` and are never definitions; fields of classes are. */
import type {ReferenceKind} from '../contract.ts';
import type {LanguageRules, NameUse, Rule} from '../syntax/facts-reader.ts';
import {NONE, type Node} from '../syntax/syntax-tree.ts';
import {define, defineClass, getKind, KEY, reportEmptyCatch} from './rules.ts';

const BASES = /^(?:base_clause|class_interface_clause)$/;

function isVisible(node: Node): boolean {
  return node.child('visibility_modifier').text !== 'private';
}

const defineFunction: Rule = (node, reader) => {
  const isMember = reader.isInClass;
  const isConstructor = isMember && node.field('name').text === '__construct';
  reader.define(isConstructor ? 'constructor' : isMember ? 'method' : 'function', node, {
    declaration: node.field('body') === NONE,
    seen: isMember ? undefined : 'function',
  });
  for (const parameter of isConstructor ? node.field('parameters').named('property_promotion_parameter') : []) {
    const name = parameter.field('name').child('name');
    reader.defineSingle('field', parameter, {name, container: reader.container.slice(0, -1), seen: 'member'});
  }
  reader.openScope(node, 'function');
};

const defineFields: Rule = (node, reader) => {
  const exported = isVisible(node);
  for (const element of node.named('property_element')) {
    reader.defineSingle('field', element, {name: element.field('name').child('name'), exported});
  }
  for (const element of node.named('const_element')) {
    reader.defineSingle('constant', element, {name: element.child('name'), exported});
  }
};

const readUse: Rule = (node, reader) => {
  const before = node.child('namespace_name').text;
  for (const clause of node.field('body').or(node).named('namespace_use_clause')) {
    const name = clause.child('qualified_name', 'name').text.replace(/^\\/, '');
    const whole = [before, name].filter(Boolean).join('\\');
    const imported = whole.split('\\').at(-1)!;
    reader.import(clause, whole, [{imported, local: clause.field('alias').text || imported}]);
  }
};

/** Returns the content of the first string in a node. */
function findString(node: Node): Node {
  return node.below().find(({type}) => type === 'string_content') ?? NONE;
}

const readInclude: Rule = (node, reader) => {
  const {text} = findString(node);
  if (text !== '') reader.import(node, `./${text.replace(/^\.?\//, '')}`, [{imported: '*', local: '*'}]);
};

/** Reads the constant of `define('NAME', …)`. */
const readCall: Rule = (node, reader) => {
  if (node.field('function').text === 'define') reader.defineText(findString(node), 'constant', node, 0);
};

function getUse(leaf: Node): NameUse {
  const {parent, role} = leaf;
  const {type} = parent;
  if (type === 'variable_name') return getVariableUse(parent);
  if (leaf.above('namespace_definition') === parent.parent && type === 'namespace_name') return 'skip';
  const clause = type === 'namespace_use_clause' ? parent : parent.parent;
  if (clause.type === 'namespace_use_clause') {
    return {kind: 'import', member: role !== 'alias' && clause.field('alias') !== NONE};
  }
  if (/^(?:nullsafe_)?member_(?:access|call)_expression$/.test(type) && role === 'name') {
    return {kind: getMemberKind(parent), object: parent.field('object')};
  }
  if (type === 'scoped_call_expression' && role === 'name') return {kind: 'call', object: parent.field('scope')};
  if (type === 'class_constant_access_expression' && leaf !== parent.first) {
    return {kind: 'read', object: parent.first};
  }
  if (type === 'namespace_name') return 'skip';
  if (type === 'argument' && role === 'name') return KEY;
  return {kind: type === 'qualified_name' ? getNameKind(parent) : getNameKind(leaf)};
}

/** A variable is a use only when it names a static field: `X::$name`. */
function getVariableUse({parent, role}: Node): NameUse {
  if (parent.type !== 'scoped_property_access_expression' || role !== 'name') return 'skip';
  return {kind: getMemberKind(parent), object: parent.field('scope')};
}

function getNameKind(node: Node): ReferenceKind {
  const {type} = node.parent;
  if (BASES.test(type) || type === 'use_declaration') return 'inherit';
  if (type === 'object_creation_expression') return 'call';
  return type === 'named_type' ? 'type' : getKind(node);
}

function getMemberKind(node: Node): ReferenceKind {
  return /call_expression$/.test(node.type) ? 'call' : getKind(node);
}

export const php: LanguageRules = {
  names: /^name$/,
  use: getUse,
  isExported: isVisible,
  rules: {
    namespace_definition: (node, reader) => {
      reader.space = node.field('name').text;
    },
    namespace_use_declaration: readUse,
    'require_expression require_once_expression include_expression include_once_expression': readInclude,
    'class_declaration anonymous_class': defineClass('class', BASES),
    interface_declaration: defineClass('interface', BASES),
    trait_declaration: defineClass('trait', BASES),
    enum_declaration: defineClass('enum', BASES),
    enum_case: define('enum member'),
    'method_declaration function_definition': defineFunction,
    'property_declaration const_declaration': defineFields,
    use_declaration: (node, reader) => {
      for (const base of node.named()) reader.inherit(base);
    },
    function_call_expression: readCall,
    catch_clause: reportEmptyCatch,
  },
};
