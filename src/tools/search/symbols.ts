/** Defines the tool `symbols`, which finds definitions and uses of names from syntax trees. */

import {dirname, join, relative} from 'node:path';
import {z} from 'zod';
import type {
  Answer,
  CodeIndex,
  Coverage,
  Definition,
  Import,
  QueryOptions,
  Reference,
} from '../../code-index/contract.ts';
import type {ToolResult} from '../../core/contract/results.ts';
import type {Tool, ToolContext} from '../../core/contract/tool.ts';
import type {ToolFacts} from '../../core/contract/tool-facts.ts';
import {getRoots} from '../../core/permissions/files/file-zone.ts';
import {isInside} from '../../core/util/paths.ts';
import {formatCount, formatNames} from '../../core/util/text.ts';
import {errorResult, textResult} from '../../core/util/tool-output.ts';
import {absolutePath, shownPath, titleFolder} from '../files/model-paths.ts';
import {getSearchPath} from './search-path.ts';
import description from './symbols.md';
import {type Found, formatFiles, formatSyntax, type Show} from './symbols-checks.ts';

const MAX_LINES = 250;
const MAX_NAMED = 5;

/** Modes that the tool's description names for every model. */
const OFFERED = ['definitions', 'references', 'outline', 'importers'] as const;
/**
 * All accepted modes. The offline model uses the further ones; the description leaves them out, because every request
 * carries it.
 */
const MODES = [...OFFERED, 'kinds', 'files', 'syntax'] as const;
type Mode = (typeof MODES)[number];
/** Form of the name in the mode `kinds`: words of the line, a container, kinds (`exported async in Parser: method|function`). */
const KINDS = /^((?:(?!in )\w+ )*)(?:in (\S+): )?([\w|]*)$/;

const input = z.object({
  name: z.string().optional(),
  path: z.string().optional(),
  mode: z.string().meta({enum: OFFERED}).optional(),
});

type SymbolsInput = z.infer<typeof input>;

export const SYMBOLS: ToolFacts = {
  name: 'symbols',
  kind: 'search',
  label: 'Symbols',
  replaces: ['LSP'],
  rulePattern: 'path',
  pathInputs: ['path'],
  ruledBy: 'read_file',
};

/** @param getIndex returns the index of a folder, which is absolute with links resolved */
export function createSymbols(getIndex: (root: string) => CodeIndex): Tool<SymbolsInput> {
  return {
    ...SYMBOLS,
    description: description.trim(),
    input,
    title: ({name, path, mode}, workspace) =>
      `${[mode, name].filter(Boolean).join(' ')}${titleFolder(path, workspace)}`,
    access: ({path}, workspace) => [{kind: 'read', path: absolutePath(path ?? workspace.root, workspace)}],
    run: (given, context) => findSymbols(given, context, getIndex),
  };
}

async function findSymbols(
  given: SymbolsInput,
  context: ToolContext,
  getIndex: (root: string) => CodeIndex,
): Promise<ToolResult> {
  const {name, path} = given;
  const wanted = given.mode ?? (name === undefined ? 'outline' : 'definitions');
  const mode = MODES.find((one) => one === wanted);
  if (mode === undefined) return errorResult(`There is no mode ${wanted}. Modes: ${MODES.join(', ')}.`);
  const missing = findMissing(mode, given);
  if (missing !== undefined) return errorResult(`${mode} needs ${missing}.`);
  const {workspace, mayRead, signal} = context;
  const {base: target, isFolder} = await getSearchPath(path ?? workspace.root, context);
  const isFile = !isFolder;
  const root = getRoots(workspace).find((each) => isInside(target, [each]));
  if (root === undefined && isFile && mode !== 'outline') {
    return errorResult(`${path} is outside of the workspace: only its outline can be read.`);
  }
  const index = getIndex(root ?? (isFile ? dirname(target) : target));
  const inside = relative(index.root, target);
  const show = (file: string) => shownPath(join(index.root, file), workspace);
  const options: QueryOptions = {signal, ...(mayRead && {mayRead})};
  const found = await ask({index, mode, name, path: inside, isFile}, options, show);
  const {lines, coverage, empty, notes} = found;
  const more = lines.length - MAX_LINES;
  const text = [
    ...(lines.length > 0 ? lines.slice(0, MAX_LINES) : [empty]),
    ...(more > 0 ? [`(${formatCount(more, 'more line')}: narrow by path)`] : []),
    ...notes,
    ...describeGaps(coverage, show),
  ];
  return textResult(text.join('\n'), {facts: {read: []}});
}

function findMissing(mode: Mode, {name, path}: SymbolsInput): string | undefined {
  if (mode === 'outline' || mode === 'importers') return path === undefined ? 'a path' : undefined;
  if (mode === 'definitions') return name === undefined && path === undefined ? 'a name or a path' : undefined;
  return mode === 'references' && name === undefined ? 'a name' : undefined;
}

