/**
 * Opens the place where a run works: the workspace itself, or a worktree whose changes come back at the end of the run.
 */
import path from 'node:path';
import type {AgentDefinition} from '../agent-types.ts';
import type {Checkpoints} from '../contract/checkpoints.ts';
import type {Emit} from '../contract/events.ts';
import type {WriteScope} from '../contract/fan-out.ts';
import type {AgentNotes, Confinement, Workspace} from '../contract/permission.ts';
import type {Clock, RunResult} from '../contract/results.ts';
import type {Receipt} from '../contract/runs.ts';
import type {BroughtBack, Worktree, WorktreeOwner, Worktrees} from '../contract/worktree.ts';
import type {PermitDeps} from '../permissions/decision.ts';
import {createFileLedger, type WriteLog} from '../turn/file-ledger.ts';
import {formatEnding, getTotals} from '../turn/run-ending.ts';
import type {SystemPromptContext} from '../turn/system-prompt.ts';
import {getErrorMessage} from '../util/errors.ts';
import {REPOSITORY_VARIABLES} from '../util/files/git-folder.ts';
import {isInside} from '../util/paths.ts';
import type {LiveRun} from './live-run.ts';
import {formatRunTitle} from './progress-line.ts';
import {makeReceipt} from './receipt.ts';

export interface WorkplaceDeps {
  readonly workspace: Workspace;
  /** Confinement of commands of agents that may write. */
  readonly confinement: Confinement;
  /** Reads the branch and the memory files as they are now. */
  readPromptContext(): SystemPromptContext;
  /** Opens the notes of an agent that has some. Never rejects. @param warn gets the reason when they cannot be used */
  readonly openNotes?: (agent: AgentDefinition, warn: (text: string) => void) => Promise<AgentNotes | undefined>;
  readonly worktrees: Worktrees;
  readonly checkpoints: Checkpoints;
  readonly writeLog: WriteLog;
  readonly permits: PermitDeps;
  readonly clock: Clock;
}

export interface Workplace {
  /** Name of the run for people: `[code] refactor auth`. */
  readonly label: string;
  readonly workspace: Workspace;
  readonly promptContext: SystemPromptContext;
  /**
   * Called once, when the run has ended. Never rejects: if changes cannot be brought back, the result becomes an error.
   */
  leave(result: RunResult): Promise<{readonly result: RunResult; readonly receipt: Receipt}>;
}

/** The run that works in the place. */
interface Occupant extends WorktreeOwner {
  readonly readOnly: boolean;
  readonly scope?: WriteScope | undefined;
  readonly notes: AgentNotes | undefined;
  /** Returns the confinement of the run's commands at present, which is different in plan mode. */
  readonly getConfinement: (base: Confinement) => Confinement;
  readonly emit: Emit;
  readonly signal: AbortSignal;
}

/** @throws MiniCcError when no worktree can be created */
export async function openWorkplace(
  {spec, signal}: Pick<LiveRun, 'spec' | 'signal'>,
  agent: AgentDefinition,
  deps: WorkplaceDeps,
  emit: Emit,
): Promise<Workplace> {
  const {runId, isolation, scope} = spec;
  const warn = (text: string) => emit({type: 'notice', level: 'warning', text});
  const occupant: Occupant = {
    agentId: runId,
    label: formatRunTitle(spec),
    readOnly: agent.readOnly,
    scope,
    // The parts of a fan-out may write only their files.
    notes: scope ? undefined : await deps.openNotes?.(agent, warn),
    getConfinement: (base) => deps.permits.policy.getConfinement(base, agent.permissionMode),
    emit,
    signal,
  };
  return isolation === 'worktree' ? workInWorktree(occupant, deps) : workInWorkspace(occupant, deps);
}

function workInWorkspace({label, readOnly, scope, notes, getConfinement}: Occupant, deps: WorkplaceDeps): Workplace {
  const {workspace} = deps;
  const {root} = workspace;
  return {
    label,
    workspace: {
      ...workspace,
      cwd: root,
      notes,
      ...(scope && {scope}),
      get confinement() {
        return getConfinement(readOnly ? 'read-only' : scope ? 'files' : deps.confinement);
      },
    },
    promptContext: {...deps.readPromptContext(), notes},
    leave: async (result) => ({result, receipt: makeReceipt(result, root)}),
  };
}

