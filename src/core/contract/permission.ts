/**
 * Types of permissions: what a call touches, where an agent works, what is decided about a call, and what needs trust.
 */
import type {PermissionMode} from './events.ts';
import type {WriteScope} from './fan-out.ts';

/** What a call wants to touch. Permissions use it, and so does the choice of calls that run side by side. */
export type Access =
  | FileAccess
  | {
      readonly kind: 'run';
      readonly command: string;
      /** True when the call asks to run outside the sandbox that confines the agent's other commands. */
      readonly unconfined?: boolean;
    }
  /** A request to a server on the network. `host` is a name or an IP address without a port. */
  | {readonly kind: 'fetch'; readonly host: string}
  | {readonly kind: 'dispatch'; readonly agent: string}
  /** A tool of an MCP server, which may do anything. `confined` means that the server runs in the read-only sandbox. */
  | {readonly kind: 'mcp'; readonly server: string; readonly detail: string; readonly confined: boolean}
  /** The call touches nothing outside the agent. Rules about the tool may name what it is about. */
  | {readonly kind: 'none'; readonly name?: string};

interface FileAccess {
  readonly kind: 'read' | 'write';
  readonly path: string;
  /**
   * Absolute path with links resolved. The decision resolves the path once, and everything that is judged, shown and
   * opened afterwards is this place.
   */
  readonly place?: string;
  /** Makes the diff of a write that a question shows. */
  readonly preview?: (place: string) => Promise<string>;
}

/**
 * How the operating system confines the processes that an agent starts. With `worktree` they write only in the agent's
 * own git worktree, in every mode. With `files` they write only the files of its scope.
 */
export type Confinement = 'none' | 'read-only' | 'workspace-write' | 'worktree' | 'files';

/** The folders where an agent works. The agent's `cd` changes `cwd`. */
export interface Workspace {
  /** The directory that the session was started for, with links resolved. */
  readonly root: string;
  /** Further directories, named by `--add-dir`. */
  readonly extraRoots: readonly string[];
  /** Directories elsewhere that confined commands must be able to read, such as the git objects of a worktree. */
  readonly seen?: readonly string[];
  /** Present in a worktree: the top folders of the checkout that it is a copy of, and of itself. */
  readonly copyOf?: {readonly main: string; readonly top: string};
  cwd: string;
  /** Absent when the agent has no notes. */
  readonly notes?: NotesPlace | undefined;
  /** Absent when the agent's writes have no such limit. */
  readonly scope?: WriteScope;
  /** Changes with the permission mode: plan mode confines all agents. */
  readonly confinement: Confinement;
  /** Environment of processes, without keys. */
  readonly env: Readonly<Record<string, string>>;
}

/** Folder of an agent's notes, where its tools for edits write without a question. */
export interface NotesPlace {
  /** Absolute path without links. It need not exist. */
  readonly folder: string;
  /** Tools that the agent has for its notes alone. They write nowhere else. */
  readonly tools: readonly string[];
}

/** The notes with the text of their `MEMORY.md`, which is empty when there is none. */
export interface AgentNotes extends NotesPlace {
  readonly text: string;
}

export interface Claim {
  /** Absolute path of the file that asks. */
  readonly file: string;
  /** Key as messages name it: `permissions.allow`. */
  readonly key: string;
  /** Value that takes effect if the user trusts it. */
  readonly value: unknown;
}

/** Says whether the user trusts exactly this file, key and value. */
export type Trusts = (claim: Claim) => boolean;

export type RuleKind = 'allow' | 'ask' | 'deny';

/** Rules as they are written, by their kind. */
export type RuleTexts = {readonly [K in RuleKind]?: readonly string[] | undefined};

export interface PermitRequest {
  readonly callId: string;
  readonly tool: string;
  readonly input: unknown;
  readonly title: string;
  readonly accesses: readonly Access[];
  /**
   * Present when a hook or an answer changed the input. The call is decided again, once, and this opinion still counts.
   */
  readonly changed?: CallOpinion;
  /**
   * Finds what would make the call fail, without changing anything, so that no person is asked about such a call. It
   * reads the files that the call would write: use it only where the agent may read them without a question.
   * @param places files that the call names, with links resolved
   */
  readonly findProblem?: ((places: readonly string[]) => Promise<string | undefined>) | undefined;
  /** Where the agent works, and the run when it is a subagent's. */
  readonly workspace?: Workspace;
  readonly subagent?: {readonly id: string; readonly type: string} | undefined;
  /** Time limit of the run, which is paused while a person is asked. */
  readonly deadline?: {pause(): void; resume(): void} | undefined;
  /** Called when a person is asked about the call, to prepare it meanwhile. */
  readonly onAsked?: (() => void) | undefined;
}

export interface CallOpinion {
  readonly by: 'hook' | 'person';
  readonly says?: 'allow' | 'ask';
}

export interface Attempt {
  /**
   * Sandbox that confines the processes of the call. `plain` means no sandbox. `guarded`: only protected places are
   * read-only.
   */
  readonly launch: 'plain' | 'guarded' | 'read-only' | 'workspace-write';
  /** True when the files that the call may change are saved before it, so that the change can be counted and undone. */
  readonly checkpoint: boolean;
  /** Present only when the attempt is confined. */
  readonly masked?: MaskedFiles;
}

