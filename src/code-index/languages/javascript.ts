/** Rules of TypeScript, TSX and JavaScript. */
import type {DefinitionKind, ReferenceKind} from '../contract.ts';
import type {FactsReader, LanguageRules, Leaf, NameUse, Rule} from '../syntax/facts-reader.ts';
import {NONE, type SyntaxTree} from '../syntax/syntax-tree.ts';
import {bindLocal, getKind, openBlock, openInnerBlock, reportEmptyCatch} from './rules.ts';

const FUNCTION_VALUES = new Set(['arrow_function', 'function_expression', 'generator_function']);

/** Returns whether a declaration follows `export` or `export declare`. */
function isExported(node: number, tree: SyntaxTree): boolean {
  const parent = tree.parent(node);
  const above = tree.type(parent) === 'ambient_declaration' ? tree.parent(parent) : parent;
  return tree.type(above) === 'export_statement';
}

/** Exports `f` of `export default function f` as `default`. */
function exportDefault(node: number, name: number, reader: FactsReader): void {
  const {tree} = reader;
  const parent = tree.parent(node);
  if (tree.type(parent) !== 'export_statement' || !tree.has(parent, 'default') || name === NONE) return;
  reader.export('default', tree.textOf(name));
}

const defineFunction: Rule = (node, reader, tree) => {
  const name = tree.field(node, 'name');
  const declaration = tree.type(node) === 'function_signature';
  reader.define('function', node, {exported: isExported(node, tree), declaration, seen: 'function'});
  exportDefault(node, name, reader);
  openFunction(node, reader, tree);
};

const openExpression: Rule = (node, reader, tree) => {
  openFunction(node, reader, tree);
  reader.local(tree.field(node, 'name'));
};

const openFunction: Rule = (node, reader, tree) => {
  reader.openScope(node, 'function');
  reader.local(tree.field(node, 'parameter'));
  for (const parameter of tree.named(tree.field(node, 'parameters'))) {
    const pattern = tree.field(parameter, 'pattern');
    const type = tree.type(pattern) === 'identifier' ? tree.fieldText(parameter, 'type') : undefined;
    bindPattern(pattern === NONE ? parameter : pattern, (leaf) => reader.local(leaf, false, type), tree);
  }
};

/** Calls `bind` with each leaf that a destructuring pattern binds. */
function bindPattern(node: number, bind: (leaf: number) => void, tree: SyntaxTree): void {
  const type = tree.type(node);
  if (type === 'identifier' || type === 'shorthand_property_identifier_pattern') bind(node);
  else if (type === 'pair_pattern') bindPattern(tree.field(node, 'value'), bind, tree);
  else if (/assignment_pattern$/.test(type)) bindPattern(tree.field(node, 'left'), bind, tree);
  else if (/^(?:object|array|rest)_pattern$/.test(type)) {
    for (const child of tree.named(node)) bindPattern(child, bind, tree);
  }
}

function defineClass(kind: DefinitionKind): Rule {
  return (node, reader, tree) => {
    const name = tree.field(node, 'name');
    if (name === NONE) reader.openContainer(node, reader.container);
    else reader.define(kind, node, {exported: isExported(node, tree)});
    exportDefault(node, name, reader);
    for (const clause of tree.named(node)) {
      if (!/^(?:class_heritage|extends_type_clause)$/.test(tree.type(clause))) continue;
      for (const base of tree.below(clause)) {
        const isBase = /^(?:class_heritage|extends_clause|implements_clause|extends_type_clause)$/.test(
          tree.type(tree.parent(base)),
        );
        if (isBase && tree.isNamed(base)) reader.inherit(base);
      }
    }
    reader.openScope(node, 'class');
  };
}

const defineMember: Rule = (node, reader, tree) => {
  const type = tree.type(node);
  const name = tree.field(node, 'name') === NONE ? tree.field(node, 'property') : tree.field(node, 'name');
  const isFunction = /method/.test(type);
  const isConstructor = isFunction && tree.textOf(name) === 'constructor';
  const value = tree.type(tree.field(node, 'value'));
  const kind = isConstructor ? 'constructor' : isFunction || FUNCTION_VALUES.has(value) ? 'method' : 'field';
  // Methods of object literals are not definitions, because the object has no name.
  const isOfClass = /^(?:class_body|interface_body|object_type)$/.test(tree.type(tree.parent(node)));
  if (isOfClass && /identifier$/.test(tree.type(name))) {
    const declaration = /signature/.test(type) && kind === 'method';
    const held = kind === 'field' ? getDeclaredType(node, tree.field(node, 'value'), tree) : undefined;
    reader.define(kind, node, {name, declaration, seen: 'member', type: held});
  }
  if (type !== 'method_definition') return;
  if (isConstructor) defineParameterProperties(node, reader, tree);
  openFunction(node, reader, tree);
};

