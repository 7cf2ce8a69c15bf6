/** Replaces strings in a file that the agent has read. */
import {readFileSync} from 'node:fs';
import {z} from 'zod';
import type {Workspace} from '../../core/contract/permission.ts';
import type {ToolResult} from '../../core/contract/results.ts';
import type {Tool} from '../../core/contract/tool.ts';
import {errorResult, textResult} from '../../core/util/tool-output.ts';
import {changeFile, type FileLocks, type FileToChange, writeAccess} from './change-file.ts';
import description from './edit-file.md';
import {cutPatch, formatPatch} from './patch.ts';
import {createNotFoundError} from './paths.ts';
import {applyEdits, type TextEdit} from './text-edits.ts';
import {decodeText, encodeText, isBinary} from './text-file.ts';

const MAX_RESULT_PATCH_CHARS = 8000;

const edit = {old_string: z.string(), new_string: z.string(), replace_all: z.boolean().optional()};
const input = z.object({
  path: z.string().min(1),
  old_string: edit.old_string.optional(),
  new_string: edit.new_string.optional(),
  replace_all: edit.replace_all,
  edits: z.array(z.object(edit)).optional(),
});

export type EditFileInput = z.infer<typeof input>;

/** @param locks shared by all agents that may write the same files. */
export function createEditFile(locks: FileLocks): Tool<EditFileInput> {
  return {
    name: 'edit_file',
    description,
    input,
    title: ({path}) => path,
    access: (given, workspace) => writeAccess(given.path, workspace, (absolute) => formatPreview(absolute, given)),
    async run(given, context) {
      const edits = parseEdits(given);
      if (typeof edits === 'string') return errorResult(edits);
      return changeFile(given.path, locks, context, (file) => editFile(file, edits, context.workspace));
    },
  };
}

async function editFile(
  {path, shown, old, replace}: FileToChange,
  edits: readonly TextEdit[],
  workspace: Workspace,
): Promise<ToolResult> {
  if (!old) {
    const {message} = await createNotFoundError(path, workspace);
    return errorResult(`${message} To create a file, use write_file.`);
  }
  if (isBinary(old)) return errorResult(`${shown} is a binary file: it is not edited.`);
  const file = decodeText(old);
  const edited = applyEdits(file.text, edits);
  if ('problem' in edited) return errorResult(`${shown}: ${edited.problem}`);
  if (edited.text === file.text) return errorResult(`${shown}: the edits cancel each other out. Nothing was changed.`);
  await replace(encodeText({...file, text: edited.text}), {before: file.text, after: edited.text});
  const count = edited.replacements === 1 ? '1 replacement' : `${edited.replacements} replacements`;
  const patch = formatPatch(file.text, edited.text);
  return textResult(`Edited ${shown} (${count}).\n${cutPatch(patch, MAX_RESULT_PATCH_CHARS)}`, {
    display: {type: 'diff', path, patch},
    facts: {changed: [path]},
  });
}

/** The edits of either form, or what is wrong with the input. */
function parseEdits({old_string, new_string, replace_all, edits}: EditFileInput): readonly TextEdit[] | string {
  const hasOne = old_string !== undefined || new_string !== undefined;
  if (edits !== undefined && edits.length > 0) {
    return hasOne ? 'Give either old_string and new_string, or edits, not both.' : edits;
  }
  if (old_string === undefined || new_string === undefined) return 'Give old_string and new_string, or edits.';
  return [{old_string, new_string, replace_all}];
}

function formatPreview(path: string, given: EditFileInput): string {
  const edits = parseEdits(given);
  if (typeof edits === 'string') return edits;
  try {
    const {text} = decodeText(readFileSync(path));
    const edited = applyEdits(text, edits);
    if ('text' in edited) return formatPatch(text, edited.text);
  } catch {
    // Missing or not readable: the wish is shown as it is, and the call itself says what is wrong.
  }
  return edits.map(({old_string, new_string}) => formatPatch(old_string, new_string)).join('\n');
}
