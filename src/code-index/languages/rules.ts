/** Rules that several languages share. */
import type {ReferenceKind} from '../contract.ts';
import {type FactsReader, FUNCTIONS, type Rule} from '../syntax/facts-reader.ts';
import {NONE, type SyntaxTree} from '../syntax/syntax-tree.ts';

/** Opens a block scope for the node. */
export const openBlock: Rule = (node, reader) => reader.openScope(node, 'block');

/** Opens a block scope, unless the node is the body of a function or namespace, which has opened a scope already. */
export const openInnerBlock: Rule = (node, reader, tree) => {
  const parent = tree.type(tree.parent(node));
  if (!FUNCTIONS.has(parent) && !parent.endsWith('module')) reader.openScope(node, 'block');
};

/** Declares the child with this role as a local variable. */
export function bindLocal(role: string): Rule {
  return (node, reader, tree) => reader.local(tree.field(node, role));
}

/** Reports an error handler whose body is empty and has no comment. */
export const reportEmptyCatch: Rule = (node, reader, tree) => {
  if ([...tree.named(tree.field(node, 'body'))].length === 0) reader.emptyCatch(node);
};

/** Reads an error handler. @param declaration type of the child that names the error */
export function readCatch(declaration: string): Rule {
  return (node, reader, tree) => {
    reportEmptyCatch(node, reader, tree);
    reader.openScope(node, 'block');
    reader.local(tree.field(tree.child(node, declaration), 'name'));
  };
}

/** Defines a method or constructor. A constructor has the name of its class, and the bare name means the class. */
export function defineMethod(node: number, reader: FactsReader, exported: boolean): void {
  const {tree} = reader;
  const isConstructor = /constructor/.test(tree.type(node));
  const declaration = !isConstructor && tree.field(node, 'body') === NONE;
  const seen = isConstructor ? ({seen: 'nowhere'} as const) : {};
  const facts = {exported, declaration, ...seen};
  reader.define(isConstructor ? 'constructor' : 'method', node, facts);
}

/** Nodes around a name that is used as they are: parts of its type or path, and several names before one `=`. */
const AROUND_NAME = /^(?:generic_name|generic_function|qualified_identifier|template_function|expression_list)$/;
const CHANGE = /^(?:update_expression|(?:inc|dec)_statement|(?:postfix|prefix)_unary_expression)$/;

/** Returns how a name or member is used in an expression, by what most grammars have in common. */
export function getKind(node: number, tree: SyntaxTree): ReferenceKind {
  const parent = tree.parent(node);
  const type = tree.type(parent);
  const role = tree.role(node);
  if (AROUND_NAME.test(type)) return getKind(parent, tree);
  if (role === 'function' && /call|invocation/.test(type)) return 'call';
  return CHANGE.test(type) || (role === 'left' && /assignment/.test(type)) ? 'write' : 'read';
}
