/** What an agent asks to do, and what is decided about it. */
import type {Access} from './access.ts';
import type {PermissionMode} from './events.ts';

export interface PermitRequest {
  readonly callId: string;
  readonly tool: string;
  readonly input: unknown;
  readonly title: string;
  readonly accesses: readonly Access[];
  /** A hook or an answer changed the input: it is decided anew, this once. `approved`: who changed it also allowed it. */
  readonly changed?: {readonly approved: boolean};
}

/** One way to carry a call out. */
export interface Attempt {
  /** Which sandbox confines the processes that the call starts; `plain`: none. */
  readonly launch: 'plain' | 'read-only' | 'workspace-write';
  /** The files that the call may change are saved before it, so that the change is counted and can be undone. */
  readonly checkpoint: boolean;
  /**
   * `reading`: the environment in which commands that were proven to only read cannot do more. Without it, processes
   * get the environment of the agent.
   */
  readonly environment?: 'reading';
}

/** The attempts in their order: the next one is made only where confinement got in the way of the one before. */
export type Attempts = readonly [Attempt, ...Attempt[]];

/**
 * All that is decided about one call. It is made once, by `permissions/decision.ts`; checkpoint, sandbox and launch do
 * what stands here and judge nothing themselves.
 */
export type CallDecision =
  | {
      readonly verdict: 'allow';
      /** Why, in a few words: the rule, the mode, the answer. */
      readonly because: string;
      /** The files and folders that the call names, links resolved, when it was decided: the call touches no others. */
      readonly places: readonly string[];
      /** Those of them that the call may write. */
      readonly writes: readonly string[];
      /** Which files below these places may be looked into, by absolute path; absent: all. */
      readonly mayRead?: (file: string) => boolean;
      readonly attempts: Attempts;
    }
  | {readonly verdict: 'deny'; readonly because: string /** For the model. */; readonly message: string}
  /** A hook or an answer changed the input: it goes back to be prepared, and is decided anew. */
  | {readonly verdict: 'changed'; readonly input: unknown; readonly approved: boolean};

export type AllowedCall = Extract<CallDecision, {verdict: 'allow'}>;

/** Decides on one call; may wait for a person. Rejects only for paths that cannot be resolved. */
export type Permit = (request: PermitRequest, signal: AbortSignal) => Promise<CallDecision>;

/**
 * Looks at a call after the deny rules and before a question. `allow` spares the question, but lifts no deny rule and
 * no protection of files; `ask` asks even where nothing else would; `deny` refuses; `input` changes the call.
 */
export type BeforeCall = (
  request: PermitRequest,
  signal: AbortSignal,
) => Promise<{readonly decision?: 'allow' | 'ask' | 'deny'; readonly because?: string; readonly input?: unknown}>;

export type Verdict =
  | {readonly verdict: 'allow'; readonly because?: string; readonly attempts?: Attempts}
  | {
      readonly verdict: 'ask';
      readonly because: string;
      /** A yes for the whole session would count for nothing. */
      readonly onlyOnce?: boolean;
      /** Only a person may allow it: a protected file, keys, a command outside of the sandbox. */
      readonly onlyPerson?: boolean;
      /** The rule that would let it pass from now on, where one could. */
      readonly rule?: string;
      readonly attempts?: Attempts;
    }
  | {readonly verdict: 'deny'; readonly because: string};

/** A call that was refused, as `permission_denials` of the JSON result lists it. */
export interface Denial {
  readonly agent: string;
  readonly callId: string;
  readonly tool: string;
  readonly input: unknown;
  readonly reason: string;
}

/** What agents may do now, for the person to see. */
export interface PermissionState {
  readonly mode: PermissionMode;
  /** In the order in which they were found. */
  readonly rules: readonly {
    readonly kind: 'allow' | 'ask' | 'deny';
    /** As it was written. */
    readonly text: string;
    /** Where it comes from: a file, a flag. */
    readonly source: string;
  }[];
  /** Granted for this session, each in a few words. */
  readonly granted: readonly string[];
}
