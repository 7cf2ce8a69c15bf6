/** Tells the driver of runs in the background, as Claude Code tells of its tasks. */
import {randomUUID} from 'node:crypto';
import type {AgentEvent} from '../../core/contract/events.ts';
import type {RunRecord} from '../../core/contract/runs.ts';
import type {Session} from '../../core/contract/session-requests.ts';
import {toClaudeToolName} from '../../core/util/tool-names.ts';

const STATUS: Readonly<Record<string, 'completed' | 'stopped'>> = {success: 'completed', stopped: 'stopped'};

export class Tasks {
  /** Runs that the driver knows, by their id, with whether it was told of their end. */
  readonly #told = new Map<string, 'started' | 'ended'>();

  /** @returns the messages that follow from an event */
  take(event: AgentEvent, session: Session): readonly Record<string, unknown>[] {
    if (!/^(?:run_|announcement|tool_start)/.test(event.type)) return [];
    const about = event.type === 'announcement' ? event.runId : event.agentId;
    const run = session.request({type: 'runs'}).find(({runId}) => runId === about);
    if (!run?.background || run.restored) return [];
    const known = this.#told.get(run.runId);
    const isEnded = event.type === 'announcement' || event.type === 'run_end';
    const objects: Record<string, unknown>[] = [];
    if (known === undefined) {
      this.#told.set(run.runId, 'started');
      const type = run.tool === undefined ? 'local_agent' : 'local_bash';
      const started = {subagent_type: run.agent, task_type: type, is_backgrounded: true};
      objects.push(createMessage('task_started', run, session, started));
    }
    if (event.type === 'tool_start') {
      const lastTool = toClaudeToolName(event.tool, session.info.toolFacts);
      const description = event.description ?? event.title;
      objects.push(
        createMessage('task_progress', run, session, {description, last_tool_name: lastTool, usage: toUsage(run)}),
      );
    }
    if (isEnded && known !== 'ended') {
      this.#told.set(run.runId, 'ended');
      const ended = {
        status: STATUS[run.outcome ?? ''] ?? 'failed',
        output_file: run.output ?? run.transcript,
        summary: run.reason === undefined ? run.description : `${run.description}: ${run.reason}`,
        usage: toUsage(run),
      };
      objects.push(createMessage('task_notification', run, session, ended));
    }
    // A run that goes on after its end is a task again.
    if (event.type === 'run_start' && known === 'ended') this.#told.set(run.runId, 'started');
    return objects;
  }
}

function createMessage(subtype: string, {runId, callId, description}: RunRecord, session: Session, more: object) {
  return {
    type: 'system',
    subtype,
    task_id: runId,
    ...(callId !== undefined && {tool_use_id: callId}),
    description,
    ...more,
    uuid: randomUUID(),
    session_id: session.info.sessionId,
  };
}

function toUsage({usage, tools, startedAt, createdAt, endedAt}: RunRecord) {
  return {
    total_tokens: usage.input_tokens + usage.output_tokens,
    tool_uses: tools,
    duration_ms: (endedAt ?? Date.now()) - (startedAt ?? createdAt),
  };
}
