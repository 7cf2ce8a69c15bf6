/** Rules of TypeScript, TSX and JavaScript. */
import type {ReferenceKind} from '../contract.ts';
import type {FactsReader, LanguageRules, NameUse, Rule} from '../syntax/facts-reader.ts';
import {NONE, type Node} from '../syntax/syntax-tree.ts';
import {
  bindLocal,
  define,
  defineClass,
  findBound,
  getKind,
  openBlock,
  openFunction,
  openInnerBlock,
  readCatch,
} from './rules.ts';

const FUNCTION_VALUE = /^(?:arrow_function|function_expression|generator_function)$/;
const BASES = /^(?:class_heritage|extends_clause|implements_clause|extends_type_clause)$/;

/** Returns whether a declaration follows `export` or `export declare`. */
function isExported({parent}: Node): boolean {
  const around = parent.type === 'ambient_declaration' ? parent.parent : parent;
  return around.type === 'export_statement';
}

/** Exports `f` of `export default function f` as `default`. */
function exportDefault(node: Node, reader: FactsReader): void {
  const name = node.field('name').text;
  if (node.parent.type === 'export_statement' && node.parent.has('default') && name !== '') {
    reader.export('default', name);
  }
}

const defineFunction: Rule = (node, reader) => {
  reader.define('function', node, {declaration: node.type === 'function_signature', seen: 'function'});
  exportDefault(node, reader);
  openFunction(node, reader);
};

const openExpression: Rule = (node, reader) => {
  openFunction(node, reader);
  reader.local(node.field('name'));
};

function defineType(kind: 'class' | 'interface'): Rule {
  return (node, reader) => {
    defineClass(kind, BASES)(node, reader);
    exportDefault(node, reader);
  };
}

const defineMember: Rule = (node, reader) => {
  const {type} = node;
  const name = node.field('name').or(node.field('property'));
  const value = node.field('value');
  const isFunction = /method/.test(type);
  const isConstructor = isFunction && name.text === 'constructor';
  const kind = isConstructor ? 'constructor' : isFunction || FUNCTION_VALUE.test(value.type) ? 'method' : 'field';
  // Methods of object literals are not definitions, because the object has no name.
  const isOfClass = /^(?:class_body|interface_body|object_type)$/.test(node.parent.type);
  if (isOfClass && /identifier$/.test(name.type)) {
    const declaration = /signature/.test(type) && kind === 'method';
    const held = kind === 'field' ? getDeclaredType(node) : undefined;
    reader.define(kind, node, {name, declaration, seen: 'member', type: held});
  }
  if (type !== 'method_definition') return;
  if (isConstructor) defineParameterProperties(node, reader);
  openFunction(node, reader);
};

/**
 * Defines fields for parameters such as `constructor(private readonly x)`. The parameter and the field share the name.
 */
const defineParameterProperties: Rule = (node, reader) => {
  const container = reader.container.slice(0, -1);
  for (const parameter of node.field('parameters').named()) {
    const name = parameter.field('pattern');
    if (!parameter.has('accessibility_modifier', 'readonly') || name.type !== 'identifier') continue;
    reader.defineSingle('field', parameter, {name, container, seen: 'member', type: parameter.field('type').text});
  }
};

const defineVariable: Rule = (node, reader) => {
  const statement = node.parent;
  const hoists = statement.type === 'variable_declaration';
  const name = node.field('name');
  const exported = isExported(statement);
  if (FUNCTION_VALUE.test(node.field('value').type) && name.type === 'identifier') {
    reader.define('function', node, {exported, seen: hoists ? 'function' : 'here'});
    return;
  }
  // A variable that holds a required module counts as an import.
  if (readRequire(node, reader)) return;
  const kind = statement.field('kind').type === 'const' ? 'constant' : 'variable';
  const type = name.type === 'identifier' ? getDeclaredType(node) : undefined;
  for (const leaf of findBound(name)) reader.variable(leaf, kind, node, {exported, hoists, type});
};

/** Returns the type in `x: T` and `x = new T()`. */
function getDeclaredType(node: Node): string {
  const value = node.field('value');
  return node.field('type').text || (value.type === 'new_expression' ? value.field('constructor').text : '');
}