/**
 * Defines fields for parameters such as `constructor(private readonly x)`. The parameter and the field share the name.
 */
const defineParameterProperties: Rule = (node, reader, tree) => {
  for (const parameter of tree.named(tree.field(node, 'parameters'))) {
    const name = tree.field(parameter, 'pattern');
    if (!tree.has(parameter, 'accessibility_modifier', 'readonly') || tree.type(name) !== 'identifier') continue;
    const type = tree.fieldText(parameter, 'type');
    reader.defineSingle('field', parameter, {name, container: reader.container.slice(0, -1), seen: 'member', type});
  }
};

const defineVariable: Rule = (node, reader, tree) => {
  const statement = tree.parent(node);
  const hoists = tree.type(statement) === 'variable_declaration';
  const name = tree.field(node, 'name');
  const value = tree.field(node, 'value');
  const isConstant = tree.type(tree.field(statement, 'kind')) === 'const';
  const isFunction = FUNCTION_VALUES.has(tree.type(value));
  const exported = isExported(statement, tree);
  if (isFunction && tree.type(name) === 'identifier') {
    reader.define('function', node, {exported, seen: hoists ? 'function' : 'here'});
    return;
  }
  // A variable that holds a required module counts as an import.
  if (readRequire(node, name, value, reader)) return;
  const kind = isConstant ? 'constant' : 'variable';
  const type = tree.type(name) === 'identifier' ? getDeclaredType(node, value, tree) : undefined;
  bindPattern(name, (leaf) => reader.variable(leaf, kind, node, {exported, hoists, type}), tree);
};

/** Returns the type in `x: T` and `x = new T()`. */
function getDeclaredType(node: number, value: number, tree: SyntaxTree): string | undefined {
  const written = tree.field(node, 'type');
  if (written !== NONE) return tree.textOf(written);
  return tree.type(value) === 'new_expression' ? tree.fieldText(value, 'constructor') : undefined;
}

/** Reads `const {a: b} = require('x')` as an import. @returns false when the variable is something else */
function readRequire(node: number, name: number, value: number, reader: FactsReader): boolean {
  const {tree} = reader;
  const call = tree.type(value) === 'await_expression' ? tree.child(value, 'call_expression') : value;
  const specifier = getCallSpecifier(call, tree);
  const isPattern = tree.type(name) === 'object_pattern';
  if (specifier === undefined || (!isPattern && tree.type(name) !== 'identifier')) return false;
  const names: {imported: string; local: string}[] = [];
  if (!isPattern) names.push({imported: '*', local: tree.textOf(name)});
  for (const part of isPattern ? tree.named(name) : []) {
    const own = tree.textOf(part);
    if (tree.type(part) === 'shorthand_property_identifier_pattern') names.push({imported: own, local: own});
    const bound = tree.type(part) === 'pair_pattern' ? tree.field(part, 'value') : NONE;
    if (tree.type(bound) !== 'identifier') continue;
    names.push({imported: tree.fieldText(part, 'key'), local: tree.textOf(bound)});
  }
  reader.import(node, specifier, names);
  return true;
}

/** Returns the specifier of `require('x')` and `import('x')`. */
function getCallSpecifier(call: number, tree: SyntaxTree): string | undefined {
  if (tree.type(call) !== 'call_expression') return undefined;
  if (!/^(?:require|import)$/.test(tree.fieldText(call, 'function'))) return undefined;
  const [first = NONE] = tree.named(tree.field(call, 'arguments'));
  return tree.type(first) === 'string' ? tree.textOf(first).slice(1, -1) : undefined;
}

const readCall: Rule = (node, reader, tree) => {
  const specifier = getCallSpecifier(node, tree);
  const parent = tree.parent(node);
  const isBound = tree.role(tree.type(parent) === 'await_expression' ? parent : node) === 'value';
  if (specifier !== undefined && !isBound) reader.import(node, specifier, []);
};

const readImport: Rule = (node, reader, tree) => {
  const names: {imported: string; local: string}[] = [];
  const required = tree.child(node, 'import_require_clause');
  const source = tree.field(required === NONE ? node : required, 'source');
  if (required !== NONE) names.push({imported: '*', local: tree.textOf(required + 1)});
  for (const part of tree.named(tree.child(node, 'import_clause'))) {
    if (tree.type(part) === 'identifier') names.push({imported: 'default', local: tree.textOf(part)});
    if (tree.type(part) === 'namespace_import') {
      names.push({imported: '*', local: tree.textOf(tree.child(part, 'identifier'))});
    }
    if (tree.type(part) === 'named_imports') names.push(...readSpecifiers(part, tree));
  }
  reader.import(node, tree.textOf(source).slice(1, -1), names);
};

