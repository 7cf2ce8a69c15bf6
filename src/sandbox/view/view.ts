/**
 * Finds what confined commands see beside the system's own folders: the named places, and the hidden ones in them. The
 * result is cached until a folder of programs, a repository or the user's settings of git change.
 */
import {existsSync, readdirSync, realpathSync, statSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import type {Trusts} from '../../core/contract/permission.ts';
import {type Link, traceLinks} from '../../core/permissions/files/resolve-links.ts';
import {getSecretPaths} from '../../core/secrets/secret-paths.ts';
import {tryOr} from '../../core/util/errors.ts';
import {isInside} from '../../core/util/paths.ts';
import type {ConfineOptions} from '../sandbox.ts';
import {flattenGitSettings} from './git-settings.ts';
import {findGitFoldersOf, findRepositoryFolders} from './repository-folders.ts';
import type {SessionFolder} from './session-folder.ts';
import {findSystemSecrets, getPackageStores, SECRET_FOLDERS} from './system-folders.ts';
import {findToolFolders} from './tool-folders.ts';
import {WatchedCache} from './watched-cache.ts';

export interface ViewPlaces {
  readonly home: string;
  /** `MINI_CC_HOME`, the folder with the sessions and settings of mini-cc. */
  readonly miniCcHome: string;
  /** Further files and directories (`sandbox.hide`); relative ones and `~/` are relative to the home directory. */
  readonly hide?: readonly string[];
  /** Further files and folders that confined commands see (`sandbox.show`), written like `hide`. */
  readonly show?: readonly string[];
  /** See `RepositorySearch`. Default: nothing is trusted. */
  readonly trusts?: Trusts;
}

export interface View {
  /** The workspace's folders that exist. These and `shown` are absolute, with links resolved. */
  readonly roots: readonly string[];
  readonly shown: readonly string[];
  /** Links that lead to the shown places. */
  readonly links: readonly Link[];
  /** Places in the shown ones that are hidden from every command. */
  readonly hidden: readonly HiddenPath[];
  /** Places that are also hidden from this command. */
  readonly masked: readonly HiddenPath[];
  /** Path of the flat file with the user's settings of git, or `/dev/null`. */
  readonly gitSettings: string;
}

type Scope = Omit<ConfineOptions, 'cwd'>;

type Traced = NonNullable<ReturnType<typeof traceLinks>>;

/** What does not depend on the repository of the workspace. */
interface Tools {
  readonly places: readonly Traced[];
  readonly gitText: string;
}

const MAX_SCOPES = 20;
const NO_SETTINGS = '/dev/null';

export class Views {
  readonly #tools = new WatchedCache<Tools>(MAX_SCOPES);
  /** Kept apart, because each command that may write makes and removes names in `.git`. */
  readonly #gitFolders = new WatchedCache<readonly Traced[]>(MAX_SCOPES);
  readonly #secrets = new WatchedCache<readonly string[]>(1);
  /** Hidden places below the home that can exist, by the names in the home. Few of them do exist. */
  readonly #inHome = new WatchedCache<readonly string[]>(1);
  #written: string | undefined;

  constructor(
    private readonly places: ViewPlaces,
    private readonly folder: SessionFolder,
  ) {}

  get(scope: Scope): View {
    const roots = existingRoots(scope);
    const tools = this.#findTools(scope, roots);
    const home = this.#getHome();
    const hidden = this.#findHidden();
    // Places that are found are never shown inside a hidden place. Places that the user names are.
    const closed = hidden.map((each) => each.path);
    const found = [...this.#findGitFolders(scope.root, roots), ...tools.places].filter(
      ({real}) => !isInside(real, closed),
    );
    const named = (this.places.show ?? []).flatMap((place) => trace(resolvePlace(place, this.places.home)));
    const links = [...found, ...named, ...trace(this.places.home)].flatMap((each) => each.links);
    const seen = (scope.seen ?? []).filter((place) => existsSync(place));
    const shown = [...new Set([...found, ...named].map(({real}) => real)), ...seen];
    const isHomeShown = roots.some((root) => isInside(home, [root]));
    const names = isHomeShown ? hiddenNames(home).filter((each) => !shown.includes(each.path)) : [];
    return {
      roots,
      links: [...new Map(links.map((link) => [link.path, link])).values()],
      shown,
      hidden: [...hidden, ...names, ...this.#findOwn(roots)],
      masked: existingPaths(scope.masked ?? []),
      gitSettings: this.#writeSettings(tools.gitText),
    };
  }

  #findTools({root, env = {}}: Scope, roots: readonly string[]): Tools {
    const {PATH, VIRTUAL_ENV, CONDA_PREFIX, GIT_CONFIG_GLOBAL} = env;
    return this.#tools.get(JSON.stringify([roots, PATH, VIRTUAL_ENV, CONDA_PREFIX, GIT_CONFIG_GLOBAL]), () => {
      const home = this.#getHome();
      // Leave out a workspace that contains the home: names with a dot are hidden in it, so folders of tools there must
      // be listed.
      const projects = roots.filter((each) => !isInside(home, [each]));
      const tools = findToolFolders({home, env, roots: projects});
      const git = flattenGitSettings({home, env, root});
      const places = [...tools.places, ...getPackageStores(home, env), ...git.files].flatMap(trace);
      return [{places, gitText: git.text}, [...tools.watched, ...git.watched]];
    });
  }

  #findGitFolders(root: string, roots: readonly string[]): readonly Traced[] {
    return this.#gitFolders.get(JSON.stringify(roots), () => {
      const {trusts = () => false} = this.places;
      const own = findRepositoryFolders(root, {home: this.#getHome(), trusts});
      const others = roots.filter((each) => each !== root).flatMap(findGitFoldersOf);
      return [[...own, ...others].flatMap(trace), [path.join(root, '.git')]];
    });
  }

  /**
   * A workspace may contain the system's temporary folder. The folders of sessions are hidden then, because a command
   * that writes in one could start commands outside of the sandbox.
   */
  #findOwn(roots: readonly string[]): HiddenPath[] {
    if (!isInside(this.folder.path, roots)) return [];
    return this.folder.listAll().map((place) => ({path: place, isDirectory: true}));
  }

  /** The modes of the system's files with keys close them to all users but root. */
  #findHidden(): HiddenPath[] {
    const find = () => this.#secrets.get('', () => [findSystemSecrets(), SECRET_FOLDERS]);
    const system = process.getuid?.() === 0 ? existingPaths(find()).filter(hasContent) : [];
    const {home} = this.places;
    const inHome = this.#inHome.get('', () => [withKnownNames(listHidden(this.places), home), [home]]);
    return [...existingPaths(inHome), ...system];
  }

  #getHome(): string {
    return traceLinks(this.places.home)?.real ?? this.places.home;
  }

  #writeSettings(text: string): string {
    if (text === '') return NO_SETTINGS;
    const file = this.folder.getFile('gitconfig');
    if (this.#written !== text || !existsSync(file)) writeFileSync(file, text, {mode: 0o600});
    this.#written = text;
    return file;
  }
}