/** Reads `const {a: b} = require('x')` as an import. @returns false when the variable is something else */
function readRequire(node: Node, reader: FactsReader): boolean {
  const name = node.field('name');
  const value = node.field('value');
  const specifier = getCallSpecifier(value.type === 'await_expression' ? value.child('call_expression') : value);
  if (specifier === undefined || !/^(?:identifier|object_pattern)$/.test(name.type)) return false;
  const names = name.type === 'identifier' ? [{imported: '*', local: name.text}] : readParts(name);
  reader.import(node, specifier, names);
  return true;
}

/** Reads the names in `{a, b: c}`. The key is `imported`. */
function readParts(object: Node): {imported: string; local: string}[] {
  return object.named().flatMap((part) => {
    if (/^shorthand_property_identifier/.test(part.type)) return [{imported: part.text, local: part.text}];
    const local = part.field('value');
    return local.type === 'identifier' ? [{imported: part.field('key').text, local: local.text}] : [];
  });
}

/** Returns the specifier of `require('x')` and `import('x')`. */
function getCallSpecifier(call: Node): string | undefined {
  if (call.type !== 'call_expression' || !/^(?:require|import)$/.test(call.field('function').text)) return undefined;
  const [first = NONE] = call.field('arguments').named();
  return first.type === 'string' ? getString(first) : undefined;
}

const getString = (node: Node): string => node.text.slice(1, -1);

const readCall: Rule = (node, reader) => {
  const specifier = getCallSpecifier(node);
  const {role} = node.parent.type === 'await_expression' ? node.parent : node;
  if (specifier !== undefined && role !== 'value') reader.import(node, specifier, []);
};

const readImport: Rule = (node, reader) => {
  const required = node.child('import_require_clause');
  const names = required === NONE ? [] : [{imported: '*', local: required.first.text}];
  for (const part of node.child('import_clause').named()) {
    if (part.type === 'identifier') names.push({imported: 'default', local: part.text});
    if (part.type === 'namespace_import') names.push({imported: '*', local: part.child('identifier').text});
    if (part.type === 'named_imports') names.push(...readSpecifiers(part));
  }
  reader.import(node, getString(required.or(node).field('source')), names);
};

function readSpecifiers(clause: Node): {imported: string; local: string}[] {
  return clause.named().map((part) => {
    const imported = part.field('name').text;
    return {imported, local: part.field('alias').text || imported};
  });
}

const readExport: Rule = (node, reader) => {
  const source = node.field('source');
  const names = readSpecifiers(node.child('export_clause'));
  if (source === NONE) {
    for (const {imported, local} of names) reader.export(local, imported);
    const value = node.child('identifier').text;
    if (value !== '') reader.export('default', value);
    return;
  }
  const whole = node.child('namespace_export').child('identifier', 'string').text || '*';
  const isWhole = !node.has('export_clause');
  reader.import(node, getString(source), isWhole ? [{imported: '*', local: whole}] : names, true);
};

/**
 * Defines a function that is assigned to a member as a method: `View.prototype.render = function …`, `app.use = () =>
 * …`.
 */
const defineAssigned: Rule = (node, reader) => {
  const left = node.field('left');
  if (!FUNCTION_VALUE.test(node.field('right').type) || left.type !== 'member_expression') return;
  const object = left.field('object').text.replace(/\.prototype$/, '');
  const container = /^(?!(?:exports|self|this)$)[A-Za-z_$][\w$]*$/.test(object) ? [object] : [];
  const exported = /^(?:module\.)?exports$/.test(object);
  reader.define('method', node, {name: left.field('property'), seen: 'member', container, exported});
};

/** Reads exports of CommonJS: `module.exports = f`, `module.exports = {a, b: c}`, `exports.a = b`. */
const readAssignment: Rule = (node, reader) => {
  defineAssigned(node, reader);
  const value = node.field('right');
  const [target, name = 'default'] =
    /^(?:module\.exports|(?:module\.)?exports\.([\w$]+))$/.exec(node.field('left').text) ?? [];
  if (target === undefined) return;
  if (value.type === 'identifier') reader.export(name, value.text);
  if (target !== 'module.exports' || value.type !== 'object') return;
  for (const {imported, local} of readParts(value)) reader.export(imported, local);
};

