/** What the program and the thread of the index say to each other. */
import type {NameQuery, RenameRequest} from '../contract.ts';

export interface ThreadOptions {
  readonly root: string;
  readonly cacheFolder?: string;
}

/** What the thread can be asked: a method of `Queries`, or the plan of a rename. */
export type Question =
  | {
      readonly ask: 'definitions' | 'references' | 'outline' | 'importers' | 'files' | 'syntax' | 'unusedExports';
      readonly query: NameQuery;
    }
  | {readonly ask: 'rename'; readonly request: RenameRequest};

/** Sent to the thread. `listed`: all files as they are now; absent where the last list still counts. */
export interface Message {
  readonly id: number;
  readonly listed?: readonly string[];
  readonly question: Question;
}

/** Sent back. */
export type Reply = {readonly id: number; readonly value: unknown} | {readonly id: number; readonly error: string};
