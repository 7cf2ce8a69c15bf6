/** Rules of Python. */
import type {ReferenceKind} from '../contract.ts';
import type {FactsReader, LanguageRules, Leaf, NameUse, Rule} from '../syntax/facts-reader.ts';
import {NONE, type SyntaxTree} from '../syntax/syntax-tree.ts';
import {getKind} from './rules.ts';

const defineFunction: Rule = (node, reader, tree) => {
  const isMethod = reader.scopeKind === 'class';
  const name = tree.field(node, 'name');
  const kind = !isMethod ? 'function' : tree.textOf(name) === '__init__' ? 'constructor' : 'method';
  reader.define(kind, node);
  openFunction(node, reader, tree);
};

const openFunction: Rule = (node, reader, tree) => {
  reader.openScope(node, 'function');
  for (const parameter of tree.named(tree.field(node, 'parameters'))) {
    const type = tree.type(parameter);
    if (type === 'identifier') reader.local(parameter);
    const name = tree.field(parameter, 'name');
    const annotation = tree.fieldText(parameter, 'type');
    if (tree.type(name) === 'identifier') reader.local(name, false, annotation);
    // In `*args`, `**kw`, `x: int` and `(a, b)` the names are child nodes.
    for (const inner of /pattern$|typed_parameter/.test(type) ? tree.named(parameter) : []) {
      if (tree.type(inner) === 'identifier') reader.local(inner, false, annotation);
      if (/splat_pattern$/.test(tree.type(inner))) reader.local(tree.child(inner, 'identifier'));
    }
  }
};

const defineClass: Rule = (node, reader, tree) => {
  reader.define('class', node);
  for (const base of tree.named(tree.field(node, 'superclasses'))) {
    if (tree.type(base) !== 'keyword_argument') reader.inherit(base);
  }
  reader.openScope(node, 'class');
};

/** Calls `bind` with each name that the left side of an assignment binds. */
function bindTargets(node: number, bind: (leaf: number) => void, tree: SyntaxTree): void {
  const type = tree.type(node);
  if (type === 'identifier') bind(node);
  else if (/^(?:pattern_list|tuple_pattern|list_pattern|tuple|list|list_splat_pattern|as_pattern_target)$/.test(type)) {
    for (const child of tree.named(node)) bindTargets(child, bind, tree);
  }
}

const readAssignment: Rule = (node, reader, tree) => {
  const left = tree.field(node, 'left');
  const bind = (leaf: number) => {
    const isConstant = /^_*[A-Z][A-Z0-9_]*$/.test(tree.textOf(leaf));
    const type = leaf === left ? getAssignedType(node, tree) : undefined;
    if (reader.scopeKind === 'class') reader.define('field', node, {name: leaf, type});
    else reader.variable(leaf, isConstant ? 'constant' : 'variable', node, {hoists: true, once: true, type});
  };
  bindTargets(left, bind, tree);
  readAttribute(left, node, reader, tree);
};

/** Returns the type in `x: T = …` and `x = T()`. */
function getAssignedType(node: number, tree: SyntaxTree): string | undefined {
  const written = tree.field(node, 'type');
  if (written !== NONE) return tree.textOf(written);
  const value = tree.field(node, 'right');
  const called = tree.type(value) === 'call' ? tree.fieldText(value, 'function') : '';
  return /(?:^|\.)_*[A-Z]\w*$/.test(called) ? called : undefined;
}

/** Defines the field `x` of the class for `self.x = …`. */
function readAttribute(left: number, node: number, reader: FactsReader, tree: SyntaxTree): void {
  if (tree.type(left) !== 'attribute' || tree.fieldText(left, 'object') !== 'self') return;
  reader.ownField(tree.field(left, 'attribute'), node, getAssignedType(node, tree));
}

function bindLocals(role: string): Rule {
  return (node, reader, tree) => {
    const bind = (leaf: number) => reader.variable(leaf, 'variable', leaf, {hoists: true, once: true, quiet: true});
    bindTargets(tree.field(node, role), bind, tree);
  };
}

const readComprehension: Rule = (node, reader, tree) => {
  reader.openScope(node, 'block');
  for (const clause of tree.named(node, 'for_in_clause')) {
    bindTargets(tree.field(clause, 'left'), (leaf) => reader.local(leaf), tree);
  }
};