function readSpecifiers(clause: number, tree: SyntaxTree): {imported: string; local: string}[] {
  return [...tree.named(clause)].map((part) => {
    const imported = tree.fieldText(part, 'name');
    return {imported, local: tree.fieldText(part, 'alias') || imported};
  });
}

const readExport: Rule = (node, reader, tree) => {
  const source = tree.field(node, 'source');
  const clause = tree.child(node, 'export_clause');
  if (source !== NONE) {
    const whole = tree.child(node, 'namespace_export');
    const names =
      clause !== NONE
        ? readSpecifiers(clause, tree)
        : [{imported: '*', local: whole === NONE ? '*' : tree.textOf(whole + 2)}];
    reader.import(node, tree.textOf(source).slice(1, -1), names, true);
  } else if (clause !== NONE) {
    for (const {imported, local} of readSpecifiers(clause, tree)) reader.export(local, imported);
  } else {
    const value = tree.child(node, 'identifier');
    if (value !== NONE) reader.export('default', tree.textOf(value));
  }
};

/**
 * Defines a function that is assigned to a member as a method: `View.prototype.render = function …`, `app.use = () =>
 * …`.
 */
const defineAssigned: Rule = (node, reader, tree) => {
  const left = tree.field(node, 'left');
  const isFunction = /^(?:function_expression|generator_function|arrow_function)$/.test(
    tree.type(tree.field(node, 'right')),
  );
  if (!isFunction || tree.type(left) !== 'member_expression') return;
  const object = tree.fieldText(left, 'object').replace(/\.prototype$/, '');
  const container = /^[A-Za-z_$][\w$]*$/.test(object) && !/^(?:exports|self|this)$/.test(object) ? [object] : [];
  const exported = /^(?:module\.)?exports$/.test(object);
  reader.define('method', node, {name: tree.field(left, 'property'), seen: 'member', container, exported});
};

/** Reads exports of CommonJS: `module.exports = f`, `module.exports = {a, b: c}`, `exports.a = b`. */
const readAssignment: Rule = (node, reader, tree) => {
  defineAssigned(node, reader, tree);
  const target = tree.fieldText(node, 'left');
  const value = tree.field(node, 'right');
  const [, name] = /^(?:module\.)?exports(?:\.([\w$]+))?$/.exec(target) ?? [undefined, null];
  if (name === null || (name === undefined && !target.startsWith('module'))) return;
  if (tree.type(value) === 'identifier') reader.export(name ?? 'default', tree.textOf(value));
  if (name !== undefined || tree.type(value) !== 'object') return;
  for (const part of tree.named(value)) {
    const own = tree.textOf(part);
    if (tree.type(part) === 'shorthand_property_identifier') reader.export(own, own);
    const named = tree.type(part) === 'pair' ? tree.field(part, 'value') : NONE;
    if (tree.type(named) === 'identifier') {
      reader.export(tree.fieldText(part, 'key'), tree.textOf(named));
    }
  }
};

const readCatch: Rule = (node, reader, tree) => {
  reportEmptyCatch(node, reader, tree);
  reader.openScope(node, 'block');
  bindPattern(tree.field(node, 'parameter'), (leaf) => reader.local(leaf), tree);
};

const readFor: Rule = (node, reader, tree) => {
  reader.openScope(node, 'block');
  const kind = tree.type(tree.field(node, 'kind'));
  if (kind !== '') bindPattern(tree.field(node, 'left'), (leaf) => reader.local(leaf, kind === 'var'), tree);
};

