/**
 * Snapshots of the workspace in a git repository of mini-cc's own, beside the session. It borrows the objects that the
 * project's repository has already, so that a large project costs little; of the project's settings, filters and
 * attributes nothing holds: what is kept are the bytes of the files. Ignored files are left out.
 */
import {constants, existsSync, type Stats} from 'node:fs';
import {access, lstat, mkdir, readFile, realpath, writeFile} from 'node:fs/promises';
import path from 'node:path';
import {MiniCcError} from '../../core/errors.ts';
import {type GitOptions, git} from '../git.ts';
import {blobId, type FileState} from './file-state.ts';

/** Larger files are left out. */
const MOST_FILE_BYTES = 10 * 1024 * 1024;
/** What one snapshot may take in anew. */
const MOST_NEW_FILES = 20_000;
const MOST_NEW_BYTES = 256 * 1024 * 1024;
/** Milliseconds of one call of git, for a snapshot and for the first look at the workspace. */
const CALL_LIMIT_MS = 10_000;
const FIRST_LIMIT_MS = 30_000;

const NUL = Buffer.alloc(1);
const NO_OBJECT = '0'.repeat(40);
const CONFIG = `[core]
\trepositoryformatversion = 0
\tbare = false
\tlogAllRefUpdates = false
\tsharedRepository = 0600
\tlooseCompression = 0
\tignoreCase = false
`;
/** No conversion of any kind: the bytes themselves. */
const ATTRIBUTES = '* -text -ident -filter -working-tree-encoding\n';

export interface TreeChange {
  /** Absolute. */
  readonly path: string;
  readonly before: FileState;
  readonly after: FileState;
}

export interface Snapshot {
  readonly tree: string;
  /** Files that are too large or cannot be read, nested repositories: relative paths. */
  readonly leftOut: readonly string[];
}

export interface ShadowGitOptions {
  /** Where it is kept; made when it is missing. */
  readonly folder: string;
  /** The workspace, links resolved. */
  readonly root: string;
  /** Folders inside the workspace that are mini-cc's own. */
  readonly ownFolders: readonly string[];
}

export class ShadowGit {
  /** Blobs that are its own by now, not only borrowed. */
  readonly #owned = new Set<string>();
  /** What the index stands for, once it was written. */
  #last: string | undefined;

  private constructor(
    private readonly folder: string,
    private readonly root: string,
    /** Of the work tree: the project's, so that all its ignore files count. */
    private readonly top: string,
  ) {}

  /** @throws MiniCcError with the reason why there can be none. */
  static async open({folder, root, ownFolders}: ShadowGitOptions): Promise<ShadowGit> {
    const project = await projectAt(root);
    const shadow = new ShadowGit(folder, root, project?.top ?? root);
    const isNew = !existsSync(path.join(folder, 'index'));
    for (const each of ['objects/info', 'objects/pack', 'refs', 'info']) {
      await mkdir(path.join(folder, each), {recursive: true, mode: 0o700});
    }
    const write = (name: string, text: string) => writeFile(path.join(folder, name), text, {mode: 0o600});
    await write('config', CONFIG);
    await write('info/attributes', ATTRIBUTES);
    await write('info/exclude', excludedIn(project, shadow.top, ownFolders));
    await write('HEAD', 'ref: refs/heads/none\n');
    if (project) {
      await write('objects/info/alternates', `${project.objects}\n`);
      if (isNew) await shadow.#seed();
    }
    return shadow;
  }

