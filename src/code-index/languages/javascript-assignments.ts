/** What assignments of JavaScript define and export: methods that are put on objects, and exports of CommonJS. */
import type {FactsReader} from '../syntax/facts-reader.ts';
import {NONE} from '../syntax/syntax-tree.ts';

/** `View.prototype.render = function …`, `app.use = () => …`: a method that is put on an object. */
function defineAssigned(node: number, reader: FactsReader): void {
  const {tree} = reader;
  const left = tree.field(node, 'left');
  const isFunction = /^(?:function_expression|generator_function|arrow_function)$/.test(
    tree.type(tree.field(node, 'right')),
  );
  if (!isFunction || tree.type(left) !== 'member_expression') return;
  const object = tree.textOf(tree.field(left, 'object')).replace(/\.prototype$/, '');
  const container = /^[A-Za-z_$][\w$]*$/.test(object) && !/^(?:exports|self|this)$/.test(object) ? [object] : [];
  const exported = /^(?:module\.)?exports$/.test(object);
  reader.define(tree.field(left, 'property'), 'method', node, {seen: 'member', container, exported});
}

/** `module.exports = f`, `module.exports = {a, b: c}`, `exports.a = b` */
export function readAssignment(node: number, reader: FactsReader): void {
  const {tree} = reader;
  defineAssigned(node, reader);
  const target = tree.textOf(tree.field(node, 'left'));
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
      reader.export(tree.textOf(tree.field(part, 'key')), tree.textOf(named));
    }
  }
}
