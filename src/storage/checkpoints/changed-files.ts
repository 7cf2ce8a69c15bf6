/** Shows what agents changed, in the format of `git diff`, and undoes it. */
import type {
  ChangedLines,
  CheckpointGaps,
  RestoredFiles,
  RewindPoint,
  SessionDiff,
} from '../../core/contract/session-requests.ts';
import type {ChangedFiles} from '../../core/session/parts.ts';
import {tryOr} from '../../core/util/errors.ts';
import {relativeIfInside} from '../../core/util/paths.ts';
import {formatCount} from '../../core/util/text.ts';
import {type FileState, getContentId, isSameState, readFileState} from '../trees/file-state.ts';
import {byAgent, byAgents, getNetChanges, type NetChange, type Selection, since} from './changes.ts';
import {type ContentSource, readInBatches} from './contents.ts';
import type {LedgerLine} from './ledger.ts';
import {planRestoredFiles, type RestoreOptions, restoreFiles} from './restore.ts';
import type {SessionCheckpoints} from './session-checkpoints.ts';

interface ChangedFilesDeps {
  readonly root: string;
  /** Returns the checkpoints of the open session. @throws MiniCcError when they cannot be used */
  checkpoints(): SessionCheckpoints;
  /**
   * Returns the checkpoints of a session that is not open. The caller closes them. @throws MiniCcError when they cannot
   * be used
   */
  openCheckpoints(session: string): SessionCheckpoints;
  /** Formats the difference of two texts as unified hunks. */
  formatPatch(before: string, after: string): string;
  /** Called before the result is returned, so that agents that have read these files learn who changed them. */
  onRestored(paths: readonly string[], label: string): Promise<void>;
}

const UNDO = '/subagents undo';

export function createChangedFiles(deps: ChangedFilesDeps): ChangedFiles {
  const restore = async (
    selection: Selection,
    options: RestoreOptions,
    checkpoints = deps.checkpoints(),
  ): Promise<RestoredFiles> => {
    const {restored, left} = await restoreFiles(checkpoints, selection, options);
    await deps.onRestored(
      restored.map((file) => file.path),
      options.by.label,
    );
    return {restored, left, gaps: findGaps(checkpoints.ledger.lines, selection)};
  };
  /** @param session id of a session that is not open; undefined for the open one */
  const withCheckpoints = async <T>(session: string | undefined, work: (from: SessionCheckpoints) => Promise<T>) => {
    if (session === undefined) return work(deps.checkpoints());
    const earlier = deps.openCheckpoints(session);
    try {
      return await work(earlier);
    } finally {
      earlier.close();
    }
  };
  /** @param command the words by which a person repeats the undo */
  const undo = (agents: readonly string[], label: string, command: string, session?: string) =>
    withCheckpoints(session, (checkpoints) => {
      const options = {by: {agentId: 'undo', label}, command: {undo: command}};
      return restore(byAgents(agents), options, checkpoints);
    });
  return {
    async diff(agentId) {
      const checkpoints = deps.checkpoints();
      await checkpoints.settled();
      const selection = byAgent(agentId);
      const changes = getNetChanges(checkpoints.ledger.changes, selection);
      const files = new Set(changes.map((change) => change.path)).size;
      const gaps = findGaps(checkpoints.ledger.lines, selection);
      return {files, patches: await unifiedDiff(changes, checkpoints.contents, deps), gaps};
    },
    changed: (agents, session) =>
      withCheckpoints(session, async (checkpoints) => {
        await checkpoints.settled();
        return [...new Set(getNetChanges(checkpoints.ledger.changes, byAgents(agents)).map(({path}) => path))];
      }),
    undoAll: (agents, label, session) => undo(agents, label, label, session),
    diffAll: () => diffAll(deps),
    undo: (agentId) => undo([agentId], UNDO, `${UNDO} ${agentId}`),
    rewind(from, {keepNew, finish} = {}) {
      const command = {rewind: from, scope: finish ? 'both' : 'files'} as const;
      const options = {by: {agentId: 'rewind', label: '/rewind'}, command, keepNew, finish};
      return restore(since(from), options);
    },
    describeCutOff: (points) => describeCutOff(deps, points),
    planRewind: (from) => planRestoredFiles(deps.checkpoints(), since(from)),
    countLines: (from, until) => countLines(deps, since(from, until)),
  };
}

