/** Defines the tool `rename_symbol`, which renames a symbol in all files that use it, or in none. */
import {join, relative} from 'node:path';
import {z} from 'zod';
import type {CodeIndex, QueryOptions, RenameEdit, RenamePlan} from '../../code-index/contract.ts';
import {applyEdits} from '../../code-index/rename/source-lines.ts';
import type {Access, Workspace} from '../../core/contract/permission.ts';
import type {ToolResult} from '../../core/contract/results.ts';
import type {FileLedger, Tool, ToolContext} from '../../core/contract/tool.ts';
import type {ToolFacts} from '../../core/contract/tool-facts.ts';
import {getRoots} from '../../core/permissions/files/file-zone.ts';
import {getErrorCode, getErrorMessage, MiniCcError} from '../../core/util/errors.ts';
import {isInside} from '../../core/util/paths.ts';
import {formatCount, formatNames} from '../../core/util/text.ts';
import {errorResult, textResult} from '../../core/util/tool-output.ts';
import {changeFile, type FileLocks, type FileToChange, findChangeProblem, readForPreview} from './change-file.ts';
import {absolutePath, shownPath, titlePath} from './model-paths.ts';
import {cutPatch, formatPatch} from './patch.ts';
import description from './rename-symbol.md';
import {decodeText, encodeText} from './text-file.ts';

const MAX_PATCH_CHARS = 8000;
const MAX_CONCERNS = 12;

const input = z.object({
  path: z.string().min(1),
  line: z.number().int().min(1),
  name: z.string().min(1),
  new_name: z.string().min(1),
  apply: z.boolean().optional(),
});

type RenameInput = z.infer<typeof input>;

export const RENAME_SYMBOL: ToolFacts = {
  name: 'rename_symbol',
  kind: 'edit',
  label: 'Rename',
  rulePattern: 'path',
  pathInputs: ['path'],
  ruledBy: 'edit_file',
};

interface RenameDeps {
  readonly locks: FileLocks;
  readonly getIndex: (root: string) => CodeIndex;
}

export function createRenameSymbol({locks, getIndex}: RenameDeps): Tool<RenameInput> {
  return {
    ...RENAME_SYMBOL,
    description: description.trim(),
    input,
    title: ({path, name, new_name}, workspace) => `${name} to ${new_name} (${titlePath(path, workspace)})`,
    access: ({path, apply}, workspace) => [{kind: apply ? 'write' : 'read', path: absolutePath(path, workspace)}],
    findAccess: async (given, workspace, signal) =>
      given.apply ? listWrites(await plan(given, workspace, {signal}, getIndex), locks, workspace) : [],
    async run(given, context) {
      const {workspace, signal, mayRead} = context;
      const planned = await plan(given, workspace, {signal, ...(mayRead && {mayRead})}, getIndex);
      if (typeof planned === 'string') return errorResult(planned);
      if (planned.verdict === 'refused') return errorResult(formatRefusal(planned, workspace));
      return given.apply ? applyPlan(planned, given, context, locks) : preview(planned, given, workspace);
    },
  };
}

type Planned = RenamePlan & {readonly root: string};

