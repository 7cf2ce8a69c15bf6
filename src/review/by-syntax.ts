/**
 * Finds problems that syntax alone shows in the changed lines, without a model: an import that is not used, a test that
 * asserts nothing, an error that is swallowed, a call with a wrong number of arguments.
 */
import {getLanguage} from '../code-index/languages/index.ts';
import {type FileFacts, unpackUses} from '../code-index/syntax/file-facts.ts';
import {SourceParser} from '../code-index/syntax/parser.ts';
import {NONE, type Node, type SyntaxTree} from '../code-index/syntax/syntax-tree.ts';
import {isGenerated, isTestPath} from '../core/util/file-kinds.ts';
import type {ChangedFile} from './change.ts';
import {type Finding, rank} from './claims.ts';

type Found = Pick<Finding, 'severity' | 'title' | 'line' | 'endLine' | 'failure'>;

export async function reviewBySyntax(files: readonly ChangedFile[]): Promise<Finding[]> {
  const parser = new SourceParser();
  const found: Finding[] = [];
  for (const file of files) {
    const language = getLanguage(file.path);
    if (file.text === undefined || language === undefined || isGenerated(file.path)) continue;
    const facts = await parser.parse(file.text, language);
    const tree = await parser.parseTree(file.text, language);
    if (!facts || !tree) continue;
    const changed = listChangedLines(file);
    const isChanged = ({line, endLine}: Found) => [...changed].some((each) => line <= each && each <= endLine);
    const all = [
      ...findSwallowed(facts),
      ...(isReexporting(file.path) ? [] : findUnusedImports(facts, tree)),
      ...(isTestPath(file.path) ? findEmptyTests(tree) : []),
      ...findWrongCalls(tree),
    ];
    found.push(...all.filter(isChanged).map((each) => toFinding(each, file.path)));
  }
  return rank(found);
}

function toFinding(found: Found, file: string): Finding {
  return {...found, file, why: 'The syntax shows it.', by: ['syntax'], verified: 'plausible'};
}

/** Returns the lines that the change added or replaced; all lines where the whole file is the change. */
function listChangedLines({patch, hunks}: ChangedFile): ReadonlySet<number> {
  const changed = new Set<number>();
  if (patch === '') for (const {from, to} of hunks) for (let line = from; line <= to; line += 1) changed.add(line);
  let line = 0;
  for (const text of patch.split('\n')) {
    const start = /^@@ -\d+,\d+ \+(\d+),/.exec(text)?.[1];
    if (start !== undefined) line = Number(start);
    else if (text.startsWith('+')) changed.add(line++);
    else if (text.startsWith(' ')) line += 1;
  }
  return changed;
}

function findSwallowed({emptyCatches}: FileFacts): Found[] {
  const failure = 'When it fails, nobody hears of it, and the program goes on as if it had not.';
  return emptyCatches.map(({line}) => ({
    severity: 'medium',
    title: 'An error is swallowed',
    line,
    endLine: line,
    failure,
  }));
}

/** Files that import names only to pass them on to their importers. */
const isReexporting = (file: string) => /(?:^|\/)__init__\.py$/.test(file);
/** Languages whose imports bind the names that they list. */
const BINDING = new Set(['typescript', 'tsx', 'javascript', 'python', 'java']);

function findUnusedImports(facts: FileFacts, {text}: SyntaxTree): Found[] {
  if (!BINDING.has(facts.language)) return [];
  const used = new Set(
    unpackUses(facts).flatMap(({name, kind, receiver}) => (kind === 'import' ? [] : [name, receiver])),
  );
  return facts.imports.flatMap(({line, specifier, names, reexport}) => {
    if (reexport || specifier === '__future__') return [];
    const unused = names.filter(
      ({local}) =>
        local !== '' && local !== '*' && local !== 'React' && !used.has(local) && countWord(text, local) === 1,
    );
    return unused.map(({local}) => ({
      severity: 'low',
      title: `The import ${local} is not used`,
      line,
      endLine: line,
      failure: 'It is loaded for nothing, and readers look for its use.',
    }));
  });
}

/** A name in a comment, a text or a list of exports counts as used. */
function countWord(text: string, word: string): number {
  return text.split(/[^\p{L}\p{N}_$]+/u).filter((each) => each === word).length;
}

