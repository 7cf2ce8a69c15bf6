/**
 * Text of the system prompt about the place where a session works. It is read once, so that the prompt stays the same.
 */
import type {Trusts} from '../core/contract/permission.ts';
import type {SystemPromptContext} from '../core/turn/system-prompt.ts';
import {readBranch} from '../core/util/files/git-folder.ts';
import type {SettingSource} from './layers.ts';
import {memoryFiles} from './memory-files.ts';

interface SystemPromptContextOptions {
  readonly cwd: string;
  readonly home: string;
  /** Says what the user trusts of the project's files. */
  readonly trusts: Trusts;
  /** Value of `--setting-sources`. Default: all. */
  readonly sources?: readonly SettingSource[] | undefined;
}

export function readSystemPromptContext(
  {cwd, home, trusts, sources}: SystemPromptContextOptions,
  appended: string | undefined,
): SystemPromptContext {
  const branch = readBranch(cwd);
  return {
    cwd,
    platform: process.platform,
    date: new Date().toISOString().slice(0, 10),
    memory: memoryFiles(cwd, home, trusts, sources),
    ...(branch === undefined ? {} : {gitBranch: branch}),
    ...(appended ? {appended} : {}),
  };
}
