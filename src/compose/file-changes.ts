/** What a session keeps of changed files: checkpoints, to take changes back, and the worktrees of its runs. */
import {homedir} from 'node:os';
import path from 'node:path';
import type {LoadedSettings} from '../config/settings.ts';
import type {Checkpoints, Writer} from '../core/contract/checkpoints.ts';
import type {Emit} from '../core/contract/events.ts';
import type {Worktrees} from '../core/contract/worktree.ts';
import {isProtected} from '../core/permissions/files/file-zone.ts';
import type {Redactor} from '../core/secrets/redaction.ts';
import {createFileLedger, WriteLog} from '../core/turn/file-ledger.ts';
import {hiddenPaths} from '../sandbox/hidden-paths.ts';
import {createChangedFiles} from '../storage/checkpoints/changed-files.ts';
import {CheckpointStore} from '../storage/checkpoints/checkpoint-store.ts';
import type {SessionStore} from '../storage/sessions/session-store.ts';
import type {ShippedTrees} from '../storage/worktrees/shipped-trees.ts';
import {formatPatch} from '../tools/files/patch.ts';
import type {SessionOptions} from './options.ts';

export interface FileChangesOptions {
  /** The workspace, links resolved. */
  readonly root: string;
  readonly options: Pick<SessionOptions, 'home' | 'cachedTree'>;
  readonly loaded: Pick<LoadedSettings, 'settings'>;
  /** Of the conversation that is open. */
  readonly sessionFolder: () => string;
  readonly store: Pick<SessionStore, 'sessionFolder'>;
  readonly redactor: Redactor;
  readonly emit: Emit;
}

export function createFileChanges(options: FileChangesOptions) {
  const {root} = options;
  const writeLog = new WriteLog();
  const checkpoints = createCheckpoints(options);
  const changes = createChangedFiles({
    root,
    checkpoints: () => checkpoints.current,
    openCheckpoints: (session) => checkpoints.openOther(options.store.sessionFolder(session)),
    formatPatch,
    onRestored: (paths, label) => createFileLedger(writeLog, label).recordCommandWrites(paths),
  });
  return {writeLog, checkpoints, changes, worktrees: createWorktrees(options, checkpoints)};
}

function createCheckpoints({root, options, sessionFolder, redactor, emit}: FileChangesOptions): CheckpointStore {
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

function listHidden({options, loaded}: Pick<FileChangesOptions, 'options' | 'loaded'>): readonly string[] {
  const hide = loaded.settings.sandbox?.hide ?? [];
  return hiddenPaths({home: homedir(), miniCcHome: options.home, hide}).map(({path: place}) => place);
}

export interface WritingDeps {
  readonly checkpoints: Checkpoints;
}

/** The files that are written are known: they alone are saved before, for undo. @throws MiniCcError when one cannot be saved */
async function writeWithCheckpoints(
  checkpoints: Checkpoints,
  by: Writer,
  files: readonly string[],
  work: () => Promise<void>,
): Promise<void> {
  const saved: string[] = [];
  try {
    for (const file of files) {
      await checkpoints.beforeWrite(by, file);
      saved.push(file);
    }
    await work();
  } finally {
    for (const file of saved) await checkpoints.afterWrite(by, file);
  }
}

/** The workspace for workers: loaded with the first run that goes to one. */
export async function createShippedTrees(
  {root, options, loaded, sessionFolder}: FileChangesOptions,
  checkpoints: Checkpoints,
  runFolder: (runId: string) => string,
): Promise<ShippedTrees> {
  const {ShippedTrees: Trees} = await import('../storage/worktrees/shipped-trees.ts');
  return new Trees({
    root,
    isProtected,
    folders: {trees: () => path.join(sessionFolder(), 'shipped'), run: runFolder},
    hidden: () => listHidden({options, loaded}),
    writing: (owner, files, work) => writeWithCheckpoints(checkpoints, owner, files, work),
  });
}

/** The code that makes worktrees is loaded with the first one. */
function createWorktrees(
  {root, options, loaded, sessionFolder, emit}: FileChangesOptions,
  checkpoints: Checkpoints,
): Worktrees {
  let created: Promise<Worktrees> | undefined;
  const create = async () => {
    const {GitWorktrees} = await import('../storage/worktrees/git-worktrees.ts');
    return new GitWorktrees({
      root,
      sessionFolder,
      isProtected,
      hidden: () => listHidden({options, loaded}),
      cached: options.cachedTree,
      warn: (text) => emit({type: 'notice', level: 'warning', text}),
      writing: (owner, files, work) => writeWithCheckpoints(checkpoints, owner, files, work),
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
