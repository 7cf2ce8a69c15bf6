/** Defines the tool `edit_file`, which replaces strings in a file that the agent has read. */

import {z} from 'zod';
import type {ToolResult} from '../../core/contract/results.ts';
import type {Tool, TrialContext} from '../../core/contract/tool.ts';
import type {ToolFacts} from '../../core/contract/tool-facts.ts';
import {formatCount} from '../../core/util/text.ts';
import {errorResult, textResult} from '../../core/util/tool-output.ts';
import {
  changeFile,
  type FileLocks,
  type FileToChange,
  findChangeProblem,
  type OldFile,
  readForPreview,
} from './change-file.ts';
import description from './edit-file.md';
import {editLarge} from './large-edit.ts';
import {absolutePath, createNotFoundError, titlePath} from './model-paths.ts';
import {cutPatch, formatPatch} from './patch.ts';
import {applyEdits, type TextEdit} from './text-edits.ts';
import {decodeText, encodeText, isBinary, readStart} from './text-file.ts';

const MAX_RESULT_PATCH_CHARS = 8000;

const edit = {old_string: z.string(), new_string: z.string(), replace_all: z.boolean().optional()};
const input = z.object({
  path: z.string().min(1),
  old_string: edit.old_string.optional(),
  new_string: edit.new_string.optional(),
  replace_all: edit.replace_all,
  edits: z.array(z.object(edit)).optional(),
});

type EditFileInput = z.infer<typeof input>;

export const EDIT_FILE: ToolFacts = {
  name: 'edit_file',
  kind: 'edit',
  label: 'Edit',
  claude: {name: 'Edit', inputs: {path: 'file_path'}},
  aliases: ['str_replace_editor', 'replace_lines'],
  replaces: ['MultiEdit'],
  hookNames: ['MultiEdit'],
  rulePattern: 'path',
  pathInputs: ['path'],
};

/** @param locks shared by all agents that may write the same files */
export function createEditFile(locks: FileLocks): Tool<EditFileInput> {
  return {
    ...EDIT_FILE,
    description,
    input,
    title: ({path}, workspace) => titlePath(path, workspace),
    access: (given, workspace) => {
      const preview = async (place: string) => formatPreview(await readForPreview(place, locks, workspace), given);
      return [{kind: 'write', path: absolutePath(given.path, workspace), preview}];
    },
    async findProblem(given, context) {
      const edits = parseEdits(given);
      if (typeof edits === 'string') return edits;
      return findChangeProblem(locks, context, (file) => editFile(file, edits, context));
    },
    async run(given, context) {
      const edits = parseEdits(given);
      if (typeof edits === 'string') return errorResult(edits);
      return changeFile(locks, context, (file) => editFile(file, edits, context));
    },
  };
}

async function editFile(file: FileToChange, edits: readonly TextEdit[], context: TrialContext): Promise<ToolResult> {
  const {path, shown, old} = file;
  if (!old) {
    const {message} = await createNotFoundError(path, context.workspace);
    return errorResult(`${message} To create a file, use write_file.`);
  }
  const start = old.content ?? (await readStart(old.handle));
  if (isBinary(start)) return errorResult(`${shown} is a binary file: it is not edited.`);
  return old.content ? editText(file, old.content, edits) : editInParts(file, old, edits, context.signal);
}

async function editText(
  {path, shown, replace}: FileToChange,
  content: Buffer,
  edits: readonly TextEdit[],
): Promise<ToolResult> {
  const file = decodeText(content);
  const edited = applyEdits(file.text, edits);
  if ('problem' in edited) return errorResult(`${shown}: ${edited.problem}`);
  if (edited.text === file.text) return errorResult(`${shown}: the edits cancel each other out. Nothing was changed.`);
  await replace(encodeText({...file, text: edited.text}), {before: file.text, after: edited.text});
  return formatEdited(path, shown, edited.replacements, formatPatch(file.text, edited.text));
}

async function editInParts(
  {path, shown, replace}: FileToChange,
  {handle, size}: OldFile,
  edits: readonly TextEdit[],
  signal: AbortSignal,
): Promise<ToolResult> {
  const edited = await editLarge(handle, size, edits, signal);
  if ('problem' in edited) return errorResult(`${shown}: ${edited.problem}`);
  const texts = (name: 'old_string' | 'new_string') => edits.map((edit) => edit[name]).join('\n');
  await replace(edited.content, {before: texts('old_string'), after: texts('new_string')});
  return formatEdited(path, shown, edited.replacements, edited.patch);
}

function formatEdited(path: string, shown: string, replacements: number, patch: string): ToolResult {
  const count = formatCount(replacements, 'replacement');
  return textResult(`Edited ${shown} (${count}).\n${cutPatch(patch, MAX_RESULT_PATCH_CHARS)}`, {
    display: {type: 'diff', path, patch},
    facts: {changed: [path]},
  });
}

/** Returns the edits of either form, or the problem with the input. */
function parseEdits({old_string, new_string, replace_all, edits}: EditFileInput): readonly TextEdit[] | string {
  const hasOne = old_string !== undefined || new_string !== undefined;
  if (edits !== undefined && edits.length > 0) {
    return hasOne ? 'Give either old_string and new_string, or edits, not both.' : edits.map(toWellFormed);
  }
  if (old_string === undefined || new_string === undefined) return 'Give old_string and new_string, or edits.';
  return [toWellFormed({old_string, new_string, replace_all})];
}

/** Replaces half surrogate pairs, which are no text and could split a character of the file. */
function toWellFormed(edit: TextEdit): TextEdit {
  return {...edit, old_string: edit.old_string.toWellFormed(), new_string: edit.new_string.toWellFormed()};
}

function formatPreview(bytes: Buffer | undefined, given: EditFileInput): string {
  const edits = parseEdits(given);
  if (typeof edits === 'string') return edits;
  const text = bytes && decodeText(bytes).text;
  const edited = text === undefined ? undefined : applyEdits(text, edits);
  if (edited && 'text' in edited) return formatPatch(text!, edited.text);
  // The file is missing or large, or the edits do not fit it. The edits are shown as they are, and the call itself
  // reports the problem.
  return edits.map((edit) => formatPatch(endLine(edit.old_string), endLine(edit.new_string))).join('\n');
}

/** Adds a line end, because a part of a file says nothing about the end of the file. */
function endLine(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}
