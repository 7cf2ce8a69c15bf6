/** Finds places by a text search, orders them for answers, and finds tests inside code files. */
import {getLanguage, isCode, isGenerated, isTest} from '../core/util/file-kinds.ts';
import {count, getReason, notDone} from './report.ts';
import {type Hit, type Hits, parseHits} from './results.ts';
import {askOne, type Job, type Work} from './skill.ts';
import type {Search} from './toolbox.ts';

/**
 * Patterns of tests inside code files: Rust's `#[test]`, Python's doctests and `def test_…`, Vitest's in-source tests.
 */
const INLINE_TESTS: Readonly<Record<string, RegExp>> = {
  Rust: /^\s*#\[(?:\w+::)*(?:test|rstest)\b/,
  Python: /^\s*(?:async\s+)?def test_|^\s*>>> /,
  TypeScript: /\bif\s*\(import\.meta\.vitest/,
  JavaScript: /\bif\s*\(import\.meta\.vitest/,
};

/** Searches the text of files. @returns the lines, and in `problem` the answer when the search failed, else an empty text */
export function* searchText(search: Search, {toolbox}: Job): Work<Hits & {readonly problem: string}> {
  const result = yield* askOne(toolbox.search(search));
  const hits = parseHits(result);
  return {...hits, problem: hits.known ? '' : notDone(`the search failed: ${getReason(result)}.`)};
}

/** Rank by which results are shown: 0 source, 1 tests, 2 documents and data, 3 generated files. */
export function getPathRank(path: string): number {
  if (isGenerated(path)) return 3;
  if (!isCode(path)) return 2;
  return isTest(path) ? 1 : 0;
}

/** Compares by rank, then by path and line. */
export function compareByLocation(a: Hit, b: Hit): number {
  return getPathRank(a.path) - getPathRank(b.path) || (a.path === b.path ? a.line - b.line : a.path < b.path ? -1 : 1);
}

/** Compares paths by their depth, then by name. */
export function compareDepth(a: string, b: string): number {
  return a.split('/').length - b.split('/').length || (a < b ? -1 : 1);
}

/** Returns the folder of a file, with a slash at its end. */
export function getFolder(path: string): string {
  return path.includes('/') ? path.replace(/\/[^/]*$/, '/') : './';
}

export interface InlineTests {
  readonly path: string;
  /** Line of the first test. */
  readonly line: number;
  readonly tests: number;
}

/** Returns a search for the first lines of tests inside code files. */
export function inlineTestSearch(path: string | undefined): Search {
  const pattern = [...new Set(Object.values(INLINE_TESTS).map(({source}) => source))].join('|');
  return {pattern, path, glob: '*.{rs,py,ts,tsx,mts,js,jsx,mjs}', limit: 300};
}

/** Counts the tests inside code files, by file in the order found. Test files are left out. */
export function inlineTests(hits: readonly Hit[]): readonly InlineTests[] {
  const files = new Map<string, InlineTests>();
  for (const {path, line, text} of hits) {
    const form = INLINE_TESTS[getLanguage(path) ?? ''];
    if (isTest(path) || isGenerated(path) || !form?.test(text)) continue;
    const known = files.get(path);
    files.set(path, known ? {...known, tests: known.tests + 1} : {path, line, tests: 1});
  }
  return [...files.values()];
}

export function citeInlineTests({path, line, tests}: InlineTests): string {
  return `${path}:${line} (${count(tests, 'test')})`;
}