const readImport: Rule = (node, reader, tree) => {
  for (const part of tree.named(node)) {
    const isAliased = tree.type(part) === 'aliased_import';
    const specifier = tree.textOf(isAliased ? tree.field(part, 'name') : part);
    // `import a.b` binds `a`.
    const local = isAliased ? tree.fieldText(part, 'alias') : specifier.split('.')[0]!;
    reader.import(node, specifier, [{imported: '*', local}]);
  }
};

const readFromImport: Rule = (node, reader, tree) => {
  const from = tree.field(node, 'module_name');
  const names = [...tree.named(node)].flatMap((part) => {
    if (part === from) return [];
    if (tree.type(part) === 'wildcard_import') return [{imported: '*', local: '*'}];
    const imported = tree.textOf(tree.type(part) === 'aliased_import' ? tree.field(part, 'name') : part);
    return [{imported, local: tree.fieldText(part, 'alias') || imported}];
  });
  reader.import(node, tree.textOf(from).replace(/\s/g, ''), names);
};

const readExcept: Rule = (node, reader, tree) => {
  const body = tree.child(node, 'block');
  const [first = NONE, second = NONE] = tree.named(body);
  if (tree.type(first) === 'pass_statement' && second === NONE && !tree.has(node, 'comment')) reader.emptyCatch(node);
};

/** Handles `global x` and `nonlocal x`: assignments in the function change the variable outside of it. */
const readGlobal: Rule = (node, reader, tree) => {
  for (const name of tree.named(node)) reader.outer(tree.textOf(name));
};

function getUse({leaf, parent, type, role}: Leaf, tree: SyntaxTree): NameUse | 'skip' {
  if (type === 'keyword_argument' && role === 'name') return {kind: 'write', object: NONE};
  if (type === 'attribute' && role === 'attribute') {
    return {kind: getPythonKind(parent, tree), object: tree.field(parent, 'object')};
  }
  if (type === 'dotted_name' || type === 'aliased_import') {
    const statement = tree.above(leaf, 'import_statement', 'import_from_statement', 'class_pattern');
    const isFirst = leaf === parent + 1;
    if (tree.type(statement) === 'class_pattern') return isFirst ? {kind: 'read'} : {kind: 'read', object: leaf - 1};
    const isAlias = type === 'aliased_import';
    const isAliased = tree.type(tree.parent(parent)) === 'aliased_import';
    const isPath =
      tree.type(statement) === 'import_statement' || tree.role(isAliased ? tree.parent(parent) : parent) !== 'name';
    if (isAlias) return {kind: 'import'};
    if (isPath) return isFirst && !isAliased && tree.type(statement) === 'import_statement' ? {kind: 'import'} : 'skip';
    return isAliased ? {kind: 'import', object: NONE} : {kind: 'import'};
  }
  return {kind: getPythonKind(leaf, tree)};
}

function getPythonKind(node: number, tree: SyntaxTree): ReferenceKind {
  const parent = tree.parent(node);
  const type = tree.type(parent);
  if (type === 'decorator') return 'call';
  if (tree.role(parent) === 'superclasses') return 'inherit';
  if (type === 'type' || (type === 'generic_type' && tree.type(tree.parent(parent)) === 'type')) return 'type';
  return getKind(node, tree);
}

export const python: LanguageRules = {
  names: new Set(['identifier']),
  use: getUse,
  isExported: ({name, container}) => container.length === 0 && !name.startsWith('_'),
  rules: {
    function_definition: defineFunction,
    lambda: openFunction,
    class_definition: defineClass,
    assignment: readAssignment,
    augmented_assignment: readAssignment,
    named_expression: bindLocals('name'),
    for_statement: bindLocals('left'),
    as_pattern: bindLocals('alias'),
    list_comprehension: readComprehension,
    set_comprehension: readComprehension,
    dictionary_comprehension: readComprehension,
    generator_expression: readComprehension,
    type_alias_statement: (node, reader, tree) => {
      reader.define('type', node, {name: tree.field(node, 'left') + 1});
    },
    import_statement: readImport,
    import_from_statement: readFromImport,
    except_clause: readExcept,
    global_statement: readGlobal,
    nonlocal_statement: readGlobal,
  },
};
