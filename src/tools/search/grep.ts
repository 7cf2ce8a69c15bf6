/** Defines the tool `grep`, which searches the content of files with ripgrep. */

import {lstat} from 'node:fs/promises';
import {relative, resolve} from 'node:path';
import {z} from 'zod';
import type {ToolResult} from '../../core/contract/results.ts';
import type {Tool, ToolContext} from '../../core/contract/tool.ts';
import type {ToolFacts} from '../../core/contract/tool-facts.ts';
import type {RipgrepEnd, RipgrepRun} from '../../core/util/ripgrep.ts';
import {formatCount, formatNames} from '../../core/util/text.ts';
import {errorResult, textResult} from '../../core/util/tool-output.ts';
import type {Sandbox} from '../../sandbox/index.ts';
import {absolutePath, shownPath, titleFolder} from '../files/model-paths.ts';
import description from './grep.md';
import {FoundLines} from './grep-lines.ts';
import {createPathGlob, formatSearchNotes, getSearchPath, isCut, runSearch} from './search-path.ts';

const DEFAULT_LIMIT = 250;
/** Number of files up to which they are sorted by modification time. More files are sorted by path. */
const MAX_DATED_FILES = 1000;

const lineCount = z.number().int().min(0).max(100).optional();
const input = z.object({
  pattern: z.string().min(1),
  path: z.string().optional(),
  glob: z.string().optional(),
  type: z.string().optional(),
  mode: z.enum(['files', 'content', 'count']).optional(),
  '-A': lineCount,
  '-B': lineCount,
  '-C': lineCount,
  '-i': z.boolean().optional(),
  '-n': z.boolean().optional(),
  limit: z.number().int().min(1).optional(),
});

type GrepInput = z.infer<typeof input>;

export const GREP: ToolFacts = {
  name: 'grep',
  kind: 'search',
  label: 'Grep',
  claude: {
    name: 'Grep',
    inputs: {mode: {as: 'output_mode', values: {files: 'files_with_matches'}}, limit: 'head_limit'},
  },
  rulePattern: 'path',
  pathInputs: ['path'],
  ruledBy: 'read_file',
  runsConfined: true,
};

export function createGrep(sandbox: Sandbox): Tool<GrepInput> {
  return {
    ...GREP,
    description,
    input,
    title: ({pattern, path}, workspace) => `"${pattern}"${titleFolder(path, workspace)}`,
    access: ({path}, workspace) => [{kind: 'read', path: absolutePath(path ?? '.', workspace)}],
    run: (given, context) => search(given, context, sandbox),
  };
}

interface GrepSearch {
  readonly given: GrepInput;
  readonly limit: number;
  readonly args: readonly string[];
  readonly wants: (path: string) => boolean;
  readonly run: (run: Pick<RipgrepRun, 'args' | 'separator' | 'onRecord'>) => Promise<RipgrepEnd>;
}

async function search(given: GrepInput, context: ToolContext, sandbox: Sandbox): Promise<ToolResult> {
  const {base} = await getSearchPath(given.path, context);
  const shown = shownPath(base, context.workspace);
  // The path is relative to the agent's cwd where possible, so that results are short.
  const path = shown === base || shown === '.' ? shown : `./${shown}`;
  const asked: GrepSearch = {
    given,
    limit: given.limit ?? DEFAULT_LIMIT,
    args: [
      '--regexp',
      given.pattern,
      '--binary',
      ...getLineEndArgs(given.pattern),
      ...(given['-i'] ? ['--ignore-case'] : []),
      ...getFileFilter(given),
    ],
    wants: createPathFilter(given.glob, base, context),
    run: (run) => runSearch(sandbox, base, {...run, cwd: context.workspace.cwd, paths: [path]}, context),
  };
  const {
    found,
    binary = new Set(),
    end,
    summary,
  } = await (given.mode === 'content' || given.mode === 'count'
    ? searchLines(asked, given.mode)
    : searchFiles(asked, context));
  const facts = {read: [], scanned: new Set(found.map((line) => line.split(':')[0])).size};
  const problem = describeProblem(end, given, path);
  if (problem !== undefined && found.length + binary.size === 0) return errorResult(problem, {facts});
  const notes = [...formatBinaryFiles(binary), ...formatSearchNotes(end)];
  const text = [...(found.length > 0 ? found : ['No matches']), ...notes].join('\n');
  return textResult(text, {...(isCut(end) && {isError: true}), facts, summary});
}

