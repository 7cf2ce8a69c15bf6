/** Rules of Python. */
import type {ReferenceKind} from '../contract.ts';
import type {LanguageRules, NameUse, Rule} from '../syntax/facts-reader.ts';
import {NONE, type Node} from '../syntax/syntax-tree.ts';
import {bindNames, defineClass, findBound, getKind, KEY, openFunction} from './rules.ts';

const defineFunction: Rule = (node, reader) => {
  const isConstructor = node.field('name').text === '__init__';
  reader.define(!reader.isInClass ? 'function' : isConstructor ? 'constructor' : 'method', node);
  openFunction(node, reader);
};

const readAssignment: Rule = (node, reader) => {
  const left = node.field('left');
  const type = getAssignedType(node);
  for (const name of findBound(left)) {
    const options = {name, type: name === left ? type : undefined};
    const isConstant = /^_*[A-Z][A-Z0-9_]*$/.test(name.text);
    if (reader.isInClass) reader.define('field', node, options);
    else reader.variable(name, isConstant ? 'constant' : 'variable', node, {...options, hoists: true, once: true});
  }
  if (left.type === 'attribute' && left.field('object').text === 'self') {
    reader.ownField(left.field('attribute'), node, type);
  }
};

/** Returns the type in `x: T = …` and `x = T()`. */
function getAssignedType(node: Node): string | undefined {
  const called = node.field('right').field('function').text;
  return node.field('type').text || (/(?:^|\.)_*[A-Z]\w*$/.test(called) ? called : undefined);
}

function bindHoisted(role: string): Rule {
  return (node, reader) => {
    for (const name of findBound(node.field(role))) {
      reader.variable(name, 'variable', name, {hoists: true, once: true, quiet: true});
    }
  };
}

const readComprehension: Rule = (node, reader) => {
  reader.openScope(node, 'block');
  for (const clause of node.named('for_in_clause')) bindNames(clause.field('left'), reader);
};

const readImport: Rule = (node, reader) => {
  for (const part of node.named()) {
    const specifier = part.field('name').or(part).text;
    // `import a.b` binds `a`.
    const local = part.field('alias').text || specifier.split('.')[0]!;
    reader.import(node, specifier, [{imported: '*', local}]);
  }
};

const readFromImport: Rule = (node, reader) => {
  const from = node.field('module_name');
  const names = node.named().flatMap((part) => {
    if (part === from) return [];
    if (part.type === 'wildcard_import') return [{imported: '*', local: '*'}];
    const imported = part.field('name').or(part).text;
    return [{imported, local: part.field('alias').text || imported}];
  });
  reader.import(node, from.text.replace(/\s/g, ''), names);
};

const readExcept: Rule = (node, reader) => {
  const [first = NONE, second] = node.child('block').named();
  if (first.type === 'pass_statement' && !second && !node.has('comment')) reader.emptyCatch(node);
};

/** Handles `global x` and `nonlocal x`: assignments in the function change the variable outside of it. */
const readGlobal: Rule = (node, reader) => {
  for (const name of node.named()) reader.outer(name.text);
};

function getUse(leaf: Node): NameUse {
  const {parent, role} = leaf;
  const {type} = parent;
  if (type === 'keyword_argument' && role === 'name') return KEY;
  if (type === 'attribute' && role === 'attribute') {
    return {kind: getPythonKind(parent), object: parent.field('object')};
  }
  if (type === 'aliased_import') return {kind: 'import'};
  return type === 'dotted_name' ? getPathUse(leaf) : {kind: getPythonKind(leaf)};
}

/** Returns the use of a part of a dotted name, which is imported, or is a class in a pattern. */
function getPathUse(leaf: Node): NameUse {
  const {parent: path} = leaf;
  const isFirst = leaf === path.first;
  const statement = leaf.above('import_statement', 'import_from_statement', 'class_pattern').type;
  if (statement === 'class_pattern') return isFirst ? {kind: 'read'} : {kind: 'read', object: path.first};
  const isAliased = path.parent.type === 'aliased_import';
  if (statement === 'import_statement') return isFirst && !isAliased ? {kind: 'import'} : 'skip';
  if ((isAliased ? path.parent : path).role !== 'name') return 'skip';
  return {kind: 'import', member: isAliased};
}

function getPythonKind(node: Node): ReferenceKind {
  const {parent} = node;
  if (parent.type === 'decorator') return 'call';
  if (parent.role === 'superclasses') return 'inherit';
  const isType = parent.type === 'type' || (parent.type === 'generic_type' && parent.parent.type === 'type');
  return isType ? 'type' : getKind(node);
}

export const python: LanguageRules = {
  names: /^identifier$/,
  use: getUse,
  isExported: (_, name, container) => container.length === 0 && !name.startsWith('_'),
  rules: {
    function_definition: defineFunction,
    lambda: openFunction,
    class_definition: defineClass('class', /^argument_list$/),
    'assignment augmented_assignment': readAssignment,
    named_expression: bindHoisted('name'),
    for_statement: bindHoisted('left'),
    as_pattern: bindHoisted('alias'),
    'list_comprehension set_comprehension dictionary_comprehension generator_expression': readComprehension,
    type_alias_statement: (node, reader) => reader.define('type', node, {name: node.field('left').first}),
    import_statement: readImport,
    import_from_statement: readFromImport,
    except_clause: readExcept,
    'global_statement nonlocal_statement': readGlobal,
  },
};
