/** Simple versions of the tools, with which the offline model works on real folders. */

import {execFileSync, spawnSync} from 'node:child_process';
import {existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, statSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path, {dirname, join, matchesGlob} from 'node:path';
import type {Anthropic} from '@anthropic-ai/sdk';
import {rgPath} from '@vscode/ripgrep';
import type {CodeIndex} from '../../src/code-index/contract.ts';
import {openCodeIndex} from '../../src/code-index/index.ts';
import type {ToolResult} from '../../src/core/contract/results.ts';
import type {ToolContext} from '../../src/core/contract/tool.ts';
import {createFileLedger, WriteLog} from '../../src/core/turn/file-ledger.ts';
import {getText} from '../../src/core/util/messages.ts';
import {FileLocks} from '../../src/tools/files/change-file.ts';
import {createRenameSymbol} from '../../src/tools/files/rename-symbol.ts';
import {createSymbols} from '../../src/tools/search/symbols.ts';

export type ToolName =
  | 'symbols'
  | 'rename_symbol'
  | 'bash'
  | 'read_file'
  | 'write_file'
  | 'edit_file'
  | 'grep'
  | 'glob'
  | 'Task';
type Input = Record<string, unknown>;
export interface Result {
  readonly text: string;
  readonly isError?: boolean;
}

const FIELDS: Record<ToolName, readonly string[]> = {
  bash: ['command', 'description', 'timeout_seconds'],
  read_file: ['path', 'offset', 'limit'],
  write_file: ['path', 'content'],
  edit_file: ['path', 'old_string', 'new_string', 'replace_all', 'edits'],
  grep: ['pattern', 'path', 'glob', 'type', 'mode', '-A', '-B', '-C', '-i', '-n', 'limit'],
  glob: ['pattern', 'path', 'limit'],
  symbols: ['name', 'path', 'mode'],
  rename_symbol: ['path', 'line', 'name', 'new_name', 'apply'],
  Task: ['description', 'prompt', 'agent_type'],
};

export const EXPLORE_TOOLS: readonly ToolName[] = ['bash', 'read_file', 'grep', 'glob', 'symbols'];
export const CODE_TOOLS: readonly ToolName[] = [...EXPLORE_TOOLS, 'write_file', 'edit_file', 'rename_symbol'];
export const MAIN_TOOLS: readonly ToolName[] = [...CODE_TOOLS, 'Task'];
export const PART_TOOLS: readonly ToolName[] = ['read_file', 'edit_file', 'write_file'];

export function specs(
  names: readonly ToolName[],
  agents: readonly string[] = ['explore', 'code', 'plan'],
): Anthropic.Tool[] {
  return names.map((name) => ({
    name,
    description: name,
    input_schema: {
      type: 'object',
      properties: Object.fromEntries(
        FIELDS[name].map((field) => [field, field === 'agent_type' ? {enum: agents} : {}]),
      ),
    },
  }));
}

/** A temporary folder with these files. */
export function folder(files: Readonly<Record<string, string>>): string {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'offline-')));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), {recursive: true});
    writeFileSync(join(root, path), text);
  }
  return root;
}

/** @param seen paths that were read so far. Only these may be overwritten. */
export async function runTool(root: string, name: string, input: Input, seen = new Set<string>()): Promise<Result> {
  try {
    if (name === 'symbols') return await symbols(root, input);
    if (name === 'rename_symbol') return await renameSymbol(root, input);
    if (name === 'bash') return bash(root, String(input.command));
    if (name === 'read_file') {
      const text = readNumbered(root, input);
      seen.add(String(input.path));
      return {text};
    }
    if (name === 'write_file') return write(root, String(input.path), String(input.content), seen);
    if (name === 'edit_file') return edit(root, input);
    if (name === 'grep') return {text: grep(root, input)};
    if (name === 'glob') return {text: glob(root, input)};
    return {text: `no tool ${name}`, isError: true};
  } catch (error) {
    return {text: error instanceof Error ? error.message : String(error), isError: true};
  }
}

const indexes = new Map<string, CodeIndex>();

/** Test files share this module: each closes the indexes of its folders, `afterAll(closeIndexes)`. */
export async function closeIndexes(): Promise<void> {
  const open = [...indexes.values()];
  indexes.clear();
  await Promise.all(open.map((index) => index.close()));
}

function getIndex(root: string): CodeIndex {
  const index = indexes.get(root) ?? openCodeIndex({root, env: {}});
  indexes.set(root, index);
  return index;
}

/** The real tools: their text is what the offline model reads. */
async function symbols(root: string, input: Input): Promise<Result> {
  const places = [path.resolve(root, String(input.path ?? '.'))];
  return toResult(await createSymbols(getIndex).run(input, createContext(root, places)));
}

async function renameSymbol(root: string, given: Input): Promise<Result> {
  const tool = createRenameSymbol({locks: new FileLocks(), getIndex});
  const input = tool.input.parse(given);
  const {workspace, signal} = createContext(root, []);
  const found = (await tool.findAccess?.(input, workspace, signal)) ?? [];
  const places = found.flatMap((access) => ('path' in access ? [access.path] : []));
  return toResult(await tool.run(input, createContext(root, places)));
}

