/** Tests that stand among the code they test: Rust's `#[test]`, Python's doctests and `def test_…`, Vitest in source. */
import {isLumber, isTest, languageOf} from './languages.ts';
import type {Hit} from './results.ts';
import type {Search} from './toolbox.ts';

export interface InlineTests {
  readonly path: string;
  /** Of the first. */
  readonly line: number;
  readonly tests: number;
}

const FORMS: Readonly<Record<string, RegExp>> = {
  Rust: /^\s*#\[(?:\w+::)*(?:test|rstest)\b/,
  Python: /^\s*(?:async\s+)?def test_|^\s*>>> /,
  TypeScript: /\bif\s*\(import\.meta\.vitest/,
  JavaScript: /\bif\s*\(import\.meta\.vitest/,
};

export function inlineTestSearch(path: string | undefined): Search {
  const pattern =
    '^\\s*#\\[([A-Za-z_]+::)*(test|rstest)\\b|^\\s*(async\\s+)?def test_|^\\s*>>> |\\bif\\s*\\(import\\.meta\\.vitest';
  return {pattern, path, glob: '*.{rs,py,ts,tsx,mts,js,jsx,mjs}', limit: 300};
}

/** By file, in the order found; test files are left out. */
export function inlineTests(hits: readonly Hit[]): readonly InlineTests[] {
  const files = new Map<string, InlineTests>();
  for (const {path, line, text} of hits) {
    const form = FORMS[languageOf(path) ?? ''];
    if (isTest(path) || isLumber(path) || !form?.test(text)) continue;
    const known = files.get(path);
    files.set(path, known ? {...known, tests: known.tests + 1} : {path, line, tests: 1});
  }
  return [...files.values()];
}
