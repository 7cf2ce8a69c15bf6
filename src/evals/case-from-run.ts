/**
 * Makes a case from a run that happened: its prompt, the commit and the patch of the workspace as it was when the run
 * began, and checks from what the runtime saw of it.
 *
 * The workspace is not captured when a run begins, so its state is computed. Files that agents changed since then have
 * their content in the checkpoints. A file that another program touched since then gets its content of the commit, and
 * is named.
 */
import {lstat} from 'node:fs/promises';
import path from 'node:path';
import {applyEdits, modify} from 'jsonc-parser';
import {openAgentFolder} from '../agents/save.ts';
import type {Message} from '../core/contract/model.ts';
import type {StoredRun} from '../core/contract/runs.ts';
import type {ToolFacts} from '../core/contract/tool-facts.ts';
import type {TranscriptEntry} from '../core/contract/transcript.ts';
import {findCitations} from '../core/runs/citations.ts';
import {ignoreMissing, MiniCcError, UsageError} from '../core/util/errors.ts';
import {readProjectFile} from '../core/util/files/project-file.ts';
import {createTemporaryFolder, removeTemporaryFolder} from '../core/util/files/temporary-folder.ts';
import {writeWholeIn} from '../core/util/files/whole-file.ts';
import {getText} from '../core/util/messages.ts';
import {isInside} from '../core/util/paths.ts';
import {hasError, type Problem} from '../core/util/problem.ts';
import {formatNames} from '../core/util/text.ts';
import {byAgent, getNetChanges} from '../storage/checkpoints/changes.ts';
import type {FileChange} from '../storage/checkpoints/ledger.ts';
import {SessionCheckpoints} from '../storage/checkpoints/session-checkpoints.ts';
import type {SessionStore} from '../storage/sessions/session-store.ts';
import {readHeader} from '../storage/sessions/transcript.ts';
import {type FileState, getContentId} from '../storage/trees/file-state.ts';
import type {KnownSettings} from '../storage/trees/git.ts';
import {findRepository, type Repository, readCopiedSettings} from '../storage/trees/repository.ts';
import {ABSENT, type TreeDiff} from '../storage/trees/tree-diff.ts';
import {Trees} from '../storage/trees/trees.ts';
import {EVALS_FOLDER, MAX_BYTES, readAgentCases} from './case-file.ts';
import type {Check} from './contract.ts';
import {listIgnored} from './workspaces.ts';

interface FromRunDeps {
  /** The workspace, with links resolved. */
  readonly root: string;
  readonly home: string;
  readonly store: SessionStore;
  readonly signal: AbortSignal;
  /** Tools that checks may name. */
  readonly tools: readonly ToolFacts[];
}

/** A case that is not written yet. */
export interface DraftedCase {
  readonly agent: string;
  readonly run: StoredRun;
  /** The case as the file will have it. */
  readonly fields: {readonly id: string; readonly patch?: string} & Readonly<Record<string, unknown>>;
  readonly patch: Buffer;
  /** Lines for a person: what is not known for sure. */
  readonly notes: readonly string[];
  /** Errors of the file that is there already. */
  readonly problems: readonly Problem[];
}

interface FoundRun {
  readonly run: StoredRun;
  readonly entries: readonly TranscriptEntry[];
  readonly begunAt: number;
}

/** Most files that a proposed check names. */
const MAX_NAMED = 10;

/** @param name id of a run or its beginning, or its number, 1 for the newest. @throws UsageError when there is none */
export async function draftCase(name: string, deps: FromRunDeps): Promise<DraftedCase> {
  const {root, store, tools} = deps;
  const found = findRun(name, store);
  const {run, entries} = found;
  const {agent} = run;
  const existing = await readAgentCases(agent, root, path.join(root, EVALS_FOLDER), tools);
  const problems = existing?.problems.filter((each) => hasError([each])) ?? [];
  const first = entries.find((entry) => entry.type === 'message' && entry.message.role === 'user');
  if (first?.type !== 'message') throw new UsageError(`run ${run.runId} has no prompt any more`);
  const folders = listCheckpoints(store);
  const changes = (
    await Promise.all(folders.map((each) => readCheckpoints(each, deps, ({ledger}) => ledger.changes)))
  ).flat();
  const {commit, patch, notes} = await computeState(found, changes, deps);
  const id = createId(run.description, existing?.set?.cases.map((each) => String(each.id)) ?? []);
  const fields = {
    id,
    prompt: getText(first.message.content),
    ...(commit !== undefined && {commit}),
    ...(patch.length > 0 && {patch: `${agent}-${id}.patch`}),
    checks: proposeChecks(found, changes, root),
  };
  return {agent, run, fields, patch, notes, problems};
}

