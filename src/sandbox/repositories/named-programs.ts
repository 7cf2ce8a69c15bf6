/**
 * Finds the programs that git would run because of a repository: those that its settings name, and its hooks. A setting
 * counts as naming a program unless it is known to be harmless, because many settings run something, and new ones
 * appear.
 */
import {lstatSync, readdirSync} from 'node:fs';
import path from 'node:path';
import {type GitSetting, getSettingsFiles, readRepository, readSettings} from '../../core/util/files/git-folder.ts';
import {isInside} from '../../core/util/paths.ts';

const BOOLEAN = /^(?:true|false|yes|no|on|off|0|1|)$/i;
/** Git starts the program `git-remote-NAME` for `NAME::address`, so such an address does not match. */
const ADDRESS = /^(?!-)(?!\w[\w+.-]*::)/;
const ANY = /^/;

/** By section: harmless names in small letters, and a pattern for their values. */
const HARMLESS: readonly (readonly [section: RegExp, names: string, value: RegExp])[] = [
  [
    /^core$/,
    'repositoryformatversion filemode bare logallrefupdates ignorecase precomposeunicode symlinks autocrlf eol ' +
      'safecrlf protecthfs protectntfs quotepath sharedrepository abbrev compression loosecompression ' +
      'bigfilethreshold untrackedcache sparsecheckout sparsecheckoutcone preloadindex checkstat trustctime ' +
      'whitespace commentchar hidedotfiles longpaths splitindex multipackindex commitgraph excludesfile ' +
      'warnambiguousrefs packedgitlimit packedgitwindowsize deltabasecachelimit fsync fsyncmethod usereplacerefs',
    ANY,
  ],
  // With a Boolean value git uses its own watcher; any other value is a program.
  [/^core$/, 'fsmonitor', BOOLEAN],
  [/^extensions$/, 'objectformat compatobjectformat refstorage worktreeconfig partialclone noop preciousobjects', ANY],
  [/^(?:user|author|committer)$/, 'name email signingkey useconfigonly', ANY],
  [/^remote\..*$/s, 'url pushurl', ADDRESS],
  [
    /^remote\..*$/s,
    'fetch push mirror tagopt prune prunetags skipdefaultupdate skipfetchall promisor partialclonefilter',
    ANY,
  ],
  [/^branch\..*$/s, 'remote merge rebase description pushremote', ANY],
  [/^submodule(?:\..*)?$/s, 'active branch path ignore recurse fetchrecursesubmodules', ANY],
  [/^submodule\..*$/s, 'url', ADDRESS],
  [/^submodule\..*$/s, 'update', /^(?:checkout|rebase|merge|none)$/],
  [/^(?:color|color\..*|advice|column|i18n|status|index|feature|rerere|apply|stash|init|checkout)$/s, '*', ANY],
  [/^(?:fetch|pull)$/, 'prune prunetags rebase ff parallel recursesubmodules writecommitgraph', ANY],
  [/^push$/, 'default autosetupremote followtags recursesubmodules', ANY],
  [/^merge$/, 'ff conflictstyle renames log stat renamelimit', ANY],
  [/^diff$/, 'renames algorithm colormoved mnemonicprefix noprefix renamelimit context submodule relative', ANY],
  [/^log$/, 'date decorate follow abbrevcommit', ANY],
  [/^rebase$/, 'autosquash autostash updaterefs stat', ANY],
  [/^(?:commit|tag)$/, 'gpgsign verbose cleanup status template sort', ANY],
  [/^(?:gc|maintenance)$/, 'auto autodetach autopacklimit pruneexpire reflogexpire writecommitgraph strategy', ANY],
  [/^pack$/, 'threads window depth windowmemory compression writebitmaps', ANY],
  [/^lfs(?:\..*)?$/s, 'repositoryformatversion access locksverify', ANY],
  // `git lfs install --local` writes these.
  [/^filter\.lfs$/, 'clean smudge process', /^git-lfs (?:clean|smudge|filter-process)(?: --skip)?(?: -- %f)?$/],
  [/^filter\.lfs$/, 'required', BOOLEAN],
];

