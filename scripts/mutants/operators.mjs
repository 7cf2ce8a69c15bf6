// Finds the mutants that a source can have: small changes of its text, found by its syntax. Types, imports and texts
// for people are not changed.
import {parseSync} from 'rolldown/utils';

/**
 * One change of a source: its text from `start` to `end` becomes `text`. `probe` is the smallest expression or statement
 * that runs whenever the changed code runs. `isStatic`: the code runs once, when the module is loaded.
 * @typedef {{kind: string, start: number, end: number, text: string, probe: [start: number, end: number],
 *   isStatement: boolean, isStatic: boolean}} Change
 * @typedef {{type: string, start: number, end: number, [key: string]: any}} Node
 */

const OPPOSITES = {'<': '>=', '>=': '<', '>': '<=', '<=': '>', '===': '!==', '!==': '===', '==': '!=', '!=': '=='};
const BOUNDARIES = {'<': '<=', '<=': '<', '>': '>=', '>=': '>'};
const ARITHMETIC = {'+': '-', '-': '+', '*': '/', '/': '*', '%': '*'};
const ASSIGNMENTS = {'+=': '-=', '-=': '+=', '??=': '=', '||=': '=', '&&=': '='};
const METHODS = new Map(
  [
    ['some', 'every'],
    ['startsWith', 'endsWith'],
    ['min', 'max'],
    ['floor', 'ceil'],
  ].flatMap(([one, other]) => [
    [one, other],
    [other, one],
  ]),
);
/** Methods that return their object with fewer, more or reordered items. Dropping such a call keeps the type. */
const FILTERS = new Set(['filter', 'trim', 'trimEnd', 'trimStart', 'sort', 'toSorted', 'reverse', 'toReversed']);
/** Calls whose effect no test can see: debug output, and whether a timer keeps the process alive. */
const UNSEEN_CALL = /^(?:super$|console\.|debug$)|\.(?:unref|ref)$/;
/** Integers above this are doubled or halved, because a change by one hardly makes another program. */
const MAX_COUNT = 16;
const FUNCTION = /^(?:FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/;
/** Syntax of TypeScript that contains expressions. All other such syntax exists only for types. */
const WITH_EXPRESSION = /^TS(?:As|NonNull|Satisfies|TypeAssertion|Instantiation|ParameterProperty)/;

/**
 * @param {string} file its extension decides the language
 * @param {string} code
 * @returns {Change[]} in the order of the text
 */
export function findChanges(file, code) {
  const {program, errors} = parseSync(file, code);
  if (errors.length > 0) throw new Error(`${file}: ${errors[0]?.message}`);
  /** @type {Change[]} */
  const changes = [];
  /** @param {Node} node @param {readonly Node[]} above the nodes around it, the nearest first */
  const visit = (node, above) => {
    for (const change of changesOf(node, above, code)) {
      const isStatement = /Statement$/.test(change.at.type);
      const {kind, start, end, text, at} = change;
      const isStatic = ![node, ...above].some((each, index, all) => isLate(each, all[index - 1]));
      changes.push({kind, start, end, text, probe: [at.start, at.end], isStatement, isStatic});
    }
    for (const child of childrenOf(node)) visit(child, [node, ...above]);
  };
  visit(program, []);
  return changes.sort((a, b) => a.start - b.start || a.end - b.end);
}

/**
 * Returns whether code in `child` runs later than the code around `node`, or never.
 * @param {Node} node
 * @param {Node} [child]
 */
function isLate(node, child) {
  return FUNCTION.test(node.type) || (node.type === 'PropertyDefinition' && !node.static && child === node.value);
}

/** @param {Node} node @returns {Node[]} */
function childrenOf(node) {
  return Object.values(node)
    .flat()
    .filter(
      (child) => typeof child?.type === 'string' && (!child.type.startsWith('TS') || WITH_EXPRESSION.test(child.type)),
    )
    .filter(({type}) => !/^(?:Import|ExportAll)|^Decorator$/.test(type) || type === 'ImportExpression');
}

/**
 * @param {Node} node
 * @param {readonly Node[]} above
 * @param {string} code
 * @returns {{kind: string, start: number, end: number, text: string, at: Node}[]}
 */
function changesOf(node, above, code) {
  const textOf = (/** @type {Node} */ {start, end}) => code.slice(start, end);
  const whole = (/** @type {string} */ kind, /** @type {string} */ text, /** @type {Node} */ at = node) => ({
    ...{kind, start: node.start, end: node.end, text, at: expressionAround(at, above)},
  });
  const operator = (/** @type {string} */ kind, /** @type {string | undefined} */ text) => {
    if (text === undefined) return [];
    const start = code.indexOf(node.operator, node.left.end);
    return [{kind, start, end: start + node.operator.length, text, at: node}];
  };
  const inside = (
    /** @type {string} */ kind,
    /** @type {Node} */ changed,
    /** @type {string} */ text,
    at = changed,
  ) => ({
    ...{kind, start: changed.start, end: changed.end, text, at},
  });
  switch (node.type) {
    case 'BinaryExpression':
      return [
        ...operator('boundary', BOUNDARIES[node.operator]),
        ...operator('opposite', OPPOSITES[node.operator]),
        ...(node.operator === '+' && isText(node) ? [] : operator('arithmetic', ARITHMETIC[node.operator])),
      ];
    case 'LogicalExpression':
      if (node.operator !== '??') return operator('logic', node.operator === '&&' ? '||' : '&&');
      return [whole('left', textOf(node.left)), whole('right', textOf(node.right))];
    case 'IfStatement':
    case 'ConditionalExpression':
      return [inside('true', node.test, 'true'), inside('false', node.test, 'false')];
    case 'WhileStatement':
      return node.test.type === 'Literal' ? [] : [inside('false', node.test, 'false')];
    case 'UnaryExpression':
      return node.operator === '!' ? [whole('not', textOf(node.argument))] : [];
    case 'AssignmentExpression':
      return isText(node.right) ? [] : operator('assignment', ASSIGNMENTS[node.operator]);
    case 'UpdateExpression':
      return [
        whole(
          'update',
          textOf(node).replace(/\+\+|--/, (sign) => (sign === '++' ? '--' : '++')),
        ),
      ];
    case 'ExpressionStatement':
      return isRemovable(node.expression, textOf) ? [whole('removed', ';')] : [];
    case 'TryStatement':
      return node.finalizer?.body.length > 0 ? [inside('no-finally', node.finalizer, '{}', node)] : [];
    case 'ReturnStatement':
      return mayReturnNothing(node, above, textOf) ? [inside('undefined', node.argument, 'undefined')] : [];
    case 'CallExpression':
      return callChanges(node, above, expressionAround(node, above));
    case 'Literal':
      return literalChanges(node, above).map(([kind, text]) => whole(kind, text));
    default:
      return [];
  }
}

/**
 * Returns the whole chain of `?.` for a call inside it, because the chain is evaluated as a whole.
 * @param {Node} node
 * @param {readonly Node[]} above
 */
function expressionAround(node, above) {
  const links = /^(?:CallExpression|MemberExpression|TSNonNullExpression|ChainExpression)$/;
  if (!links.test(node.type)) return node;
  let chain = node;
  for (const [index, each] of above.entries()) {
    const below = above[index - 1] ?? node;
    if (!links.test(each.type) || (each.callee !== below && each.object !== below && each.expression !== below)) break;
    if (each.type === 'ChainExpression') chain = each;
  }
  return chain;
}

/** @param {Node} node @param {readonly Node[]} above @param {Node} at */
function callChanges({callee, end, arguments: given}, above, at) {
  if (callee.type !== 'MemberExpression' || callee.computed) return [];
  const {object, property} = callee;
  const isMath = /^(?:min|max|floor|ceil)$/.test(property.name);
  const other = isMath && object.name !== 'Math' ? undefined : METHODS.get(property.name);
  const swapped = other && {kind: other, start: property.start, end: property.end, text: other, at};
  // As a statement, such a call changes its object. The removal of the statement covers that.
  const isDropped = FILTERS.has(property.name) && given.length < 2 && above[0]?.type !== 'ExpressionStatement';
  const dropped = isDropped && {kind: `no-${property.name}`, start: object.end, end, text: '', at};
  return [swapped, dropped].filter((change) => typeof change === 'object');
}

/** @param {Node} node @param {readonly Node[]} above @returns {[kind: string, text: string][]} */
function literalChanges({value, raw, start}, [parent]) {
  const isKey = parent?.key?.start === start && !parent.computed;
  if (isKey || parent?.type === 'WhileStatement') return [];
  if (typeof value === 'boolean') return [['flipped', String(!value)]];
  if (typeof value === 'string') {
    const isCompared = parent?.type === 'BinaryExpression' && /^[!=]==?$/.test(parent.operator);
    const isReturned = parent?.type === 'ReturnStatement' || parent?.type === 'ArrowFunctionExpression';
    // A string with spaces is a message.
    return (isCompared || isReturned) && /^\S+$/.test(value) ? [['empty', "''"]] : [];
  }
  if (typeof value !== 'number') return [];
  if (!Number.isInteger(value)) return [['double', String(value * 2)]];
  if (value <= MAX_COUNT || /^0[xob]/i.test(raw)) {
    const less = value > 0 ? [/** @type {[string, string]} */ (['less', String(value - 1)])] : [];
    return [['more', String(value + 1)], ...less];
  }
  return [
    ['double', String(value * 2)],
    ['half', String(Math.floor(value / 2))],
  ];
}

/** @param {Node} node */
function isText(node) {
  if (node.type === 'BinaryExpression') return isText(node.left) || isText(node.right);
  return node.type === 'TemplateLiteral' || (node.type === 'Literal' && typeof node.value === 'string');
}

/** @param {Node} expression @param {(node: Node) => string} textOf */
function isRemovable(expression, textOf) {
  const {type, argument, operator} = expression;
  if (type === 'AwaitExpression' || (type === 'UnaryExpression' && operator === 'void'))
    return isRemovable(argument, textOf);
  if (type === 'ChainExpression') return isRemovable(expression.expression, textOf);
  if (type === 'AssignmentExpression') return !/Pattern$/.test(expression.left.type);
  return type === 'CallExpression' && !UNSEEN_CALL.test(textOf(expression.callee));
}

/** @param {Node} node @param {readonly Node[]} above @param {(node: Node) => string} textOf */
function mayReturnNothing({argument}, above, textOf) {
  if (!argument || textOf(argument) === 'undefined') return false;
  const type = above.find((each) => FUNCTION.test(each.type))?.returnType;
  return type && /\bundefined\b/.test(textOf(type));
}
