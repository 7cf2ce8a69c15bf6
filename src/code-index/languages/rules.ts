/** Rules that the languages have in common. */
import type {FactsReader, Rule} from '../syntax/facts-reader.ts';

/** The node sees what is declared in it, and what follows does not. */
export const openBlock: Rule = (node, reader) => reader.openScope(node, 'block');

/** A block of its own, unless it is the body of one of these nodes, which have opened a scope already. */
export function openBlockOutside(bodies: RegExp): Rule {
  return (node, reader) => {
    if (!bodies.test(reader.tree.type(reader.tree.parent(node)))) reader.openScope(node, 'block');
  };
}

/** The child with this role declares a local variable. */
export function bindLocal(role: string): Rule {
  return (node, reader) => reader.local(reader.tree.field(node, role));
}

/** A handler of errors whose body has nothing in it, not even a comment. */
export function reportEmptyCatch(node: number, reader: FactsReader): void {
  const {tree} = reader;
  if ([...tree.named(tree.field(node, 'body'))].length === 0) reader.emptyCatch(node);
}