/** @returns the reason as a text when there is nothing to plan */
async function plan(
  {path, line, name, new_name: to}: RenameInput,
  workspace: Workspace,
  options: QueryOptions,
  getIndex: RenameDeps['getIndex'],
): Promise<Planned | string> {
  const file = absolutePath(path, workspace);
  const root = getRoots(workspace).find((each) => isInside(file, [each]));
  if (root === undefined) return `${path} is outside of the workspace: nothing is renamed there.`;
  const index = getIndex(root);
  const own = relative(root, file);
  const {found} = await index.outline(own, options);
  const last = name.split(/\.|::|#/).at(-1)!;
  const here = found.find((one) => one.name === last && one.line === line);
  const from = here ? [...here.container, here.name].join('.') : last;
  const planned = await index.rename({from, to, ...(here && {path: own})}, options);
  const isThere = here ?? planned.edits.some((edit) => edit.path === own && edit.line === line);
  if (!isThere && planned.verdict === 'safe') return `${path}:${line} does not name ${name}. Nothing was changed.`;
  return {...planned, root};
}

/** Every file that the rename would change is judged as an edit of it. */
function listWrites(planned: Planned | string, locks: FileLocks, workspace: Workspace): readonly Access[] {
  if (typeof planned === 'string') return [];
  return [...groupByFile(planned)].map(([path, edits]): Access => {
    const showDiff = async (place: string) => {
      const bytes = await readForPreview(place, locks, workspace);
      const text = bytes && decodeText(bytes).text;
      return text === undefined ? '' : formatPatch(text, edit(text, edits) ?? text);
    };
    return {kind: 'write', path, preview: showDiff};
  });
}

/** Absolute path of each file that changes, with its edits. */
function groupByFile({root, edits}: Planned): ReadonlyMap<string, readonly RenameEdit[]> {
  return Map.groupBy(edits, ({path}) => join(root, path));
}

function edit(text: string, edits: readonly RenameEdit[]): string | undefined {
  return applyEdits(text.split('\n'), edits)?.join('\n');
}

function formatRefusal({reasons, concerns, root}: Planned, workspace: Workspace): string {
  const places = concerns
    .slice(0, MAX_CONCERNS)
    .map(({path, line, why}) => `${shownPath(join(root, path), workspace)}:${line}: ${why}`);
  return [`Refused, nothing was changed: ${reasons.join(' ')}`, ...places].join('\n');
}

function formatCounts(planned: Planned, {name, new_name}: RenameInput): string {
  const files = groupByFile(planned).size;
  return `${name} to ${new_name}: ${formatCount(planned.edits.length, 'place')} in ${formatCount(files, 'file')}`;
}

function preview(planned: Planned, given: RenameInput, workspace: Workspace): ToolResult {
  const files = [...groupByFile(planned)].map(
    ([path, edits]) => `${shownPath(path, workspace)}: ${edits.map(({line}) => line).join(', ')}`,
  );
  const head = `Would rename ${formatCounts(planned, given)}. Nothing was changed; \`apply\` does it.`;
  return textResult([head, ...files, ...formatMentions(planned, workspace)].join('\n'), {facts: {read: []}});
}

function formatMentions({mentions, root}: Planned, workspace: Workspace): readonly string[] {
  const places = mentions.map(({path, line}) => `${shownPath(join(root, path), workspace)}:${line}`);
  return places.length > 0 ? [`Left alone, in texts and comments: ${formatNames(places, MAX_CONCERNS)}`] : [];
}

/**
 * Changes all files. Each change is tried before the first file is written. When a write fails, the written files get
 * their old content back.
 */
async function applyPlan(
  planned: Planned,
  given: RenameInput,
  context: ToolContext,
  locks: FileLocks,
): Promise<ToolResult> {
  const {workspace, places} = context;
  const files = [...groupByFile(planned)];
  const stranger = files.find(([path]) => !places.includes(path));
  if (stranger) return errorResult(`${shownPath(stranger[0], workspace)} was not permitted. Nothing was changed.`);
  const only = (path: string) => ({...context, places: [path], files: allowUnread(context.files)});
  for (const [path, edits] of files) {
    const trial = findChangeProblem(locks, only(path), (file) => editFile(file, edits));
    const problem = await trial.catch(getErrorMessage);
    if (problem !== undefined) return errorResult(`${problem} Nothing was changed.`);
  }
  const written: Written[] = [];
  try {
    for (const [path, edits] of files) {
      const result = await changeFile(locks, only(path), (file) => editFile(file, edits, written));
      if (result.isError) throw new MiniCcError('CHANGED', `${shownPath(path, workspace)} changed meanwhile.`);
    }
  } catch (error) {
    for (const {path, before} of written) {
      await changeFile(locks, only(path), async ({replace}) => {
        await replace(before, {before: '', after: ''});
        return textResult('');
      });
    }
    return errorResult(`${getErrorMessage(error)} The rename was taken back: nothing was changed.`);
  }
  const patch = written.map((each) => each.patch).join('\n');
  const text = [`Renamed ${formatCounts(planned, given)}.`, cutPatch(patch, MAX_PATCH_CHARS)];
  return textResult([...text, ...formatMentions(planned, workspace)].join('\n'), {
    display: {type: 'diff', path: absolutePath(given.path, workspace), patch},
    facts: {changed: files.map(([path]) => path)},
  });
}

/** A file that was changed. */
interface Written {
  readonly path: string;
  readonly before: Buffer;
  readonly patch: string;
}

/** @param written gets the file once it is changed */
async function editFile(
  {path, old, shown, replace}: FileToChange,
  edits: readonly RenameEdit[],
  written: Written[] = [],
): Promise<ToolResult> {
  const file = old?.content && decodeText(old.content);
  const after = file && edit(file.text, edits);
  if (!file || after === undefined) return errorResult(`${shown} is not as the index saw it.`);
  await replace(encodeText({...file, text: after}), {before: file.text, after});
  written.push({path, before: old.content!, patch: `${shown}\n${formatPatch(file.text, after)}`});
  return textResult('');
}

/** The syntax tree of a file counts as reading it. A file that the agent read, and that changed since, is refused. */
function allowUnread(files: FileLedger): FileLedger {
  return {
    recordRead: (path, content) => files.recordRead(path, content),
    recordWrite: (path, content) => files.recordWrite(path, content),
    beginCommand: () => files.beginCommand(),
    recordCommandWrites: (changed) => files.recordCommandWrites(changed),
    assertFresh(path, now) {
      try {
        files.assertFresh(path, now);
      } catch (error) {
        if (getErrorCode(error) !== 'NOT_READ') throw error;
      }
    },
  };
}
