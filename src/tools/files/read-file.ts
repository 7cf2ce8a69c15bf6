/** Shows a file to the model: text with line numbers, images as images. */
import {access, constants, open, readFile, realpath, stat} from 'node:fs/promises';
import {z} from 'zod';
import type {ToolResult} from '../../core/contract/results.ts';
import type {Tool, ToolContext} from '../../core/contract/tool.ts';
import {getErrorCode, MiniCcError} from '../../core/util/errors.ts';
import {errorResult, textResult} from '../../core/util/tool-output.ts';
import {addFileLines, DEFAULT_LINES, NumberedLines, splitLines} from './numbered-lines.ts';
import {absolutePath, archivedTranscript, assertPermitted, createNotFoundError, shownPath} from './paths.ts';
import description from './read-file.md';
import {decodeText, isBinary} from './text-file.ts';

/** Larger files are read only in parts, and never whole into memory. */
const MAX_WHOLE_BYTES = 10 * 1024 * 1024;
const PROBE_BYTES = 8192;
/** The API takes 5 MB of base64. */
const MAX_IMAGE_BYTES = 3.75 * 1024 * 1024;

const input = z.object({
  path: z.string().min(1),
  offset: z.number().int().min(1).describe('first line, from 1').optional(),
  limit: z.number().int().min(1).describe('lines').optional(),
});

export type ReadFileInput = z.infer<typeof input>;

export const readFileTool: Tool<ReadFileInput> = {
  name: 'read_file',
  description,
  input,
  // `NumberedLines` keeps the result below this, by whole lines.
  maxChars: 120_000,
  title: ({path}) => path,
  access: ({path}, workspace) => [{kind: 'read', path: absolutePath(path, workspace)}],
  run: readForModel,
};

async function readForModel(given: ReadFileInput, context: ToolContext): Promise<ToolResult> {
  const named = absolutePath(given.path, context.workspace);
  const shown = shownPath(named, context.workspace);
  const {path, size} = await regularFile(named, shown, context);
  const start = await firstBytes(path);
  const image = getImageType(start);
  if (image !== undefined) {
    if (size > MAX_IMAGE_BYTES) {
      return errorResult(
        `${shown} is an image of ${megabytes(size)}; at most 3.75 MB can be shown. Scale it down first.`,
      );
    }
    const bytes = await readFile(path);
    context.files.recordRead(path, bytes);
    const source = {type: 'base64' as const, media_type: image, data: bytes.toString('base64')};
    return {content: [{type: 'image', source}], facts: {read: [path]}};
  }
  if (isBinary(start)) return errorResult(`${shown} is a binary file (${size} bytes): it cannot be shown as text.`);
  const lines = new NumberedLines(given.offset ?? 1, given.limit ?? DEFAULT_LINES);
  let isAll = true;
  if (size > MAX_WHOLE_BYTES) {
    if (given.offset === undefined && given.limit === undefined) {
      return errorResult(`${shown} is too large (${megabytes(size)}): give offset and limit, or use grep.`);
    }
    isAll = await addFileLines(path, lines, context.signal);
    // Without all its bytes, the ledger knows this file by time and size alone.
    context.files.recordRead(path, Buffer.alloc(0));
  } else {
    const bytes = await readFile(path, {signal: context.signal});
    for (const line of splitLines(decodeText(bytes).text)) lines.add(line);
    context.files.recordRead(path, bytes);
  }
  const facts = {read: [path]};
  if (lines.count === 0) return textResult('(empty file)', {facts});
  if (lines.isEmpty) {
    return errorResult(`${shown} has only ${lines.count} lines: offset ${given.offset} is past its end.`, {facts});
  }
  return textResult(lines.text(isAll), {facts});
}

async function regularFile(named: string, shown: string, context: ToolContext): Promise<{path: string; size: number}> {
  try {
    const archived = await archivedTranscript(named);
    const path = await realpath(archived ?? named);
    if (archived === undefined) assertPermitted(path, context);
    const stats = await stat(path);
    if (stats.isDirectory()) {
      throw new MiniCcError('DIRECTORY', `${shown} is a directory: list it with glob, or with ls in bash.`);
    }
    // Reading a pipe or a device may never end.
    if (!stats.isFile()) throw new MiniCcError('NOT_A_FILE', `${shown} is not a regular file: it is not read.`);
    await access(path, constants.R_OK);
    return {path, size: stats.size};
  } catch (error) {
    if (getErrorCode(error) === 'ENOENT' || getErrorCode(error) === 'ENOTDIR')
      throw await createNotFoundError(named, context.workspace);
    if (getErrorCode(error) === 'EACCES')
      throw new MiniCcError('EACCES', `${shown} may not be read: permission denied.`);
    throw error;
  }
}

async function firstBytes(path: string): Promise<Buffer> {
  const file = await open(path, 'r');
  try {
    const {buffer, bytesRead} = await file.read(Buffer.alloc(PROBE_BYTES), 0, PROBE_BYTES, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

function megabytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}

type ImageType = 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp';

/** The images that the Messages API takes, recognised by their first bytes and not by their name. */
function getImageType(bytes: Buffer): ImageType | undefined {
  const starts = (text: string, at = 0): boolean => bytes.toString('latin1', at, at + text.length) === text;
  if (starts('\x89PNG\r\n\x1a\n')) return 'image/png';
  if (starts('\xff\xd8\xff')) return 'image/jpeg';
  if (starts('GIF87a') || starts('GIF89a')) return 'image/gif';
  if (starts('RIFF') && starts('WEBP', 8)) return 'image/webp';
  return undefined;
}
