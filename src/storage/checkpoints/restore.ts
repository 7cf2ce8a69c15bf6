/** Puts files back to what they were before a selection of changes, except those that somebody else changed. */
import {randomUUID} from 'node:crypto';
import {chmod, chown, lstat, mkdir, realpath, rename, rmdir, symlink, unlink, writeFile} from 'node:fs/promises';
import path from 'node:path';
import type {Writer} from '../../core/contract/checkpoints.ts';
import type {RestoredFiles} from '../../core/contract/requests.ts';
import {MiniCcError, messageOf} from '../../core/util/errors.ts';
import {type Plan, pathsOf, planFor, type Selection} from './changes.ts';
import {batchesOf} from './contents.ts';
import {type FileOrLink, idOf, lookAt, modeOfNew} from './file-state.ts';
import type {SessionCheckpoints} from './session-checkpoints.ts';

export type PutBack = Pick<RestoredFiles, 'restored' | 'left'>;

type Restore = Extract<Plan, {type: 'restore'}>;

/** @param by as what is put back is noted down: it is a change too. */
export async function putBack(checkpoints: SessionCheckpoints, selection: Selection, by: Writer): Promise<PutBack> {
  return checkpoints.alone(async () => {
    const plans = await plansOf(checkpoints, selection);
    const restored: PutBack['restored'][number][] = [];
    const left: PutBack['left'][number][] = [];
    // What is in the way of a folder goes before what lies in that folder comes.
    const restores = plans.filter((plan) => plan.type === 'restore').sort((a, b) => order(a) - order(b));
    for (const plan of plans) if (plan.type === 'leave') left.push({path: plan.path, why: plan.why});
    const contentsOf = ({to}: Restore) => [idOf(to) ?? []].flat();
    for await (const {items, contents} of batchesOf(restores, contentsOf, checkpoints.contents)) {
      for (const plan of items) {
        try {
          await restore(checkpoints, plan, contents, by);
          const how = plan.to === null ? 'removed' : plan.from === null ? 'brought back' : 'put back';
          restored.push({path: plan.path, how});
        } catch (error) {
          left.push({path: plan.path, why: messageOf(error)});
        }
      }
    }
    return {restored, left};
  });
}

function order({to, path: file}: Restore): number {
  return to === null ? -file.split(path.sep).length : 1;
}

async function plansOf(checkpoints: SessionCheckpoints, selection: Selection): Promise<readonly Plan[]> {
  const {changes} = checkpoints.ledger;
  const byPath = Map.groupBy(changes, (change) => change.path);
  const plans: Plan[] = [];
  for (const file of pathsOf(changes, selection)) {
    try {
      const {state} = await lookAt(file);
      const plan = planFor(byPath.get(file) ?? [], selection, state);
      if (plan) plans.push(plan);
    } catch (error) {
      plans.push({type: 'leave', path: file, why: messageOf(error)});
    }
  }
  return plans;
}

async function restore(
  checkpoints: SessionCheckpoints,
  {path: file, to, madeFolders, of}: Restore,
  contents: ReadonlyMap<string, Buffer>,
  by: Writer,
): Promise<void> {
  await assertNoDetour(file);
  const {state: before, content: present} = await lookAt(file);
  await checkpoints.keep(before, present);
  if (to === null) {
    await unlink(file);
    for (const folder of madeFolders.toReversed()) await removeEmpty(folder);
  } else if (to.kind === 'other') {
    throw new MiniCcError('NOT_KEPT', 'what was there was neither a file nor a link');
  } else {
    const content = contents.get(to.id);
    if (!content) throw new MiniCcError('NOT_KEPT', 'what was there is not kept any more');
    await mkdir(path.dirname(file), {recursive: true});
    await replace(file, to, content);
  }
  // Its content is kept already.
  const {state: after} = await lookAt(file);
  checkpoints.note({type: 'change', at: Date.now(), by: [by], path: file, before, after, undoes: of});
}

/** Where a link among its folders leads elsewhere by now, the path means another file. */
async function assertNoDetour(file: string): Promise<void> {
  for (let folder = path.dirname(file); ; folder = path.dirname(folder)) {
    const real = await realpath(folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' && path.dirname(folder) !== folder) return undefined;
      throw error;
    });
    if (real === undefined && !(await lstat(folder).catch(() => undefined))) continue;
    if (real === folder) return;
    throw new MiniCcError('DETOUR', `${folder} is a link now`);
  }
}

/** Whole or not at all; a link that stands there is replaced, not followed. */
async function replace(file: string, to: FileOrLink, content: Buffer): Promise<void> {
  const draft = path.join(path.dirname(file), `.${randomUUID()}`);
  const now = await lstat(file).catch(() => undefined);
  if (now?.isDirectory()) throw new MiniCcError('IN_THE_WAY', 'a folder stands there now');
  try {
    if (to.kind === 'link') {
      await symlink(content, draft);
    } else {
      await writeFile(draft, content, {flag: 'wx', mode: 0o600});
      await chmod(draft, modeOf(to, now?.isFile() ? now.mode & 0o7777 : undefined));
      const isOthers = now?.isFile() && (now.uid !== process.getuid?.() || now.gid !== process.getgid?.());
      if (now && isOthers) await chown(draft, now.uid, now.gid);
    }
    await rename(draft, file);
  } catch (error) {
    await unlink(draft).catch(() => undefined);
    throw error;
  }
}

/** Where only the executable bit is known, the others are those of the file that stands there, or as for a new one. */
function modeOf({mode, executable}: FileOrLink, now: number | undefined): number {
  if (mode !== undefined) return mode;
  if (now === undefined) return modeOfNew(executable === true);
  const readable = (now & 0o444) >> 2;
  return executable ? now | readable : now & ~0o111;
}

async function removeEmpty(folder: string): Promise<void> {
  await rmdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (!['ENOTEMPTY', 'EEXIST', 'ENOENT', 'ENOTDIR'].includes(error.code ?? '')) throw error;
  });
}
