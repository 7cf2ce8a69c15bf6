/** Runs a hook of the settings: a command that reads the event as JSON on standard input. */
import type {HookSetting} from '../../core/contract/hook.ts';
import type {ProcessGroups} from '../../sandbox/launch/process-groups.ts';
import {runCollected} from '../../sandbox/launch/run-collected.ts';
import {type Hook, readHookEnd} from './create-hooks.ts';

export interface HookWorkplace {
  /** Working directory of the session, in which the hook starts. */
  readonly root: string;
  /** Environment variables without keys. */
  readonly env: Readonly<Record<string, string>>;
  readonly processes: ProcessGroups;
}

export function createCommandHook(setting: HookSetting, {root, env, processes}: HookWorkplace): Hook {
  const {event, command, timeoutSeconds} = setting;
  return {
    ...setting,
    async run(input, _callId, signal) {
      const end = await runCollected({
        command,
        cwd: root,
        processes,
        signal,
        timeoutMs: timeoutSeconds * 1000,
        env: {...env, CLAUDE_PROJECT_DIR: root, MINI_CC_PROJECT_DIR: root},
        input: `${JSON.stringify(input)}\n`,
      });
      if (end.ended === 'start') throw new Error(end.stderr);
      if (end.ended === 'timeout') throw new Error(`it took longer than ${timeoutSeconds} s`);
      if (end.ended === 'abort') return {};
      return readHookEnd({...end, exitCode: end.exitCode ?? 1}, event);
    },
  };
}
