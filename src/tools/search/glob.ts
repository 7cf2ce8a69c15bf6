/** Defines the tool `glob`, which lists files by name, newest first. */

import {join} from 'node:path';
import {z} from 'zod';
import type {ToolResult} from '../../core/contract/results.ts';
import type {Tool, ToolContext} from '../../core/contract/tool.ts';
import type {ToolFacts} from '../../core/contract/tool-facts.ts';
import {formatCount} from '../../core/util/text.ts';
import {errorResult, textResult} from '../../core/util/tool-output.ts';
import type {Sandbox} from '../../sandbox/index.ts';
import {absolutePath, shownPath, titleFolder} from '../files/model-paths.ts';
import description from './glob.md';
import {createPathGlob, formatSearchNotes, getSearchPath, isCut, runSearch, splitGlob} from './search-path.ts';

const DEFAULT_LIMIT = 100;

const input = z.object({
  pattern: z.string().min(1),
  path: z.string().optional(),
  limit: z.number().int().min(1).optional(),
});

type GlobInput = z.infer<typeof input>;

export const GLOB: ToolFacts = {
  name: 'glob',
  kind: 'search',
  label: 'Glob',
  claude: {name: 'Glob'},
  replaces: ['LS'],
  rulePattern: 'path',
  pathInputs: ['path', 'pattern'],
  ruledBy: 'read_file',
  runsConfined: true,
};

export function createGlob(sandbox: Sandbox): Tool<GlobInput> {
  return {
    ...GLOB,
    description,
    input,
    title: ({pattern, path}, workspace) => `${pattern}${titleFolder(path, workspace)}`,
    access: (given, workspace) => [{kind: 'read', path: absolutePath(resolvePattern(given).path, workspace)}],
    run: (given, context) => findFiles(given, context, sandbox),
  };
}

async function findFiles(given: GlobInput, context: ToolContext, sandbox: Sandbox): Promise<ToolResult> {
  const {path, pattern} = resolvePattern(given);
  const {base, isFolder} = await getSearchPath(path, context);
  if (!isFolder) return errorResult(`${path} is a file, not a directory: use read_file.`);
  const glob = createPathGlob(pattern);
  const limit = given.limit ?? DEFAULT_LIMIT;
  const found: string[] = [];
  let more = 0;
  const end = await runSearch(
    sandbox,
    base,
    {
      args: ['--files', '--null', '--sortr=modified'],
      cwd: base,
      paths: ['.'],
      separator: '\0',
      onRecord(record) {
        const file = record.replace(/^\.\//, '');
        if (!glob.matches(file) || context.mayRead?.(join(base, file)) === false) return true;
        if (found.length < limit) found.push(shownPath(join(base, file), context.workspace));
        else more += 1;
        return true;
      },
    },
    context,
  );
  const notes = formatSearchNotes(end);
  if (more > 0) notes.unshift(`(${formatCount(more, 'more file')}: narrow the pattern, or set limit)`);
  const lines = [...(found.length > 0 ? found : ['No files found']), ...notes];
  return textResult(lines.join('\n'), {
    summary: formatCount(found.length + more, 'file'),
    ...(isCut(end) && {isError: true}),
    facts: {read: [], scanned: found.length + more},
  });
}

/**
 * Returns the directory to search and the pattern inside it. Absolute patterns and those with `../` name the directory.
 */
function resolvePattern({pattern, path}: GlobInput): {path: string; pattern: string} {
  if (!/^(?:\/|~\/|\.\.\/)/.test(pattern)) return {path: path ?? '.', pattern};
  const {base, rest} = splitGlob(pattern);
  const isRelative = pattern.startsWith('..') && path !== undefined;
  return {path: isRelative ? join(path, base) : base, pattern: rest};
}
