/** Whether git only reads in a repository, whatever the project wrote into it. */
import {lstatSync, readdirSync, readFileSync} from 'node:fs';
import path from 'node:path';
import {findRepository, readSettings} from '../../util/files/git-folder.ts';
import {NotProven} from './shell-words.ts';

/** Settings by which git runs nothing, reads nothing elsewhere and writes nothing. A subsection is any text. */
const HARMLESS =
  /^(?:core\.(?:repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|autocrlf|eol|safecrlf|abbrev|quotepath)|remote\..*\.(?:url|pushurl|fetch|tagopt|prune)|branch\..*\.(?:remote|merge|rebase|description)|branch\.(?:autosetupmerge|autosetuprebase|sort)|user\.(?:name|email)|pull\.(?:rebase|ff)|push\.(?:default|autosetupremote)|fetch\.prune|init\.defaultbranch|color\..*|diff\.(?:algorithm|renames|mnemonicprefix)|commit\.verbose|rebase\.autostash|gc\.auto|submodule\.active)$/s;
/** Hooks of commands that write. Others, such as `post-index-change`, run where git only looks. */
const HOOKS_OF_WRITING =
  /\.sample$|^(?:(?:pre|post|prepare)-(?:commit|commit-msg|merge-commit|push|rebase|checkout|merge|rewrite|applypatch|receive|update)|commit-msg|applypatch-msg|update|pre-auto-gc|sendemail-validate|push-to-checkout)$/;
/** Variables that lead git elsewhere or change what it runs; harmless ones are of the user's editor and name. */
const HARMLESS_VARIABLES =
  /^GIT_(?:EDITOR|SEQUENCE_EDITOR|PAGER|ASKPASS|TERMINAL_PROMPT|OPTIONAL_LOCKS|(?:AUTHOR|COMMITTER)_\w+|SSH\w*|PS1_\w+)$/;

/** So many entries of a git folder are looked at. */
const MAX_ENTRIES = 50_000;

/**
 * @param folder absolute, with links resolved: where git starts
 * @param env of the command
 * @throws NotProven when the repository names a program, or is made of parts that lie elsewhere
 */
export function checkRepository(folder: string, env: Readonly<Record<string, string>>): void {
  const variable = Object.keys(env).find((name) => name.startsWith('GIT_') && !HARMLESS_VARIABLES.test(name));
  if (variable !== undefined) throw new NotProven(`git: the variable ${variable} is set`);
  const repository = findRepository(folder);
  if (!repository) throw new NotProven('git: there is no repository');
  // A folder further down that git would use or fail at is found first, and refused here.
  if (repository.kind !== 'folder' || repository.folder !== repository.common) {
    throw new NotProven(`git: ${repository.entry} leads elsewhere`);
  }
  const {folder: git} = repository;
  const settings = readSettings(path.join(git, 'config'));
  const named = settings?.find(({key, value}) => !HARMLESS.test(key) || (key === 'core.bare' && value !== 'false'));
  if (!settings || named) throw new NotProven(`git: ${git}/config sets ${named?.key ?? 'what cannot be read'}`);
  try {
    checkFiles(git);
  } catch (error) {
    if (error instanceof NotProven) throw error;
    throw new NotProven(`git: ${git} cannot be read`, {cause: error});
  }
}

function checkFiles(git: string): void {
  if (lstatSync(git).isSymbolicLink()) throw new NotProven(`git: ${git} is a link`);
  let count = 0;
  const check = (folder: string, depth: number): void => {
    for (const entry of readdirSync(folder, {withFileTypes: true})) {
      count += 1;
      if (count > MAX_ENTRIES) throw new NotProven(`git: ${git} is very large`);
      const place = path.join(folder, entry.name);
      if (entry.isSymbolicLink()) throw new NotProven(`git: ${place} is a link`);
      // Objects are files in folders of one level.
      if (entry.isDirectory() && depth > 0) check(place, depth - 1);
    }
  };
  for (const [name, depth] of [
    ['.', 0],
    ['objects', 1],
    ['refs', 20],
    ['info', 0],
    ['logs', 20],
    ['hooks', 0],
  ] as const) {
    if (lstatSync(path.join(git, name), {throwIfNoEntry: false})) check(path.join(git, name), depth);
  }
  for (const name of ['objects/info/alternates', 'commondir']) {
    if (lstatSync(path.join(git, name), {throwIfNoEntry: false})) throw new NotProven(`git: there is ${git}/${name}`);
  }
  const hooks = lstatSync(path.join(git, 'hooks'), {throwIfNoEntry: false}) ? readdirSync(path.join(git, 'hooks')) : [];
  const hook = hooks.find((name) => !HOOKS_OF_WRITING.test(name));
  if (hook !== undefined) throw new NotProven(`git: it may run the hook ${hook}`);
  checkIndex(git);
}

/** How the index notes a repository inside of this one: git would start itself there, with the settings of that one. */
const GITLINK = Buffer.from([0, 0, 0o160000 >> 8, 0]);

function checkIndex(git: string): void {
  if (readdirSync(git).some((name) => name.startsWith('sharedindex.'))) throw new NotProven('git: its index is split');
  const index = path.join(git, 'index');
  if (!lstatSync(index, {throwIfNoEntry: false})) return;
  if (readFileSync(index).includes(GITLINK)) throw new NotProven('git: it contains other repositories');
}
