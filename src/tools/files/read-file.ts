/** Defines the tool `read_file`, which shows a file to the model: text with line numbers, images as images. */
import type {FileHandle} from 'node:fs/promises';
import {basename, dirname} from 'node:path';
import {z} from 'zod';
import type {ToolResult} from '../../core/contract/results.ts';
import type {Tool, ToolContext} from '../../core/contract/tool.ts';
import type {ToolFacts} from '../../core/contract/tool-facts.ts';
import {MAX_WHOLE_BYTES} from '../../core/turn/file-ledger.ts';
import {getErrorCode, MiniCcError} from '../../core/util/errors.ts';
import {openRegularFile, withOpenFolder} from '../../core/util/files/open-folder.ts';
import {readAll} from '../../core/util/files/whole-file.ts';
import {describeOversize, measureImage} from '../../core/util/image.ts';
import {errorResult, textResult} from '../../core/util/tool-output.ts';
import type {EditorBuffers} from './editor-buffers.ts';
import {
  absolutePath,
  archivedTranscript,
  createNotFoundError,
  getPermittedPlace,
  shownPath,
  titlePath,
} from './model-paths.ts';
import {addFileLines, DEFAULT_LINES, NumberedLines, splitLines} from './numbered-lines.ts';
import description from './read-file.md';
import {decodeChunks, decodeText, isBinary, readStart} from './text-file.ts';

/** The API accepts 5 MB of base64. */
const MAX_IMAGE_BYTES = 3.75 * 1024 * 1024;

const input = z.object({
  path: z.string().min(1),
  offset: z.number().int().min(1).describe('first line, from 1').optional(),
  limit: z.number().int().min(1).optional(),
});

type ReadFileInput = z.infer<typeof input>;

export const READ_FILE: ToolFacts = {
  name: 'read_file',
  kind: 'read',
  label: 'Read',
  claude: {name: 'Read', inputs: {path: 'file_path'}},
  aliases: ['view_file'],
  rulePattern: 'path',
  pathInputs: ['path'],
};

/** @param buffers present when an editor has text that is not saved */
export function createReadFile(buffers?: EditorBuffers): Tool<ReadFileInput> {
  return {
    ...READ_FILE,
    description,
    input,
    // `NumberedLines` limits the result to fewer characters, by whole lines.
    maxChars: 120_000,
    title: ({path}, workspace) => titlePath(path, workspace),
    access: ({path}, workspace) => [{kind: 'read', path: absolutePath(path, workspace)}],
    run: (given, context) => readForModel(given, context, buffers),
  };
}

const UNSAVED =
  '(The editor has unsaved changes in this file, and this is its text. Commands and searches see the file on disk.)';

async function readForModel(
  given: ReadFileInput,
  context: ToolContext,
  buffers: EditorBuffers | undefined,
): Promise<ToolResult> {
  const named = absolutePath(given.path, context.workspace);
  const shown = shownPath(named, context.workspace);
  const {path, handle} = await openForModel(named, shown, context);
  try {
    return await readHandle(handle, path, shown, given, context, buffers);
  } finally {
    await handle.close();
  }
}

async function readHandle(
  handle: FileHandle,
  path: string,
  shown: string,
  given: ReadFileInput,
  {files, signal, workspace}: ToolContext,
  buffers: EditorBuffers | undefined,
): Promise<ToolResult> {
  const stamp = await handle.stat({bigint: true});
  const size = Number(stamp.size);
  const start = await readStart(handle);
  if (looksLikeImage(start)) {
    if (size > MAX_IMAGE_BYTES) {
      return errorResult(
        `${shown} is an image of ${megabytes(size)}; at most 3.75 MB can be shown. Scale it down first.`,
      );
    }
    const bytes = await readWhole(handle, signal);
    const measured = measureImage(bytes);
    const oversize = measured && describeOversize(measured);
    if (oversize !== undefined) return errorResult(`${shown} is an image of ${oversize}. Scale it down first.`);
    if (!measured) return errorResult(`${shown} starts like an image, but it is damaged: it cannot be shown.`);
    files.recordRead(path, bytes);
    const source = {type: 'base64' as const, media_type: measured.type, data: bytes.toString('base64')};
    return {content: [{type: 'image', source}], facts: {read: [path]}, summary: 'image'};
  }
  if (isBinary(start)) return errorResult(`${shown} is a binary file (${size} bytes): it cannot be shown as text.`);
  const lines = new NumberedLines(given.offset ?? 1, given.limit ?? DEFAULT_LINES);
  let isAll = true;
  let isUnsaved = false;
  if (size > MAX_WHOLE_BYTES) {
    if (given.offset === undefined && given.limit === undefined) {
      return errorResult(`${shown} is too large (${megabytes(size)}): give offset and limit, or use grep.`);
    }
    isAll = await addFileLines(decodeChunks(readAll(handle, {signal})), lines);
    files.recordRead(path, stamp);
  } else {
    const content = await readWhole(handle, signal);
    const unsaved = await buffers?.read({path, content, stamp}, workspace, signal);
    const bytes = unsaved ?? content;
    isUnsaved = unsaved !== undefined;
    for (const line of splitLines(decodeText(bytes).text)) lines.add(line);
    files.recordRead(path, bytes);
  }
  const facts = {read: [path]};
  if (lines.count === 0) return textResult('(empty file)', {facts, summary: 'empty'});
  if (lines.isEmpty) {
    return errorResult(`${shown} has only ${lines.count} lines: offset ${given.offset} is past its end.`, {facts});
  }
  const text = lines.text(isAll);
  return textResult(isUnsaved ? `${text}\n${UNSAVED}` : text, {facts, summary: lines.summary(isAll)});
}

async function readWhole(handle: FileHandle, signal: AbortSignal): Promise<Buffer> {
  // Reads to the end, because the system does not know the size of some files.
  const chunks: Buffer[] = [];
  for await (const chunk of readAll(handle, {signal})) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** Opens the file for which the call was permitted. A link that is put there meanwhile is not followed. */
async function openForModel(
  named: string,
  shown: string,
  context: ToolContext,
): Promise<{path: string; handle: FileHandle}> {
  try {
    const place = await getPermittedPlace(context);
    const path = (await archivedTranscript(place)) ?? place;
    const handle = await withOpenFolder(dirname(path), (folder) => openRegularFile(folder, basename(path)));
    if (handle) return {path, handle};
  } catch (error) {
    const code = getErrorCode(error) ?? '';
    if (code === 'DIRECTORY')
      throw new MiniCcError(code, `${shown} is a directory: list it with glob, or with ls in bash.`);
    if (code === 'NOT_A_FILE') throw new MiniCcError(code, `${shown} is not a regular file: it is not read.`);
    if (code === 'EACCES') throw new MiniCcError(code, `${shown} may not be read: permission denied.`);
    if (code !== 'ENOENT' && code !== 'ENOTDIR') throw error;
  }
  throw await createNotFoundError(named, context.workspace);
}

function megabytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}

/** Whether the first bytes are those of an image that the Messages API accepts. The name does not count. */
function looksLikeImage(bytes: Buffer): boolean {
  const starts = (text: string, at = 0): boolean => bytes.toString('latin1', at, at + text.length) === text;
  return (
    ['\x89PNG\r\n\x1a\n', '\xff\xd8\xff', 'GIF87a', 'GIF89a'].some((text) => starts(text)) ||
    (starts('RIFF') && starts('WEBP', 8))
  );
}
