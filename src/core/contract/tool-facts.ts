/** What is known of a tool by its name. The tool's own file says it; `tools/index.ts` lists it. */

/** What a tool does, in the words of ACP. `edit` and `fetch` are refused to read-only agents. */
type ToolKind = 'read' | 'search' | 'edit' | 'execute' | 'fetch' | 'think' | 'other';

/** An input as Claude Code's tool has it: its name, and where its numbers are larger by a factor or its words are others. */
export interface ClaudeInput {
  readonly as: string;
  readonly factor?: number;
  readonly values?: Readonly<Record<string, string>>;
}

/** What is known of a tool before it is made, as plain data: for rules, definitions, drivers and the screen. */
export interface ToolFacts {
  readonly name: string;
  /** Default: `other`. */
  readonly kind?: ToolKind;
  /** What people read in place of the name. Default: the name. */
  readonly label?: string;
  /** Claude Code's name of it, and its names of the inputs that differ. */
  readonly claude?: {readonly name?: string; readonly inputs?: Readonly<Record<string, string | ClaudeInput>>};
  /** Further names that mean this tool in calls, rules and definitions. */
  readonly aliases?: readonly string[];
  /** Tools of Claude Code whose work it does in another way: in a list of tools they mean this one. */
  readonly replaces?: readonly string[];
  /** Further names in the matchers of hooks. */
  readonly hookNames?: readonly string[];
  /** What stands in the brackets of a rule. Default: nothing may stand there. */
  readonly rulePattern?: 'command' | 'path' | 'domain' | 'agent';
  /** Rules about this other tool hold for it, too. */
  readonly ruledBy?: string;
  /** It dispatches runs or looks after them: no subagent has it. */
  readonly dispatches?: true;
  /** What a session without it lacks, for the person whose agent lists it. */
  readonly needs?: string;
}
