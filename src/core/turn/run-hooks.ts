/** Hooks about a run: at its start, before it ends, and before and after its history is compacted. */
import type {HookAnswer, Hooks} from '../contract/hook.ts';
import {MiniCcError} from '../util/errors.ts';

export const NO_HOOKS: Hooks = {listens: () => false, run: async () => ({context: []})};

/** Most times that hooks may continue a run. After that the run ends, and hooks cannot prevent it. */
const MAX_CONTINUED = 8;

/** `signal` ends the hooks: it is that of the run, with its limits. */
export interface RunHooks {
  /**
   * Runs the hooks once, however often the run continues.
   * @returns texts for the model
   * @throws MiniCcError `HOOK` when a hook ends the run
   */
  started(signal: AbortSignal): Promise<readonly string[]>;
  /**
   * Runs the hooks when the model has answered.
   * @returns why the model must continue, as text for it; undefined when the run may end
   */
  beforeEnd(answer: string, signal: AbortSignal): Promise<string | undefined>;
  /** @throws what `started` throws */
  beforeCompaction(trigger: 'auto' | 'manual', focus: string, signal: AbortSignal): Promise<void>;
  /** @throws what `started` throws */
  afterCompaction(trigger: 'auto' | 'manual', summary: string, signal: AbortSignal): Promise<void>;
}

/** @param subagent undefined for the main agent */
export function createRunHooks(
  hooks: Hooks,
  subagent: {readonly id: string; readonly name: string; readonly transcript: string} | undefined,
): RunHooks {
  let hasStarted = false;
  let continued = 0;
  const about = subagent && {
    agent_id: subagent.id,
    agent_type: subagent.name,
    agent_transcript_path: subagent.transcript,
  };
  const subject = subagent && {subject: subagent.name};
  return {
    async started(signal) {
      if (!subagent || hasStarted || !hooks.listens('SubagentStart')) return [];
      hasStarted = true;
      const answer = await hooks.run({event: 'SubagentStart', ...subject, input: {...about}}, signal);
      endIfStopped(answer);
      return answer.context;
    },
    async beforeEnd(answer, signal) {
      const event = subagent ? 'SubagentStop' : 'Stop';
      if (!hooks.listens(event) || continued >= MAX_CONTINUED) return undefined;
      const input = {...about, stop_hook_active: continued > 0, last_assistant_message: answer};
      const {blocked, stops, context}: HookAnswer = await hooks.run({event, ...subject, input}, signal);
      const why = [...(blocked === undefined ? [] : [blocked]), ...context];
      if (why.length === 0 || stops !== undefined) return undefined;
      continued += 1;
      return why.join('\n');
    },
    async beforeCompaction(trigger, focus, signal) {
      if (!hooks.listens('PreCompact')) return;
      const input = {trigger, custom_instructions: focus};
      endIfStopped(await hooks.run({event: 'PreCompact', subject: trigger, input}, signal));
    },
    async afterCompaction(trigger, summary, signal) {
      if (!hooks.listens('PostCompact')) return;
      const input = {trigger, compact_summary: summary};
      endIfStopped(await hooks.run({event: 'PostCompact', subject: trigger, input}, signal));
    },
  };
}

export function formatHookStop(stops: string): string {
  return `a hook ended the run: ${stops}`;
}

function endIfStopped({stops}: HookAnswer): void {
  if (stops !== undefined) throw new MiniCcError('HOOK', formatHookStop(stops));
}
