/** Measures how long and how deeply nested a function is. */
import type {SyntaxTree} from './syntax-tree.ts';

export interface NestingRules {
  /** Types of nodes that count as nesting: `if`, loops, `switch`, `try`. */
  readonly nesting: ReadonlySet<string>;
  readonly functions: ReadonlySet<string>;
}

/** @param node the function, or the variable whose value it is */
export function measureFunction(node: number, tree: SyntaxTree, rules: NestingRules) {
  const first = tree.line(tree.start(node));
  const last = tree.line(Math.max(tree.end(node) - 1, tree.start(node)));
  let parameters = 0;
  for (const below of tree.below(node)) {
    if (tree.role(below) !== 'parameters') continue;
    for (const each of tree.named(below)) {
      if (!/comment|self_parameter/.test(tree.type(each)) && tree.textOf(each) !== 'self') parameters += 1;
    }
    break;
  }
  return {lines: last - first + 1, nesting: measureNesting(node, tree, rules), parameters};
}

function measureNesting(node: number, tree: SyntaxTree, {nesting, functions}: NestingRules): number {
  let deepest = 0;
  let isInside = functions.has(tree.type(node));
  const open: number[] = [];
  for (let at = node + 1; at < tree.after(node); at += 1) {
    while (open.length > 0 && at >= tree.after(open.at(-1)!)) open.pop();
    const type = tree.type(at);
    if (!tree.isNamed(at)) continue;
    if (functions.has(type)) {
      // The first function may be the value of a variable. Functions inside it are measured separately.
      if (isInside) at = tree.after(at) - 1;
      isInside = true;
    } else if (nesting.has(type) && !isElseIf(at, tree)) {
      open.push(at);
      deepest = Math.max(deepest, open.length);
    }
  }
  return deepest;
}

/** An `else if` continues the same choice and does not count as nesting. */
function isElseIf(node: number, tree: SyntaxTree): boolean {
  if (!tree.type(node).startsWith('if')) return false;
  return tree.type(tree.parent(node)) === 'else_clause' || tree.role(node) === 'alternative';
}
