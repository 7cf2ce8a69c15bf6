/**
 * Makes the checkpoints of one session. A snapshot is made before and after each command. The differences between two
 * snapshots count as changes of the agents whose commands ran between them, except what tools wrote in that time.
 */
import {randomUUID} from 'node:crypto';
import path from 'node:path';
import {setImmediate} from 'node:timers/promises';
import type {ChangesOfWork, CheckpointedWork, Checkpoints, Writer} from '../../core/contract/checkpoints.ts';
import {inBackground, neverRejects} from '../../core/util/background.ts';
import {getErrorMessage, MiniCcError, tryOr} from '../../core/util/errors.ts';
import {describeDiskFault} from '../../core/util/files/disk-fault.ts';
import {type FileState, getContentId, isSameState, readFileState} from '../trees/file-state.ts';
import {findShared} from './changes.ts';
import {Contents} from './contents.ts';
import {
  canTellTimes,
  findRemovedContents,
  getFileOrigin,
  lastChangedIn,
  listMissingFolders,
  type Span,
} from './file-origin.ts';
import {type FileChange, Ledger, type LedgerLine} from './ledger.ts';
import {describeFailure, type Snapshot, Snapshots, type TreeChange} from './snapshots.ts';

interface SessionCheckpointsOptions {
  /** `<session>/checkpoints`, created before the first change. */
  readonly folder: string;
  readonly root: string;
  /** mini-cc's own folder. Its writes there are not changes of an agent. */
  readonly home: string;
  /** Called once for each reason why a command has no checkpoint. */
  readonly onUncounted: (why: string) => void;
}

/** Limit of left-out files that a ledger line names. */
const MAX_NAMED = 20;
/** Milliseconds for which a snapshot that was taken ahead is the one before a command. */
const AHEAD_MS = 500;
/** Milliseconds of a snapshot from which on none is taken ahead, since it might be too old when it is there. */
const SLOW_MS = 250;

interface RunningCommand {
  readonly id: string;
  readonly by: Writer;
  readonly startedAt: number;
  /** The time between the snapshot and its start, where that was taken ahead. What changed in it is not its change. */
  readonly before: Span | undefined;
  /** Files that the command may have changed. */
  readonly changed: FileChanges;
  /** Reason why `changed` is not complete. */
  uncounted?: string;
}

/** The first and the last state of each file, by path. */
type FileChanges = Map<string, {readonly before: FileState; readonly after: FileState}>;

export class SessionCheckpoints implements Checkpoints {
  readonly ledger: Ledger;
  readonly contents: Contents;
  readonly #options: SessionCheckpointsOptions;
  readonly #folder: string;
  readonly #lock = new SnapshotLock();
  readonly #writing = new Map<
    string,
    {readonly before: FileState; readonly made: string[]; readonly endWrite: () => void}
  >();
  readonly #running = new Set<RunningCommand>();
  /** Changes since the last snapshot that no command made. */
  readonly #written: FileChanges = new Map();
  readonly #reported = new Set<string>();
  #snapshots: Promise<Snapshots> | undefined;
  /** The first snapshot, made ahead of the one before the first command, which then finds few differences. */
  #prepared: Promise<void> | undefined;
  /** The snapshot for the next command, while no tool has written since. */
  #ahead: {readonly snapshot: Snapshot; readonly savedAt: number} | undefined;
  /** Whether that is being taken. */
  #isTakingAhead = false;
  /** Milliseconds that the last snapshot took. */
  #tookMs = Number.POSITIVE_INFINITY;
  readonly #ending = new AbortController();
  /** Reason why the first snapshot failed. No other one is tried then. */
  #permanentFailure: string | undefined;
  #lastTree: string | undefined;
  #recovery: Promise<void> | undefined;