const defineNamespace: Rule = (node, reader, tree) => {
  const name = tree.field(node, 'name');
  if (tree.type(name) === 'identifier') reader.define('module', node, {exported: isExported(node, tree)});
  else reader.openContainer(node, [...reader.container, tree.textOf(name).replace(/^['"]|['"]$/g, '')]);
  reader.openScope(node, 'module');
};

const defineEnum: Rule = (node, reader, tree) => {
  reader.define('enum', node, {exported: isExported(node, tree)});
  reader.openScope(node, 'class');
  for (const member of tree.named(tree.field(node, 'body'))) {
    const name = tree.type(member) === 'enum_assignment' ? tree.field(member, 'name') : member;
    if (tree.type(name) !== 'property_identifier') continue;
    reader.define('enum member', member, {name, seen: 'member', container: [...reader.container]});
  }
};

const defineType: Rule = (node, reader, tree) => {
  reader.define('type', node, {exported: isExported(node, tree)});
  reader.openScope(node, 'block');
};

function getUse({leaf, parent, type, role}: Leaf, tree: SyntaxTree): NameUse | 'skip' {
  switch (tree.type(leaf)) {
    case 'statement_identifier':
      return 'skip';
    case 'shorthand_property_identifier':
      // `module.exports = {f}` exports `f` under its name, like `export {f}`.
      return {kind: 'read', shorthand: getExportsObject(parent, tree) === NONE};
    case 'shorthand_property_identifier_pattern':
      return {kind: 'write', shorthand: true};
    case 'property_identifier':
    case 'private_property_identifier':
      if (type === 'pair') return {kind: 'write', object: getExportsObject(tree.parent(parent), tree)};
      return {kind: getAccessKind(parent, tree), object: tree.field(parent, 'object')};
    case 'type_identifier':
      if (type === 'nested_type_identifier') return {kind: 'type', object: tree.field(parent, 'module')};
      return {kind: /heritage|extends_|implements_/.test(getClause(leaf, tree)) ? 'inherit' : 'type'};
  }
  if (/^(?:import|export|namespace)_(?:specifier|clause|export|import)|import_require/.test(type)) {
    // In `import {a as b}`, `a` is a name of the other file.
    if (type === 'import_specifier' && role === 'name' && tree.field(parent, 'alias') !== NONE) {
      return {kind: 'import', object: NONE};
    }
    const isForeign = type === 'export_specifier' && tree.field(tree.parent(tree.parent(parent)), 'source') !== NONE;
    if (type === 'export_specifier' && (isForeign || role === 'alias')) return {kind: 'import', object: NONE};
    return {kind: 'import'};
  }
  return {kind: getScriptKind(leaf, tree)};
}

/** Returns the left side of `module.exports = {…}` when `object` is its right side, otherwise NONE. */
function getExportsObject(object: number, tree: SyntaxTree): number {
  const left = tree.field(tree.parent(object), 'left');
  return tree.role(object) === 'right' && tree.textOf(left) === 'module.exports' ? left : NONE;
}

function getClause(leaf: number, tree: SyntaxTree): string {
  const parent = tree.parent(leaf);
  return tree.type(/generic_type|nested/.test(tree.type(parent)) ? tree.parent(parent) : parent);
}

function getScriptKind(node: number, tree: SyntaxTree): ReferenceKind {
  const role = tree.role(node);
  const type = tree.type(tree.parent(node));
  if (role === 'constructor' || (role === 'name' && /^jsx_(?:opening|self_closing)_element$/.test(type))) return 'call';
  if (type === 'extends_clause' || type === 'class_heritage') return 'inherit';
  return type === 'type_query' ? 'type' : getKind(node, tree);
}

function getAccessKind(parent: number, tree: SyntaxTree): ReferenceKind {
  if (!/member_expression/.test(tree.type(parent))) return tree.type(parent) === 'pair' ? 'write' : 'read';
  return getScriptKind(parent, tree);
}

export const javascript: LanguageRules = {
  names: new Set([
    'identifier',
    'type_identifier',
    'property_identifier',
    'private_property_identifier',
    'shorthand_property_identifier',
    'shorthand_property_identifier_pattern',
    'statement_identifier',
  ]),
  use: getUse,
  rules: {
    import_statement: readImport,
    export_statement: readExport,
    call_expression: readCall,
    assignment_expression: readAssignment,
    function_declaration: defineFunction,
    generator_function_declaration: defineFunction,
    function_signature: defineFunction,
    function_expression: openExpression,
    generator_function: openExpression,
    arrow_function: openFunction,
    function_type: openFunction,
    class_declaration: defineClass('class'),
    abstract_class_declaration: defineClass('class'),
    class: defineClass('class'),
    interface_declaration: defineClass('interface'),
    method_definition: defineMember,
    method_signature: defineMember,
    abstract_method_signature: defineMember,
    public_field_definition: defineMember,
    field_definition: defineMember,
    property_signature: defineMember,
    variable_declarator: defineVariable,
    enum_declaration: defineEnum,
    type_alias_declaration: defineType,
    type_parameter: bindLocal('name'),
    mapped_type_clause: bindLocal('name'),
    internal_module: defineNamespace,
    module: defineNamespace,
    statement_block: openInnerBlock,
    catch_clause: readCatch,
    for_statement: openBlock,
    for_in_statement: readFor,
  },
};
