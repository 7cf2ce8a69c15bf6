/** Rules of Ruby. */
import type {DefinitionKind} from '../contract.ts';
import type {LanguageRules, NameUse, Rule} from '../syntax/facts-reader.ts';
import {NONE, type Node} from '../syntax/syntax-tree.ts';
import {bindParameters, inheritAll, openFunction} from './rules.ts';

function defineClass(kind: DefinitionKind): Rule {
  return (node, reader) => {
    const name = node.field('name');
    const scope = name.field('scope').text.split('::').filter(Boolean);
    const container = [...reader.container, ...scope];
    reader.define(kind, node, {name: name.field('name').or(name), container, seen: 'here'});
    inheritAll(node, /^superclass$/, reader);
    reader.openScope(node, 'class');
  };
}

const defineMethod: Rule = (node, reader) => {
  const owner = node.field('object').text;
  const isOfClass = /^[A-Z]/.test(owner);
  const isMember = reader.isInClass || isOfClass;
  const kind = node.field('name').text === 'initialize' ? 'constructor' : isMember ? 'method' : 'function';
  const around = reader.container;
  const container = isOfClass && around.at(-1) !== owner ? [...around, owner] : around;
  reader.define(kind, node, {container});
  openFunction(node, reader);
};

/** Opens the scope of a block, which sees the variables around it. Its parameters are its own. */
const openBlock: Rule = (node, reader) => {
  reader.openScope(node, 'block');
  bindParameters(node.field('parameters'), reader);
};

const readAssignment: Rule = (node, reader) => {
  const left = node.field('left');
  for (const name of left.type === 'left_assignment_list' ? left.named() : [left]) {
    if (name.type === 'constant') reader.defineSingle('constant', node, {name, seen: 'here'});
    else if (name.type === 'identifier' && !reader.knows(name.text)) reader.local(name, undefined, true);
  }
};

/** Reads calls that declare something: `include M`, `attr_accessor :a`, `require 'x'`. */
const readCall: Rule = (node, reader) => {
  if (node.field('receiver') !== NONE) return;
  const method = node.field('method').text;
  const args = node.field('arguments').named();
  if (/^(?:require|require_relative|load|autoload)$/.test(method)) {
    const path = args.find(({type}) => type === 'string')?.text.slice(1, -1);
    if (path === undefined) return;
    reader.import(node, method === 'require_relative' ? `./${path}` : path, [{imported: '*', local: '*'}]);
  } else if (/^(?:include|extend|prepend)$/.test(method) && reader.isInClass) {
    for (const base of args) reader.inherit(base);
  } else if (/^(?:attr_(?:accessor|reader|writer)|define_method|alias_method)$/.test(method)) {
    for (const name of method.startsWith('attr') ? args : args.slice(0, 1)) {
      if (name.type === 'simple_symbol') reader.defineText(name, 'method', node, 1);
    }
  }
};

function getUse({parent, role}: Node): NameUse {
  const {type} = parent;
  if (type === 'call' && role === 'method') return {kind: 'call', object: parent.field('receiver')};
  if (type === 'scope_resolution' && role === 'name') {
    return {kind: parent.parent.type === 'superclass' ? 'inherit' : 'read', object: parent.field('scope')};
  }
  if (type === 'alias') return {kind: 'read', member: true};
  if (type === 'superclass') return {kind: 'inherit'};
  return {kind: role === 'left' || type === 'left_assignment_list' ? 'write' : 'read'};
}

export const ruby: LanguageRules = {
  names: /^(?:identifier|constant)$/,
  use: getUse,
  isExported: () => true,
  seesMembersBare: true,
  rules: {
    module: defineClass('module'),
    class: defineClass('class'),
    singleton_class: (node, reader) => reader.openScope(node, 'class'),
    'method singleton_method': defineMethod,
    'assignment operator_assignment': readAssignment,
    'block do_block': openBlock,
    lambda: openFunction,
    for: (node, reader) => reader.local(node.field('pattern'), undefined, true),
    rescue: (node, reader) => {
      reader.local(node.field('variable').child('identifier'));
      if (node.field('body') === NONE && !node.has('comment')) reader.emptyCatch(node);
    },
    call: readCall,
  },
};
