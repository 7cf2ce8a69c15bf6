/** Writes a whole file: a new one, or one that the agent has read. */
import {readFileSync} from 'node:fs';
import {z} from 'zod';
import type {ToolResult} from '../../core/contract/results.ts';
import type {Tool} from '../../core/contract/tool.ts';
import {textResult} from '../../core/util/tool-output.ts';
import {changeFile, type FileLocks, type FileToChange, writeAccess} from './change-file.ts';
import {splitLines} from './numbered-lines.ts';
import {formatPatch} from './patch.ts';
import {decodeText, isBinary} from './text-file.ts';
import description from './write-file.md';

const input = z.object({path: z.string().min(1), content: z.string()});

export type WriteFileInput = z.infer<typeof input>;

/** @param locks shared by all agents that may write the same files. */
export function createWriteFile(locks: FileLocks): Tool<WriteFileInput> {
  return {
    name: 'write_file',
    description,
    input,
    title: ({path}) => path,
    access: ({path, content}, workspace) =>
      writeAccess(path, workspace, (absolute) => formatPreview(absolute, content)),
    run: ({path, content}, context) => changeFile(path, locks, context, (file) => write(file, content)),
  };
}

async function write({path, shown, old, replace}: FileToChange, content: string): Promise<ToolResult> {
  const bytes = Buffer.from(content, 'utf8');
  if (old?.equals(bytes)) return textResult(`${shown} is unchanged: it had this content.`, {facts: {changed: []}});
  const before = decodeForDiff(old);
  await replace(bytes, {before, after: content});
  const lines = splitLines(content).length;
  return textResult(`${old ? 'Updated' : 'Created'} ${shown} (${lines} ${lines === 1 ? 'line' : 'lines'}).`, {
    display: {type: 'diff', path, patch: formatPatch(before, content)},
    facts: {changed: [path]},
  });
}

function formatPreview(path: string, content: string): string {
  return formatPatch(decodeForDiff(readOrNothing(path)), content);
}

function readOrNothing(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch {
    // Missing or not readable: the question shows the content as new, and the call itself says what is wrong.
    return undefined;
  }
}

function decodeForDiff(bytes: Buffer | undefined): string {
  if (bytes === undefined) return '';
  return isBinary(bytes) ? '(binary)\n' : decodeText(bytes).text;
}
