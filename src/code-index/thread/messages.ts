/** Messages between the program and the thread of the index. */
import type {NameQuery, RenameRequest} from '../contract.ts';

export interface ThreadOptions {
  readonly root: string;
  readonly cacheFolder?: string;
}

/** A question to the thread: a method of `Queries` with its query, or the plan of a rename. */
export type Question =
  | {
      readonly ask: 'definitions' | 'references' | 'outline' | 'importers' | 'files' | 'syntax' | 'unusedExports';
      readonly query: NameQuery;
    }
  | {readonly ask: 'rename'; readonly request: RenameRequest};

/** Message to the thread. `listed` holds all files at this moment. It is absent for an outline, which needs no list. */
export interface Message {
  readonly id: number;
  readonly listed?: readonly string[];
  readonly question: Question;
}

export type Reply = {readonly id: number; readonly value: unknown} | {readonly id: number; readonly error: string};
