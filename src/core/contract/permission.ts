/** What an agent asks to do, and what is decided about it. */
import type {Access} from './access.ts';

export interface PermitRequest {
  readonly callId: string;
  readonly tool: string;
  readonly input: unknown;
  readonly title: string;
  readonly accesses: readonly Access[];
}

/** What a call was permitted as, for whoever carries it out. */
export interface Permitted {
  /** The command is proven to only read, in the environment of `provenEnvironment` alone. */
  readonly proven: boolean;
  /** Where the files that it names lie, with links resolved, when it was judged: nothing else may be touched. */
  readonly places: readonly string[];
  /** Of what lies below them, what may be looked into, by its absolute path; absent: all. */
  readonly mayRead?: (file: string) => boolean;
}

export type Permission =
  | {readonly allowed: true; readonly as?: Permitted}
  | {readonly allowed: false; readonly message: string};

/** Decides on one call; may wait for a person. Rejects only for paths that lead nowhere. */
export type Permit = (request: PermitRequest, signal: AbortSignal) => Promise<Permission>;

export type Verdict =
  | {readonly verdict: 'allow'; readonly proven?: boolean}
  | {
      readonly verdict: 'ask';
      readonly why: string;
      /** A yes for the whole session would count for nothing. */
      readonly onlyOnce?: boolean;
      /** The rule that would let it pass from now on, where one could. */
      readonly rule?: string;
      /** With a yes it runs as what is proven to only read. */
      readonly proven?: boolean;
    }
  | {readonly verdict: 'deny'; readonly why: string};
