/** Rules that several languages share. */
import type {DefinitionKind, ReferenceKind} from '../contract.ts';
import {type FactsReader, FUNCTIONS, type NameUse, type Rule} from '../syntax/facts-reader.ts';
import {NONE, type Node} from '../syntax/syntax-tree.ts';

/** A key, as in `{key: 1}`. */
export const KEY: NameUse = {kind: 'write', member: true};

/** Opens a block scope for the node. */
export const openBlock: Rule = (node, reader) => reader.openScope(node, 'block');

/** Opens a block scope, unless the node is the body of a function or namespace, which has opened a scope already. */
export const openInnerBlock: Rule = (node, reader) => {
  if (!FUNCTIONS.test(node.parent.type) && !node.parent.type.endsWith('module')) openBlock(node, reader);
};

/** Opens the scope of a function and declares its parameters. */
export const openFunction: Rule = (node, reader) => {
  reader.openScope(node, 'function');
  bindParameters(node.field('parameters').or(node.field('parameter')), reader);
};

/** Declares the parameters of a list, or the only parameter, which needs no brackets. */
export const bindParameters: Rule = (parameters, reader) => {
  for (const parameter of parameters.isLeaf ? [parameters] : parameters.named()) {
    if (INERT.test(parameter.role)) continue;
    const type = parameter.field('type').text;
    for (const name of findBound(parameter.field('pattern').or(parameter.field('name')).or(parameter))) {
      reader.local(name, name.parent === parameter ? type : undefined);
    }
  }
};

/** Returns the type of a variable as the source says it, or what a `var` is made of. */
export function getVariableType(type: Node, declarator: Node): string {
  return (type.text === 'var' ? declarator.child('object_creation_expression').field('type') : type).text;
}

/** Declares the names in the child `name` as local variables. */
export const bindLocal: Rule = (node, reader) => bindNames(node.field('name'), reader);

/** Opens a block scope, and declares the names in the child with this role in it. */
export function openBlockWith(role: string): Rule {
  return (node, reader) => {
    openBlock(node, reader);
    bindNames(node.field(role), reader);
  };
}

export const bindNames: Rule = (pattern, reader) => {
  for (const name of pattern.isLeaf ? [pattern] : findBound(pattern)) reader.local(name);
};

/** Roles of parts of a pattern that bind nothing: types, defaults and guards. */
const INERT = /^(?:type|right|condition)$/;

/** Finds the names that a pattern binds: the parts of `[a, {b: c}]`, `Some(x)`, `a, *b`. */
export function findBound(pattern: Node): Node[] {
  const {type} = pattern;
  if (/^(?:implicit_parameter|(?:shorthand_field_)?identifier|shorthand_property_identifier_pattern)$/.test(type)) {
    return [pattern];
  }
  if (!/pattern|_parameter$|^(?:structured_binding|variable)_declarator$|^(?:tuple|list)$/.test(type)) return [];
  return pattern.named().flatMap((part) => (INERT.test(part.role) ? [] : findBound(part)));
}

/** Reports an error handler whose body is empty and has no comment. */
export const reportEmptyCatch: Rule = (node, reader) => {
  if (node.field('body').named().length === 0) reader.emptyCatch(node);
};

/** Reads an error handler. @param getError returns the pattern or name of the error */
export function readCatch(getError: (node: Node) => Node): Rule {
  return (node, reader) => {
    reportEmptyCatch(node, reader);
    openBlock(node, reader);
    bindNames(getError(node), reader);
  };
}

/** Defines something whose name is the child `name`. @param scope the scope inside it */
export function define(kind: DefinitionKind, scope?: 'module' | 'block'): Rule {
  return (node, reader) => {
    reader.define(kind, node);
    if (scope) reader.openScope(node, scope);
  };
}

/** Defines a class and what it inherits from. @param bases matches types of the lists of its bases */
export function defineClass(kind: DefinitionKind, bases?: RegExp): Rule {
  return (node, reader) => {
    reader.define(kind, node);
    if (bases) inheritAll(node, bases, reader);
    reader.openScope(node, 'class');
  };
}

/** Records the bases of the class that was defined last. Lists may have lists inside. */
export function inheritAll(node: Node, lists: RegExp, reader: FactsReader): void {
  for (const part of node.named()) {
    if (!lists.test(part.type)) continue;
    for (const base of part.named())
      if (!lists.test(base.type) && base.type !== 'access_specifier') reader.inherit(base);
    inheritAll(part, lists, reader);
  }
}

/** Defines a method or constructor. A constructor has the name of its class, and the bare name means the class. */
export const defineMethod: Rule = (node, reader) => {
  const isConstructor = /constructor/.test(node.type);
  reader.define(isConstructor ? 'constructor' : 'method', node, {
    declaration: !isConstructor && node.field('body') === NONE,
    seen: isConstructor ? 'nowhere' : undefined,
  });
  openFunction(node, reader);
};

/**
 * Types of nodes that do not change how a name in them is used: parts of a type or path, and several names before one
 * `=`.
 */
const AROUND_NAME = /^(?:generic_name|generic_function|qualified_identifier|template_function|expression_list)$/;
const CHANGE = /^(?:update_expression|(?:inc|dec)_statement|(?:postfix|prefix)_unary_expression)$/;

/** Returns how a name or member is used in an expression, by what most grammars have in common. */
export function getKind({parent, role}: Node): ReferenceKind {
  if (AROUND_NAME.test(parent.type)) return getKind(parent);
  if (role === 'function' && /call|invocation/.test(parent.type)) return 'call';
  return CHANGE.test(parent.type) || (role === 'left' && /assignment/.test(parent.type)) ? 'write' : 'read';
}