async function countLines(deps: ChangedFilesDeps, selection: Selection): Promise<ChangedLines> {
  const checkpoints = deps.checkpoints();
  await checkpoints.settled();
  const made = getNetChanges(checkpoints.ledger.changes, selection);
  const lines = (await unifiedDiff(made, checkpoints.contents, deps)).flatMap(listChangedLines);
  const count = (sign: string) => lines.filter((line) => line.startsWith(sign)).length;
  return {files: new Set(made.map((each) => each.path)).size, added: count('+'), removed: count('-')};
}

/** Lists the lines of a patch after its head. */
function listChangedLines(patch: string): readonly string[] {
  const lines = patch.split('\n');
  const start = lines.findIndex((line) => line.startsWith('@@'));
  return start < 0 ? [] : lines.slice(start);
}

/** When checkpoints cannot be used, the person reads the reason at the first change. */
function describeCutOff({checkpoints}: ChangedFilesDeps, points: () => readonly RewindPoint[]): string | undefined {
  const cut = tryOr(() => checkpoints().ledger.findCutRestore(), undefined);
  if (!cut) return undefined;
  const {by, files} = cut;
  const command = 'undo' in by ? by.undo : formatRewind(by.scope, points().findIndex(({at}) => at === by.rewind) + 1);
  const what = 'undo' in by ? 'An undo' : 'A rewind';
  return command && `${what} of ${formatCount(files, 'file')} was cut off when mini-cc ended: ${command} finishes it.`;
}

/** @param number counts the prompts from the last one; 0 when the prompt is not in the conversation any more */
function formatRewind(scope: 'files' | 'both', number: number): string | undefined {
  return number === 0 ? undefined : `/rewind ${number} ${scope}`;
}

/** Compares the files that the session changed with what the disk has now, also where another program wrote it. */
async function diffAll(deps: ChangedFilesDeps): Promise<SessionDiff> {
  const checkpoints = deps.checkpoints();
  await checkpoints.settled();
  const byPath = Map.groupBy(checkpoints.ledger.changes, (change) => change.path);
  const changes: NetChange[] = [];
  const onDisk = new Map<string, string>();
  for (const [file, made] of byPath) {
    const {state} = await readFileState(file);
    const id = getContentId(state);
    if (id !== undefined) onDisk.set(id, file);
    const {before} = made[0]!;
    if (isSameState(before, state)) continue;
    const net = getNetChanges(made, since(0));
    const cutOff = net.some((change) => change.cutOff);
    changes.push({path: file, before, after: state, sharedWith: net.flatMap(({sharedWith}) => sharedWith), cutOff});
  }
  const source: ContentSource = {
    async contents(ids) {
      const found = new Map(await checkpoints.contents.contents(ids.filter((id) => !onDisk.has(id))));
      for (const id of ids) {
        const {content} = onDisk.has(id) ? await readFileState(onDisk.get(id)!) : {};
        if (content) found.set(id, content);
      }
      return found;
    },
  };
  const patches = await unifiedDiff(changes, source, deps);
  const files = changes.map(({path: file}, index) => ({path: file, patch: patches[index]!}));
  return {files, gaps: findGaps(checkpoints.ledger.lines, since(0))};
}

