/**
 * Finds what confined commands see beside the system's own folders: the named places, and the hidden ones in them. The
 * result is cached until a folder of programs, a repository or the user's settings of git change.
 */

import {existsSync, lstatSync, readdirSync, realpathSync, type Stats, statSync} from 'node:fs';
import path from 'node:path';
import type {Trusts} from '../../core/contract/permission.ts';
import {type Link, traceLinks} from '../../core/permissions/files/resolve-links.ts';
import {getSecretPaths} from '../../core/secrets/secret-paths.ts';
import {tryOr} from '../../core/util/errors.ts';
import {isInside} from '../../core/util/paths.ts';
import type {ConfineOptions} from '../sandbox.ts';
import {flattenGitSettings, writeGitSettings} from './git-settings.ts';
import {findGitFoldersOf, findRepositoryFolders} from './repository-folders.ts';
import type {SessionFolder} from './session-folder.ts';
import {findSystemSecrets, getPackageStores} from './system-folders.ts';
import {findToolFolders} from './tool-folders.ts';

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

interface Found {
  readonly shown: readonly string[];
  readonly links: readonly Link[];
  /** Places on which the result depends, with their state then. */
  readonly watched: readonly (readonly [string, Stats | undefined])[];
  readonly gitText: string;
}

const MAX_SCOPES = 20;
const NO_SETTINGS = '/dev/null';

export class Views {
  readonly #found = new Map<string, Found>();
  #written: string | undefined;

  constructor(
    private readonly places: ViewPlaces,
    private readonly folder: SessionFolder,
  ) {}

  get(scope: Scope): View {
    const roots = existingRoots(scope);
    const {shown, links, gitText} = this.#find(scope, roots);
    const home = this.#getHome();
    const seen = (scope.seen ?? []).filter((place) => existsSync(place));
    const all = [...shown, ...seen];
    const isHomeShown = roots.some((root) => isInside(home, [root]));
    const names = isHomeShown ? hiddenNames(home).filter((each) => !all.includes(each.path)) : [];
    return {
      roots,
      links,
      shown: all,
      hidden: [...this.#findHidden(), ...names, ...this.#findOwn(roots)],
      masked: existingPaths(scope.masked ?? []),
      gitSettings: this.#writeSettings(gitText),
    };
  }

  #find(scope: Scope, roots: readonly string[]): Found {
    const {PATH, VIRTUAL_ENV, CONDA_PREFIX, GIT_CONFIG_GLOBAL} = scope.env ?? {};
    const key = JSON.stringify([roots, PATH, VIRTUAL_ENV, CONDA_PREFIX, GIT_CONFIG_GLOBAL]);
    const known = this.#found.get(key);
    if (known?.watched.every(([place, stats]) => isSame(getStats(place), stats))) return known;
    const found = this.#search(scope, roots);
    if (this.#found.size >= MAX_SCOPES) this.#found.clear();
    this.#found.set(key, found);
    return found;
  }

  #search({env = {}, root, extraRoots}: Scope, roots: readonly string[]): Found {
    const {show = [], trusts = () => false} = this.places;
    const home = this.#getHome();
    // Leave out a workspace that contains the home: names with a dot are hidden in it, so folders of tools there must
    // be listed.
    const projects = roots.filter((each) => !isInside(home, [each]));
    const tools = findToolFolders({home, env, roots: projects});
    const git = flattenGitSettings({home, env, root});
    const places = [
      ...findRepositoryFolders(root, {home, trusts}),
      ...extraRoots.flatMap(findGitFoldersOf),
      ...tools.places,
      ...getPackageStores(home, env),
      ...git.files,
    ];
    // Places that are found are never shown inside a hidden place. Places that the user names are.
    const closed = this.#findHidden().map((each) => each.path);
    const traced = places.flatMap((place) => traceLinks(place) ?? []).filter(({real}) => !isInside(real, closed));
    const named = show.flatMap((place) => traceLinks(resolvePlace(place, this.places.home)) ?? []);
    const all = [...traced, ...named, ...[this.places.home].flatMap((place) => traceLinks(place) ?? [])];
    const watched = [...tools.watched, ...git.watched, path.join(root, '.git')];
    return {
      shown: [...new Set([...traced, ...named].map(({real}) => real))],
      links: [...new Map(all.flatMap(({links}) => links).map((link) => [link.path, link])).values()],
      watched: [...new Set(watched)].map((place) => [place, getStats(place)]),
      gitText: git.text,
    };
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
    const system = process.getuid?.() === 0 ? existingPaths(findSystemSecrets()).filter(hasContent) : [];
    return [...hiddenPaths(this.places), ...system];
  }

  #getHome(): string {
    return traceLinks(this.places.home)?.real ?? this.places.home;
  }

  #writeSettings(text: string): string {
    if (text === '') return NO_SETTINGS;
    const file = this.folder.getFile('gitconfig');
    if (this.#written !== text || !existsSync(file)) writeGitSettings(file, text);
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

export function existingRoots({root, extraRoots}: Scope): string[] {
  return [root, ...extraRoots].filter((place) => existsSync(place));
}

/** @param place written as in settings: relative ones and `~/` are relative to the home */
function resolvePlace(place: string, home: string): string {
  return path.resolve(home, place.replace(/^~(?:\/|$)/, ''));
}

/** The state changes when the place is created, removed or written. For a folder it changes with a name in it. */
function getStats(place: string): Stats | undefined {
  const options = {throwIfNoEntry: false} as const;
  return tryOr(() => statSync(place, options) ?? lstatSync(place, options), undefined);
}

/** Compares number by number, because formatting the times as text takes longer than the system call. */
function isSame(a: Stats | undefined, b: Stats | undefined): boolean {
  if (!a || !b) return a === b;
  return a.ino === b.ino && a.mtimeMs === b.mtimeMs && a.ctimeMs === b.ctimeMs && a.size === b.size;
}

export interface HiddenPath {
  /** Absolute, with links resolved. */
  readonly path: string;
  readonly isDirectory: boolean;
}

/** Returns the places that exist. `findSystemSecrets` finds those of the system itself. */
export function hiddenPaths({home, miniCcHome, hide = []}: ViewPlaces): HiddenPath[] {
  const more = hide.map((place) => resolvePlace(place, home));
  return existingPaths([...getSecretPaths(home, miniCcHome), ...more]);
}

/** Whether there is something to hide. Empty files and folders are skipped, because each mount costs time. */
function hasContent({path: place, isDirectory}: HiddenPath): boolean {
  return tryOr(() => (isDirectory ? readdirSync(place).length : statSync(place).size) > 0, true);
}

/** Leaves out places that do not exist. A place that this user cannot even stat (EACCES) needs no hiding. */
function existingPaths(paths: readonly string[]): HiddenPath[] {
  const find = (place: string): HiddenPath[] => {
    const isDirectory = statSync(place, {throwIfNoEntry: false})?.isDirectory();
    return isDirectory === undefined ? [] : [{path: realpathSync(place), isDirectory}];
  };
  return paths.flatMap((place) => tryOr(() => find(place), []));
}
