/** A plugin, as the readers of agents, commands, skills, hooks and MCP servers see it: where its definitions are. */
import type {HookSetting} from './hook.ts';

export interface Plugin {
  /** Its definitions are named `NAME:…`. */
  readonly name: string;
  /** `NAME@MARKETPLACE`, or the name alone when it comes from no marketplace. */
  readonly id: string;
  readonly version: string;
  readonly description: string;
  /** Folder of its files, which its texts name as `${CLAUDE_PLUGIN_ROOT}`. */
  readonly root: string;
  /** Folders with definitions, and single files. All are absolute and inside `root`. */
  readonly agents: readonly string[];
  readonly commands: readonly string[];
  readonly skills: readonly string[];
  readonly hooks: readonly HookSetting[];
  /** Entries as `.mcp.json` has them, by the name for the session: `plugin:NAME:SERVER`. */
  readonly servers: Readonly<Record<string, unknown>>;
  /** Parts that cannot be used, one line each. */
  readonly problems: readonly string[];
}

/** What a plugin's files write for its folder. */
export const PLUGIN_ROOT = 'CLAUDE_PLUGIN_ROOT';