/** Files that deny rules name. A confined command sees them as empty. */
export interface MaskedFiles {
  /** Absolute paths, with links resolved. */
  readonly paths: readonly string[];
  /** A line for the result that says why some files are not in `paths`. */
  readonly note?: string;
}

/** Attempts in their order. The next one is made only when confinement stopped the one before. */
export type Attempts = readonly [Attempt, ...Attempt[]];

/**
 * Everything that is decided about one call. `permissions/decision.ts` makes it once. Checkpoint, sandbox and launch
 * follow it and judge nothing themselves.
 */
export type CallDecision =
  | {
      readonly verdict: 'allow';
      /** Reason in a few words: the rule, the mode or the answer. */
      readonly because: string;
      /**
       * Files and folders that the call names, with links resolved at the time of the decision. The call may touch no
       * others.
       */
      readonly places: readonly string[];
      /** Files of `places` that the call may write. */
      readonly writes: readonly string[];
      /** Says whether the call may read a file below `places`, by its absolute path. Absent when it may read all. */
      readonly mayRead?: ((file: string) => boolean) | undefined;
      readonly attempts: Attempts;
    }
  /**
   * `message` is for the model. `stops` is the reason why a hook ends the run. `byPerson` marks the answer to a
   * question.
   */
  | {
      readonly verdict: 'deny';
      readonly because: string;
      readonly message: string;
      readonly stops?: string | undefined;
      readonly byPerson?: true;
    }
  /** A hook or an answer changed the input. The call is prepared and decided again. */
  | {readonly verdict: 'changed'; readonly input: unknown; readonly opinion: CallOpinion};

export type AllowedCall = Extract<CallDecision, {verdict: 'allow'}>;

/** Decides on one call, and may wait for a person. Rejects only when a path of the call cannot be resolved. */
export interface Permit {
  (request: PermitRequest, signal: AbortSignal): Promise<CallDecision>;
  /** Says how a command starts that may write and runs without a question. Absent, or undefined: it is asked about. */
  readonly launchUnasked?: (() => Attempt['launch'] | undefined) | undefined;
  /**
   * Says how a call with these accesses would run first if it came now, and no hook said otherwise. Undefined: it would
   * be asked about, or denied. It decides nothing.
   * @throws as the decision
   */
  readonly foresee?: ((tool: string, accesses: readonly Access[]) => Promise<Attempt | undefined>) | undefined;
}

/**
 * Judges a call after the deny rules and before a question. `allow` replaces the question, except for deny rules and
 * protected files. `ask` asks even when nothing else would. `deny` refuses. `input` changes the call.
 */
export type BeforeCall = (request: PermitRequest, signal: AbortSignal) => Promise<CallAdvice>;

interface CallAdvice {
  readonly decision?: 'allow' | 'ask' | 'deny' | undefined;
  readonly because?: string | undefined;
  readonly input?: unknown;
  /** With `deny`: the reason why the run ends too. */
  readonly stops?: string | undefined;
}

/** What rules and mode say about a call, before hooks and the person are asked. */
export type Verdict =
  | {readonly verdict: 'allow'; readonly because?: string; readonly attempts?: Attempts}
  | {
      readonly verdict: 'ask';
      readonly because: string;
      /** True when each such call is asked about and "yes for this session" is not offered. */
      readonly onlyOnce?: boolean;
      /** True when a person must allow it and a hook may not: a protected file, keys, a command outside the sandbox. */
      readonly onlyPerson?: boolean;
      /**
       * True when it names a place outside of the workspace. A hook or answer that changed the input does not allow it.
       */
      readonly isOutside?: boolean;
      /** Attempts when a hook allows the call, so that no person has seen it. Default: `attempts`. */
      readonly unseen?: Attempts;
      /** Rules that together would allow the call in future, if there are any. */
      readonly rules?: readonly string[];
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

export const SANDBOX_MODES = ['off', 'auto', 'required'] as const;
/** How commands of agents that may write are confined. */
export type SandboxMode = (typeof SANDBOX_MODES)[number];

/** What confines commands, as people see it. */
export interface SandboxState {
  readonly mode: SandboxMode;
  /**
   * Name of the sandbox that works here, such as `bubblewrap`. Absent when none works; `problem` then says why and how
   * to repair it.
   */
  readonly kind?: string;
  readonly problem?: string;
  /** Part of the configured sandbox that is missing. */
  readonly warning?: string;
  /** `container`, `show`, `hide`, `env` and `allowedHosts` have the values of the settings. */
  readonly container: boolean;
  readonly show: readonly string[];
  readonly hide: readonly string[];
  readonly env: readonly string[];
  readonly allowedHosts: readonly string[];
}

/** What `/permissions` does with a rule: save it as this kind, or remove it. */
export type RuleChange = RuleKind | 'remove';

/** What agents may do, as `/permissions` shows it. */
export interface PermissionState {
  readonly mode: PermissionMode;
  /** Rules in the order in which they were found. */
  readonly rules: readonly {
    readonly kind: RuleKind;
    readonly text: string;
    /** File or flag that the rule comes from. */
    readonly source: string;
  }[];
  /** False where the settings turn the mode bypassPermissions off. */
  readonly mayBypass: boolean;
  /** Grants for this session, each in a few words. */
  readonly granted: readonly string[];
}
