/** Finds what a review is about: the files that changed, how they changed, and their text after the change. */
import {existsSync} from 'node:fs';
import {readdir} from 'node:fs/promises';
import path from 'node:path';
import {parsePatch, type StructuredPatch} from 'diff';
import {getErrorMessage, tryOr, UsageError} from '../core/util/errors.ts';
import {withRegularFile} from '../core/util/files/open-folder.ts';
import {createTemporaryFolder, removeTemporaryFolder} from '../core/util/files/temporary-folder.ts';
import {isObject} from '../core/util/objects.ts';
import {isInside} from '../core/util/paths.ts';
import {quote} from '../core/util/problem.ts';
import {formatCount} from '../core/util/text.ts';
import {git} from '../storage/trees/git.ts';
import {findRepository, type Repository, readHead, resolveCommit} from '../storage/trees/repository.ts';
import {Trees} from '../storage/trees/trees.ts';

export interface Target {
  /** A path, a ref, a range or `-`; several are paths. Empty: the working tree. */
  readonly words: readonly string[];
  /** Words after `--`, which are always paths. */
  readonly paths: readonly string[];
  /** Ref with whose merge base the working tree is compared. Default: the main branch. */
  readonly base?: string | undefined;
  /** Text of standard input, for `-`. */
  readonly input?: string | undefined;
}

export interface ChangedFile {
  /** From the top of the repository, or of the folder, with `/`. */
  readonly path: string;
  /** Former path of a renamed file. */
  readonly oldPath?: string | undefined;
  readonly kind: 'added' | 'changed' | 'deleted' | 'renamed' | 'binary';
  /** The hunks as git prints them; the whole file where there is no repository. */
  readonly patch: string;
  /** First and last line of each hunk after the change. */
  readonly hunks: readonly {readonly from: number; readonly to: number}[];
  readonly added: number;
  readonly removed: number;
  /** Text after the change. Absent for a file that was deleted, is binary, or cannot be read. */
  readonly text?: string | undefined;
}

export interface Change {
  /** Folder to which the paths are relative. */
  readonly top: string;
  readonly files: readonly ChangedFile[];
  /** What the target was compared with, e.g. `main`. */
  readonly against: string;
  /** Lines for the person: what was chosen, and what was left out. */
  readonly notes: readonly string[];
}

export interface ChangeDeps {
  /** The working directory, with links resolved. */
  readonly root: string;
  /** mini-cc's own folder, which is never a part of a change. */
  readonly home: string;
  /** Whether the rules let an agent read the file. */
  readonly mayRead: (file: string) => boolean;
  /** Absolute path of the report that this review writes. */
  readonly report?: string | undefined;
}

/** Characters. A longer file is shown to finders by its hunks alone, and left out where there are no hunks. */
const MAX_TEXT = 400_000;
const MAIN_BRANCHES = ['main', 'master', 'trunk'];

/** @throws UsageError for a target that cannot be reviewed, MiniCcError `GIT_FAILED` */
export async function readChange(target: Target, deps: ChangeDeps): Promise<Change> {
  const whole = await readWhole(target, deps);
  const reports = whole.files.filter((file) => path.join(whole.top, file.path) === deps.report || isOwnReport(file));
  const change = {...whole, files: whole.files.filter((file) => !reports.includes(file))};
  const readable = change.files.filter((file) => deps.mayRead(path.join(change.top, file.path)));
  const kept = readable.length === change.files.length ? [] : [formatLeftOut(change.files.length - readable.length)];
  const written = reports.map((file) => `left out: ${file.path}, a report of a review`);
  return {...change, files: readable, notes: [...change.notes, ...written, ...kept]};
}

/** Recognises SARIF of mini-cc. All of the text must be that, so that nothing else can pass as a report. */
function isOwnReport({text}: ChangedFile): boolean {
  if (!text?.includes('sarif-2.1.0')) return false;
  const parsed: unknown = tryOr(() => JSON.parse(text), undefined);
  if (!isObject(parsed) || Object.keys(parsed).join() !== '$schema,version,runs') return false;
  const runs = parsed.runs as {readonly tool?: {readonly driver?: {readonly name?: unknown}}}[];
  return Array.isArray(runs) && runs.length === 1 && runs[0]?.tool?.driver?.name === 'mini-cc';
}

