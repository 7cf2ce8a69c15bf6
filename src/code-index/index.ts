/** Opens code indexes. A thread does the work; `contract.ts` says what it answers. */
import path from 'node:path';
import {setTimeout} from 'node:timers/promises';
import type {Worker} from 'node:worker_threads';
import {MiniCcError} from '../core/util/errors.ts';
import {runRipgrep} from '../core/util/ripgrep.ts';
import type {
  Answer,
  CodeIndex,
  CodeIndexOptions,
  Coverage,
  Place,
  QueryOptions,
  RenamePlan,
  SyntaxFacts,
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
  readonly #options: CodeIndexOptions;
  readonly #open = new Map<number, PromiseWithResolvers<unknown>>();
  #worker: Promise<Worker> | undefined;
  #lastId = 0;
  #asked = 0;

  constructor(options: CodeIndexOptions) {
    this.#options = options;
    this.root = options.root;
  }

  definitions: CodeIndex['definitions'] = (query, options) => this.#askList({ask: 'definitions', query}, options);
  references: CodeIndex['references'] = (query, options) => this.#askList({ask: 'references', query}, options);
  outline: CodeIndex['outline'] = (file, options) => this.#askList({ask: 'outline', query: {path: file}}, options);
  importers: CodeIndex['importers'] = (file, options) =>
    this.#askList({ask: 'importers', query: {path: file}}, options);
  files: CodeIndex['files'] = (query, options) => this.#askList({ask: 'files', query}, options);
  unusedExports: CodeIndex['unusedExports'] = (query, options) => this.#askList({ask: 'unusedExports', query}, options);

  async syntax(file: string, options: QueryOptions = {}): Promise<SyntaxFacts & {readonly coverage: Coverage}> {
    const {may, value} = await this.#ask<SyntaxFacts & {readonly coverage: Coverage}>(
      {ask: 'syntax', query: {path: file}},
      options,
    );
    const {functions, emptyCatches, syntaxErrors, coverage} = value;
    return {
      functions: functions.filter(may),
      emptyCatches: emptyCatches.filter(may),
      syntaxErrors: syntaxErrors.filter(may),
      coverage: filterCoverage(coverage, may),
    };
  }

  async rename(request: Parameters<CodeIndex['rename']>[0], options: QueryOptions = {}): Promise<RenamePlan> {
    const {may, value} = await this.#ask<RenamePlan>({ask: 'rename', request}, options);
    const hidden = [...value.edits, ...value.definitions].filter((each) => !may(each)).length;
    const plan = {
      ...value,
      definitions: value.definitions.filter(may),
      concerns: value.concerns.filter(may),
      mentions: value.mentions.filter(may),
    };
    if (hidden === 0) return plan;
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

  async #askList<T extends {readonly path: string}>(
    question: Question,
    options: QueryOptions = {},
  ): Promise<Answer<T>> {
    const {may, value} = await this.#ask<Answer<T>>(question, options);
    return {found: value.found.filter(may), coverage: filterCoverage(value.coverage, may)};
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
    const message: Message = {id, ...(listed && {listed}), question};
    worker.postMessage(message);
    try {
      const value = (await answer.promise) as T;
      return {may: ({path: file}) => mayRead?.(path.join(this.root, file)) ?? true, value};
    } finally {
      signal?.removeEventListener('abort', onAbort);
      this.#open.delete(id);
      // An idle thread must not keep the program alive.
      if (this.#open.size === 0) worker.unref();
    }
  }

  async #start(): Promise<Worker> {
    const {startThread} = await import('./thread/thread.ts');
    const {root, cacheFolder} = this.#options;
    const worker = startThread({root, ...(cacheFolder !== undefined && {cacheFolder})});
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
      {workspace: {env: this.#options.env}, signal: signal ?? new AbortController().signal},
    );
    signal?.throwIfAborted();
    if (end.ended !== 'exit') throw new MiniCcError('CODE_INDEX', `The files below ${this.root} could not be listed`);
    return files;
  }
}

type May = (found: Pick<Place, 'path'>) => boolean;

function filterCoverage(coverage: Coverage, may: May): Coverage {
  const {skipped, withErrors} = coverage;
  return {...coverage, skipped: skipped.filter(may), withErrors: withErrors.filter((file) => may({path: file}))};
}
