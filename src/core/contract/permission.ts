/** What a call touches, where an agent works, what it asks to do and what is decided about it; and what needs trust. */
import type {PermissionMode} from './events.ts';
import type {WriteScope} from './fan-out.ts';

/** What a call wants to touch, for permissions and for what may run side by side. */
export type Access =
  | {readonly kind: 'read'; readonly path: string}
  | {readonly kind: 'write'; readonly path: string; readonly preview?: string}
  | {
      readonly kind: 'run';
      readonly command: string;
      /** The call asks to run outside of the sandbox that otherwise confines the agent's commands. */
      readonly unconfined?: boolean;
    }
  /** A request to a server on the network; `host` is a name or an IP address, without port. */
  | {readonly kind: 'fetch'; readonly host: string; readonly url: string}
  | {readonly kind: 'dispatch'; readonly agent: string}
  /** A tool of an MCP server, which may do anything; `confined`: the server runs in the read-only sandbox. */
  | {readonly kind: 'mcp'; readonly server: string; readonly detail: string; readonly confined: boolean}
  /** Touches nothing outside the agent itself. */
  | {readonly kind: 'none'};

/**
 * How the operating system confines the processes that an agent starts.
 * `worktree`: they write only in the agent's own git worktree, in every mode. `files`: only the files of its scope.
 */
export type Confinement = 'none' | 'read-only' | 'workspace-write' | 'worktree' | 'files';

/** Where an agent works. `cwd` moves with its `cd`. */
export interface Workspace {
  /** The directory that the session was started for, with links resolved. */
  readonly root: string;
  /** Further directories, by `--add-dir`. */
  readonly extraRoots: readonly string[];
  /** Directories elsewhere that confined commands must be able to read, such as the git objects that a worktree uses. */
  readonly seen?: readonly string[];
  cwd: string;
  /** Absent: no such limit. */
  readonly scope?: WriteScope;
  /** Changes with the mode: plan mode confines all agents. */
  readonly confinement: Confinement;
  /** The environment of processes, without keys. */
  readonly env: Readonly<Record<string, string>>;
}

export interface Claim {
  /** The absolute path of the file that asks. */
  readonly file: string;
  /** As messages name it: `permissions.allow`. */
  readonly key: string;
  /** What takes effect if it is trusted. */
  readonly value: unknown;
}

/** Whether the user trusts exactly this: the file, the key, the value. */
export type Trusts = (claim: Claim) => boolean;

export type RuleKind = 'allow' | 'ask' | 'deny';

/** Rules as they are written, by what they do. */
export type RuleTexts = {readonly [K in RuleKind]?: readonly string[] | undefined};

export interface PermitRequest {
  readonly callId: string;
  readonly tool: string;
  readonly input: unknown;
  readonly title: string;
  readonly accesses: readonly Access[];
  /** A hook or an answer changed the input: the call is decided anew, once. What was said with the change still counts. */
  readonly changed?: CallOpinion;
  /**
   * What would make the call fail, found without changing anything, so that nobody is asked about it in vain. It reads the
   * files that the call would write: ask only where the agent may read them without a question.
   * @param places the files that the call names, with links resolved
   */
  readonly findProblem?: (places: readonly string[]) => Promise<string | undefined>;
}

/** What a hook or a person said about a call. */
export interface CallOpinion {
  readonly by: 'hook' | 'person';
  readonly says?: 'allow' | 'ask';
}

/** One way to run a call. */
export interface Attempt {
  /** Which sandbox confines the processes that the call starts; `plain`: none. */
  readonly launch: 'plain' | 'read-only' | 'workspace-write';
  /** The files that the call may change are saved before it, so that the change is counted and can be undone. */
  readonly checkpoint: boolean;
  /** Only where it is confined. */
  readonly masked?: MaskedFiles;
}

/** Files that deny rules name. A confined command finds them empty. */
export interface MaskedFiles {
  /** Absolute, with links resolved. */
  readonly paths: readonly string[];
  /** A line for the result: why some files are not among them. */
  readonly note?: string;
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
  /** `message` is for the model. `stops`: a hook ends the run, for this reason. `byPerson`: the answer to a question. */
  | {
      readonly verdict: 'deny';
      readonly because: string;
      readonly message: string;
      readonly stops?: string;
      readonly byPerson?: true;
    }
  /** A hook or an answer changed the input: the call is prepared and decided anew. */
  | {readonly verdict: 'changed'; readonly input: unknown; readonly opinion: CallOpinion};

export type AllowedCall = Extract<CallDecision, {verdict: 'allow'}>;

/** Decides on one call; may wait for a person. Rejects only when a path of the call cannot be resolved. */
export type Permit = (request: PermitRequest, signal: AbortSignal) => Promise<CallDecision>;

/**
 * Looks at a call after the deny rules and before a question. `allow` replaces the question, but not for deny rules and
 * protected files; `ask` asks even when nothing else would; `deny` refuses; `input` changes the call.
 */
export type BeforeCall = (request: PermitRequest, signal: AbortSignal) => Promise<CallAdvice<'allow' | 'ask' | 'deny'>>;

/** Answers the question about a call in the place of a person; without a decision the person is asked. */
export type AnswerCall = (request: PermitRequest, signal: AbortSignal) => Promise<CallAdvice<'allow' | 'deny'>>;

/** What hooks say about a call. */
interface CallAdvice<D extends string> {
  readonly decision?: D;
  readonly because?: string;
  readonly input?: unknown;
  /** With `deny`: the run ends, too, for this reason. */
  readonly stops?: string;
}

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
  /** What the call would do, in one line. */
  readonly title: string;
  readonly input: unknown;
  readonly reason: string;
}

/** What agents may do now, as `/permissions` shows it. */
export const SANDBOX_MODES = ['off', 'auto', 'required'] as const;
/** How commands of agents that may write are confined. */
export type SandboxMode = (typeof SANDBOX_MODES)[number];

/** What confines commands, as people are shown it. */
export interface SandboxState {
  readonly mode: SandboxMode;
  /** What works here: `bubblewrap`. Absent where none does; then `problem` says why, and how to repair it. */
  readonly kind?: string;
  readonly problem?: string;
  /** What was asked for and is missing. */
  readonly warning?: string;
  /** As in the settings. */
  readonly container: boolean;
  readonly show: readonly string[];
  readonly hide: readonly string[];
  readonly env: readonly string[];
  readonly allowedHosts: readonly string[];
}

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
