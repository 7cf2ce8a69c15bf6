/**
 * Writes the prompts of finders and verifiers: groups of changed files that fit the window, with the callers of the
 * changed definitions.
 */
import path from 'node:path';
import type {CodeIndex, Definition} from '../code-index/contract.ts';
import {partition} from '../core/fan-out/plan.ts';
import {isCode, isGenerated} from '../core/util/file-kinds.ts';
import {type Change, type ChangedFile, readText} from './change.ts';
import {type Claim, countLines} from './claims.ts';

export interface Callers {
  /** Lines for the prompt, by the changed file whose definitions they use. */
  readonly shown: ReadonlyMap<string, readonly string[]>;
  /** Texts of the files with these lines. */
  readonly texts: ReadonlyMap<string, string>;
}

const CHARS_PER_TOKEN = 3.5;
/** Characters. No group is larger, even in a large window, because a model overlooks more in a longer text. */
const MAX_GROUP = 200_000;
const MAX_WHOLE_FILE = 60_000;
/** Lines around a hunk or a claim. */
const AROUND = 40;
const MAX_CALLERS = 20;
const MAX_HUNKS = 30_000;

export function estimateTokens(text: string): number {
  return Math.ceil(text.length / CHARS_PER_TOKEN);
}

/**
 * Finds where the definitions that the hunks touch are used in other files.
 * @param mayRead whether the file, as an absolute path, may be read
 */
export async function findCallers(
  {top, files}: Change,
  index: CodeIndex,
  mayRead: (file: string) => boolean,
  signal: AbortSignal,
): Promise<Callers> {
  const [shown, texts] = [new Map<string, string[]>(), new Map<string, string>()];
  const options = {signal, mayRead};
  for (const file of files.filter((each) => each.text !== undefined && isCode(each.path))) {
    const {found} = await index.outline(file.path, options).catch(() => ({found: []}));
    const lines: string[] = [];
    for (const {name} of found.filter((each) => isTouched(each, file)).slice(0, MAX_CALLERS)) {
      if (lines.length >= MAX_CALLERS) break;
      const uses = (await index.references({name}, options)).found;
      const others = uses.filter(
        ({path: from, kind, target}) => from !== file.path && isUse(kind) && isSame(target, file),
      );
      for (const use of others.slice(0, MAX_CALLERS - lines.length)) {
        if (!texts.has(use.path)) texts.set(use.path, (await readText(path.join(top, use.path))) ?? '');
        lines.push(`${use.path}:${use.line}${use.inside ? ` in ${use.inside}` : ''}: ${use.text}`);
      }
    }
    if (lines.length > 0) shown.set(file.path, lines);
  }
  return {shown, texts};
}

const isUse = (kind: string) => kind === 'call' || kind === 'inherit' || kind === 'type';
const isSame = (target: string, file: ChangedFile) => target === file.path || target === 'unknown';

function isTouched({line, endLine, kind}: Definition, {hunks}: ChangedFile): boolean {
  const isNamed = !['variable', 'field', 'enum member'].includes(kind);
  return isNamed && hunks.some(({from, to}) => line <= to && from <= endLine);
}

/** Splits the files into groups of similar size, each of which fits into a part of the window. @param window tokens */
export function groupFiles(change: Change, callers: Callers, window: number): ChangedFile[][] {
  const room = Math.min(MAX_GROUP, Math.max(8_000, (window * CHARS_PER_TOKEN) / 3));
  const sizes = new Map(change.files.map((file) => [file, formatFile(file, callers).length]));
  const measure = (files: readonly ChangedFile[]) => files.reduce((sum, file) => sum + sizes.get(file)!, 0);
  for (let parts = Math.max(1, Math.ceil(measure(change.files) / room)); ; parts += 1) {
    const groups = partition(change.files, {parts, split: 'balanced'});
    if (parts >= change.files.length || groups.every((group) => measure(group) <= room)) return groups;
  }
}

/** @param most number of findings that the finder may report */
export function formatFinderPrompt(
  change: Change,
  files: readonly ChangedFile[],
  callers: Callers,
  most: number,
): string {
  const others = change.files.filter((file) => !files.includes(file)).map((file) => file.path);
  return [
    `Review this change of ${files.length} files against ${change.against}. Paths are relative to ${change.top}. At most ${most} findings, the gravest first.`,
    ...(others.length > 0
      ? [`Other files of the change, which others review: ${others.slice(0, 100).join(', ')}`]
      : []),
    ...files.map((file) => formatFile(file, callers)),
  ].join('\n\n');
}

function formatFile(file: ChangedFile, {shown}: Callers): string {
  const from = file.oldPath === undefined ? '' : ` from ${file.oldPath}`;
  const head = `# ${file.path} (${file.kind}${from}, +${file.added} -${file.removed})`;
  if (isGenerated(file.path)) return `${head}: generated, so it is not shown`;
  const callers = shown.get(file.path);
  return [
    head,
    ...(file.patch === '' ? [] : [`<hunks>\n${cut(file.patch, MAX_HUNKS)}\n</hunks>`]),
    ...(file.text === undefined ? [] : [`<file_after>\n${formatText(file)}\n</file_after>`]),
    ...(callers ? [`<callers>\n${callers.join('\n')}\n</callers>`] : []),
  ].join('\n');
}

function cut(content: string, most: number): string {
  return content.length <= most ? content : `${content.slice(0, most).toWellFormed()}\n[cut here: read the file]`;
}

/** Numbers the lines; those of a long file around its hunks alone. */
function formatText({text = '', hunks}: ChangedFile): string {
  return text.length <= MAX_WHOLE_FILE ? numberLines(text, () => true) : cut(numberAround(text, hunks), MAX_WHOLE_FILE);
}

function numberAround(text: string, places: readonly {readonly from: number; readonly to: number}[]): string {
  return numberLines(text, (line) => places.some(({from, to}) => line >= from - AROUND && line <= to + AROUND));
}

function numberLines(text: string, isShown: (line: number) => boolean): string {
  const lines = text.replace(/\n$/, '').split('\n');
  return lines.flatMap((content, index) => (isShown(index + 1) ? [`${index + 1}\t${content}`] : [])).join('\n');
}

/** The verifier sees the claim and the code, and neither why it was made nor by whom. */
export function formatVerifierPrompt(claim: Claim, {top, files}: Change, {texts}: Callers): string {
  const file = files.find((each) => each.path === claim.file);
  const text = file?.text ?? texts.get(claim.file);
  const lines = claim.endLine > claim.line ? `${claim.line}-${claim.endLine}` : `${claim.line}`;
  const code =
    text === undefined ? [] : [`<code>\n${numberAround(text, [{from: claim.line, to: claim.endLine}])}\n</code>`];
  return [
    `Check this claim about a change. Paths are relative to ${top}.`,
    `Title: ${claim.title}\nFile: ${claim.file}\nLines: ${lines}\nFailure: ${claim.failure}`,
    ...code,
    ...(file && file.patch !== '' ? [`<hunks>\n${cut(file.patch, MAX_HUNKS)}\n</hunks>`] : []),
  ].join('\n\n');
}

/** Returns the number of lines of the files with callers. */
export function countCallerLines({texts}: Callers): Map<string, number> {
  return new Map([...texts].map(([file, text]) => [file, countLines(text)]));
}