  /** @throws MiniCcError for the ledger of a newer mini-cc */
  constructor(options: SessionCheckpointsOptions) {
    this.#options = options;
    this.ledger = new Ledger(options.folder);
    this.#folder = options.folder;
    this.contents = new Contents(path.join(options.folder, 'files'), async () => {
      const hasRun = this.ledger.lines.some(({type}) => type === 'running');
      return hasRun ? (await this.#openSnapshots()).trees : undefined;
    });
  }

  async beforeWrite(by: Writer, file: string): Promise<void> {
    await this.recover();
    const isNested = [...this.#writing.keys()].some((key) => key.startsWith(`${by.agentId}\0`));
    const endWrite = await this.#lock.startWrite(isNested);
    try {
      const {state, content} = await readFileState(file);
      const made = state === null ? listMissingFolders(file) : [];
      await this.storeContent(state, content);
      this.ledger.append({type: 'writing', at: Date.now(), by, path: file, before: state, ...toMadeFolders(made)});
      this.#writing.set(getWriteKey(by, file), {before: state, made, endWrite});
    } catch (error) {
      endWrite();
      const why = describeDiskFault(getCause(error), this.#folder)?.text ?? getErrorMessage(error);
      const text = `${file} was not changed, since its old content could not be kept for undo. ${why}`;
      throw new MiniCcError('CHECKPOINT', text, {cause: error});
    }
  }

  async afterWrite(by: Writer, file: string): Promise<void> {
    const write = this.#writing.get(getWriteKey(by, file));
    if (!write) return;
    this.#writing.delete(getWriteKey(by, file));
    const {before, made, endWrite} = write;
    try {
      await this.#noteWrite(by, file, before, toMadeFolders(made));
    } catch (error) {
      // The file is written. Its line in the ledger stays open, and the next start of mini-cc records the change.
      this.#report(`the change of ${file} could not be noted: ${getErrorMessage(error)}`);
    } finally {
      endWrite();
    }
  }

  async around<T>(by: Writer, work: (saved: Promise<void>) => Promise<T>): Promise<CheckpointedWork<T>> {
    const beginning = this.#lock.runExclusive(() => this.#beginCommand(by));
    // Let git start first, since it needs the longer time.
    await setImmediate();
    try {
      const value = await work(beginning.then(() => undefined));
      return {value, compared: this.#compare(await beginning)};
    } catch (error) {
      await this.#compare(await beginning);
      throw error;
    }
  }

  /** Waits until the ledger has all that ended so far, also what an earlier mini-cc left open. Never rejects. */
  async settled(): Promise<void> {
    await this.recover();
    await this.#lock.settled;
    this.#ahead = undefined;
  }

  /** Ends a command. @param command or the reason why it has no checkpoint */
  async #compare(command: RunningCommand | string): Promise<ChangesOfWork> {
    if (typeof command === 'string') return {changed: [], uncounted: command};
    await this.#lock.runExclusive(() => this.#endCommand(command));
    const {uncounted} = command;
    // A file whose last state equals its first, for example one that was created and removed again, is not a change.
    const changed = [...command.changed]
      .filter(([, {before, after}]) => !isSameState(before, after))
      .map(([file]) => file);
    const shared = changed.length === 0 ? [] : findShared(changed, command.startedAt, this.ledger.changes);
    return {changed, shared, ...(uncounted === undefined ? {} : {uncounted})};
  }

  prepare(isNext = false): void {
    if (!this.#snapshots) this.#prepared ??= this.#takeFirst();
    else if (
      isNext &&
      !this.#isTakingAhead &&
      this.#tookMs < SLOW_MS &&
      canTellTimes(this.#options.root, this.#folder)
    ) {
      this.#isTakingAhead = true;
      inBackground(
        this.#lock.runExclusive(() => this.#takeAhead()),
        neverRejects,
      );
    }
  }

  /** Takes the snapshot before the next command. Never rejects. */
  async #takeAhead(): Promise<void> {
    const savedAt = Date.now();
    try {
      if (this.#running.size === 0) this.#ahead = {snapshot: await this.#snapshot(), savedAt};
    } catch {
      // The command tries again, and says why it fails.
    } finally {
      this.#isTakingAhead = false;
    }
  }

  /**
   * Takes a snapshot to which no changes are attributed. It may see half a write, so writes need not wait for it. Never
   * rejects.
   */
  async #takeFirst(): Promise<void> {
    try {
      await this.recover();
      await this.#time((await this.#openSnapshots()).take(this.#ending.signal));
    } catch {
      // The first command tries again, and says why it fails.
    }
  }

  /** Runs work while no write and no snapshot runs. @throws the errors of `work` */
  async runExclusive<T>(work: () => Promise<T>): Promise<T> {
    await this.recover();
    return this.#lock.runExclusive(work);
  }

  /** @param content the content of `state`; `readFileState` returns both */
  async storeContent(state: FileState, content: Buffer | undefined): Promise<void> {
    if (state && 'id' in state && content) await this.contents.put(state.id, content);
  }

  /** Records a change that no command made. */
  noteChange(change: FileChange): void {
    this.ledger.append(change);
    this.#ahead = undefined;
    const {path: file, before, after} = change;
    addChange(this.#written, file, before, after);
  }

  /** Records the writes and commands that were in progress when an earlier mini-cc ended. Never rejects. */
  recover(): Promise<void> {
    this.#recovery ??= this.#recoverInterrupted();
    return this.#recovery;
  }

  close(): void {
    this.#ending.abort();
    this.ledger.close();
  }

  /** @returns the reason as a text when there is no checkpoint */
  async #beginCommand(by: Writer): Promise<RunningCommand | string> {
    await this.recover();
    try {
      if (this.#permanentFailure !== undefined) throw new MiniCcError('CHECKPOINT', this.#permanentFailure);
      const ahead = this.#takeFresh();
      const {tree} = ahead?.snapshot ?? (await this.#snapshot());
      const [id, startedAt] = [randomUUID(), Date.now()];
      this.ledger.append({type: 'running', at: startedAt, id, by, tree});
      const before = ahead && tryOr(() => this.#toSpan(ahead.savedAt, startedAt), undefined);
      const command: RunningCommand = {id, by, startedAt, before, changed: new Map()};
      this.#running.add(command);
      return command;
    } catch (error) {
      return this.#handleFailure(error, by);
    }
  }

  /** Returns the snapshot that was taken ahead of a command, if it is new enough. */
  #takeFresh() {
    const ahead = this.#ahead;
    this.#ahead = undefined;
    return ahead && this.#running.size === 0 && Math.abs(Date.now() - ahead.savedAt) < AHEAD_MS ? ahead : undefined;
  }

  /** Converts times by the clock of this machine. The ledger has just been written. */
  #toSpan(from: number, to: number): Span {
    const written = this.ledger.writtenAt();
    return {from: written - (to - from), to: written};
  }

  async #endCommand(command: RunningCommand): Promise<void> {
    let named: readonly string[] = [];
    try {
      named = (await this.#snapshot()).leftOut.slice(0, MAX_NAMED);
    } catch (error) {
      command.uncounted = this.#handleFailure(error, command.by);
    }
    this.#running.delete(command);
    this.#appendOrReport({type: 'ran', at: Date.now(), id: command.id, ...(named.length > 0 ? {leftOut: named} : {})});
  }

  /** Takes a snapshot, and records the differences from the last one as changes of the running commands. */
  async #snapshot(): Promise<Snapshot> {
    await this.#prepared;
    this.#ahead = undefined;
    const snapshots = await this.#openSnapshots();
    const snapshot = await this.#time(snapshots.take());
    const {tree} = snapshot;
    const before = this.#lastTree;
    this.#lastTree = tree;
    if (before !== undefined && this.#running.size > 0) {
      const changes = await snapshots.changes(before, tree);
      const removed = findRemovedContents(changes);
      for (const change of changes) this.#attribute(change, removed);
      // When copying fails, the objects are still borrowed from the project.
      const borrowed = changes.flatMap((change) => getContentId(change.before) ?? []);
      await snapshots.trees.keep(borrowed).catch(() => undefined);
    }
    this.#written.clear();
    return snapshot;
  }

  async #time(taking: Promise<Snapshot>): Promise<Snapshot> {
    const beganAt = performance.now();
    return taking.finally(() => {
      this.#tookMs = performance.now() - beganAt;
    });
  }

  /** Records one difference, except what a tool wrote to the file meanwhile. */
  #attribute(change: TreeChange, removed: ReadonlySet<string>): void {
    const written = this.#written.get(change.path);
    const running = [...this.#running];
    if (running.every(({before}) => before && lastChangedIn(before, change.path, this.#options.root))) return;
    const noteDifference = (before: FileState, after: FileState) => {
      if (isSameState(before, after)) return;
      const since = Math.min(...running.map((each) => each.startedAt));
      const origin = getFileOrigin(change.path, {before, after}, {root: this.#options.root, since, removed});
      const by = [...new Map(running.map((each) => [each.by.agentId, each.by])).values()];
      this.ledger.append({type: 'change', at: Date.now(), by, path: change.path, before, after, ...origin});
      for (const {changed} of running) addChange(changed, change.path, before, after);
    };
    if (!written) {
      noteDifference(change.before, change.after);
      return;
    }
    noteDifference(change.before, written.before);
    noteDifference(written.after, change.after);
  }

  async #noteWrite(by: Writer, file: string, before: FileState, more: Partial<FileChange>): Promise<void> {
    const {state: after, content} = await readFileState(file);
    if (isSameState(before, after)) {
      this.ledger.append({type: 'unchanged', at: Date.now(), by, path: file});
      return;
    }
    await this.storeContent(after, content);
    this.noteChange({...more, type: 'change', at: Date.now(), by: [by], path: file, before, after});
  }

  #openSnapshots(): Promise<Snapshots> {
    const {folder, root, home} = this.#options;
    const place = {folder: path.join(folder, 'git'), root, home, signal: this.#ending.signal};
    this.#snapshots ??= Snapshots.open(place).catch((error) => {
      this.#snapshots = undefined;
      throw error;
    });
    return this.#snapshots;
  }

  /** Handles a failed snapshot. Until the next snapshot, changes cannot be attributed. @returns the reason */
  #handleFailure(error: unknown, by: Writer): string {
    const why = describeFailure(error);
    if (this.#lastTree === undefined) this.#permanentFailure = why;
    this.#lastTree = undefined;
    for (const each of this.#running) each.uncounted = why;
    this.#report(why);
    this.#appendOrReport({type: 'uncounted', at: Date.now(), by, why});
    return why;
  }

  /** Appends a line about a command that has already run. A failure to write it does not fail the command. */
  #appendOrReport(line: LedgerLine): void {
    try {
      this.ledger.append(line);
    } catch (error) {
      this.#report(getErrorMessage(error));
    }
  }

  #report(why: string): void {
    if (!this.#reported.has(why)) this.#options.onUncounted(why);
    this.#reported.add(why);
  }

  async #recoverInterrupted(): Promise<void> {
    const cut = findOpenWork(this.ledger.lines);
    try {
      for (const {by, path: file, before, madeFolders = []} of cut.writing) {
        await this.#noteWrite(by, file, before, {...toMadeFolders(madeFolders), cutOff: true});
      }
      if (cut.running.length > 0)
        await recoverCommands(cut.running, this.ledger, await this.#openSnapshots(), this.#options.root);
    } catch (error) {
      const [first] = cut.running;
      if (first) this.#handleFailure(error, first.by);
      else this.#report(describeFailure(error));
    }
  }
}

function addChange(span: FileChanges, file: string, before: FileState, after: FileState): void {
  const earlier = span.get(file);
  span.set(file, {before: earlier ? earlier.before : before, after});
}

function toMadeFolders(made: readonly string[]): {readonly madeFolders?: readonly string[]} {
  return made.length > 0 ? {madeFolders: made} : {};
}

/** Returns the first error in the chain of causes, which is the system's. */
function getCause(error: unknown): unknown {
  return error instanceof Error && error.cause instanceof Error ? getCause(error.cause) : error;
}

/**
 * Lets many writes run at the same time, but a snapshot only alone, so that no snapshot sees half a write. Both start
 * in the order in which they were requested.
 */
class SnapshotLock {
  #exclusive: Promise<unknown> = Promise.resolve();
  readonly #writes = new Set<Promise<void>>();

  /** Resolves when the last requested exclusive work has ended. */
  get settled(): Promise<unknown> {
    return this.#exclusive;
  }

  /**
   * Waits for exclusive work that was requested before, then starts a write.
   * @param isNested true when the caller already has an open write, because it would wait for itself
   * @returns a function that ends the write; it must be called
   */
  async startWrite(isNested: boolean): Promise<() => void> {
    for (let before: Promise<unknown> | undefined; !isNested && before !== this.#exclusive; ) {
      before = this.#exclusive;
      await before;
    }
    const {promise: write, resolve} = Promise.withResolvers<void>();
    this.#writes.add(write);
    return () => {
      this.#writes.delete(write);
      resolve();
    };
  }

  /** Runs work while no write and no other exclusive work runs. @throws the errors of `work` */
  async runExclusive<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#exclusive.then(async () => {
      await Promise.all(this.#writes);
      return work();
    });
    // The caller gets the error. Others that wait here only need to know the end.
    this.#exclusive = done.catch(() => undefined);
    return done;
  }
}

type OpenCommand = Extract<LedgerLine, {type: 'running'}>;
type OpenWrite = Extract<LedgerLine, {type: 'writing'}>;

interface OpenWork {
  readonly running: readonly OpenCommand[];
  readonly writing: readonly OpenWrite[];
}

/** Returns the writes and commands that have a start line and no end line. */
function findOpenWork(lines: readonly LedgerLine[]): OpenWork {
  const running = new Map<string, OpenCommand>();
  const writing = new Map<string, OpenWrite>();
  for (const line of lines) {
    if (line.type === 'running') running.set(line.id, line);
    else if (line.type === 'ran') running.delete(line.id);
    else if (line.type === 'writing') writing.set(getWriteKey(line.by, line.path), line);
    else if (line.type === 'unchanged') writing.delete(getWriteKey(line.by, line.path));
    else if (line.type === 'change') for (const by of line.by) writing.delete(getWriteKey(by, line.path));
  }
  return {running: [...running.values()], writing: [...writing.values()]};
}

/**
 * Records what interrupted commands changed: everything that differs from the snapshot at their start, except what
 * other changes in the ledger explain. Changes that were made after the crash cannot be distinguished.
 */
async function recoverCommands(
  running: readonly OpenCommand[],
  ledger: Ledger,
  snapshots: Snapshots,
  root: string,
): Promise<void> {
  const {tree} = await snapshots.take();
  const by = [...new Map(running.map((each) => [each.by.agentId, each.by])).values()];
  for (const command of running) {
    const later = ledger.lines.slice(ledger.lines.indexOf(command));
    const changes = await snapshots.changes(command.tree, tree);
    const [since, removed] = [command.at, findRemovedContents(changes)];
    for (const {path, before, after} of changes) {
      const noted = later.findLast((line) => line.type === 'change' && line.path === path);
      const from = noted?.type === 'change' ? noted.after : before;
      if (isSameState(from, after)) continue;
      const origin = getFileOrigin(path, {before: from, after}, {root, since, removed});
      ledger.append({type: 'change', at: Date.now(), by, path, before: from, after, ...origin, cutOff: true});
    }
    ledger.append({type: 'ran', at: Date.now(), id: command.id});
  }
}

/** Identifies an open write: one agent writes a file only once at a time. */
function getWriteKey({agentId}: Writer, path: string): string {
  return `${agentId}\0${path}`;
}
