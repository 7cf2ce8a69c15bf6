/** Writes a whole file, new or one that the agent has read. */

import {readFileSync} from 'node:fs';
import {readFile} from 'node:fs/promises';
import {z} from 'zod';
import type {Tool, ToolContext} from '../../core/contract/tool.ts';
import type {ToolResult} from '../../core/contract/tool-result.ts';
import {textResult} from '../../core/util/tool-result.ts';
import type {FileLocks} from './file-locks.ts';
import {linesOf} from './numbered-lines.ts';
import {patchOf} from './patch.ts';
import {absolutePath, assertPermitted, shownPath, writeTarget} from './paths.ts';
import {assertNoNewMark, isExistingFile, replaceFile} from './replace-file.ts';
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
    access(given, workspace) {
      const path = absolutePath(given.path, workspace);
      // Made only when a question shows it.
      return [
        {
          kind: 'write',
          path,
          get preview() {
            return previewOf(path, given.content);
          },
        },
      ];
    },
    async run(given, context) {
      const target = await writeTarget(absolutePath(given.path, context.workspace));
      assertPermitted(target, context);
      return locks.hold(target, () => write(target, given.content, context));
    },
  };
}

async function write(path: string, content: string, {files, workspace}: ToolContext): Promise<ToolResult> {
  const shown = shownPath(path, workspace);
  const exists = await isExistingFile(path, shown);
  if (exists) await files.assertFresh(path);
  const bytes = Buffer.from(content, 'utf8');
  const old = exists ? await readFile(path) : Buffer.alloc(0);
  if (exists && old.equals(bytes))
    return textResult(`${shown} is unchanged: it had this content.`, {facts: {changed: []}});
  assertNoNewMark(textOf(old), content, shown);
  await replaceFile(path, bytes);
  files.sawWrite(path, bytes);
  const lines = linesOf(content).length;
  return textResult(`${exists ? 'Updated' : 'Created'} ${shown} (${lines} ${lines === 1 ? 'line' : 'lines'}).`, {
    display: {type: 'diff', path, patch: patchOf(textOf(old), content)},
    facts: {changed: [path]},
  });
}

function previewOf(path: string, content: string): string {
  return patchOf(textOf(readOrNothing(path)), content);
}

function readOrNothing(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch {
    // Missing or not readable: the question shows the content as new, and the call itself says what is wrong.
    return Buffer.alloc(0);
  }
}

function textOf(bytes: Buffer): string {
  return isBinary(bytes) ? '(binary)\n' : decodeText(bytes).text;
}