/** Adds the case to the file of its agent. @returns the path of the file */
export async function addCase({agent, fields, patch}: DraftedCase, root: string): Promise<string> {
  const folder = path.join(root, EVALS_FOLDER);
  const file = path.join(folder, `${agent}.json`);
  const place = await openAgentFolder(folder);
  try {
    const isThere = await lstat(file).catch(ignoreMissing);
    const before = isThere
      ? readProjectFile(file, MAX_BYTES).toString('utf8')
      : `{"agent_name": ${JSON.stringify(agent)}, "evals": []}`;
    const formattingOptions = {insertSpaces: true, tabSize: 2, eol: '\n'};
    const edits = modify(before, ['evals', -1], fields, {isArrayInsertion: true, formattingOptions});
    const added = applyEdits(before, edits);
    const text = isThere ? added : `${JSON.stringify(JSON.parse(added), null, 2)}\n`;
    if (fields.patch !== undefined) await writeWholeIn(place, fields.patch, patch, {over: 'nothing'});
    await writeWholeIn(place, path.basename(file), text);
    return file;
  } finally {
    await place.close();
  }
}

function findRun(name: string, store: SessionStore): FoundRun {
  const runs = store
    .list()
    .flatMap(({id}) => {
      const own = store.runStore(() => id);
      return own.list().map((run) => ({run, own}));
    })
    .toSorted((a, b) => b.run.createdAt - a.run.createdAt);
  const [, number] = /^#?(\d{1,4})$/.exec(name) ?? [];
  const matches =
    number === undefined
      ? runs.filter(({run}) => name !== '' && run.runId.startsWith(name))
      : runs.slice(Math.max(0, Number(number) - 1), Number(number));
  const [match] = matches;
  if (!match || number === '0') {
    const has = runs.length === 0 ? 'it has no runs yet' : `it has ${runs.length}, 1 is the newest`;
    throw new UsageError(`--from: no run ${name} in this directory: ${has}`);
  }
  if (matches.length > 1)
    throw new UsageError(`--from: ${matches.length} runs begin with ${name}: type more of the id`);
  const {run, own} = match;
  if (run.tool !== undefined)
    throw new UsageError(`--from: run ${name} is a command in the background, and no agent's`);
  const entries = own.read(run.runId);
  const began = entries.find(({type}) => type === 'began');
  return {run, entries, begunAt: began?.type === 'began' ? Date.parse(began.at) : run.createdAt};
}

function listCheckpoints(store: SessionStore): readonly string[] {
  return store.list().map(({id}) => path.join(store.sessionFolder(id), 'checkpoints'));
}

/** @throws MiniCcError when a newer mini-cc wrote them */
async function readCheckpoints<T>(
  folder: string,
  {root, home}: FromRunDeps,
  read: (checkpoints: SessionCheckpoints) => T | Promise<T>,
): Promise<T> {
  const checkpoints = new SessionCheckpoints({folder, root, home, onUncounted: () => undefined});
  try {
    return await read(checkpoints);
  } finally {
    checkpoints.close();
  }
}

/** Computes the commit that was checked out when the run began, and what the workspace had beside it. */
async function computeState({run, begunAt}: FoundRun, changes: readonly FileChange[], deps: FromRunDeps) {
  const {root, home, signal} = deps;
  const repository = await findRepository(root, {signal}).catch(() => undefined);
  const commit = repository && readHeader(run.transcript)?.commit;
  if (!repository || commit === undefined) {
    const note = 'there is no commit of that time: the case shows the workspace as it is at the test';
    return {commit: undefined, patch: Buffer.alloc(0), notes: [note]};
  }
  const {top} = repository;
  const folder = createTemporaryFolder(home);
  try {
    const known: KnownSettings = {};
    const without = [path.join(root, EVALS_FOLDER)];
    const settings = await readCopiedSettings(repository, {signal, known});
    const beginning = {from: repository, settings, without, known};
    const trees = await Trees.create(path.join(folder, 'state.git'), {top}, beginning, signal);
    const {tree: now} = await trees.capture({without, signal});
    const before = await listBefore(changes, begunAt, repository, without);
    const others = (await trees.diff(commit, now)).filter((each) => !before.has(each.path));
    const {unchanged, touched} = await findUnchanged(others, begunAt, top);
    const own = await toDiffs(before, trees, deps);
    const patch = await trees.readPatch(commit, await trees.changed(commit, [...unchanged, ...own]));
    if (patch.length > MAX_BYTES) throw new MiniCcError('CASE', 'the patch of that workspace has more than 5 MB');
    const note = `changed since the run began, and not by an agent, so that the case has them as in the commit: ${formatNames(touched, MAX_NAMED)}`;
    return {commit, patch, notes: touched.length > 0 ? [note] : []};
  } finally {
    removeTemporaryFolder(folder);
  }
}

