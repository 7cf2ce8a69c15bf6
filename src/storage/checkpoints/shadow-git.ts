/**
 * Snapshots of the workspace in a git repository of mini-cc's own, beside the session. It borrows the objects that the
 * project's repository has already, so that a large project costs little; of the project's settings, filters and
 * attributes nothing holds: what is kept are the bytes of the files. Ignored files are left out.
 */
import {existsSync} from 'node:fs';
import {mkdir, readFile, realpath, rm, writeFile} from 'node:fs/promises';
import path from 'node:path';
import {MiniCcError} from '../../core/util/errors.ts';
import {type GitOptions, git} from '../git.ts';
import {blobId, type FileState} from './file-state.ts';
import {sortedOut} from './snapshot-filter.ts';

/** Milliseconds of one call of git, for a snapshot and for the first look at the workspace. */
const CALL_LIMIT_MS = 10_000;
const FIRST_LIMIT_MS = 15_000;

/** So many go into one pack: as files of their own they would take several times as long, and room. */
const PACKED_FROM = 200;
const INTO_A_PACK = [['core.bigFileThreshold', '1']] as const;

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
  /** By tree: the permissions that git does not keep, by name, where they are odd. Of the last two snapshots. */
  readonly #modes = new Map<string, ReadonlyMap<string, number>>();

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
    // Left by one that was killed amid its work; the session is ours alone.
    await rm(path.join(folder, 'index.lock'), {force: true});
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
    const {added, modes, removed, leftOut} = await sortedOut(top, namesIn(listed));
    if (removed.length > 0) {
      const lines = removed.flatMap((name) => [Buffer.from(`0 ${NO_OBJECT}\t`), name, NUL]);
      await this.#git(top, ['update-index', '-z', '--index-info'], {input: Buffer.concat(lines)});
    }
    if (added.length > 0) {
      const input = Buffer.concat(added.flatMap((name) => [name, NUL]));
      const options = {input, limitMs: FIRST_LIMIT_MS, ...(added.length >= PACKED_FROM && {settings: INTO_A_PACK})};
      await this.#git(top, ['update-index', '-z', '--add', '--remove', '--replace', '--stdin'], options);
    }
    if (this.#last === undefined || removed.length > 0 || added.length > 0) {
      const before = this.#last;
      this.#last = (await this.#git(top, ['write-tree', '--missing-ok'])).toString().trim();
      this.#noteModes(before, this.#last, [...removed, ...added], modes);
    }
    return {tree: this.#last, leftOut};
  }

  #noteModes(from: string | undefined, to: string, touched: readonly Buffer[], odd: ReadonlyMap<string, number>): void {
    const former = this.#modes.get(from ?? '') ?? new Map<string, number>();
    const modes = new Map(former);
    for (const name of touched) modes.delete(name.toString());
    for (const [name, mode] of odd) modes.set(name, mode);
    this.#modes.clear();
    if (from !== undefined) this.#modes.set(from, former);
    this.#modes.set(to, modes);
  }

  /** What is different between two snapshots. */
  async changes(from: string, to: string): Promise<readonly TreeChange[]> {
    if (from === to) return [];
    const fields = namesIn(await this.#git(this.top, ['diff-tree', '-r', '-z', '--raw', '--no-renames', from, to]));
    const changes: TreeChange[] = [];
    for (let index = 0; index + 1 < fields.length; index += 2) {
      const [oldMode = '', newMode = '', oldId = '', newId = ''] = fields[index]!.toString().slice(1).split(' ');
      const name = fields[index + 1]!.toString();
      const stateAt = (tree: string, kind: string, id: string) => stateOf(kind, id, this.#modes.get(tree)?.get(name));
      const [before, after] = [stateAt(from, oldMode, oldId), stateAt(to, newMode, newId)];
      changes.push({path: path.join(this.top, name), before, after});
    }
    return changes;
  }

  /** How many bytes each of these contents has; those that are not here are left out. */
  async sizes(ids: readonly string[]): Promise<Map<string, number>> {
    if (ids.length === 0) return new Map();
    const told = await this.#git(this.top, ['cat-file', '--batch-check'], {input: `${ids.join('\n')}\n`});
    const lines = told.toString().split('\n');
    return new Map(
      lines.flatMap((line) => {
        const [, id, size] = /^(\w{40}) blob (\d+)$/.exec(line) ?? [];
        return id === undefined ? [] : [[id, Number(size)] as const];
      }),
    );
  }

  /** Those of the contents that are here, whole. All are held in memory. */
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
  async own(ids: readonly string[]): Promise<void> {
    const isOwned = (id: string) =>
      this.#owned.has(id) || existsSync(path.join(this.folder, 'objects', id.slice(0, 2), id.slice(2)));
    const borrowed = [...new Set(ids)].filter((id) => !isOwned(id));
    if (borrowed.length === 0) return;
    const there = [...(await this.sizes(borrowed)).keys()];
    if (there.length === 0) return;
    const pack = path.join(this.folder, 'objects', 'pack', 'pack');
    const input = `${there.join('\n')}\n`;
    await this.#git(this.top, ['pack-objects', '-q', '--window=0', pack], {input, limitMs: FIRST_LIMIT_MS});
    for (const id of there) this.#owned.add(id);
  }

  async #git(
    cwd: string,
    args: readonly string[],
    options: Pick<GitOptions, 'input' | 'limitMs' | 'settings'> = {},
    fine: readonly number[] = [0],
  ): Promise<Buffer> {
    const env = {GIT_DIR: this.folder, GIT_WORK_TREE: this.top, GIT_INDEX_FILE: path.join(this.folder, 'index')};
    const answer = await git(cwd, args, {limitMs: CALL_LIMIT_MS, ...options, env});
    if (fine.includes(answer.exitCode)) return answer.stdout;
    throw new MiniCcError('CHECKPOINT', `git ${args[0]}: ${answer.stderr.trim().split('\n')[0] ?? ''}`);
  }
}

function stateOf(kind: string, id: string, mode: number | undefined): FileState {
  if (kind === '120000') return {kind: 'link', id};
  if (!kind.startsWith('100')) return null;
  return {kind: 'file', id, ...(kind === '100755' ? {executable: true} : {}), ...(mode === undefined ? {} : {mode})};
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
