/** `--output-format stream-json`: one object a line, in Claude Code's shapes. */

import {randomUUID} from 'node:crypto';
import type {AgentEvent} from '../core/contract/events.ts';
import type {Session} from '../core/contract/session.ts';
import {NOT_YET_AVAILABLE} from '../core/util/not-yet.ts';

export function initObject(session: Session): Record<string, unknown> {
  const {cwd, sessionId, tools, model, permissionMode, commands, agents} = session.info;
  return {
    type: 'system',
    subtype: 'init',
    cwd,
    session_id: sessionId,
    tools,
    model,
    permissionMode,
    slash_commands: commands.filter(({description}) => description !== NOT_YET_AVAILABLE).map(({name}) => name),
    agents,
    uuid: randomUUID(),
  };
}

/** Events as objects; a subagent's carry the id of the Task call that dispatched it. */
export function createStreamJson(session: Session): (event: AgentEvent) => Record<string, unknown> | undefined {
  const callOf = new Map<string, string>();
  let promptSeen = false;
  return (event) => {
    if (event.type === 'run_start' && event.callId !== undefined) callOf.set(event.agentId, event.callId);
    const tags = {
      parent_tool_use_id: callOf.get(event.agentId) ?? null,
      session_id: session.info.sessionId,
      uuid: randomUUID(),
    };
    if (event.type === 'stream') return {type: 'stream_event', event: event.event, ...tags};
    if (event.type !== 'message') return undefined;
    if (event.role === 'user') {
      const {content} = event;
      // The prompt is what the caller said; of a subagent it is what the model said.
      if (typeof content === 'string' && event.parent === undefined && !promptSeen) {
        promptSeen = true;
        return undefined;
      }
      const blocks = typeof content === 'string' ? [{type: 'text', text: content}] : content;
      return {type: 'user', message: {role: 'user', content: blocks}, ...tags};
    }
    const {id, model, content, usage, stopReason} = event;
    const message = {
      id,
      type: 'message',
      role: 'assistant',
      model,
      content,
      stop_reason: stopReason,
      stop_sequence: null,
      usage,
    };
    return {type: 'assistant', message, ...tags};
  };
}
