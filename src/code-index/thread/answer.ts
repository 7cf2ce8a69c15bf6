/** Answers questions inside the thread of the index. */
import type {NameQuery, RenameRequest} from '../contract.ts';
import {FactsCache} from '../project/facts-cache.ts';
import {ProjectFiles} from '../project/project-files.ts';
import {Queries} from '../project/queries.ts';
import type {Parse} from '../project/read-entry.ts';
import {planRename} from '../rename/plan-rename.ts';
import {SourceParser} from '../syntax/parser.ts';
import {createReadFiles} from './read-files.ts';

export function openAnswerer({root, cacheFolder}: ThreadOptions) {
  const parser = new SourceParser();
  const parse: Parse = (text, language) => parser.parse(text, language);
  const files = new ProjectFiles(root, createReadFiles(root, parse));
  const queries = new Queries(files);
  const cache = cacheFolder === undefined ? undefined : new FactsCache(cacheFolder);
  let isLoaded = false;
  return {
    async answer({listed, question}: Message): Promise<unknown> {
      if (!isLoaded) for (const entry of cache?.load() ?? []) files.entries.set(entry.path, entry);
      isLoaded = true;
      if (listed) await files.refresh(listed);
      return question.ask === 'rename'
        ? planRename(question.request, queries, parse)
        : queries[question.ask](question.query);
    },
    /** Stores the parsed facts for later sessions. It ignores a disk that is full or read-only. */
    save() {
      try {
        cache?.save(files);
      } catch {
        // Facts that are not stored are parsed again in the next session.
      }
    },
  };
}

export interface ThreadOptions {
  readonly root: string;
  readonly cacheFolder: string | undefined;
}

/** A question to the thread: a method of `Queries` with its query, or the plan of a rename. */
export type Question =
  | {
      readonly ask: 'definitions' | 'references' | 'outline' | 'importers' | 'files' | 'syntax';
      readonly query: NameQuery;
    }
  | {readonly ask: 'rename'; readonly request: RenameRequest};

/** Message to the thread. `listed` holds all files at this moment. It is undefined for an outline, which needs no list. */
export interface Message {
  readonly id: number;
  readonly listed: readonly string[] | undefined;
  readonly question: Question;
}

export type Reply = {readonly id: number; readonly value: unknown} | {readonly id: number; readonly error: string};