const formatLeftOut = (count: number) => `left out: ${formatCount(count, 'file')} that your rules protect from reading`;

async function readWhole(target: Target, deps: ChangeDeps): Promise<Change> {
  const {words, paths, base, input} = target;
  const repository = await findRepository(deps.root);
  if (words.includes('-')) {
    if (words.length + paths.length > 1 || base !== undefined) throw new UsageError('review -: takes no other target');
    return readDiff(input ?? '', repository?.top ?? deps.root);
  }
  if (repository) return compare(target, repository, deps);
  if (base !== undefined || words.length + paths.length === 0) {
    throw new UsageError(`review: ${deps.root} is in no git repository: name files or folders to review`);
  }
  return readFiles([...words, ...paths], deps.root);
}

/** @throws UsageError when the text is no diff */
async function readDiff(input: string, top: string): Promise<Change> {
  const parsed = input.trim() === '' ? [] : parseDiff(input);
  if (input.trim() !== '' && parsed.length === 0) throw new UsageError('review -: standard input is no unified diff');
  const files = await Promise.all(
    parsed.map(async (file) => {
      // The lines of the diff show whether the file on the disk is the one after the change.
      const text =
        file.kind === 'deleted' ? undefined : await readText(path.join(top, file.path)).catch(() => undefined);
      return text !== undefined && agreesWith(file, text) ? {...file, text} : file;
    }),
  );
  return {top, files, against: 'the diff', notes: []};
}

/** Tells whether the text has the lines that the hunks show after the change. */
export function agreesWith({patch, hunks}: ChangedFile, text: string): boolean {
  const lines = text.split('\n');
  const shown = patch.split(/^@@.*\n/m).slice(1);
  return hunks.every(({from}, index) => {
    const after = (shown[index] ?? '').split('\n').filter((line) => /^[ +]/.test(line));
    return after.every(
      (line, offset) => lines[from - 1 + offset]?.replace(/\r$/, '') === line.slice(1).replace(/\r$/, ''),
    );
  });
}

/** Parses a unified diff of git or of `diff -u`. Returns nothing for another text. */
export function parseDiff(text: string): ChangedFile[] {
  let parsed: StructuredPatch[];
  try {
    parsed = parsePatch(text);
  } catch (error) {
    throw new UsageError(`the diff cannot be read: ${getErrorMessage(error)}`, {cause: error});
  }
  return parsed.flatMap((file) => {
    const isGit = 'isGit' in file && file.isGit === true;
    const [before, after] = [file.oldFileName, file.newFileName].map((name) => toPath(name, isGit));
    const name = after ?? before;
    // A change of the mode alone has no content to review.
    if (name === undefined || (file.hunks.length === 0 && !isGit)) return [];
    return [toChangedFile(name, {before, after}, file)];
  });
}

/** Returns undefined for `/dev/null` and where there is no name. */
function toPath(name: string | undefined, isGit: boolean): string | undefined {
  if (name === undefined || name === '' || name === '/dev/null') return undefined;
  const own = isGit || /^[ab]\//.test(name) ? name.replace(/^[a-z]\//, '') : name;
  const clean = path.posix.normalize(own);
  return clean.startsWith('../') || path.isAbsolute(clean) ? undefined : clean;
}

function toChangedFile(
  name: string,
  {before, after}: {readonly before: string | undefined; readonly after: string | undefined},
  file: StructuredPatch,
): ChangedFile {
  const flags = file as StructuredPatch & {
    isBinary?: boolean;
    isRename?: boolean;
    isCreate?: boolean;
    isDelete?: boolean;
  };
  const count = (sign: string) => file.hunks.flatMap(({lines}) => lines).filter((line) => line.startsWith(sign)).length;
  const [isNew, isGone] = [before === undefined || flags.isCreate, after === undefined || flags.isDelete];
  const isRename = flags.isRename === true || (!isNew && !isGone && before !== after);
  const textKind = isGone ? 'deleted' : isNew ? 'added' : isRename ? 'renamed' : 'changed';
  return {
    path: name,
    oldPath: isRename ? before : undefined,
    kind: flags.isBinary ? 'binary' : textKind,
    patch: file.hunks
      .map(({oldStart, oldLines, newStart, newLines, lines}) =>
        [`@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`, ...lines].join('\n'),
      )
      .join('\n'),
    hunks: file.hunks.map(({newStart, newLines}) => ({from: newStart, to: newStart + Math.max(newLines, 1) - 1})),
    added: count('+'),
    removed: count('-'),
  };
}

