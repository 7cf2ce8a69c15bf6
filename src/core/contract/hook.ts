/** Hooks: programs of the user or of a driver. mini-cc calls them at events, and they may change what follows. */

export const HOOK_EVENTS = [
  ...(['PreToolUse', 'PostToolUse', 'PostToolUseFailure', 'PermissionRequest', 'UserPromptSubmit'] as const),
  ...(['SessionStart', 'SessionEnd', 'Stop', 'SubagentStart', 'SubagentStop'] as const),
  ...(['PreCompact', 'PostCompact', 'Notification'] as const),
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
  /** Says whether a permission rule is about the call of a tool. Absent: the event is not about a call. */
  readonly isAbout?: (rule: string) => Promise<boolean>;
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
  /** The model reads this instead of the result of the tool. `mcpToolOutput` counts only for tools of MCP servers. */
  readonly toolOutput?: unknown;
  readonly mcpToolOutput?: unknown;
  /** Texts for the model. */
  readonly context: readonly string[];
}

/** Hooks that run in the background: no call waits for them. */
export interface LateHooks {
  /** Gets the texts for the model, once such a hook has ended. */
  onContext(listener: (event: HookEvent, text: string) => void): void;
  /** Waits for those at work, at most this number of milliseconds, and ends the rest. */
  close(maxMs: number): Promise<void>;
}

export interface Hooks {
  /** Callers prepare nothing for an event to which no hook listens. */
  listens(event: HookEvent): boolean;
  /** Calls the hooks side by side. Never rejects: a hook that fails becomes a notice. */
  run(call: HookCall, signal?: AbortSignal): Promise<HookAnswer>;
  readonly late?: LateHooks;
}

export interface HookListing {
  readonly event: HookEvent;
  /** An empty matcher matches everything. */
  readonly matcher: string;
  readonly command: string;
  /** File that names the hook, or `driver`. */
  readonly from: string;
}

/** Command that runs at an event, or address that gets it, as settings and agents name it. */
export interface HookSetting extends HookListing {
  /** Folder of the plugin that brings it, which its command gets as `CLAUDE_PLUGIN_ROOT`. */
  readonly pluginRoot?: string;
  readonly timeoutSeconds: number;
  /** A permission rule. The hook is called only for calls of tools that the rule is about. */
  readonly if?: string;
  /** True when no call waits for the hook. */
  readonly isAsync?: true;
  /** `command` is an address, which gets the event by POST. */
  readonly isHttp?: true;
  /** Headers of the request. `$NAME` and `${NAME}` in them stand for these environment variables. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly headerVariables?: readonly string[];
}
