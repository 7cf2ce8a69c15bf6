/** Hooks: programs of the user or of a driver. mini-cc calls them at events, and they may change what follows. */

export const HOOK_EVENTS = [
  ...(['PreToolUse', 'PostToolUse', 'PermissionRequest', 'UserPromptSubmit', 'SessionStart', 'SessionEnd'] as const),
  ...(['Stop', 'SubagentStart', 'SubagentStop', 'PreCompact', 'Notification'] as const),
] as const;
export type HookEvent = (typeof HOOK_EVENTS)[number];

/** One event, passed to all hooks that listen to it. */
export interface HookCall {
  readonly event: HookEvent;
  /**
   * The text that matchers are compared with: the tool, the agent or the source. Absent: all hooks of the event are
   * called.
   */
  readonly subject?: string;
  /** Further names of the tool. A matcher may name any of them. */
  readonly otherNames?: readonly string[];
  /** Fields in Claude Code's names. The runner adds the fields that all events share. */
  readonly input: Readonly<Record<string, unknown>>;
  readonly callId?: string;
}

/** Combined answer of all hooks of one event. A refusal wins over a question, and a question wins over an approval. */
export interface HookAnswer {
  /** Reason why the hooks forbid what was about to happen. */
  readonly blocked?: string | undefined;
  /** Reason why the turn ends. */
  readonly stops?: string | undefined;
  readonly permission?: 'allow' | 'ask' | undefined;
  /** Reason for `permission`. */
  readonly because?: string | undefined;
  /** Input that replaces the call's own, in Claude Code's names. */
  readonly input?: Readonly<Record<string, unknown>> | undefined;
  /** Texts for the model. */
  readonly context: readonly string[];
}

export interface Hooks {
  /** Callers prepare nothing for an event to which no hook listens. */
  listens(event: HookEvent): boolean;
  /** Calls the hooks side by side. Never rejects: a hook that fails becomes a notice. */
  run(call: HookCall, signal?: AbortSignal): Promise<HookAnswer>;
}

export interface HookListing {
  readonly event: HookEvent;
  /** An empty matcher matches everything. */
  readonly matcher: string;
  readonly command: string;
  /** File that names the hook, or `driver`. */
  readonly from: string;
}

/** Command that runs at an event, as settings and agents name it. */
export interface HookSetting extends HookListing {
  readonly timeoutSeconds: number;
}