/** Returns the states, by name, of files that agents changed since then, without those that git ignores. */
async function listBefore(
  changes: readonly FileChange[],
  begunAt: number,
  {top}: Repository,
  without: readonly string[],
): Promise<ReadonlyMap<string, FileState>> {
  const before = new Map<string, FileState>();
  for (const {path: file, at, before: state} of changes.toSorted((a, b) => a.at - b.at)) {
    const name = path.relative(top, file);
    if (at >= begunAt && isInside(file, [top]) && !isInside(file, without) && !before.has(name))
      before.set(name, state);
  }
  for (const name of await listIgnored(top, [...before.keys()])) before.delete(name);
  return before;
}

/** Separates differences that were there when the run began from those of files that were touched since. */
async function findUnchanged(diffs: readonly TreeDiff[], begunAt: number, top: string) {
  const unchanged: TreeDiff[] = [];
  const touched: string[] = [];
  for (const diff of diffs) {
    const file = path.join(top, diff.path);
    const stat = await lstat(file).catch(ignoreMissing);
    // The file exists, but no capture has it: it is too large, in a nested repository, or a case.
    if (stat && diff.newMode === ABSENT) continue;
    const changed = stat ?? (await lstat(path.dirname(file)).catch(ignoreMissing));
    if (changed && changed.ctimeMs <= begunAt) unchanged.push(diff);
    else touched.push(diff.path);
  }
  return {unchanged, touched};
}

/** @throws MiniCcError when a content is not stored any more */
async function toDiffs(before: ReadonlyMap<string, FileState>, trees: Trees, deps: FromRunDeps): Promise<TreeDiff[]> {
  const ids = [...before.values()].flatMap((state) => getContentId(state) ?? []);
  const contents = new Map<string, Buffer>();
  for (const folder of listCheckpoints(deps.store)) {
    const own = await readCheckpoints(folder, deps, ({contents: source}) => source.contents(ids));
    for (const [id, content] of own) contents.set(id, content);
  }
  const diffs: TreeDiff[] = [];
  for (const [name, state] of before) {
    if (state?.kind === 'other') continue;
    const content = state && contents.get(state.id);
    if (state && !content) throw new MiniCcError('CASE', `${name} as it was then is not stored any more`);
    const newMode = !state ? ABSENT : state.kind === 'link' ? '120000' : state.executable ? '100755' : '100644';
    const newId = content ? await trees.store(content) : '0'.repeat(40);
    diffs.push({path: name, name: Buffer.from(name), oldMode: '', oldId: '', newMode, newId});
  }
  return diffs;
}

/**
 * Proposes checks that a person can edit: the actions of a run that succeeded, and evidence for a run that had none.
 */
function proposeChecks({run, entries}: FoundRun, changes: readonly FileChange[], root: string): readonly Check[] {
  const {end, runId, tools} = run;
  const isGood = end?.outcome === 'success';
  const toName = (file: string) => path.relative(root, path.resolve(root, file));
  const isOwn = (name: string) => name !== '' && !name.startsWith('..');
  const changed = getNetChanges(changes, byAgent(runId))
    .map((change) => toName(change.path))
    .filter(isOwn);
  const messages = entries.flatMap((entry) => (entry.type === 'message' ? [entry.message] : []));
  const turns = messages.filter(({role}) => role === 'assistant').length;
  const read = [...new Set(listRead(messages).map(toName).filter(isOwn))];
  const checks: Check[] = [{outcome: 'success'}];
  if (tools === 0) checks.push({reads: ['**']});
  else if (isGood && changed.length > 0) checks.push({changed: changed.slice(0, MAX_NAMED)});
  else if (isGood) checks.push({unchanged: ['**']}, ...(read.length > 0 ? [{reads: read.slice(0, 3)}] : []));
  if (isGood && findCitations(run.text, root).length > 0) checks.push({citations: 'all'});
  if (isGood && tools > 0) checks.push({max: {turns: turns * 2}});
  return checks;
}

function listRead(messages: readonly Message[]): readonly string[] {
  return messages.flatMap(({content}) =>
    typeof content === 'string'
      ? []
      : content.flatMap((block) => {
          if (block.type !== 'tool_use' || block.name !== 'read_file') return [];
          const {path: file} = block.input as {readonly path?: unknown};
          return typeof file === 'string' ? [file] : [];
        }),
  );
}

function createId(description: string, taken: readonly string[]): string {
  const words = description.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
  const plain = words.slice(0, 40).replaceAll(/^-+|-+$/g, '') || 'run';
  let id = plain;
  for (let count = 2; taken.includes(id); count += 1) id = `${plain}-${count}`;
  return id;
}