  /** @throws MiniCcError with the reason why there is none. */
  async snapshot(): Promise<Snapshot> {
    const {root, top} = this;
    const what = ['--modified', '--deleted', '--others', '--exclude-standard'];
    const listed = await this.#git(root, ['ls-files', '-z', '--full-name', ...what]);
    const {added, removed, leftOut} = await sortedOut(top, namesIn(listed));
    if (removed.length > 0) {
      const lines = removed.flatMap((name) => [Buffer.from(`0 ${NO_OBJECT}\t`), name, NUL]);
      await this.#git(top, ['update-index', '-z', '--index-info'], {input: Buffer.concat(lines)});
    }
    if (added.length > 0) {
      const input = Buffer.concat(added.flatMap((name) => [name, NUL]));
      const limitMs = FIRST_LIMIT_MS;
      await this.#git(top, ['update-index', '-z', '--add', '--remove', '--replace', '--stdin'], {input, limitMs});
    }
    if (this.#last === undefined || removed.length > 0 || added.length > 0) {
      this.#last = (await this.#git(top, ['write-tree', '--missing-ok'])).toString().trim();
    }
    return {tree: this.#last, leftOut};
  }

  /** What is different between two snapshots; what was there before is its own from now on. */
  async changes(from: string, to: string): Promise<readonly TreeChange[]> {
    if (from === to) return [];
    const fields = namesIn(await this.#git(this.top, ['diff-tree', '-r', '-z', '--raw', '--no-renames', from, to]));
    const changes: TreeChange[] = [];
    for (let index = 0; index + 1 < fields.length; index += 2) {
      const [oldMode = '', newMode = '', oldId = '', newId = ''] = fields[index]!.toString().slice(1).split(' ');
      const file = path.join(this.top, fields[index + 1]!.toString());
      changes.push({path: file, before: stateOf(oldMode, oldId), after: stateOf(newMode, newId)});
    }
    await this.#own(changes.flatMap(({before}) => (before && 'id' in before ? [before.id] : [])));
    return changes;
  }

  /** Those of the contents that are here, whole. */
  async contents(ids: readonly string[]): Promise<Map<string, Buffer>> {
    const found = new Map<string, Buffer>();
    if (ids.length === 0) return found;
    const answer = await this.#git(this.top, ['cat-file', '--batch'], {input: `${ids.join('\n')}\n`});
    for (let at = 0; at < answer.length; ) {
      const end = answer.indexOf(0x0a, at);
      const [id = '', type, size = ''] = answer.toString('latin1', at, end).split(' ');
      at = end + 1;
      if (type === 'missing') continue;
      const content = answer.subarray(at, at + Number(size));
      at += Number(size) + 1;
      // Borrowed objects are the project's, and a project may lie about what an id stands for.
      if (blobId(content) === id) found.set(id, content);
    }
    return found;
  }

  /** What the project's index lists need not be taken in anew; whether it is still so, the files themselves say. */
  async #seed(): Promise<void> {
    const listed = await git(this.root, ['ls-files', '--stage', '-z', '--full-name'], {limitMs: CALL_LIMIT_MS});
    if (listed.exitCode !== 0) return;
    const lines = namesIn(listed.stdout).filter((line) => /^(?:100644|100755|120000) \w{40} [02]\t/.test(`${line}`));
    const input = Buffer.concat(lines.flatMap((line) => [line, NUL]));
    await this.#git(this.top, ['update-index', '-z', '--index-info'], {input});
    // It says 1 where something is different, which the snapshot sees for itself.
    await this.#git(this.top, ['update-index', '-q', '--refresh'], {limitMs: FIRST_LIMIT_MS}, [0, 1]);
  }

  /** Copies borrowed blobs: the project's git may throw its own away. */
  async #own(ids: readonly string[]): Promise<void> {
    const isOwned = (id: string) =>
      this.#owned.has(id) || existsSync(path.join(this.folder, 'objects', id.slice(0, 2), id.slice(2)));
    const borrowed = [...new Set(ids)].filter((id) => !isOwned(id));
    if (borrowed.length === 0) return;
    const told = await this.#git(this.top, ['cat-file', '--batch-check'], {input: `${borrowed.join('\n')}\n`});
    const there = told
      .toString()
      .split('\n')
      .flatMap((line) => /^(\w{40}) blob /.exec(line)?.[1] ?? []);
    if (there.length === 0) return;
    const pack = path.join(this.folder, 'objects', 'pack', 'pack');
    await this.#git(this.top, ['pack-objects', '-q', pack], {input: `${there.join('\n')}\n`});
    for (const id of there) this.#owned.add(id);
  }

  async #git(
    cwd: string,
    args: readonly string[],
    options: Pick<GitOptions, 'input' | 'limitMs'> = {},
    fine: readonly number[] = [0],
  ): Promise<Buffer> {
    const env = {GIT_DIR: this.folder, GIT_WORK_TREE: this.top, GIT_INDEX_FILE: path.join(this.folder, 'index')};
    const answer = await git(cwd, args, {limitMs: CALL_LIMIT_MS, ...options, env});
    if (fine.includes(answer.exitCode)) return answer.stdout;
    throw new MiniCcError('CHECKPOINT', `git ${args[0]}: ${answer.stderr.trim().split('\n')[0] ?? ''}`);
  }
}

