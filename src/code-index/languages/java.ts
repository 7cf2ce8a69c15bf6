/** Rules of Java. */
import type {DefinitionKind, ReferenceKind} from '../contract.ts';
import type {LanguageRules, Leaf, NameUse, Rule} from '../syntax/facts-reader.ts';
import {NONE, type SyntaxTree} from '../syntax/syntax-tree.ts';
import {bindLocal, defineMethod, getKind, openBlock, readCatch} from './rules.ts';

/** Returns whether a definition is not private, so that other classes may see it. */
function isVisible(node: number, tree: SyntaxTree): boolean {
  const modifiers = tree.textOf(tree.child(node, 'modifiers'));
  return !/\bprivate\b/.test(modifiers);
}

function defineClass(kind: DefinitionKind): Rule {
  return (node, reader, tree) => {
    reader.define(kind, node, {exported: isVisible(node, tree)});
    for (const clause of tree.named(node)) {
      if (!/^(?:superclass|super_interfaces|extends_interfaces)$/.test(tree.type(clause))) continue;
      const list = tree.child(clause, 'type_list');
      for (const base of tree.named(list === NONE ? clause : list)) reader.inherit(base);
    }
    reader.openScope(node, 'class');
    for (const parameter of tree.named(kind === 'class' ? tree.field(node, 'parameters') : NONE)) {
      reader.defineSingle('field', parameter);
    }
  };
}

const readMethod: Rule = (node, reader, tree) => {
  defineMethod(node, reader, isVisible(node, tree));
  reader.openScope(node, 'function');
  readParameters(node, reader, tree);
};

const readParameters: Rule = (node, reader, tree) => {
  const parameters = tree.field(node, 'parameters');
  if (tree.type(parameters) === 'identifier') reader.local(parameters);
  for (const parameter of tree.named(parameters)) {
    if (tree.type(parameter) === 'identifier') reader.local(parameter);
    const declarator = tree.child(parameter, 'variable_declarator');
    const type = tree.fieldText(parameter, 'type');
    reader.local(tree.field(declarator === NONE ? parameter : declarator, 'name'), false, type);
  }
};

const defineVariables: Rule = (node, reader, tree) => {
  const isLocal = tree.type(node) === 'local_variable_declaration';
  const modifiers = tree.textOf(tree.child(node, 'modifiers'));
  const isConstant =
    tree.type(node) === 'constant_declaration' || (/\bfinal\b/.test(modifiers) && /\bstatic\b/.test(modifiers));
  for (const declarator of tree.named(node, 'variable_declarator')) {
    const name = tree.field(declarator, 'name');
    const written = tree.fieldText(node, 'type');
    const value = tree.field(declarator, 'value');
    const isMade = written === 'var' && tree.type(value) === 'object_creation_expression';
    const type = isMade ? tree.fieldText(value, 'type') : written;
    if (isLocal) reader.local(name, false, type);
    else {
      reader.defineSingle(isConstant ? 'constant' : 'field', declarator, {name, exported: isVisible(node, tree), type});
    }
  }
};

const readImport: Rule = (node, reader, tree) => {
  const path = tree.textOf(tree.child(node, 'scoped_identifier', 'identifier'));
  if (tree.has(node, 'asterisk')) {
    reader.import(node, `${path}.*`, [{imported: '*', local: '*'}]);
    return;
  }
  const name = path.split('.').at(-1)!;
  const isStatic = tree.has(node, 'static');
  reader.import(node, isStatic ? path.slice(0, -name.length - 1) : path, [{imported: name, local: name}]);
};

function getUse({leaf, parent, type, role}: Leaf, tree: SyntaxTree): NameUse | 'skip' {
  if (/^(?:labeled|break|continue)_statement$/.test(type) || tree.above(leaf, 'package_declaration') !== NONE)
    return 'skip';
  if (tree.above(leaf, 'import_declaration') !== NONE) {
    return tree.type(tree.parent(parent)) === 'import_declaration' && role === 'name' ? {kind: 'import'} : 'skip';
  }
  if (tree.type(leaf) === 'type_identifier') {
    if (type === 'scoped_type_identifier' && leaf !== parent + 1) return {kind: 'type', object: leaf - 1};
    return {kind: getTypeKind(leaf, parent, tree)};
  }
  if (type === 'field_access' && role === 'field')
    return {kind: getKind(parent, tree), object: tree.field(parent, 'object')};
  if (type === 'method_invocation' && role === 'name') {
    const object = tree.field(parent, 'object');
    return object === NONE ? {kind: 'call'} : {kind: 'call', object};
  }
  if (type === 'method_reference' && leaf !== parent + 1) return {kind: 'read', object: parent + 1};
  if (type === 'element_value_pair' && role === 'key') return {kind: 'write', object: NONE};
  if (/annotation$/.test(type)) return {kind: 'type'};
  return {kind: getKind(leaf, tree)};
}

function getTypeKind(leaf: number, parent: number, tree: SyntaxTree): ReferenceKind {
  const holder = tree.type(parent) === 'generic_type' && leaf === parent + 1 ? tree.parent(parent) : parent;
  if (tree.type(holder) === 'object_creation_expression') return 'call';
  const above = tree.type(holder) === 'type_list' ? tree.parent(holder) : holder;
  return /^(?:superclass|super_interfaces|extends_interfaces)$/.test(tree.type(above)) ? 'inherit' : 'type';
}

export const java: LanguageRules = {
  names: new Set(['identifier', 'type_identifier']),
  use: getUse,
  seesMembersBare: true,
  rules: {
    package_declaration: (node, reader, tree) => {
      reader.space = tree.textOf(tree.child(node, 'scoped_identifier', 'identifier'));
    },
    import_declaration: readImport,
    class_declaration: defineClass('class'),
    record_declaration: defineClass('class'),
    interface_declaration: defineClass('interface'),
    annotation_type_declaration: defineClass('interface'),
    enum_declaration: defineClass('enum'),
    enum_constant: (node, reader) => reader.define('enum member', node, {exported: true}),
    method_declaration: readMethod,
    annotation_type_element_declaration: readMethod,
    constructor_declaration: readMethod,
    compact_constructor_declaration: readMethod,
    field_declaration: defineVariables,
    constant_declaration: defineVariables,
    local_variable_declaration: defineVariables,
    lambda_expression: (node, reader, tree) => {
      reader.openScope(node, 'function');
      readParameters(node, reader, tree);
    },
    object_creation_expression: (node, reader, tree) => {
      const body = tree.child(node, 'class_body');
      if (body !== NONE) reader.openScope(body, 'class');
    },
    type_parameter: (node, reader, tree) => reader.local(tree.child(node, 'type_identifier')),
    catch_clause: readCatch('catch_formal_parameter'),
    enhanced_for_statement: (node, reader, tree) => {
      reader.openScope(node, 'block');
      bindLocal('name')(node, reader, tree);
    },
    for_statement: openBlock,
    try_with_resources_statement: openBlock,
    resource: bindLocal('name'),
    instanceof_expression: bindLocal('name'),
    type_pattern: (node, reader, tree) => reader.local(tree.child(node, 'identifier')),
    block: openBlock,
    switch_rule: openBlock,
  },
};
