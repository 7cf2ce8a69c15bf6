/** Rules that several languages share. */
import {type FactsReader, FUNCTIONS, type Rule} from '../syntax/facts-reader.ts';

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
