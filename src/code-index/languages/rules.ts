/** Rules that several languages share. */
import {type FactsReader, FUNCTIONS, type Rule} from '../syntax/facts-reader.ts';
import {NONE} from '../syntax/syntax-tree.ts';

/** Opens a block scope for the node. */
export const openBlock: Rule = (node, reader) => reader.openScope(node, 'block');

/** Opens a block scope, unless the node is the body of a function or namespace, which has opened a scope already. */
export const openInnerBlock: Rule = (node, reader) => {
  const parent = reader.tree.type(reader.tree.parent(node));
  if (!FUNCTIONS.has(parent) && !parent.endsWith('module')) reader.openScope(node, 'block');
};

/** Declares the child with this role as a local variable. */
export function bindLocal(role: string): Rule {
  return (node, reader) => reader.local(reader.tree.field(node, role));
}

/** Reports an error handler whose body is empty and has no comment. */
export function reportEmptyCatch(node: number, reader: FactsReader): void {
  const {tree} = reader;
  if ([...tree.named(tree.field(node, 'body'))].length === 0) reader.emptyCatch(node);
}

/** Reads an error handler. @param declaration type of the child that names the error */
export function readCatch(declaration: string): Rule {
  return (node, reader) => {
    const {tree} = reader;
    reportEmptyCatch(node, reader);
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
  reader.define(tree.field(node, 'name'), isConstructor ? 'constructor' : 'method', node, facts);
}
