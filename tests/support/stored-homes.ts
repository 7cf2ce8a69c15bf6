/**
 * Homes and projects as files of `tests/fixtures/homes`: one JSON object a line for each file, oldest first. What depends on the
 * machine is a placeholder there, and is filled in at unpacking: folders, their slugs, and the place of a process in locks.
 */
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {getProcessPlace} from '../../src/core/util/process-owner.ts';
import type {Home} from './environment.ts';
import {root} from './run-cli.ts';

const STORED = path.join(root, 'tests', 'fixtures', 'homes');

type StoredFile = {readonly path: string} & (
  | {readonly text: string; readonly mode: number}
  | {readonly base64: string; readonly mode: number}
  | {readonly link: string}
);

/** A folder with a home and a project, as mini-cc left them. */
export interface OldHome {
  readonly home: Home;
  readonly project: string;
  readonly remove: () => void;
}

/** Where home and project are in the folder. @param folder links resolved */
export function layOut(folder: string): OldHome {
  const home = path.join(folder, 'home');
  const remove = () => rmSync(folder, {recursive: true, force: true, maxRetries: 3});
  return {
    home: {path: home, env: {HOME: home, MINI_CC_HOME: path.join(home, '.mini-cc')}, remove: async () => remove()},
    ...{project: path.join(folder, 'greeter'), remove},
  };
}

export function createFolder(): string {
  return realpathSync(mkdtempSync(path.join(tmpdir(), 'mini-cc-old-')));
}

const toSlug = (folder: string) => folder.replaceAll(/[^A-Za-z0-9]/g, '-');

/** What stands for the folder in texts and names. */
function listPlaceholders(folder: string): readonly (readonly [value: string, placeholder: string])[] {
  return [
    [folder, '@FOLDER@'],
    [toSlug(folder), '@SLUG@'],
  ];
}

/** The values of one lock file, by their keys. */
const placeholderOf = (key: string) => `@PLACE ${key}@`;

function changeLock(text: string, change: (key: string, value: unknown) => unknown): string {
  const lock = JSON.parse(text) as Record<string, unknown>;
  return JSON.stringify(Object.fromEntries(Object.entries(lock).map(([key, value]) => [key, change(key, value)])));
}

const isLock = (file: string) => path.basename(file) === 'lock';

/** Caches, and what git copies into each repository. */
const isLeftOut = (file: string) => /^home\/\.mini-cc\/cache(?:\/|$)|\/hooks\/[^/]+\.sample$/.test(file);

/** Stores the folder. @throws Error where a file that is no text has the name of the folder in it */
export function pack(name: string, folder: string): void {
  const files = readdirSync(folder, {recursive: true, withFileTypes: true})
    .map((entry) => ({entry, file: path.relative(folder, path.join(entry.parentPath, entry.name))}))
    .filter(({entry, file}) => (entry.isFile() || entry.isSymbolicLink()) && !isLeftOut(file))
    .map(({file}) => ({file, at: lstatSync(path.join(folder, file)).mtimeMs}))
    .sort((a, b) => a.at - b.at || (a.file < b.file ? -1 : 1));
  const lines = files.map(({file}) => JSON.stringify(storeFile(folder, file)));
  mkdirSync(STORED, {recursive: true});
  writeFileSync(path.join(STORED, `${name}.jsonl`), `${lines.join('\n')}\n`);
}

function storeFile(folder: string, file: string): StoredFile {
  const hide = (text: string) =>
    listPlaceholders(folder).reduce((hidden, [value, placeholder]) => hidden.replaceAll(value, placeholder), text);
  const from = path.join(folder, file);
  const stat = lstatSync(from);
  if (stat.isSymbolicLink()) return {path: hide(file), link: hide(readlinkSync(from))};
  const [bytes, mode] = [readFileSync(from), stat.mode & 0o777];
  const text = bytes.toString('utf8');
  if (!Buffer.from(text).equals(bytes) || text.includes('\0')) {
    if (text.includes(folder)) throw new Error(`${file} is no text, and has the name of its folder in it`);
    return {path: hide(file), mode, base64: bytes.toString('base64')};
  }
  const place = Object.keys(getProcessPlace());
  const told = isLock(file)
    ? changeLock(text, (key, value) => (place.includes(key) ? placeholderOf(key) : value))
    : text;
  return {path: hide(file), mode, text: hide(told)};
}

/** Lays a stored home and its project out in a new folder. The caller removes it. */
export function unpack(name: string): OldHome {
  const folder = createFolder();
  const show = (text: string) =>
    listPlaceholders(folder).reduce((shown, [value, placeholder]) => shown.replaceAll(placeholder, value), text);
  const lines = readFileSync(path.join(STORED, `${name}.jsonl`), 'utf8')
    .trimEnd()
    .split('\n');
  const files = lines.map((line) => JSON.parse(line) as StoredFile);
  for (const [index, file] of files.entries()) {
    const to = path.join(folder, show(file.path));
    mkdirSync(path.dirname(to), {recursive: true, mode: 0o700});
    if ('link' in file) {
      symlinkSync(show(file.link), to);
      continue;
    }
    writeFileSync(to, 'text' in file ? fillIn(file.path, show(file.text)) : Buffer.from(file.base64, 'base64'));
    chmodSync(to, file.mode);
    // In the order of before, a short time ago: by these times mini-cc knows which session is the last one.
    const at = Date.now() / 1000 - 60 + index / 1000;
    utimesSync(to, at, at);
  }
  for (const repository of findRepositories(folder)) completeRepository(repository);
  return layOut(folder);
}

function fillIn(file: string, text: string): string {
  if (!isLock(file)) return text;
  const here: Readonly<Record<string, string>> = {...getProcessPlace()};
  return changeLock(text, (key, value) => (value === placeholderOf(key) ? here[key] : value));
}

const findRepositories = (folder: string) =>
  readdirSync(folder, {recursive: true, withFileTypes: true})
    .filter(({name, parentPath}) => name === 'HEAD' && path.basename(parentPath) !== 'logs')
    .map(({parentPath}) => parentPath);

/** Git knows a repository by folders that may be empty. */
function completeRepository(repository: string): void {
  for (const name of ['objects', 'refs/heads']) mkdirSync(path.join(repository, name), {recursive: true});
}
