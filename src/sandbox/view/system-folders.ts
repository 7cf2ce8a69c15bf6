/** Lists what every confined command sees of the system. */
import {existsSync, lstatSync, readdirSync, readlinkSync, realpathSync, statSync} from 'node:fs';
import path from 'node:path';
import {type Link, traceLinks} from '../../core/permissions/files/resolve-links.ts';
import {tryOr} from '../../core/util/errors.ts';
import {isInside} from '../../core/util/paths.ts';
import {listWords} from '../../core/util/text.ts';

/** Places in `/var` that package tools read. Without them `dpkg -S`, `apt list` or `rpm -q` find no package. */
const PACKAGE_DATABASES = ['dpkg', 'apt', 'rpm', 'pacman', 'alternatives'].map((name) => `/var/lib/${name}`);
const TOP_FOLDERS = /^(?:usr|bin|sbin|lib\w*|etc|opt|nix)$/;

/** Folders whose programs come from the system's packages and link only to the system. */
export const STANDARD_PROGRAM_FOLDERS: readonly string[] = ['/usr/bin', '/usr/sbin', '/bin', '/sbin'];

/** Folders that every confined command sees on macOS. */
export const MAC_FOLDERS: readonly string[] = listWords(`
  /usr /bin /sbin /opt /nix /System /Library /dev /private/etc /Applications/Xcode.app /private/var/db/dyld
  /private/var/db/timezone /private/var/select
`);

export interface SystemFolders {
  readonly folders: readonly string[];
  /** Links such as `/bin` → `usr/bin`. */
  readonly links: readonly Link[];
}

export function findSystemFolders(): SystemFolders {
  const folders: string[] = [];
  const links: Link[] = [];
  for (const name of readdirSync('/').filter((each) => TOP_FOLDERS.test(each))) {
    const at = `/${name}`;
    if (lstatSync(at).isSymbolicLink()) links.push({path: at, target: readlinkSync(at)});
    else folders.push(at);
  }
  return {folders: [...folders, ...PACKAGE_DATABASES.filter(isFolder)], links};
}

/** Returns the folders that every confined command sees on this platform. Some may not exist. */
export function getSystemFolders(): readonly string[] {
  if (process.platform === 'darwin') return MAC_FOLDERS;
  const {folders, links} = findSystemFolders();
  return [...folders, ...links.map((link) => link.path)];
}

export function isInSystemFolder(target: string): boolean {
  const [, top = ''] = target.split('/');
  return TOP_FOLDERS.test(top) || isInside(target, PACKAGE_DATABASES);
}

/** Files below `/etc` that hold keys or passwords, by name. The names may contain `*`. */
const SYSTEM_SECRETS = listWords(`
  /etc/shadow* /etc/gshadow* /etc/sudoers* /etc/ssh/*_key /etc/ssl/private /etc/krb5.keytab
  /etc/NetworkManager/system-connections /etc/security/opasswd /etc/wireguard /etc/apt/auth.conf*
`);

/** Folders whose names decide which of them there are. */
export const SECRET_FOLDERS: readonly string[] = [...new Set(SYSTEM_SECRETS.map((pattern) => path.dirname(pattern)))];

/**
 * Returns files of the system with keys. Their modes close them to plain users but not to root, so for root they are
 * hidden by name. The list need not be complete.
 */
export function findSystemSecrets(): string[] {
  return SYSTEM_SECRETS.flatMap((pattern) => {
    if (!pattern.includes('*')) return [pattern];
    const [before = '', after = ''] = path.basename(pattern).split('*');
    const folder = path.dirname(pattern);
    return tryOr(() => readdirSync(folder), [])
      .filter((name) => name.startsWith(before) && name.endsWith(after))
      .map((name) => path.join(folder, name));
  });
}

/** False for a link, because its target is shown. */
function isFolder(place: string): boolean {
  return tryOr(() => statSync(place).isDirectory() && realpathSync(place) === place, false);
}

/** Paths below the home. */
const STORES = ['.cargo/registry', 'go/pkg/mod', '.m2/repository', '.gradle/caches/modules-2'];

/** @returns absolute paths of the existing stores, as given and with links resolved */
export function getPackageStores(home: string, env: Readonly<Record<string, string | undefined>>): string[] {
  const {CARGO_HOME, GOMODCACHE, GOPATH} = env;
  const moved = [
    ...(CARGO_HOME ? [path.join(CARGO_HOME, 'registry')] : []),
    ...(GOMODCACHE ? [GOMODCACHE] : []),
    ...(GOPATH ? [path.join(GOPATH.split(path.delimiter)[0]!, 'pkg', 'mod')] : []),
  ];
  const stores = [...STORES.map((name) => path.join(home, name)), ...moved].filter(
    (place) => path.isAbsolute(place) && existsSync(place),
  );
  return [...new Set(stores.flatMap((place) => [place, traceLinks(place)?.real ?? place]))];
}
