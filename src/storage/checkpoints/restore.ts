/** Restores files to their state before a selection of changes, except files that others changed too. */
import {randomUUID} from 'node:crypto';
import path from 'node:path';
import type {Writer} from '../../core/contract/checkpoints.ts';
import type {FilesToRestore, RestoredFiles} from '../../core/contract/session-requests.ts';
import {getErrorMessage} from '../../core/util/errors.ts';
import {removeEmptyFolder} from '../../core/util/files/open-folder.ts';
import {changeState, getContentId, readFileState, sortChanges} from '../trees/file-state.ts';
import {getPaths, planRestore, type RestorePlan, type Selection} from './changes.ts';
import {readInBatches} from './contents.ts';
import type {Ledger, RestoreCommand} from './ledger.ts';
import type {SessionCheckpoints} from './session-checkpoints.ts';

type RestoreResult = Pick<RestoredFiles, 'restored' | 'left'>;

type Restore = Extract<RestorePlan, {type: 'restore'}>;

export function planRestoredFiles(checkpoints: SessionCheckpoints, selection: Selection): Promise<FilesToRestore> {
  return checkpoints.runExclusive(async () => {
    const plans = (await planAll(checkpoints, selection)).filter((plan) => plan.type === 'restore');
    const [deleted, restored] = [plans.filter(({to}) => to === null), plans.filter(({to}) => to !== null)];
    return {restored: restored.map((plan) => plan.path), deleted: deleted.map((plan) => plan.path)};
  });
}

export interface RestoreOptions {
  /** The agent under whose name the ledger records the restore. */
  readonly by: Writer;
  /** The next start names this command if the restore was cut off. */
  readonly command: RestoreCommand;
  /** Whether files that the selection created stay. */
  readonly keepNew?: boolean | undefined;
  /** The last step of the restore, after the files. @throws an error, which the caller of `restoreFiles` gets */
  readonly finish?: (() => void) | undefined;
}

/** Restores the files. The restore is itself a change in the ledger. */
export async function restoreFiles(
  checkpoints: SessionCheckpoints,
  selection: Selection,
  {by, command, keepNew = false, finish}: RestoreOptions,
): Promise<RestoreResult> {
  return checkpoints.runExclusive(async () => {
    const all = await planAll(checkpoints, selection);
    const plans = keepNew ? all.filter((plan) => plan.type === 'leave' || plan.to !== null) : all;
    const restored: RestoreResult['restored'][number][] = [];
    const left: RestoreResult['left'][number][] = [];
    const restores = sortChanges(plans.filter((plan) => plan.type === 'restore'));
    const end = noteStart(checkpoints.ledger, restores, command);
    for (const plan of plans) if (plan.type === 'leave') left.push({path: plan.path, why: plan.why});
    const getContents = ({to}: Restore) => [getContentId(to) ?? []].flat();
    for await (const {items, contents} of readInBatches(restores, getContents, checkpoints.contents)) {
      for (const plan of items) {
        try {
          await restore(checkpoints, plan, contents, by);
          const how = plan.to === null ? 'removed' : plan.from === null ? 'brought back' : 'put back';
          restored.push({path: plan.path, how});
        } catch (error) {
          left.push({path: plan.path, why: getErrorMessage(error)});
        }
      }
    }
    finish?.();
    end();
    return {restored, left};
  });
}

/** @returns a function that notes the end. It notes nothing when there is nothing to restore. */
function noteStart(ledger: Ledger, restores: readonly Restore[], by: RestoreCommand): () => void {
  if (restores.length === 0 && !ledger.findCutRestore()) return () => undefined;
  const id = randomUUID();
  const folders = [...new Set(restores.map(({path: file}) => path.dirname(file)))];
  ledger.append({type: 'restoring', at: Date.now(), id, files: restores.length, folders, by});
  return () => ledger.append({type: 'restored', at: Date.now(), id});
}

async function planAll(checkpoints: SessionCheckpoints, selection: Selection): Promise<readonly RestorePlan[]> {
  const {changes} = checkpoints.ledger;
  const byPath = Map.groupBy(changes, (change) => change.path);
  const plans: RestorePlan[] = [];
  for (const file of getPaths(changes, selection)) {
    try {
      const {state} = await readFileState(file);
      const plan = planRestore(byPath.get(file) ?? [], selection, state);
      if (plan) plans.push(plan);
    } catch (error) {
      plans.push({type: 'leave', path: file, why: getErrorMessage(error)});
    }
  }
  return plans;
}

async function restore(
  checkpoints: SessionCheckpoints,
  {path: file, from, to, madeFolders, undoes}: Restore,
  contents: ReadonlyMap<string, Buffer>,
  by: Writer,
): Promise<void> {
  await changeState(
    file,
    {from, to, contents},
    {
      keep: ({state, content}) => checkpoints.storeContent(state, content),
      note: (before, after) =>
        checkpoints.noteChange({type: 'change', at: Date.now(), by: [by], path: file, before, after, undoes}),
    },
  );
  if (to === null) for (const folder of madeFolders.toReversed()) await removeEmptyFolder(folder);
}