function isHarmless({key, value}: GitSetting): boolean {
  const dot = key.lastIndexOf('.');
  const [section, name] = [key.slice(0, Math.max(dot, 0)), key.slice(dot + 1)];
  return HARMLESS.some(
    ([sections, names, values]) =>
      sections.test(section) && (names === '*' || names.split(/\s+/).includes(name)) && values.test(value),
  );
}

/**
 * Lists what git would run.
 * @param place the `.git` or the bare repository
 * @param isProtected whether confined commands cannot change this git folder, so that its settings are the user's own
 * @returns the findings, each in a few words; empty when git runs nothing there because of it, or fails there
 */
export function findNamedPrograms(
  place: {readonly path: string; readonly kind: string},
  isProtected: (folder: string) => boolean,
): string[] {
  const top = place.kind === 'bare' ? place.path : path.dirname(place.path);
  const repository = readRepository(top);
  if (repository === undefined) return [];
  if (repository.kind === 'unreadable') return ['a pointer that cannot be read'];
  const {folder, common} = repository;
  const isOwn = isProtected(common);
  const files = getSettingsFiles(repository);
  const found = files.flatMap((file) =>
    isOwn && path.dirname(file) === common ? findInOwn(file) : findInSettings(file, top),
  );
  // Git reads the other settings when it is started in a submodule or in a linked worktree.
  const inside = isOwn ? [] : [...new Set([common, folder])].flatMap((each) => findInside(each, top));
  return [...new Set([...found, ...(isOwn ? [] : findInHooks(path.join(common, 'hooks'))), ...inside])];
}

/** Programs in the user's own settings are intended, but a relative folder of hooks is part of each checkout. */
function findInOwn(file: string): string[] {
  const hooks = readSettings(file)?.findLast(({key}) => key === 'core.hookspath')?.value;
  return hooks === undefined || /^[/~]/.test(hooks) ? [] : ['core.hookspath'];
}

/** @param top top folder of the repository. A `core.worktree` inside it is harmless. */
function findInSettings(file: string, top: string): string[] {
  if (lstatSync(file, {throwIfNoEntry: false}) === undefined) return [];
  const settings = readSettings(file);
  if (settings === undefined) return [`a ${path.basename(file)} that cannot be read`];
  const isOwnTree = ({key, value}: GitSetting) =>
    key === 'core.worktree' && isInside(path.resolve(path.dirname(file), value), [top]);
  return settings.filter((setting) => !isHarmless(setting) && !isOwnTree(setting)).map(({key}) => key);
}

/** Git runs the hooks that are executable. */
function findInHooks(folder: string): string[] {
  if (lstatSync(folder, {throwIfNoEntry: false}) === undefined) return [];
  try {
    return readdirSync(folder, {withFileTypes: true})
      .filter(({name}) => !name.endsWith('.sample'))
      .filter((entry) => !entry.isFile() || (lstatSync(path.join(folder, entry.name)).mode & 0o111) !== 0)
      .map(({name}) => `hooks/${name}`);
  } catch {
    return ['hooks that cannot be read'];
  }
}

/** Searches the git folders of submodules and linked worktrees, at any depth. */
function findInside(folder: string, top: string): string[] {
  return ['modules', 'worktrees'].flatMap((name) => findBelow(path.join(folder, name), top));
}

function findBelow(folder: string, top: string): string[] {
  if (lstatSync(folder, {throwIfNoEntry: false}) === undefined) return [];
  try {
    return readdirSync(folder, {withFileTypes: true}).flatMap((entry) => {
      const place = path.join(folder, entry.name);
      if (entry.isSymbolicLink()) return [`a link at ${entry.name}`];
      if (!entry.isDirectory()) return /^config(?:\.worktree)?$/.test(entry.name) ? findInSettings(place, top) : [];
      if (entry.name === 'hooks') return findInHooks(place);
      return ['objects', 'refs', 'logs'].includes(entry.name) ? [] : findBelow(place, top);
    });
  } catch {
    return [`${path.basename(folder)} that cannot be read`];
  }
}