interface Ends {
  /** Commit or tree before the change; undefined: nothing was there. */
  readonly from: string | undefined;
  /** Commit after the change; undefined: the working tree. */
  readonly to: string | undefined;
  readonly against: string;
  readonly notes: readonly string[];
  /** Only changes of these files, and of files below these folders. Empty: all. */
  readonly only: readonly string[];
}

async function compare(target: Target, repository: Repository, deps: ChangeDeps): Promise<Change> {
  const {from, to, against, notes, only} = await findEnds(target, repository, deps.root);
  const scratch = createTemporaryFolder(deps.home);
  try {
    const without = isInside(deps.home, [repository.top]) ? [deps.home] : [];
    const known = {};
    const beginning = {from: repository, without, known};
    const trees = await Trees.create(
      path.join(scratch, 'review.git'),
      {top: repository.top, submodules: true},
      beginning,
    );
    const captured = to === undefined ? await trees.capture({without}) : undefined;
    const end = captured?.tree ?? `${to}^{tree}`;
    const start = from && `${from}^{tree}`;
    const isMeant = (name: string | undefined) =>
      only.length === 0 ||
      (name !== undefined && only.some((each) => name === each || name.startsWith(`${each}/`) || each === ''));
    const files = parseDiff(await trees.readChanges(start, end)).filter(
      (file) => isMeant(file.path) || isMeant(file.oldPath),
    );
    const texts = await readTexts(trees, end, files);
    return {top: repository.top, files: files.map((file) => ({...file, text: texts.get(file.path)})), against, notes};
  } finally {
    removeTemporaryFolder(scratch);
  }
}

/** Returns the texts of the files after the change, without links and submodules. */
async function readTexts(trees: Trees, to: string, files: readonly ChangedFile[]) {
  const wanted = new Set(files.filter(({kind}) => kind !== 'deleted' && kind !== 'binary').map((file) => file.path));
  const listed = await trees.listFiles(to, wanted);
  const contents = await trees.contents([...new Set(listed.values())]);
  const texts = [...listed].flatMap(([name, id]) => {
    const text = contents.get(id)?.toString();
    return text === undefined || text.length > MAX_TEXT ? [] : [[name, text] as const];
  });
  return new Map(texts);
}

async function findEnds({words, paths, base}: Target, repository: Repository, root: string): Promise<Ends> {
  const toTop = (name: string) => toRelative(name, root, repository.top);
  const isPath = (name: string) => existsSync(path.resolve(root, name));
  const only = paths.map(toTop);
  const [first] = words;
  if (first === undefined || words.every(isPath)) {
    return {...(await findBase(repository, base)), to: undefined, only: [...words.map(toTop), ...only]};
  }
  if (words.length > 1) {
    const wrong = words.find((word) => !isPath(word));
    throw new UsageError(`review: no such path: ${quote(wrong)} (several targets are paths)`);
  }
  const ends = await findRange(first, repository);
  if (ends && base !== undefined) throw new UsageError(`review: --base goes with the working tree, not with ${first}`);
  if (ends) return {...ends, notes: [], only};
  const head = await resolveCommit(repository, 'HEAD');
  const isDeleted =
    head !== undefined && (await git(repository.top, ['cat-file', '-e', `${head}:${toTop(first)}`])).exitCode === 0;
  if (!isDeleted) throw new UsageError(`review: ${quote(first)} is no path, ref or range here`);
  return {...(await findBase(repository, base)), to: undefined, only: [toTop(first), ...only]};
}

/** @throws UsageError for a path outside of the repository */
function toRelative(name: string, root: string, top: string): string {
  const relative = path.relative(top, path.resolve(root, name));
  if (relative.startsWith('..')) throw new UsageError(`review: ${name} is outside of ${top}`);
  return relative.split(path.sep).join('/');
}

