/**
 * Snapshots of the workspace in a git repository of mini-cc's own, beside the session. It borrows the objects of the
 * project's repository, so that a large project costs little. It uses none of the project's settings, filters and
 * attributes: it stores the bytes of the files. Ignored files are left out.
 */
import {existsSync} from 'node:fs';
import {mkdir, readFile, realpath, rm, writeFile} from 'node:fs/promises';
import path from 'node:path';
import {MiniCcError} from '../../core/util/errors.ts';
import {blobId, type FileState} from '../trees/file-state.ts';
import {
  type GitOptions,
  git,
  type KnownSettings,
  parseSizes,
  parseTreeDiff,
  splitNames,
  TREE_DIFF,
} from '../trees/git.ts';
import {formatIndex} from '../trees/git-index.ts';
import {filterSnapshotFiles} from '../trees/listed-files.ts';
import {readProjectIndex} from '../trees/project-index.ts';

/** Milliseconds for one git call: in a snapshot, and when many files are read. */
const CALL_LIMIT_MS = 10_000;
const FIRST_LIMIT_MS = 15_000;

/** From this number of files on, new objects go into one pack: single files take several times as long. */
const MIN_PACKED = 200;
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
  /** Relative paths of files that are too large or cannot be read, and of nested repositories. */
  readonly leftOut: readonly string[];
}

interface ShadowGitOptions {
  /** The folder of the repository; created when it does not exist. */
  readonly folder: string;
  /** The workspace, links resolved. */
  readonly root: string;
  /** mini-cc's own folders: those inside the workspace are left out. */
  readonly ownFolders: readonly string[];
}

export class ShadowGit {
  /** Ids of blobs that it has itself, and not only borrowed. */
  readonly #owned = new Set<string>();
  readonly #settings: KnownSettings = {};
  /** The tree that the index was last written as. */
  #lastTree: string | undefined;
  /** By tree, for the last two snapshots: permission bits that git does not store, by name, where they are unusual. */
  readonly #modes = new Map<string, ReadonlyMap<string, number>>();

  private constructor(
    private readonly folder: string,
    private readonly root: string,
    /** The top of the work tree: the project's top, so that all its ignore files apply. */
    private readonly top: string,
  ) {}

  /** @throws MiniCcError with the reason when there can be none */
  static async open({folder, root, ownFolders}: ShadowGitOptions): Promise<ShadowGit> {
    const settings: KnownSettings = {};
    const project = await findProject(root, settings);
    const shadow = new ShadowGit(folder, root, project?.top ?? root);
    const isNew = !existsSync(path.join(folder, 'index'));
    for (const each of ['objects/info', 'objects/pack', 'refs', 'info']) {
      await mkdir(path.join(folder, each), {recursive: true, mode: 0o700});
    }
    // A killed mini-cc may have left it. No other process uses the session now.
    await rm(path.join(folder, 'index.lock'), {force: true});
    const write = (name: string, text: string) => writeFile(path.join(folder, name), text, {mode: 0o600});
    await write('config', CONFIG);
    await write('info/attributes', ATTRIBUTES);
    await write('info/exclude', formatExcludes(project, shadow.top, ownFolders));
    await write('HEAD', 'ref: refs/heads/none\n');
    if (project) {
      await write('objects/info/alternates', `${project.objects}\n`);
      if (isNew) await shadow.#seed(settings);
    }
    return shadow;
  }

  /** @throws MiniCcError with the reason when it fails */
  async snapshot(): Promise<Snapshot> {
    const {root, top} = this;
    const what = ['--modified', '--deleted', '--others', '--exclude-standard'];
    const listed = await this.#git(root, ['ls-files', '-z', '--full-name', ...what]);
    const {added, modes, removed, leftOut} = await filterSnapshotFiles(top, splitNames(listed));
    if (removed.length > 0) {
      const lines = removed.flatMap((name) => [Buffer.from(`0 ${NO_OBJECT}\t`), name, NUL]);
      await this.#git(top, ['update-index', '-z', '--index-info'], {input: Buffer.concat(lines)});
    }
    if (added.length > 0) {
      const input = Buffer.concat(added.flatMap((name) => [name, NUL]));
      const options = {input, limitMs: FIRST_LIMIT_MS, ...(added.length >= MIN_PACKED && {settings: INTO_A_PACK})};
      await this.#git(top, ['update-index', '-z', '--add', '--remove', '--replace', '--stdin'], options);
    }
    if (this.#lastTree === undefined || removed.length > 0 || added.length > 0) {
      const before = this.#lastTree;
      this.#lastTree = (await this.#git(top, ['write-tree', '--missing-ok'])).toString().trim();
      this.#noteModes(before, this.#lastTree, [...removed, ...added], modes);
    }
    return {tree: this.#lastTree, leftOut};
  }

  /** Keeps the permission bits of the last snapshot and the new one. */
  #noteModes(from: string | undefined, to: string, touched: readonly Buffer[], odd: ReadonlyMap<string, number>): void {
    const former = this.#modes.get(from ?? '') ?? new Map<string, number>();
    const modes = new Map(former);
    for (const name of touched) modes.delete(name.toString());
    for (const [name, mode] of odd) modes.set(name, mode);
    this.#modes.clear();
    if (from !== undefined) this.#modes.set(from, former);
    this.#modes.set(to, modes);
  }