async function searchFiles({args, limit, wants, run}: GrepSearch, context: ToolContext): Promise<SearchResult> {
  const files: string[] = [];
  const end = await run({
    args: [...args, '--files-with-matches', '--null'],
    separator: '\0',
    onRecord(record) {
      const file = record.replace(/^\.\//, '');
      if (wants(file)) files.push(file);
      return true;
    },
  });
  const ordered = await newestFirst(files, context.workspace.cwd);
  const more = ordered.length - limit;
  const found = ordered.slice(0, limit);
  if (more > 0) found.push(`(${formatCount(more, 'more file')}: narrow the pattern, or set limit)`);
  return {found, end, summary: ordered.length === 0 ? 'no matches' : formatCount(ordered.length, 'file')};
}

interface SearchResult {
  readonly found: readonly string[];
  /** Binary files that match. Their lines are not shown. */
  readonly binary?: ReadonlySet<string>;
  readonly end: RipgrepEnd;
  /** Summary for a person: `12 lines in 3 files`. */
  readonly summary: string;
}

async function searchLines(asked: GrepSearch, mode: 'content' | 'count'): Promise<SearchResult> {
  const {given, args, limit, wants, run} = asked;
  const around = (['-A', '-B', '-C'] as const).flatMap((flag) =>
    given[flag] === undefined ? [] : [flag, String(given[flag])],
  );
  const content = ['--no-heading', '--line-number', '--max-columns=500', '--max-columns-preview', ...around];
  const lines = new FoundLines(mode, given['-n'] !== false, around.length > 0);
  const end = await run({
    args: [...args, '--with-filename', '--null', ...(mode === 'content' ? content : ['--count'])],
    separator: '\n',
    onRecord: (record) => lines.add(record, wants),
  });
  return {found: lines.text(limit), binary: lines.binary, end, summary: lines.summary};
}

/** Makes `$` match before `\r\n`, unless the pattern itself contains `\r`. */
function getLineEndArgs(pattern: string): string[] {
  return /\\r|\\x0d|\r/i.test(pattern) ? [] : ['--crlf'];
}

/** Matches globs that have the same meaning in ripgrep and in `createPathGlob`. */
const PLAIN_GLOB = /^!?[\w.*?/ -]+$/;

/**
 * Returns arguments by which ripgrep itself leaves out files, so that it searches less. Its own `--glob` serves only to
 * exclude. A glob for names becomes a file type, since types respect `.gitignore`.
 */
function getFileFilter({glob, type}: GrepInput): string[] {
  const types = type === undefined ? [] : ['--type', type];
  if (glob === undefined || !PLAIN_GLOB.test(glob)) return types;
  if (glob.startsWith('!')) return ['--glob', glob, ...types];
  if (type !== undefined || glob.includes('/')) return types;
  return ['--type-add', `wanted:${glob}`, '--type', 'wanted'];
}

/** A glob with a slash may be relative to the searched directory or to the cwd. */
function createPathFilter(given: string | undefined, base: string, context: ToolContext): (path: string) => boolean {
  const {workspace, mayRead = () => true} = context;
  if (given === undefined) return (path) => mayRead(absolutePath(path, workspace));
  const isExcluding = given.startsWith('!');
  const glob = createPathGlob(isExcluding ? given.slice(1) : given);
  const isNamed = (path: string) => glob.matches(path) || (isExcluding && glob.matchesAbove(path));
  return (path) => {
    const absolute = absolutePath(path, workspace);
    if (!mayRead(absolute)) return false;
    return [relative(base, absolute), path, absolute.slice(1)].some(isNamed) !== isExcluding;
  };
}

async function newestFirst(files: readonly string[], cwd: string): Promise<string[]> {
  const byPath = [...files].sort();
  if (byPath.length > MAX_DATED_FILES) return byPath;
  const dated = await Promise.all(
    byPath.map(async (file) => {
      // A file that no longer exists comes last.
      const stats = await lstat(resolve(cwd, file)).catch(() => undefined);
      return {file, time: stats?.mtimeMs ?? 0};
    }),
  );
  return dated.sort((a, b) => b.time - a.time).map(({file}) => file);
}

/** @param path as ripgrep was given it @returns undefined where all was searched, or all but some files below the path */
function describeProblem({exitCode, errors}: RipgrepEnd, {pattern, type}: GrepInput, path: string): string | undefined {
  if (exitCode !== 2) return undefined;
  const isBelow = (line: string) => /^rg: .*\(os error \d+\)$/.test(line) && !line.startsWith(`rg: ${path}: `);
  if (errors.trim().split('\n').every(isBelow)) return undefined;
  if (errors.includes('unrecognized file type')) {
    return `Unknown type "${type}": use names such as ts, js, py, go, rust, md, or glob.`;
  }
  const why = /^error: (.*)$/m.exec(errors)?.[1] ?? errors.trim().split('\n')[0]?.replace(/^rg: /, '') ?? '';
  if (!/regex|"\\n"/.test(errors)) return `The search failed: ${why}`;
  return `Invalid pattern ${JSON.stringify(pattern)}: ${why}.\nTo search for literal text, escape its special characters with \\.`;
}

const MAX_NAMED = 5;

/** Returns one line that names the binary files that match, or none. */
function formatBinaryFiles(binary: ReadonlySet<string>): string[] {
  if (binary.size === 0) return [];
  const names = [...binary].sort();
  const what = names.length === 1 ? 'a binary file matches' : `${names.length} binary files match`;
  return [`(${what}, not shown: ${formatNames(names, MAX_NAMED)})`];
}
