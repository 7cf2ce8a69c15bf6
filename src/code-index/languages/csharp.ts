/** Rules of C#. */
import type {DefinitionKind, ReferenceKind} from '../contract.ts';
import type {LanguageRules, Leaf, NameUse, Rule} from '../syntax/facts-reader.ts';
import {NONE, type SyntaxTree} from '../syntax/syntax-tree.ts';
import {bindLocal, defineMethod, getKind, openBlock, readCatch} from './rules.ts';

/** Returns whether a member is visible outside of its class. Members of interfaces are public without a modifier. */
function isVisible(node: number, tree: SyntaxTree): boolean {
  const modifiers = [...tree.named(node)].flatMap((each) =>
    tree.type(each) === 'modifier' ? [tree.textOf(each)] : [],
  );
  const isOfInterface = tree.type(tree.parent(tree.parent(node))) === 'interface_declaration';
  return isOfInterface || /\b(?:public|internal|protected)\b/.test(modifiers.join(' '));
}

function defineClass(kind: DefinitionKind): Rule {
  return (node, reader, tree) => {
    const isInner = reader.scopeKind === 'class';
    // A class outside of other classes is at least internal: the whole project sees it.
    reader.define(kind, node, {exported: !isInner || isVisible(node, tree)});
    for (const base of tree.named(tree.child(node, 'base_list'))) reader.inherit(base);
    reader.openScope(node, 'class');
    for (const parameter of tree.named(tree.child(node, 'parameter_list'))) {
      reader.defineSingle('field', parameter, {exported: true});
    }
  };
}

const readMethod: Rule = (node, reader, tree) => {
  defineMethod(node, reader, isVisible(node, tree));
  openFunction(node, reader, tree);
};

const openFunction: Rule = (node, reader, tree) => {
  reader.openScope(node, 'function');
  const parameters = tree.field(node, 'parameters');
  if (tree.isLeaf(parameters === NONE ? node : parameters)) reader.local(parameters);
  for (const parameter of tree.named(parameters)) {
    if (tree.role(parameter) === 'name' || tree.type(parameter) === 'implicit_parameter') reader.local(parameter);
    reader.local(tree.field(parameter, 'name'), false, tree.fieldText(parameter, 'type'));
  }
};

const defineFields: Rule = (node, reader, tree) => {
  const isConstant = [...tree.named(node)].some((each) => tree.textOf(each) === 'const');
  for (const declarator of tree.named(tree.child(node, 'variable_declaration'), 'variable_declarator')) {
    reader.defineSingle(isConstant ? 'constant' : 'field', declarator, {
      exported: isVisible(node, tree),
      type: tree.textOf(tree.field(tree.child(node, 'variable_declaration'), 'type')),
    });
  }
};

function define(kind: DefinitionKind): Rule {
  return (node, reader, tree) => {
    reader.define(kind, node, {
      exported: isVisible(node, tree) || kind === 'enum member',
    });
    if (kind !== 'enum member') openFunction(node, reader, tree);
  };
}

const bindDeclared: Rule = (node, reader, tree) => {
  if (/^(?:event_)?field_declaration$/.test(tree.type(tree.parent(node)))) return;
  for (const declarator of tree.named(node, 'variable_declarator')) {
    const written = tree.fieldText(node, 'type');
    const made = tree.child(declarator, 'object_creation_expression');
    const type = written === 'var' ? tree.fieldText(made, 'type') : written;
    reader.local(tree.field(declarator, 'name'), false, type);
    for (const name of tree.named(tree.child(declarator, 'tuple_pattern'))) reader.local(name);
  }
};

const readUsing: Rule = (node, reader, tree) => {
  const alias = tree.field(node, 'name');
  const target = [...tree.named(node)].find((each) => each !== alias && /identifier|_name$/.test(tree.type(each)));
  if (target === undefined) return;
  const path = tree.textOf(target);
  if (alias === NONE) reader.import(node, path, [{imported: '*', local: '*'}]);
  else reader.import(node, path, [{imported: path.split('.').at(-1)!, local: tree.textOf(alias)}]);
};

