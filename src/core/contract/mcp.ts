/** Servers of the Model Context Protocol, as the session and its front ends see them. */

/** `pending`: not started yet, or starting. `not-approved`: of the project, and the user has not approved it. */
const MCP_STATUSES = ['pending', 'connected', 'failed', 'needs-auth', 'disabled', 'not-approved'] as const;
export type McpStatus = (typeof MCP_STATUSES)[number];

export interface McpServerState {
  readonly name: string;
  readonly status: McpStatus;
  readonly transport: 'stdio' | 'http' | 'sse' | 'sdk';
  /** The file or the flag that names it, or `driver`. */
  readonly from: string;
  /** Its program or its address, as it was written: no value of a variable. */
  readonly target: string;
  /** Why it cannot be used, in one line. */
  readonly problem?: string;
  /** What the server calls itself, once it is connected. */
  readonly version?: string;
  /** Empty until it has been connected. */
  readonly tools: readonly {readonly name: string; readonly description: string}[];
  /** Commands that it brings, without the slash. */
  readonly prompts: readonly string[];
}

/** What another set of servers changed. */
export interface McpServersChange {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** By server: why it cannot be used. */
  readonly errors: Readonly<Record<string, string>>;
}

/** Entries as `.mcp.json` has them below `mcpServers`. */
export type McpEntries = Readonly<Record<string, unknown>>;

/** The servers of one session. Names are as they were written. */
export interface McpControl {
  list(): readonly McpServerState[];
  /** Starts those that may be used and do not run. Resolves when each has started or failed. */
  startAll(): Promise<void>;
  /** Ends the server, if it runs, and starts it anew. @throws UsageError for an unknown name, MiniCcError when it fails */
  reconnect(server: string): Promise<McpServerState>;
  /** Of a server that is off no tool is offered. @throws UsageError for an unknown name */
  setEnabled(server: string, enabled: boolean): Promise<McpServerState>;
  /** In place of the servers that were added so before. @throws UsageError when it is no object of servers */
  setServers(servers: McpEntries): Promise<McpServersChange>;
}