interface SymbolQuestion {
  readonly index: CodeIndex;
  readonly mode: Mode;
  readonly name: string | undefined;
  /** Path relative to the index's root; empty for the whole index. */
  readonly path: string;
  readonly isFile: boolean;
}

async function ask(question: SymbolQuestion, options: QueryOptions, show: Show): Promise<Found> {
  const {index, mode, name = '', path, isFile} = question;
  switch (mode) {
    case 'outline': {
      const answer = isFile ? await index.outline(path, options) : await index.definitions({path}, options);
      const inOrder = isFile ? answer.found : sortByPlace(answer.found.filter(({container}) => container.length === 0));
      return toFound(
        answer,
        inOrder.map((each) => formatDefinition(each, show)),
        isFile && answer.coverage.files === 0 ? `${show(path)} is not parsed.` : 'No definitions.',
      );
    }
    case 'kinds':
    case 'definitions': {
      const answer = await index.definitions({...(mode !== 'kinds' && name !== '' && {name}), path}, options);
      const found = mode === 'kinds' ? answer.found.filter(createKindFilter(name)) : answer.found;
      return toFound(
        answer,
        found.map((each) => formatDefinition(each, show)),
        `No definition${name === '' ? '' : ` of ${name}`} in ${formatCount(answer.coverage.files, 'file')}.`,
      );
    }
    case 'references':
      return formatReferences(await index.references({name, path}, options), name, show);
    case 'importers': {
      const answer = await index.importers(path, options);
      const empty = `No import of ${show(path)} in ${formatCount(answer.coverage.files, 'file')}.`;
      return toFound(
        answer,
        answer.found.map((each) => formatImport(each, show)),
        empty,
      );
    }
    case 'files':
      return formatFiles(await index.files({path}, options), show);
    case 'syntax':
      return formatSyntax(index, path, options, show);
  }
}

function createKindFilter(form: string): (definition: Definition) => boolean {
  const [, words = '', inside, kinds = ''] = KINDS.exec(form) ?? [];
  return ({kind, exported, container, text}) =>
    (kinds === '' || kinds.split('|').includes(kind)) &&
    (inside === undefined || container.at(-1) === inside) &&
    words.split(' ').every((word) => (word === 'exported' ? exported : new RegExp(`\\b${word}\\b`, 'i').test(text)));
}

function toFound({coverage}: Answer<unknown>, lines: readonly string[], empty: string): Found {
  return {lines, empty, notes: [], coverage};
}

function sortByPlace(definitions: readonly Definition[]): readonly Definition[] {
  return definitions.toSorted((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : a.line - b.line));
}

/** Local variables with the same name are counted, not listed. */
function formatReferences({found, coverage}: Answer<Reference>, name: string, show: Show): Found {
  const meant = found.filter(({target}) => target !== 'local');
  const locals = found.length - meant.length;
  const note = `(${formatCount(locals, 'use')} of local variables of this name left out)`;
  return {
    lines: meant.map((each) => formatReference(each, show)),
    empty: `No use of ${name} in ${formatCount(coverage.files, 'file')}.`,
    notes: locals > 0 ? [note] : [],
    coverage,
  };
}

function formatDefinition(definition: Definition, show: Show): string {
  const {path, line, endLine, kind, name, container, declaration, text} = definition;
  const what = declaration ? `${kind} (declared)` : kind;
  const end = endLine > line ? ` (to ${endLine})` : '';
  return `${show(path)}:${line} ${what} ${[...container, name].join('.')}${end}: ${text}`;
}

function formatReference({path, line, kind, inside, target, text}: Reference, show: Show): string {
  const where = inside === undefined ? '' : ` in ${inside}`;
  const to = target === 'unknown' ? ' (of what is unknown)' : target === 'this file' ? '' : ` (of ${show(target)})`;
  return `${show(path)}:${line} ${kind}${where}${to}: ${text}`;
}

function formatImport({path, line, specifier, names}: Import, show: Show): string {
  const list = names.map(({imported, local}) => (imported === local ? local : `${imported} as ${local}`)).join(', ');
  return `${show(path)}:${line} import ${specifier}${list === '' ? '' : `: ${list}`}`;
}

/** Describes what was not searched, so that "nothing found" is not mistaken for "there is nothing". */
function describeGaps({skipped, unparsed, withErrors}: Coverage, show: Show): string[] {
  const kinds = Object.entries(unparsed).slice(0, MAX_NAMED);
  const files = skipped.map(({path, why}) => `${show(path)} (${why})`);
  const broken = withErrors.map(show);
  return [
    ...(kinds.length > 0 ? [`(not parsed: ${kinds.map(([end, count]) => `${count} .${end}`).join(', ')})`] : []),
    ...(files.length > 0 ? [`(skipped: ${formatNames(files, MAX_NAMED)})`] : []),
    ...(broken.length > 0 ? [`(with syntax that was not understood: ${formatNames(broken, MAX_NAMED)})`] : []),
  ];
}