const ASSERTS = /expect|assert|should|verify|raises|fail|throws|check|\bt\.\w+\s*\(|\brequire\./i;

function findEmptyTests(tree: SyntaxTree): Found[] {
  const found: Found[] = [];
  for (const node of tree.nodes) {
    const name = getTestName(node);
    if (name === undefined || ASSERTS.test(withoutName(node))) continue;
    const {line} = tree.place(node.start);
    const {line: endLine} = tree.place(node.end);
    const failure = 'It passes whatever the code does.';
    found.push({severity: 'medium', title: `The test ${name} asserts nothing`, line, endLine, failure});
  }
  return found;
}

/** Returns the name of a test with a body; undefined for another node. */
function getTestName(node: Node): string | undefined {
  const type = node.type;
  if (type === 'call_expression') {
    const [title = NONE, body = NONE] = node.field('arguments').named();
    const isTest = /^(?:test|it)(?:\.only)?$/.test(node.field('function').text);
    return isTest && /function/.test(body.type) ? title.text : undefined;
  }
  if (!/^function_(?:definition|declaration)$/.test(type)) return undefined;
  const name = node.field('name').text;
  return /^(?:test_\w|Test[A-Z])/.test(name) ? name : undefined;
}

/** Returns the text of a test after its name, which may itself say what it checks. */
function withoutName(node: Node): string {
  const body = node.field('body');
  if (body !== NONE) return body.text;
  const [, last = NONE] = node.field('arguments').named();
  return last.text;
}

interface Signature {
  readonly least: number;
  readonly most: number;
}

/** Compares calls with the functions of the same file whose name has one meaning there. */
function findWrongCalls(tree: SyntaxTree): Found[] {
  const signatures = readSignatures(tree);
  const found: Found[] = [];
  for (const node of tree.nodes) {
    if (!/^call(?:_expression)?$/.test(node.type)) continue;
    const name = node.field('function').text;
    const signature = signatures.get(name);
    const args = node
      .field('arguments')
      .named()
      .filter((each) => each.type !== 'comment');
    const isOpen = args.some((each) => /spread|splat|variadic|generator|template/.test(each.type));
    if (!signature || isOpen || (args.length >= signature.least && args.length <= signature.most)) continue;
    const {line} = tree.place(node.start);
    const wants = signature.least === signature.most ? signature.most : `${signature.least} to ${signature.most}`;
    const failure = `${name} takes ${wants} arguments, and this call gives ${args.length}.`;
    found.push({
      severity: 'high',
      title: `${name} is called with a wrong number of arguments`,
      line,
      endLine: line,
      failure,
    });
  }
  return found;
}

function readSignatures({nodes}: SyntaxTree): Map<string, Signature> {
  const found = new Map<string, Signature>();
  const twice = new Set<string>();
  for (const node of nodes) {
    const type = node.type;
    const name = node.field('name').text;
    if (name === '' || !/declar|definition|signature|parameter|import/.test(type)) continue;
    const isTop = ['program', 'module', 'source_file', 'export_statement'].includes(node.parent.type);
    const signature = /^function_(?:declaration|definition)$/.test(type) && isTop ? readSignature(node) : undefined;
    if (found.has(name) || !signature) twice.add(name);
    else found.set(name, signature);
  }
  for (const name of twice) found.delete(name);
  // A parameter or a variable of that name may hide the function.
  for (const node of nodes) {
    if (!/^identifier$/.test(node.type) || !found.has(node.text)) continue;
    const role = node.role;
    const isBinding = role === 'left' || role === 'pattern' || /parameter|pattern/.test(node.parent.type);
    if (isBinding) found.delete(node.text);
  }
  return found;
}

/** Returns undefined for a function that takes any number, or reads its arguments in another way. */
function readSignature(node: Node): Signature | undefined {
  const list = node.field('parameters');
  if (list === NONE || /\barguments\b|\.\.\.|\*/.test(`${list.text} ${hasArguments(node)}`)) return undefined;
  let [least, most] = [0, 0];
  for (const parameter of list.named()) {
    const type = parameter.type;
    if (type === 'comment' || parameter.text.startsWith('this:')) continue;
    // Go names several parameters of one type together.
    const names =
      type === 'parameter_declaration' ? parameter.children.filter((each) => each.role === 'name').length : 1;
    const isOptional = /optional|default|assignment/.test(type) || parameter.field('value') !== NONE;
    most += Math.max(1, names);
    if (!isOptional) least += Math.max(1, names);
  }
  return {least, most};
}

const hasArguments = (node: Node) => (/\barguments\b/.test(node.text) ? 'arguments' : '');
