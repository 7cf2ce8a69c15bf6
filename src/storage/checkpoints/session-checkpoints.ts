/**
 * The checkpoints of one session. Around commands, each snapshot is compared with the one before it: what is different
 * was changed by those whose commands were at work between the two, less what the tools wrote in that time.
 */
import {randomUUID} from 'node:crypto';
import path from 'node:path';
import type {Checkpoints, Observed, Writer} from '../../core/contract/checkpoints.ts';
import {MiniCcError, messageOf} from '../../core/util/errors.ts';
import {sharedIn} from './changes.ts';
import {Blobs, Contents} from './contents.ts';
import {arrivalOf, goneIn, missingAbove} from './file-origin.ts';
import {type FileState, idOf, isSame, lookAt} from './file-state.ts';
import {type Change, Ledger, type LedgerLine} from './ledger.ts';
import {cutOffIn, recoverCommands} from './recovery.ts';
import {ShadowGit, type Snapshot, type TreeChange} from './shadow-git.ts';
import {Gate} from './snapshot-lock.ts';

export interface SessionCheckpointsOptions {
  /** `<session>/checkpoints`; made with the first change. */
  readonly folder: string;
  readonly root: string;
  /** mini-cc's own: what it writes there is no change of an agent. */
  readonly home: string;
  /** Told once for each reason why commands have no checkpoint. */
  readonly onUncounted: (why: string) => void;
}

/** Names of files that were left out, beside a command. */
const MOST_NAMED = 20;

/** A command at work. */
interface AtWork {
  readonly id: string;
  readonly by: Writer;
  readonly startedAt: number;
  /** From how it was found to how it was left. */
  readonly changed: Span;
  /** Something happened that makes `changed` less than the whole. */
  uncounted?: string;
}

/** By path: how a file was found first, and how it was left last. */
type Span = Map<string, {readonly before: FileState; readonly after: FileState}>;

export class SessionCheckpoints implements Checkpoints {
  readonly ledger: Ledger;
  readonly contents: Contents;
  readonly #options: SessionCheckpointsOptions;
  readonly #blobs: Blobs;
  readonly #gate = new Gate();
  readonly #writing = new Map<
    string,
    {readonly before: FileState; readonly made: string[]; readonly leave: () => void}
  >();
  readonly #atWork = new Set<AtWork>();
  /** What was made of files since the last snapshot, by no command. */
  readonly #written: Span = new Map();
  readonly #told = new Set<string>();
  #shadow: ShadowGit | undefined;
  /** Why there is no snapshot, once the first one has failed: it is not tried again and again. */
  #never: string | undefined;
  /** The tree of the last snapshot. */
  #last: string | undefined;
  #recovered: Promise<void> | undefined;

