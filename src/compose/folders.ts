/** Further folders of a session: those of `--add-dir` and the settings, and what `/add-dir` adds. */
import {realpathSync, statSync} from 'node:fs';
import path from 'node:path';
import type {PermissionPolicy} from '../core/permissions/policy.ts';
import type {Questions} from '../core/permissions/questions.ts';
import type {SessionParts} from '../core/session/parts.ts';
import {UsageError} from '../core/util/errors.ts';

interface FolderParts {
  /** The list that the workspace has: what is added to it holds from the next call on. */
  readonly extraRoots: string[];
  readonly root: string;
  readonly policy: PermissionPolicy;
  readonly questions: Questions;
}

export function createFolders({extraRoots, root, policy, questions}: FolderParts): SessionParts['folders'] {
  return {
    list: () => [...extraRoots],
    add(folder) {
      const added = getExistingFolder(folder, root);
      if (added === root || extraRoots.includes(added)) throw new UsageError(`agents work in ${added} already`);
      extraRoots.push(added);
      policy.noteChange();
      // What is asked about just now may need no question any more.
      void questions.recheck();
    },
  };
}

/** With links resolved. @param root what a relative path begins at. @throws UsageError when there is none */
export function getExistingFolder(folder: string, root: string): string {
  const found = path.resolve(root, folder);
  if (!statSync(found, {throwIfNoEntry: false})?.isDirectory()) throw new UsageError(`no such folder: ${folder}`);
  return realpathSync(found);
}