const openNamespace: Rule = (node, reader, tree) => {
  const name = tree.fieldText(node, 'name');
  reader.space ||= name;
  if (tree.type(node) === 'namespace_declaration') reader.openScope(node, 'module');
};

function getUse({leaf, parent, type, role}: Leaf, tree: SyntaxTree): NameUse | 'skip' {
  if (/^(?:labeled|goto)_statement$/.test(type) && leaf <= parent + 2) return 'skip';
  if (tree.above(leaf, 'using_directive') !== NONE)
    return role === 'name' && type === 'using_directive' ? {kind: 'import'} : 'skip';
  if (/namespace_declaration$/.test(tree.type(tree.parent(parent))) || /namespace_declaration$/.test(type))
    return 'skip';
  if (type === 'member_access_expression' && role === 'name') {
    const object = tree.field(parent, 'expression');
    // `this` is not a named node in this grammar.
    return {kind: getKind(parent, tree), object: object === NONE ? parent + 1 : object};
  }
  if (type === 'qualified_name' && role === 'name') {
    return {kind: getTypeKind(parent, tree), object: tree.field(parent, 'qualifier')};
  }
  if (type === 'argument' && role === 'name') return 'skip';
  if (
    type === 'assignment_expression' &&
    role === 'left' &&
    tree.type(tree.parent(parent)) === 'initializer_expression'
  ) {
    return {kind: 'write', object: NONE};
  }
  if (type === 'member_binding_expression') return {kind: 'read', object: NONE};
  if (type === 'attribute') return {kind: 'type'};
  const isType =
    role === 'type' ||
    role === 'returns' ||
    /^(?:base_list|generic_name|type_argument_list|nullable_type|array_type)$/.test(type);
  return {kind: isType ? getTypeKind(leaf, tree) : getKind(leaf, tree)};
}

function getTypeKind(node: number, tree: SyntaxTree): ReferenceKind {
  const parent = tree.parent(node);
  const holder = tree.type(parent) === 'generic_name' ? tree.parent(parent) : parent;
  if (tree.type(holder) === 'object_creation_expression') return 'call';
  if (tree.type(holder) === 'invocation_expression') return 'call';
  return tree.type(holder) === 'base_list' ? 'inherit' : 'type';
}

export const csharp: LanguageRules = {
  names: new Set(['identifier']),
  use: getUse,
  seesMembersBare: true,
  rules: {
    using_directive: readUsing,
    namespace_declaration: openNamespace,
    file_scoped_namespace_declaration: openNamespace,
    class_declaration: defineClass('class'),
    record_declaration: defineClass('class'),
    struct_declaration: defineClass('struct'),
    interface_declaration: defineClass('interface'),
    enum_declaration: defineClass('enum'),
    enum_member_declaration: define('enum member'),
    delegate_declaration: define('type'),
    method_declaration: readMethod,
    constructor_declaration: readMethod,
    destructor_declaration: (node, reader, tree) => {
      reader.skip(tree.field(node, 'name'));
      reader.openScope(node, 'function');
    },
    property_declaration: define('field'),
    field_declaration: defineFields,
    event_field_declaration: defineFields,
    local_function_statement: (node, reader, tree) => {
      reader.define('function', node);
      openFunction(node, reader, tree);
    },
    indexer_declaration: openFunction,
    operator_declaration: openFunction,
    lambda_expression: openFunction,
    anonymous_method_expression: openFunction,
    variable_declaration: bindDeclared,
    declaration_pattern: bindLocal('name'),
    declaration_expression: bindLocal('name'),
    from_clause: bindLocal('name'),
    let_clause: bindLocal('name'),
    type_parameter: bindLocal('name'),
    foreach_statement: (node, reader, tree) => {
      reader.openScope(node, 'block');
      bindLocal('left')(node, reader, tree);
    },
    for_statement: openBlock,
    using_statement: openBlock,
    block: openBlock,
    switch_section: openBlock,
    catch_clause: readCatch('catch_declaration'),
  },
};
