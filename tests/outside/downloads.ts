/**
 * Real projects, from Debian's source packages and from npm, by their checksums. `MINI_CC_DOWNLOADS` names a folder that
 * keeps them between runs; without it they are fetched each time.
 */
import {createHash} from 'node:crypto';
import {existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {execaSync} from 'execa';

export interface Source {
  /** A Debian source package of bookworm, or a package of npm with its version. */
  readonly from: {readonly debian: string} | {readonly npm: string};
  readonly file: RegExp;
  readonly sha256: string;
}

/** Packages that come along with those that are named have no checksum here: npm takes none that is newer. */
export const PINNED_ON = '2026-11-21';

/** The compiler that the projects are checked by. */
export const TYPESCRIPT = {
  'typescript@5.7.2': 'sha512-i5t66RHxDvVN40HfDd1PsEThGNnlMCMT3jMUuoh9/0TaqWevNontacunWyN02LA9/fIbEWlcHZcgTKb9QoaLfg==',
};

export function run(file: string, args: readonly string[], cwd: string): string {
  return execaSync(file, args, {cwd, env: {npm_config_update_notifier: 'false'}, maxBuffer: 1e9}).stdout;
}

/** The folder that keeps downloads, else one in this folder of the test. It is made. */
export function downloadsFolder(folder: string): string {
  const downloads = process.env.MINI_CC_DOWNLOADS ?? path.join(folder, 'downloads');
  mkdirSync(downloads, {recursive: true});
  return downloads;
}

/** Unpacks the source into a new folder. @throws Error when its content is another one than it was */
export function unpack(source: Source, downloads: string, root: string): void {
  mkdirSync(root, {recursive: true});
  run('tar', ['xf', fetchSource(source, downloads), '--no-same-owner', '--strip-components=1', '-C', root], downloads);
}

/**
 * Installs packages of npm into this folder, without their scripts.
 * @param packages `name@version` and the checksum of each, as package-lock.json has it @throws Error when one has another
 */
export function installPackages(packages: Readonly<Record<string, string>>, folder: string): void {
  mkdirSync(folder, {recursive: true});
  writeFileSync(path.join(folder, 'package.json'), '{"private": true}');
  // What they need themselves, as it was then.
  const flags = [`--before=${PINNED_ON}`, '--omit=optional', '--ignore-scripts', '--no-audit', '--no-fund', '--silent'];
  run('npm', ['install', ...flags, ...Object.keys(packages)], folder);
  const lock = JSON.parse(readFileSync(path.join(folder, 'package-lock.json'), 'utf8'));
  for (const [name, integrity] of Object.entries(packages)) {
    const found = lock.packages[`node_modules/${name.slice(0, name.lastIndexOf('@'))}`]?.integrity;
    if (found !== integrity) throw new Error(`${name} has the checksum ${found}, and not ${integrity}`);
  }
}

function fetchSource({from, file, sha256}: Source, downloads: string): string {
  const find = () => readdirSync(downloads).find((name) => file.test(name));
  if (find() === undefined) {
    if ('npm' in from) run('npm', ['pack', '--silent', from.npm], downloads);
    else downloadDebianSource(from.debian, file, downloads);
  }
  const found = path.join(downloads, find() ?? 'nothing');
  const sum = createHash('sha256').update(readFileSync(found)).digest('hex');
  if (sum !== sha256) throw new Error(`${found} has the checksum ${sum}, and not ${sha256}`);
  return found;
}

/**
 * By lists of its own: the machine's need not name sources. Of the files of a source package it takes the one that is asked
 * for: not each mirror has all others.
 */
function downloadDebianSource(name: string, file: RegExp, downloads: string): void {
  const lists = [
    '-o',
    `Dir::Etc::sourcelist=${downloads}/src.list`,
    '-o',
    'Dir::Etc::sourceparts=-',
    '-o',
    `Dir::State::lists=${downloads}/lists`,
  ];
  if (!existsSync(path.join(downloads, 'src.list'))) {
    mkdirSync(path.join(downloads, 'lists/partial'), {recursive: true});
    writeFileSync(path.join(downloads, 'src.list'), 'deb-src http://deb.debian.org/debian bookworm main\n');
    run('apt-get', [...lists, '--quiet', 'update'], downloads);
  }
  const found = run('apt-get', [...lists, '--quiet', 'source', '--print-uris', name], downloads);
  const files = [...found.matchAll(/^'(\S+)' (\S+) /gm)].map(([, url = '', title = '']) => ({url, title}));
  const wanted = files.find(({title}) => file.test(title));
  if (!wanted) throw new Error(`Debian's ${name} has no file ${file}: ${files.map(({title}) => title).join(', ')}`);
  run('curl', ['-fsSL', '--retry', '3', '--retry-all-errors', '-o', wanted.title, wanted.url], downloads);
}
