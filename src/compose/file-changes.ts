/** Creates what a session needs to track changed files: checkpoints, to undo changes, and the worktrees of its runs. */
import {homedir} from 'node:os';
import path from 'node:path';
import type {Checkpoints} from '../core/contract/checkpoints.ts';
import type {Worktrees} from '../core/contract/worktree.ts';
import {isProtected} from '../core/permissions/files/file-zone.ts';
import type {SessionState} from '../core/session/parts.ts';
import {runWithSavedFiles} from '../core/turn/checkpointed-call.ts';
import {createFileLedger, WriteLog} from '../core/turn/file-ledger.ts';
import {hiddenPaths} from '../sandbox/view/view.ts';
import {createChangedFiles} from '../storage/checkpoints/changed-files.ts';
import {CheckpointStore} from '../storage/checkpoints/checkpoint-store.ts';
import type {WorkspaceDeps} from '../storage/worktrees/bring-back.ts';
import type {ShippedTrees} from '../storage/worktrees/shipped-trees.ts';
import {formatPatch} from '../tools/files/patch.ts';
import type {Project, Records} from './project.ts';

export type FileChanges = ReturnType<typeof createFileChanges>;

export function createFileChanges(project: Project, records: Records, state: SessionState) {
  const {root} = project;
  const {store} = records;
  const writeLog = new WriteLog();
  const sessionFolder = () => store.sessionFolder(state.conversation.id);
  const checkpoints = createCheckpoints(project, records, sessionFolder);
  const changes = createChangedFiles({
    root,
    checkpoints: () => checkpoints.current,
    openCheckpoints: (session) => checkpoints.openOther(store.sessionFolder(session)),
    formatPatch,
    onRestored: (paths, label) => createFileLedger(writeLog, label).recordCommandWrites(paths),
  });
  const worktrees = project.options.trials?.worktrees ?? createWorktrees(project, records, sessionFolder, checkpoints);
  return {writeLog, checkpoints, changes, worktrees, sessionFolder};
}

function createCheckpoints(
  {root, options, redactor}: Project,
  {emit}: Records,
  sessionFolder: () => string,
): CheckpointStore {
  const reported = new Set<string>();
  return new CheckpointStore({
    root,
    home: options.home,
    sessionFolder,
    redact: (label) => redactor.text(label),
    onNone: (why) => {
      if (reported.has(why)) return;
      reported.add(why);
      const text = `checkpoints are not complete (${why}): /subagents undo and /rewind may not put everything back`;
      emit({type: 'notice', level: 'warning', text});
    },
  });
}

function createWorkspaceDeps({root, options, settings}: Project, checkpoints: Checkpoints): WorkspaceDeps {
  const places = {home: homedir(), miniCcHome: options.home, hide: settings.sandbox?.hide ?? []};
  return {
    root,
    isProtected,
    hidden: () => hiddenPaths(places).map(({path: place}) => place),
    writing: (owner, files, work) => runWithSavedFiles(checkpoints, owner, files, work),
  };
}

/** Creates the trees that are shipped to workers. Their code is loaded with the first run that goes to a worker. */
export async function createShippedTrees(
  project: Project,
  {sessionFolder, checkpoints}: FileChanges,
  runFolder: (runId: string) => string,
): Promise<ShippedTrees> {
  const {ShippedTrees: Trees} = await import('../storage/worktrees/shipped-trees.ts');
  return new Trees({
    ...createWorkspaceDeps(project, checkpoints),
    folders: {trees: () => path.join(sessionFolder(), 'shipped'), run: runFolder},
  });
}

/** Loads the code for worktrees with the first one. */
function createWorktrees(
  project: Project,
  {emit}: Records,
  sessionFolder: () => string,
  checkpoints: Checkpoints,
): Worktrees {
  let created: Promise<Worktrees> | undefined;
  const create = async () => {
    const {GitWorktrees} = await import('../storage/worktrees/git-worktrees.ts');
    return new GitWorktrees({
      ...createWorkspaceDeps(project, checkpoints),
      sessionFolder,
      cached: project.options.cachedTree,
      warn: (text) => emit({type: 'notice', level: 'warning', text}),
    });
  };
  return {
    open: async (owner, signal) => {
      created ??= create();
      return (await created).open(owner, signal);
    },
    settled: async () => (await created)?.settled(),
  };
}
