/** What agents changed in files, as `git diff` writes it, and the way back. */
import path from 'node:path';
import type {CheckpointGaps, RestoredFiles} from '../../core/contract/requests.ts';
import type {ChangedFiles} from '../../core/session/parts.ts';
import {ofAgent, type Selection, type Stretch, since, stretchesOf} from './changes.ts';
import {batchesOf, type ContentSource} from './contents.ts';
import {type FileState, idOf} from './file-state.ts';
import type {LedgerLine} from './ledger.ts';
import {putBack} from './restore.ts';
import type {SessionCheckpoints} from './session-checkpoints.ts';

export interface ChangedFilesDeps {
  /** The workspace. */
  readonly root: string;
  /** Of the session that is open. @throws MiniCcError when they cannot be used. */
  checkpoints(): SessionCheckpoints;
  /** The unified hunks between two texts. */
  formatPatch(before: string, after: string): string;
  /** Called before the result is there: agents that have read these files learn who changed them. */
  onRestored(paths: readonly string[], label: string): Promise<void>;
}

export function createChangedFiles(deps: ChangedFilesDeps): ChangedFiles {
  const restore = async (
    selection: Selection,
    isMeant: (line: CommandLine) => boolean,
    agentId: string,
    label: string,
  ): Promise<RestoredFiles> => {
    const checkpoints = deps.checkpoints();
    const {restored, left} = await putBack(checkpoints, selection, {agentId, label});
    await deps.onRestored(
      restored.map((file) => file.path),
      label,
    );
    return {restored, left, gaps: gapsIn(checkpoints.ledger.lines, isMeant)};
  };
  return {
    async diff(agentId) {
      const checkpoints = deps.checkpoints();
      await checkpoints.recovered();
      const stretches = stretchesOf(checkpoints.ledger.changes, ofAgent(agentId));
      const files = new Set(stretches.map((stretch) => stretch.path)).size;
      const gaps = gapsIn(checkpoints.ledger.lines, ({by}) => by.agentId === agentId);
      return {files, patches: await unifiedDiff(stretches, checkpoints.contents, deps), gaps};
    },
    undo: (agentId) => restore(ofAgent(agentId), ({by}) => by.agentId === agentId, 'undo', '/subagents undo'),
    rewind: (from) => restore(since(from), ({at}) => at >= from, 'rewind', '/rewind'),
  };
}

type CommandLine = Extract<LedgerLine, {type: 'running' | 'uncounted'}>;

/** What checkpoints cannot tell about these commands. */
function gapsIn(lines: readonly LedgerLine[], isMeant: (line: CommandLine) => boolean): CheckpointGaps {
  const ran = new Set(lines.flatMap((line) => (line.type === 'running' && isMeant(line) ? [line.id] : [])));
  const leftOut = lines.flatMap((line) => (line.type === 'ran' && ran.has(line.id) ? (line.leftOut ?? []) : []));
  const reasons = lines.flatMap((line) => (line.type === 'uncounted' && isMeant(line) ? [line.why] : []));
  return {reasons: [...new Set(reasons)], ...(ran.size > 0 && {leftOut: [...new Set(leftOut)]})};
}

type DiffDeps = Pick<ChangedFilesDeps, 'formatPatch' | 'root'>;

/** Beyond so many characters in all, files are only named. */
const MAX_CHARS = 100_000;

/** @returns a part for each file. */
async function unifiedDiff(
  stretches: readonly Stretch[],
  source: ContentSource,
  deps: DiffDeps,
): Promise<readonly string[]> {
  const parts: string[] = [];
  let chars = 0;
  const contentsOf = ({before, after}: Stretch) => [idOf(before) ?? [], idOf(after) ?? []].flat();
  for await (const {items, contents} of batchesOf(stretches, contentsOf, source)) {
    for (const stretch of items) {
      const part =
        chars > MAX_CHARS
          ? `${headOf(stretch, deps.root)}\n(left out: the diff is too long)`
          : fileDiff(stretch, contents, deps);
      parts.push(part);
      chars += part.length;
    }
  }
  return parts;
}

function fileDiff(stretch: Stretch, contents: ReadonlyMap<string, Buffer>, {formatPatch, root}: DiffDeps): string {
  const {before, after} = stretch;
  const head = headOf(stretch, root);
  if (idOf(before) === idOf(after)) return head;
  const [old, now] = [contentOf(before, contents), contentOf(after, contents)];
  if (old === undefined || now === undefined) return `${head}\n(its content is not kept any more)`;
  const [a, b] = namesOf(stretch, root);
  if (isBinary(old) || isBinary(now)) return `${head}\nBinary files ${a} and ${b} differ`;
  const patch = formatPatch(old.toString(), now.toString());
  return patch === '' ? head : `${head}\n--- ${a}\n+++ ${b}\n${patch}`;
}

/** Who had a hand in it too, the names, and modes where they changed. */
function headOf(stretch: Stretch, root: string): string {
  const {before, after, path, sharedWith, cutOff} = stretch;
  const name = shownPath(path, root);
  const lines = [
    ...(sharedWith.length > 0 ? [`shared with ${sharedWith.join(', ')}:`] : []),
    ...(cutOff ? ['mini-cc ended amid this; as it was found when it was started again:'] : []),
    `diff --git ${quoted(`a/${name}`)} ${quoted(`b/${name}`)}`,
  ];
  const [old, now] = [modeOf(before), modeOf(after)];
  if (old === undefined) lines.push(`new file mode ${now}`);
  else if (now === undefined) lines.push(`deleted file mode ${old}`);
  else if (old !== now) lines.push(`old mode ${old}`, `new mode ${now}`);
  return lines.join('\n');
}

function namesOf({path, before, after}: Stretch, root: string): [string, string] {
  const name = shownPath(path, root);
  const nothing = '/dev/null';
  return [before === null ? nothing : quoted(`a/${name}`), after === null ? nothing : quoted(`b/${name}`)];
}

/** A name that would not stay on its line, or not end where it seems to. */
function quoted(name: string): string {
  return /["\\\p{Cc}]/u.test(name) ? JSON.stringify(name) : name;
}

function modeOf(state: FileState): string | undefined {
  if (state === null) return undefined;
  if (state.kind === 'link') return '120000';
  return state.kind === 'file' && state.executable ? '100755' : '100644';
}

function contentOf(state: FileState, contents: ReadonlyMap<string, Buffer>): Buffer | undefined {
  const id = idOf(state);
  return id === undefined ? Buffer.alloc(0) : contents.get(id);
}

function isBinary(content: Buffer): boolean {
  return content.includes(0);
}

/** Relative to the workspace where it lies inside. */
function shownPath(file: string, root: string): string {
  return file.startsWith(`${root}${path.sep}`) ? path.relative(root, file) : file;
}
