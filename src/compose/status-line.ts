/** Runs the command of the setting `statusLine`. */
import {version} from '../../package.json';
import type {SessionParts} from '../core/session/parts.ts';
import type {ProcessGroups} from '../sandbox/launch/process-groups.ts';
import {runCollected} from '../sandbox/launch/run-shell.ts';

const TIMEOUT_MS = 5000;

/** @param env environment variables without keys @returns undefined without such a setting */
export function createStatusLine(
  command: string | undefined,
  root: string,
  env: Readonly<Record<string, string>>,
  processes: ProcessGroups,
): SessionParts['runStatusLine'] {
  if (command === undefined) return undefined;
  return async (facts, signal) => {
    const {ended, exitCode, stdout} = await runCollected({
      command,
      cwd: root,
      processes,
      signal,
      timeoutMs: TIMEOUT_MS,
      env: {...env, CLAUDE_PROJECT_DIR: root, MINI_CC_PROJECT_DIR: root},
      input: `${JSON.stringify({...facts, version})}\n`,
    });
    return ended === 'itself' && exitCode === 0 ? stdout : '';
  };
}