/** When the workspace contains the home, names that begin with a dot are hidden: settings, histories, keys. */
function hiddenNames(home: string): HiddenPath[] {
  return readdirSync(home, {withFileTypes: true})
    .filter((entry) => entry.name.startsWith('.') && (entry.isDirectory() || entry.isFile()))
    .map((entry) => ({path: path.join(home, entry.name), isDirectory: entry.isDirectory()}));
}

function trace(place: string): Traced[] {
  const traced = traceLinks(place);
  return traced ? [traced] : [];
}

export function existingRoots({root, extraRoots}: Scope): string[] {
  return [root, ...extraRoots].filter((place) => existsSync(place));
}

/** @param place written as in settings: relative ones and `~/` are relative to the home */
function resolvePlace(place: string, home: string): string {
  return path.resolve(home, place.replace(/^~(?:\/|$)/, ''));
}

export interface HiddenPath {
  /** Absolute, with links resolved. */
  readonly path: string;
  readonly isDirectory: boolean;
}

/** Returns the places that exist. `findSystemSecrets` finds those of the system itself. */
export function hiddenPaths(places: ViewPlaces): HiddenPath[] {
  return existingPaths(listHidden(places));
}

function listHidden({home, miniCcHome, hide = []}: ViewPlaces): string[] {
  return [...getSecretPaths(home, miniCcHome), ...hide.map((place) => resolvePlace(place, home))];
}

/** Leaves out paths in the folder whose first part is no entry of the folder, ignoring case. */
function withKnownNames(paths: readonly string[], folder: string): readonly string[] {
  const names = tryOr(() => new Set(readdirSync(folder).map((name) => name.toLowerCase())), undefined);
  if (!names) return paths;
  const getFirst = (place: string) => path.relative(folder, place).split(path.sep)[0]!.toLowerCase();
  return paths.filter((place) => place === folder || !isInside(place, [folder]) || names.has(getFirst(place)));
}

/** Whether there is something to hide. Empty files and folders are skipped, because each mount costs time. */
function hasContent({path: place, isDirectory}: HiddenPath): boolean {
  return tryOr(() => (isDirectory ? readdirSync(place).length : statSync(place).size) > 0, true);
}

/** Leaves out places that do not exist. A place that this user cannot even stat (EACCES) needs no hiding. */
function existingPaths(paths: readonly string[]): HiddenPath[] {
  const find = (place: string): HiddenPath => ({
    path: realpathSync.native(place),
    isDirectory: statSync(place).isDirectory(),
  });
  // Few of the places exist, and `existsSync` takes the shortest time.
  return paths.filter((place) => existsSync(place)).flatMap((place) => tryOr(() => find(place), []));
}