/** Returns what the checkpoints do not know about the commands of a selection. */
function findGaps(lines: readonly LedgerLine[], {involves}: Selection): CheckpointGaps {
  const isMeant = ({at, by}: Extract<LedgerLine, {type: 'running' | 'uncounted'}>) => involves({at, by: [by]});
  const ran = new Set(lines.flatMap((line) => (line.type === 'running' && isMeant(line) ? [line.id] : [])));
  const leftOut = lines.flatMap((line) => (line.type === 'ran' && ran.has(line.id) ? (line.leftOut ?? []) : []));
  const reasons = lines.flatMap((line) => (line.type === 'uncounted' && isMeant(line) ? [line.why] : []));
  return {reasons: [...new Set(reasons)], ...(ran.size > 0 && {leftOut: [...new Set(leftOut)]})};
}

type DiffDeps = Pick<ChangedFilesDeps, 'formatPatch' | 'root'>;

/** Limit of characters for the whole diff. Beyond it, files are only named. */
const MAX_CHARS = 100_000;

/** @returns one part for each file */
async function unifiedDiff(
  changes: readonly NetChange[],
  source: ContentSource,
  deps: DiffDeps,
): Promise<readonly string[]> {
  const parts: string[] = [];
  let chars = 0;
  const getIds = ({before, after}: NetChange) => [getContentId(before) ?? [], getContentId(after) ?? []].flat();
  for await (const {items, contents} of readInBatches(changes, getIds, source)) {
    for (const change of items) {
      const part =
        chars > MAX_CHARS
          ? `${formatHead(change, deps.root)}\n(left out: the diff is too long)`
          : fileDiff(change, contents, deps);
      parts.push(part);
      chars += part.length;
    }
  }
  return parts;
}

function fileDiff(change: NetChange, contents: ReadonlyMap<string, Buffer>, {formatPatch, root}: DiffDeps): string {
  const {before, after} = change;
  const head = formatHead(change, root);
  if (getContentId(before) === getContentId(after)) return head;
  const [old, now] = [getContent(before, contents), getContent(after, contents)];
  if (old === undefined || now === undefined) return `${head}\n(its content is not stored any more)`;
  const [a, b] = formatNames(change, root);
  if (isBinary(old) || isBinary(now)) return `${head}\nBinary files ${a} and ${b} differ`;
  const patch = formatPatch(old.toString(), now.toString());
  return patch === '' ? head : `${head}\n--- ${a}\n+++ ${b}\n${patch}`;
}

/** Formats other agents that may have changed the file, its names, and its modes when they changed. */
function formatHead(change: NetChange, root: string): string {
  const {before, after, path, sharedWith, cutOff} = change;
  const name = relativeIfInside(path, root);
  const lines = [
    ...(sharedWith.length > 0 ? [`shared with ${sharedWith.join(', ')}:`] : []),
    ...(cutOff ? ['mini-cc ended during this change; the file as the next start found it:'] : []),
    `diff --git ${quoteName(`a/${name}`)} ${quoteName(`b/${name}`)}`,
  ];
  const [old, now] = [getMode(before), getMode(after)];
  if (old === undefined) lines.push(`new file mode ${now}`);
  else if (now === undefined) lines.push(`deleted file mode ${old}`);
  else if (old !== now) lines.push(`old mode ${old}`, `new mode ${now}`);
  return lines.join('\n');
}

function formatNames({path, before, after}: NetChange, root: string): [string, string] {
  const name = relativeIfInside(path, root);
  const nothing = '/dev/null';
  return [before === null ? nothing : quoteName(`a/${name}`), after === null ? nothing : quoteName(`b/${name}`)];
}

/** Quotes a name with control characters, quotes or backslashes, as git does. */
function quoteName(name: string): string {
  return /["\\\p{Cc}]/u.test(name) ? JSON.stringify(name) : name;
}

function getMode(state: FileState): string | undefined {
  if (state === null) return undefined;
  if (state.kind === 'link') return '120000';
  return state.kind === 'file' && state.executable ? '100755' : '100644';
}

function getContent(state: FileState, contents: ReadonlyMap<string, Buffer>): Buffer | undefined {
  const id = getContentId(state);
  return id === undefined ? Buffer.alloc(0) : contents.get(id);
}

function isBinary(content: Buffer): boolean {
  return content.includes(0);
}