async function workInWorktree(occupant: Occupant, deps: WorkplaceDeps): Promise<Workplace> {
  const startedAt = deps.clock.now();
  occupant.emit({type: 'run_note', text: 'making its worktree'});
  const tree = await openTree(occupant, deps);
  occupant.emit({type: 'run_note', text: ''});
  const madeInMs = deps.clock.now() - startedAt;
  if (!tree) return workInWorkspace(occupant, deps);
  const {root} = deps.workspace;
  const main = tree.inWorkspace(tree.top);
  for (const text of tree.notes) occupant.emit({type: 'notice', level: 'warning', text});
  return {
    label: occupant.label,
    workspace: {
      root: tree.root,
      // The git directory of the worktree may lie above the folder in which the run works.
      extraRoots: tree.top === tree.root ? [] : [tree.top],
      seen: [...tree.gitObjects, ...(deps.workspace.seen ?? [])],
      ...(main !== undefined && {copyOf: {main, top: tree.top}}),
      cwd: tree.root,
      notes: occupant.notes,
      ...(occupant.scope && {scope: moveScope(occupant.scope, root, tree.root)}),
      get confinement() {
        return occupant.getConfinement(occupant.readOnly ? 'read-only' : 'worktree');
      },
      env: Object.fromEntries(Object.entries(deps.workspace.env).filter(([name]) => !REPOSITORY_VARIABLES.has(name))),
    },
    promptContext: {
      ...deps.readPromptContext(),
      notes: occupant.notes,
      cwd: tree.root,
      worktreeSource: root,
    },
    leave: (result) => leaveTree({...result, durationMs: result.durationMs + madeInMs}, tree, occupant, deps),
  };
}

function moveScope({files, allowed}: WriteScope, from: string, to: string): WriteScope {
  const move = (file: string) => path.join(to, path.relative(from, file));
  return {files: files.map(move), allowed: allowed.map(move)};
}

/** Returns undefined when the run was stopped before its worktree existed. Such a run makes no call. */
async function openTree(occupant: Occupant, {worktrees}: WorkplaceDeps): Promise<Worktree | undefined> {
  try {
    return await worktrees.open(occupant, occupant.signal);
  } catch (error) {
    if (occupant.signal.aborted) return undefined;
    throw error;
  }
}

async function leaveTree(worked: RunResult, tree: Worktree, occupant: Occupant, deps: WorkplaceDeps) {
  const {root} = deps.workspace;
  const startedAt = deps.clock.now();
  occupant.emit({type: 'run_note', text: 'bringing its changes back'});
  const isNote = (file: string) => occupant.notes !== undefined && isInside(file, [occupant.notes.folder]);
  let ended = toWorkspacePaths(worked, tree, root, isNote);
  let brought: BroughtBack;
  try {
    const changed = worked.tools.flatMap(({facts}) => facts.changed ?? []);
    brought = await tree.bringBack(changed.filter((file) => !isNote(file)));
  } catch (error) {
    tree.abandon();
    const why = `what it changed could not be brought back (${getErrorMessage(error)}). It is still in ${tree.top}, and kept as a patch when mini-cc is started anew`;
    occupant.emit({type: 'notice', level: 'warning', text: why});
    return {result: asError(ended, why), receipt: makeReceipt(ended, root, {citedIn: tree.root})};
  }
  ended = {...ended, durationMs: ended.durationMs + deps.clock.now() - startedAt};
  await createFileLedger(deps.writeLog, occupant.label).recordCommandWrites(brought.applied);
  tree.discard();
  return addBroughtBack(ended, brought, {root, citedIn: tree.root}, occupant.emit);
}

/** Adds to the result of a run, and to its receipt, what came back of its changes and what did not. */
export function addBroughtBack(
  result: RunResult,
  {applied, kept: saved, notes}: BroughtBack,
  {root, citedIn}: {readonly root: string; readonly citedIn: string},
  emit: Emit,
): {readonly result: RunResult; readonly receipt: Receipt} {
  if (saved) emit({type: 'notice', level: 'warning', text: `changes kept in ${saved.patch} (${saved.why})`});
  const missing = saved ? [`Not all that this run changed is in the workspace. ${saved.explanation}`] : [];
  const receipt = makeReceipt(result, root, {citedIn, changed: applied, saved});
  return {result: {...result, text: [...missing, result.text, ...notes].join('\n\n')}, receipt};
}

/**
 * Replaces paths in the worktree by paths of the workspace, because the worktree is removed. Notes lie outside of it.
 */
function toWorkspacePaths(
  result: RunResult,
  tree: Worktree,
  root: string,
  isNote: (file: string) => boolean,
): RunResult {
  const text = result.text
    .replaceAll(`${tree.root}/`, '')
    .replaceAll(tree.root, root)
    .replaceAll(tree.top, tree.inWorkspace(tree.top) ?? root);
  const tools = result.tools.map((record) => {
    const {read, ...facts} = record.facts;
    return {
      ...record,
      facts: {
        ...facts,
        changed: (facts.changed ?? []).filter(isNote),
        ...(read && {read: read.map((file) => tree.inWorkspace(file) ?? file)}),
      },
    };
  });
  return {...result, text, tools};
}

function asError(result: RunResult, why: string): RunResult {
  const ending = formatEnding(result);
  const error = ending === '' ? why : `${ending}; ${why}`;
  return {...getTotals(result), outcome: 'error', code: 'WORKTREE', error};
}
