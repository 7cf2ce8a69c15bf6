/** Rules of Ruby. */
import type {DefinitionKind} from '../contract.ts';
import type {LanguageRules, Leaf, NameUse, Rule} from '../syntax/facts-reader.ts';
import {NONE, type SyntaxTree} from '../syntax/syntax-tree.ts';

function defineClass(kind: DefinitionKind): Rule {
  return (node, reader, tree) => {
    const name = tree.field(node, 'name');
    const isPath = tree.type(name) === 'scope_resolution';
    const leaf = isPath ? tree.field(name, 'name') : name;
    const scope = isPath ? tree.fieldText(name, 'scope').split('::').filter(Boolean) : [];
    reader.define(kind, node, {name: leaf, exported: true, container: [...reader.container, ...scope], seen: 'here'});
    for (const base of tree.named(tree.field(node, 'superclass'))) reader.inherit(base);
    reader.openScope(node, 'class');
  };
}

const defineMethod: Rule = (node, reader, tree) => {
  const name = tree.field(node, 'name');
  const owner = tree.fieldText(node, 'object');
  const isMember = reader.scopeKind === 'class' || /^[A-Z]/.test(owner);
  const kind = tree.textOf(name) === 'initialize' ? 'constructor' : isMember ? 'method' : 'function';
  const container =
    /^[A-Z]/.test(owner) && reader.container.at(-1) !== owner ? [...reader.container, owner] : reader.container;
  reader.define(kind, node, {exported: true, container});
  reader.openScope(node, 'function');
  readParameters(tree.field(node, 'parameters'), reader, tree);
};

const readParameters: Rule = (parameters, reader, tree) => {
  for (const parameter of tree.named(parameters)) {
    const type = tree.type(parameter);
    if (type === 'identifier') reader.local(parameter);
    else if (type === 'destructured_parameter') readParameters(parameter, reader, tree);
    else reader.local(tree.field(parameter, 'name'));
  }
};

/** Opens the scope of a block, which sees the variables around it. Its parameters are its own. */
const openBlock: Rule = (node, reader, tree) => {
  reader.openScope(node, 'block');
  readParameters(tree.field(node, 'parameters'), reader, tree);
};

const readAssignment: Rule = (node, reader, tree) => {
  const left = tree.field(node, 'left');
  for (const name of tree.type(left) === 'left_assignment_list' ? tree.named(left) : [left]) {
    if (tree.type(name) === 'constant') {
      reader.defineSingle('constant', node, {name, exported: true, seen: 'here'});
    } else if (tree.type(name) === 'identifier' && !reader.knows(tree.textOf(name))) reader.local(name, true);
  }
};

/** Reads calls that declare something: `include M`, `attr_accessor :a`, `require 'x'`. */
const readCall: Rule = (node, reader, tree) => {
  if (tree.field(node, 'receiver') !== NONE) return;
  const method = tree.fieldText(node, 'method');
  const args = [...tree.named(tree.field(node, 'arguments'))];
  const [first = NONE] = args;
  if (/^(?:require|require_relative|load|autoload)$/.test(method)) {
    const path = args.find((each) => tree.type(each) === 'string');
    if (path === undefined) return;
    const text = tree.textOf(path).slice(1, -1);
    reader.import(node, method === 'require_relative' ? `./${text}` : text, [{imported: '*', local: '*'}]);
  } else if (/^(?:include|extend|prepend)$/.test(method) && reader.scopeKind === 'class') {
    for (const base of args) reader.inherit(base);
  } else if (/^(?:attr_(?:accessor|reader|writer)|define_method|alias_method)$/.test(method)) {
    for (const name of method.startsWith('attr') ? args : [first]) {
      if (tree.type(name) === 'simple_symbol') reader.defineText(name, tree.textOf(name).slice(1), 'method', node, 1);
    }
  }
};

function getUse({parent, type, role}: Leaf, tree: SyntaxTree): NameUse | 'skip' {
  if (type === 'call' && role === 'method') {
    const object = tree.field(parent, 'receiver');
    return object === NONE ? {kind: 'call'} : {kind: 'call', object};
  }
  if (type === 'scope_resolution' && role === 'name') {
    const scope = tree.field(parent, 'scope');
    const isBase = tree.type(tree.parent(parent)) === 'superclass';
    return {kind: isBase ? 'inherit' : 'read', ...(scope !== NONE && {object: scope})};
  }
  if (type === 'alias') return {kind: 'read', object: NONE};
  if (type === 'superclass') return {kind: 'inherit'};
  if (role === 'left' || type === 'left_assignment_list') return {kind: 'write'};
  return {kind: 'read'};
}

export const ruby: LanguageRules = {
  names: new Set(['identifier', 'constant']),
  use: getUse,
  seesMembersBare: true,
  rules: {
    module: defineClass('module'),
    class: defineClass('class'),
    singleton_class: (node, reader) => reader.openScope(node, 'class'),
    method: defineMethod,
    singleton_method: defineMethod,
    assignment: readAssignment,
    operator_assignment: readAssignment,
    block: openBlock,
    do_block: openBlock,
    lambda: (node, reader, tree) => {
      reader.openScope(node, 'function');
      readParameters(tree.field(node, 'parameters'), reader, tree);
    },
    for: (node, reader, tree) => reader.local(tree.field(node, 'pattern'), true),
    rescue: (node, reader, tree) => {
      reader.local(tree.child(tree.field(node, 'variable'), 'identifier'));
      if (tree.field(node, 'body') === NONE && !tree.has(node, 'comment')) reader.emptyCatch(node);
    },
    call: readCall,
  },
};