interface Project {
  readonly top: string;
  readonly objects: string;
  /** What its own exclude file says. */
  readonly exclude: string;
}

/** The repository that the workspace lies in; undefined without one whose objects can be borrowed. */
async function projectAt(root: string): Promise<Project | undefined> {
  const asked = ['--show-object-format', '--show-toplevel', '--git-path', 'objects', '--git-path', 'info/exclude'];
  const answer = await git(root, ['rev-parse', ...asked]);
  const [format, top = '', objects = '', exclude = '', ...more] = answer.stdout.toString().split('\n');
  if (answer.exitCode !== 0 || format !== 'sha1' || more.join('') !== '') return undefined;
  const text = await readFile(path.resolve(root, exclude), 'utf8').catch(() => '');
  return {top: await realpath(top), objects: await realpath(path.resolve(root, objects)), exclude: text};
}

/** Beside what the project ignores: what mini-cc itself writes there, and what no other part of it looks through. */
function excludedIn(project: Project | undefined, top: string, ownFolders: readonly string[]): string {
  const own = ownFolders
    .map((folder) => path.relative(top, folder))
    .filter((relative) => relative !== '' && !relative.startsWith('..'))
    .map((relative) => `/${relative.replaceAll(/[\\*?[\]!# ]/g, '\\$&')}/`);
  return [project?.exclude ?? '', 'node_modules/', ...own, ''].join('\n');
}

interface SortedOut {
  readonly added: readonly Buffer[];
  readonly removed: readonly Buffer[];
  readonly leftOut: readonly string[];
}

/** What git would take in, looked at once more: it must neither swallow huge files nor fail at odd ones. */
async function sortedOut(top: string, names: readonly Buffer[]): Promise<SortedOut> {
  const added: Buffer[] = [];
  const removed: Buffer[] = [];
  const leftOut: string[] = [];
  const realFolders = new Map<string, boolean>();
  let bytes = 0;
  // One that is modified and deleted is listed twice.
  for (const name of new Map(names.map((each) => [each.toString('latin1'), each])).values()) {
    const shown = name.toString();
    // A name that is no text cannot be noted down; what ends so is a repository of its own.
    if (!Buffer.from(shown).equals(name) || shown.endsWith('/')) {
      leftOut.push(shown);
      continue;
    }
    const file = path.join(top, shown);
    const folder = path.dirname(file);
    if (!realFolders.has(folder)) realFolders.set(folder, (await realpath(folder).catch(() => '')) === folder);
    const about = realFolders.get(folder) ? await lstat(file).catch(() => undefined) : undefined;
    if (!about || about.isDirectory()) removed.push(name);
    else if (await isTakenIn(file, about)) {
      added.push(name);
      bytes += about.size;
    } else leftOut.push(shown);
    if (added.length > MOST_NEW_FILES) throw tooMuch(`more than ${MOST_NEW_FILES.toLocaleString('en')} new files`);
    if (bytes > MOST_NEW_BYTES) throw tooMuch(`more than ${MOST_NEW_BYTES / 1024 / 1024} MB of new files`);
  }
  return {added, removed, leftOut};
}

async function isTakenIn(file: string, about: Stats): Promise<boolean> {
  if (about.isSymbolicLink()) return true;
  if (!about.isFile() || about.size > MOST_FILE_BYTES) return false;
  return access(file, constants.R_OK).then(
    () => true,
    () => false,
  );
}

function tooMuch(what: string): MiniCcError {
  return new MiniCcError('TOO_LARGE', `the workspace is too large: ${what}`);
}

function stateOf(mode: string, id: string): FileState {
  if (mode === '120000') return {kind: 'link', id};
  if (!mode.startsWith('100')) return null;
  return {kind: 'file', id, ...(mode === '100755' ? {executable: true} : {})};
}

/** The parts of a list, each of which ends with NUL. */
function namesIn(listed: Buffer): Buffer[] {
  const names: Buffer[] = [];
  for (let at = 0; at < listed.length; ) {
    const end = listed.indexOf(0, at);
    const name = listed.subarray(at, end < 0 ? listed.length : end);
    names.push(name);
    at += name.length + 1;
  }
  return names;
}