  /** The differences between two snapshots. */
  async changes(from: string, to: string): Promise<readonly TreeChange[]> {
    if (from === to) return [];
    const diff = parseTreeDiff(await this.#git(this.top, [...TREE_DIFF, from, to]));
    return diff.map(({path: name, oldMode, newMode, oldId, newId}) => ({
      path: path.join(this.top, name),
      before: toFileState(oldMode, oldId, this.#modes.get(from)?.get(name)),
      after: toFileState(newMode, newId, this.#modes.get(to)?.get(name)),
    }));
  }

  /** The size of each content in bytes, by id. Missing contents are left out. */
  async sizes(ids: readonly string[]): Promise<Map<string, number>> {
    if (ids.length === 0) return new Map();
    const answer = await this.#git(this.top, ['cat-file', '--batch-check'], {input: `${ids.join('\n')}\n`});
    return parseSizes(answer);
  }

  /** The contents by id, all in memory. Missing contents are left out. */
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
      // Borrowed objects belong to the project, where an object may have a content that differs from its id.
      if (blobId(content) === id) found.set(id, content);
    }
    return found;
  }

  /** Copies the project's index, so that unchanged files need not be read. @param known those of the project */
  async #seed(known: KnownSettings): Promise<void> {
    const {root, top} = this;
    const entries = await readProjectIndex({root, top, known, limitMs: CALL_LIMIT_MS});
    if (entries) await writeFile(path.join(this.folder, 'index'), formatIndex(entries), {mode: 0o600});
    else await this.#seedByNames();
    // Exit code 1 means that files differ, which is no error here.
    await this.#git(this.top, ['update-index', '-q', '--refresh'], {limitMs: FIRST_LIMIT_MS}, [0, 1]);
  }

  /** Without what git knows of the files' sizes and times: all of them are read. */
  async #seedByNames(): Promise<void> {
    const listed = await git(this.root, ['ls-files', '--stage', '-z', '--full-name'], {limitMs: CALL_LIMIT_MS});
    if (listed.exitCode !== 0) return;
    const lines = splitNames(listed.stdout).filter((line) => /^(?:100644|100755|120000) \w{40} [02]\t/.test(`${line}`));
    const input = Buffer.concat(lines.flatMap((line) => [line, NUL]));
    await this.#git(this.top, ['update-index', '-z', '--index-info'], {input});
  }

  /** Copies borrowed blobs, since the project's git may delete its own. */
  async copyBorrowed(ids: readonly string[]): Promise<void> {
    const isOwned = (id: string) =>
      this.#owned.has(id) || existsSync(path.join(this.folder, 'objects', id.slice(0, 2), id.slice(2)));
    const borrowed = [...new Set(ids)].filter((id) => !isOwned(id));
    if (borrowed.length === 0) return;
    await this.#pack(borrowed).catch(async (error) => {
      // Git packs none when one is missing.
      const present = [...(await this.sizes(borrowed)).keys()];
      if (present.length === borrowed.length) throw error;
      if (present.length > 0) await this.#pack(present);
    });
  }

  async #pack(ids: readonly string[]): Promise<void> {
    const pack = path.join(this.folder, 'objects', 'pack', 'pack');
    const input = `${ids.join('\n')}\n`;
    await this.#git(this.top, ['pack-objects', '-q', '--window=0', pack], {input, limitMs: FIRST_LIMIT_MS});
    for (const id of ids) this.#owned.add(id);
  }

  async #git(
    cwd: string,
    args: readonly string[],
    options: Pick<GitOptions, 'input' | 'limitMs' | 'settings'> = {},
    fine: readonly number[] = [0],
  ): Promise<Buffer> {
    const env = {GIT_DIR: this.folder, GIT_WORK_TREE: this.top, GIT_INDEX_FILE: path.join(this.folder, 'index')};
    const answer = await git(cwd, args, {limitMs: CALL_LIMIT_MS, ...options, env, known: this.#settings});
    if (fine.includes(answer.exitCode)) return answer.stdout;
    throw new MiniCcError('CHECKPOINT', `git ${args[0]}: ${answer.stderr.trim().split('\n')[0] ?? ''}`);
  }
}

function toFileState(kind: string, id: string, mode: number | undefined): FileState {
  if (kind === '120000') return {kind: 'link', id};
  if (!kind.startsWith('100')) return null;
  return {kind: 'file', id, ...(kind === '100755' ? {executable: true} : {}), ...(mode === undefined ? {} : {mode})};
}

interface Project {
  readonly top: string;
  readonly objects: string;
  /** The text of its exclude file. */
  readonly exclude: string;
}

/** The repository of the workspace; undefined without one whose objects can be borrowed. */
async function findProject(root: string, known: KnownSettings): Promise<Project | undefined> {
  const asked = ['--show-object-format', '--show-toplevel', '--git-path', 'objects', '--git-path', 'info/exclude'];
  const answer = await git(root, ['rev-parse', ...asked], {known});
  const [format, top = '', objects = '', exclude = '', ...more] = answer.stdout.toString().split('\n');
  if (answer.exitCode !== 0 || format !== 'sha1' || more.join('') !== '') return undefined;
  const text = await readFile(path.resolve(root, exclude), 'utf8').catch(() => '');
  return {top: await realpath(top), objects: await realpath(path.resolve(root, objects)), exclude: text};
}

/** Ignore patterns: the project's own, and folders that mini-cc writes or never searches. */
function formatExcludes(project: Project | undefined, top: string, ownFolders: readonly string[]): string {
  const own = ownFolders
    .map((folder) => path.relative(top, folder))
    .filter((relative) => relative !== '' && !relative.startsWith('..'))
    .map((relative) => `/${relative.replaceAll(/[\\*?[\]!# ]/g, '\\$&')}/`);
  return [project?.exclude ?? '', 'node_modules/', ...own, ''].join('\n');
}
