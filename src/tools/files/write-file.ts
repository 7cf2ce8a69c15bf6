/** Defines the tool `write_file`, which writes a whole file: a new one, or one that the agent has read. */

import {z} from 'zod';
import type {ToolResult} from '../../core/contract/results.ts';
import type {Tool} from '../../core/contract/tool.ts';
import type {ToolFacts} from '../../core/contract/tool-facts.ts';
import {formatCount} from '../../core/util/text.ts';
import {textResult} from '../../core/util/tool-output.ts';
import {
  changeFile,
  type FileLocks,
  type FileToChange,
  findChangeProblem,
  type OldFile,
  readForPreview,
} from './change-file.ts';
import {absolutePath, titlePath} from './model-paths.ts';
import {splitLines} from './numbered-lines.ts';
import {formatPatch} from './patch.ts';
import {decodeText, encodeAs, isBinary, readStart} from './text-file.ts';
import description from './write-file.md';

const input = z.object({path: z.string().min(1), content: z.string()});

type WriteFileInput = z.infer<typeof input>;

export const WRITE_FILE: ToolFacts = {
  name: 'write_file',
  kind: 'edit',
  label: 'Write',
  claude: {name: 'Write', inputs: {path: 'file_path'}},
  aliases: ['create_file'],
  rulePattern: 'path',
  pathInputs: ['path'],
  ruledBy: 'edit_file',
};

/** @param locks shared by all agents that may write the same files */
export function createWriteFile(locks: FileLocks): Tool<WriteFileInput> {
  return {
    ...WRITE_FILE,
    description,
    input,
    title: ({path}, workspace) => titlePath(path, workspace),
    access: ({path, content}, workspace) => {
      const preview = async (place: string) => formatPreview(await readForPreview(place, locks, workspace), content);
      return [{kind: 'write', path: absolutePath(path, workspace), preview}];
    },
    findProblem: ({content}, context) => findChangeProblem(locks, context, (file) => write(file, content)),
    run: ({content}, context) => changeFile(locks, context, (file) => write(file, content)),
  };
}

/** Bytes at the beginning of a large file from which its encoding and its line ends are detected. */
const HEAD_BYTES = 256 * 1024;

async function write({path, shown, old, replace}: FileToChange, given: string): Promise<ToolResult> {
  const content = given.toWellFormed();
  const head = old && (old.content ?? (await readHead(old)));
  const {bytes, text, kept} = encodeAs(head && !isBinary(head) ? decodeText(head) : undefined, content);
  if (old?.content?.equals(bytes)) {
    return textResult(`${shown} is unchanged: it had this content.`, {facts: {changed: []}});
  }
  const before = decodeForDiff(old?.content);
  await replace(bytes, {before, after: text});
  const lines = splitLines(content).length;
  const how = kept.length > 0 ? `; ${kept.join(' and ')} kept` : '';
  return textResult(`${old ? 'Updated' : 'Created'} ${shown} (${formatCount(lines, 'line')}${how}).`, {
    display: {type: 'diff', path, patch: old && !old.content ? LARGE_DIFF : formatPatch(before, text)},
    facts: {changed: [path]},
  });
}

const LARGE_DIFF = '(the old content is too large for a diff)';

async function readHead({handle}: OldFile): Promise<Buffer> {
  const head = await readStart(handle, HEAD_BYTES);
  // Cut at a line end, and not in the middle of a character.
  return head.subarray(0, head.lastIndexOf('\n') + 1);
}

function formatPreview(old: Buffer | undefined, content: string): string {
  return formatPatch(decodeForDiff(old), content.toWellFormed());
}

function decodeForDiff(bytes: Buffer | undefined): string {
  if (bytes === undefined) return '';
  return isBinary(bytes) ? '(binary)\n' : decodeText(bytes).text;
}
