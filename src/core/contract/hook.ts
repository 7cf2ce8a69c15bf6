/** Hooks: programs of the user, or of a driver, that are told of events and may change what follows. */

export const HOOK_EVENTS = [
  ...(['PreToolUse', 'PostToolUse', 'PermissionRequest', 'UserPromptSubmit', 'SessionStart', 'SessionEnd'] as const),
  ...(['Stop', 'SubagentStart', 'SubagentStop', 'PreCompact', 'Notification'] as const),
] as const;
export type HookEvent = (typeof HOOK_EVENTS)[number];

/** One event, told to all hooks that listen to it. */
export interface HookCall {
  readonly event: HookEvent;
  /** What matchers are compared with: the tool, the agent, the source. Absent: all hooks of the event are called. */
  readonly subject?: string;
  /** Further names of a tool: a matcher may have any of them. */
  readonly otherNames?: readonly string[];
  /** In Claude Code's names; the fields that all events share are added. */
  readonly input: Readonly<Record<string, unknown>>;
  readonly callId?: string;
}

/** What all hooks of one event said, together. A refusal wins over a question, a question over an approval. */
export interface HookAnswer {
  /** What was to happen must not, for this reason. */
  readonly blocked?: string;
  /** The turn ends, for this reason. */
  readonly stops?: string;
  readonly permission?: 'allow' | 'ask';
  /** Why, for `permission`. */
  readonly because?: string;
  /** In place of the call's input, in Claude Code's names. */
  readonly input?: Readonly<Record<string, unknown>>;
  /** Texts for the model. */
  readonly context: readonly string[];
}

export interface Hooks {
  /** Nothing needs to be prepared for an event to which no hook listens. */
  listens(event: HookEvent): boolean;
  /** Calls them side by side. Never rejects: a hook that fails is a notice. */
  run(call: HookCall, signal?: AbortSignal): Promise<HookAnswer>;
}

/** A hook as `/hooks` lists it. */
export interface HookListing {
  readonly event: HookEvent;
  /** Empty: all. */
  readonly matcher: string;
  /** What runs. */
  readonly command: string;
  /** The file that names it, or `driver`. */
  readonly from: string;
}

/** A command that is run at an event, as settings and agents name it. */
export interface HookSetting {
  readonly event: HookEvent;
  /** Empty: all. */
  readonly matcher: string;
  readonly command: string;
  readonly timeoutSeconds: number;
  /** The file. */
  readonly from: string;
}
