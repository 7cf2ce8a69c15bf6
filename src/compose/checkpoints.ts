/** Checkpoints of the session that is open, and what its commands do with them. */
import type {ChangesRoom} from '../commands/changes.ts';
import type {Emit} from '../core/contract/events.ts';
import type {Redactor} from '../core/secrets/redaction.ts';
import {createFileLedger, type WriteLog} from '../core/turn/file-ledger.ts';
import {CheckpointStore, type CheckpointStoreOptions} from '../storage/checkpoints/checkpoint-store.ts';
import {patchOf} from '../tools/files/patch.ts';

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

export function changesRoom(checkpoints: CheckpointStore, root: string, writeLog: WriteLog): ChangesRoom {
  return {
    root,
    checkpoints: () => checkpoints.current,
    patchOf,
    onPutBack: (paths, label) => createFileLedger(writeLog, label).commandRan(paths),
  };
}
