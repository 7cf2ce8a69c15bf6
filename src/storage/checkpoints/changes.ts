/** Computes what an agent changed, and how to restore it, by pure functions of the ledger's changes. */
import {type FileState, isSameState} from '../trees/file-state.ts';
import type {FileChange} from './ledger.ts';

/** What decides whether a selection is involved in a change. */
type ChangeFacts = Pick<FileChange, 'at' | 'by' | 'undoes'>;

/** Selects changes: those of some runs, or those in a span of time. */
export interface Selection {
  /** Whether the selection is involved in the change. */
  involves(change: ChangeFacts): boolean;
  /** Whether no other agent is involved. */
  owns(change: FileChange): boolean;
}

export function byAgent(agentId: string): Selection {
  return byAgents([agentId]);
}

/** Selects the changes of several runs, as if one run had made them. */
export function byAgents(agents: readonly string[]): Selection {
  const isAgent = (id: string) => agents.includes(id);
  const listAgents = ({by, undoes = []}: ChangeFacts) => [...by.map(({agentId}) => agentId), ...undoes];
  return {
    involves: (change) => listAgents(change).some(isAgent),
    owns: (change) => change.by.every(({agentId}) => isAgent(agentId)) || (change.undoes?.every(isAgent) ?? false),
  };
}

/** Selects all changes of mini-cc's agents, and all restores, of a time. Both ends are milliseconds since the epoch. */
export function since(from: number, until = Number.POSITIVE_INFINITY): Selection {
  const isMeant = ({at}: ChangeFacts) => at >= from && at < until;
  return {involves: isMeant, owns: isMeant};
}

/** Returns the files that commands of several agents may have changed since a time (milliseconds since the epoch). */
export function findShared(files: readonly string[], since: number, changes: readonly FileChange[]): readonly string[] {
  const shared = new Set(changes.filter(({by, at}) => by.length > 1 && at >= since).map(({path}) => path));
  return files.filter((file) => shared.has(file));
}

/**
 * The total change that a selection made to one file, from its first to its last change without other changes between.
 */
export interface NetChange {
  readonly path: string;
  readonly before: FileState;
  readonly after: FileState;
  /** Labels of other agents whose commands ran at the same time. */
  readonly sharedWith: readonly string[];
  readonly cutOff: boolean;
}

/** Returns the changes in the order of the files' first changes, without files that ended as they began. */
export function getNetChanges(changes: readonly FileChange[], selection: Selection): readonly NetChange[] {
  const open = new Map<string, NetChange>();
  const done: NetChange[] = [];
  const order = new Map<string, number>();
  for (const change of changes) {
    const {path, before, after} = change;
    const current = open.get(path);
    if (!selection.involves(change)) continue;
    if (!order.has(path)) order.set(path, order.size);
    const continues = current !== undefined && isSameState(current.after, before);
    if (current && !continues) done.push(current);
    const others = selection.owns(change) ? [] : change.by.filter((one) => !isAlone(change, one.agentId, selection));
    open.set(path, {
      path,
      before: continues ? current.before : before,
      after,
      sharedWith: [...new Set([...(continues ? current.sharedWith : []), ...others.map(({label}) => label)])],
      cutOff: (continues && current.cutOff) || change.cutOff === true,
    });
  }
  return [...done, ...open.values()]
    .filter(({before, after}) => !isSameState(before, after))
    .sort((a, b) => order.get(a.path)! - order.get(b.path)!);
}

/** Whether the selection would own the change if this agent alone had made it. */
function isAlone(change: FileChange, agentId: string, selection: Selection): boolean {
  return selection.owns({...change, by: change.by.filter((one) => one.agentId === agentId)});
}

export type RestorePlan =
  | {
      readonly type: 'restore';
      readonly path: string;
      readonly from: FileState;
      readonly to: FileState;
      readonly madeFolders: readonly string[];
      /** Ids of the agents whose changes this undoes. */
      readonly undoes: readonly string[];
    }
  | {readonly type: 'leave'; readonly path: string; readonly why: string};

export function getPaths(changes: readonly FileChange[], selection: Selection): readonly string[] {
  return [...new Set(changes.filter(selection.involves).map(({path}) => path))];
}

/**
 * Plans the restore of one file.
 * @param changes all changes of one path, oldest first
 * @param current the present state of the file
 * @returns undefined when there is nothing to restore
 */
export function planRestore(
  changes: readonly FileChange[],
  selection: Selection,
  current: FileState,
): RestorePlan | undefined {
  const mine = changes.flatMap((change, index) => (selection.involves(change) ? [index] : []));
  const [start] = mine;
  const end = mine.at(-1);
  if (start === undefined || end === undefined) return undefined;
  const first = changes[start]!;
  const last = changes[end]!;
  const {path, before: target} = first;
  if (isSameState(current, target) || isSameState(last.after, target)) return undefined;
  const leave = (why: string): RestorePlan => ({type: 'leave', path, why});
  for (let index = start; index <= end; index += 1) {
    const change = changes[index]!;
    if (!selection.involves(change)) return leave(`changed in between by ${formatLabels(change)}`);
    if (change.unseen)
      return leave(
        'it is older than the command: it was ignored, too large or elsewhere before, and no checkpoint has it',
      );
    if (!selection.owns(change)) return leave(`shared: ${formatLabels(change)} ran commands at the same time`);
    if (index > start && !isSameState(changes[index - 1]!.after, change.before)) {
      return leave('changed in between outside mini-cc');
    }
  }
  if (!isSameState(current, last.after))
    return leave(`changed since ${describeLastWriter(changes, end, selection, current)}`);
  const madeFolders = changes.slice(start, end + 1).flatMap((change) => change.madeFolders ?? []);
  const undoes = [
    ...new Set(
      changes
        .slice(start, end + 1)
        .flatMap((change) => [...change.by.map(({agentId}) => agentId), ...(change.undoes ?? [])]),
    ),
  ];
  return {type: 'restore', path, from: current, to: target, madeFolders: [...new Set(madeFolders)], undoes};
}

function describeLastWriter(
  changes: readonly FileChange[],
  end: number,
  {involves}: Selection,
  current: FileState,
): string {
  const others = changes.filter((change) => !involves(change));
  const left = others.findLast(({after}) => isSameState(after, current));
  if (left) return `by ${formatLabels(left)}`;
  const later = changes.slice(end + 1).at(-1);
  return later ? `by ${formatLabels(later)}, and outside mini-cc` : 'outside mini-cc';
}

function formatLabels({by}: FileChange): string {
  return by.map(({label}) => label).join(' and ');
}
