/** Rules of C and C++. Both use the grammar of C++. */
import type {DefinitionKind, ReferenceKind} from '../contract.ts';
import type {FactsReader, LanguageRules, NameUse, Rule} from '../syntax/facts-reader.ts';
import {NONE, type Node} from '../syntax/syntax-tree.ts';
import {bindNames, define, getKind, inheritAll, KEY, openBlock, openInnerBlock, reportEmptyCatch} from './rules.ts';

/**
 * Matches macros that the grammar takes for names and types: before the name of a class (`class API_EXPORT Parser {`),
 * around the type of a function (`DECLARE(int) run(void);`), and alone on a line (`LIB_BEGIN_NAMESPACE`).
 */
const MACROS =
  /(?<=\b(?:class|struct)\s+)[A-Z][A-Z0-9_]{2,}(?:\([^()\n]*\))?(?=\s+\w+\s*(?:final\b\s*)?[:{])|^[A-Z][A-Z0-9_]+\(([\w\s]+[\s*]*)\)(?=\s+\w+\s*\()|^[A-Z][A-Z0-9]*_[A-Z0-9_]*$(?=\s+(?:class|struct|enum|template)\b)|^[A-Z_]*(?:BEGIN|END)[A-Z_]*$/gm;

/** Blanks such macros, but for the type. Their names are read as uses all the same. */
export function hideMacros(text: string): string {
  return text.replace(MACROS, (macro, type = '') => type.padStart(macro.length - 1).padEnd(macro.length));
}

const readMacros: Rule = ({start, text}, reader) => {
  for (const {0: macro, index} of text.matchAll(MACROS)) {
    reader.textUses({start: start + index, text: macro.replace(/(?<=\().*/s, '')});
  }
};

interface Declared {
  /** Leaf of the name. */
  readonly name: Node;
  /** Classes and namespaces before the name: `A::B::name`. */
  readonly scopes: readonly string[];
  /** The declarator with the parameters; NONE when it is not a function. */
  readonly function: Node;
}

/** Finds the name that a declarator declares, through pointers, arrays and functions. */
function findDeclared(declarator: Node): Declared | undefined {
  let at = declarator;
  let called = NONE;
  let isPointer = false;
  const scopes: string[] = [];
  while (at !== NONE) {
    if (/^(?:(?:field_|type_)?identifier|operator_name|destructor_name)$/.test(at.type)) {
      // `int (*f)(int)` declares a variable.
      return {name: at, scopes, function: isPointer ? NONE : called};
    }
    if (at.type === 'qualified_identifier') {
      const scope = at.field('scope').text.replace(/<[\s\S]*$/, '');
      if (scope !== '') scopes.push(scope);
      at = at.field('name');
      if (at.type === 'template_function') at = at.field('name');
      continue;
    }
    if (at.type === 'function_declarator') called = at;
    if (at.type === 'pointer_declarator' && called !== NONE) isPointer = true;
    const inner = at.named().find(({type}) => /^(?:field_|qualified_)?identifier$|_declarator$/.test(type));
    at = at.field('declarator').or(inner ?? NONE);
  }
  return undefined;
}

function isStatic(node: Node): boolean {
  return node.named('storage_class_specifier').some(({text}) => text === 'static');
}

function describeFunction({name, scopes}: Declared, reader: FactsReader) {
  const container = [...reader.container, ...scopes];
  const isOutside = scopes.length > 0;
  const isMember = reader.isInClass || isOutside;
  const isConstructor = isMember && container.at(-1) === name.text;
  const kind = isConstructor ? 'constructor' : isMember ? 'method' : 'function';
  return {kind, name, container, seen: isConstructor ? 'nowhere' : isOutside ? 'member' : undefined} as const;
}

const defineFunction: Rule = (node, reader) => {
  const declared = findDeclared(node.field('declarator'));
  if (declared && /identifier$/.test(declared.name.type)) {
    const {kind, ...details} = describeFunction(declared, reader);
    reader.define(kind, node, {...details, exported: reader.isInClass || !isStatic(node)});
    // A body outside of the class sees the members of the class.
    reader.openScope(node, 'function', declared.scopes.length > 0 ? details.container : undefined);
  } else reader.openScope(node, 'function');
  if (declared) readParameters(declared.function, reader);
};

const readParameters: Rule = (node, reader) => {
  for (const parameter of node.field('parameters').named()) bindDeclared(parameter, reader);
};

/** Declares the parameter or variable of a declaration as a local variable. */
const bindDeclared: Rule = (node, reader) => {
  reader.local(findDeclared(node.field('declarator'))?.name ?? NONE, node.field('type').text);
};

const defineDeclaration: Rule = (node, reader) => {
  const modifiers = node.named().map(({text}) => text);
  const isConstant = modifiers.includes('constexpr') || (modifiers.includes('const') && !node.text.includes('*'));
  const isMember = reader.isInClass;
  const exported = isMember || !isStatic(node);
  const type = node.field('type').text;
  for (const declarator of node.named().filter(({role}) => role === 'declarator')) {
    const structured = getStructured(declarator);
    const declared = structured === NONE ? findDeclared(declarator) : undefined;
    bindNames(structured, reader);
    if (!declared || !/identifier$/.test(declared.name.type)) continue;
    const {name, scopes} = declared;
    if (declared.function !== NONE && declarator.type !== 'init_declarator') {
      definePrototype(declared, node, exported, reader);
    } else if (isMember || scopes.length > 0) {
      const container = [...reader.container, ...scopes];
      reader.defineSingle('field', declarator, {name, exported, container, seen: 'member', type});
    } else if (reader.isOutside) {
      const declaration = modifiers.includes('extern');
      reader.defineSingle(isConstant ? 'constant' : 'variable', declarator, {name, exported, declaration, type});
    } else reader.local(name, type);
  }
};

/** Returns the `[a, b]` of `auto [a, b] = x` or `auto &[a, b] = x`. */
function getStructured(declarator: Node): Node {
  const isIt = declarator.type === 'structured_binding_declarator';
  return isIt ? declarator : declarator.child('structured_binding_declarator');
}

/** Defines a prototype of a function or method. */
function definePrototype(declared: Declared, node: Node, exported: boolean, reader: FactsReader): void {
  if (!reader.isOutside) return;
  const {kind, ...details} = describeFunction(declared, reader);
  reader.defineSingle(kind, node, {...details, exported, declaration: true});
  openBlock(node, reader);
  readParameters(declared.function, reader);
}

/** A struct without a body only refers to a definition elsewhere, so it defines nothing. */
function defineClass(kind: DefinitionKind): Rule {
  return (node, reader) => {
    if (node.field('body') === NONE) return;
    const name = node.child('type_identifier');
    reader.define(kind, node, {name, seen: reader.isInClass ? undefined : 'here'});
    inheritAll(node, /^base_class_clause$/, reader);
    reader.openScope(node, 'class');
  };
}

const defineEnum: Rule = (node, reader) => {
  const body = node.field('body');
  const name = node.field('name');
  if (body === NONE) return;
  const isScoped = node.has('class', 'struct');
  const container = [...reader.container, name.text].filter(Boolean);
  // The members of an unscoped enum are visible around the enum.
  for (const member of isScoped ? [] : body.named('enumerator')) {
    reader.defineSingle('enum member', member, {container});
  }
  if (name.type === 'type_identifier') reader.define('enum', node);
  if (isScoped) reader.openScope(node, 'class');
};

const defineEnumerator: Rule = (node, reader) => {
  if (reader.isInClass && node.parent.parent.has('class', 'struct')) reader.define('enum member', node);
};

const defineTypedef: Rule = (node, reader) => {
  for (const declarator of node.named().filter(({role}) => role === 'declarator')) {
    const name = findDeclared(declarator)?.name;
    if (name) reader.defineSingle('type', node, {name});
  }
};

const defineNamespace: Rule = (node, reader) => {
  const name = node.field('name');
  if (name.type === 'namespace_identifier') reader.define('module', node);
  else reader.openContainer(node, [...reader.container, ...name.text.split('::')].filter(Boolean));
  reader.openScope(node, 'module');
};

const defineMacro: Rule = (node, reader) => {
  const value = node.field('value');
  // A macro without a value is an include guard.
  if (node.type === 'preproc_def' && value === NONE) {
    reader.skip(node.field('name'));
    return;
  }
  const own = reader.defineSingle('macro', node, {seen: 'function'});
  const parameters = node.field('parameters').named();
  for (const each of parameters) reader.skip(each);
  reader.textUses(
    value,
    parameters.map(({text}) => text),
    own,
  );
};

const readInclude: Rule = (node, reader) => {
  const path = node.field('path').text;
  if (/^["<]/.test(path)) reader.import(node, path, [{imported: '*', local: '*'}]);
};

const readCatch: Rule = (node, reader) => {
  reportEmptyCatch(node, reader);
  openBlock(node, reader);
  readParameters(node, reader);
};

const readLambda: Rule = (node, reader) => {
  reader.openScope(node, 'function');
  readParameters(node.field('declarator'), reader);
};

const readRange: Rule = (node, reader) => {
  openBlock(node, reader);
  const structured = getStructured(node.field('declarator'));
  if (structured !== NONE) bindNames(structured, reader);
  else reader.local(findDeclared(node.field('declarator'))?.name ?? NONE);
};

const readTypeParameter: Rule = (node, reader) => {
  reader.local(node.child('type_identifier'));
  reader.local(findDeclared(node.field('declarator'))?.name ?? NONE);
};

function getUse(leaf: Node): NameUse {
  const {parent, role} = leaf;
  const {type} = parent;
  if (leaf.type === 'namespace_identifier') {
    const isInner = type === 'qualified_identifier' && parent.parent.type === type && parent.role === 'name';
    return {kind: 'read', member: isInner};
  }
  if (leaf.type === 'field_identifier') {
    return type === 'field_expression' ? {kind: getKind(parent), object: parent.field('argument')} : KEY;
  }
  const isQualified = type === 'qualified_identifier' && role === 'name';
  const whole = isQualified ? parent : leaf;
  const kind = leaf.type === 'type_identifier' ? getTypeKind(whole) : getKind(whole);
  return {kind, object: isQualified ? parent.field('scope') : NONE};
}

function getTypeKind({parent}: Node): ReferenceKind {
  const {type} = parent;
  // In `a::b<T>` the template is inside of the qualified name.
  if (type === 'template_type' || (type === 'qualified_identifier' && parent.role !== 'scope'))
    return getTypeKind(parent);
  if (type === 'base_class_clause') return 'inherit';
  return type === 'new_expression' ? 'call' : 'type';
}

export const cpp: LanguageRules = {
  names: /^(?:type_|field_|namespace_)?identifier$/,
  use: getUse,
  isExported: () => true,
  seesMembersBare: true,
  rules: {
    translation_unit: readMacros,
    preproc_include: readInclude,
    'preproc_def preproc_function_def': defineMacro,
    function_definition: defineFunction,
    'declaration field_declaration': defineDeclaration,
    class_specifier: defineClass('class'),
    'struct_specifier union_specifier': defineClass('struct'),
    enum_specifier: defineEnum,
    enumerator: defineEnumerator,
    type_definition: defineTypedef,
    alias_declaration: (node, reader) => reader.defineSingle('type', node),
    concept_definition: define('type'),
    namespace_definition: defineNamespace,
    'type_parameter_declaration optional_parameter_declaration': readTypeParameter,
    lambda_expression: readLambda,
    catch_clause: readCatch,
    for_range_loop: readRange,
    'for_statement if_statement while_statement': openBlock,
    compound_statement: openInnerBlock,
  },
};