/** Returns the ends of `A..B`, `A...B`, or of a ref, which is compared with the working tree; undefined for others. */
async function findRange(word: string, repository: Repository): Promise<Omit<Ends, 'notes' | 'only'> | undefined> {
  const [, left = '', dots, right = ''] = /^(.*?)(\.{2,3})(.*)$/s.exec(word) ?? [];
  if (dots === undefined) {
    const commit = await resolveCommit(repository, word);
    return commit === undefined ? undefined : {from: commit, to: undefined, against: word};
  }
  const [from, to] = await Promise.all([left, right].map((ref) => resolveCommit(repository, ref || 'HEAD')));
  if (from === undefined || to === undefined) return undefined;
  const start = dots === '...' ? await findMergeBase(repository, from, to) : from;
  return {from: start, to, against: left || 'HEAD'};
}

/** Finds the commit with which the working tree is compared. @throws UsageError for a base that is no ref */
async function findBase(repository: Repository, base: string | undefined) {
  const head = await resolveCommit(repository, 'HEAD');
  if (base !== undefined) {
    const commit = await resolveCommit(repository, base);
    if (commit === undefined) throw new UsageError(`--base: there is no ref ${quote(base)}`);
    return {
      from: head === undefined ? commit : await findMergeBase(repository, head, commit),
      against: base,
      notes: [],
    };
  }
  if (head === undefined)
    return {from: undefined, against: 'an empty tree', notes: ['no commit yet: all files are new']};
  const main = await findMainBranch(repository);
  if (main === undefined) {
    const {branch} = await readHead(repository);
    const where = branch === undefined ? '' : ` (on ${branch.replace('refs/heads/', '')})`;
    return {from: head, against: 'HEAD', notes: [`no main branch here${where}: compared with HEAD`]};
  }
  return {from: await findMergeBase(repository, head, main.commit), against: main.name, notes: []};
}

async function findMainBranch(repository: Repository) {
  const origin = await git(repository.top, ['symbolic-ref', '--quiet', '--short', 'refs/remotes/origin/HEAD']);
  const remote = origin.exitCode === 0 ? [`${origin.stdout}`.trim()] : [];
  const named = [...MAIN_BRANCHES.map((name) => `refs/heads/${name}`), ...remote.map((name) => `refs/remotes/${name}`)];
  const others = MAIN_BRANCHES.map((name) => `refs/remotes/origin/${name}`);
  for (const ref of [...named, ...others]) {
    const commit = await resolveCommit(repository, ref);
    if (commit !== undefined) return {commit, name: ref.replace(/^refs\/(?:heads|remotes)\//, '')};
  }
  return undefined;
}

/** Returns the first commit itself where the two have no common history. */
async function findMergeBase({top}: Repository, one: string, other: string): Promise<string> {
  const {exitCode, stdout} = await git(top, ['merge-base', one, other]);
  return exitCode === 0 ? `${stdout}`.trim() : other;
}

/** Takes whole files as the change, when there is no repository. @throws UsageError for a path that does not exist */
async function readFiles(words: readonly string[], root: string): Promise<Change> {
  const notes: string[] = [];
  const files: ChangedFile[] = [];
  for (const name of new Set((await Promise.all(words.map((word) => listBelow(word, root)))).flat())) {
    const text = await readText(path.join(root, name));
    if (text === undefined || text.includes('\0') || text.length > MAX_TEXT) {
      notes.push(`left out: ${name} is no text, or too large`);
      continue;
    }
    const lines = text.replace(/\n$/, '').split('\n');
    const hunks = [{from: 1, to: lines.length}];
    files.push({path: name, kind: 'added', patch: '', hunks, added: lines.length, removed: 0, text});
  }
  return {top: root, files, against: 'nothing', notes};
}

async function listBelow(word: string, root: string): Promise<string[]> {
  const name = toRelative(word, root, root);
  if (!existsSync(path.join(root, name))) throw new UsageError(`review: no such path: ${quote(word)}`);
  const entries = await readdir(path.join(root, name), {withFileTypes: true, recursive: true}).catch(() => undefined);
  if (!entries) return [name];
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)).split(path.sep).join('/'))
    .filter((file) => !/(?:^|\/)(?:\.|node_modules\/)/.test(file))
    .toSorted();
}

/** Reads a file of the project. No link is followed. */
export function readText(file: string): Promise<string | undefined> {
  return withRegularFile(file, async (handle) => (await handle.readFile()).toString());
}
