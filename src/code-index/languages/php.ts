/** Rules of PHP. Variables begin with `$` and are never definitions; fields of classes are. */
import type {DefinitionKind, ReferenceKind} from '../contract.ts';
import type {LanguageRules, Leaf, NameUse, Rule} from '../syntax/facts-reader.ts';
import {NONE, type SyntaxTree} from '../syntax/syntax-tree.ts';
import {getKind, reportEmptyCatch} from './rules.ts';

function defineClass(kind: DefinitionKind): Rule {
  return (node, reader, tree) => {
    const name = tree.field(node, 'name');
    if (name === NONE) reader.openContainer(node, reader.container);
    else reader.define(kind, node, {exported: true});
    for (const clause of tree.named(node)) {
      if (!/^(?:base_clause|class_interface_clause)$/.test(tree.type(clause))) continue;
      for (const base of tree.named(clause)) reader.inherit(base);
    }
    reader.openScope(node, 'class');
  };
}

function isVisible(node: number, tree: SyntaxTree): boolean {
  return tree.textOf(tree.child(node, 'visibility_modifier')) !== 'private';
}

const defineMethod: Rule = (node, reader, tree) => {
  const name = tree.field(node, 'name');
  const isMember = reader.scopeKind === 'class';
  const kind = !isMember ? 'function' : tree.textOf(name) === '__construct' ? 'constructor' : 'method';
  const declaration = tree.field(node, 'body') === NONE;
  reader.define(kind, node, {
    exported: isVisible(node, tree),
    declaration,
    ...(isMember ? {} : {seen: 'function'}),
  });
  if (kind === 'constructor') {
    for (const parameter of tree.named(tree.field(node, 'parameters'), 'property_promotion_parameter')) {
      const leaf = tree.field(parameter, 'name') + 2;
      reader.defineSingle('field', parameter, {name: leaf, container: reader.container.slice(0, -1), seen: 'member'});
    }
  }
  reader.openScope(node, 'function');
};

const defineFields: Rule = (node, reader, tree) => {
  for (const element of tree.named(node, 'property_element')) {
    reader.defineSingle('field', element, {
      name: tree.child(tree.field(element, 'name'), 'name'),
      exported: isVisible(node, tree),
    });
  }
};

const defineConstants: Rule = (node, reader, tree) => {
  for (const element of tree.named(node, 'const_element')) {
    reader.defineSingle('constant', element, {name: tree.child(element, 'name'), exported: isVisible(node, tree)});
  }
};

const readUse: Rule = (node, reader, tree) => {
  const before = tree.textOf(tree.child(node, 'namespace_name'));
  const group = tree.field(node, 'body');
  for (const clause of tree.named(group === NONE ? node : group, 'namespace_use_clause')) {
    const name = tree.textOf(tree.child(clause, 'qualified_name', 'name')).replace(/^\\/, '');
    const whole = [before, name].filter(Boolean).join('\\');
    const imported = whole.split('\\').at(-1)!;
    const local = tree.fieldText(clause, 'alias') || imported;
    reader.import(clause, whole, [{imported, local}]);
  }
};

const readInclude: Rule = (node, reader, tree) => {
  const text = [...tree.below(node)].find((each) => tree.type(each) === 'string_content');
  if (text !== undefined)
    reader.import(node, `./${tree.textOf(text).replace(/^\.?\//, '')}`, [{imported: '*', local: '*'}]);
};

/** Reads the constant of `define('NAME', …)`. */
const readCall: Rule = (node, reader, tree) => {
  if (tree.fieldText(node, 'function') !== 'define') return;
  const text = [...tree.below(node)].find((each) => tree.type(each) === 'string_content');
  if (text !== undefined) reader.defineText(text, tree.textOf(text), 'constant', node, 0);
};

function getUse({leaf, parent, type, role}: Leaf, tree: SyntaxTree): NameUse | 'skip' {
  if (type === 'variable_name') return getVariableUse(parent, tree);
  if (tree.above(leaf, 'namespace_definition') === tree.parent(parent) && type === 'namespace_name') return 'skip';
  if (type === 'namespace_use_clause' || tree.type(tree.parent(parent)) === 'namespace_use_clause') {
    const isAlias = role === 'alias';
    const isAliased = tree.field(type === 'namespace_use_clause' ? parent : tree.parent(parent), 'alias') !== NONE;
    return !isAlias && isAliased ? {kind: 'import', object: NONE} : {kind: 'import'};
  }
  if (/^(?:nullsafe_)?member_(?:access|call)_expression$/.test(type) && role === 'name') {
    return {kind: getMemberKind(parent, tree), object: tree.field(parent, 'object')};
  }
  if (type === 'scoped_call_expression' && role === 'name') return {kind: 'call', object: tree.field(parent, 'scope')};
  if (type === 'class_constant_access_expression' && leaf !== parent + 1) return {kind: 'read', object: parent + 1};
  if (type === 'named_type' || type === 'object_creation_expression')
    return {kind: type === 'named_type' ? 'type' : 'call'};
  if (/^(?:base_clause|class_interface_clause|use_declaration)$/.test(type)) return {kind: 'inherit'};
  if (type === 'qualified_name') return {kind: getQualifiedKind(parent, tree)};
  if (type === 'namespace_name') return 'skip';
  if (type === 'argument' && role === 'name') return {kind: 'write', object: NONE};
  return {kind: getKind(leaf, tree)};
}

/** A variable is a use only when it names a static field: `X::$name`. */
function getVariableUse(variable: number, tree: SyntaxTree): NameUse | 'skip' {
  const parent = tree.parent(variable);
  if (tree.type(parent) === 'scoped_property_access_expression' && tree.role(variable) === 'name') {
    return {kind: getMemberKind(parent, tree), object: tree.field(parent, 'scope')};
  }
  return 'skip';
}

function getQualifiedKind(node: number, tree: SyntaxTree): ReferenceKind {
  const parent = tree.parent(node);
  const type = tree.type(parent);
  if (/^(?:base_clause|class_interface_clause)$/.test(type)) return 'inherit';
  if (type === 'object_creation_expression' || tree.role(node) === 'function') return 'call';
  return type === 'named_type' ? 'type' : 'read';
}

function getMemberKind(node: number, tree: SyntaxTree): ReferenceKind {
  return /call_expression$/.test(tree.type(node)) ? 'call' : getKind(node, tree);
}

export const php: LanguageRules = {
  names: new Set(['name']),
  use: getUse,
  rules: {
    namespace_definition: (node, reader, tree) => {
      reader.space = tree.fieldText(node, 'name');
    },
    namespace_use_declaration: readUse,
    require_expression: readInclude,
    require_once_expression: readInclude,
    include_expression: readInclude,
    include_once_expression: readInclude,
    class_declaration: defineClass('class'),
    anonymous_class: defineClass('class'),
    interface_declaration: defineClass('interface'),
    trait_declaration: defineClass('trait'),
    enum_declaration: defineClass('enum'),
    enum_case: (node, reader) => reader.define('enum member', node, {exported: true}),
    method_declaration: defineMethod,
    function_definition: defineMethod,
    property_declaration: defineFields,
    const_declaration: defineConstants,
    use_declaration: (node, reader, tree) => {
      for (const base of tree.named(node)) reader.inherit(base);
    },
    function_call_expression: readCall,
    catch_clause: reportEmptyCatch,
  },
};
