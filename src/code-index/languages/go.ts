/** Rules of Go. */
import type {DefinitionKind} from '../contract.ts';
import type {LanguageRules, NameUse, Rule} from '../syntax/facts-reader.ts';
import {NONE, type Node} from '../syntax/syntax-tree.ts';
import {getKind, KEY, openBlock, openInnerBlock} from './rules.ts';

const getNames = (node: Node): Node[] => node.named().filter(({role}) => role === 'name');

const openFunction: Rule = (node, reader) => {
  reader.openScope(node, 'function');
  for (const role of ['receiver', 'parameters', 'result', 'type_parameters']) {
    for (const parameter of node.field(role).named()) {
      for (const name of getNames(parameter)) reader.local(name, parameter.field('type').text);
    }
  }
};

const defineMethod: Rule = (node, reader) => {
  const receiver = node
    .field('receiver')
    .below()
    .find(({type}) => type === 'type_identifier');
  reader.define('method', node, {container: receiver ? [receiver.text] : [], seen: 'member'});
  openFunction(node, reader);
};

const defineType: Rule = (node, reader) => {
  const type = node.field('type');
  const kinds: Record<string, DefinitionKind> = {struct_type: 'struct', interface_type: 'interface'};
  reader.define(kinds[type.type] ?? 'type', node);
  reader.openScope(node, 'class');
  for (const parameter of node.field('type_parameters').named()) reader.local(parameter.field('name'));
  // An embedded type passes on its methods.
  for (const part of type.below()) {
    if (!isEmbedded(part) && part.type !== 'type_elem') continue;
    const base = part.child('type_identifier', 'qualified_type', 'generic_type');
    if (base !== NONE) reader.inherit(base);
  }
};

function isEmbedded(field: Node): boolean {
  return field.type === 'field_declaration' && field.field('name') === NONE;
}

function defineAll(kind: DefinitionKind): Rule {
  return (node, reader) => {
    const type = node.field('type').text;
    for (const name of getNames(node)) reader.variable(name, kind, node, {type});
  };
}

const defineFields: Rule = (node, reader) => {
  // The fields of an anonymous struct have no owner, so they are not definitions.
  if (node.parent.parent.parent.type !== 'type_spec') return;
  for (const name of getNames(node)) reader.define('field', node, {name, seen: 'member'});
};

/** Binds the variables of `a, b := …`. */
const bindLeft: Rule = (node, reader) => {
  if (!node.has(':=')) return;
  const [value = NONE, another] = node.field('right').named();
  const literal = value.type === 'unary_expression' ? value.field('operand') : value;
  const isOne = !another && literal.type === 'composite_literal';
  const type = isOne ? literal.field('type').text : undefined;
  for (const name of node.field('left').or(node.field('alias')).named()) {
    if (name.type === 'identifier') reader.local(name, type);
  }
};

const readImport: Rule = (node, reader) => {
  const specifier = node.field('path').text.slice(1, -1);
  const name = node.field('name').text;
  // Without an alias the local name is the package's name, which is usually the last part of its path.
  const last = specifier
    .replace(/\/v\d+$/, '')
    .split('/')
    .at(-1)!
    .replace(/\.v\d+$/, '')
    .replace(/^go-|[-.]go$/, '');
  const local = name === '.' ? '*' : name || last;
  reader.import(node, specifier, local === '_' ? [] : [{imported: '*', local}]);
};

function getUse(leaf: Node): NameUse {
  const {parent, role} = leaf;
  const {type} = parent;
  switch (leaf.type) {
    case 'package_identifier':
      return /package_clause/.test(type) ? 'skip' : {kind: type === 'import_spec' ? 'import' : 'read'};
    case 'field_identifier':
      return type === 'selector_expression' ? {kind: getKind(parent), object: parent.field('operand')} : KEY;
    case 'type_identifier':
      if (type === 'qualified_type') return {kind: 'type', object: parent.field('package')};
      return {kind: type === 'type_elem' || (isEmbedded(parent) && role === 'type') ? 'inherit' : 'type'};
  }
  // The key in `S{name: 1}` is a field. In a map, slice or array it is not.
  const isKey = type === 'literal_element' && parent.role === 'key';
  const literal = isKey ? parent.above('composite_literal').field('type').type : '';
  return isKey && !/^(?:map|slice|array)_type$/.test(literal) ? KEY : {kind: getKind(leaf)};
}

export const go: LanguageRules = {
  names: /^(?:type_|field_|package_)?identifier$/,
  use: getUse,
  isExported: (_, name) => /^\p{Lu}/u.test(name),
  rules: {
    package_clause: (node, reader) => {
      reader.space = node.child('package_identifier').text;
    },
    import_spec: readImport,
    function_declaration: (node, reader) => {
      reader.define('function', node);
      openFunction(node, reader);
    },
    method_declaration: defineMethod,
    func_literal: openFunction,
    'type_spec type_alias': defineType,
    const_spec: defineAll('constant'),
    var_spec: defineAll('variable'),
    field_declaration: defineFields,
    method_elem: (node, reader) => {
      reader.define('method', node, {declaration: true, seen: 'member'});
      openBlock(node, reader);
    },
    'short_var_declaration range_clause receive_statement': bindLeft,
    type_switch_statement: (node, reader) => {
      openBlock(node, reader);
      bindLeft(node, reader);
    },
    block: openInnerBlock,
    'if_statement for_statement expression_switch_statement expression_case type_case default_case communication_case':
      openBlock,
  },
};
