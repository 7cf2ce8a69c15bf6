/** What an agent asks to do, and what is decided about it. */
import type {Access} from './access.ts';
import type {PermissionMode} from './events.ts';

export type RuleKind = 'allow' | 'ask' | 'deny';

export interface PermitRequest {
  readonly callId: string;
  readonly tool: string;
  readonly input: unknown;
  readonly title: string;
  readonly accesses: readonly Access[];
  /**
   * A hook or an answer changed the input: the call is decided anew, once. `approved`: the same hook or answer allowed
   * the call, too.
   */
  readonly changed?: {readonly approved: boolean};
}

/** One way to run a call. */
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

/** In order: the next attempt is made only when confinement got in the way of the one before. */
export type Attempts = readonly [Attempt, ...Attempt[]];

/**
 * All that is decided about one call. `permissions/decision.ts` makes it, once; checkpoint, sandbox and launch do what it
 * says and judge nothing themselves.
 */
export type CallDecision =
  | {
      readonly verdict: 'allow';
      /** Why, in a few words: the rule, the mode, the answer. */
      readonly because: string;
      /** The files and folders that the call names, with links resolved when it was decided. It may touch no others. */
      readonly places: readonly string[];
      /** Those of them that the call may write. */
      readonly writes: readonly string[];
      /** Whether the call may read a file below these places, by its absolute path. Absent: it may read all. */
      readonly mayRead?: (file: string) => boolean;
      readonly attempts: Attempts;
    }
  /** `message` is for the model. */
  | {readonly verdict: 'deny'; readonly because: string; readonly message: string}
  /** A hook or an answer changed the input: the call is prepared and decided anew. */
  | {readonly verdict: 'changed'; readonly input: unknown; readonly approved: boolean};

export type AllowedCall = Extract<CallDecision, {verdict: 'allow'}>;

/** Decides on one call; may wait for a person. Rejects only when a path of the call cannot be resolved. */
export type Permit = (request: PermitRequest, signal: AbortSignal) => Promise<CallDecision>;

/**
 * Looks at a call after the deny rules and before a question. `allow` replaces the question, but not for deny rules and
 * protected files; `ask` asks even when nothing else would; `deny` refuses; `input` changes the call.
 */
export type BeforeCall = (
  request: PermitRequest,
  signal: AbortSignal,
) => Promise<{readonly decision?: 'allow' | 'ask' | 'deny'; readonly because?: string; readonly input?: unknown}>;

/** What rules and mode say about a call, before hooks and the person. */
export type Verdict =
  | {readonly verdict: 'allow'; readonly because?: string; readonly attempts?: Attempts}
  | {
      readonly verdict: 'ask';
      readonly because: string;
      /** Each such call is asked about: "yes for this session" is not offered. */
      readonly onlyOnce?: boolean;
      /** Only a person may allow it, not a hook: a protected file, keys, a command outside of the sandbox. */
      readonly onlyPerson?: boolean;
      /** The rule that would allow it from now on, if one could. */
      readonly rule?: string;
      readonly attempts?: Attempts;
    }
  | {readonly verdict: 'deny'; readonly because: string};

/** A refused call, as `permission_denials` of the JSON result lists it. */
export interface Denial {
  readonly agent: string;
  readonly callId: string;
  readonly tool: string;
  readonly input: unknown;
  readonly reason: string;
}

/** What agents may do now, as `/permissions` shows it. */
export interface PermissionState {
  readonly mode: PermissionMode;
  /** In the order in which they were found. */
  readonly rules: readonly {
    readonly kind: RuleKind;
    /** As it was written. */
    readonly text: string;
    /** Where it comes from: a file, a flag. */
    readonly source: string;
  }[];
  /** Granted for this session, each in a few words. */
  readonly granted: readonly string[];
}
