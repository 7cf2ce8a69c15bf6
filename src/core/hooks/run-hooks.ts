/** Hooks about a run: at its start, before it ends, and before its history is compacted. */
import type {HookAnswer, Hooks} from '../contract/hooks.ts';

/** For where there are none. */
export const NO_HOOKS: Hooks = {listens: () => false, run: async () => ({context: []})};

/** A hook may let a run go on this often; then the run ends, and hooks cannot prevent it. */
const MAX_CONTINUED = 8;

export interface RunHooks {
  /** @returns texts for the model */
  started(): Promise<readonly string[]>;
  /** The model has answered. @returns why it must go on, for the model; undefined: it may end */
  beforeEnd(answer: string): Promise<string | undefined>;
  beforeCompaction(trigger: 'auto' | 'manual', focus: string): Promise<void>;
}

/** @param subagent undefined: the main agent */
export function createRunHooks(
  hooks: Hooks,
  subagent: {readonly id: string; readonly name: string; readonly transcript: string} | undefined,
  signal: AbortSignal,
): RunHooks {
  let continued = 0;
  const about = subagent && {
    agent_id: subagent.id,
    agent_type: subagent.name,
    agent_transcript_path: subagent.transcript,
  };
  const subject = subagent && {subject: subagent.name};
  return {
    async started() {
      if (!subagent || !hooks.listens('SubagentStart')) return [];
      return (await hooks.run({event: 'SubagentStart', ...subject, input: {...about}}, signal)).context;
    },
    async beforeEnd(answer) {
      const event = subagent ? 'SubagentStop' : 'Stop';
      if (!hooks.listens(event) || continued >= MAX_CONTINUED) return undefined;
      const input = {...about, stop_hook_active: continued > 0, last_assistant_message: answer};
      const {blocked, stops}: HookAnswer = await hooks.run({event, ...subject, input}, signal);
      if (blocked === undefined || stops !== undefined) return undefined;
      continued += 1;
      return blocked;
    },
    async beforeCompaction(trigger, focus) {
      if (!hooks.listens('PreCompact')) return;
      await hooks.run({event: 'PreCompact', subject: trigger, input: {trigger, custom_instructions: focus}}, signal);
    },
  };
}