  /** @throws MiniCcError for the ledger of a newer mini-cc. */
  constructor(options: SessionCheckpointsOptions) {
    this.#options = options;
    this.ledger = new Ledger(options.folder);
    this.#blobs = new Blobs(path.join(options.folder, 'files'));
    this.contents = new Contents(this.#blobs, async () => {
      const hasRun = this.ledger.lines.some(({type}) => type === 'running');
      return hasRun ? this.#openShadow() : undefined;
    });
  }

  async beforeWrite(by: Writer, file: string): Promise<void> {
    await this.recovered();
    const isInside = [...this.#writing.keys()].some((key) => key.startsWith(`${by.agentId}\0`));
    const leave = await this.#gate.enter(isInside);
    try {
      const {state, content} = await lookAt(file);
      const made = state === null ? missingAbove(file) : [];
      await this.keep(state, content);
      this.ledger.append({type: 'writing', at: Date.now(), by, path: file, before: state, ...folders(made)});
      this.#writing.set(keyOf(by, file), {before: state, made, leave});
    } catch (error) {
      leave();
      throw new MiniCcError(
        'CHECKPOINT',
        `what is in ${file} cannot be kept, so it was not changed: ${messageOf(error)}`,
        {
          cause: error,
        },
      );
    }
  }

  async afterWrite(by: Writer, file: string): Promise<void> {
    const begun = this.#writing.get(keyOf(by, file));
    if (!begun) return;
    this.#writing.delete(keyOf(by, file));
    const {before, made, leave} = begun;
    try {
      await this.#noteWrite(by, file, before, folders(made));
    } catch (error) {
      // The file is written: its line stays open, and the next mini-cc sees what became of it.
      this.#tell(`what became of ${file} could not be noted: ${messageOf(error)}`);
    } finally {
      leave();
    }
  }

  async around<T>(by: Writer, work: () => Promise<T>): Promise<Observed<T>> {
    const begun = await this.#gate.alone(() => this.#begin(by));
    if (typeof begun === 'string') return {value: await work(), changed: [], uncounted: begun};
    let value: T;
    try {
      value = await work();
    } finally {
      await this.#gate.alone(() => this.#end(begun));
    }
    const {uncounted} = begun;
    // What came and went while others looked is no change.
    const changed = [...begun.changed].filter(([, {before, after}]) => !isSame(before, after)).map(([file]) => file);
    const shared = changed.length === 0 ? [] : sharedIn(changed, begun.startedAt, this.ledger.changes);
    return {value, changed, shared, ...(uncounted === undefined ? {} : {uncounted})};
  }

  /** Alone with the files: no write and no snapshot goes on meanwhile. @throws what `work` throws. */
  async alone<T>(work: () => Promise<T>): Promise<T> {
    await this.recovered();
    return this.#gate.alone(work);
  }

  /** @param content of `state`, as `lookAt` gives both. */
  async keep(state: FileState, content: Buffer | undefined): Promise<void> {
    if (state && 'id' in state && content) await this.#blobs.put(state.id, content);
  }

  /** A change that was made by no command. */
  note(change: Change): void {
    this.ledger.append(change);
    const {path: file, before, after} = change;
    noteIn(this.#written, file, before, after);
  }

  /** What an earlier mini-cc was cut off at is noted down. Never rejects. */
  recovered(): Promise<void> {
    this.#recovered ??= this.#recover();
    return this.#recovered;
  }

  close(): void {
    this.ledger.close();
  }

  /** @returns why there is no checkpoint, if there is none. */
  async #begin(by: Writer): Promise<AtWork | string> {
    await this.recovered();
    try {
      if (this.#never !== undefined) throw new MiniCcError('CHECKPOINT', this.#never);
      const {tree} = await this.#snapshot();
      const begun: AtWork = {id: randomUUID(), by, startedAt: Date.now(), changed: new Map()};
      this.ledger.append({type: 'running', at: begun.startedAt, id: begun.id, by, tree});
      this.#atWork.add(begun);
      return begun;
    } catch (error) {
      return this.#failed(error, by);
    }
  }

  async #end(begun: AtWork): Promise<void> {
    let named: readonly string[] = [];
    try {
      named = (await this.#snapshot()).leftOut.slice(0, MOST_NAMED);
    } catch (error) {
      begun.uncounted = this.#failed(error, begun.by);
    }
    this.#atWork.delete(begun);
    this.#note({type: 'ran', at: Date.now(), id: begun.id, ...(named.length > 0 ? {leftOut: named} : {})});
  }

  /** What is different since the last snapshot is noted to those at work. */
  async #snapshot(): Promise<Snapshot> {
    const shadow = await this.#openShadow();
    const snapshot = await shadow.snapshot();
    const {tree} = snapshot;
    const before = this.#last;
    this.#last = tree;
    if (before !== undefined && this.#atWork.size > 0) {
      const changes = await shadow.changes(before, tree);
      const gone = goneIn(changes);
      for (const change of changes) this.#attribute(change, gone);
      // Where that fails they are borrowed still.
      await shadow.own(changes.flatMap((change) => idOf(change.before) ?? [])).catch(() => undefined);
    }
    this.#written.clear();
    return snapshot;
  }

  #attribute(change: TreeChange, gone: ReadonlySet<string>): void {
    const written = this.#written.get(change.path);
    const atWork = [...this.#atWork];
    const note = (before: FileState, after: FileState) => {
      if (isSame(before, after)) return;
      const since = Math.min(...atWork.map((each) => each.startedAt));
      const arrival = arrivalOf(change.path, {before, after}, {root: this.#options.root, since, gone});
      const by = [...new Map(atWork.map((each) => [each.by.agentId, each.by])).values()];
      this.ledger.append({type: 'change', at: Date.now(), by, path: change.path, before, after, ...arrival});
      for (const {changed} of atWork) noteIn(changed, change.path, before, after);
    };
    if (!written) {
      note(change.before, change.after);
      return;
    }
    note(change.before, written.before);
    note(written.after, change.after);
  }

  async #noteWrite(by: Writer, file: string, before: FileState, more: Partial<Change>): Promise<void> {
    const {state: after, content} = await lookAt(file);
    if (isSame(before, after)) {
      this.ledger.append({type: 'unchanged', at: Date.now(), by, path: file});
      return;
    }
    await this.keep(after, content);
    this.note({...more, type: 'change', at: Date.now(), by: [by], path: file, before, after});
  }

  async #openShadow(): Promise<ShadowGit> {
    const {folder, root, home} = this.#options;
    this.#shadow ??= await ShadowGit.open({folder: path.join(folder, 'git'), root, ownFolders: [home]});
    return this.#shadow;
  }

  /** From here on it is not known who changed what, until the next snapshot. */
  #failed(error: unknown, by: Writer): string {
    const why = reasonOf(error);
    if (this.#last === undefined) this.#never = why;
    this.#last = undefined;
    for (const each of this.#atWork) each.uncounted = why;
    this.#tell(why);
    this.#note({type: 'uncounted', at: Date.now(), by, why});
    return why;
  }

  /** A command has run, whether that can be noted or not. */
  #note(line: LedgerLine): void {
    try {
      this.ledger.append(line);
    } catch (error) {
      this.#tell(messageOf(error));
    }
  }

  #tell(why: string): void {
    if (!this.#told.has(why)) this.#options.onUncounted(why);
    this.#told.add(why);
  }

  async #recover(): Promise<void> {
    const cut = cutOffIn(this.ledger.lines);
    try {
      for (const {by, path: file, before, madeFolders = []} of cut.writing) {
        await this.#noteWrite(by, file, before, {...folders(madeFolders), cutOff: true});
      }
      if (cut.running.length > 0)
        await recoverCommands(cut.running, this.ledger, await this.#openShadow(), this.#options.root);
    } catch (error) {
      const [first] = cut.running;
      if (first) this.#failed(error, first.by);
      else this.#tell(reasonOf(error));
    }
  }
}

function noteIn(span: Span, file: string, before: FileState, after: FileState): void {
  const earlier = span.get(file);
  span.set(file, {before: earlier ? earlier.before : before, after});
}

function keyOf({agentId}: Writer, file: string): string {
  return `${agentId}\0${file}`;
}

function folders(made: readonly string[]): {readonly madeFolders?: readonly string[]} {
  return made.length > 0 ? {madeFolders: made} : {};
}

function reasonOf(error: unknown): string {
  const message = messageOf(error);
  if (/\bENOENT\b/.test(message) && /\bspawn git\b/.test(message)) return 'git is not installed';
  const [, seconds] = /\bits (\d+) s$/.exec(message) ?? [];
  return seconds === undefined ? message : `the workspace is too large: git takes longer than ${seconds} s`;
}
