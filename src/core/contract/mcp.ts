/** Servers of the Model Context Protocol, as the session and its front ends see them. */

/**
 * `pending`: the server has not started yet, or is starting. `not-approved`: the project names it and the user has not
 * approved it.
 */
const MCP_STATUSES = ['pending', 'connected', 'failed', 'needs-auth', 'disabled', 'not-approved'] as const;
export type McpStatus = (typeof MCP_STATUSES)[number];

export interface McpServerState {
  readonly name: string;
  readonly status: McpStatus;
  readonly transport: 'stdio' | 'http' | 'sse' | 'sdk';
  /** File or flag that names the server, or `driver`. */
  readonly from: string;
  /** Program or address of the server as it was written, without the values of variables. */
  readonly target: string;
  readonly problem?: string;
  /** One sentence for each tool or prompt of the server that is left out or used in part. */
  readonly warnings?: readonly string[];
  /** Version that the server states, once it is connected. */
  readonly version?: string;
  /** Empty until the server has been connected. */
  readonly tools: readonly {readonly name: string; readonly description: string}[];
  /** Commands that the server brings, without the slash. */
  readonly prompts: readonly string[];
}

/** What a server asks a model. The first and the last message are of the user. */
export interface ServerPrompt {
  readonly system: string;
  readonly messages: readonly {
    readonly role: 'user' | 'assistant';
    readonly content: readonly {readonly type: 'text'; readonly text: string}[];
  }[];
  readonly maxOutputTokens: number;
}

export interface ServerReply {
  readonly text: string;
  readonly model: string;
  /** In the words of the protocol. */
  readonly stopReason: string;
}

export interface McpServersChange {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** Reasons why servers cannot be used, by server. */
  readonly errors: Readonly<Record<string, string>>;
}

/** Entries as `.mcp.json` has them below `mcpServers`. */
export type McpEntries = Readonly<Record<string, unknown>>;

/** The servers of one session. Names stay as they were written. */
export interface McpControl {
  list(): readonly McpServerState[];
  /** Starts the servers that may be used and do not run. Resolves when each has started or failed. */
  startAll(): Promise<void>;
  /**
   * Ends the server if it runs, and starts it again.
   * @throws UsageError for an unknown name, MiniCcError when the start fails
   */
  reconnect(server: string): Promise<McpServerState>;
  /**
   * Logs the person in to a server by their browser, and starts it.
   * @throws UsageError for an unknown name or a server without an address, MiniCcError when the login fails
   */
  logIn(server: string, signal: AbortSignal): Promise<McpServerState>;
  /** Forgets the login to a server, and ends it. @returns false when there was none @throws UsageError for an unknown name */
  logOut(server: string): Promise<boolean>;
  /** Reads a resource, as the server sends it. @throws UsageError for an unknown name, MiniCcError when it cannot be read */
  readResource(server: string, uri: string): Promise<unknown>;
  /**
   * Turns a server on or off. The tools of a server that is off are not offered.
   * @throws UsageError for an unknown name
   */
  setEnabled(server: string, enabled: boolean): Promise<McpServerState>;
  /** Replaces the servers that an earlier call added. @throws UsageError when `servers` is not an object of servers */
  setServers(servers: McpEntries): Promise<McpServersChange>;
}
