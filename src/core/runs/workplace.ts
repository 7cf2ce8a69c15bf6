/** Where a run works: in the workspace itself, or in a worktree of its own whose changes come back at its end. */

import type {Confinement, Workspace} from '../contract/access.ts';
import type {Checkpoints} from '../contract/checkpoints.ts';
import type {Emit} from '../contract/events.ts';
import type {RunResult} from '../contract/run-result.ts';
import type {Receipt} from '../contract/runs.ts';
import type {BroughtBack, Worktree, WorktreeOwner, Worktrees} from '../contract/worktree.ts';
import {createFileLedger, type WriteLog} from '../turn/file-ledger.ts';
import {endingOf, getTotals} from '../turn/run-ending.ts';
import type {Surroundings} from '../turn/system-prompt.ts';
import {getErrorMessage} from '../util/errors.ts';
import {makeReceipt} from './receipt.ts';

export interface PlaceHouse {
  readonly workspace: Workspace;
  /** Of agents that may write. */
  readonly confinement: Confinement;
  readonly surroundings: Surroundings;
  readonly worktrees: Worktrees;
  readonly checkpoints: Checkpoints;
  readonly writeLog: WriteLog;
}

export interface Holding {
  readonly readOnly: boolean;
  /** How it is held now: in plan mode otherwise than at other times. */
  readonly confinementOf: (base: Confinement) => Confinement;
}

/** Who works there, and how. */
export interface Guest extends WorktreeOwner, Holding {
  readonly emit: Emit;
  readonly signal: AbortSignal;
}

export interface RunPlace {
  readonly workspace: Workspace;
  readonly surroundings: Surroundings;
  /** Once, when the run has ended. Never rejects: changes that could not come back make the result an error. */
  leave(result: RunResult): Promise<{readonly result: RunResult; readonly receipt: Receipt}>;
}

/** In the environment, but about the checkout that mini-cc was started in. */
const ABOUT_MAIN_CHECKOUT = new Set([
  ...['GIT_DIR', 'GIT_WORK_TREE', 'GIT_INDEX_FILE', 'GIT_PREFIX', 'GIT_COMMON_DIR', 'GIT_NAMESPACE'],
  ...['GIT_OBJECT_DIRECTORY', 'GIT_ALTERNATE_OBJECT_DIRECTORIES'],
]);

/** In the workspace, as most runs do. */
export function placeInWorkspace({readOnly, confinementOf}: Holding, house: PlaceHouse): RunPlace {
  const {workspace, confinement, surroundings} = house;
  const {root} = workspace;
  return {
    workspace: {
      ...workspace,
      cwd: root,
      get confinement() {
        return confinementOf(readOnly ? 'read-only' : confinement);
      },
    },
    surroundings,
    leave: async (result) => ({result, receipt: makeReceipt(result, root)}),
  };
}

/** @throws MiniCcError when there can be no worktree. */
export async function placeInWorktree(guest: Guest, house: PlaceHouse): Promise<RunPlace> {
  const tree = await openTree(guest, house);
  if (!tree) return placeInWorkspace(guest, house);
  const {root} = house.workspace;
  for (const text of tree.notes) guest.emit({type: 'notice', level: 'warning', text});
  return {
    workspace: {
      root: tree.root,
      // Its git directory lies above the folder that it works in.
      extraRoots: tree.top === tree.root ? [] : [tree.top],
      seen: tree.seen,
      cwd: tree.root,
      get confinement() {
        return guest.confinementOf(guest.readOnly ? 'read-only' : 'worktree');
      },
      env: Object.fromEntries(Object.entries(house.workspace.env).filter(([name]) => !ABOUT_MAIN_CHECKOUT.has(name))),
    },
    surroundings: {...house.surroundings, cwd: tree.root, worktreeOf: root},
    leave: (result) => leaveTree(result, tree, guest, house),
  };
}

/** Undefined when the run was stopped before it had its tree: then it makes no call. */
async function openTree(guest: Guest, {worktrees}: PlaceHouse): Promise<Worktree | undefined> {
  try {
    return await worktrees.open(guest, guest.signal);
  } catch (error) {
    if (guest.signal.aborted) return undefined;
    throw error;
  }
}

async function leaveTree(ended: RunResult, tree: Worktree, guest: Guest, house: PlaceHouse) {
  const {root} = house.workspace;
  const told = inTermsOfWorkspace(ended, tree, root);
  let brought: BroughtBack;
  try {
    brought = await tree.bringBack(ended.tools.flatMap(({facts}) => facts.changed ?? []));
  } catch (error) {
    tree.abandon();
    const why = `what it changed could not be brought back (${getErrorMessage(error)}). It is still in ${tree.top}, and kept as a patch when mini-cc is started anew`;
    guest.emit({type: 'notice', level: 'warning', text: why});
    return {result: asError(told, why), receipt: makeReceipt(told, root, {citedIn: tree.root})};
  }
  const {applied, kept, notes} = brought;
  const files = createFileLedger(house.writeLog, guest.label);
  await files.commandRan(applied);
  const receipt = makeReceipt(told, root, {citedIn: tree.root, changed: applied, ...(kept && {kept})});
  const missing = kept ? [`Not all that this run changed is in the workspace. ${kept.explanation}`] : [];
  if (kept) guest.emit({type: 'notice', level: 'warning', text: `changes kept in ${kept.patch} (${kept.why})`});
  tree.discard();
  return {result: {...told, text: [...missing, told.text, ...notes].join('\n\n')}, receipt};
}

/** Paths as they are in the workspace: nobody finds anything in the tree any more. */
function inTermsOfWorkspace(result: RunResult, tree: Worktree, root: string): RunResult {
  const text = result.text
    .replaceAll(`${tree.root}/`, '')
    .replaceAll(tree.root, root)
    .replaceAll(tree.top, tree.inWorkspace(tree.top) ?? root);
  const tools = result.tools.map((record) => {
    const {read, ...facts} = record.facts;
    return {
      ...record,
      facts: {...facts, changed: [], ...(read && {read: read.map((file) => tree.inWorkspace(file) ?? file)})},
    };
  });
  return {...result, text, tools};
}

function asError(result: RunResult, why: string): RunResult {
  const ending = endingOf(result);
  const error = ending === '' ? why : `${ending}; ${why}`;
  return {...getTotals(result), outcome: 'error', code: 'WORKTREE', error};
}
