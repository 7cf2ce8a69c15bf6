/** Checkpoints of the session that is open, and what its commands do with them. */
import type {Emit} from '../core/contract/events.ts';
import type {Redactor} from '../core/secrets/redaction.ts';
import type {ChangedFiles} from '../core/session/parts.ts';
import {createFileLedger, type WriteLog} from '../core/turn/file-ledger.ts';
import {createChangedFiles} from '../storage/checkpoints/changed-files.ts';
import {CheckpointStore, type CheckpointStoreOptions} from '../storage/checkpoints/checkpoint-store.ts';
import {formatPatch} from '../tools/files/patch.ts';

export function checkpointsOf(
  options: Pick<CheckpointStoreOptions, 'sessionFolder' | 'root' | 'home'>,
  redactor: Redactor,
  emit: Emit,
): CheckpointStore {
  const told = new Set<string>();
  return new CheckpointStore({
    ...options,
    redact: (label) => redactor.text(label),
    onNone: (why) => {
      if (told.has(why)) return;
      told.add(why);
      const text = `checkpoints are not complete (${why}): /subagents undo and /rewind may not put everything back`;
      emit({type: 'notice', level: 'warning', text});
    },
  });
}

export function changedFilesOf(checkpoints: CheckpointStore, root: string, writeLog: WriteLog): ChangedFiles {
  return createChangedFiles({
    root,
    checkpoints: () => checkpoints.current,
    formatPatch,
    onRestored: (paths, label) => createFileLedger(writeLog, label).commandRan(paths),
  });
}
