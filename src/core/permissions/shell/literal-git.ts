/** Checks whether git only reads in a repository, even if a hostile project wrote its files. */
import {lstatSync, readdirSync, readFileSync} from 'node:fs';
import path from 'node:path';
import type {Workspace} from '../../contract/permission.ts';
import {findRepository, readSettings} from '../../util/files/git-folder.ts';
import {isInside} from '../../util/paths.ts';
import {UnclearCommand} from './shell-words.ts';

/** With these settings git runs nothing, reads nothing elsewhere and writes nothing. A subsection may be any text. */
const HARMLESS =
  /^(?:core\.(?:repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|autocrlf|eol|safecrlf|abbrev|quotepath)|remote\..*\.(?:url|pushurl|fetch|tagopt|prune)|branch\..*\.(?:remote|merge|rebase|description)|branch\.(?:autosetupmerge|autosetuprebase|sort)|user\.(?:name|email)|pull\.(?:rebase|ff)|push\.(?:default|autosetupremote)|fetch\.prune|init\.defaultbranch|color\..*|diff\.(?:algorithm|renames|mnemonicprefix)|commit\.verbose|rebase\.autostash|gc\.auto|submodule\.active)$/s;
/** Commands that write run these hooks. Other hooks, such as `post-index-change`, also run when git only reads. */
const HOOKS_OF_WRITING =
  /\.sample$|^(?:(?:pre|post|prepare)-(?:commit|commit-msg|merge-commit|push|rebase|checkout|merge|rewrite|applypatch|receive|update)|commit-msg|applypatch-msg|update|pre-auto-gc|sendemail-validate|push-to-checkout)$/;
/** With these variables of the user, git works on another repository or runs a program that they name. */
const LEADS_ELSEWHERE =
  /^GIT_(?:DIR|WORK_TREE|COMMON_DIR|INDEX_FILE|OBJECT_DIRECTORY|ALTERNATE_OBJECT_DIRECTORIES|NAMESPACE|EXEC_PATH|EXTERNAL_DIFF|CONFIG_(?:COUNT|PARAMETERS)|CEILING_DIRECTORIES|DISCOVERY_ACROSS_FILESYSTEM)$/;

/** Number of entries of a git folder that are checked at most. */
const MAX_ENTRIES = 50_000;

/**
 * @param folder folder in which git starts: absolute, with links resolved
 * @param workspace its `seen` are the objects that mini-cc shares with a worktree
 * @throws UnclearCommand when the repository names a program, or has parts that lie elsewhere
 */
export function checkRepository(folder: string, {env, seen = []}: Pick<Workspace, 'env' | 'seen'>): void {
  const variable = Object.keys(env).find((name) => LEADS_ELSEWHERE.test(name));
  if (variable !== undefined) throw new UnclearCommand(`git: the variable ${variable} is set`);
  const repository = findRepository(folder);
  if (!repository) throw new UnclearCommand('git: there is no repository');
  // `findRepository` also finds a folder further down that git would use or fail at. Such a folder is refused here.
  if (repository.kind !== 'folder' || repository.folder !== repository.common) {
    throw new UnclearCommand(`git: ${repository.entry} leads elsewhere`);
  }
  const {folder: git} = repository;
  const settings = readSettings(path.join(git, 'config'));
  const named = settings?.find(({key, value}) => !HARMLESS.test(key) || (key === 'core.bare' && value !== 'false'));
  if (!settings || named) throw new UnclearCommand(`git: ${git}/config sets ${named?.key ?? 'what cannot be read'}`);
  try {
    checkFiles(git, seen);
  } catch (error) {
    if (error instanceof UnclearCommand) throw error;
    throw new UnclearCommand(`git: ${git} cannot be read`, {cause: error});
  }
}

/** Git searches these folders of a git folder for other checkouts, or git-lfs uses them. */
const OF_OTHERS = new Set(['modules', 'worktrees', 'lfs']);

function checkFiles(git: string, seen: readonly string[]): void {
  if (lstatSync(git).isSymbolicLink()) throw new UnclearCommand(`git: ${git} is a link`);
  let count = 0;
  const check = (folder: string): void => {
    for (const entry of readdirSync(folder, {withFileTypes: true})) {
      count += 1;
      if (count > MAX_ENTRIES) throw new UnclearCommand(`git: ${git} is very large`);
      if (entry.isSymbolicLink()) throw new UnclearCommand(`git: ${folder}/${entry.name} is a link`);
      if (entry.isDirectory() && !(folder === git && OF_OTHERS.has(entry.name))) check(`${folder}/${entry.name}`);
    }
  };
  check(git);
  const alternates = path.join(git, 'objects/info/alternates');
  const others = exists(alternates) ? readFileSync(alternates, 'utf8').split('\n') : [];
  const other = others.find((line) => line !== '' && !isInside(path.resolve(git, 'objects', line), seen));
  if (other !== undefined) throw new UnclearCommand(`git: its objects are in ${other}`);
  const hooks = exists(path.join(git, 'hooks')) ? readdirSync(path.join(git, 'hooks')) : [];
  const hook = hooks.find((name) => !HOOKS_OF_WRITING.test(name));
  if (hook !== undefined) throw new UnclearCommand(`git: it may run the hook ${hook}`);
  checkIndex(git);
}

/**
 * Bytes by which the index marks a nested repository. Git would start itself there, with the settings of that
 * repository.
 */
const GITLINK = Buffer.from([0, 0, 0o160000 >> 8, 0]);

function checkIndex(git: string): void {
  if (readdirSync(git).some((name) => name.startsWith('sharedindex.')))
    throw new UnclearCommand('git: its index is split');
  const index = path.join(git, 'index');
  if (!exists(index)) return;
  if (readFileSync(index).includes(GITLINK)) throw new UnclearCommand('git: it contains other repositories');
}

function exists(file: string): boolean {
  return lstatSync(file, {throwIfNoEntry: false}) !== undefined;
}