function createContext(root: string, places: readonly string[]): ToolContext {
  return {
    workspace: {root, cwd: root, extraRoots: []},
    places,
    signal: new AbortController().signal,
    files: createFileLedger(new WriteLog(), 'main'),
  } as unknown as ToolContext;
}

const toResult = ({content, isError}: ToolResult): Result => ({
  text: getText(content ?? ''),
  isError: isError === true,
});

function bash(root: string, command: string): Result {
  const ended = spawnSync('bash', ['-c', command], {cwd: root, encoding: 'utf8', maxBuffer: 1 << 28});
  const output = `${ended.stdout}${ended.stderr}`.replace(/\n+$/, '');
  if (ended.status === 0) return {text: output === '' ? '(no output)' : cut(output)};
  return {text: `${cut(output)}\nexit code ${ended.status}`.trim(), isError: true};
}

function readNumbered(root: string, input: Input): string {
  const lines = readFileSync(join(root, String(input.path)), 'utf8')
    .replace(/\n$/, '')
    .split('\n');
  const from = Number(input.offset ?? 1);
  const limit = Number(input.limit ?? 2000);
  const part = lines.slice(from - 1, from - 1 + limit);
  const shown = part.map((line, index) => `${String(from + index).padStart(6)}\t${line}`).join('\n');
  const left = lines.length - (from - 1 + part.length);
  return left > 0 ? `${shown}\n(${left} more lines; read on with offset ${from + part.length})` : shown;
}

function write(root: string, path: string, content: string, seen: ReadonlySet<string>): Result {
  if (existsSync(join(root, path)) && !seen.has(path))
    return {text: `${path} exists and you have not read it: read_file it first.`, isError: true};
  mkdirSync(dirname(join(root, path)), {recursive: true});
  writeFileSync(join(root, path), content);
  return {text: `Wrote ${path}`};
}

function edit(root: string, input: Input): Result {
  const path = join(root, String(input.path));
  let text = readFileSync(path, 'utf8');
  for (const one of (input.edits ?? [input]) as {old_string: string; new_string: string; replace_all?: boolean}[]) {
    const parts = text.split(one.old_string);
    if (parts.length === 1) return {text: 'old_string not found', isError: true};
    if (parts.length > 2 && !one.replace_all)
      return {text: `old_string is ${parts.length - 1} times there`, isError: true};
    text = parts.join(one.new_string);
  }
  writeFileSync(path, text);
  return {text: `Edited ${String(input.path)}`};
}

function grep(root: string, input: Input): string {
  const mode = {files: ['-l'], count: ['-c'], content: ['-n']}[String(input.mode ?? 'files')] ?? ['-n'];
  const glob = input.glob ? ['--glob', String(input.glob)] : [];
  const args = [
    ...mode,
    ...glob,
    '--no-heading',
    '--color=never',
    '--no-require-git',
    '--with-filename',
    '--sort',
    'path',
  ];
  const where = input.path ? [String(input.path)] : [];
  const ended = spawnSync(rgPath, [...args, '-e', String(input.pattern), ...(where.length > 0 ? where : ['.'])], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  });
  if (ended.status === 2) throw new Error(ended.stderr);
  const lines = ended.stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.replace(/^\.\//, ''));
  return limited(lines, Number(input.limit ?? 250), 'No matches');
}

/** A pattern without a slash matches at any depth, as in the real tool. */
function glob(root: string, input: Input): string {
  const base = join(root, String(input.path ?? '.'));
  if (!existsSync(base)) throw new Error(`${String(input.path)} does not exist`);
  const pattern = String(input.pattern);
  const list = spawnSync(rgPath, ['--files', '--no-require-git', '--hidden', '--glob=!.git'], {
    cwd: base,
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  });
  const prefix = input.path && input.path !== '.' ? `${String(input.path)}/` : '';
  const whole = pattern.includes('/') ? pattern : `**/${pattern}`;
  const files = list.stdout.split('\n').filter((line) => line !== '' && matchesGlob(line, whole));
  const age = (file: string) => statSync(join(base, file)).mtimeMs;
  const newest = files.length > 2000 ? files : files.toSorted((a, b) => age(b) - age(a));
  return limited(
    newest.map((file) => prefix + file),
    Number(input.limit ?? 100),
    'No files found',
  );
}

function limited(lines: readonly string[], limit: number, none: string): string {
  if (lines.length === 0) return none;
  const more = lines.length - limit;
  return cut(more > 0 ? `${lines.slice(0, limit).join('\n')}\n(${more} more …)` : lines.join('\n'));
}

function cut(text: string): string {
  if (text.length <= 30_000) return text;
  return `${text.slice(0, 15_000)}\n\n[... ${text.length - 30_000} characters cut; the whole output: /tmp/x ...]\n\n${text.slice(-15_000)}`;
}

export function git(root: string, ...args: string[]): void {
  execFileSync('git', args, {cwd: root, stdio: 'ignore'});
}
