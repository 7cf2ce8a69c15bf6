/**
 * Facts about a tool that are known by its name alone. The tool's own file states them; `tools/index.ts` lists them.
 */

/** What a tool does, in the words of ACP. Read-only agents get no tools of the kinds `edit` and `fetch`. */
type ToolKind = 'read' | 'search' | 'edit' | 'execute' | 'fetch' | 'think' | 'other';

/** An input as Claude Code's tool names it. `factor` converts its numbers, and `values` translates its words. */
export interface ClaudeInput {
  readonly as: string;
  readonly factor?: number;
  readonly values?: Readonly<Record<string, string>>;
}

/** Facts about a tool before it is created, as plain data for rules, definitions, drivers and the screen. */
export interface ToolFacts {
  readonly name: string;
  /** Default: `other`. */
  readonly kind?: ToolKind;
  /** Name that people read. Default: `name`. */
  readonly label?: string;
  /** Claude Code's name for the tool, and its names for the inputs that differ. */
  readonly claude?: {readonly name?: string; readonly inputs?: Readonly<Record<string, string | ClaudeInput>>};
  /** Further names that mean this tool in calls, rules and definitions. */
  readonly aliases?: readonly string[];
  /** Tools of Claude Code whose work this tool does in another way. In a list of tools their names mean this one. */
  readonly replaces?: readonly string[];
  /** Further names in the matchers of hooks. */
  readonly hookNames?: readonly string[];
  /** Kind of text in the brackets of a rule. Absent when rules about the tool have no brackets. */
  readonly rulePattern?: 'command' | 'path' | 'domain' | 'agent' | 'skill';
  /** Names of the inputs that are paths of the agent's workspace. */
  readonly pathInputs?: readonly string[];
  /** Name of another tool whose rules apply to this one too. */
  readonly ruledBy?: string;
  /** True when a program does the tool's work. It runs in the read-only sandbox where there is one. */
  readonly runsConfined?: true;
  /** True for a tool of the main agent alone, which dispatches or manages runs, or asks the person. */
  readonly dispatches?: true;
  /** What a session without the tool lacks. A person reads it when an agent lists the tool. */
  readonly needs?: string;
}
