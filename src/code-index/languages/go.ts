/** Rules of Go. */
import type {DefinitionKind} from '../contract.ts';
import type {LanguageRules, Leaf, NameUse, Rule} from '../syntax/facts-reader.ts';
import {NONE, type SyntaxTree} from '../syntax/syntax-tree.ts';
import {getKind, openBlock, openInnerBlock} from './rules.ts';

const openFunction: Rule = (node, reader, tree) => {
  reader.openScope(node, 'function');
  for (const role of ['receiver', 'parameters', 'result', 'type_parameters']) {
    for (const parameter of tree.named(tree.field(node, role))) {
      const type = tree.fieldText(parameter, 'type');
      for (const name of tree.named(parameter)) if (tree.role(name) === 'name') reader.local(name, false, type);
    }
  }
};

const defineMethod: Rule = (node, reader, tree) => {
  const receiver = [...tree.below(tree.field(node, 'receiver'))].find((each) => tree.type(each) === 'type_identifier');
  reader.define('method', node, {
    container: receiver === undefined ? [] : [tree.textOf(receiver)],
    seen: 'member',
  });
  openFunction(node, reader, tree);
};

const defineType: Rule = (node, reader, tree) => {
  const type = tree.field(node, 'type');
  const kinds: Record<string, DefinitionKind> = {struct_type: 'struct', interface_type: 'interface'};
  reader.define(kinds[tree.type(type)] ?? 'type', node);
  reader.openScope(node, 'class');
  for (const parameter of tree.named(tree.field(node, 'type_parameters'))) reader.local(tree.field(parameter, 'name'));
  // An embedded type passes on its methods.
  for (const part of tree.below(type)) {
    const isEmbedded =
      (tree.type(part) === 'field_declaration' && tree.field(part, 'name') === NONE) || tree.type(part) === 'type_elem';
    if (!isEmbedded) continue;
    const base = [...tree.named(part)].find((each) =>
      /^(?:type_identifier|qualified_type|generic_type)$/.test(tree.type(each)),
    );
    if (base !== undefined) reader.inherit(base);
  }
};

function defineAll(kind: DefinitionKind): Rule {
  return (node, reader, tree) => {
    const type = tree.fieldText(node, 'type');
    for (const name of tree.named(node)) if (tree.role(name) === 'name') reader.variable(name, kind, node, {type});
  };
}

const defineFields: Rule = (node, reader, tree) => {
  // The fields of an anonymous struct have no owner, so they are not definitions.
  const owner = tree.type(tree.parent(tree.parent(tree.parent(node))));
  for (const name of tree.named(node)) {
    if (tree.role(name) === 'name' && owner === 'type_spec') reader.define('field', node, {name, seen: 'member'});
  }
};

/** Binds the variables of `a, b := …`. */
function bindLeft(role: string): Rule {
  return (node, reader, tree) => {
    if (tree.type(node) === 'range_clause' && !tree.has(node, ':=')) return;
    const [value = NONE, another = NONE] = tree.named(tree.field(node, 'right'));
    const literal = tree.type(value) === 'unary_expression' ? tree.field(value, 'operand') : value;
    const isOne = another === NONE && tree.type(literal) === 'composite_literal';
    const type = isOne ? tree.fieldText(literal, 'type') : undefined;
    for (const name of tree.named(tree.field(node, role))) {
      if (tree.type(name) === 'identifier') reader.local(name, false, type);
    }
  };
}

const readImport: Rule = (node, reader, tree) => {
  const specifier = tree.fieldText(node, 'path').slice(1, -1);
  const name = tree.fieldText(node, 'name');
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

function getUse({leaf, parent, type}: Leaf, tree: SyntaxTree): NameUse | 'skip' {
  switch (tree.type(leaf)) {
    case 'label_name':
      return 'skip';
    case 'package_identifier':
      return /package_clause/.test(type) ? 'skip' : {kind: type === 'import_spec' ? 'import' : 'read'};
    case 'field_identifier':
      if (type !== 'selector_expression') return {kind: 'write', object: NONE};
      return {kind: getKind(parent, tree), object: tree.field(parent, 'operand')};
    case 'type_identifier':
      if (type === 'qualified_type') return {kind: 'type', object: tree.field(parent, 'package')};
      return {kind: type === 'type_elem' || isEmbedded(leaf, parent, tree) ? 'inherit' : 'type'};
  }
  // The key in `S{name: 1}` is a field. In a map, slice or array it is not.
  if (type === 'literal_element' && tree.role(parent) === 'key') {
    const literal = tree.above(parent, 'composite_literal');
    const of = tree.type(tree.field(literal, 'type'));
    if (!/^(?:map_type|slice_type|array_type)$/.test(of)) return {kind: 'write', object: NONE};
  }
  return {kind: getKind(leaf, tree)};
}

function isEmbedded(leaf: number, parent: number, tree: SyntaxTree): boolean {
  return tree.type(parent) === 'field_declaration' && tree.field(parent, 'name') === NONE && tree.role(leaf) === 'type';
}

export const go: LanguageRules = {
  names: new Set(['identifier', 'type_identifier', 'field_identifier', 'package_identifier', 'label_name']),
  use: getUse,
  isExported: ({name}) => /^\p{Lu}/u.test(name),
  rules: {
    package_clause: (node, reader, tree) => {
      reader.space = tree.textOf(tree.child(node, 'package_identifier'));
    },
    import_spec: readImport,
    function_declaration: (node, reader, tree) => {
      reader.define('function', node);
      openFunction(node, reader, tree);
    },
    method_declaration: defineMethod,
    func_literal: openFunction,
    type_spec: defineType,
    type_alias: defineType,
    const_spec: defineAll('constant'),
    var_spec: defineAll('variable'),
    field_declaration: defineFields,
    method_elem: (node, reader) => {
      reader.define('method', node, {declaration: true, seen: 'member'});
      reader.openScope(node, 'block');
    },
    short_var_declaration: bindLeft('left'),
    range_clause: bindLeft('left'),
    type_switch_statement: (node, reader, tree) => {
      reader.openScope(node, 'block');
      bindLeft('alias')(node, reader, tree);
    },
    receive_statement: (node, reader, tree) => {
      if (tree.has(node, ':=')) bindLeft('left')(node, reader, tree);
    },
    block: openInnerBlock,
    if_statement: openBlock,
    for_statement: openBlock,
    expression_switch_statement: openBlock,
    expression_case: openBlock,
    type_case: openBlock,
    default_case: openBlock,
    communication_case: openBlock,
  },
};
