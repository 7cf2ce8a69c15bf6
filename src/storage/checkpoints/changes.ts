/** What an agent changed, from the lines of the ledger: pure functions. */
import {type FileState, isSame} from './file-state.ts';
import type {Change} from './ledger.ts';

/** Picks changes: of one run, or since a moment. */
export interface Selection {
  /** It has a part in this change. */
  involves(change: Change): boolean;
  /** Nobody else has. */
  owns(change: Change): boolean;
}

export function ofAgent(agentId: string): Selection {
  const isIt = (id: string) => id === agentId;
  const byIt = (change: Change) => change.by.map((writer) => writer.agentId);
  return {
    involves: (change) => byIt(change).some(isIt) || (change.undoes?.some(isIt) ?? false),
    owns: (change) => byIt(change).every(isIt) || (change.undoes?.every(isIt) ?? false),
  };
}

/** All that was changed by mini-cc's agents, and by putting things back, from then on. */
export function since(at: number): Selection {
  const isLater = (change: Change) => change.at >= at;
  return {involves: isLater, owns: isLater};
}

/** Those of the files that, from then on, commands of several agents may have changed. */
export function sharedIn(files: readonly string[], since: number, changes: readonly Change[]): readonly string[] {
  const shared = new Set(changes.filter(({by, at}) => by.length > 1 && at >= since).map(({path}) => path));
  return files.filter((file) => shared.has(file));
}

/** One file, from how it was found to how it was left, as long as nobody else came between. */
export interface Stretch {
  readonly path: string;
  readonly before: FileState;
  readonly after: FileState;
  /** Labels of those whose commands ran at the same time. */
  readonly sharedWith: readonly string[];
  readonly cutOff: boolean;
}

/** In the order of their first change; what came to nothing is left out. */
export function stretchesOf(changes: readonly Change[], selection: Selection): readonly Stretch[] {
  const open = new Map<string, Stretch>();
  const done: Stretch[] = [];
  const order = new Map<string, number>();
  for (const change of changes) {
    const {path, before, after} = change;
    const current = open.get(path);
    if (!selection.involves(change)) continue;
    if (!order.has(path)) order.set(path, order.size);
    const goesOn = current !== undefined && isSame(current.after, before);
    if (current && !goesOn) done.push(current);
    const others = selection.owns(change) ? [] : change.by.filter((one) => !isAlone(change, one.agentId, selection));
    open.set(path, {
      path,
      before: goesOn ? current.before : before,
      after,
      sharedWith: [...new Set([...(goesOn ? current.sharedWith : []), ...others.map(({label}) => label)])],
      cutOff: (goesOn && current.cutOff) || change.cutOff === true,
    });
  }
  return [...done, ...open.values()]
    .filter(({before, after}) => !isSame(before, after))
    .sort((a, b) => order.get(a.path)! - order.get(b.path)!);
}

/** The selection would own the change if this agent alone had made it. */
function isAlone(change: Change, agentId: string, selection: Selection): boolean {
  return selection.owns({...change, by: change.by.filter((one) => one.agentId === agentId)});
}

/** What to do with one file to put it back. */
export type Plan =
  | {
      readonly type: 'restore';
      readonly path: string;
      readonly from: FileState;
      readonly to: FileState;
      readonly madeFolders: readonly string[];
      readonly of: readonly string[];
    }
  /** Somebody else changed it: it is left. */
  | {readonly type: 'leave'; readonly path: string; readonly why: string};

export function pathsOf(changes: readonly Change[], selection: Selection): readonly string[] {
  return [...new Set(changes.filter(selection.involves).map(({path}) => path))];
}

/**
 * @param changes all of this path, oldest first.
 * @param current what is there now.
 * @returns undefined when there is nothing to put back.
 */
export function planFor(changes: readonly Change[], selection: Selection, current: FileState): Plan | undefined {
  const mine = changes.flatMap((change, index) => (selection.involves(change) ? [index] : []));
  const [start] = mine;
  const end = mine.at(-1);
  if (start === undefined || end === undefined) return undefined;
  const first = changes[start]!;
  const last = changes[end]!;
  const {path, before: target} = first;
  if (isSame(current, target) || isSame(last.after, target)) return undefined;
  const leave = (why: string): Plan => ({type: 'leave', path, why});
  for (let index = start; index <= end; index += 1) {
    const change = changes[index]!;
    if (!selection.involves(change)) return leave(`changed in between by ${labelsOf(change)}`);
    if (change.unseen) return leave('it was there before, or elsewhere, where checkpoints do not look');
    if (!selection.owns(change)) return leave(`shared: ${labelsOf(change)} ran commands at the same time`);
    if (index > start && !isSame(changes[index - 1]!.after, change.before)) {
      return leave('changed in between outside mini-cc');
    }
  }
  if (!isSame(current, last.after)) return leave(`changed since ${changerOf(changes, end, selection, current)}`);
  const madeFolders = changes.slice(start, end + 1).flatMap((change) => change.madeFolders ?? []);
  const of = [
    ...new Set(
      changes.slice(start, end + 1).flatMap(({by, undoes = []}) => [...by.map(({agentId}) => agentId), ...undoes]),
    ),
  ];
  return {type: 'restore', path, from: current, to: target, madeFolders: [...new Set(madeFolders)], of};
}

/** Who left the file as it is now; where nobody of ours did, somebody outside. */
function changerOf(changes: readonly Change[], end: number, {involves}: Selection, current: FileState): string {
  const others = changes.filter((change) => !involves(change));
  const left = others.findLast(({after}) => isSame(after, current));
  if (left) return `by ${labelsOf(left)}`;
  const later = changes.slice(end + 1).at(-1);
  return later ? `by ${labelsOf(later)}, and outside mini-cc` : 'outside mini-cc';
}

function labelsOf({by}: Change): string {
  return by.map(({label}) => label).join(' and ');
}