const readFor: Rule = (node, reader) => {
  openBlock(node, reader);
  const {type} = node.field('kind');
  if (type === '') return;
  for (const name of findBound(node.field('left'))) reader.local(name, undefined, type === 'var');
};

const defineNamespace: Rule = (node, reader) => {
  const name = node.field('name');
  if (name.type === 'identifier') reader.define('module', node);
  else reader.openContainer(node, [...reader.container, name.text.replace(/^['"]|['"]$/g, '')]);
  reader.openScope(node, 'module');
};

const defineEnum: Rule = (node, reader) => {
  reader.define('enum', node);
  reader.openScope(node, 'class');
  const {container} = reader;
  for (const member of node.field('body').named()) {
    const name = member.field('name').or(member);
    if (name.type === 'property_identifier')
      reader.defineSingle('enum member', member, {name, seen: 'member', container});
  }
};

function getUse(leaf: Node): NameUse {
  const {parent, role} = leaf;
  const {type} = parent;
  switch (leaf.type) {
    case 'shorthand_property_identifier':
      // `module.exports = {f}` exports `f` under its name, like `export {f}`.
      return {kind: 'read', shorthand: getExportsObject(parent) === NONE};
    case 'shorthand_property_identifier_pattern':
      return {kind: 'write', shorthand: true};
    case 'property_identifier':
    case 'private_property_identifier':
      if (type === 'pair') return {kind: 'write', object: getExportsObject(parent.parent), member: true};
      return {
        kind: /member_expression/.test(type) ? getScriptKind(parent) : 'read',
        object: parent.field('object'),
        member: true,
      };
    case 'type_identifier':
      if (type === 'nested_type_identifier') return {kind: 'type', object: parent.field('module')};
      return {kind: BASES.test((type === 'generic_type' ? parent.parent : parent).type) ? 'inherit' : 'type'};
  }
  if (/^(?:import|export|namespace)_(?:specifier|clause|export|import)|import_require/.test(type)) {
    const isAliased = parent.field('alias') !== NONE;
    const isForeign = type === 'export_specifier' && parent.parent.parent.field('source') !== NONE;
    // In `import {a as b}`, `a` is a name of the other file.
    const member =
      type === 'import_specifier'
        ? role === 'name' && isAliased
        : isForeign || (type === 'export_specifier' && role === 'alias');
    return {kind: 'import', member};
  }
  return {kind: getScriptKind(leaf)};
}

/** Returns the left side of `module.exports = {…}` when `object` is its right side, otherwise NONE. */
function getExportsObject({parent, role}: Node): Node {
  const left = parent.field('left');
  return role === 'right' && left.text === 'module.exports' ? left : NONE;
}

function getScriptKind(node: Node): ReferenceKind {
  const {parent, role} = node;
  const {type} = parent;
  if (role === 'constructor' || (role === 'name' && /^jsx_(?:opening|self_closing)_element$/.test(type))) return 'call';
  if (type === 'extends_clause' || type === 'class_heritage') return 'inherit';
  return type === 'type_query' ? 'type' : getKind(node);
}

export const javascript: LanguageRules = {
  names: /^(?:(?:type_|(?:private_)?property_)?identifier|shorthand_property_identifier(?:_pattern)?)$/,
  use: getUse,
  isExported,
  rules: {
    import_statement: readImport,
    export_statement: readExport,
    call_expression: readCall,
    assignment_expression: readAssignment,
    'function_declaration generator_function_declaration function_signature': defineFunction,
    'function_expression generator_function': openExpression,
    'arrow_function function_type': openFunction,
    'class_declaration abstract_class_declaration class': defineType('class'),
    interface_declaration: defineType('interface'),
    'method_definition method_signature abstract_method_signature public_field_definition field_definition property_signature':
      defineMember,
    variable_declarator: defineVariable,
    enum_declaration: defineEnum,
    type_alias_declaration: define('type', 'block'),
    'type_parameter mapped_type_clause': bindLocal,
    'internal_module module': defineNamespace,
    statement_block: openInnerBlock,
    catch_clause: readCatch((node) => node.field('parameter')),
    for_statement: openBlock,
    for_in_statement: readFor,
  },
};
