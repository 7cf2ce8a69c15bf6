/** Opens code indexes. A thread does the work; `contract.ts` says what it answers. */
import path from 'node:path';
import {setTimeout} from 'node:timers/promises';
import type {Worker} from 'node:worker_threads';
import {MiniCcError} from '../core/util/errors.ts';
import {runRipgrep} from '../core/util/ripgrep.ts';
import type {
  CodeIndex,
  CodeIndexOptions,
  Coverage,
  Place,
  QueryOptions,
  RenamePlan,
  RenameRequest,
} from './contract.ts';
import type {Message, Question, Reply} from './thread/answer.ts';

export type * from './contract.ts';

/** Milliseconds that the thread has to end after the index is closed. Then it is terminated. */
const MAX_CLOSE_MS = 2_000;

/** Opens an index, which starts its thread at the first question. */
export function openCodeIndex(options: CodeIndexOptions): CodeIndex {
  return new ThreadedCodeIndex(options);
}

class ThreadedCodeIndex implements CodeIndex {
  readonly root: string;
  readonly #open = new Map<number, PromiseWithResolvers<unknown>>();
  #worker: Promise<Worker> | undefined;
  #lastId = 0;
  #asked = 0;

  constructor(private readonly options: CodeIndexOptions) {
    this.root = options.root;
  }

  definitions: CodeIndex['definitions'] = (query, options) => this.#askAbout({ask: 'definitions', query}, options);
  references: CodeIndex['references'] = (query, options) => this.#askAbout({ask: 'references', query}, options);
  outline: CodeIndex['outline'] = (path, options) => this.#askAbout({ask: 'outline', query: {path}}, options);
  importers: CodeIndex['importers'] = (path, options) => this.#askAbout({ask: 'importers', query: {path}}, options);
  files: CodeIndex['files'] = (query, options) => this.#askAbout({ask: 'files', query}, options);
  syntax: CodeIndex['syntax'] = (path, options) => this.#askAbout({ask: 'syntax', query: {path}}, options);

  async rename(request: RenameRequest, options: QueryOptions = {}): Promise<RenamePlan> {
    const {may, value} = await this.#ask<RenamePlan>({ask: 'rename', request}, options);
    const plan = {...hideFiles(value, may), reasons: value.reasons};
    if ([...value.edits, ...value.definitions].every(may)) return plan;
    const reason = 'Files that may not be read would have to change, too.';
    return {...plan, verdict: 'refused', edits: [], reasons: [reason, ...plan.reasons]};
  }

  get isBusy(): boolean {
    return this.#asked > 0;
  }

  async close(): Promise<void> {
    const worker = await this.#worker?.catch(() => undefined);
    this.#worker = undefined;
    if (worker) {
      worker.ref();
      // The thread saves the parsed facts before it ends, unless that takes too long.
      const ended = new Promise((resolve) => worker.once('exit', resolve));
      worker.postMessage('close');
      await Promise.race([ended, setTimeout(MAX_CLOSE_MS, undefined, {ref: false})]);
      await worker.terminate();
    }
    this.#fail('the code index was closed');
  }

  async #askAbout<T extends {readonly coverage: Coverage}>(question: Question, options: QueryOptions = {}): Promise<T> {
    const {may, value} = await this.#ask<T>(question, options);
    return {...hideFiles(value, may), coverage: hideFiles(value.coverage, may)};
  }

  async #ask<T>(question: Question, options: QueryOptions): Promise<{may: May; value: T}> {
    this.#asked += 1;
    try {
      return await this.#send<T>(question, options);
    } finally {
      this.#asked -= 1;
    }
  }

  async #send<T>(question: Question, {signal, mayRead}: QueryOptions): Promise<{may: May; value: T}> {
    signal?.throwIfAborted();
    // An outline reads only its own file, so the files need not be listed.
    const listed = question.ask === 'outline' ? undefined : await this.#list(signal);
    this.#worker ??= this.#start();
    const worker = await this.#worker;
    const id = ++this.#lastId;
    const answer = Promise.withResolvers<unknown>();
    this.#open.set(id, answer);
    const onAbort = () => answer.reject(signal?.reason);
    signal?.addEventListener('abort', onAbort, {once: true});
    worker.ref();
    worker.postMessage({id, listed, question} satisfies Message);
    try {
      const value = (await answer.promise) as T;
      const may: May = (about) =>
        mayRead?.(path.join(this.root, typeof about === 'string' ? about : about.path)) ?? true;
      return {may, value};
    } finally {
      signal?.removeEventListener('abort', onAbort);
      this.#open.delete(id);
      // An idle thread must not keep the program alive.
      if (this.#open.size === 0) worker.unref();
    }
  }

  async #start(): Promise<Worker> {
    const {startThread} = await import('./thread/thread.ts');
    const {root, cacheFolder} = this.options;
    const worker = startThread({root, cacheFolder});
    worker.on('message', (reply: Reply) => {
      const answer = this.#open.get(reply.id);
      if ('error' in reply) answer?.reject(new MiniCcError('CODE_INDEX', `The code index failed: ${reply.error}`));
      else answer?.resolve(reply.value);
    });
    const onEnd = (why: string) => {
      if (this.#worker !== started) return;
      this.#worker = undefined;
      this.#fail(why);
    };
    const started = this.#worker;
    worker.on('error', (error) => onEnd(error.message)).on('exit', () => onEnd('its thread ended'));
    return worker;
  }

  #fail(why: string): void {
    for (const answer of this.#open.values()) {
      answer.reject(new MiniCcError('CODE_INDEX', `The code index failed: ${why}`));
    }
  }

  async #list(signal: AbortSignal | undefined): Promise<readonly string[]> {
    const files: string[] = [];
    const end = await runRipgrep(
      {
        args: ['--files', '--null'],
        cwd: this.root,
        paths: ['.'],
        separator: '\0',
        onRecord: (record) => files.push(record.replace(/^\.\//, '')) > 0,
      },
      {workspace: {env: this.options.env}, signal: signal ?? new AbortController().signal},
    );
    signal?.throwIfAborted();
    if (end.ended !== 'exit') throw new MiniCcError('CODE_INDEX', `The files below ${this.root} could not be listed`);
    return files;
  }
}

/** Returns whether the caller may see what is said about a file. */
type May = (about: string | Pick<Place, 'path'>) => boolean;

/** Leaves files that may not be read out of the lists of an answer. */
function hideFiles<T extends object>(answer: T, may: May): T {
  const entries = Object.entries(answer).map(([key, value]) => [key, Array.isArray(value) ? value.filter(may) : value]);
  return Object.fromEntries(entries) as T;
}
